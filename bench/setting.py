"""The setting of a measurement: build, folder on disk, daemons and load programs."""

import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import machine

HERE = pathlib.Path(__file__).resolve().parent


class Setting:
    def __init__(self, build, quick, wait_for_idle):
        self.build = pathlib.Path(build).resolve()
        os.environ["AGENTRT_BIN"] = str(self.build / "agentrt")
        sys.path.insert(0, str(HERE.parent / "tests/e2e"))
        import harness
        self.harness = harness
        self.quick = quick
        self.wait_for_idle = wait_for_idle
        # The store must be on a disk: a commit to memory is free, so measuring it is pointless.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="agentrt_bench_", dir=self.build))

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def rounds(self, count, measure):
        return machine.rounds(2 if self.quick else count, measure, self.wait_for_idle)

    def home(self, name):
        scripts = {"main": [{"text": "The answer is 42."}]}
        return self.harness.Home(scripts, folder=str(self.folder / name))

    def program(self, name, *arguments):
        return [str(self.build / "bench" / f"bench_{name}"), *map(str, arguments)]

    def run(self, name, *arguments):
        """Runs a program and returns its last line, which is its result."""
        done = subprocess.run(self.program(name, *arguments), capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr}")
        return json.loads(done.stdout.splitlines()[-1])

    def load(self, name, daemon, *arguments):
        return self.run(name, "--port", daemon.port, "--token", daemon.token, *arguments)

    def raw_sync(self):
        """Synced writes per second of this disk: the better of growing and overwriting."""
        return max(self.run("raw_sync", "--out", self.folder / "raw.sync", "--appends", 300,
                            "--form", form)["per_second"] for form in ("grow", "over"))


def make_sessions(daemon, prefix, count):
    def batch(first):
        calls = [{"jsonrpc": "2.0", "id": n, "method": "create_session",
                  "params": {"sessionId": f"{prefix}_{n}"}}
                 for n in range(first, min(first + 100, count))]
        reply = daemon.request("POST", "/v1/rpc", calls)
        assert reply.status == 200 and all("result" in r for r in reply.json), reply
        daemon.disconnect()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(batch, range(0, count, 100)))
