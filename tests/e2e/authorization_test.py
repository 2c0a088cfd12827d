"""What each token may do: every scope, bound or not, for every published command, over every
transport; and which objects of other sessions a bound token can find (none)."""

import http.client
import json
import socket
import unittest

from processes_test import ProcessCase
from tools_test import call, line

SCOPES = ["read", "submit", "approve", "admin"]


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(30)
        self.sock.connect(self.path)


class AuthorizationCase(ProcessCase):
    def setUp(self):
        super().setUp()
        for session in ("own", "other"):
            self.daemon.ok("create_session", sessionId=session)

    def token(self, *scopes, **more):
        reply = self.daemon.request("POST", "/v1/tokens", {"scopes": list(scopes), **more})
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    # Each transport gives a command with a token and returns (code, message); code "ok": no error.

    def over_tcp(self, token, command, params):
        reply = self.daemon.request("POST", f"/v1/commands/{command}", params, token=token)
        return self.outcome(json.loads(reply.data))

    def over_socket(self, token, command, params):
        connection = UnixConnection(self.home.data / "agentrt.sock")
        headers = {"Content-Type": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request("POST", f"/v1/commands/{command}", json.dumps(params), headers)
            return self.outcome(json.loads(connection.getresponse().read()))
        finally:
            connection.close()

    def over_rpc(self, token, command, params):
        message = {"jsonrpc": "2.0", "id": 1, "method": command, "params": params}
        reply = json.loads(self.daemon.request("POST", "/v1/rpc", message, token=token).data)
        if "jsonrpc" not in reply or "error" not in reply:
            return self.outcome(reply)
        return reply["error"]["data"]["code"], reply["error"]["message"]

    TRANSPORTS = [over_tcp, over_socket, over_rpc]

    @staticmethod
    def outcome(body):
        error = body.get("error")
        return (error["code"], error["message"]) if error else ("ok", "")

    def each(self, token, command, params):
        """The outcome over each transport, which must be the same."""
        found = {transport.__name__: transport(self, token, command, params)
                 for transport in self.TRANSPORTS}
        codes = {code for code, _ in found.values()}
        self.assertEqual(len(codes), 1, (command, params, found))
        return codes.pop()


class Matrix(AuthorizationCase):
    """Tokens × commands × transports. What passes the check may still fail for another reason."""

    def commands(self):
        """Each command with its scope, and minimal valid params by the published schema."""
        done = self.home.run("schema", "commands")
        self.assertEqual(done.returncode, 0, done.stderr)
        schema = json.loads(done.stdout)
        for name in schema["properties"]["method"]["enum"]:
            described = schema["$defs"][f"{name}.params"]
            self.defs = schema["$defs"]
            params = {member: self.value(member, described["properties"][member])
                      for member in described.get("required", []) if member != "sessionId"}
            yield (name, schema["x-commands"][name]["scope"], params,
                   "sessionId" in described["properties"],
                   "sessionId" in described.get("required", []))

    def value(self, member, described):
        described = self.defs.get(described.get("$ref", "").removeprefix("#/$defs/"), described)
        if member == "cwd":
            return str(self.home.workspace)
        if member == "input" and described.get("type") != "array":
            return {} if "type" not in described else "x"
        if "enum" in described:
            return described["enum"][0]
        if described.get("type") == "object":
            members = described.get("properties", {})
            return {name: self.value(name, members[name])
                    for name in described.get("required", [])}
        return {"array": [], "integer": 1, "boolean": True}.get(described.get("type"), "x")

    def assertOutcome(self, code, expected, what):
        refusals = ("unauthenticated", "forbidden")
        if expected == "passes":
            self.assertNotIn(code, refusals, what)
        else:
            self.assertEqual(code, expected, what)

    def test_every_command_needs_its_scope(self):
        revoked = self.token(*SCOPES[:3])
        self.assertEqual(
            self.daemon.request("DELETE", f"/v1/tokens/{revoked['tokenId']}").status, 200)
        nobody = {"none": None, "wrong": "0" * 64, "revoked": revoked["token"]}
        tokens = {scope: self.token(scope)["token"] for scope in SCOPES}
        count = 0
        for name, scope, params, takes_session, _ in self.commands():
            if takes_session:
                params = {**params, "sessionId": "own"}
            for kind, token in nobody.items():
                self.assertOutcome(self.each(token, name, params), "unauthenticated", (kind, name))
            for kind, token in tokens.items():
                expected = "passes" if kind in (scope, "admin") else "forbidden"
                self.assertOutcome(self.each(token, name, params), expected, (kind, name))
            count += 1
        self.assertGreaterEqual(count, 23)

    def test_a_bound_token_gives_commands_to_its_own_session_only(self):
        tokens = {scope: self.token(scope, sessionId="own")["token"] for scope in SCOPES[:3]}
        for name, scope, params, takes_session, needs_session in self.commands():
            by_id_alone = any(name in params for name in ("actionId", "processId", "taskId",
                                                         "jobId", "subagentId", "channelId")) or \
                name in ("get_turn", "find_object")
            sessions = {"own": "passes", "other": "forbidden", "none_such": "forbidden"}
            cases = [({**params, "sessionId": session}, expected)
                     for session, expected in sessions.items() if takes_session]
            if not needs_session:
                cases.append((params, "passes" if by_id_alone else "forbidden"))
            for sent, expected in cases:
                for kind, token in tokens.items():
                    with self.subTest(command=name, token=kind, params=sent):
                        code = self.each(token, name, sent)
                        self.assertOutcome(code, expected if kind == scope else "forbidden", code)


class Objects(AuthorizationCase):
    """A bound token and the ids of its own session, of another one, and of none."""

    def setUp(self):
        super().setUp()
        self.bound = self.token("read", "submit", "approve", sessionId="own")["token"]

    def assertHidden(self, command, member, foreign, **more):
        """A foreign id and one that does not exist get the same words over each transport."""
        for transport in self.TRANSPORTS:
            with self.subTest(command=command, transport=transport.__name__, **more):
                found = {}
                for id in (foreign, "x_none"):
                    code, message = transport(self, self.bound, command, {member: id, **more})
                    found[id] = (code, message.replace(id, "ID"))
                self.assertEqual(found[foreign], found["x_none"])
                self.assertEqual(found[foreign][0], "not_found")

    def ask(self, session):
        script = self.home.script(f"ask_{session}", [line(call("touch made.txt")),
                                                     line(call("touch made.txt")),
                                                     {"text": "Done."}])
        self.daemon.ok("submit_turn", sessionId=session, threadId="asks",
                       input=[{"type": "text", "text": "go"}],
                       options={"model": f"script:{script}"})
        return self.daemon.wait_event(session, lambda e: e["type"] == "action.required")[-1]

    def test_actions(self):
        own, foreign = self.ask("own"), self.ask("other")
        for command in ("respond_action", "resolve_permission"):
            self.assertHidden(command, "actionId", foreign["actionId"], decision="allow")
        # For every session of the workspace is more than this session.
        params = {"actionId": own["actionId"], "decision": "allow"}
        self.assertEqual(self.each(self.bound, "respond_action", {**params, "scope": "always"}),
                         "forbidden")
        code, message = self.over_tcp(self.bound, "respond_action", params)
        self.assertEqual(code, "ok", message)
        self.assertEqual(self.each(self.bound, "respond_action", params), "conflict")
        second = self.daemon.wait_event("own", lambda e: e["type"] == "action.required",
                                        after=own["sequence"])[-1]
        code, message = self.over_rpc(self.bound, "resolve_permission",
                                      {"actionId": second["actionId"], "decision": "deny",
                                       "scope": "session"})
        self.assertEqual(code, "ok", message)
        # The question of the other session is still open.
        (open_action,) = self.daemon.ok("list_actions", sessionId="other")["data"]
        self.assertEqual(open_action["actionId"], foreign["actionId"])
        for session in ("own", "other"):
            self.daemon.ok("interrupt_turn", sessionId=session)

    def test_processes(self):
        own = self.background("cat", session="own")
        foreign = self.background("cat", session="other")
        more = {"write_process_stdin": {"input": "hello\n"},
                "resize_process": {"rows": 10, "columns": 10}, "terminate_process": {}}
        for command, params in more.items():
            self.assertHidden(command, "processId", foreign, **params)
            self.assertHidden(command, "processId", foreign, sessionId="own", **params)
            self.assertEqual(self.each(self.bound, command, {
                "processId": foreign, "sessionId": "other", **params}), "forbidden")
        code, message = self.over_tcp(self.bound, "write_process_stdin",
                                      {"processId": own, "input": "hello\n"})
        self.assertEqual(code, "ok", message)
        self.wait_output(own, "hello", session="own")
        code, message = self.over_rpc(self.bound, "terminate_process", {"processId": own})
        self.assertEqual(code, "ok", message)
        self.assertEqual(self.end(own, session="own")[0], "process.terminated")
        listed = self.daemon.ok("get_execution_environment", sessionId="other")["processes"]
        self.assertEqual([process["status"] for process in listed], ["running"])
        self.daemon.ok("terminate_process", processId=foreign)
        self.end(foreign, session="other")

    def test_turns_and_outputs(self):
        turns = {session: self.daemon.submit(sessionId=session, threadId="t")
                 for session in ("own", "other")}
        for reply in turns.values():
            self.daemon.wait_turn(reply)
        foreign = turns["other"]["turnId"]
        self.assertHidden("interrupt_turn", "turnId", foreign, sessionId="own")
        for command in ("remove_queued_turn", "promote_queued_turn"):
            self.assertHidden(command, "queuedTurnId", foreign, sessionId="own", threadId="t")
        refs = {}
        for session in turns:
            reply = self.daemon.request("POST", f"/v1/outputs?sessionId={session}", b"bytes",
                                        headers={"Content-Type": "text/plain"})
            self.assertEqual(reply.status, 200, reply)
            refs[session] = reply.json["outputRef"]
        get = lambda ref: self.daemon.get(f"/v1/outputs/{ref}", token=self.bound)
        self.assertEqual(get(refs["own"]).data, b"bytes")
        hidden, unknown = get(refs["other"]), get("out_none")
        self.assertRefused(hidden, 404, "not_found")
        self.assertEqual(hidden.data.decode().replace(refs["other"], "REF"),
                         unknown.data.decode().replace("out_none", "REF"))
        reply = self.daemon.request("POST", "/v1/outputs?sessionId=other", b"bytes",
                                    headers={"Content-Type": "text/plain"}, token=self.bound)
        self.assertRefused(reply, 403, "forbidden")

    def test_streams(self):
        for path, status in (("/v1/sessions/own/events", 200), ("/v1/sessions/other/events", 403),
                             ("/v1/sessions/none_such/events", 403), ("/v1/events", 403),
                             ("/v1/sessions/own", 200), ("/v1/sessions/other", 403),
                             ("/v1/sessions", 403)):
            with self.subTest(path):
                self.assertEqual(self.daemon.get(path, token=self.bound).status, status)


if __name__ == "__main__":
    unittest.main()
