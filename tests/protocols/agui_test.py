"""Web front ends drive the runtime over AG-UI."""

import base64
import http.client
import json
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import judges
from harness import Case, wait_until

ASK = {"toolCalls": [{"name": "shell", "args": {"command": "echo approved >> made.txt"}}]}
QUESTION = {"toolCalls": [{"name": "ask_user", "args": {"question": "Which?",
                                                         "choices": ["red", "blue"]}}]}
PLAIN = {"text": "Hello from the script.", "reasoning": "Let me think.", "deltas": 3}
DONE = {"text": "Done."}
ORIGIN = "https://app.example"


class FrontEnd(Case):
    config = f'[server]\norigins = ["{ORIGIN}"]\n'
    lines = [PLAIN]

    @property
    def scripts(self):
        return {"main": self.lines}

    def post(self, body, token=..., **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=30)
        self.addCleanup(connection.close)
        sent = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        token = self.daemon.token if token is ... else token
        if token:
            sent["Authorization"] = f"Bearer {token}"
        sent.update(headers)
        connection.request("POST", "/agui",
                           body if isinstance(body, str) else json.dumps(body), sent)
        return connection, connection.getresponse()

    def run_agent(self, run, *messages, thread="t", token=..., **more):
        """The events of a run. `messages`: texts of the user, or whole messages."""
        body = {"threadId": thread, "runId": run, "state": {}, "tools": [], "context": [],
                "messages": [m if isinstance(m, dict) else
                             {"id": f"m-{m}", "role": "user", "content": m} for m in messages],
                **more}
        connection, answer = self.post(body, token)
        assert answer.status == 200, answer.read()
        events = [json.loads(line[5:]) for line in answer if line.startswith(b"data:")]
        connection.close()
        return events

    def token(self, *scopes):
        words = [word for scope in scopes for word in ("--scope", scope)]
        return json.loads(self.home.run("token", "create", *words, "--json").stdout)["token"]

    def assertError(self, events, code):
        self.assertEqual((events[-1]["type"], events[-1].get("code")), ("RUN_ERROR", code),
                         events[-1])


