"""Measures build times without ccache: a clean build of the release binary and of everything that
the tests need, and a rebuild of the binary after a change to one source file.

Takes a quarter of an hour, so it runs only with `--only build`.
"""

import os
import pathlib
import resource
import subprocess
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
LEAF = SOURCE / "src/cli/views/page.cc"
BINARY_CPU_GOAL_MIN = 12
BINARY_WALL_GOAL_MIN = 7
TOUCH_GOAL_S = 5


def measure(here, table):
    folder = here.folder / "build"
    run("cmake", "--preset", "release", "-B", str(folder))
    wall, cpu = timed("ninja", "-C", str(folder), "agentrt")
    table.add("build_binary_cpu", "release binary from clean, processor time", cpu / 60, "min",
              better="less", goal=BINARY_CPU_GOAL_MIN)
    table.add("build_binary_wall", "release binary from clean, wall time", wall / 60, "min",
              better="less", goal=BINARY_WALL_GOAL_MIN)
    more_wall, more_cpu = timed("ninja", "-C", str(folder))
    table.add("build_all_cpu", "everything that ./dev test builds, processor time",
              (cpu + more_cpu) / 60, "min", better="less", goal=2 * BINARY_CPU_GOAL_MIN)
    table.add("build_all_wall", "everything that ./dev test builds, wall time",
              (wall + more_wall) / 60, "min", better="less", goal=2 * BINARY_WALL_GOAL_MIN)
    table.add("build_touch", "release binary after one source file changed",
              [touched(folder) for _ in range(3)], "s", better="less", goal=TOUCH_GOAL_S)


def touched(folder):
    os.utime(LEAF)
    return timed("ninja", "-C", str(folder), "agentrt")[0]


def timed(*words):
    """Wall clock seconds and processor seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    run(*words)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, cpu


def run(*words):
    done = subprocess.run(words, cwd=SOURCE, capture_output=True, text=True,
                          env={**os.environ, "CCACHE_DISABLE": "1"})
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(words)}: {done.stdout}{done.stderr}")
