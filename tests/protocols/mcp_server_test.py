"""The runtime as an MCP server: over Streamable HTTP and over standard input and output, judged by
the protocol's own SDK and conformance suite."""

import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import judges
from harness import Case, wait_until
from mcp_client import Http, Stdio

ASK = {"toolCalls": [{"name": "shell", "args": {"command": "echo approved > made.txt"}}]}
QUESTION = {"toolCalls": [{"name": "ask_user", "args": {"question": "Which?",
                                                         "choices": ["red", "blue"]}}]}
DONE = {"text": "Done."}
FORMS = {"elicitation": {"form": {}}}


class ServerCase(Case):
    scripts = {"main": [{"text": "Hello from the script.", "deltas": 3}],
               "slow": [{"delayMs": 1500, "text": "Slow but sure."}],
               "ask": [ASK, DONE], "question": [QUESTION, DONE]}

    def open_action(self, session):
        return wait_until(lambda: self.daemon.ok("list_actions", sessionId=session)["data"],
                          what="an action")[0]

    def turns(self, session):
        return [event["turnId"] for event in self.daemon.events(session)
                if event["type"] == "turn.submitted"]


class OverHttp(ServerCase):
    def test_a_turn_is_run_and_its_answer_returned(self):
        client = Http(self.daemon)
        self.assertEqual(client.greeting["protocolVersion"], "2025-11-25")
        told = client.call("run_turn", prompt="hello").told
        self.assertEqual((told["status"], told["text"], told["actions"]),
                         ("completed", "Hello from the script.", []))
        again = client.call("get_turn", sessionId=told["sessionId"], turnId=told["turnId"]).told
        self.assertEqual(again, told)
        sessions = client.call("list_sessions").told["sessions"]
        self.assertEqual(sessions[0]["sessionId"], told["sessionId"])
        more = client.call("run_turn", prompt="again", sessionId=told["sessionId"]).told
        self.assertEqual(more["sessionId"], told["sessionId"])

    def test_a_client_that_takes_no_streams_gets_json(self):
        client = Http(self.daemon)
        client.last += 1
        reply = client.post({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {
            "name": "run_turn", "arguments": {"prompt": "hello"}}}, accept="application/json")
        self.assertEqual(reply.told["status"], "completed")

    def test_repeating_a_key_starts_no_second_turn(self):
        client = Http(self.daemon)
        first = client.call("run_turn", prompt="hello", idempotencyKey="k").told
        again = Http(self.daemon).call("run_turn", prompt="hello", idempotencyKey="k").told
        self.assertEqual(again, first)
        self.crash()
        self.start()
        again = Http(self.daemon).call("run_turn", prompt="hello", idempotencyKey="k").told
        self.assertEqual(again, first)
        self.assertEqual(len(self.turns(first["sessionId"])), 1)
        other = Http(self.daemon).call("run_turn", prompt="something else", idempotencyKey="k")
        self.assertEqual(other.error["code"], -32602)

    def test_a_turn_that_takes_longer_than_the_wait(self):
        client = Http(self.daemon)
        told = client.call("run_turn", prompt="hello", model="slow", waitMs=100).told
        self.assertNotIn(told["status"], ("completed", "failed"))
        wait_until(lambda: client.call("get_turn", sessionId=told["sessionId"],
                                       turnId=told["turnId"]).told["status"] == "completed",
                   what="the end of the turn")

    def test_a_turn_is_interrupted(self):
        client = Http(self.daemon)
        told = client.call("run_turn", prompt="hello", model="slow", waitMs=0).told
        told = client.call("interrupt_turn", sessionId=told["sessionId"],
                           turnId=told["turnId"]).told
        self.assertEqual(told["status"], "cancelled")

    def test_an_approval_is_told_at_once_if_the_client_shows_no_forms(self):
        client = Http(self.daemon)
        told = client.call("run_turn", prompt="hello", model="ask").told
        self.assertEqual(told["status"], "waiting_permission")
        action = told["actions"][0]
        self.assertIn("echo approved", json.dumps(self.open_action(told["sessionId"])))
        self.assertIn(f"agentrt approve {action['actionId']}", action["howToAnswer"])
        self.daemon.ok("respond_action", actionId=action["actionId"], decision="allow")
        wait_until(lambda: client.call("get_turn", sessionId=told["sessionId"],
                                       turnId=told["turnId"]).told["status"] == "completed",
                   what="the end of the turn")
        self.assertTrue((self.home.workspace / "made.txt").exists())

    def test_an_approval_by_elicitation(self):
        client = Http(self.daemon, capabilities=FORMS)

        def on_message(message):
            if message.get("method") == "elicitation/create":
                self.assertIn("echo approved", message["params"]["message"])
                client.answer(message["id"], {"action": "accept", "content": {"decision": "allow"}})
        told = client.call("run_turn", on_message, prompt="hello", model="ask").told
        self.assertEqual((told["status"], told["text"]), ("completed", "Done."))
        self.assertTrue((self.home.workspace / "made.txt").exists())

    def test_a_question_by_elicitation(self):
        client = Http(self.daemon, capabilities=FORMS)

        def on_message(message):
            if message.get("method") == "elicitation/create":
                self.assertIn("answer", message["params"]["requestedSchema"]["properties"])
                client.answer(message["id"], {"action": "accept", "content": {"answer": "blue"}})
        told = client.call("run_turn", on_message, prompt="hello", model="question").told
        self.assertEqual(told["status"], "completed")

    def test_a_dialog_is_withdrawn_if_someone_else_answers(self):
        client = Http(self.daemon, capabilities=FORMS)
        seen = []

        def on_message(message):
            seen.append(message)
            if message.get("method") == "elicitation/create":
                action = self.daemon.ok("list_actions")["data"][0]["actionId"]
                self.daemon.ok("respond_action", actionId=action, decision="deny")
        told = client.call("run_turn", on_message, prompt="hello", model="ask").told
        self.assertEqual(told["status"], "completed")
        asked = next(m for m in seen if m.get("method") == "elicitation/create")
        cancelled = next(m for m in seen if m.get("method") == "notifications/cancelled")
        self.assertEqual(cancelled["params"]["requestId"], asked["id"])

    def test_a_token_without_approve_is_not_asked(self):
        token = json.loads(self.home.run("token", "create", "--scope", "read", "--scope", "submit",
                                         "--json").stdout)["token"]
        client = Http(self.daemon, token, FORMS)
        told = client.call("run_turn", prompt="hello", model="ask").told
        self.assertEqual(told["status"], "waiting_permission")
        reply = client.call("run_turn", prompt="hello", mode="bypass")
        self.assertIn("forbidden", json.dumps(reply.result))
        outside = client.call("run_turn", prompt="hello", cwd="/")
        self.assertTrue(outside.result["isError"])

    def test_progress(self):
        client = Http(self.daemon)
        self.home.script("slow", [{"delayMs": 6500, "text": "Slow."}])
        reply = client.call("run_turn", progress="p", prompt="hello", model="slow")
        progress = [m["params"] for m in reply.messages if "method" in m]
        self.assertEqual({each["progressToken"] for each in progress}, {"p"})
        self.assertEqual(reply.told["status"], "completed")

    def test_scopes_and_tokens(self):
        nobody = Http(self.daemon, token=None, begin=False)
        reply = nobody.ask("initialize")
        self.assertEqual((reply.status, reply.headers["WWW-Authenticate"]), (401, "Bearer"))
        token = json.loads(self.home.run("token", "create", "--scope", "read",
                                         "--json").stdout)["token"]
        reader = Http(self.daemon, token)
        reply = reader.call("run_turn", prompt="hello")
        self.assertEqual(reply.status, 403)
        self.assertIn("scope submit", reply.error["message"])
        self.assertIn("sessions", reader.call("list_sessions").told)

    def test_sessions_belong_to_a_token_and_end(self):
        client = Http(self.daemon)
        other = Http(self.daemon, json.loads(self.home.run(
            "token", "create", "--scope", "read", "--json").stdout)["token"])
        other.session = client.session
        self.assertEqual(other.ask("ping").status, 404)
        self.assertEqual(client.ask("ping").result, {})
        client.session = "unknown"
        self.assertEqual(client.ask("ping").status, 404)
        client.session = None
        self.assertEqual(client.ask("ping").status, 400)
        self.crash()
        other.daemon = self.start()
        self.assertEqual(other.ask("ping").status, 404)

    def test_bad_input(self):
        client = Http(self.daemon)
        self.assertEqual(client.post("{").error["code"], -32700)
        self.assertEqual(client.post("[" * 200 + "]" * 200).error["code"], -32700)
        self.assertEqual(client.post("[]").error["code"], -32600)
        self.assertEqual(client.ask("no/such").error["code"], -32601)
        self.assertEqual(client.ask("server/discover").error["code"], -32601)
        self.assertEqual(client.call("no_such_tool").error["code"], -32602)
        self.assertEqual(client.call("run_turn").error["code"], -32602)
        self.assertEqual(client.call("run_turn", prompt="x", mode="y").error["code"], -32602)
        self.assertEqual(client.call("run_turn", prompt="x", more=1).error["code"], -32602)
        self.assertEqual(
            client.ask("ping", headers={"MCP_Protocol_Version": "2026-07-28"}).status, 400)
        huge = client.post(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping",
                                       "params": {"x": "y" * (4 << 20)}}))
        self.assertEqual(huge.status, 413)
        self.assertTrue(client.call("get_turn", sessionId="none", turnId="none").result["isError"])
        self.assertEqual(client.ask("ping").result, {})

    def test_a_kill_in_the_middle_of_a_turn(self):
        client = Http(self.daemon)
        lost = threading.Thread(target=lambda: self._lost(client), daemon=True)
        lost.start()
        wait_until(lambda: self.daemon.ok("list_sessions")["data"], what="the session")
        time.sleep(0.3)
        self.crash()
        lost.join(10)
        self.start()
        told = Http(self.daemon).call("run_turn", prompt="hello", model="slow",
                                      idempotencyKey="k").told
        self.assertEqual((told["status"], told["text"]), ("completed", "Slow but sure."))
        self.assertEqual(len(self.turns(told["sessionId"])), 1)

    def _lost(self, client):
        try:
            client.call("run_turn", prompt="hello", model="slow", idempotencyKey="k")
        except Exception:  # the connection breaks
            pass

    def test_conformance(self):
        forwarder = judges.Forwarder(self.daemon)
        self.addCleanup(forwarder.close)
        program = judges.MODULES / "@modelcontextprotocol/conformance/dist/index.js"
        for scenario in ("server-initialize", "ping", "tools-list", "dns-rebinding-protection",
                         "server-sse-multiple-streams"):
            with self.subTest(scenario=scenario):
                done = subprocess.run(
                    [judges.node(), str(program), "server", "--url", forwarder.url + "/mcp",
                     "--scenario", scenario], capture_output=True, text=True, timeout=60,
                    cwd=self.home.folder)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_sdk(self):
        judges.judge("mcp_sdk.mjs", "http", f"http://127.0.0.1:{self.daemon.port}/mcp",
                     self.daemon.token)


