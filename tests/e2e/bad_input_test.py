"""Invalid input: a clear error, a daemon that keeps serving, and nothing half-written."""

import json
import socket
import time
import unittest

from harness import Case, WAIT_SECONDS, wait_until


class Bad(Case):
    def setUp(self):
        super().setUp()
        self.daemon.ok("create_session", sessionId="s")
        self.before = self.daemon.events("s")

    def tearDown(self):
        """Whatever was sent, the daemon keeps serving and the log is unchanged."""
        self.assertTrue(self.daemon.alive(), self.daemon.stderr())
        self.assertEqual(self.daemon.events("s"), self.before)
        self.daemon.ok("create_session")

    def post(self, body, command="create_session"):
        return self.daemon.request("POST", f"/v1/commands/{command}", body)

    def raw(self, data, seconds=WAIT_SECONDS):
        """Sends raw bytes and returns everything received."""
        with socket.create_connection(("127.0.0.1", self.daemon.port), timeout=seconds) as sock:
            try:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, ConnectionResetError):
                pass
            received = b""
            try:
                while chunk := sock.recv(65536):
                    received += chunk
            except ConnectionResetError:
                pass
            return received

    def head(self, *lines, path="/v1/commands/create_session", method="POST"):
        start = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{self.daemon.port}",
                 f"Authorization: Bearer {self.daemon.token}", "Content-Type: application/json"]
        return ("\r\n".join([*start, *lines]) + "\r\n\r\n").encode()


class BadJson(Bad):
    def test_an_unknown_member_is_named(self):
        reply = self.post({"sessionId": "x", "colour": "red"})
        self.assertRefused(reply, 400, "invalid_params")
        self.assertIn("colour", reply.json["error"]["message"])
        reply = self.post({"input": [{"type": "text", "text": "x", "extra": 1}]}, "submit_turn")
        self.assertRefused(reply, 400, "invalid_params")
        self.assertIn("extra", reply.data.decode())

    def test_a_wrong_type_is_named(self):
        for params, member in [({"sessionId": 7}, "sessionId"), ({"title": []}, "title"),
                               ({"additionalRoots": "x"}, "additionalRoots")]:
            reply = self.post(params)
            self.assertRefused(reply, 400, "invalid_params")
            self.assertIn(member, reply.json["error"]["message"])
        for body in ("[]", "null", "7", '"x"'):
            self.assertRefused(self.post(body), 400, "invalid_params")

    def test_a_missing_member_is_named(self):
        reply = self.post({}, "update_session")
        self.assertRefused(reply, 400, "invalid_params")
        self.assertIn("sessionId", reply.json["error"]["message"])

    def test_ids_have_a_shape(self):
        for name in ("", "a b", "a/b", "ü", "x" * 129, "a\nb", "../x"):
            with self.subTest(name):
                self.assertRefused(self.post({"sessionId": name}), 400, "invalid_params")
        self.assertIn(self.post({"sessionId": "sess_runtime"}).status, (400, 403, 409))

    def test_text_that_is_no_json_is_refused(self):
        for body in ("", "{", '{"a":}', "{'a':1}", '{"title":"\x01"}', '{"title":"\\ud800"}',
                     '{"sessionId":"q"} trailing', '{"metadata":NaN}', b'{"title":"\xff\xfe"}',
                     '{"metadata":{"a":01}}', '{"metadata":[1,]}'):
            with self.subTest(body):
                self.assertRefused(self.post(body), 400, "invalid_params")

    def test_a_repeated_member_is_refused(self):
        reply = self.post('{"title":"a","title":"b"}')
        self.assertRefused(reply, 400, "invalid_params")

    def test_deep_json_is_refused_quickly(self):
        for depth in (1_000, 100_000):
            body = '{"metadata":' + "[" * depth + "]" * depth + "}"
            started = time.monotonic()
            self.assertRefused(self.post(body), 400, "invalid_params")
            self.assertLess(time.monotonic() - started, 2)

    def test_a_body_over_the_limit_is_too_large(self):
        size = 64 * 1024 * 1024
        before = self.daemon.memory_kb()
        answer = self.raw(self.head(f"Content-Length: {size}") + b"x" * 1000)
        self.assertIn(b" 413 ", answer.split(b"\r\n")[0])
        self.assertIn(b"too_large", answer)
        self.assert_memory(16_000, before)

    def test_many_members_and_odd_numbers_do_no_harm(self):
        many = {f"k{number}": number for number in range(20_000)}
        self.assertRefused(self.post(many), 400, "invalid_params")
        for number in ("9223372036854775808", "-1", "1.5", "1e400", "-0"):
            reply = self.post('{"sessionId":"s","limit":' + number + "}", "get_session")
            self.assertIn(reply.status, (200, 400), reply)

    def test_cursors_must_be_ours(self):
        for cursor in ("x", "", "AAAA", "é", "0" * 5000):
            with self.subTest(cursor):
                reply = self.post({"sessionId": "s", "cursor": cursor}, "get_session")
                self.assertRefused(reply, 400, "invalid_params")
                self.assertRefused(self.post({"cursor": cursor}, "list_sessions"), 400,
                                   "invalid_params")

    def test_input_must_be_parts_with_content(self):
        for given in ([], [{}], [{"type": "text"}], [{"type": "video"}], "text",
                      [{"type": "text", "text": 1}], [{"type": "file"}]):
            with self.subTest(str(given)):
                reply = self.post({"sessionId": "s", "input": given}, "submit_turn")
                self.assertRefused(reply, 400, "invalid_params")


