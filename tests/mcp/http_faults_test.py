"""The MCP client against an HTTP server played by this test, also a misbehaving one."""

import http.server
import json
import tempfile
import threading
import time
import unittest

import probing

TOOL = {"name": "echo", "inputSchema": {"type": "object"}}


class Handler(http.server.BaseHTTPRequestHandler):
    """A well-behaved server; a test replaces the parts that it wants to differ."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def note(self, body=None):
        self.server.seen.append((self.command, dict(self.headers), body))

    def give(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def result(self, message, result, **headers):
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        self.give(200, json.dumps(answer).encode(), **headers)

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(text)
        self.note(message)
        method = message.get("method")
        play = self.server.plays.get(method)
        if play is not None:
            return play(self, message)
        if method == "initialize":
            return self.result(message, {"protocolVersion": "2025-06-18",
                                         "capabilities": {"tools": {}}, "serverInfo": {}},
                               Mcp_Session_Id=f"s{len(self.server.seen)}")
        if method == "tools/list":
            return self.result(message, {"tools": [TOOL]})
        if method == "tools/call":
            return self.result(message, {"content": [{"type": "text", "text": "done"}]})
        return self.give(202)

    def do_GET(self):
        if self.server.listen is not None:
            return self.server.listen(self)
        self.note()
        return self.give(405)

    def do_DELETE(self):
        self.note()
        self.give(200)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A client that closes early is not an error."""


