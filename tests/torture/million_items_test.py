"""A short version of the run of a million items; AGENTRT_TORTURE_ITEMS sets their number."""

import os
import random
import unittest

import million_items

ITEMS = int(os.environ.get("AGENTRT_TORTURE_ITEMS", "2000"))
SEED = int(os.environ.get("AGENTRT_TORTURE_SEED", str(random.randrange(1 << 30))))


class MillionItems(unittest.TestCase):
    def test_every_item_completes_once_across_kills(self):
        print(million_items.check_run(ITEMS, 2, SEED), flush=True)


if __name__ == "__main__":
    unittest.main()
