"""Tests the stream checker itself: a valid stream passes, and each kind of damage is detected."""

import copy
import unittest

from stream_checker import StreamChecker

TURN = {"threadId": "t", "turnId": "u", "taskId": "k", "runId": "r", "attemptId": "a",
        "traceId": "0" * 31 + "1", "spanId": "0" * 15 + "1"}


def stream():
    """The events of a plain turn, shortened."""
    request = {**TURN, "modelRequestId": "m"}
    parts = [
        ("session.created", {}, {}),
        ("thread.started", {"threadId": "t"}, {}),
        ("turn.submitted", TURN, {}),
        ("turn.started", TURN, {}),
        ("run.status", TURN, {}),
        ("model.requested", request, {}),
        ("item.started", {**TURN, "stepId": "i"}, {"kind": "agent_message"}),
        ("model.delta", request, {"text": "one "}),
        ("model.delta", request, {"text": "two"}),
        ("model.completed", request, {"text": "one two"}),
        ("item.completed", {**TURN, "stepId": "i"}, {"kind": "agent_message"}),
        ("turn.completed", TURN, {}),
    ]
    return [{"type": kind, "eventId": f"evt_s_{number}", "sequence": number, "sessionId": "s",
             "timestamp": f"2026-01-01T00:00:00.{number:03}Z", **ids, "payload": payload}
            for number, (kind, ids, payload) in enumerate(parts, 1)]


class Checker(unittest.TestCase):
    def caught(self, change, words):
        events = copy.deepcopy(stream())
        change(events)
        with self.assertRaisesRegex(AssertionError, words):
            StreamChecker().feed_all(events)

    def test_a_sound_stream_passes_whole_and_from_its_middle(self):
        self.assertEqual(StreamChecker().feed_all(stream()).sequence, 12)
        self.assertEqual(StreamChecker().feed_all(stream()[5:]).sequence, 12)

    def test_a_gap_and_a_repeat_are_caught(self):
        self.caught(lambda events: events.pop(4), "sequence 6 after 4")
        self.caught(lambda events: events.insert(4, events[3]), "sequence 4 after 4")

    def test_a_foreign_event_is_caught(self):
        self.caught(lambda events: events[3].update(sessionId="x"), "another session")
        self.caught(lambda events: events[3].update(eventId="evt_s_99"), "eventId")

    def test_time_that_goes_back_is_caught(self):
        self.caught(lambda events: events[5].update(timestamp="2025-01-01T00:00:00.000Z"),
                    "time went back")

    def test_a_turns_life_out_of_order_is_caught(self):
        self.caught(lambda events: events[3].update(type="turn.submitted"), "turn.submitted after")
        self.caught(lambda events: events[2].update(type="turn.started"), "before turn.submitted")
        self.caught(lambda events: events[10].update(type="turn.completed"),
                    "turn.completed after turn.completed")

    def test_text_that_does_not_add_up_is_caught(self):
        self.caught(lambda events: events[8]["payload"].update(text="three"), "do not add up")

    def test_a_fragment_before_any_status_is_caught(self):
        self.caught(lambda events: events[4].update(type="context.resolved"), "before any run")

    def test_a_second_trace_in_a_turn_is_caught(self):
        self.caught(lambda events: events[8].update(traceId="f" * 32), "one trace a turn")

    def test_an_item_that_was_never_opened_is_caught(self):
        self.caught(lambda events: events[6].update(stepId="other"), "not open")


if __name__ == "__main__":
    unittest.main()
