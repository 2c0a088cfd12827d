"""Third-party MCP servers through the whole runtime: a script model uses them in a turn."""

import json
import pathlib
import sys
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import probing
import servers_test
from approvals_test import line
from harness import wait_until
from mcp_test import DONE, ServerCase, use


class Runtime(ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.web = servers_test.EverythingOverHttp
        cls.old = servers_test.EverythingOverSse
        for each in (cls.web, cls.old):
            each.setUpClass()
            cls.addClassCleanup(each.tearDownClass)

    def setUp(self):
        super().setUp()
        files = probing.program("server-filesystem") + ["."]
        pipes = probing.program("server-everything")
        self.configure(
            f"[mcp_servers.files]\ncommand = {json.dumps(files)}\nwait_ms = 30000\n"
            f"[mcp_servers.pipes]\ncommand = {json.dumps(pipes)}\nwait_ms = 30000\n"
            f'[mcp_servers.web]\nurl = "{self.web.server}"\nwait_ms = 30000\n'
            f'[mcp_servers.old]\nurl = "{self.old.url}"\ntype = "sse"\nwait_ms = 30000\n')

    def previews(self, session="s"):
        return [result.get("preview", "") for result in self.of("tool.result", session)]

    def test_four_servers_in_one_turn(self):
        path = str(self.home.workspace / "made.txt")
        self.play(line(use("write_file", "files", path=path, content="by a server\n"),
                       use("echo", "pipes", message="over pipes"),
                       use("echo", "web", message="over HTTP"),
                       use("echo", "old", message="over the older transport")),
                  line(use("read_text_file", "files", path=path)), DONE)
        self.assertEqual(self.missing(), {})
        self.assertEqual(self.made(), "by a server\n")
        told = self.previews()
        self.assertIn("Echo: over pipes", told)
        self.assertIn("Echo: over HTTP", told)
        self.assertIn("Echo: over the older transport", told)
        self.assertIn("by a server", told[-1])

    def test_a_server_that_is_started_anew_between_two_calls_is_used_on(self):
        port = urllib.parse.urlsplit(self.web.server).port
        for session, away_s in (("soon", 0), ("later", 3)):
            self.play(line(use("echo", "web", message="before")), DONE, session=session)
            self.web.tearDownClass()
            time.sleep(away_s)
            self.web.listen("streamableHttp", port)
            self.play(line(use("echo", "web", message="after")), DONE, session=session)
            self.assertEqual(self.previews(session), ["Echo: before", "Echo: after"])

    def test_a_server_is_told_the_additional_folders_when_it_asks_at_its_start(self):
        beside = self.home.folder / "beside"
        beside.mkdir()
        self.daemon.ok("create_session", sessionId="wide", cwd=str(self.home.workspace),
                       additionalRoots=[str(beside)])
        self.play(line(use("get-roots-list", "web")), DONE, session="wide")
        self.assertIn(str(beside), self.previews("wide")[-1])

        def allowed():
            self.play(line(use("list_allowed_directories", "files")), DONE, session="wide")
            return str(beside) in self.previews("wide")[-1]
        wait_until(allowed, what="the server to take note of the answer")

    def test_a_question_of_a_server_over_each_transport(self):
        for server in ("pipes", "web"):
            turn = self.submit(line(use("trigger-elicitation-request", server)), DONE,
                               session=server)
            action = self.action(server)
            self.assertEqual(action["payload"]["actionType"], "elicitation")
            self.answer(action, "accept", payload={"name": "Ada"})
            self.daemon.wait_turn(turn)
            self.assertIn("Ada", json.dumps(self.of("tool.result", server)))


if __name__ == "__main__":
    unittest.main()