class Faults(unittest.TestCase):
    def setUp(self):
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.plays, self.server.seen, self.server.listen = {}, [], None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}/mcp"

    def probe(self, calls=(("echo", {}),), **more):
        return probing.probe(calls, self.url, tempfile.gettempdir(), **more)

    def missing(self):
        listing, _ = self.probe()
        self.assertEqual(len(listing["missing"]), 1)
        return listing["missing"][0]

    def test_a_session_is_named_in_every_request_and_ended(self):
        _, heard = self.probe()
        self.assertEqual(heard[0]["text"], "done")
        first, *others = self.server.seen
        self.assertNotIn("Mcp-Session-Id", first[1])
        self.assertNotIn("MCP-Protocol-Version", first[1])
        for _, headers, _ in others:
            self.assertEqual(headers["Mcp-Session-Id"], "s1")
            self.assertEqual(headers["MCP-Protocol-Version"], "2025-06-18")
        self.assertEqual([each[0] for each in others],
                         ["POST", "GET", "POST", "POST", "DELETE"])
        self.assertEqual(others[0][2]["method"], "notifications/initialized")

    def test_an_answer_as_a_stream_with_other_things_before_it(self):
        def play(handler, message):
            progress = {"jsonrpc": "2.0", "method": "notifications/progress",
                        "params": {"progressToken": message["id"], "progress": 1}}
            answer = {"jsonrpc": "2.0", "id": message["id"],
                      "result": {"content": [{"type": "text", "text": "streamed"}]}}
            body = "".join(f": hum\n\nevent: message\ndata: {json.dumps(each)}\n\n"
                           for each in (progress, answer))
            handler.give(200, body.encode(), "text/event-stream")
        self.server.plays["tools/call"] = play
        _, heard = self.probe()
        self.assertEqual(heard[0], {"progress": "1"})
        self.assertEqual(heard[1]["text"], "streamed")

    def test_a_session_that_is_over_is_begun_anew_and_the_call_made_again(self):
        def play(handler, message):
            if handler.headers["Mcp-Session-Id"] == "s1":
                return handler.give(404)
            handler.result(message, {"content": [{"type": "text", "text": "again"}]})
        self.server.plays["tools/call"] = play
        _, heard = self.probe()
        self.assertEqual(heard[0]["text"], "again")
        begun = [each for each in self.server.seen
                 if each[2] and each[2].get("method") == "initialize"]
        self.assertEqual(len(begun), 2)

    def begun(self):
        return sum(1 for each in self.server.seen
                   if each[2] and each[2].get("method") == "initialize")

    def refuse_sessions(self, unknown, body=lambda _: b"no such session"):
        """Calls and pings in unknown sessions get 400."""
        def play(handler, message):
            if unknown(handler.headers["Mcp-Session-Id"]):
                return handler.give(400, body(message))
            return handler.result(message, {"content": [{"type": "text", "text": "again"}]})
        self.server.plays["tools/call"] = self.server.plays["ping"] = play

    def test_a_session_that_is_over_with_400_is_begun_anew_too(self):
        def refusal(message):
            error = {"code": -32000, "message": "Bad Request: No valid session ID provided"}
            return json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": error}).encode()
        for body in (lambda _: b"", lambda _: b"Bad Request", refusal):
            self.server.seen.clear()
            self.refuse_sessions(lambda session: session == "s1", body)
            _, heard = self.probe()
            self.assertEqual(heard[0]["text"], "again")
            self.assertEqual(self.begun(), 2)

    def test_sessions_that_are_always_over_are_not_begun_for_ever(self):
        self.refuse_sessions(lambda _: True)
        _, heard = self.probe()
        self.assertIn("its session has ended (it answered with HTTP status 400)",
                      heard[0]["failure"])
        self.assertEqual(self.begun(), 2)

    def test_calls_side_by_side_in_a_session_that_is_over_are_all_made_again(self):
        self.refuse_sessions(lambda session: session == "s1")
        refuse = self.server.plays["ping"]

        def ping(handler, message):
            time.sleep(0.5)  # until all calls are refused
            refuse(handler, message)
        self.server.plays["ping"] = ping
        _, heard = self.probe((("echo", {}),) * 4, at_once=True)
        self.assertEqual([each["text"] for each in heard], ["again"] * 4)
        self.assertEqual(self.begun(), 2)

    def test_a_session_is_found_over_when_its_stream_is_not_taken_up_again(self):
        def listen(handler):
            handler.note()
            first = sum(1 for each in self.server.seen if each[0] == "GET") == 1
            handler.give(200 if first else 400, b": hum\n\n", "text/event-stream")
        self.server.listen = listen
        self.refuse_sessions(
            lambda session: session == "s1" and any(each[2] and each[2].get("method") == "ping"
                                                    for each in self.server.seen))
        _, heard = self.probe((("echo", {}), ("echo", {})), pause_ms=2500)
        self.assertEqual([each["text"] for each in heard], ["again", "again"])
        self.assertEqual(self.begun(), 2)
        calls = [headers["Mcp-Session-Id"] for _, headers, body in self.server.seen
                 if body and body.get("method") == "tools/call"]
        self.assertEqual(len(calls), 2)
        self.assertEqual(calls[0], "s1")
        self.assertNotEqual(calls[1], "s1")

    def test_a_call_that_is_refused_with_400_in_a_session_is_told(self):
        def refuse(handler, message):
            error = {"code": -32602, "message": "no session can be booked"}
            answer = {"jsonrpc": "2.0", "id": message["id"], "error": error}
            handler.give(400, json.dumps(answer).encode())
        self.server.plays["tools/call"] = refuse
        for ping in (None, lambda handler, message: handler.result(message, {}),
                     lambda handler, _: handler.give(503)):
            self.server.seen.clear()
            self.server.plays["ping"] = ping
            _, heard = self.probe((("echo", {}), ("echo", {})))
            self.assertEqual([each["failure"] for each in heard],
                             ["no session can be booked"] * 2)
            self.assertEqual(self.begun(), 1)

    def test_a_stream_that_breaks_off_is_the_end_of_the_call_alone(self):
        self.server.plays["tools/call"] = lambda handler, _: handler.give(
            200, b": nothing\n\n", "text/event-stream")
        _, heard = self.probe((("echo", {}), ("echo", {})))
        self.assertEqual([each["failure"] for each in heard], ["its answer broke off"] * 2)

    def test_a_stream_that_stays_open_after_its_answer_is_closed(self):
        closed = threading.Event()

        def play(handler, message):
            if message["params"]["arguments"].get("wait"):
                words = "closed" if closed.wait(probing.WAIT_S / 2) else "still open"
                return handler.result(message, {"content": [{"type": "text", "text": words}]})
            answer = {"jsonrpc": "2.0", "id": message["id"],
                      "result": {"content": [{"type": "text", "text": "open"}]}}
            handler.send_response(200)
            handler.send_header("Content-Type", "text/event-stream")
            handler.end_headers()
            handler.wfile.write(f"data: {json.dumps(answer)}\n\n".encode())
            handler.connection.settimeout(probing.WAIT_S)
            if handler.rfile.read(1) == b"":
                closed.set()
            return None
        self.server.plays["tools/call"] = play
        _, heard = self.probe((("echo", {}), ("echo", {"wait": True})))
        self.assertEqual([each["text"] for each in heard], ["open", "closed"])

    def test_an_error_of_http_is_the_end_of_the_call_alone(self):
        self.server.plays["tools/call"] = lambda handler, _: handler.give(500, b"oops")
        _, heard = self.probe()
        self.assertEqual(heard[0]["failure"], "it answered with HTTP status 500")
        refusal = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "too busy"}}
        self.server.plays["tools/call"] = lambda handler, _: handler.give(
            400, json.dumps(refusal).encode())
        _, heard = self.probe()
        self.assertEqual(heard[0]["failure"], "too busy")

    def test_whoever_wants_a_token_says_so(self):
        self.server.plays["initialize"] = lambda handler, _: handler.give(401)
        self.assertIn("bearer_token_env", self.missing())

    def test_redirects_are_not_followed(self):
        self.server.plays["initialize"] = lambda handler, _: handler.give(
            307, Location="http://example.com/mcp")
        self.assertIn("it answered with HTTP status 307", self.missing())

    def test_an_answer_that_is_too_large_is_not_read(self):
        self.server.plays["initialize"] = lambda handler, _: handler.give(
            200, b" " * (17 << 20))
        self.assertIn("more than 16777216 bytes", self.missing())

    def test_a_page_in_place_of_an_answer_is_no_answer(self):
        def play(handler, _):
            handler.give(200, b"<html>", "text/html")
        self.server.plays["initialize"] = play
        self.assertIn("its answer is not a protocol message", self.missing())


if __name__ == "__main__":
    unittest.main()
