"""The MCP client against third-party servers from npm, over pipes and over HTTP."""

import os
import pathlib
import socket
import subprocess
import tempfile
import time
import unittest

import probing


class Filesystem(unittest.TestCase):
    """@modelcontextprotocol/server-filesystem over pipes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.server = probing.program("server-filesystem") + [str(self.root)]

    def test_files_are_written_read_and_listed(self):
        path = str(self.root / "note.txt")
        listing, heard = probing.probe(
            [("write_file", {"path": path, "content": "hello\n"}),
             ("read_text_file", {"path": path}),
             ("list_directory", {"path": str(self.root)})],
            self.server, self.root)
        self.assertEqual(listing["missing"], [])
        self.assertIn("mcp__probed__read_text_file", listing["tools"])
        self.assertEqual((self.root / "note.txt").read_text(), "hello\n")
        self.assertEqual(heard[1]["text"], "hello\n")
        self.assertTrue(heard[1]["structured"])
        self.assertIn("note.txt", heard[2]["text"])

    def test_what_the_server_refuses_is_an_error_for_the_model(self):
        _, heard = probing.probe(
            [("read_text_file", {"path": "/etc/passwd"})], self.server, self.root)
        self.assertTrue(heard[0]["isError"])
        self.assertIn("Access denied", heard[0]["text"])

    def test_arguments_are_checked_before_they_are_sent(self):
        _, heard = probing.probe([("read_text_file", {"path": 7})], self.server, self.root)
        self.assertEqual(heard[0]["failure"], "path: expected a string, but got a number")

    def test_a_server_that_cannot_start_says_why(self):
        listing, _ = probing.probe(
            [], probing.program("server-filesystem") + ["/no/such/folder"], self.root)
        self.assertEqual(listing["tools"], [])
        self.assertIn("it ended with exit code 1", listing["missing"][0])


class Everything:
    """@modelcontextprotocol/server-everything, which uses every feature of a server."""

    def ask(self, tool, args, answer=None):
        listing, heard = probing.probe([(tool, args)], self.server, self.root, answer)
        self.assertEqual(listing["missing"], [])
        return heard

    def test_text(self):
        self.assertEqual(self.ask("echo", {"message": "hi"})[0]["text"], "Echo: hi")

    def test_an_image_stands_behind_a_ref(self):
        end = self.ask("get-tiny-image", {})[0]
        self.assertEqual(end["outputs"], ["text/plain", "image/png"])
        self.assertIn("[image, image/png, ", end["text"])

    def test_progress_is_told_on_the_way(self):
        heard = self.ask("trigger-long-running-operation", {"duration": 1, "steps": 3})
        self.assertEqual([each.get("progress") for each in heard[:3]],
                         ["1 of 3", "2 of 3", "3 of 3"])
        self.assertIn("completed", heard[3]["text"])

    def test_structured_content_fits_its_schema(self):
        end = self.ask("get-structured-content", {"location": "New York"})[0]
        self.assertTrue(end["structured"])
        self.assertEqual(end["failure"], "")

    def test_questions_are_asked_and_defaults_filled_in(self):
        heard = self.ask("trigger-elicitation-request", {}, {"name": "Ada"})
        self.assertIn("name", heard[0]["schema"]["properties"])
        self.assertIn("Ada", heard[1]["text"])
        self.assertIn("42", heard[1]["text"])

    def test_roots_are_the_workspace(self):
        self.assertIn(f"file://{self.root}", self.ask("get-roots-list", {})[0]["text"])

    def test_resources_stand_behind_refs(self):
        end = self.ask("get-resource-reference", {"resourceType": "Text", "resourceId": 1})[0]
        self.assertEqual(len(end["outputs"]), 2)
        self.assertIn("[resource ", end["text"])


class EverythingOverPipes(Everything, unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.gettempdir()).resolve()
        self.server = probing.program("server-everything")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Listening(Everything):
    @classmethod
    def listen(cls, how, port=None):
        """Starts a server and returns its address."""
        cls.root = pathlib.Path(tempfile.gettempdir()).resolve()
        port = port or free_port()
        cls.process = subprocess.Popen(
            probing.program("server-everything") + [how],
            env=dict(os.environ, PORT=str(port)),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + probing.WAIT_S
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return f"http://127.0.0.1:{port}"
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the server did not start")

    @classmethod
    def tearDownClass(cls):
        cls.process.kill()
        cls.process.wait()


class EverythingOverHttp(Listening, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.listen("streamableHttp") + "/mcp"

    def test_a_server_that_is_not_there_is_missing(self):
        listing, _ = probing.probe([], f"http://127.0.0.1:{free_port()}/mcp", self.root)
        self.assertIn("it cannot be reached", listing["missing"][0])


class EverythingOverSse(Listening, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.url = cls.listen("sse") + "/sse"
        cls.server = probing.older(cls.url)

    def test_without_its_type_it_is_missing_and_the_type_is_named(self):
        listing, _ = probing.probe([], self.url, self.root)
        self.assertIn('an older server needs type = "sse"', listing["missing"][0])


if __name__ == "__main__":
    unittest.main()
