"""What a model knows about where it works, and what is seen of a call that it is still writing."""

import json
import pathlib
import subprocess
import sys
import unittest

from harness import Case, types, wait_until
from models_test import PROVIDERS, ModelCase
from run_test import Terminal

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "providers"))

LINES = ["Date (UTC): ", "Operating system: Linux", "Shell: /bin/bash", "Folder: ",
         "Git: branch main", "Sandbox: workspace_write: commands can write only to ",
         "Network: commands cannot reach it", "Permission mode: bypass: ", "Approvals: "]


def messages_of(body):
    """The conversation of a request on any wire, without marks for the prompt cache."""
    def plain(value):
        if isinstance(value, dict):
            return {k: plain(v) for k, v in value.items() if k != "cache_control"}
        return [plain(v) for v in value] if isinstance(value, list) else value
    return plain(body["messages"] if "messages" in body else body["input"])


class Knows(ModelCase):
    models = {provider: (provider, "hello", {"context_tokens": 100000}) for provider in PROVIDERS}

    def setUp(self):
        super().setUp()
        self.git("init", "-q", "-b", "main")

    def git(self, *words):
        subprocess.run(["git", "-C", str(self.home.workspace), "-c", "user.name=n",
                        "-c", "user.email=e", *words], check=True, stdout=subprocess.DEVNULL)

    def asked(self, provider, **options):
        """The messages of the request that a turn makes."""
        self.turn(provider, session=f"s_{provider}", **options)
        return messages_of(self.double.requests[-1]["body"])

    def test_the_first_message_tells_where_it_works(self):
        for provider in PROVIDERS:
            with self.subTest(provider=provider):
                first = json.dumps(next(m for m in self.asked(provider) if m["role"] == "user"))
                for line in LINES:
                    self.assertIn(line, first)
                self.assertIn(str(self.home.workspace), first)

    def test_it_never_changes_and_changed_values_begin_the_next_turn(self):
        for provider in PROVIDERS:
            with self.subTest(provider=provider):
                self.git("checkout", "-q", "-B", "main")
                before = self.asked(provider)
                self.git("checkout", "-q", "-b", f"other_{provider}")
                after = self.asked(provider, mode="plan")
                self.assertEqual(after[:len(before)], before)
                rest = json.dumps(after[len(before):])
                self.assertIn(f"branch other_{provider}", rest)
                self.assertIn("plan: read and propose", rest)
                self.assertNotIn("Operating system", rest)
                again = self.asked(provider, mode="plan")
                self.assertEqual(again[:len(after)], after)
                self.assertNotIn("has changed", json.dumps(again[len(after):]))
                self.daemon.stop()
                self.start()
                last = self.asked(provider, mode="plan")
                self.assertEqual(last[:len(again)], again)

    def test_the_message_is_a_fact(self):
        self.asked("openai_chat")
        context = self.payload("s_openai_chat", "context.resolved")
        self.assertIn("Git: branch main", context["message"])
        self.assertEqual(context["surroundings"]["folder"], str(self.home.workspace))
        self.asked("openai_chat")
        self.assertNotIn("message", self.payload("s_openai_chat", "context.resolved"))

    def test_filters_and_hooks_of_the_repository_are_not_run(self):
        trap = self.home.workspace / "trapped"
        (self.home.workspace / ".gitattributes").write_text("*.txt filter=trap\n")
        (self.home.workspace / "a.txt").write_text("one\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "x")
        self.git("config", "filter.trap.clean", f"touch {trap}; cat")
        self.git("config", "core.fsmonitor", f"touch {trap}")
        (self.home.workspace / "a.txt").write_text("two\n")
        self.assertIn("uncommitted changes", json.dumps(self.asked("openai_chat")))
        self.assertFalse(trap.exists())

    def test_claude_md_is_read_where_there_is_no_agents_md(self):
        (self.home.workspace / "CLAUDE.md").write_text("Speak like a pirate.\n")
        self.asked("openai_chat")
        self.assertIn("pirate", json.dumps(self.double.requests[-1]["body"]))
        (self.home.workspace / "AGENTS.md").write_text("Be brief.\n")
        self.asked("openai_chat")
        body = json.dumps(self.double.requests[-1]["body"])
        self.assertNotIn("pirate", body)
        self.assertIn("Be brief.", body)


CONTENT = "".join(f"line {number}\n" for number in range(1000))
WRITE = {"name": "write_file", "args": {"path": "notes.txt", "content": CONTENT}}
DONE = {"text": "Done."}


class Writes(Case):
    config = '[permissions]\nmode = "bypass"\n'
    scripts = {
        "main": [{"text": "I write.", "toolCalls": [WRITE], "argDeltas": 20, "deltaMs": 60}, DONE],
        "fails": [{"toolCalls": [WRITE], "argDeltas": 10, "deltaMs": 60, "fail": {"status": 400}}],
        "hangs": [{"toolCalls": [WRITE], "argDeltas": 1000, "deltaMs": 60}, DONE],
        "short": [{"toolCalls": [{"name": "shell", "args": {"command": "true"}}]}, DONE],
    }

    def play(self, model, wait=True):
        turn = self.daemon.submit(sessionId=model, threadId="t",
                                  options={"model": model, "cwd": str(self.home.workspace)})
        if wait:
            self.daemon.wait_turn(turn)
        return self.daemon.events(model) if wait else turn

    def test_a_call_grows_and_then_runs_with_the_same_ids(self):
        self.play("main")
        events = self.check_session("main")
        completed = types(events).index("model.completed")
        written = [e for e in events[:completed] if e.get("toolCallId")]
        self.assertEqual(written[0]["type"], "item.started")
        self.assertEqual(written[0]["payload"]["toolName"], "write_file")
        updates = [e["payload"] for e in written[1:]]
        self.assertGreater(len(updates), 1)
        sizes = [update["textBytes"] for update in updates]
        self.assertEqual(sizes, sorted(sizes))
        begins = '{"path": "notes.txt", "content": "line 0\n'
        self.assertTrue(updates[-1]["preview"].startswith(begins), updates[-1])
        self.assertTrue(all(len(update["preview"].encode()) <= 512 for update in updates))
        started = next(e for e in events if e["type"] == "tool.started")
        for name in ("toolCallId", "stepId"):
            self.assertEqual({e[name] for e in written}, {started[name]})
        self.assertEqual(types(events).count("item.started"), 3)  # two messages and the call
        self.assertEqual((self.home.workspace / "notes.txt").read_text(), CONTENT)

    def test_long_arguments_follow_tool_started_in_full(self):
        events = self.play("main")
        at = types(events).index("tool.started")
        self.assertLess(len(json.dumps(events[at]["payload"]["safeArgs"])), 4096)
        self.assertEqual(events[at + 1]["type"], "tool.args")
        deltas = [e["payload"]["delta"] for e in events if e["type"] == "tool.args"]
        self.assertEqual(json.loads("".join(deltas)), WRITE["args"])

    def test_a_failed_request_ends_the_item_and_no_call_follows(self):
        events = self.play("fails")
        self.check(events)
        item = next(e for e in events if e["type"] == "item.started")
        ended = next(e for e in events if e["type"] == "item.completed")
        self.assertEqual(item["stepId"], ended["stepId"])
        self.assertEqual(ended["payload"]["status"], "failed")
        self.assertNotIn("tool.started", types(events))

    def test_a_kill_and_an_interrupt_end_the_item_too(self):
        self.play("hangs", wait=False)
        self.daemon.wait_event("hangs", lambda e: e["type"] == "item.updated")
        self.crash()
        self.start()
        ended = self.daemon.wait_event("hangs", lambda e: e["type"] == "item.completed")[-1]
        self.assertEqual(ended["payload"]["status"], "failed")
        self.daemon.ok("resume_thread", sessionId="hangs", threadId="t")
        turn = self.daemon.wait_event("hangs", lambda e: e["type"] == "item.updated"
                                      and e["sequence"] > ended["sequence"])[-1]["turnId"]
        self.daemon.ok("interrupt_turn", sessionId="hangs", threadId="t", turnId=turn)
        wait_until(lambda: "turn.failed" in types(self.daemon.events("hangs")))
        self.assertEqual([e["payload"]["status"] for e in self.check_session("hangs")
                          if e["type"] == "item.completed"], ["failed", "cancelled"])

    def test_a_call_that_arrives_at_once_has_no_updates(self):
        events = self.play("short")
        self.assertNotIn("item.updated", types(events))
        self.assertNotIn("tool.args", types(events))
        self.assertLess(types(events).index("model.completed"), types(events).index("item.started"))

    def test_the_terminal_shows_what_is_written_and_how_much(self):
        terminal = Terminal(self, "--model", "main", "go")
        terminal.read_until("write notes.txt · ")
        terminal.read_until(" KiB")
        self.assertEqual(terminal.end(), 0)
        screen = terminal.screen()
        self.assertIn("I write.\n", screen)
        self.assertIn("✓ write notes.txt +1000 -0", screen)
        self.assertNotIn("KiB", screen)


if __name__ == "__main__":
    unittest.main()
