"""Disk space of streamed answers: the database with packed fragments, compared with the same
database with one row per fragment. Both are compacted copies, so that free pages do not count."""

import shutil
import sqlite3
import zlib

SESSIONS = 16
FRAGMENTS = 100  # per answer, far enough apart to be separate facts
FRAGMENT_MS = 30
WORDS = "The store appends the facts of a turn, syncs them once and only then shows them. "
TIMES_GOAL = 1.5  # how many times larger without packing


def measure(here, table):
    line = {"text": WORDS * (FRAGMENTS // 4), "deltas": FRAGMENTS, "deltaMs": FRAGMENT_MS}
    home = here.harness.Home({"main": [line]}, folder=str(here.folder / "packing"))
    daemon = here.harness.Daemon(home)
    turns = [daemon.submit("Tell me.", sessionId=f"p{n}", threadId="t") for n in range(SESSIONS)]
    for turn in turns:
        daemon.wait_turn(turn, seconds=60)
    store = home.data / "agentrt.db"
    here.harness.wait_until(lambda: all_looked_at(store), seconds=60, what="the packing")
    daemon.stop()
    packed, loose = here.folder / "packed.db", here.folder / "loose.db"
    compact(store, packed)
    unpacked = here.folder / "unpacked.db"
    shutil.copy(packed, unpacked)
    unpack(unpacked)
    compact(unpacked, loose)
    size = {path: path.stat().st_size / 1024 for path in (packed, loose)}
    table.add("packed_kib", f"database of {SESSIONS * FRAGMENTS:,} streamed fragments, packed",
              size[packed], "KiB", better="less", limits=[size[loose]], which="not packed",
              ratio_goal=TIMES_GOAL)
    home.remove()


def all_looked_at(store):
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as db:
        done, last = db.execute("SELECT (SELECT value FROM meta WHERE name = 'packed'), "
                                "(SELECT max(position) FROM event WHERE type = 'model.delta')"
                                ).fetchone()
    return done is not None and int(done) >= last


def compact(source, target):
    with sqlite3.connect(source) as db:
        db.execute("VACUUM INTO ?", (str(target),))


def unpack(path):
    """Undoes packing: every row has its own scope and payload again."""
    with sqlite3.connect(path) as db:
        for session, first, blob in db.execute("SELECT session, first, bytes FROM pack").fetchall():
            parts = zlib.decompress(blob).decode().split("\0")
            for at in range(0, len(parts) - 1, 2):
                db.execute("UPDATE event SET scope = ?, payload = ? "
                           "WHERE session = ? AND sequence = ?",
                           (parts[at], parts[at + 1], session, first + at // 2))
        db.execute("DELETE FROM pack")
