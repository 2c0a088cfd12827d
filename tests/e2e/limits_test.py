"""Limits on what a client can make the daemon hold: texts, connections, replies."""

import contextlib
import json
import resource
import socket
import unittest

from harness import Case, Daemon, wait_until


class Texts(Case):
    """Every member of every command that a client can fill, according to the published schema."""

    def commands(self):
        done = self.home.run("schema", "commands")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def resolve(self, schema):
        while "$ref" in schema:
            part = self.document
            for word in schema["$ref"].removeprefix("#/").split("/"):
                part = part[word]
            schema = part
        return schema

    def sample(self, schema):
        """A value that is valid under the schema."""
        schema = self.resolve(schema)
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("type") == "object":
            return {name: self.sample(schema["properties"][name])
                    for name in schema.get("required", [])}
        return {"string": "x", "integer": 1, "boolean": True, "array": [], None: {}}[
            schema.get("type")]

    def excesses(self, schema, path=""):
        """(path, value for the whole of `schema`) for each member that can be too long."""
        schema = self.resolve(schema)
        kind = schema.get("type")
        if kind == "string" and "enum" not in schema:
            most = schema.get("maxLength", 128 if "pattern" in schema else None)
            self.assertIsNotNone(most, f"{path} has no maxLength")
            yield path, "x" * (most + 1)
        elif kind == "array":
            yield path, [self.sample(schema["items"])] * (schema["maxItems"] + 1)
            for inner, value in self.excesses(schema["items"], f"{path}[0]"):
                yield inner, [value]
        elif kind == "object":
            for name, member in schema["properties"].items():
                for inner, value in self.excesses(member, f"{path}.{name}" if path else name):
                    yield inner, {**self.sample(schema), name: value}
        elif kind is None and "enum" not in schema:
            yield path, {"x": "x" * schema["x-maxBytes"]}

    def test_every_text_of_every_command_is_bounded(self):
        self.document = self.commands()
        tried = 0
        for name in self.document["x-commands"]:
            for path, params in self.excesses(self.document["$defs"][f"{name}.params"]):
                with self.subTest(command=name, member=path):
                    reply = self.daemon.request("POST", f"/v1/commands/{name}", params)
                    self.assertIn((reply.status, reply.code),
                                  [(400, "invalid_params"), (413, "too_large")])
                    if reply.status == 400:
                        self.assertTrue(reply.json["error"]["message"].startswith(path), reply)
                    tried += 1
        self.assertGreater(tried, 80)
        self.assertEqual(self.daemon.ok("list_sessions")["data"], [])

    def test_a_text_of_as_many_characters_as_allowed_is_taken(self):
        title = "é" * 1024
        self.assertEqual(self.daemon.ok("create_session", sessionId="s", title=title)["title"],
                         title)
        reply = self.daemon.call("update_session", sessionId="s", title=title + "é")
        self.assertRefused(reply, 400, "invalid_params")
        self.assertIn("title: expected at most 1024 characters", reply.json["error"]["message"])


class Connections(Case):
    daemon_at_start = False
    judged = False
    DESCRIPTORS = 400  # of the daemon; connections may use half of them

    def start_with_few_descriptors(self):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        if before[1] != resource.RLIM_INFINITY and before[1] < 2 * self.DESCRIPTORS:
            self.skipTest("too few descriptors for this test")
        self.daemon = Daemon(self.home, descriptors=self.DESCRIPTORS)

    def test_idle_connections_without_a_token_lock_nobody_out(self):
        self.start_with_few_descriptors()
        most = self.DESCRIPTORS // 2
        with contextlib.ExitStack() as stack:
            for _ in range(most + 50):
                stack.enter_context(
                    contextlib.closing(socket.create_connection(("127.0.0.1", self.daemon.port))))
            wait_until(lambda: self.home.run("sessions").returncode == 0,
                       what="the command line to get in by its socket")
            # A client with a token also gets in by TCP: an idle connection without a token is
            # closed.
            self.assertEqual(self.daemon.call("create_session", sessionId="s").status, 200)
            self.assertEqual(self.daemon.ok("get_session", sessionId="s")["sessionId"], "s")
            found = self.daemon.metrics()
            self.assertGreaterEqual(found["agentrt_http_connections_reclaimed_total"], 50)
            self.assertLessEqual(found["agentrt_http_connections"], most)


class Replies(Case):
    judged = False
    MAX_MB = 128

    def test_what_all_replies_hold_together_is_bounded(self):
        # Pages of about 8 MB.
        self.daemon.ok("create_session", sessionId="s")
        text = "x" * 1_900_000
        for _ in range(5):
            self.daemon.wait_turn(self.daemon.submit(text, sessionId="s"))
        path = "/v1/sessions/s/events?limit=1000"
        whole = len(self.daemon.get(path).data)
        self.assertGreater(whole, 6_000_000)
        before = self.daemon.memory_kb()
        request = (f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
                   f"Authorization: Bearer {self.daemon.token}\r\n\r\n").encode()
        with contextlib.ExitStack() as stack:
            askers = []
            for _ in range(60):
                asker = socket.socket()
                stack.enter_context(contextlib.closing(asker))
                asker.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                asker.settimeout(30)
                asker.connect(("127.0.0.1", self.daemon.port))
                asker.sendall(request)
                askers.append(asker)
            statuses = [asker.recv(12).decode() for asker in askers]
            held = self.daemon.metrics_value("http_reply_bytes")
            self.assertLessEqual(held, self.MAX_MB << 20)
            self.assert_memory((self.MAX_MB + 100) << 10, before)
            self.assertGreater(statuses.count("HTTP/1.1 200"), 10)
            self.assertGreater(statuses.count("HTTP/1.1 503"), 10)
        wait_until(lambda: self.daemon.metrics_value("http_reply_bytes") < 1 << 20,
                   what="the bytes to be given back")
        self.assertEqual(len(self.daemon.get(path).data), whole)


if __name__ == "__main__":
    unittest.main()
