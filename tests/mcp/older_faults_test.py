"""The MCP client against a server of the older transport (HTTP+SSE) played by this test, also a
misbehaving one."""

import json
import queue
import tempfile
import threading
import unittest

import http_faults_test
import probing

ENDED = None  # marks the end of a stream


class Handler(http_faults_test.Handler):
    """Answers arrive in the stream of the earlier GET; a test replaces the parts that it wants to
    differ."""

    def do_GET(self):
        self.note()
        if self.server.greet is not None:
            return self.server.greet(self)
        session = str(len(self.server.streams) + 1)
        self.server.streams[session] = queue.Queue()
        self.begin()
        self.say(f"/message?session={session}", "endpoint")
        while (event := self.server.streams[session].get(timeout=probing.WAIT_S)) is not ENDED:
            self.say(*event)

    def begin(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.close_connection = True  # after the response

    def say(self, data, kind="message"):
        self.wfile.write(f": hum\nevent: {kind}\ndata: {data}\n\n".encode())

    @property
    def stream(self):
        return self.server.streams[self.path.split("session=")[1]]

    def give(self, status, body=b"", kind="application/json", **headers):
        if status == 200:  # an answer, which goes to the stream
            self.stream.put((body.decode(),))
            status, body = 202, b"Accepted"
        super().give(status, body, "text/plain", **headers)


class Faults(unittest.TestCase):
    def setUp(self):
        self.server = http_faults_test.Server(("127.0.0.1", 0), Handler)
        self.server.plays, self.server.seen = {}, []
        self.server.streams, self.server.greet = {}, None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}/sse"

    def probe(self, calls=(("echo", {}),)):
        return probing.probe(calls, probing.older(self.url), tempfile.gettempdir())

    def missing(self):
        listing, _ = self.probe()
        self.assertEqual(len(listing["missing"]), 1)
        return listing["missing"][0]

    def methods(self):
        return [body["method"] for _, _, body in self.server.seen if body]

    def test_all_is_said_in_order_to_the_address_that_it_names(self):
        _, heard = self.probe((("echo", {}), ("echo", {})))
        self.assertEqual([each["text"] for each in heard], ["done", "done"])
        self.assertEqual([each[0] for each in self.server.seen], ["GET"] + ["POST"] * 5)
        self.assertEqual(self.methods(), ["initialize", "notifications/initialized", "tools/list",
                                          "tools/call", "tools/call"])

    def test_events_of_other_kinds_are_passed_over(self):
        def play(handler, message):
            for _ in range(200):
                handler.stream.put(("tick", "ping"))
            handler.result(message, {"content": [{"type": "text", "text": "after"}]})
        self.server.plays["tools/call"] = play
        self.assertEqual(self.probe()[1][0]["text"], "after")

    def test_an_answer_may_come_before_its_request_is_taken(self):
        def play(handler, message):
            answer = {"jsonrpc": "2.0", "id": message["id"],
                      "result": {"content": [{"type": "text", "text": "early"}]}}
            handler.stream.put((json.dumps(answer),))
            threading.Event().wait(0.2)
            super(Handler, handler).give(202)
        self.server.plays["tools/call"] = play
        self.assertEqual(self.probe()[1][0]["text"], "early")

    def test_a_stream_that_ends_in_a_call_is_a_lost_call(self):
        def play(handler, _):
            super(Handler, handler).give(202)
            handler.stream.put(ENDED)
        self.server.plays["tools/call"] = play
        _, heard = self.probe()
        self.assertIn("was lost during the call (its stream ended)", heard[0]["failure"])
        self.assertEqual(self.methods().count("tools/call"), 1)

    def test_a_session_that_is_over_is_begun_anew_and_the_call_made_again(self):
        def play(handler, message):
            if handler.path.endswith("session=1"):
                return handler.give(404)
            return handler.result(message, {"content": [{"type": "text", "text": "again"}]})
        self.server.plays["tools/call"] = play
        _, heard = self.probe()
        self.assertEqual(heard[0]["text"], "again")
        self.assertEqual(self.methods().count("initialize"), 2)

    def test_what_it_refuses_is_the_end_of_the_call_alone(self):
        self.server.plays["tools/call"] = lambda handler, _: handler.give(500, b"oops")
        _, heard = self.probe((("echo", {}), ("echo", {})))
        self.assertEqual([each["failure"] for each in heard],
                         ["it answered with HTTP status 500"] * 2)

    def test_nothing_is_sent_to_an_address_elsewhere(self):
        def greet(handler):
            handler.begin()
            handler.say("http://example.com/message", "endpoint")
        self.server.greet = greet
        self.assertIn("its endpoint event names an address on another server (http://example.com)",
                      self.missing())
        self.assertEqual([each[0] for each in self.server.seen], ["GET"])

    def test_a_greeting_that_is_none_says_what_is_wrong(self):
        def page(handler):
            super(Handler, handler).give(200, b"<html>", "text/html")
        for greet, words in (
                (page, "its answer is not an event stream"),
                (lambda handler: handler.give(401), "bearer_token_env"),
                (lambda handler: handler.give(404), "it answered with HTTP status 404"),
                (lambda handler: handler.begin(), "its stream ended")):
            with self.subTest(words):
                self.server.greet = greet
                self.assertIn(words, self.missing())


if __name__ == "__main__":
    unittest.main()
