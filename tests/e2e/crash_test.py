"""After a kill -9: unfinished turns are reported as such and resume from the log.

Kills at random times under load are in tests/torture.
"""

import unittest

from harness import Case, wait_until


class Resume(Case):
    scripts = {"main": [{"text": "first", "deltas": 2}],
               "steps": [{"fail": {"status": 503, "retryAfterMs": 10}},
                         {"delayMs": 1500, "text": "second line", "deltas": 3}]}

    def test_an_unfinished_turn_is_shown_as_what_it_is_and_goes_on_when_asked(self):
        reply = self.daemon.submit(sessionId="s", threadId="t", turnId="u",
                                   options={"model": "steps"})
        self.daemon.wait_event(
            "s", lambda e: e["type"] == "model.requested" and e["payload"]["number"] == 2)
        queued = self.daemon.submit("next", sessionId="s", threadId="t", turnId="u2")
        self.assertEqual(queued["status"], "queued")
        self.crash()
        self.start()
        read = wait_until(self.blocked, what="the thread being blocked")
        self.assertEqual([turn["turnId"] for turn in read["queuedTurns"]], ["u2"])
        resumed = self.daemon.ok("resume_thread", sessionId="s", threadId="t")
        self.assertTrue(resumed["resumed"])
        self.daemon.wait_turn(reply)
        events = self.daemon.wait_turn(queued)
        self.check(events)
        interrupted = [e for e in events if e["type"] == "model.failed"
                       and e["payload"]["error"]["category"] == "interrupted"]
        self.assertEqual(len(interrupted), 1)
        texts = [e["payload"]["text"] for e in events if e["type"] == "model.completed"]
        self.assertEqual(texts, ["second line", "first"])
        attempts = {e["attemptId"] for e in events if e.get("turnId") == "u"}
        self.assertEqual(len(attempts), 1, "a turn continues in the same attempt")
        self.assertEqual([e["turnId"] for e in events if e["type"] == "turn.started"],
                         ["u", "u2"])

    def blocked(self):
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        return read if read["status"] == "blocked" else None

    def test_a_blocked_turn_can_be_interrupted_instead(self):
        reply = self.daemon.submit(sessionId="s", threadId="t", options={"model": "steps"})
        self.daemon.wait_event("s", lambda e: e["type"] == "model.requested")
        self.crash()
        self.start()
        wait_until(self.blocked)
        self.daemon.ok("interrupt_turn", sessionId="s", threadId="t")
        self.assertEqual(self.daemon.wait_turn(reply)[-1]["payload"]["status"], "cancelled")
        self.check_session("s")

    def test_a_repeated_key_is_answered_after_a_restart_as_before(self):
        params = {"sessionId": "s", "input": [{"type": "text", "text": "x"}],
                  "idempotencyKey": "k"}
        first = self.daemon.ok("submit_turn", **params)
        self.daemon.wait_turn(first)
        before = len(self.daemon.events("s"))
        self.crash()
        self.start()
        self.assertEqual(self.daemon.ok("submit_turn", **params), first)
        self.assertEqual(len(self.daemon.events("s")), before)
        chosen = {"sessionId": "c", "title": "x"}
        made = self.daemon.ok("create_session", **chosen)
        self.crash()
        self.start()
        self.assertEqual(self.daemon.ok("create_session", **chosen), made)


class ResumeAtStart(Case):
    scripts = {"main": [{"delayMs": 1200, "text": "late"}]}
    config = '[runtime]\nresume = "auto"\n'

    def test_where_configured_unfinished_turns_go_on_at_start(self):
        reply = self.daemon.submit(sessionId="s", threadId="t")
        self.daemon.wait_event("s", lambda e: e["type"] == "model.requested")
        self.crash()
        self.start()
        self.assertEqual(self.daemon.wait_turn(reply)[-1]["type"], "turn.completed")
        self.check_session("s")


if __name__ == "__main__":
    unittest.main()
