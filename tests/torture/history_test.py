"""Tests the checker of histories: each handwritten history breaks one guarantee, or none."""

import pathlib
import tempfile
import unittest

import history


def event(sequence, kind, turn=None, **payload):
    found = {"type": kind, "sequence": sequence, "sessionId": "s", "payload": payload}
    if turn:
        found["turnId"] = turn
    return found


def submitted(sequence, text, turn):
    return event(sequence, "turn.submitted", turn, input=[{"type": "text", "text": text}])


def log(*texts):
    """A session with one submitted turn per text."""
    return [event(1, "session.created", title="made")] + [
        submitted(place, text, f"u_{text}") for place, text in enumerate(texts, 2)]


class Story:
    """A history built step by step; each step takes one unit of time."""

    def __init__(self):
        self.entries, self.now, self.ops = [], 0, 0

    def add(self, kind, **more):
        self.now += 1
        self.entries.append({"event": kind, "at": self.now, **more})
        return self

    def invoke(self, command, client="c", **params):
        self.ops += 1
        self.add("invoke", op=self.ops, client=client, command=command, params=params)
        return self.ops

    def submit(self, text, sequence=None, outcome="ok"):
        op = self.invoke("submit_turn", sessionId="s", idempotencyKey=text,
                         input=[{"type": "text", "text": text}])
        return self.end(op, outcome, {"sessionId": "s", "turnId": f"u_{text}",
                                      "sequence": sequence})

    def end(self, op, outcome, reply=None):
        if outcome == "ok":
            return self.add("ok", op=op, reply=reply)
        return self.add(outcome, op=op)

    def read(self, sequence, client="reader"):
        op = self.invoke("get_session", client, sessionId="s")
        return self.end(op, "ok", {"asOfSequence": sequence})

    def names(self, events, complete=True):
        return sorted({v.name for v in history.judge(self.entries, {"s": events}, complete)})


