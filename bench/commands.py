"""Durable commands per second, compared with raw SQLite writing the same rows in the same batches.

Our runs and the baseline alternate in short rounds, and the ratio is computed within each round, so
that a drifting disk or machine favours neither.
"""

import setting

CONNECTIONS = (1, 16, 64)
RATIO_GOAL = 0.6  # of raw SQLite group commit


def store_file(home):
    return next(path for path in home.data.iterdir()
                if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3")


def raw_sqlite(here, home, batch):
    """Appends per second of SQLite alone: the better of never and regularly checkpointing."""
    return max(here.run("raw_sqlite", "--store", store_file(home), "--out", here.folder / "raw.db",
                        "--batch", batch, "--appends", 1500 if batch == 1 else 10_000,
                        "--checkpoint-pages", pages)["per_second"] for pages in (0, 1000))


def one_round(here, home, daemon, connections):
    daemon.disconnect()  # rounds may be minutes apart, longer than the idle timeout
    before = daemon.metrics()
    result = here.load("http_load", daemon, "--connections", connections, "--seconds", 2,
                       "--warmup-ms", 200, "--prefix", "bench")
    after = daemon.metrics()

    def grown(name):
        return after[f"agentrt_{name}_total"] - before[f"agentrt_{name}_total"]
    batch = max(1, round(grown("commit_appends") / max(1, grown("commits"))))
    return {"ours": result["per_second"], "batch": batch, "raw": raw_sqlite(here, home, batch),
            "sync": here.raw_sync() if connections == 1 else None, "p99": result["p99_us"] / 1e3}


def measure(here, table):
    home = here.home("commands")
    daemon = here.harness.Daemon(home)
    setting.make_sessions(daemon, "bench", max(CONNECTIONS))
    for connections in CONNECTIONS:
        seen = here.rounds(5, lambda: one_round(here, home, daemon, connections))
        ours = [r["ours"] for r in seen]
        batches = sorted(r["batch"] for r in seen)
        many = f"{connections} connection" + ("s" if connections > 1 else "")
        table.add(f"commands_{connections}", f"durable commands, {many}", ours, "/s",
                  limits=[r["raw"] for r in seen], strict=True, ratio_goal=RATIO_GOAL,
                  which=f"raw SQLite, batches of {batches[len(batches) // 2]}")
        if connections == 1:
            table.add("commands_1_sync", "  the same over raw syncs", ours, "/s",
                      limits=[r["sync"] for r in seen], which="raw fdatasync of 4 KiB",
                      strict=True)
        table.add(f"commands_{connections}_p99", "  p99 of a command", [r["p99"] for r in seen],
                  "ms", better="less")
    daemon.stop()
    home.remove()
