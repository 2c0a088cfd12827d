"""Editors drive the runtime over the Agent Client Protocol."""

import base64
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import judges
from acp_client import Editor
from harness import BINARY, Case, wait_until

SHELL = {"toolCalls": [{"name": "shell", "args": {"command": "echo approved > made.txt"}}]}
WORK = {"toolCalls": [
    {"name": "update_plan", "args": {"plan": [{"step": "one", "status": "in_progress"},
                                              {"step": "two", "status": "pending"}]}},
    {"name": "write_file", "args": {"path": "a.txt", "content": "hello\n"}}]}
CHOICE = {"toolCalls": [{"name": "ask_user", "args": {"question": "Which?",
                                                      "choices": ["red", "blue"]}}]}
FREE = {"toolCalls": [{"name": "ask_user", "args": {"question": "What name?"}}]}
DONE = {"text": "Done."}
SERVER = pathlib.Path(__file__).resolve().parent.parent / "e2e" / "tool_server.py"


class EditorCase(Case):
    daemon_at_start = False
    scripts = {"main": [{"text": "Hello from the script.", "reasoning": "Let me think.",
                         "deltas": 3, "usage": {"inputTokens": 10, "outputTokens": 5}}],
               "work": [WORK, DONE], "ask": [SHELL, DONE], "question": [CHOICE, DONE],
               "free": [FREE, DONE], "slow": [{"delayMs": 3000, "text": "Slow but sure."}],
               "fails": [{"fail": {"status": 400, "message": "no"}}],
               "box": [{"toolCalls": [{"name": "mcp__box__echo", "args": {"text": "marco"}}]},
                       DONE]}

    def editor(self, **more):
        editor = Editor(self.home, **more)
        self.addCleanup(editor.end)
        return editor

    def events(self, session):
        if self.daemon is None:
            self.start()
        return self.daemon.events(session)


class Editors(EditorCase):
    def test_the_sdk_and_the_schema(self):
        judges.judge("acp_sdk.mjs", BINARY, self.home.workspace, timeout=160,
                     **{k: str(v) for k, v in self.home.environment.items()})

    def test_usage_and_text(self):
        editor = self.editor()
        session = editor.open()
        self.assertEqual(editor.reply(editor.prompt(session))["result"], {"stopReason": "end_turn"})
        self.assertEqual(editor.text(), "Hello from the script.")
        usage = editor.updates("usage_update")
        self.assertEqual(usage[-1]["used"], 15)

    def test_the_first_answer_wins_and_the_dialog_is_withdrawn(self):
        editor = self.editor()
        session = editor.open("ask")
        prompt = editor.prompt(session)
        asked = editor.request("session/request_permission")
        action = json.loads(self.home.run("approvals", "--json").stdout)["data"][0]["actionId"]
        self.assertEqual(self.home.run("approve", action).returncode, 0)
        cancelled = editor.request("$/cancel_request")
        self.assertEqual(cancelled["params"]["requestId"], asked["id"])
        editor.answer(asked, "reject")  # too late
        self.assertEqual(editor.reply(prompt)["result"]["stopReason"], "end_turn")
        self.assertTrue((self.home.workspace / "made.txt").exists())

    def test_always_allow_is_a_rule(self):
        editor = self.editor()
        session = editor.open("ask")
        prompt = editor.prompt(session)
        editor.answer(editor.request("session/request_permission"), "always")
        editor.reply(prompt)
        editor.reply(editor.prompt(session))
        self.assertEqual([e["payload"]["scope"] for e in self.events(session)
                          if e["type"] == "action.resolved"], ["always"])

    def test_questions_without_forms(self):
        editor = self.editor()
        session = editor.open("question")
        prompt = editor.prompt(session)
        asked = editor.request("session/request_permission")
        self.assertEqual([each["name"] for each in asked["params"]["options"]],
                         ["red", "blue", "Do not answer"])
        editor.answer(asked, "1")
        self.assertEqual(editor.reply(prompt)["result"]["stopReason"], "end_turn")
        self.assertIn("blue", json.dumps([e for e in self.events(session)
                                          if e["type"] == "action.resolved"]))
        editor.choose(session, "free")
        editor.prompt(session)
        wait_until(lambda: "agentrt approve" in editor.text(), what="how to answer")

    def test_images_and_files_are_stored_first(self):
        editor = self.editor()
        session = editor.open()
        image = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"x" * 100).decode()
        reply = editor.ask("session/prompt", sessionId=session, prompt=[
            {"type": "text", "text": "look"},
            {"type": "image", "data": image, "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///x/y.txt", "text": "inside"}},
            {"type": "resource_link", "uri": "file:///x/z.txt", "name": "z.txt"}])
        self.assertIn("result", reply)
        submitted = next(e for e in self.events(session) if e["type"] == "turn.submitted")
        self.assertEqual([part["type"] for part in submitted["payload"]["input"]],
                         ["text", "output", "text", "text"])
        reply = editor.ask("session/prompt", sessionId=session,
                           prompt=[{"type": "audio", "data": "", "mimeType": "audio/wav"}])
        self.assertEqual(reply["error"]["code"], -32602)

    def test_the_editors_servers_are_used_and_only_named(self):
        notes = self.home.folder / "notes"
        editor = self.editor()
        session = editor.open("box", servers=[{
            "name": "box", "command": "/usr/bin/python3", "args": [str(SERVER)],
            "env": [{"name": "NOTES", "value": str(notes)},
                    {"name": "SECRET", "value": "hunter2-and-some-more"}]}])
        editor.ask("session/set_mode", sessionId=session, modeId="bypass")
        prompt = editor.prompt(session)
        self.assertEqual(editor.reply(prompt)["result"]["stopReason"], "end_turn")
        events = json.dumps(self.events(session))
        self.assertIn("marco", events)
        self.assertNotIn("hunter2-and-some-more", events)

    def test_bad_input(self):
        editor = self.editor(begin=False)
        self.assertEqual(editor.ask("session/new", cwd="/", mcpServers=[])["error"]["code"], -32600)
        editor.process.stdin.write("{\n[]\n")
        editor.process.stdin.flush()
        self.assertEqual(editor.next(lambda m: "error" in m)["error"]["code"], -32700)
        self.assertEqual(editor.next(lambda m: "error" in m)["error"]["code"], -32600)
        editor.ask("initialize", protocolVersion=99)
        self.assertEqual(editor.ask("session/new", cwd="x", mcpServers=[])["error"]["code"], -32602)
        self.assertEqual(editor.ask("session/prompt", sessionId="none", prompt=[])["error"]["code"],
                         -32002)
        session = editor.open()
        self.assertEqual(
            editor.ask("session/prompt", sessionId=session, prompt=[])["error"]["code"], -32602)

    def test_at_a_terminal_it_says_how_to_configure_an_editor(self):
        controller, terminal = pty.openpty()
        process = subprocess.Popen([BINARY, "acp"], cwd=self.home.workspace, stdin=terminal,
                                   env=self.home.environment, stdout=subprocess.PIPE,
                                   stderr=terminal)
        os.close(terminal)
        shown = b""
        while b"agentrt acp" not in shown:
            self.assertTrue(select.select([controller], [], [], 30)[0], shown)
            shown += os.read(controller, 4096)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.communicate()[0], b"")
        os.close(controller)


