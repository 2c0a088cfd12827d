"""Error messages of `agentrt run`: one sentence with what to do, and an exit code."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "providers"))

from double import ProviderDouble, closed_port  # noqa: E402
from harness import Case  # noqa: E402

KEY = "sk-canary-4f9a1c77d2e04b58"


def section(name, model, url, **more):
    lines = [f"[models.{name}]", 'provider = "openai_chat"', f'model = "{model}"',
             f'base_url = "{url}"']
    lines += [f"{key} = {json.dumps(value)}" for key, value in more.items()]
    return "\n".join(lines) + "\n"


class Words(Case):
    scripts = {}
    daemon_at_start = False

    # problem: (arguments, exit code, error code, category, words that the message must contain)
    TABLE = {
        "a model that is not there": (
            ["--model", "nonesuch"], 2, "invalid_params", None,
            ["no model nonesuch", "context_full", "rate_limit", "[models.nonesuch]"]),
        "a key that is not set": (
            ["--model", "keyless"], 2, "invalid_params", None, ["keyless", "set CANARY_KEY"]),
        "a script that is not there": (
            ["--model", "script:none.jsonl"], 2, "invalid_params", None, ["none.jsonl", "--model"]),
        "a script without a name": (
            ["--model", "script:"], 2, "invalid_params", None,
            ["does not name a file", "script:FILE"]),
        "a script that is a folder": (
            ["--model", "script:/tmp"], 2, "invalid_params", None, ["/tmp is not a file"]),
        "a mode that there is not": (
            ["--mode", "free"], 2, "invalid_params", None,
            ["--mode free is not valid; use one of default, "]),
        "a certificate that nobody vouches for": (
            ["--model", "tls"], 1, "unavailable", "unavailable",
            ["certificate", "127.0.0.1", "SSL_CERT_FILE"]),
        "a conversation that is too long": (
            ["--model", "context_full"], 1, "invalid_params", "invalid_input",
            ["longer than the model's context", "larger", "context_tokens"]),
        "an answer in which nothing is said": (
            ["--model", "empty_answer"], 1, "unavailable", "provider",
            ["empty answer", "try again", "--model"]),
        "a provider that limits how often it is asked": (
            ["--model", "rate_limit"], 1, "limit_exceeded", "rate_limited",
            ["rate limit is reached", "429", "try again later"]),
        "a key that is refused": (
            ["--model", "refused_key"], 1, "unauthenticated", "denied", ["key", "api_key_env"]),
        "a provider that is not there": (
            ["--model", "gone"], 1, "unavailable", "unavailable",
            ["cannot be reached", "base_url"]),
        "a provider without a name in the net": (
            ["--model", "nowhere"], 1, "unavailable", "unavailable",
            ["model.invalid", "cannot be reached"]),
    }

    def setUp(self):
        super().setUp()
        self.plain = ProviderDouble(key=None).start()
        self.addCleanup(self.plain.stop)
        files = self.home.folder / "cert.pem", self.home.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=double", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
        self.tls = ProviderDouble(certificate=files).start()
        self.addCleanup(self.tls.stop)
        url = self.plain.base_url("openai_chat")
        text = "[limits]\nmodel_retries_max = 1\n" + "".join(
            section(name, name, url)
            for name in ("context_full", "empty_answer", "rate_limit", "refused_key"))
        text += section("stalls_once", "stalls_once", url, idle_timeout_ms=400)
        text += section("keyless", "hello", url, api_key_env="CANARY_KEY")
        text += section("tls", "hello", self.tls.base_url("openai_chat"))
        text += section("gone", "hello", f"http://127.0.0.1:{closed_port()}/v1")
        text += section("nowhere", "hello", "http://model.invalid/v1")
        (self.home.folder / "config/agentrt/config.toml").write_text(text)

    def test_each_problem_has_its_sentence_and_its_exit_code(self):
        for wrong, (arguments, exit_code, code, category, words) in self.TABLE.items():
            with self.subTest(wrong):
                done = self.home.run("run", *arguments, "hello")
                self.assertEqual(done.returncode, exit_code, done.stderr)
                sentence = done.stderr.strip().splitlines()[-1]
                self.assertTrue(sentence.startswith("agentrt: "), done.stderr)
                for word in words:
                    self.assertIn(word, sentence)
                done = self.home.run("run", "--json", *arguments, "hello")
                self.assertEqual(done.returncode, exit_code, done.stderr)
                error = json.loads(done.stderr.strip().splitlines()[-1])["error"]
                self.assertEqual(error["code"], code)
                for word in words:
                    self.assertIn(word, error["message"])
                if category:
                    self.assertEqual(error["details"]["category"], category)
                    self.assertEqual(error["details"]["status"], "failed")
                    session = error["details"]["sessionId"]
                    self.assertIn(f"agentrt run --session {session} ", error["message"])

    def test_a_retry_is_told_before_the_end(self):
        done = self.home.run("run", "--model", "rate_limit", "hello")
        self.assertIn("retrying in 1", done.stderr)

    def test_in_a_pipe_nothing_of_a_failed_attempt_stands_before_the_answer(self):
        done = self.home.run("run", "--model", "stalls_once", "hello")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "Now it works.\n")
        self.assertIn("retrying", done.stderr)

    def test_without_any_model_it_says_what_to_set(self):
        (self.home.folder / "config/agentrt/config.toml").write_text("")
        for arguments in (["run", "hello"], ["run", "--json", "hello"]):
            done = self.home.run(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            for word in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "[models.main]"):
                self.assertIn(word, done.stderr)

    def test_a_turn_that_finds_no_model_makes_way_for_the_next(self):
        script = self.home.script("good", [{"text": "Here I am."}])
        self.start()
        done = self.home.run("run", "--session", "s", "--new", "--model", "nonesuch", "hello")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("a new PROMPT replaces it", done.stderr)
        done = self.home.run("run", "--session", "s", "--model", f"script:{script}", "again")
        self.assertEqual((done.returncode, done.stdout), (0, "Here I am.\n"), done.stderr)
        turns = [event for event in self.daemon.events("s")
                 if event["type"] in ("turn.failed", "turn.completed")]
        self.assertEqual([turn["payload"]["status"] for turn in turns], ["cancelled", "completed"])

    def test_a_daemon_says_it_too(self):
        self.start()
        for model, words in (("nonesuch", ["nonesuch", "context_full, empty_answer"]),
                             ("keyless", ["CANARY_KEY"])):
            with self.subTest(model):
                done = self.home.run("run", "--session", f"s_{model}", "--new", "--model", model,
                                     "hello")
                self.assertEqual(done.returncode, 3, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr.splitlines()[-1])

    def test_wrong_words_on_the_line_are_usage_errors(self):
        for arguments, word in (([], "PROMPT"), ([""], "empty"),
                                (["--session", "s", "--model", "gone"], "--model needs a PROMPT"),
                                (["--session", "not an id", "x"], "not a valid id")):
            done = self.home.run("run", *arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(word, done.stderr)
        done = self.home.run("run", "--session", "none")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("agentrt sessions", done.stderr)


if __name__ == "__main__":
    unittest.main()
