"""Runs all tests of this folder for the given time: ./dev torture.

usage: torture.py --build FOLDER [--minutes M] [--fuzz-minutes F] [--items N] [--seed S]

Power cuts at every sync of the scripted run, with each kind of damage; then kill -9 episodes until
the time is up, with another sweep of power cuts, under a new seed, after every few of them. Then
random shell texts that the permission policy allows, in real bash, for --fuzz-minutes. Then a job
of --items items with kill -9 in between, however long it takes. The first violation ends it with
exit code 1, the seed and the command that repeats it.
"""

import argparse
import collections
import os
import pathlib
import random
import subprocess
import sys
import time

KILLS = 20  # per episode
KILLS_OF_A_JOB = 5
EPISODES_A_SWEEP = 8  # between two sweeps of power cuts


def fuzz_shell_texts(build, minutes, seed):
    """Runs shell_differential. True: no allowed text ran anything that was not judged."""
    if minutes <= 0:
        return True
    command = [str(build / "tests/shell_differential"), str(build / "tests/shell_marker"),
               "--seed", str(seed), "--count", str(1 << 62), "--seconds", f"{minutes * 60:g}"]
    print(" ".join(command), flush=True)
    return subprocess.run(command, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--fuzz-minutes", type=float, default=3,
                        help="how long random shell texts run in bash (0: not at all)")
    parser.add_argument("--items", type=int, default=1_000_000,
                        help="items of the job at the end (0: no job)")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    os.environ["AGENTRT_BIN"] = str(build / "agentrt")
    os.environ["AGENTRT_CRASHING_BIN"] = str(build / "tests/agentrt_crashing")
    sys.dont_write_bytecode = True
    import crash_points
    import kill_loop
    import million_items

    print(f"./dev torture --minutes {options.minutes:g} --fuzz-minutes {options.fuzz_minutes:g} "
          f"--items {options.items} --seed {options.seed}", flush=True)
    deadline = time.monotonic() + options.minutes * 60
    crashes, totals, episodes = collections.Counter(), collections.Counter(), 0
    try:
        while True:
            if episodes % EPISODES_A_SWEEP == 0:
                crashes.update(crash_points.sweep(options.seed + episodes))
            if time.monotonic() >= deadline:
                break
            started = time.monotonic()
            done = kill_loop.Episode(options.seed + episodes, KILLS).run()
            print(kill_loop.describe(options.seed + episodes, done, time.monotonic() - started),
                  flush=True)
            totals.update(done)
            episodes += 1
    except AssertionError as violation:
        print(f"violation: {violation}", file=sys.stderr)
        return 1
    print(f"{sum(crashes.values()):,} power cuts of {len(crashes)} kinds, "
          f"{totals['kill'] + totals['pause_kill']:,} kills, {totals['operations']:,} operations: "
          "0 violations")
    if not fuzz_shell_texts(build, options.fuzz_minutes, options.seed):
        return 1
    if options.items > 0:
        try:
            print(million_items.check_run(options.items, KILLS_OF_A_JOB, options.seed), flush=True)
        except AssertionError as violation:
            print(f"violation: {violation}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
