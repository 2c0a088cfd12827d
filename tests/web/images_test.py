"""Images in tool results: sent to models that take them, from their refs, on every wire."""

import base64
import pathlib
import struct
import unittest
import zlib

from web_server import WebServer

from models_test import PROVIDERS, ModelCase


def png(width=2, height=2):
    """A complete image, all black."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data +
                struct.pack(">I", zlib.crc32(kind + data)))
    rows = b"".join(b"\0" + bytes(3 * width) for _ in range(height))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


SMALL = png()
WIDE = png(9000, 1)
WORDS = {provider: f"{provider}_words" for provider in PROVIDERS}


def data_of(image):
    return base64.b64encode(image).decode()


class ImageCase(ModelCase):
    models = {}

    def setUp(self):
        for provider in PROVIDERS:
            self.models = {**self.models, provider: (provider, "looks", {"images": True}),
                           WORDS[provider]: (provider, "looks", {})}
        super().setUp()
        (self.home.workspace / "shot.txt").write_bytes(SMALL)
        (self.home.workspace / "wide.png").write_bytes(WIDE)
        (self.home.workspace / "cut.png").write_bytes(SMALL[:-20])
        self.play([{"name": "read_file", "args": {"path": "shot.txt"}}])

    def play(self, calls):
        self.double.scripts["looks"] = [
            {"text": "Let me look.", "calls": calls, "usage": {"input": 1, "output": 1}},
            {"text": "I see.", "usage": {"input": 1, "output": 1}}]

    def bodies(self):
        return [str(request["body"]) for request in self.double.requests]


class Images(ImageCase):
    def test_an_image_that_a_tool_reads_is_sent_from_its_ref_now_and_in_later_turns(self):
        for provider in PROVIDERS:
            with self.subTest(provider):
                self.double.requests.clear()
                self.turn(provider)
                self.turn(provider)
                first, second, third = self.bodies()[:3]
                self.assertNotIn(data_of(SMALL), first)
                self.assertIn(data_of(SMALL), second)
                self.assertIn("image/png", second)
                self.assertIn(data_of(SMALL), third)
                stored = self.payload(f"s_{provider}", "output.spilled")
                self.assertEqual(stored["mediaType"], "image/png")
                log = str(self.daemon.events(f"s_{provider}"))
                self.assertNotIn(data_of(SMALL)[:40], log)

    def test_after_a_restart_the_image_is_sent_again(self):
        self.turn("anthropic")
        self.daemon.kill()
        self.start()
        self.turn("anthropic")
        self.assertIn(data_of(SMALL), self.bodies()[-1])

    def test_a_model_that_takes_no_images_is_told_in_words(self):
        for provider, model in WORDS.items():
            with self.subTest(provider):
                self.turn(model)
                self.assertNotIn(data_of(SMALL), self.bodies()[-1])
                self.assertIn("you cannot see images", self.bodies()[-1])

    def test_what_a_provider_would_reject_is_named_and_not_sent(self):
        self.play([{"name": "read_file", "args": {"path": "wide.png"}},
                   {"name": "read_file", "args": {"path": "cut.png"}}])
        self.turn("anthropic")
        self.assertIn("it has 9000 x 1 pixels", self.bodies()[-1])
        self.assertIn("its bytes are damaged", self.bodies()[-1])
        self.assertNotIn(data_of(WIDE), self.bodies()[-1])

    def test_many_images_are_bounded_and_the_newest_are_sent(self):
        names = [f"{i}.png" for i in range(22)]
        for i, name in enumerate(names):
            (self.home.workspace / name).write_bytes(png(i + 1, 1))
        self.play([{"name": "read_file", "args": {"path": name}} for name in names])
        self.turn("anthropic")
        body = self.bodies()[-1]
        self.assertEqual(body.count("'media_type': 'image/png'"), 20)
        self.assertNotIn(data_of(png(1, 1)), body)
        self.assertIn(data_of(png(22, 1)), body)
        self.assertEqual(body.count("only the newest 20 images"), 2)

    def test_a_model_configured_without_images_gets_no_attached_file(self):
        self.daemon.stop()
        path = self.home.folder / "config/agentrt/config.toml"
        path.write_text(path.read_text().replace("images = true", "images = false"))
        self.start()
        self.turn("anthropic", parts=[{"type": "text", "text": "what is this?"},
                                      {"type": "file", "path": "shot.txt"}])
        self.assertNotIn(data_of(SMALL), self.bodies()[0])
        self.assertIn("shot.txt: not attached, the model takes no images", self.bodies()[0])


class Sources(ImageCase):
    """Images of web pages and of MCP servers."""

    more_config = (f'[mcp_servers.box]\ncommand = ["/usr/bin/python3", '
                   f'"{pathlib.Path(__file__).parent.parent / "e2e/tool_server.py"}"]\n'
                   'env = { NOTES = "/dev/null", SECRET = "none" }\n')

    def test_pages_and_servers_give_images_too(self):
        web = WebServer(self.home.folder, {"/dog": (200, {"Content-Type": "text/html"}, SMALL)})
        self.addCleanup(web.stop)
        self.daemon.stop()
        self.home.environment.update(SSL_CERT_FILE=str(web.files[0]), AGENTRT_WEB_HERE="127.0.0.1")
        self.start()
        self.play([{"name": "web_fetch", "args": {"url": web.url("/dog")}}])
        self.turn("anthropic", session="web")
        self.assertIn(data_of(SMALL), self.bodies()[-1])
        self.play([{"name": "mcp__box__picture", "args": {}}])
        self.turn("openai_responses", session="mcp")
        self.assertIn("input_image", self.bodies()[-1])
        stored = [event["payload"]["mediaType"] for event in self.daemon.events("mcp")
                  if event["type"] == "output.spilled" and "toolCallId" in event]
        self.assertIn("image/gif", stored)


if __name__ == "__main__":
    unittest.main()
