"""A job of many items, with kill -9 in between: every item runs, none twice, and memory stays flat.

usage: million_items.py [--items N] [--kills K] [--seed S]
"""

import argparse
import random
import sys
import time

import clients
import harness

GROWTH_KB_MAX = 96 << 10  # of the daemon, from its first items to its last
SAMPLE_PAGES = 20  # of items that are read at the end
# A turn without a process: this measures the runtime, not the sandbox.
SCRIPTS = {"main": [{"text": "ok"}]}
RUNNER = {"kind": "turn", "instruction": "Say ok."}


class Run:
    def __init__(self, items, kills, seed):
        self.items, self.kills = items, kills
        self.random = random.Random(seed)
        self.home = harness.Home(SCRIPTS, "")
        self.daemon = harness.Daemon(self.home)

    def job(self):
        return self.daemon.ok("get_job", jobId="job", limit=1)

    def done(self):
        counts = self.job()["counts"]
        return counts["completed"] + counts["failed"]

    def run(self):
        """Returns items per second and the growth of the daemon's memory in KiB."""
        try:
            started = time.monotonic()
            self.create()
            growth = self.work()
            self.check()
            return self.items / (time.monotonic() - started), growth
        finally:
            self.daemon.kill()
            self.daemon.errors.close()
            self.home.remove()

    def create(self):
        self.daemon.ok("create_session", sessionId="s")
        lines = b"".join(b'{"jobItemId":"i%d","input":%d}\n' % (n, n) for n in range(self.items))
        ref = self.daemon.request("POST", "/v1/outputs?sessionId=s", lines).json["outputRef"]
        made = self.daemon.ok("create_job", sessionId="s", jobId="job", itemsRef=ref,
                              runner=RUNNER, concurrency=16, repeatable=True)
        assert made["items"] == self.items, made

    def work(self):
        """Follows the job to its end, and kills the daemon at random counts of finished items."""
        deaths = sorted(self.random.randrange(self.items) for _ in range(self.kills))
        first, largest = None, 0
        while self.job()["status"] == "running":
            done = self.done()
            if deaths and done >= deaths[0]:
                deaths.pop(0)
                self.daemon.kill()
                self.daemon.errors.close()
                self.daemon = harness.Daemon(self.home)
                first = None
                continue
            memory = self.daemon.memory_kb()
            if first is None and done >= self.items // 100:
                first = memory
            if first is not None:
                largest = max(largest, memory - first)
            time.sleep(0.2)
        return largest

    def check(self):
        job = self.job()
        assert job["counts"] == {"pending": 0, "running": 0, "completed": self.items, "failed": 0,
                                 "reported": 0}, job["counts"]
        seen, cursor = set(), {}
        for _ in range(SAMPLE_PAGES):
            page = self.daemon.ok("get_job", jobId="job", **cursor)
            for item in page["items"]:
                assert item["status"] == "completed", item
                assert item["jobItemId"] not in seen, item
                seen.add(item["jobItemId"])
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}


def check_run(items, kills, seed):
    """Raises AssertionError with the command that repeats the run."""
    try:
        rate, growth = Run(items, kills, seed).run()
        assert growth <= GROWTH_KB_MAX, f"the daemon grew by {growth} KiB"
    except AssertionError as violation:
        repeat = clients.repeat_command("million_items.py", "--items", items, "--kills", kills,
                                        "--seed", seed)
        raise AssertionError(f"{violation}\n{repeat}") from violation
    return (f"{items:,} items with {kills} kills: {rate:,.0f} per second, "
            f"{growth / 1024:.0f} MiB more")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print(check_run(options.items, options.kills, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
