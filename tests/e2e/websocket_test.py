"""The same commands and events over WebSocket, standard input and output, streams and pages."""

import json
import subprocess
import threading
import unittest

from harness import BINARY, Case, Stream, wait_until
from websocket import Closed, Refused, WebSocket


class Sockets(Case):
    scripts = {"main": [{"text": "word " * 40, "deltas": 40}]}

    def connect(self, **options):
        socket = WebSocket(port=self.daemon.port, token=self.daemon.token, **options)
        self.addCleanup(socket.close)
        return socket

    def test_one_turn_gives_the_same_bytes_on_every_transport(self):
        self.daemon.ok("create_session", sessionId="s")
        tcp = self.connect()
        local = WebSocket(path=self.home.data / "agentrt.sock", token=self.daemon.token)
        self.addCleanup(local.close)
        stdio = subprocess.Popen([BINARY, "rpc"], env=self.home.environment, text=True,
                                 cwd=self.home.workspace, stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(stdio.stderr.close)
        self.addCleanup(stdio.stdout.close)
        self.addCleanup(stdio.kill)
        for socket in (tcp, local):
            socket.call("subscribe", sessionId="s", after=0)
        stdio.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "subscribe",
                                      "params": {"sessionId": "s", "after": 0}}) + "\n")
        stdio.stdin.flush()
        self.assertIn("subscriptionId", stdio.stdout.readline())
        streamed = []

        def follow():
            with self.daemon.stream("s", after=0) as stream:
                for _, kind, data in stream.frames():
                    streamed.append(data)
                    if kind == "turn.completed":
                        return

        follower = threading.Thread(target=follow)
        follower.start()
        submitted = tcp.call("submit_turn", sessionId="s", idempotencyKey="one",
                             input=[{"type": "text", "text": "hello"}])
        last = self.daemon.wait_turn(submitted)[-1]["sequence"]
        follower.join()
        page = self.daemon.get("/v1/sessions/s/events?limit=1000").data.decode()
        raw = [raw for raw, _ in self.up_to(tcp, last)]
        self.assertEqual(raw, [raw for raw, _ in self.up_to(local, last)])
        self.assertEqual(raw[:len(streamed)], streamed)
        for text in raw:
            self.assertIn(text, page)
        lines = [stdio.stdout.readline() for _ in raw]
        for line, text in zip(lines, raw):
            self.assertIn('"event":' + text + "}}", line)
        stdio.stdin.close()
        stdio.wait(timeout=15)
        self.assertEqual(stdio.returncode, 0)

    @staticmethod
    def up_to(socket, last):
        found = []
        for raw, event in socket.events():
            found.append((raw, event))
            if event["sequence"] >= last:
                return found

    def test_commands_of_one_session_keep_their_order(self):
        socket = self.connect()
        started = []
        for i in range(40):
            keys = {"idempotencyKey": f"k{i}"} if i % 2 else {}
            started.append(socket.start("update_session" if i else "create_session",
                                        sessionId="s", title=f"t{i}", **keys))
        sequences = [socket.wait(each)["result"]["sequence"] for each in started]
        self.assertEqual(sequences, sorted(sequences))
        self.assertEqual(self.daemon.ok("get_session", sessionId="s")["title"], "t39")

    def test_filters_and_the_end_as_a_start(self):
        self.daemon.wait_turn(self.daemon.submit(sessionId="s"))
        wanted = "types=turn.completed,turn.submitted"
        page = self.daemon.get(f"/v1/sessions/s/events?{wanted}&limit=1000").json
        self.assertEqual([e["type"] for e in page["data"]], ["turn.submitted", "turn.completed"])
        self.assertEqual(page["cursor"], str(self.daemon.events("s")[-1]["sequence"]))
        empty = self.daemon.get("/v1/events?cursor=end").json
        self.assertEqual(empty["data"], [])
        self.daemon.ok("create_session", sessionId="t")
        after = self.daemon.get(f"/v1/events?cursor={empty['cursor']}").json["data"]
        self.assertEqual({e["sessionId"] for e in after}, {"t"})
        too_many = ",".join(f"a.b{i}" for i in range(65))
        self.assertEqual(self.daemon.get(f"/v1/events?types={too_many}").code, "invalid_params")
        end = self.daemon.get("/v1/events?cursor=end").json["cursor"]
        with Stream(self.daemon, "/v1/events?cursor=end", {}, 15, 0) as stream:
            lines = [stream.response.readline().decode().strip() for _ in range(3)]
        self.assertEqual(lines, [": ok", "", f"id: {end}"])
        socket = self.connect()
        socket.call("subscribe", types=["session.created"], cursor="end")
        self.assertEqual(socket.next_notification()["method"], "stream.progress")
        self.daemon.ok("create_session", sessionId="u")
        _, event = next(socket.events())
        self.assertEqual((event["type"], event["sessionId"]), ("session.created", "u"))

    def test_handshakes_that_are_refused(self):
        for status, options in ((401, {"token": "wrong"}),
                                (403, {"headers": {"Origin": "http://evil.example"}})):
            with self.assertRaises(Refused) as refused:
                WebSocket(**{"port": self.daemon.port, "token": self.daemon.token, **options})
            self.assertEqual(refused.exception.status, status)

    def test_a_revoked_token_and_the_end_of_the_daemon_have_their_codes(self):
        token = self.daemon.request("POST", "/v1/tokens", json.dumps({"scopes": ["read"]})).json
        socket = WebSocket(port=self.daemon.port, token=token["token"])
        self.addCleanup(socket.close)
        self.daemon.request("DELETE", f"/v1/tokens/{token['tokenId']}")
        with self.assertRaises(Closed) as closed:
            socket.read_text()
        self.assertEqual(closed.exception.code, 1008)
        other = self.connect()
        self.daemon.stop()
        with self.assertRaises(Closed) as closed:
            other.read_text()
        self.assertEqual(closed.exception.code, 1001)

    def test_bad_frames_close_only_their_connection(self):
        good = self.connect()
        for code, frame in ((1002, (1, b"{}", 0x83)), (1003, (2, b"{}", None)),
                            (1007, (1, b"\xff", None)), (1009, (1, b"x" * (4 << 20) + b"x", None))):
            bad = self.connect()
            bad.send_frame(*frame)
            with self.assertRaises(Closed) as closed:
                bad.read_text()
            self.assertEqual(closed.exception.code, code)
        bad = self.connect()
        bad.send("{ not json")
        self.assertEqual(json.loads(bad.read_text())["error"]["code"], -32700)
        self.assertIn("data", bad.call("list_sessions"))
        self.assertIn("data", good.call("list_sessions"))
        wait_until(lambda: self.metric("agentrt_websockets") == 2, what="the sockets' end")

    def metric(self, name):
        text = self.daemon.get("/metrics").data.decode()
        return int(next(line.split()[1] for line in text.splitlines()
                        if line.startswith(name + " ")))


class Stdio(Case):
    def rpc(self, *lines):
        done = self.home.run("rpc", stdin="".join(line + "\n" for line in lines))
        return done, [json.loads(line) for line in done.stdout.splitlines()]

    def test_it_waits_for_its_replies_and_prints_nothing_else(self):
        call = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "list_sessions"})
        done, replies = self.rpc(call, "", "{ not json", "x" * (4 << 20) + "x", call)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        codes = sorted(str(reply.get("error", {}).get("data", {}).get("code")) for reply in replies)
        self.assertEqual(codes, ["None", "None", "invalid_params", "too_large"])

    def test_it_starts_an_owner_if_there_is_none(self):
        self.daemon.stop()
        done, replies = self.rpc('{"jsonrpc":"2.0","id":1,"method":"list_sessions"}')
        self.assertEqual(done.returncode, 0)
        self.assertEqual(replies[0]["result"]["data"], [])
        self.assertEqual(self.home.owner()["kind"], "background")


if __name__ == "__main__":
    unittest.main()
