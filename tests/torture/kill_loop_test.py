"""A short kill -9 loop; ./dev torture runs it for as long as requested.

AGENTRT_TORTURE_SEED repeats a run, AGENTRT_TORTURE_KILLS sets the number of kills.
"""

import os
import random
import time
import unittest

import history
import kill_loop

SEED = int(os.environ.get("AGENTRT_TORTURE_SEED", str(random.randrange(1 << 30))))
KILLS = int(os.environ.get("AGENTRT_TORTURE_KILLS", "8"))


class KillLoop(unittest.TestCase):
    def test_no_history_of_concurrent_clients_breaks_a_promise(self):
        print(f"seed {SEED}, {KILLS} kills", flush=True)
        started = time.monotonic()
        episode = kill_loop.Episode(SEED, KILLS)
        totals = episode.run()
        print(kill_loop.describe(SEED, totals, time.monotonic() - started), flush=True)
        self.assertGreater(totals["acknowledged"], 100)
        self.assertGreater(totals["seen"], 100)
        self.judge_is_awake(episode)

    def judge_is_awake(self, episode):
        """Tests the checker: the same history against empty logs must not pass."""
        found = {v.name for v in history.judge(episode.history.entries, {})}
        self.assertLessEqual({"lost", "stream_lied", "log_changed"}, found)


if __name__ == "__main__":
    unittest.main()
