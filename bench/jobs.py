"""A job of trivial items (`true` in the sandbox), compared with bare sandboxed spawns one after the
other: items per second, facts and bytes per item, memory growth, and how much slower a turn gets
beside it.
"""

import os
import sqlite3
import time

ITEMS = int(os.environ.get("AGENTRT_BENCH_JOB_ITEMS", 100_000))
ITEMS_QUICK = 500
CONCURRENCY = 4
SPAWNS = 100
RATE_GOAL = 0.5
FACTS_GOAL = 18
BYTES_GOAL = 4
SLOWER_GOAL = 1 / 3
GROWTH_MIB_GOAL = 16


def measure(here, table):
    count = ITEMS_QUICK if here.quick else ITEMS
    home = here.home("jobs")
    daemon = here.harness.Daemon(home)
    daemon.ok("create_session", sessionId="s")
    daemon.ok("create_session", sessionId="other")
    alone = turn_ms(daemon)
    lines = b"".join(b'{"input":%d}\n' % n for n in range(count))
    ref = daemon.request("POST", "/v1/outputs?sessionId=s", lines).json["outputRef"]
    run(here, daemon, ref=None, count=20)  # warm
    before = daemon.memory_kb()
    beside = []
    began = time.monotonic()
    made = start(daemon, ref)
    job = made["jobId"]
    while True:
        beside.append(turn_ms(daemon))
        if daemon.ok("get_job", jobId=job, limit=1)["status"] != "running":
            break
        time.sleep(0.2)
    rate = count / (time.monotonic() - began)
    growth = max(0, daemon.memory_kb() - before) / 1024
    end = daemon.ok("get_job", jobId=job, limit=1)
    assert end["counts"]["completed"] == count, end
    bare = 1000 / bare_ms(here)
    table.add("job_items", f"items of a job per second, {count:,} items", rate, "/s",
              limits=[bare], which="bare sandboxed spawn", ratio_goal=RATE_GOAL)
    table.add("job_memory", "  memory growth of the daemon", growth, "MiB", better="less",
              goal=GROWTH_MIB_GOAL)
    table.add("job_beside", "  a turn beside the job", sorted(beside)[len(beside) // 2], "ms",
              better="less", limits=[alone], which="without the job", ratio_goal=SLOWER_GOAL)
    facts = (daemon.ok("get_session", sessionId="s")["asOfSequence"] - made["sequence"]) / count
    store = home.data / "agentrt.db"
    here.harness.wait_until(lambda: all_packed(store), seconds=600, what="the packing")
    daemon.stop()
    kib = size(here, store) / 1024 / count
    table.add("job_facts", "  facts per item", facts, "facts", better="less", goal=FACTS_GOAL)
    table.add("job_bytes", "  disk per item", kib, "KiB", better="less", goal=BYTES_GOAL)
    home.remove()


def start(daemon, ref=None, count=0):
    items = {"itemsRef": ref} if ref else {"items": [{"input": n} for n in range(count)]}
    return daemon.ok("create_job", sessionId="s", concurrency=CONCURRENCY,
                     runner={"kind": "command", "command": "true"},
                     options={"mode": "bypass"}, **items)


def run(here, daemon, ref, count):
    job = start(daemon, ref, count)["jobId"]
    here.harness.wait_until(
        lambda: daemon.ok("get_job", jobId=job, limit=1)["status"] != "running", seconds=60,
        what="the end of the job")
    return job


def turn_ms(daemon):
    began = time.monotonic()
    daemon.wait_turn(daemon.submit("go", sessionId="other", threadId="t"), seconds=60)
    return (time.monotonic() - began) * 1000


def bare_ms(here):
    workspace, home = here.folder / "jobs_ws", here.folder / "jobs_home"
    for folder in (workspace, home / "data"):
        folder.mkdir(parents=True, exist_ok=True)
    return here.run("spawns", os.path.realpath(workspace), os.path.realpath(home), SPAWNS,
                    0)["ours"]


def all_packed(store):
    """Whether the log was examined up to its last 1,000 rows."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
        done, last = db.execute("SELECT (SELECT value FROM meta WHERE name = 'packed'), "
                                "(SELECT max(position) FROM event)").fetchone()
    return done is not None and int(done) >= last - 1000


def size(here, store):
    """Bytes of a compacted copy without the turns beside the job; free pages do not count."""
    compact = here.folder / "jobs.db"
    with sqlite3.connect(store) as db:
        db.execute("VACUUM INTO ?", (str(compact),))
    db = sqlite3.connect(compact, isolation_level=None)
    other, = db.execute("SELECT key FROM session WHERE id = 'other'").fetchone()
    for table in ("event", "pack", "object", "term", "snapshot"):
        db.execute(f"DELETE FROM {table} WHERE session = ?", (other,))
    db.execute("VACUUM")
    db.close()
    return compact.stat().st_size