class Runs(FrontEnd):
    def test_repeating_a_run_gives_the_same_events(self):
        first = self.run_agent("r1", "hello")
        self.assertEqual(first[-1]["outcome"], {"type": "success"})
        self.assertEqual(self.run_agent("r1", "hello"), first)
        self.crash()
        self.start()
        self.assertEqual(self.run_agent("r1", "hello"), first)
        self.assertError(self.run_agent("r1", {"id": "m-hello", "role": "user", "content": "x"}),
                         "invalid_params")
        sessions = self.daemon.ok("list_sessions")["data"]
        self.assertEqual(len(sessions), 1)
        self.assertEqual(sessions[0]["turns"], 1)

    def test_only_new_messages_are_input(self):
        self.run_agent("r1", "one")
        self.run_agent("r2", "one", {"id": "a", "role": "assistant", "content": "Hi"}, "two")
        session = self.daemon.ok("list_sessions")["data"][0]["sessionId"]
        submitted = [e["payload"]["input"] for e in self.daemon.events(session)
                     if e["type"] == "turn.submitted"]
        self.assertEqual([[part["text"] for part in parts] for parts in submitted],
                         [["one"], ["two"]])
        self.assertError(self.run_agent("r3", "one", "two"), "invalid_params")

    def test_threads_belong_to_a_token(self):
        self.run_agent("r1", "hello")
        self.run_agent("r1", "other", token=self.token("read", "submit"))
        self.assertEqual(len(self.daemon.ok("list_sessions")["data"]), 2)

    def test_bytes_are_stored_first_and_urls_are_not_fetched(self):
        image = {"type": "data", "value": base64.b64encode(b"\x89PNG\r\n\x1a\n").decode(),
                 "mimeType": "image/png"}
        events = self.run_agent("r1", {"id": "m", "role": "user", "content": [
            {"type": "text", "text": "look"}, {"type": "image", "source": image}]})
        self.assertEqual(events[-1]["type"], "RUN_FINISHED")
        _, answer = self.post({"threadId": "t", "runId": "r2", "messages": [
            {"id": "n", "role": "user", "content": [{"type": "image", "source": {
                "type": "url", "value": "https://example.com/x.png"}}]}]})
        self.assertEqual(answer.status, 400)

    def test_scopes_tokens_and_bad_input(self):
        _, answer = self.post({}, token=None)
        self.assertEqual((answer.status, answer.getheader("WWW-Authenticate")), (401, "Bearer"))
        _, answer = self.post({}, token=self.token("read"))
        self.assertEqual(answer.status, 403)
        for body in ("{", "[]", "{}", '{"threadId":"t"}', "[" * 200 + "]" * 200,
                     '{"threadId":"t","runId":"r","messages":[{}]}',
                     '{"threadId":"t","runId":"r","resume":[{"status":"x"}]}'):
            self.assertEqual(self.post(body)[1].status, 400, body)
        self.assertEqual(self.post("x" * (5 << 20))[1].status, 413)
        self.assertError(self.run_agent("r1"), "invalid_params")

    def test_pages_of_listed_origins_may_call(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=30)
        self.addCleanup(connection.close)
        connection.request("OPTIONS", "/agui", headers={
            "Origin": ORIGIN, "Access-Control-Request-Method": "POST"})
        answer = connection.getresponse()
        answer.read()
        self.assertEqual((answer.status, answer.getheader("Access-Control-Allow-Origin")),
                         (204, ORIGIN))
        self.assertIn("Authorization", answer.getheader("Access-Control-Allow-Headers"))
        self.assertIsNone(answer.getheader("Access-Control-Allow-Credentials"))
        _, answer = self.post({"threadId": "t", "runId": "r", "messages": [
            {"id": "m", "role": "user", "content": "hello"}]}, Origin=ORIGIN)
        self.assertEqual((answer.status, answer.getheader("Access-Control-Allow-Origin")),
                         (200, ORIGIN))
        _, answer = self.post({}, token=None, Origin=ORIGIN)
        self.assertEqual(answer.status, 401)
        for method in ("POST", "OPTIONS"):
            connection.request(method, "/agui", headers={"Origin": "https://evil.example"})
            answer = connection.getresponse()
            answer.read()
            self.assertEqual(answer.status, 403)
            self.assertIsNone(answer.getheader("Access-Control-Allow-Origin"))

    def test_the_key_does_not_count_in_a_workspace(self):
        folder = self.home.workspace / ".agentrt"
        folder.mkdir()
        (folder / "config.toml").write_text('[server]\norigins = ["https://evil.example"]\n')
        done = self.home.run("doctor")
        self.assertIn("server.origins", done.stdout + done.stderr)


class Slow(FrontEnd):
    lines = [{"delayMs": 2500, "text": "Slow but sure."}]

    def test_closing_the_page_does_not_stop_the_turn(self):
        connection, _ = self.post({"threadId": "t", "runId": "r", "messages": [
            {"id": "m-hello", "role": "user", "content": "hello"}]})
        wait_until(lambda: self.daemon.ok("list_sessions")["data"], what="the session")
        time.sleep(0.3)
        connection.close()
        self.assertEqual(self.run_agent("r", "hello")[-1]["type"], "RUN_FINISHED")

    def test_a_kill_in_the_middle_of_a_run(self):
        connection, _ = self.post({"threadId": "t", "runId": "r", "messages": [
            {"id": "m-hello", "role": "user", "content": "hello"}]})
        wait_until(lambda: self.daemon.ok("list_sessions")["data"], what="the session")
        time.sleep(0.3)
        self.crash()
        connection.close()
        self.start()
        events = self.run_agent("r", "hello")
        self.assertEqual(events[-1]["type"], "RUN_FINISHED")
        self.assertEqual(self.daemon.ok("list_sessions")["data"][0]["turns"], 1)


