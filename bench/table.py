"""The rows of the measurement, their baselines and goals, and how they are printed.

A row has an id that never changes (the baseline is stored under it), a name for people, our value
over several rounds, and optionally the limit measured alongside it and the goal.
"""

import json
import pathlib
import statistics
import sys

BASELINE = pathlib.Path(__file__).resolve().parent / "baseline.json"
RATIO_CREDIBLE_MAX = 1.05
COLUMNS = ("what", "ours", "spread", "limit", "which", "ratio", "goal", "met", "since baseline")
TO_THE_RIGHT = {1, 2, 3, 5, 8}


def spread(values):
    """The spread of the rounds: their interquartile range as a share of the median."""
    if len(values) < 2 or not statistics.median(values):
        return None
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / statistics.median(values)


class Table:
    def __init__(self, baseline=BASELINE):
        self.rows = []
        self.limit_spreads = []
        self.baseline = {}
        if baseline.exists():
            self.baseline = {row["id"]: row for row in json.loads(baseline.read_text())["rows"]}

    def add(self, id_, name, values, unit, *, better="more", limits=None, which="",
            strict=False, ratio_goal=None, goal=None):
        """Adds a row. `values` and `limits` hold one number per round.

        `limits` is what this machine achieves without agentrt; the ratio is computed within each
        round. A `strict` limit cannot be exceeded: a ratio beyond it means that the two were not
        measured under the same conditions, and it is not reported.
        """
        values = values if isinstance(values, list) else [values]
        row = {"id": id_, "name": name, "ours": statistics.median(values), "unit": unit,
               "better": better, "rounds": len(values), "spread": spread(values), "limit": None,
               "limitName": which, "ratio": None, "goal": goal, "ratioGoal": ratio_goal,
               "met": None, "note": "", "baseline": None, "change": None}
        if limits:
            self._compare(row, values, limits, strict)
        self._judge(row)
        self._since(row)
        self.rows.append(row)
        print(f"  {name}: {number(row['ours'])} {unit} {row['note']}".rstrip(), file=sys.stderr)
        return row

    def skip(self, id_, name, why):
        self.rows.append({"id": id_, "name": name, "ours": None, "unit": "", "note": why})
        print(f"  {name}: {why}", file=sys.stderr)

    def _compare(self, row, values, limits, strict):
        row["limit"] = statistics.median(limits)
        if spread(limits) is not None:
            self.limit_spreads.append((row["limitName"], spread(limits)))
        pairs = zip(values, limits)
        more = row["better"] == "more"
        ratio = statistics.median(ours / limit if more else limit / ours for ours, limit in pairs)
        if strict and ratio > RATIO_CREDIBLE_MAX:
            row["note"] = f"not credible ({ratio:.2f}): measure again on a quiet machine"
        else:
            row["ratio"] = ratio

    def _judge(self, row):
        if row["ratioGoal"] is not None and row["ratio"] is not None:
            row["met"] = row["ratio"] >= row["ratioGoal"]
        elif row["goal"] is not None:
            more = row["better"] == "more"
            row["met"] = row["ours"] >= row["goal"] if more else row["ours"] <= row["goal"]

    def _since(self, row):
        before = self.baseline.get(row["id"])
        if before and before.get("ours"):
            row["baseline"] = before["ours"]
            row["change"] = row["ours"] / before["ours"] - 1

    def noise(self, idle_before, idle_after):
        """One line about how reliable the table is."""
        line = f"noise: idle {idle_before:.0%} before, {idle_after:.0%} after"
        if self.limit_spreads:
            which, most = max(self.limit_spreads, key=lambda pair: pair[1])
            line += f"; the limits' rounds lie up to {most:.0%} apart ({which})"
        return line

    def show(self):
        cells = [COLUMNS] + [self._cells(row) for row in self.rows]
        widths = [max(len(line[i]) for line in cells) for i in range(len(COLUMNS))]
        for line in cells:
            print("  ".join(text.rjust(width) if i in TO_THE_RIGHT else text.ljust(width)
                            for i, (text, width) in enumerate(zip(line, widths))).rstrip())

    def show_markdown(self):
        """The table as Markdown, for docs/performance.md."""
        print("| " + " | ".join(COLUMNS[:-1]) + " |")
        print("| " + " | ".join("---" for _ in COLUMNS[:-1]) + " |")
        for row in self.rows:
            print("| " + " | ".join(cell.strip() for cell in self._cells(row)[:-1]) + " |")

    @staticmethod
    def _cells(row):
        if row["ours"] is None:
            return (row["name"], "", "", "", row["note"], "", "", "", "")
        unit = row["unit"]
        goal = ""
        if row["ratioGoal"] is not None:
            goal = f"ratio {row['ratioGoal']:.2f}"
        elif row["goal"] is not None:
            goal = f"{'>=' if row['better'] == 'more' else '<='} {number(row['goal'])} {unit}"
        return (row["name"], f"{number(row['ours'])} {unit}",
                f"{row['spread']:.0%}" if row["spread"] is not None else "",
                f"{number(row['limit'])} {unit}" if row["limit"] else "", row["limitName"],
                f"{row['ratio']:.2f}" if row["ratio"] is not None else row["note"], goal,
                {None: "", True: "yes", False: "NO"}[row["met"]],
                f"{row['change']:+.0%}" if row["change"] is not None else "")


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.2f}"


def save_baseline(result, path=BASELINE):
    kept = {"machine": result["machine"],
            "rows": [{key: row[key] for key in ("id", "name", "ours", "unit", "spread", "ratio")}
                     for row in result["rows"] if row["ours"] is not None]}
    path.write_text(json.dumps(kept, indent=1) + "\n")