class BadHttp(Bad):
    def test_a_header_over_the_limit_is_refused(self):
        answer = self.raw(self.head("X-Large: " + "y" * 1_000_000, "Content-Length: 2") + b"{}")
        self.assertIn(b" 431 ", answer.split(b"\r\n")[0])

    def test_noise_is_answered_or_closed(self):
        for data in (b"\x00\x01\x02\x03" * 100, b"GET\r\n\r\n", b"\r\n" * 100,
                     b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00"):
            answer = self.raw(data)
            self.assertTrue(answer == b"" or b" 400 " in answer.split(b"\r\n")[0] or
                            b" 421 " in answer.split(b"\r\n")[0], (data, answer[:100]))

    def test_two_lengths_are_refused(self):
        both = self.head("Content-Length: 2", "Transfer-Encoding: chunked") + b"0\r\n\r\n"
        self.assertIn(b" 400 ", self.raw(both).split(b"\r\n")[0])
        twice = self.head("Content-Length: 2", "Content-Length: 3") + b"{}x"
        self.assertIn(b" 400 ", self.raw(twice).split(b"\r\n")[0])

    def test_a_client_that_closes_its_sending_side_still_gets_its_answer(self):
        answer = self.raw(self.head("Content-Length: 20") + b'{"sessionId":"half"}')
        self.assertIn(b" 200 ", answer.split(b"\r\n")[0])
        self.assertEqual(self.daemon.get("/v1/sessions/half").status, 200)

    def test_half_a_request_changes_nothing(self):
        self.raw(self.head("Content-Length: 30") + b'{"sessionId":"part"')
        self.assertEqual(self.daemon.get("/v1/sessions/part").status, 404)

    def test_clients_that_vanish_leave_no_connection_behind(self):
        before = self.daemon.metrics_value("http_connections")
        for _ in range(50):
            sock = socket.create_connection(("127.0.0.1", self.daemon.port))
            sock.sendall(self.head("Accept: text/event-stream", method="GET",
                                   path="/v1/sessions/s/events"))
            sock.recv(100)
            sock.close()
        wait_until(lambda: self.daemon.metrics_value("subscribers") == 0,
                   what="the subscribers being gone")
        self.assertLess(self.daemon.metrics_value("http_connections") - before, 100)

    def test_requests_sent_in_one_go_are_answered_in_order(self):
        one = self.head("Content-Length: 17") + b'{"sessionId":"p"}'
        two = self.head(path="/v1/sessions/p", method="GET")
        answer = self.raw(one + two)
        self.assertEqual(answer.count(b"HTTP/1.1 200"), 2, answer[:500])

    def test_idle_connections_delay_nobody(self):
        idle = [socket.create_connection(("127.0.0.1", self.daemon.port)) for _ in range(200)]
        for sock in idle:
            sock.sendall(b"POST /v1/rpc HTTP/1.1\r\nHost: loc")
        started = time.monotonic()
        for _ in range(20):
            self.daemon.ok("list_sessions")
        self.assertLess(time.monotonic() - started, 2)
        for sock in idle:
            sock.close()


class BadPaths(Bad):
    def test_odd_paths_are_not_found_or_refused(self):
        for path in ("/v1/sessions/..%2f..%2fetc", "/v1/sessions/%00", "/v1/sessions/%zz",
                     "/../etc/passwd", "//", "/v1/sessions/" + "x" * 3000,
                     "/schemas/../token", "/schemas/nothing"):
            with self.subTest(path[:40]):
                reply = self.daemon.get(path)
                self.assertIn(reply.status, (400, 404), reply)
                self.assertIn("error", json.loads(reply.data))


if __name__ == "__main__":
    unittest.main()
