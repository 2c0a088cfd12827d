"""Access control: tokens, scopes, Host, Origin, content types, methods."""

import json
import stat
import unittest

from harness import Case, wait_until

READS = ["/v1/sessions", "/v1/sessions/s", "/v1/sessions/s/events", "/v1/events", "/metrics",
         "/openapi.json", "/schemas/events.schema.json"]


class Tokens(Case):
    def setUp(self):
        super().setUp()
        self.daemon.ok("create_session", sessionId="s")

    def token(self, *scopes, more=()):
        arguments = [word for scope in scopes for word in ("--scope", scope)]
        done = self.home.run("token", "create", "--json", *arguments, *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_without_a_token_only_health_answers(self):
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.daemon.get(path, token=None).status, 200, path)
        for path in READS:
            with self.subTest(path):
                self.assertRefused(self.daemon.get(path, token=None), 401, "unauthenticated")
                self.assertRefused(self.daemon.get(path, token="wrong"), 401, "unauthenticated")
        reply = self.daemon.request("POST", "/v1/commands/create_session", {}, token=None)
        self.assertRefused(reply, 401, "unauthenticated")
        reply = self.daemon.request("POST", "/v1/rpc", {}, token=None)
        self.assertRefused(reply, 401, "unauthenticated")

    def test_the_token_file_is_the_owners_alone(self):
        mode = stat.S_IMODE((self.home.data / "token").stat().st_mode)
        self.assertEqual(oct(mode), oct(0o600))
        self.assertGreaterEqual(len(self.daemon.token), 32)

    def test_a_read_token_reads_and_changes_nothing(self):
        token = self.token("read")["token"]
        self.assertEqual(self.daemon.get("/v1/sessions/s", token=token).status, 200)
        reply = self.daemon.request("POST", "/v1/commands/list_sessions", {}, token=token)
        self.assertEqual(reply.status, 200)
        for command in ("create_session", "submit_turn", "update_session", "interrupt_turn"):
            reply = self.daemon.request("POST", f"/v1/commands/{command}", {"sessionId": "s"},
                                        token=token)
            self.assertRefused(reply, 403, "forbidden")

    def test_scopes_hold_inside_a_batch_too(self):
        token = self.token("read")["token"]
        batch = [{"jsonrpc": "2.0", "id": 1, "method": "list_sessions", "params": {}},
                 {"jsonrpc": "2.0", "id": 2, "method": "create_session", "params": {}}]
        reply = self.daemon.request("POST", "/v1/rpc", batch, token=token)
        first, second = reply.json
        self.assertIn("result", first)
        self.assertEqual(second["error"]["data"]["code"], "forbidden")

    def test_a_revoked_token_is_refused_at_once_and_its_streams_close(self):
        made = self.token("read")
        with self.daemon.stream("s", after=0, seconds=5,
                                Authorization=f"Bearer {made['token']}") as stream:
            frames = stream.frames()
            next(frames)
            done = self.home.run("token", "revoke", made["tokenId"])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRefused(self.daemon.get("/v1/sessions", token=made["token"]),
                               401, "unauthenticated")
            self.assertEqual(list(frames), [])

    def test_tokens_are_listed_without_their_secret(self):
        made = self.token("read", "submit")
        done = self.home.run("token", "list", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(made["tokenId"], done.stdout)
        self.assertNotIn(made["token"], done.stdout)

    def test_a_token_survives_a_restart_and_its_revocation_does(self):
        kept, revoked = self.token("read"), self.token("read")
        self.home.run("token", "revoke", revoked["tokenId"])
        self.crash()
        self.start()
        self.assertEqual(self.daemon.get("/v1/sessions", token=kept["token"]).status, 200)
        self.assertEqual(self.daemon.get("/v1/sessions", token=revoked["token"]).status, 401)

    def test_keys_of_two_tokens_never_meet(self):
        other = self.token("read", "submit")["token"]
        mine = self.daemon.ok("create_session", idempotencyKey="k")
        theirs = self.daemon.request("POST", "/v1/commands/create_session",
                                     {"idempotencyKey": "k"}, token=other)
        self.assertEqual(theirs.status, 200, theirs)
        self.assertNotEqual(theirs.json["sessionId"], mine["sessionId"])


class Headers(Case):
    def test_only_names_of_this_machine_are_accepted_as_host(self):
        for host in ("127.0.0.1", "localhost", "[::1]"):
            reply = self.daemon.get("/v1/sessions", headers={"Host": f"{host}:{self.daemon.port}"})
            self.assertEqual(reply.status, 200, host)
        for host in ("evil.com", "127.0.0.1.evil.com", "localhost.", "localhost.evil.com", "",
                     "evil.com:80@127.0.0.1"):
            for path in ("/v1/sessions", "/healthz"):
                with self.subTest(host=host, path=path):
                    reply = self.daemon.get(path, headers={"Host": host})
                    self.assertRefused(reply, 421, "misdirected")

    def test_a_page_of_another_origin_is_refused(self):
        own = f"http://127.0.0.1:{self.daemon.port}"
        self.assertEqual(self.daemon.get("/v1/sessions", headers={"Origin": own}).status, 200)
        for origin in ("http://evil.com", "null", f"http://127.0.0.1:{self.daemon.port + 1}",
                       own + ".evil.com"):
            with self.subTest(origin):
                reply = self.daemon.get("/v1/sessions", headers={"Origin": origin})
                self.assertRefused(reply, 403, "forbidden")

    def test_a_body_must_say_that_it_is_json(self):
        for kind in ("text/plain", "application/x-www-form-urlencoded", None, "application/jsonp"):
            with self.subTest(kind):
                reply = self.daemon.request("POST", "/v1/commands/create_session", "{}",
                                            headers={"Content-Type": kind})
                self.assertRefused(reply, 415, "unsupported_media_type")
        reply = self.daemon.request("POST", "/v1/commands/create_session", "{}",
                                    headers={"Content-Type": "application/json; charset=utf-8"})
        self.assertEqual(reply.status, 200)

    def test_wrong_methods_and_paths_are_said_so(self):
        self.assertRefused(self.daemon.get("/v1/commands/create_session"), 405,
                           "method_not_allowed")
        self.assertRefused(self.daemon.request("DELETE", "/v1/sessions"), 405,
                           "method_not_allowed")
        self.assertRefused(self.daemon.get("/nowhere"), 404, "not_found")
        self.assertRefused(self.daemon.call("no_such_command"), 404, "not_found")

    def test_nothing_allows_other_origins_to_read(self):
        reply = self.daemon.get("/v1/sessions")
        self.assertIsNone(reply.headers.get("Access-Control-Allow-Origin"))


class Documents(Case):
    def test_the_published_schemas_are_the_binarys_own(self):
        for name in ("events", "commands", "snapshots"):
            served = self.daemon.get(f"/schemas/{name}.schema.json")
            self.assertEqual(served.status, 200, served)
            self.assertEqual(served.data.decode(), self.home.run("schema", name).stdout)
        openapi = self.daemon.get("/openapi.json").json
        self.assertIn("/v1/rpc", openapi["paths"])

    def test_metrics_are_prometheus_text(self):
        self.daemon.ok("create_session")
        reply = self.daemon.get("/metrics")
        self.assertIn("text/plain", reply.headers["Content-Type"])
        wait_until(lambda: self.daemon.metrics_value("commits") >= 1)
        self.assertGreaterEqual(self.daemon.metrics_value("commands_accepted"), 1)


class Rpc(Case):
    def rpc(self, body):
        return self.daemon.request("POST", "/v1/rpc", body)

    def test_a_call_and_a_batch_answer_in_request_order(self):
        one = self.rpc({"jsonrpc": "2.0", "id": 7, "method": "create_session",
                        "params": {"sessionId": "s"}}).json
        self.assertEqual((one["id"], one["result"]["sessionId"]), (7, "s"))
        batch = [{"jsonrpc": "2.0", "id": n, "method": "update_session",
                  "params": {"sessionId": "s", "title": str(n)}} for n in range(50)]
        replies = self.rpc(batch).json
        self.assertEqual([reply["id"] for reply in replies], list(range(50)))
        self.assertTrue(all("result" in reply for reply in replies))

    def test_errors_carry_the_same_code(self):
        reply = self.rpc({"jsonrpc": "2.0", "id": "x", "method": "get_session",
                          "params": {"sessionId": "none"}}).json
        self.assertEqual(reply["error"]["data"]["code"], "not_found")
        reply = self.rpc({"jsonrpc": "2.0", "id": 1, "method": "nothing"}).json
        self.assertEqual(reply["error"]["code"], -32601)
        reply = self.rpc({"jsonrpc": "2.0", "id": 1, "method": "get_session", "params": {}}).json
        self.assertEqual(reply["error"]["code"], -32602)
        self.assertEqual(self.rpc("{nonsense").json["error"]["code"], -32700)
        self.assertEqual(self.rpc({"id": 1}).json["error"]["code"], -32600)
        self.assertEqual(self.rpc([]).json["error"]["code"], -32600)

    def test_a_batch_has_a_limit(self):
        batch = [{"jsonrpc": "2.0", "id": n, "method": "list_sessions"} for n in range(101)]
        reply = self.rpc(batch).json
        self.assertEqual(reply["error"]["data"]["code"], "limit_exceeded")

    def test_a_notification_gets_no_answer_but_has_its_effect(self):
        reply = self.rpc({"jsonrpc": "2.0", "method": "create_session",
                          "params": {"sessionId": "quiet"}})
        self.assertIn(reply.status, (200, 202, 204))
        self.assertEqual(reply.data, b"")
        wait_until(lambda: self.daemon.get("/v1/sessions/quiet").status == 200)


if __name__ == "__main__":
    unittest.main()
