"""An independent model: folds a session's log and compares the result with what the daemon serves.

Model is the fold of one session's events, written from docs/events.md. compare() checks the read
models against it, check_store() the rows on disk.
"""

import datetime
import hashlib
import json
import sqlite3
import zlib

QUEUE_SHOWN = 20  # a read shows at least so many queued turns
ENDS = {"turn.completed", "turn.failed"}


class Model:
    def __init__(self, events):
        self.sequence = len(events)
        self.title = None
        self.threads = {}  # threadId -> {"queue": [...], "running": turnId or None}
        self.turns = {}    # turnId -> status: queued, running, or how it ended
        for event in events:
            self._fold(event)

    def _fold(self, event):
        kind, payload = event["type"], event["payload"]
        if kind in ("session.created", "session.updated"):
            self.title = payload.get("title", self.title)
        if "threadId" not in event:
            return
        thread = self.threads.setdefault(event["threadId"], {"queue": [], "running": None})
        turn = event.get("turnId")
        if kind == "turn.submitted":
            self.turns[turn] = "queued"
        elif kind == "turn.started":
            assert thread["running"] is None, f"{turn} starts beside {thread['running']}"
            self.turns[turn] = "running"
            thread["running"] = turn
        elif kind in ENDS:
            self.turns[turn] = payload["status"]
            if thread["running"] == turn:
                thread["running"] = None
        elif kind == "queue.changed":
            self._queue(thread["queue"], payload)

    @staticmethod
    def _queue(queue, payload):
        if payload["turnId"] in queue:
            queue.remove(payload["turnId"])
        if payload["change"] in ("added", "promoted"):
            queue.insert(payload["position"] - 1, payload["turnId"])
        assert len(queue) == payload["count"], f"{len(queue)} wait, not {payload['count']}"


def compare(model, session, threads):
    """`session` from get_session, `threads` {id: get_thread_read}; raises on a difference."""
    same(session["asOfSequence"], model.sequence, "asOfSequence")
    same(session.get("title"), model.title, "the title")
    same(sorted(t["threadId"] for t in session["threads"]), sorted(model.threads), "the threads")
    for name, thread in threads.items():
        wanted = model.threads[name]
        shown = [turn["turnId"] for turn in thread["queuedTurns"]]
        due = max(len(shown), min(QUEUE_SHOWN, len(wanted["queue"])))  # a long queue is truncated
        same(shown, wanted["queue"][:due], f"the queue of {name}")
        same(thread.get("activeTurnId"), wanted["running"], f"the running turn of {name}")
    for turn in session["history"]:
        wanted = model.turns[turn["turnId"]]
        if wanted not in ("queued", "running"):
            same(turn["status"], wanted, f"turn {turn['turnId']}")


def same(found, wanted, what):
    assert found == wanted, f"{what}: served {found!r}, the log says {wanted!r}"


def _instant(ms):
    at = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=ms)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + "%03dZ" % (ms % 1000)


def check_store(path, models):
    """Checks a stopped store: the hash chain, and index rows that match `models`."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        same(database.execute("PRAGMA integrity_check").fetchone()[0], "ok", "integrity_check")
        _check_chain(database)
        _check_rows(database, models)
    finally:
        database.close()


def _packed(database):
    """The content of packs: (scope, payload) by session and sequence."""
    found = {}
    for session, first, last, data in database.execute("""
            SELECT s.id, p.first, p.last, p.bytes
            FROM pack p JOIN session s ON s.key = p.session"""):
        parts = zlib.decompress(data).decode().split("\0")
        same(len(parts), 2 * (last - first + 1) + 1, f"the size of a pack of {session}")
        for at in range(last - first + 1):
            found[session, first + at] = parts[2 * at], parts[2 * at + 1]
    return found


def _check_chain(database):
    packed = _packed(database)
    rows = database.execute("""
        SELECT s.id, e.sequence, e.at, e.type, e.version, r.id, e.scope, e.payload, e.hash
        FROM event e JOIN session s ON s.key = e.session JOIN runtime r ON r.key = e.runtime
        ORDER BY e.session, e.sequence""")
    last = {}
    for session, sequence, at, kind, version, runtime, scope, payload, stored in rows:
        if payload is None:
            scope, payload = packed[session, sequence]
        before, previous = last.get(session, (0, bytes(32)))
        same(sequence, before + 1, f"the sequence of a row of {session}")
        head = (f'{{"type":"{kind}","eventId":"evt_{session}_{sequence}",'
                f'"schemaVersion":"{version}","timestamp":"{_instant(at)}","sequence":{sequence},'
                f'"runtimeId":"{runtime}","sessionId":"{session}"' + ("," + scope if scope else ""))
        body = hashlib.sha256(payload.encode()).digest()
        chained = hashlib.sha256(previous + head.encode() + body).digest()
        same(stored, chained, f"the hash of {session} {sequence}")
        last[session] = (sequence, stored)


def _check_rows(database, models):
    rows = list(database.execute("""
        SELECT s.id, o.kind, o.id, o.status, o.open, o.record
        FROM object o JOIN session s ON s.key = o.session"""))
    turns = {(session, name): (status, is_open)
             for session, kind, name, status, is_open, _ in rows if kind == "turn"}
    wanted = {(session, turn): status for session, model in models.items()
              for turn, status in model.turns.items()}
    same(sorted(key for key in turns if key[0] in models), sorted(wanted), "the turns' index rows")
    for key, status in wanted.items():
        ended = status not in ("queued", "running")
        same(turns[key][1], 0 if ended else 1, f"`open` of turn {key}")
        if ended:
            same(turns[key][0], status, f"the index row of turn {key}")
    titles = {name: json.loads(record).get("title")
              for _, kind, name, _, _, record in rows if kind == "session"}
    for session, model in models.items():
        same(titles[session], model.title, f"the index row of session {session}")


def forget_snapshots(path):
    """Makes the next start fold every session from its first event. Returns how many snapshots
    there were."""
    database = sqlite3.connect(path)
    try:
        count = database.execute("DELETE FROM snapshot").rowcount
        database.commit()
        return count
    finally:
        database.close()
