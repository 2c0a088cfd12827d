"""A conversation and its session: what it knows of earlier turns, and sessions of other folders."""

import json
import subprocess
import unittest

from chat_test import QUIET, ChatTerminal, shell
from harness import BINARY, Case


class SessionCase(Case):
    daemon_at_start = False
    config = '[permissions]\nmode = "default"\n'
    scripts = {"main": [{"text": "From here."}]}

    def run_in(self, folder, *arguments):
        done = subprocess.run([BINARY, *map(str, arguments)], cwd=folder, input="", text=True,
                              env=self.home.environment, timeout=30, capture_output=True)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def rows(self):
        return json.loads(self.home.run("sessions", "--all", "--json").stdout)["data"]


class EarlierTurns(SessionCase):
    TURNS = 8

    def setUp(self):
        super().setUp()
        for number in range(1, self.TURNS + 1):
            script = self.home.script(f"turn{number}", [
                {"toolCalls": [{"name": "write_file", "args": {
                                   "path": f"f{number}.txt", "content": f"content {number}\n"}},
                               shell(f"seq {number}01 {number}30")]},
                {"text": f"Answer {number}.", "usage": {"inputTokens": 100, "outputTokens": 1}}])
            new = ["--new"] if number == 1 else []
            self.run_in(self.home.workspace, "run", "--session", "s", *new, "--mode", "bypass",
                        "--model", f"script:{script}", f"message {number}")

    def test_files_diffs_outputs_and_usage_cover_the_turns_that_are_not_shown(self):
        chat = ChatTerminal(self, "s", rows=70).sees("Answer 8.")
        shown = chat.screen.all_text()
        self.assertIn("› message 4\n", shown)
        self.assertNotIn("› message 3\n", shown)
        self.assertIn("3 earlier turns", shown)
        self.assertNotIn("Answer 3.", shown)
        self.assertIn("· #7\n", shown, "the calls of the three earlier turns have numbers, too")
        self.assertIn("· #16\n", shown)
        chat.type("/files\r").sees("f1.txt +1 -0").sees("f8.txt +1 -0")
        chat.type("/diff f2.txt\r").sees("+content 2")
        chat.type("/output 2\r").sees("#2 $ seq 101 130").sees("  117")
        chat.type("/usage\r").sees(" 800 ")
        chat.type("one more\r").sees("From here.").type("/output 17\r").sees("there is no call #17")
        chat.type("\x04")
        self.assertEqual(chat.end(), 0)

    def test_a_turn_that_was_queued_behind_one_that_is_not_shown(self):
        """Its first event precedes the last ones of the turn before it."""
        slow = self.home.script("slow", [{"text": "Slow.", "delayMs": 3_000}])
        chat = ChatTerminal(self, "s", "--model", f"script:{slow}").sees("Answer 8.")
        chat.type("nine\r").sees("waiting for")
        for number in range(5):
            chat.type(f"/model main\rqueued {number}\r").sees(f"queued {number + 1} · ")
        chat.until(lambda: chat.screen.all_text().count("From here.") == 5, "the answers")
        chat.type("\x04").end()
        again = ChatTerminal(self, "s", rows=60).sees("› queued 4")
        again.until(lambda: again.screen.all_text().count("From here.") == 5, "the answers")
        shown = again.screen.all_text()
        self.assertNotIn("Slow.", shown)
        self.assertNotIn("› nine", shown)
        again.type("/queue\r").sees("nothing is queued").type("\x04").end()


class OtherFolders(SessionCase):
    def setUp(self):
        super().setUp()
        self.other = self.home.folder / "other"
        (self.other / ".agentrt").mkdir(parents=True)
        (self.other / "only_there.txt").write_text("x\n")
        (self.other / ".agentrt/local.jsonl").write_text('{"text": "From the other folder."}\n')
        (self.other / ".agentrt/config.toml").write_text(
            '[models.local]\nprovider = "script"\nscript = "local.jsonl"\n'
            '[routing]\ndefault = "local"\n')
        self.run_in(self.other, "trust", "--yes")
        self.run_in(self.other, "run", "--session", "theirs", "--new", "--mode", "default", "hi")

    def resume(self, chat):
        chat.sees("›").type("/resume theirs\r").sees("1 of 1").type("\r")
        return chat.shows(f"session theirs belongs to {self.other}")


class Resumed(OtherFolders):
    def test_turns_use_what_the_folder_of_the_session_configures(self):
        chat = ChatTerminal(self, columns=120)
        chat.sees("main ·").type("hello\r").sees("From here.")
        self.resume(chat).sees("› hi").sees("local ·")
        chat.type("again\r").until(
            lambda: chat.screen.all_text().count("From the other folder.") == 2, "the answer")
        chat.type("@only").sees("▸ only_there.txt").type("\x15")
        chat.type("!pwd\r").shows(f"\n{self.other}\n").type("\x15")
        chat.type("/model\r").shows("* local")
        chat.type("/new\r").sees("a new session").type("and here?\r").until(
            lambda: chat.screen.all_text().count("From the other folder.") == 3, "the answer")
        chat.type("\x04")
        self.assertEqual(chat.end(), 0)
        folders = sorted(row["cwd"] for row in self.rows())
        self.assertEqual(folders, [str(self.other)] * 2 + [str(self.home.workspace)])

    def test_a_model_that_the_folder_does_not_know_is_left(self):
        (self.other / ".agentrt/config.toml").write_text("")
        (self.home.workspace / ".agentrt").mkdir()
        (self.home.workspace / ".agentrt/config.toml").write_text(
            f'[models.mine]\nprovider = "script"\nscript = "{self.home.folder}/main.jsonl"\n')
        self.run_in(self.home.workspace, "trust", "--yes")
        chat = ChatTerminal(self, "--model", "mine", columns=120).sees("mine ·")
        self.resume(chat).shows("the model mine cannot be used there").sees("› hi")
        chat.type("again\r").sees("From here.").type("\x04")
        self.assertEqual(chat.end(), 0)


class FirstTime(OtherFolders):
    config = ""

    def test_the_question_about_the_folder_is_asked_there_too(self):
        chat = ChatTerminal(self, columns=120).sees("How should commands run in this folder?")
        chat.read(QUIET)
        chat.type("1\r")
        self.resume(chat).until(
            lambda: chat.screen.all_text().count("How should commands run") == 2, "the question")
        chat.read(QUIET)
        chat.type("2\r").shows("kept for this folder: mode default").sees("› hi")
        chat.sees("mode default").type("\x04")
        self.assertEqual(chat.end(), 0)
        rules = json.loads(self.run_in(self.other, "rules", "--json"))
        self.assertEqual((rules["mode"], rules["modeOrigin"]), ("default", "always"))


if __name__ == "__main__":
    unittest.main()
