"""Records what clients did and saw, and checks it against the logs afterwards.

A History is a list of entries, written to its file, if any, as one JSON object per line:

  {"event": "invoke", "op": 7, "client": "c1", "command": "submit_turn", "params": {...}, "at": t}
  {"event": "ok", "op": 7, "reply": {...}, "at": t}       the command was acknowledged
  {"event": "fail", "op": 7, "error": "conflict", "at": t}  it was refused and had no effect
  {"event": "unknown", "op": 7, "at": t}                  the connection ended first
  {"event": "follow", "stream": 3, "session": "s", "after": 0}
  {"event": "seen", "stream": 3, "sequence": 1, "digest": "..."}
  {"event": "log", "session": "s", "length": 12, "digest": "..."}   the log at a restart
  {"event": "note", "text": "kill"}

Every write carries a unique marker (a text, a title, a turn id), so its effects can be counted in
the log without trusting a reply. judge() returns the violations; each has a name, so that a test
can state which one a bad history must cause.
"""

import bisect
import collections
import hashlib
import json
import threading
import time

import log_model

READS = {"get_session", "get_thread_read", "list_sessions", "list_events"}
# Their effect depends on the state of a turn, so they may also have none.
STEERING = {"remove_queued_turn": "removed", "promote_queued_turn": "promoted"}

Violation = collections.namedtuple("Violation", "name text")


def digest(event):
    return hashlib.sha1(json.dumps(event, sort_keys=True).encode()).hexdigest()[:16]


def prefix_digests(digests):
    """One digest per length: of the first 0, 1, 2, ... events, whose digests are `digests`."""
    whole = hashlib.sha1()
    found = [whole.hexdigest()[:16]]
    for one in digests:
        whole.update(one.encode())
        found.append(whole.hexdigest()[:16])
    return found


def log_digest(events):
    return prefix_digests(map(digest, events))[-1]


class History:
    """Collects entries from many threads; with a file, each is on disk when add() returns."""

    def __init__(self, path=None):
        self.entries = []
        self._lock = threading.Lock()
        self._ops = 0
        self._streams = 0
        self._file = open(path, "w", encoding="utf-8", buffering=1) if path else None

    def add(self, event, **more):
        entry = {"event": event, "at": time.monotonic(), **more}
        with self._lock:
            self.entries.append(entry)
            if self._file:
                self._file.write(json.dumps(entry) + "\n")

    def invoke(self, client, command, params):
        with self._lock:
            self._ops += 1
            op = self._ops
        self.add("invoke", op=op, client=client, command=command, params=params)
        return op

    def follow(self, session, after):
        with self._lock:
            self._streams += 1
            stream = self._streams
        self.add("follow", stream=stream, session=session, after=after)
        return stream

    def close(self):
        if self._file:
            self._file.close()


