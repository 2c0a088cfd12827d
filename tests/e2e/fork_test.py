"""Forks: a thread that continues another one from the end of a turn."""

import json
import unittest

from context_test import messages_of
from harness import types
from history_test import TOOL  # noqa: F401  (its scripts are used here)
from models_test import ModelCase


class Fork(ModelCase):
    models = {"chat": ("openai_chat", "wordy", {"context_tokens": 200000})}

    def ask(self, thread, text):
        """A turn of a thread; returns the conversation that the model received."""
        reply = self.daemon.ok(
            "submit_turn", sessionId="s", threadId=thread, input=[{"type": "text", "text": text}],
            options={"model": "chat", "mode": "bypass", "cwd": str(self.home.workspace)})
        self.daemon.wait_turn(reply, seconds=30)
        return reply, json.dumps(messages_of(self.double.requests[-1]["body"]))

    def assert_asks(self, told, *texts):
        """The questions in the conversation are these, in this order, each once."""
        questions = [f"question {number}." for number in range(10)]
        self.assertEqual([q for q in questions if q in told], sorted(texts))
        places = [told.index(text) for text in texts]
        self.assertEqual(places, sorted(places))
        for text in texts:
            self.assertEqual(told.count(text), 1)

    def restart(self):
        self.daemon.kill()
        self.start()

    def test_the_model_gets_the_inherited_turns_and_no_later_ones(self):
        turns = [self.ask("t", f"question {number}.")[0] for number in (1, 2, 3)]
        fork = self.daemon.ok("fork_thread", sessionId="s", threadId="t",
                              turnId=turns[1]["turnId"], newThreadId="f")
        self.restart()
        end = next(e for e in self.daemon.events("s")
                   if e["type"] == "turn.completed" and e["turnId"] == turns[1]["turnId"])
        origin = fork["forkedFrom"]
        self.assertEqual(
            (fork["threadId"], origin["sessionId"], origin["threadId"], origin["turnId"],
             origin["sequence"]), ("f", "s", "t", turns[1]["turnId"], end["sequence"]))
        self.assertRegex(origin["hash"], "^[0-9a-f]{64}$")
        started = [e for e in self.daemon.events("s") if e.get("threadId") == "f"]
        self.assertEqual([e["type"] for e in started], ["thread.started"])
        self.assertEqual(started[0]["payload"]["forkedFrom"], origin)
        self.assert_asks(self.ask("f", "question 4.")[1],
                         "question 1.", "question 2.", "question 4.")
        self.assert_asks(self.ask("t", "question 5.")[1],
                         "question 1.", "question 2.", "question 3.", "question 5.")
        self.restart()
        self.assert_asks(self.ask("f", "question 6.")[1],
                         "question 1.", "question 2.", "question 4.", "question 6.")
        again = self.daemon.ok("fork_thread", sessionId="s", threadId="f", newThreadId="g")
        self.assert_asks(self.ask("f", "question 7.")[1],
                         "question 1.", "question 2.", "question 4.", "question 6.", "question 7.")
        self.restart()
        self.assert_asks(self.ask("g", "question 8.")[1],
                         "question 1.", "question 2.", "question 4.", "question 6.", "question 8.")
        thread = self.daemon.ok("get_thread_read", sessionId="s", threadId="g")
        self.assertEqual(thread["forkedFrom"], again["forkedFrom"])
        threads = {each["threadId"]: each.get("forkedFrom")
                   for each in self.daemon.ok("get_session", sessionId="s")["threads"]}
        self.assertEqual(threads, {"t": None, "f": origin, "g": again["forkedFrom"]})
        self.check_session("s")

    def test_a_fork_before_a_compaction_has_the_turns_themselves(self):
        turns = [self.ask("t", f"question {number}.")[0] for number in range(1, 7)]
        compacted = self.daemon.ok("compact_thread", sessionId="s", threadId="t")
        self.daemon.wait_turn(compacted, seconds=30)
        self.daemon.ok("fork_thread", sessionId="s", threadId="t", turnId=turns[0]["turnId"],
                       newThreadId="before")
        self.daemon.ok("fork_thread", sessionId="s", threadId="t", newThreadId="after")
        self.restart()
        told = self.ask("before", "question 7.")[1]
        self.assert_asks(told, "question 1.", "question 7.")
        self.assertNotIn("## Summary", told)
        told = self.ask("after", "question 8.")[1]
        self.assertIn("## Summary", told)
        self.assertIn("question 8.", told)
        self.check_session("s")

    def test_a_fork_in_a_new_session_reads_what_it_inherits_and_nothing_else(self):
        def upload(data):
            path = "/v1/outputs?sessionId=s&mediaType=text/plain"
            return self.daemon.request("POST", path, data).json["outputRef"]

        self.daemon.ok("create_session", sessionId="s", cwd=str(self.home.workspace))
        attached = upload(b"an attached text")
        reply = self.daemon.ok(
            "submit_turn", sessionId="s", threadId="t",
            input=[{"type": "text", "text": "question 1."}, {"type": "output", "ref": attached}],
            options={"model": "chat", "mode": "bypass"})
        self.daemon.wait_turn(reply, seconds=30)
        loose = upload(b"not inherited")
        self.daemon.ok("set_policy", sessionId="s", allow=["shell"])
        fork = self.daemon.ok("fork_thread", sessionId="s", threadId="t", newSessionId="s2")
        again = self.daemon.ok("fork_thread", sessionId="s", threadId="t", newSessionId="s2")
        self.assertEqual(fork, again)
        self.assertEqual(self.daemon.call("fork_thread", sessionId="s", threadId="t",
                                          newSessionId="s2", newThreadId="x").code,
                         "idempotency_conflict")
        self.assertEqual(types(self.daemon.events("s2")), ["session.created", "thread.started"])
        self.assertEqual((fork["sessionId"], fork["sequence"]), ("s2", 2))
        session = self.daemon.ok("get_session", sessionId="s2")
        self.assertEqual(session["cwd"], self.daemon.ok("get_session", sessionId="s")["cwd"])
        self.assertEqual(session["forkedFrom"], fork["forkedFrom"])
        self.assertEqual([r for r in self.daemon.ok("get_rules", sessionId="s2")["rules"]
                          if r.get("origin") == "session"], [])
        self.ask("t", "question 2.")
        self.restart()
        reply = self.daemon.ok(
            "submit_turn", sessionId="s2", threadId=fork["threadId"],
            input=[{"type": "text", "text": "question 3."}],
            options={"model": "chat", "mode": "bypass"})
        self.daemon.wait_turn(reply, seconds=30)
        told = json.dumps(messages_of(self.double.requests[-1]["body"]))
        self.assertIn("question 1.", told)
        self.assertIn("an attached text", told)
        self.assertNotIn("question 2.", told)
        made = self.home.run("token", "create", "--scope", "submit", "--scope", "read",
                             "--session", "s2", "--json")
        self.assertEqual(made.returncode, 0, made.stderr)
        token = json.loads(made.stdout)["token"]
        self.assertEqual(self.daemon.request("GET", f"/v1/outputs/{attached}", token=token).status,
                         200)
        self.assertEqual(self.daemon.request("GET", f"/v1/outputs/{loose}", token=token).status,
                         404)
        refused = self.daemon.request(
            "POST", "/v1/commands/fork_thread", token=token,
            body={"sessionId": "s2", "threadId": fork["threadId"], "newSessionId": "s3"})
        self.assertEqual(refused.status, 403)
        done = self.home.run("fork", "s", "--new-session", "s4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("agentrt run --session s4", done.stdout)
        self.check_session("s2")

    def test_bad_input(self):
        turn = self.ask("t", "question 1.")[0]["turnId"]
        self.ask("u", "question 2.")
        for params, code in ((dict(sessionId="none", threadId="t"), "not_found"),
                             (dict(sessionId="s", threadId="none"), "not_found"),
                             (dict(sessionId="s", threadId="t", turnId="none"), "not_found"),
                             (dict(sessionId="s", threadId="u", turnId=turn), "not_found"),
                             (dict(sessionId="s", threadId="t", newThreadId="u"),
                              "idempotency_conflict")):
            reply = self.daemon.call("fork_thread", **params)
            self.assertEqual(reply.code, code, params)
            if code == "not_found" and params["sessionId"] == "s":
                self.assertIn("agentrt show s", reply.json["error"]["message"])
        chosen = dict(sessionId="s", threadId="t", newThreadId="f")
        self.assertEqual(self.daemon.ok("fork_thread", **chosen),
                         self.daemon.ok("fork_thread", **chosen))

    def test_at_a_terminal(self):
        turn = self.ask("t", "question 1.")[0]["turnId"]
        self.ask("t", "question 2.")
        done = self.home.run("fork", "s", "--turn", turn)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"continues thread t after turn {turn}", done.stdout)
        self.assertRegex(done.stdout, r"agentrt run --session s --thread \S+ \"PROMPT\"")
        done = self.home.run("fork", "s", "--turn", "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no turn none", done.stderr)


if __name__ == "__main__":
    unittest.main()
