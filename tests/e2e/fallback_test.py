"""When a model fails, the turn continues with the next one of its chain, and the log says so."""

import unittest

from harness import Case, types

REFUSED = {"fail": {"status": 401, "message": "the key has expired"}}


def of_kind(events, kind):
    return [event["payload"] for event in events if event["type"] == kind]


def asked(events):
    return [payload["modelName"] for payload in of_kind(events, "model.requested")]


class Fallback(Case):
    scripts = {
        "main": [REFUSED],
        "busy": [{"fail": {"status": 429, "retryAfterMs": 60_000}}],
        "strict": [{"fail": {"status": 400, "message": "unknown member"}}],
        "backup": [{"text": "Here I am."}],
        "slow": [{"delayMs": 2_000, "text": "Late."}],
    }
    config = '[routing]\ndefault = "main"\nfallback = ["busy", "backup"]\n' \
             '[runtime]\nresume = "auto"\n'

    def turn(self, session, **options):
        return self.daemon.wait_turn(
            self.daemon.submit(sessionId=session, threadId="t", options=options))

    def test_a_turn_falls_back_along_the_configured_chain_and_the_next_one_starts_anew(self):
        for _ in range(2):
            events = self.turn("s")
            turn = [e for e in events if e.get("turnId") == events[-1]["turnId"]]
            self.assertEqual(events[-1]["type"], "turn.completed")
            self.assertEqual(asked(turn), ["main", "busy", "backup"])
            first, second = of_kind(turn, "routing.fallback.applied")
            self.assertEqual((first["fromName"], first["selectedName"], first["cause"]),
                             ("main", "busy", "credential"))
            self.assertEqual(first["fallbackChain"], ["backup"])
            self.assertEqual((second["fromName"], second["selectedName"], second["cause"]),
                             ("busy", "backup", "rate_limit"))
            failed = [e for e in turn if e["type"] == "model.failed"]
            self.assertEqual(first["failedRequestId"], failed[0]["modelRequestId"])
            self.assertEqual([e["payload"]["cause"] for e in failed], ["credential", "rate_limit"])
            at = types(turn).index("routing.fallback.applied")
            self.assertEqual(types(turn)[at + 1], "model.requested")

    def test_a_model_that_the_turn_names_is_locked_unless_it_names_a_chain(self):
        events = self.turn("locked", model="main")
        self.assertEqual((events[-1]["type"], asked(events)), ("turn.failed", ["main"]))
        events = self.turn("chained", model="main", fallback=["backup"])
        self.assertEqual(events[-1]["type"], "turn.completed")
        self.assertEqual(asked(events), ["main", "backup"])

    def test_what_every_model_would_refuse_ends_the_turn(self):
        events = self.turn("s", model="strict", fallback=["backup"])
        self.assertEqual((events[-1]["type"], asked(events)), ("turn.failed", ["strict"]))
        self.assertEqual(of_kind(events, "model.failed")[0]["cause"], "invalid")

    def test_after_kill_9_the_turn_stays_with_the_model_that_it_switched_to(self):
        reply = self.daemon.submit(sessionId="s", threadId="t",
                                   options={"model": "main", "fallback": ["slow", "backup"]})
        self.daemon.wait_event("s", lambda e: e["type"] == "model.requested" and
                               e["payload"]["modelName"] == "slow")
        self.crash()
        self.start()
        events = self.daemon.wait_turn(reply)
        self.assertEqual(events[-1]["type"], "turn.completed")
        self.assertEqual(asked(events), ["main", "slow", "slow"])
        decided = of_kind(events, "routing.decided")[-1]
        self.assertEqual((decided["selectedName"], decided["fallbackChain"]), ("slow", ["backup"]))

    def test_the_command_line_names_a_chain_and_prints_the_switch(self):
        ran = self.home.run("run", "--model", "main", "--fallback", "backup", "hello")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("main rejects the API key; continuing with backup", ran.stdout + ran.stderr)
        self.crash()  # without a daemon, the command line knows all models
        ran = self.home.run("run", "--fallback", "nonesuch", "hello")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("nonesuch", ran.stderr)


if __name__ == "__main__":
    unittest.main()
