"""Tests the table: medians, ratios per round, goals, refused rows, the baseline."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest

import table


class Rows(unittest.TestCase):
    def setUp(self):
        self.table = table.Table(pathlib.Path("no such baseline"))
        self.enterContext(contextlib.redirect_stderr(io.StringIO()))

    def test_a_ratio_is_taken_within_each_round(self):
        row = self.table.add("a", "a", [10, 100, 30], "/s", limits=[20, 200, 60], ratio_goal=0.5)
        self.assertEqual((row["ours"], row["limit"], row["ratio"]), (30, 60, 0.5))
        self.assertTrue(row["met"])

    def test_for_times_less_is_better(self):
        row = self.table.add("a", "a", [4.0], "ms", better="less", limits=[2.0], goal=3.0)
        self.assertEqual((row["ratio"], row["met"]), (0.5, False))

    def test_a_ratio_above_a_strict_limit_is_refused_and_meets_no_goal(self):
        row = self.table.add("a", "a", [12], "/s", limits=[10], strict=True, ratio_goal=0.6)
        self.assertEqual((row["ratio"], row["met"]), (None, None))
        self.assertIn("not credible", row["note"])

    def test_the_noise_line_names_the_least_steady_limit(self):
        self.table.add("a", "a", [1, 1, 1], "/s", limits=[10, 10, 10], which="steady")
        self.table.add("b", "b", [1, 1, 1], "/s", limits=[5, 10, 15], which="shaky")
        line = self.table.noise(0.99, 0.5)
        self.assertIn("idle 99% before, 50% after", line)
        self.assertIn("50% apart (shaky)", line)

    def test_every_row_can_be_shown(self):
        self.table.add("a", "a", [1, 2, 3], "/s", limits=[2, 2, 2], which="raw", ratio_goal=0.6)
        self.table.skip("b", "b", "there is no such command")
        for show in (self.table.show, self.table.show_markdown):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                show()
            self.assertIn("there is no such command", out.getvalue())


class Baseline(unittest.TestCase):
    def test_a_saved_run_is_what_the_next_one_is_compared_with(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            path = pathlib.Path(folder) / "baseline.json"
            first = table.Table(path)
            first.add("a", "a", [100], "/s")
            first.skip("b", "b", "not here")
            table.save_baseline({"machine": {"cpu": "x"}, "rows": first.rows}, path)
            self.assertEqual([row["id"] for row in json.loads(path.read_text())["rows"]], ["a"])
            second = table.Table(path)
            self.assertEqual(second.add("a", "a", [110], "/s")["change"], 110 / 100 - 1)
            self.assertIsNone(second.add("c", "c", [1], "/s")["change"])


if __name__ == "__main__":
    unittest.main()
