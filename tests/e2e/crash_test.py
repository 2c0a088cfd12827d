"""kill -9 at any instant: what was acknowledged is there once, and work goes on from the log.

The instants are drawn from a seed that a failure prints; AGENTRT_CRASH_SEED repeats it,
AGENTRT_CRASH_ROUNDS asks for more.
"""

import concurrent.futures
import http.client
import os
import random
import time
import unittest

from harness import Case, types, wait_until
from stream_checker import StreamChecker

ROUNDS = int(os.environ.get("AGENTRT_CRASH_ROUNDS", "12"))
SEED = int(os.environ.get("AGENTRT_CRASH_SEED", str(random.randrange(1 << 30))))
CLIENTS = 8


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
        self.assertEqual(len(attempts), 1, "a turn goes on in the same attempt")
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


class Torture(Case):
    scripts = {"main": [{"text": "word " * 30, "deltas": 30}],
               "slow": [{"delayMs": 20, "text": "slow " * 10, "deltas": 10}]}
    config = '[runtime]\nresume = "auto"\n'

    def client(self, number, generation, acknowledged):
        """Submits and updates until the daemon dies; keeps what was acknowledged, in order."""
        session, thread = f"s{number % 3}", f"t{number}"
        count = 0
        try:
            while True:
                count += 1
                key = f"{number}_{generation}_{count}"
                model = "slow" if count % 3 == 0 else "main"
                reply = self.daemon.call(
                    "submit_turn", sessionId=session, threadId=thread, turnId=f"u_{key}",
                    idempotencyKey=key, input=[{"type": "text", "text": key}],
                    options={"model": model})
                if reply.status == 200:
                    acknowledged.append((key, reply.json))
                reply = self.daemon.call("update_session", sessionId=session, title=key)
                if reply.status == 200:
                    acknowledged.append((f"title {key}", reply.json))
        except (OSError, http.client.HTTPException, ValueError):
            self.daemon.disconnect()

    def test_nothing_acknowledged_is_lost_doubled_or_reordered(self):
        rng = random.Random(SEED)
        print(f"seed {SEED}, {ROUNDS} kills", flush=True)
        acknowledged = {number: [] for number in range(CLIENTS)}
        for generation in range(ROUNDS):
            with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
                for number in range(CLIENTS):
                    pool.submit(self.client, number, generation, acknowledged[number])
                time.sleep(rng.uniform(0.02, 0.4))
                self.daemon.process.kill()
            self.crash()
            self.start()
            self.verify(acknowledged, None)
        self.finish()
        self.verify(acknowledged, self.schema())

    def verify(self, acknowledged, schema):
        logs = {}
        for number, replies in acknowledged.items():
            if not replies:
                continue
            session = f"s{number % 3}"
            if session not in logs:
                logs[session] = self.daemon.events(session)
                StreamChecker(schema).feed_all(logs[session])
            events = {event["sequence"]: event for event in logs[session]}
            submitted = [e["turnId"] for e in logs[session] if e["type"] == "turn.submitted"
                         and e["threadId"] == f"t{number}"]
            self.assertEqual(len(submitted), len(set(submitted)), f"seed {SEED}")
            wanted = [reply["turnId"] for key, reply in replies if "turnId" in reply]
            self.assertEqual([turn for turn in submitted if turn in set(wanted)], wanted,
                             f"seed {SEED}: an acknowledged turn is missing or out of order")
            for key, reply in replies:
                self.assertIn(reply["sequence"], events, f"seed {SEED}: {key}")
                if key.startswith("title "):
                    self.assertEqual(events[reply["sequence"]]["payload"]["title"], key[6:])
        self.queue_order(logs)

    def queue_order(self, logs):
        """Turns of a thread start in the order in which they were submitted."""
        for session, events in logs.items():
            threads = {e["threadId"] for e in events if e["type"] == "turn.submitted"}
            for thread in threads:
                mine = [e for e in events if e.get("threadId") == thread]
                submitted = [e["turnId"] for e in mine if e["type"] == "turn.submitted"]
                started = [e["turnId"] for e in mine if e["type"] == "turn.started"]
                self.assertEqual(started, submitted[:len(started)], f"seed {SEED}")

    def finish(self):
        """Lets every queued turn run to its end."""
        for session in ("s0", "s1", "s2"):
            def settled(name=session):
                kinds = types(self.daemon.events(name))
                ends = kinds.count("turn.completed") + kinds.count("turn.failed")
                return kinds.count("turn.submitted") == ends
            wait_until(settled, seconds=60, what=f"the turns of {session} (seed {SEED})")


if __name__ == "__main__":
    unittest.main()
