"""What a model receives of a thread: the prefix rule, long answers, compaction."""

import json
import pathlib
import sys
import unittest

from context_test import messages_of
from harness import types, wait_until
from models_test import PNG, PROVIDERS, ModelCase

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "providers"))

from double import SCRIPTS  # noqa: E402

TOOL = {"name": "shell", "args": {"command": "echo out"}}
LONG = "a long line of text\n" * 5000  # 100 kB
SCRIPTS.setdefault("works", [
    answer for _ in range(60)
    for answer in ({"text": "Let me look.", "calls": [TOOL], "usage": {"input": 20, "output": 5}},
                   {"text": "Done.", "usage": {"input": 30, "output": 2}})])
SCRIPTS.setdefault("verbose", [{"text": LONG, "usage": {"input": 5, "output": 5}}])
SCRIPTS.setdefault("wordy", [{"text": "word " * 400, "usage": {"input": 5, "output": 5}}])


class Prefix(ModelCase):
    models = {provider: (provider, "works", {"context_tokens": 200000}) for provider in PROVIDERS}

    def test_every_turn_starts_with_the_last_request_of_the_turn_before(self):
        (self.home.workspace / "shot.png").write_bytes(PNG)
        (self.home.workspace / "notes.txt").write_text("first version")
        for provider in PROVIDERS:
            with self.subTest(provider=provider):
                before = []
                for number in range(12):
                    parts = [{"type": "text", "text": f"turn {number}"}]
                    if number == 2:
                        parts.append({"type": "file", "path": "notes.txt"})
                    seen = len(self.double.requests)
                    self.turn(provider, parts=parts)
                    if number == 2:
                        (self.home.workspace / "notes.txt").write_text("changed since")
                    if number == 7:
                        self.daemon.kill()
                        self.start()
                    requests = [messages_of(each["body"]) for each in self.double.requests[seen:]]
                    self.assertEqual(len(requests), 2)
                    for request in requests:
                        self.assertEqual(request[:len(before)], before, f"turn {number}")
                    before = requests[-1]
                told = json.dumps(before)
                self.assertIn("first version", told)
                self.assertNotIn("changed since", told)
                found = [e["payload"]["prefix"] for e in
                         self.events_of(f"s_{provider}", "context.resolved")]
                self.assertEqual(found, [{"status": "new"}] + [{"status": "same"}] * 11)
                (self.home.workspace / "notes.txt").write_text("first version")

    def test_what_is_unchanged_is_not_repeated(self):
        self.turn("openai_chat")
        self.turn("openai_chat")
        first, second = self.events_of("s_openai_chat", "tool.catalog.resolved")
        self.assertEqual(second["payload"]["sameAs"], f"log:{first['sequence']}")
        self.assertEqual(second["payload"]["count"], len(first["payload"]["tools"]))
        self.assertNotIn("tools", second["payload"])
        first, second = self.events_of("s_openai_chat", "context.resolved")
        self.assertEqual(second["payload"]["environment"]["sameAs"], f"log:{first['sequence']}")

    def test_changed_instructions_are_named(self):
        self.turn("openai_chat")
        (self.home.workspace / "AGENTS.md").write_text("Use tabs.")
        self.turn("openai_chat")
        self.assertEqual(self.payload("s_openai_chat", "context.resolved")["prefix"],
                         {"status": "changed", "reason": "instructions"})


class LongAnswers(ModelCase):
    models = {"chat": ("openai_chat", "verbose", {"context_tokens": 400000})}

    def test_a_long_answer_is_an_output_and_is_sent_whole(self):
        self.turn("chat")
        completed = self.payload("s_chat", "model.completed")
        self.assertTrue(completed["outputRef"].startswith("out_"), completed["outputRef"])
        self.assertNotIn("text", completed)
        reply = self.daemon.get(f"/v1/outputs/{completed['outputRef']}")
        self.assertEqual((reply.status, reply.data.decode()), (200, LONG))
        spilled = self.payload("s_chat", "output.spilled")
        self.assertNotIn("expiresAt", spilled)
        self.turn("chat")
        self.assertIn(LONG, [m.get("content") for m in
                             messages_of(self.double.requests[-1]["body"])])