class Judgements(unittest.TestCase):
    def assertFinds(self, story, events, *names):
        self.assertEqual(story.names(events), sorted(names))

    def test_a_good_history_passes(self):
        story = Story().submit("a", 2).read(2).submit("b", outcome="unknown").submit("b", 3)
        story.submit("b", 3).submit("c", outcome="fail").read(3)
        self.assertFinds(story, log("a", "b"))

    def test_an_acknowledged_write_that_is_missing_is_lost(self):
        self.assertFinds(Story().submit("a", 2), log(), "lost")

    def test_a_reply_that_names_another_turns_place_is_lost(self):
        self.assertFinds(Story().submit("a", 3), log("a", "b"), "lost")

    def test_a_write_that_took_effect_twice_is_doubled(self):
        events = log("a", "a")
        self.assertFinds(Story().submit("a", 2), events, "doubled")
        self.assertFinds(Story().submit("a", outcome="unknown").submit("a", 2), events, "doubled")

    def test_a_repeat_with_another_reply_is_a_changed_reply(self):
        story = Story().submit("a", 2)
        op = story.invoke("submit_turn", sessionId="s", idempotencyKey="a",
                          input=[{"type": "text", "text": "a"}])
        story.end(op, "ok", {"sessionId": "s", "turnId": "u_b", "sequence": 3})
        self.assertFinds(story, log("a", "b"), "reply_changed")

    def test_a_refused_write_must_not_take_effect(self):
        self.assertFinds(Story().submit("a", outcome="fail"), log("a"), "refused_applied")

    def test_an_unknown_write_may_go_either_way_but_must_be_resolved(self):
        story = Story().submit("a", outcome="unknown")
        for events in (log(), log("a")):
            self.assertEqual(story.names(events, complete=False), [])
            self.assertFinds(story, events, "unresolved")

    def test_a_write_that_was_never_answered_counts_as_unknown(self):
        story = Story()
        story.invoke("submit_turn", sessionId="s", idempotencyKey="a",
                     input=[{"type": "text", "text": "a"}])
        self.assertFinds(story, log("a"), "unresolved")

    def test_a_missing_sequence_is_a_gap(self):
        events = log("a", "b", "c")
        del events[2]
        self.assertIn("gap", Story().submit("a", 2).names(events))

    def test_a_stream_shows_the_log_and_nothing_else(self):
        events = log("a", "b")

        def story(*shown, after=0):
            told = Story().submit("a", 2).submit("b", 3)
            told.add("follow", stream=1, session="s", after=after)
            for shown_event in shown:
                told.add("seen", stream=1, sequence=shown_event["sequence"],
                         digest=history.digest(shown_event))
            return told

        self.assertFinds(story(*events), events)
        self.assertFinds(story(*events[1:], after=1), events)
        self.assertFinds(story(*events[:2]), events)  # a prefix: the client was interrupted
        self.assertFinds(story(events[0], events[2]), events, "stream_gap")
        self.assertFinds(story(events[0], events[0]), events, "stream_gap")
        self.assertFinds(story(*events, submitted(4, "c", "u_c")), events, "stream_lied")
        self.assertFinds(story(events[0], submitted(2, "x", "u_x")), events, "stream_lied")

    def test_reads_never_go_back(self):
        events = log("a", "b")
        told = Story().submit("a", 2).submit("b", 3)
        self.assertFinds(told.read(3).read(3), events)
        self.assertFinds(told.read(2, "another reader"), events, "went_back")

    def test_a_reader_that_asks_after_an_acknowledgement_sees_it(self):
        self.assertFinds(Story().submit("a", 2).read(1), log("a"), "went_back")

    def test_a_read_beside_a_write_may_see_either(self):
        story = Story()
        op = story.invoke("get_session", "reader", sessionId="s")
        story.submit("a", 2).end(op, "ok", {"asOfSequence": 1})
        self.assertFinds(story, log("a"))

    def test_writes_stand_in_the_order_in_which_they_were_acknowledged(self):
        self.assertFinds(Story().submit("b", 3).submit("a", 2), log("a", "b"), "order")

    def test_a_log_never_changes_what_it_held_at_a_restart(self):
        def story(old):
            return Story().submit("a", 2).add("log", session="s", length=len(old),
                                              digest=history.log_digest(old))
        self.assertFinds(story(log("a")), log("a"))
        self.assertFinds(story(log("a")), log("a", "b"))
        self.assertFinds(story(log("a", "b")), log("a"), "log_changed")
        self.assertFinds(story(log("x")), log("a"), "log_changed")

    def test_steering_a_queue_has_one_effect(self):
        def story(outcome):
            told = Story()
            op = told.invoke("remove_queued_turn", sessionId="s", threadId="t", queuedTurnId="q",
                             idempotencyKey="k")
            return told.end(op, outcome, {"sessionId": "s", "turnId": "q", "sequence": 2})
        removed = event(2, "queue.changed", "q", change="removed", turnId="q")
        self.assertFinds(story("ok"), [log()[0], removed])
        self.assertFinds(story("ok"), log("a"), "lost")
        self.assertFinds(story("fail"), [log()[0], removed], "refused_applied")

    def test_an_interrupt_that_found_nothing_needs_no_effect(self):
        def story(interrupted):
            told = Story()
            op = told.invoke("interrupt_turn", sessionId="s", turnId="q", idempotencyKey="k")
            return told.end(op, "ok", {"sessionId": "s", "interrupted": interrupted,
                                       "sequence": 1})
        self.assertFinds(story(False), log())
        self.assertFinds(story(True), log(), "lost")


class File(unittest.TestCase):
    def test_a_history_is_on_disk_as_it_happens_and_can_be_judged_from_there(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "history.jsonl"
            kept = history.History(path)
            op = kept.invoke("c", "submit_turn", {"idempotencyKey": "a",
                                                  "input": [{"type": "text", "text": "a"}]})
            kept.add("ok", op=op, reply={"sessionId": "s", "turnId": "u_a", "sequence": 2})
            found = history.judge(history.load(path), {"s": log()})
            kept.close()
            self.assertEqual({v.name for v in found}, {"lost"})

    def test_a_promoted_turn_that_was_already_first_is_not_lost(self):
        def story(first):
            one, op = Story(), None
            events = [event(1, "session.created", title="made")]
            for place, turn in enumerate(first, 2):
                events.append({**event(place, "queue.changed", turnId=turn, change="added",
                                       position=place - 1, count=place - 1), "threadId": "q"})
            op = one.invoke("promote_queued_turn", sessionId="s", threadId="q", queuedTurnId="u",
                            idempotencyKey="p")
            one.end(op, "ok", {"sessionId": "s", "turnId": "u", "sequence": len(events)})
            return one.names(events)
        self.assertEqual(story(["u", "v"]), [])
        self.assertEqual(story(["v", "u"]), ["lost"])


if __name__ == "__main__":
    unittest.main()