class OverStdio(ServerCase):
    daemon_at_start = False

    def client(self, **more):
        client = Stdio(self.home, **more)
        self.addCleanup(client.end)
        return client

    def test_a_turn_is_run(self):
        client = self.client()
        reply = client.ask("tools/call", name="run_turn", arguments={"prompt": "hello"})
        self.assertEqual(reply["result"]["structuredContent"]["text"], "Hello from the script.")
        self.assertEqual(client.close(), 0)

    def test_a_kill_of_the_owner_in_the_middle_of_a_turn(self):
        client = self.client()
        number = client.begin("tools/call", name="run_turn",
                              arguments={"prompt": "hello", "model": "slow"})
        wait_until(lambda: list(self.home.data.glob("agentrt.db*")), what="the store")
        time.sleep(0.7)
        self.home.kill_owner()
        told = client.reply(number, 60)["result"]["structuredContent"]
        self.assertEqual((told["status"], told["text"]), ("completed", "Slow but sure."))
        self.start()
        self.assertEqual(len(self.turns(told["sessionId"])), 1)

    def test_a_kill_of_the_owner_while_a_dialog_is_open(self):
        client = self.client(capabilities=FORMS)
        number = client.begin("tools/call", name="run_turn",
                              arguments={"prompt": "hello", "model": "ask"})
        asked = client.next(lambda m: m.get("method") == "elicitation/create")
        self.home.kill_owner()
        again = client.next(lambda m: m.get("method") == "elicitation/create", 60)
        self.assertNotEqual(again["id"], asked["id"])
        client.send({"jsonrpc": "2.0", "id": asked["id"],
                     "result": {"action": "accept", "content": {"decision": "deny"}}})
        client.send({"jsonrpc": "2.0", "id": again["id"],
                     "result": {"action": "accept", "content": {"decision": "allow"}}})
        told = client.reply(number, 60)["result"]["structuredContent"]
        self.assertEqual(told["status"], "completed")
        self.assertTrue((self.home.workspace / "made.txt").exists())

    def test_the_sdk(self):
        from harness import BINARY
        judges.judge("mcp_sdk.mjs", "stdio", BINARY, **{k: str(v) for k, v in
                                                        self.home.environment.items()})

    def test_bad_lines(self):
        client = self.client()
        client.process.stdin.write("{\n")
        client.process.stdin.flush()
        self.assertEqual(client.next(lambda m: "error" in m)["error"]["code"], -32700)
        self.assertEqual(client.ask("ping")["result"], {})


if __name__ == "__main__":
    unittest.main()
