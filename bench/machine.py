"""Properties of this machine: hardware, idle share, steadiness."""

import os
import pathlib
import re
import sys
import time

IDLE_SHARE_MIN = 0.9  # of the machine, while our programs are not running
ROW_SECONDS_MAX = 110  # for all rounds of one row, including waits for an idle machine


def idle_share(seconds=2.0):
    """The share of the machine that is idle now."""
    def ticks():
        fields = pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:]
        numbers = [int(field) for field in fields]
        return numbers[3] + numbers[4], sum(numbers)
    idle, total = ticks()
    time.sleep(seconds)
    idle_after, total_after = ticks()
    return (idle_after - idle) / max(1, total_after - total)


def rounds(count, measure, wait_for_idle=True):
    """Returns `count` results that began and ended on an idle machine; others are discarded.

    Stops waiting for an idle machine after ROW_SECONDS_MAX per row, and reports that: the ratios
    are then less credible.
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
