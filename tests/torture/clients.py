"""Clients that record what they do; all torture tests use them to talk to a daemon."""

import http.client
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

import harness  # noqa: E402
import history  # noqa: E402

# Absolute, because the daemon is started in another folder.
harness.BINARY = os.path.abspath(harness.BINARY)
CRASHING = os.path.abspath(
    os.environ.get("AGENTRT_CRASHING_BIN", "build/release/tests/agentrt_crashing"))
CRASH_EXIT = 86  # kCrashExit of crash_vfs.h
LOST = (OSError, http.client.HTTPException, ValueError)


def repeat_command(script, *arguments):
    """The command that reproduces a failure, to be run in the root of the tree."""
    words = [f"AGENTRT_BIN={harness.BINARY}", f"AGENTRT_CRASHING_BIN={CRASHING}", sys.executable,
             f"tests/torture/{script}", *map(str, arguments)]
    return "repeat with:\n  " + " ".join(words)


class Gone(Exception):
    """The daemon went away before it replied."""


class Client:
    def __init__(self, name, history_, daemon):
        self.name, self.history, self.daemon = name, history_, daemon
        self.unknown = []  # (command, params) without a reply

    def call(self, command, **params):
        """The reply, or None if it was refused. Raises Gone if the outcome is unknown."""
        op = self.history.invoke(self.name, command, params)
        try:
            reply = self.daemon.call(command, **params)
            body = reply.json
        except LOST:
            self.history.add("unknown", op=op)
            if command not in history.READS:
                self.unknown.append((command, params))
            raise Gone from None
        if reply.status == 200:
            kept = body if command not in history.READS else {
                "asOfSequence": body.get("asOfSequence")}
            self.history.add("ok", op=op, reply=kept)
            return body
        self.refused(op, body.get("error", {}).get("code", "none"))
        return None

    def refused(self, op, code):
        """An internal error may come after the effect, so the outcome is unknown; others changed
        nothing."""
        self.history.add("unknown" if code == "internal" else "fail", op=op, error=code)

    def submit(self, marker, **params):
        return self.call("submit_turn", idempotencyKey=marker,
                         input=[{"type": "text", "text": marker}], **params)

    def repeat_unknown(self):
        while self.unknown:
            command, params = self.unknown[-1]
            self.unknown.pop()
            self.call(command, **params)


class Follower(threading.Thread):
    """Reads a session's live stream until it breaks, and records the events."""

    def __init__(self, history_, daemon, session, after=0, seconds=60):
        super().__init__(daemon=True)
        self.history, self.session, self.last = history_, session, after
        self.failure = None
        self.stream = daemon.stream(session, after=after, seconds=seconds)
        self.number = history_.follow(session, after)

    def run(self):
        try:
            with self.stream:
                for event in self.stream.events():
                    self.history.add("seen", stream=self.number, sequence=event["sequence"],
                                     digest=history.digest(event))
                    self.last = event["sequence"]
        except LOST:
            pass
        except AssertionError as problem:
            self.failure = str(problem)


class CrashingDaemon(harness.Daemon):
    """A daemon on a disk that loses power at a sync; it may exit before it listens."""

    def __init__(self, home, sync, damage, seed, lying=False):
        self.home = home
        self.errors = tempfile.TemporaryFile()
        self._local = threading.local()
        environment = {**home.environment, "AGENTRT_CRASH_SYNC": str(sync),
                       "AGENTRT_CRASH_DAMAGE": damage, "AGENTRT_CRASH_SEED": str(seed),
                       "AGENTRT_CRASH_LYING": "1" if lying else "0"}
        self.process = subprocess.Popen(
            [CRASHING, "serve", "--listen", "127.0.0.1:0"], cwd=home.workspace, env=environment,
            stdout=subprocess.PIPE, stderr=self.errors)
        line = self.process.stdout.readline().decode().strip()
        self.listening = line.startswith("listening on http://127.0.0.1:")
        if self.listening:
            self._reach(line.rpartition(" ")[2])
        else:
            code = self.process.wait(harness.WAIT_SECONDS)
            assert code == CRASH_EXIT, f"serve said {line!r} and {code}: {self.stderr()}"

    def end(self):
        """Stops it if it still runs. True: it crashed at its sync."""
        self.disconnect()
        if self.alive():
            self.process.terminate()
        code = self.process.wait(harness.WAIT_SECONDS)
        self.process.stdout.close()
        assert code in (0, CRASH_EXIT), f"serve ended with {code}: {self.stderr()}"
        return code == CRASH_EXIT


def sessions_of(daemon):
    """Every session's id."""
    found, cursor = [], {}
    while True:
        page = daemon.ok("list_sessions", limit=1000, **cursor)
        found += [row["sessionId"] for row in page["data"]]
        if not page.get("nextCursor"):
            return found
        cursor = {"cursor": page["nextCursor"]}


def logs_of(daemon):
    return {session: daemon.events(session) for session in sessions_of(daemon)}


def wait_settled(daemon, seconds=60):
    """Waits until no session has work in progress: by the daemon's counters, then by the logs."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        logs = logs_of(daemon)
        if all(settled(events) for events in logs.values()):
            return logs
        time.sleep(0.05)
    raise AssertionError(f"turns were still running after {seconds} s")


def settled(events):
    kinds = [event["type"] for event in events]
    return kinds.count("turn.submitted") == kinds.count("turn.completed") + kinds.count(
        "turn.failed")