def load(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


class Attempts:
    """All attempts of one intended write: the same command and key."""

    def __init__(self, command, params):
        self.command, self.params = command, params
        self.first_invoke = None
        self.first_ok = None
        self.replies = []
        self.outcomes = []

    def __str__(self):
        return f"{self.command} {json.dumps(self.params)[:200]}"


class Judge:
    def __init__(self, entries, logs):
        self.logs = logs
        self.digests = {session: [digest(event) for event in events]
                        for session, events in logs.items()}
        self.found = []
        self.writes = {}   # (command, key) -> Attempts
        self.reads = []    # (client, session, invoked, ended, sequence)
        self.streams = {}  # stream -> (session, after, [(sequence, digest)])
        self.old_logs = []
        self._sort(entries)
        self._count_effects()

    def violation(self, name, text):
        self.found.append(Violation(name, text))

    def _sort(self, entries):
        open_ops = {}
        for entry in entries:
            kind = entry["event"]
            if kind == "invoke":
                open_ops[entry["op"]] = entry
                if entry["command"] not in READS:
                    self._attempts(entry)
            elif kind in ("ok", "fail", "unknown"):
                self._end(open_ops.pop(entry["op"]), entry)
            elif kind == "follow":
                self.streams[entry["stream"]] = (entry["session"], entry["after"], [])
            elif kind == "seen":
                self.streams[entry["stream"]][2].append((entry["sequence"], entry["digest"]))
            elif kind == "log":
                self.old_logs.append(entry)
        for invoked in open_ops.values():  # the client itself was interrupted
            if invoked["command"] not in READS:
                self._attempts(invoked).outcomes.append("unknown")

    def _attempts(self, invoked):
        key = (invoked["command"], invoked["params"]["idempotencyKey"])
        attempts = self.writes.setdefault(key, Attempts(invoked["command"], invoked["params"]))
        if attempts.first_invoke is None:
            attempts.first_invoke = invoked["at"]
        return attempts

    def _end(self, invoked, ended):
        if invoked["command"] in READS:
            sequence = ended.get("reply", {}).get("asOfSequence")
            if ended["event"] == "ok" and sequence is not None:
                self.reads.append((invoked["client"], invoked["params"]["sessionId"],
                                   invoked["at"], ended["at"], sequence))
            return
        attempts = self._attempts(invoked)
        attempts.outcomes.append(ended["event"])
        if ended["event"] == "ok":
            attempts.replies.append(ended["reply"])
            if attempts.first_ok is None:
                attempts.first_ok = ended["at"]

    def _count_effects(self):
        self.effects = collections.Counter()
        for session, events in self.logs.items():
            for event in events:
                payload, kind = event["payload"], event["type"]
                if kind == "turn.submitted":
                    self.effects["submit_turn", payload["input"][0].get("text")] += 1
                elif kind == "session.created" and payload.get("title"):
                    self.effects["create_session", payload["title"]] += 1
                elif kind == "session.updated" and payload.get("title"):
                    self.effects["update_session", session, payload["title"]] += 1
                elif kind == "queue.changed":
                    self.effects[payload["change"], payload["turnId"]] += 1
                elif kind == "turn.failed" and payload.get("status") == "cancelled":
                    self.effects["interrupt_turn", event["turnId"]] += 1

    def effect_count(self, attempts):
        """How often the log shows this write; None if it cannot be distinguished from others."""
        command, params = attempts.command, attempts.params
        if command == "submit_turn":
            return self.effects[command, params["input"][0]["text"]]
        if command == "create_session":
            return self.effects[command, params["title"]]
        if command == "update_session":
            return self.effects[command, params["sessionId"], params["title"]]
        if command in STEERING:
            return self.effects[STEERING[command], params["queuedTurnId"]]
        if command == "interrupt_turn" and "turnId" in params:
            return self.effects[command, params["turnId"]]
        return None

    def check_writes(self):
        for attempts in self.writes.values():
            count = self.effect_count(attempts)
            acknowledged = bool(attempts.replies)
            if count is None:
                continue
            if count > 1:
                self.violation("doubled", f"{attempts} took effect {count} times")
            changed = acknowledged and attempts.replies[0].get("interrupted") is not False
            if changed and attempts.command == "promote_queued_turn":
                changed = not self._was_first(attempts)
            if changed and count == 0:
                self.violation("lost", f"{attempts} was acknowledged and is not in the log")
            if count and set(attempts.outcomes) == {"fail"}:
                self.violation("refused_applied", f"{attempts} was refused and took effect")
            if any(reply != attempts.replies[0] for reply in attempts.replies):
                self.violation("reply_changed", f"{attempts} was answered {attempts.replies}")
            self._check_place(attempts)

    def _was_first(self, attempts):
        """Whether the turn was first in its queue when the reply was given: nothing to change."""
        reply, params = attempts.replies[0], attempts.params
        log = self.logs.get(params["sessionId"], [])
        model = log_model.Model([e for e in log if e["sequence"] <= reply["sequence"]])
        queue = model.threads.get(params["threadId"], {"queue": []})["queue"]
        return queue[:1] == [params["queuedTurnId"]]

    def _check_place(self, attempts):
        """The sequence named by a reply exists and belongs to the turn that it names."""
        for reply in attempts.replies[:1]:
            events = self.logs.get(reply.get("sessionId"), [])
            sequence = reply.get("sequence", 0)
            if sequence > len(events):
                self.violation("lost", f"{attempts} was given sequence {sequence} of "
                                       f"{len(events)}")
            elif attempts.command == "submit_turn" and sequence:
                if events[sequence - 1].get("turnId") != reply["turnId"]:
                    self.violation("lost", f"{attempts}: sequence {sequence} is another turn's")

    def check_resolved(self):
        for attempts in self.writes.values():
            if attempts.outcomes and attempts.outcomes[-1] == "unknown":
                self.violation("unresolved", f"{attempts} was never resolved by a repeat")

    def check_logs(self):
        for session, events in self.logs.items():
            for place, event in enumerate(events, 1):
                if event["sequence"] != place:
                    self.violation("gap", f"{session}: {event['sequence']} stands at {place}")
                    break
        prefixes = {session: prefix_digests(digests) for session, digests in self.digests.items()}
        for old in self.old_logs:
            now = prefixes.get(old["session"], [""])
            if len(now) <= old["length"] or now[old["length"]] != old["digest"]:
                self.violation("log_changed", f"{old['session']}: the first {old['length']} events "
                                              "are not what they were at a restart")

    def check_streams(self):
        for stream, (session, after, seen) in self.streams.items():
            log = self.digests.get(session, [])
            for place, (sequence, sum_) in enumerate(seen, after + 1):
                if sequence != place:
                    self.violation("stream_gap", f"stream {stream} of {session}: {sequence} came "
                                                 f"where {place} was due")
                    break
                if sequence > len(log) or log[sequence - 1] != sum_:
                    self.violation("stream_lied", f"stream {stream} of {session}: {sequence} was "
                                                  "shown and is not in the log")
                    break

    def check_reads(self):
        """A read that starts after any client saw sequence N returns at least N."""
        known = collections.defaultdict(list)  # session -> (time it was known, sequence)
        for _, session, _, ended, sequence in self.reads:
            known[session].append((ended, sequence))
        for attempts in self.writes.values():
            for reply in attempts.replies[:1]:
                known[reply["sessionId"]].append((attempts.first_ok, reply.get("sequence", 0)))
        for session, points in known.items():
            points.sort()
            times, best = [at for at, _ in points], []
            for _, sequence in points:
                best.append(max(sequence, best[-1] if best else 0))
            for client, name, invoked, _, sequence in self.reads:
                place = bisect.bisect_left(times, invoked)
                if name == session and place and sequence < best[place - 1]:
                    self.violation("went_back", f"{client} read {session} as of {sequence} after "
                                                f"{best[place - 1]} had been shown")

    def check_order(self):
        """A write that was acknowledged before another was sent precedes it in the log."""
        placed = collections.defaultdict(list)
        for attempts in self.writes.values():
            if attempts.replies and attempts.replies[0].get("interrupted") is not False:
                reply = attempts.replies[0]
                placed[reply["sessionId"]].append(
                    (attempts.first_ok, attempts.first_invoke, reply["sequence"], attempts))
        for session, writes in placed.items():
            by_end = sorted(writes, key=lambda w: w[0])
            ends, best = [w[0] for w in by_end], []
            for write in by_end:
                best.append(max(write[2], best[-1] if best else 0))
            for _, invoked, sequence, attempts in writes:
                place = bisect.bisect_left(ends, invoked)
                if place and sequence <= best[place - 1]:
                    self.violation("order", f"{attempts} got {sequence} in {session}, which was at "
                                            f"{best[place - 1]} before it was asked for")


def judge(entries, logs, complete=True):
    """The violations of a history, given {session: events}. `complete`: all clients are done."""
    judge_ = Judge(entries, logs)
    judge_.check_logs()
    judge_.check_writes()
    judge_.check_streams()
    judge_.check_reads()
    judge_.check_order()
    if complete:
        judge_.check_resolved()
    return judge_.found
