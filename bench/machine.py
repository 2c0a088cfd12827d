"""This machine: what it is, how idle it is, and how steady what it gives."""

import os
import pathlib
import re
import sys
import time

IDLE_SHARE_MIN = 0.9  # of the machine, while nothing of ours runs
ROW_SECONDS_MAX = 110  # for all rounds of one row, the waits for an idle machine included


def idle_share(seconds=2.0):
    """How much of the machine nobody uses now."""
    def ticks():
        fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
        numbers = [int(field) for field in fields]
        return numbers[3] + numbers[4], sum(numbers)
    idle, total = ticks()
    time.sleep(seconds)
    idle_after, total_after = ticks()
    return (idle_after - idle) / max(1, total_after - total)


def rounds(count, measure, wait_for_idle=True):
    """`count` results, each begun and ended on an idle machine; others are thrown away.

    Gives up on that in time to stay under two minutes a row, and says so: the credibility of
    the ratios is in doubt then.
    """
    if not wait_for_idle:
        return [measure() for _ in range(count)]
    good, disturbed = [], []
    deadline = time.monotonic() + ROW_SECONDS_MAX
    longest = 0.0
    while len(good) < count and time.monotonic() + longest < deadline:
        if idle_share(0.3) < IDLE_SHARE_MIN:
            continue
        begun = time.monotonic()
        result = measure()
        longest = max(longest, time.monotonic() - begun)
        (good if idle_share(0.3) >= IDLE_SHARE_MIN else disturbed).append(result)
    if len(good) < count:
        print(f"  only {len(good)} of {count} rounds were undisturbed", file=sys.stderr)
    return good or disturbed or [measure()]


def describe():
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return {"cpu": cpu.group(1) if cpu else "unknown", "cores": os.cpu_count(),
            "kernel": os.uname().release}
