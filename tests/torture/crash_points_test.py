"""Power cuts at syncs of a scripted run: some of them here, all of them in ./dev torture.

AGENTRT_TORTURE_SEED repeats a run.
"""

import os
import random
import unittest

import crash_points

SEED = int(os.environ.get("AGENTRT_TORTURE_SEED", str(random.randrange(1 << 30))))
STRIDE = 6  # each kind of damage begins at another sync, so that together they cover most


class CrashPoints(unittest.TestCase):
    def test_nothing_acknowledged_or_shown_is_lost_whatever_the_disk_kept(self):
        print(f"seed {SEED}", flush=True)
        for offset, damage in enumerate(crash_points.DAMAGES, 1):
            counts = crash_points.sweep(SEED, (damage,), first=offset, stride=STRIDE)
            self.assertGreater(counts[damage], 10)

    def test_a_disk_that_lies_about_its_syncs_is_found_out(self):
        with self.assertRaisesRegex(AssertionError, "lost: |is truncated"):
            crash_points.Point(40, "drop", SEED, lying=True).run()


if __name__ == "__main__":
    unittest.main()