class Kills(EditorCase):
    def test_the_owner_dies_in_the_middle_of_a_turn(self):
        editor = self.editor()
        session = editor.open("slow")
        prompt = editor.prompt(session)
        time.sleep(1)
        self.home.kill_owner()
        self.assertEqual(editor.reply(prompt, 60)["result"]["stopReason"], "end_turn")
        self.assertIn("Slow but sure.", editor.text())
        turns = [e for e in self.events(session) if e["type"] == "turn.submitted"]
        self.assertEqual(len(turns), 1)

    def test_the_owner_dies_while_a_dialog_is_open(self):
        editor = self.editor()
        session = editor.open("ask")
        prompt = editor.prompt(session)
        asked = editor.request("session/request_permission")
        self.home.kill_owner()
        time.sleep(2)
        editor.answer(asked, "once")
        self.assertEqual(editor.reply(prompt, 60)["result"]["stopReason"], "end_turn")
        self.assertTrue((self.home.workspace / "made.txt").exists())

    def test_the_editor_dies_and_the_turn_keeps_running(self):
        editor = self.editor()
        session = editor.open("slow")
        editor.prompt(session)
        time.sleep(1)
        editor.process.kill()
        other = self.editor()
        reply = other.ask("session/load", sessionId=session, cwd=other.folder, mcpServers=[])
        self.assertIn("result", reply)
        wait_until(lambda: "Slow but sure." in other.text(), what="the rest of the turn")

    def test_everything_dies_and_the_editor_is_asked_again(self):
        editor = self.editor()
        session = editor.open("ask")
        editor.prompt(session)
        editor.request("session/request_permission")
        editor.process.kill()
        self.home.kill_owner()
        other = self.editor()
        other.ask("session/resume", sessionId=session, cwd=other.folder, mcpServers=[])
        other.answer(other.request("session/request_permission"), "once")
        wait_until(lambda: "Done." in other.text(), what="the end of the turn")


if __name__ == "__main__":
    unittest.main()