class Compaction(ModelCase):
    models = {"small": ("openai_chat", "wordy", {"context_tokens": 12000}),
              "full": ("openai_chat", "context_full", {}),
              "large": ("openai_chat", "wordy", {"context_tokens": 200000})}

    def test_a_conversation_is_compacted_before_it_is_too_long(self):
        for number in range(24):
            self.turn("small", f"remember {number}", session="s")
        events = self.check_session("s")
        self.assertEqual(types(events).count("turn.completed"), 24)
        done = self.events_of("s", "context.compaction.completed")
        self.assertGreaterEqual(len(done), 1)
        for each in done:
            self.assertLess(each["payload"]["tokensAfter"], each["payload"]["tokensBefore"])
        summary = [e for e in events if e["type"] == "model.requested"
                   and e["payload"].get("purpose") == "compaction"]
        self.assertTrue(summary)
        prefixes = [e["payload"]["prefix"] for e in events if e["type"] == "context.resolved"]
        self.assertIn({"status": "changed", "reason": "compacted"}, prefixes)
        last = json.dumps(self.double.requests[-1]["body"])
        self.assertIn("remember 23", last)
        ref = done[-1]["payload"]["continuationRef"]
        reply = self.daemon.get(f"/v1/outputs/{ref}")
        self.assertEqual(reply.status, 200)
        self.assertIn("## Summary", reply.data.decode())

    def test_the_command_compacts_and_says_when_there_is_nothing(self):
        for number in range(6):
            self.turn("large", f"remember {number}", session="s")
        reply = self.daemon.ok("compact_thread", sessionId="s", threadId="t",
                               instructions="keep the numbers")
        self.assertEqual(reply["status"], "accepted")
        self.daemon.wait_turn(reply, seconds=30)
        started = self.payload("s", "context.compaction.started")
        self.assertEqual(started["trigger"], "manual")
        self.assertEqual(started["affectedTurnCount"], 6)
        self.assertEqual(len(self.events_of("s", "context.compaction.completed")), 1)
        self.assertIn("keep the numbers", json.dumps(self.double.requests[-1]["body"]))
        self.assertNotIn("tools", self.double.requests[-1]["body"])
        again = self.daemon.ok("compact_thread", sessionId="s", threadId="t")
        self.assertEqual(again["status"], "unchanged")
        self.turn("large", "and now?", session="s")
        messages = messages_of(self.double.requests[-1]["body"])
        told = json.dumps(messages)
        for number in range(6):
            self.assertIn(f"remember {number}", told)
        self.assertNotIn("Compact the conversation.", told)
        self.check_session("s")

    def test_a_conversation_that_a_provider_finds_too_long_is_compacted_once(self):
        for number in range(4):
            self.turn("large", f"remember {number}", session="s")
        self.turn("full", "go on", session="s")
        events = self.check_session("s")
        self.assertEqual(self.payload("s", "context.compaction.started")["trigger"], "overflow")
        self.assertEqual(types(events).count("context.compaction.started"), 1)
        self.assertEqual(types(events)[-1].split(".")[0], "task")
        self.assertIn("longer than the model's context",
                      self.payload("s", "turn.failed")["error"]["message"])

    def test_bad_input(self):
        self.turn("large", session="s")
        for params, code in ((dict(sessionId="s", threadId="none"), "not_found"),
                             (dict(sessionId="none", threadId="t"), "not_found"),
                             (dict(sessionId="s", threadId="t", instructions="x" * 5000),
                              "invalid_params")):
            reply = self.daemon.call("compact_thread", **params)
            self.assertEqual(reply.code, code)

    def test_a_compaction_survives_a_kill(self):
        for number in range(4):
            self.turn("large", f"remember {number}", session="s")
        reply = self.daemon.ok("compact_thread", sessionId="s", threadId="t")
        self.daemon.kill()
        self.start()
        thread = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        if thread["status"] == "blocked":
            self.daemon.ok("resume_thread", sessionId="s", threadId="t")
        wait_until(lambda: "turn.completed" in [
            e["type"] for e in self.daemon.events("s") if e.get("turnId") == reply["turnId"]])
        self.assertEqual(len(self.events_of("s", "context.compaction.started")), 1)
        self.assertEqual(len(self.events_of("s", "context.compaction.completed")), 1)
        self.check_session("s")


if __name__ == "__main__":
    unittest.main()