class Interrupts(FrontEnd):
    lines = [ASK, DONE]

    def interrupted(self):
        events = self.run_agent("r1", "go")
        self.assertEqual(events[-1]["outcome"]["type"], "interrupt")
        self.assertEqual([e["type"] for e in events[-3:]],
                         ["MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "RUN_FINISHED"])
        return events[-1]["outcome"]["interrupts"][0]

    def resume(self, run, interrupt, status="resolved", token=..., **payload):
        return self.run_agent(run, "go", token=token, resume=[
            {"interruptId": interrupt["id"], "status": status, "payload": payload}])

    def test_an_approval(self):
        interrupt = self.interrupted()
        again = self.run_agent("r1", "go")
        self.assertEqual(again[-1]["outcome"]["interrupts"], [interrupt])
        events = self.resume("r2", interrupt, approved=True)
        result = next(e for e in events if e["type"] == "TOOL_CALL_RESULT")
        self.assertEqual(result["toolCallId"], interrupt["toolCallId"])
        self.assertEqual(events[-1]["outcome"], {"type": "success"})
        self.crash()
        self.start()
        self.assertEqual(self.resume("r2", interrupt, approved=True), events)
        self.assertEqual(self.run_agent("r1", "go"), again)
        self.assertEqual((self.home.workspace / "made.txt").read_text(), "approved\n")

    def test_a_declined_approval(self):
        interrupt = self.interrupted()
        events = self.resume("r2", interrupt, status="cancelled")
        self.assertEqual(events[-1]["outcome"], {"type": "success"})
        self.assertFalse((self.home.workspace / "made.txt").exists())

    def test_wrong_answers_answer_nothing(self):
        interrupt = self.interrupted()
        self.assertError(self.resume("r2", interrupt), "invalid_params")
        self.assertError(self.resume("r2", interrupt, approved="yes"), "invalid_params")
        self.assertError(self.resume("r2", {"id": "action_none"}, approved=True), "invalid_params")
        self.assertError(self.run_agent("r2", "go", resume=[]), "invalid_params")
        self.assertError(self.run_agent("r2", "go", "more"), "conflict")
        session = self.daemon.ok("list_sessions")["data"][0]["sessionId"]
        self.assertEqual(len(self.daemon.ok("list_actions", sessionId=session)["data"]), 1)
        self.daemon.ok("respond_action", actionId=interrupt["id"], decision="deny")
        self.assertError(self.run_agent("r9", "go", resume=[
            {"interruptId": "action_none", "status": "resolved", "payload": {}}]), "not_found")

    def test_resume_needs_scope_approve(self):
        token = self.token("read", "submit")
        events = self.run_agent("r1", "go", token=token)
        interrupt = events[-1]["outcome"]["interrupts"][0]
        self.assertError(self.resume("r2", interrupt, token=token, approved=True), "forbidden")

    def test_a_kill_while_a_question_is_open(self):
        interrupt = self.interrupted()
        self.crash()
        self.start()
        events = self.resume("r2", interrupt, approved=True)
        self.assertEqual(events[-1]["outcome"], {"type": "success"})


class Questions(FrontEnd):
    lines = [QUESTION, DONE]

    def test_a_question_has_a_schema(self):
        interrupt = self.run_agent("r1", "go")[-1]["outcome"]["interrupts"][0]
        self.assertEqual(interrupt["reason"], "input_required")
        wrong = self.run_agent("r2", "go", resume=[
            {"interruptId": interrupt["id"], "status": "resolved", "payload": {"answer": 7}}])
        self.assertError(wrong, "invalid_params")
        events = self.run_agent("r2", "go", resume=[
            {"interruptId": interrupt["id"], "status": "resolved", "payload": {"answer": "red"}}])
        self.assertEqual(events[-1]["outcome"], {"type": "success"})


class Failing(FrontEnd):
    lines = [{"fail": {"status": 400, "message": "no"}}]

    def test_a_failed_turn_is_an_error(self):
        self.assertError(self.run_agent("r1", "go"), "invalid_input")


class Judged(FrontEnd):
    """The judge's two parts need two scripts."""

    lines = [PLAIN]

    def test_the_client_of_the_protocol(self):
        judges.judge("agui_sdk.mjs", f"http://127.0.0.1:{self.daemon.port}/agui",
                     self.daemon.token, "plain")


class JudgedQuestions(FrontEnd):
    lines = [ASK, DONE]

    def test_the_client_of_the_protocol(self):
        judges.judge("agui_sdk.mjs", f"http://127.0.0.1:{self.daemon.port}/agui",
                     self.daemon.token, "asks")


if __name__ == "__main__":
    unittest.main()
