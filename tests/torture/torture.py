"""Everything in this folder, for as long as asked: ./dev torture.

usage: torture.py --build FOLDER [--minutes M] [--seed S]

Power cuts at every sync of the scripted run, each kind of damage; then kill -9 episodes until the
time is up, with a new sweep of power cuts, under another seed, after every few of them. The first
violation ends it with exit code 1, the seed and the command that repeats it.
"""

import argparse
import collections
import os
import pathlib
import random
import sys
import time

KILLS = 20            # of one episode
EPISODES_A_SWEEP = 8  # between two sweeps of power cuts


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    os.environ["AGENTRT_BIN"] = str(build / "agentrt")
    os.environ["AGENTRT_CRASHING_BIN"] = str(build / "tests/agentrt_crashing")
    sys.dont_write_bytecode = True
    import crash_points
    import kill_loop

    print(f"./dev torture --minutes {options.minutes:g} --seed {options.seed}", flush=True)
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
    return 0


if __name__ == "__main__":
    sys.exit(main())
