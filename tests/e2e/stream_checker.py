"""Checks what must hold for every stream of one session, in every test.

Feed events in order of arrival, starting anywhere; the first violation raises.
"""

import json
import re

import json_schema

TURN_ENDS = {"turn.completed", "turn.failed"}
TRACE = re.compile(r"[0-9a-f]{32}\Z")
SPAN = re.compile(r"[0-9a-f]{16}\Z")


class StreamChecker:
    def __init__(self, schema=None):
        self.schema = schema
        self.session = None
        self.sequence = None
        self.timestamp = ""
        self.from_start = False
        self.turns = {}  # turnId -> list of lifecycle words seen
        self.status_seen = set()
        self.text = {}        # modelRequestId -> deltas so far
        self.requested = set()
        self.traces = {}
        self.open_items = {}
        self.events = []

    def feed(self, event):
        try:
            self._envelope(event)
            self._turn(event)
            self._model(event)
            self._items(event)
        except AssertionError as problem:
            raise AssertionError(f"{problem}\nin {json.dumps(event)[:600]}") from None
        self.events.append(event)

    def feed_all(self, events):
        for event in events:
            self.feed(event)
        return self

    def _envelope(self, event):
        if self.schema is not None:
            json_schema.validate(event, self.schema)
        if self.session is None:
            self.session = event["sessionId"]
            self.sequence = event["sequence"] - 1
            self.from_start = event["sequence"] == 1
        assert event["sessionId"] == self.session, "an event of another session"
        assert event["sequence"] == self.sequence + 1, (
            f"sequence {event['sequence']} after {self.sequence}")
        self.sequence = event["sequence"]
        assert event["eventId"] == f"evt_{self.session}_{self.sequence}", "eventId is not derived"
        assert event["timestamp"] >= self.timestamp, "time went back"
        self.timestamp = event["timestamp"]
        if self.from_start and event["sequence"] == 1:
            assert event["type"] == "session.created", "a stream starts with session.created"

    def _turn(self, event):
        turn = event.get("turnId")
        if turn is None:
            return
        if "traceId" in event:
            assert TRACE.match(event["traceId"]), "traceId is not W3C-shaped"
            assert self.traces.setdefault(turn, event["traceId"]) == event["traceId"], (
                "one trace a turn")
            assert SPAN.match(event.get("spanId", "")), "spanId is not W3C-shaped"
        seen = self.turns.setdefault(turn, [])
        kind = event["type"]
        if kind in ("turn.submitted", "turn.started") or kind in TURN_ENDS:
            if kind == "turn.submitted":
                assert not seen, f"turn.submitted after {seen}"
            elif self.from_start:
                assert seen[:1] == ["turn.submitted"], f"{kind} before turn.submitted"
            if kind == "turn.started":
                assert "turn.started" not in seen, "a turn starts once"
            assert not TURN_ENDS & set(seen), f"{kind} after {seen[-1]}"
            seen.append(kind)
        if kind == "run.status":
            self.status_seen.add(turn)

    def _model(self, event):
        kind, request = event["type"], event.get("modelRequestId")
        if not kind.startswith(("model.", "reasoning.")):
            return
        turn = event["turnId"]
        if kind == "model.requested":
            self.requested.add(request)
            self.text[request] = {"model.delta": "", "reasoning.delta": ""}
            if event["payload"].get("purpose") == "compaction":
                self.text[request] = None  # a summary is not streamed
            return
        if request not in self.requested:
            assert not self.from_start, f"{kind} without model.requested"
            return
        if self.text[request] is None:
            assert not kind.endswith(".delta"), "a summary is not streamed"
        elif kind in ("model.delta", "reasoning.delta"):
            assert turn in self.status_seen or not self.from_start, "a delta before any run.status"
            self.text[request][kind] += event["payload"]["text"]
        elif kind == "model.completed" and event["payload"].get("text") is not None:
            assert event["payload"]["text"] == self.text[request]["model.delta"], (
                "the deltas do not add up to the text")
        elif kind == "reasoning.summary" and event["payload"].get("text") is not None:
            assert event["payload"]["text"] == self.text[request]["reasoning.delta"], (
                "the deltas do not add up to the reasoning")
        if kind in ("model.completed", "model.failed"):
            self.requested.discard(request)

    def _items(self, event):
        if not event["type"].startswith("item.") or not self.from_start:
            return
        step = event["stepId"]
        if event["type"] == "item.started":
            assert step not in self.open_items, "an item starts once"
            self.open_items[step] = event["payload"]["kind"]
        else:
            assert self.open_items.get(step) == event["payload"]["kind"], (
                f"{event['type']} of an item that is not open")
            if event["type"] == "item.completed":
                self.open_items[step] = "closed"
