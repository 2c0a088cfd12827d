"""Getting back to earlier work: ids shortened to a prefix, --continue, --new, other folders."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import time
import unittest

from chat_test import ChatTerminal
from harness import BINARY, Case, wait_until
from prompts_test import plain
from run_test import Terminal


class Sessions(Case):
    daemon_at_start = False
    config = '[permissions]\nmode = "bypass"\n'
    scripts = {"main": [{"text": "Hello."}]}

    def rows(self):
        return json.loads(self.home.run("sessions", "--all", "--json").stdout)["data"]

    def run_in(self, folder, *arguments, **more):
        return subprocess.run([BINARY, *map(str, arguments)], cwd=folder, input="", text=True,
                              env=self.home.environment, timeout=30, capture_output=True, **more)

    def turns(self, session):
        shown = json.loads(self.home.run("show", session, "--json").stdout)
        return [turn["inputPreview"] for turn in reversed(shown["history"])]

    def ran(self, *arguments):
        done = self.home.run("run", *arguments)
        self.assertEqual(done.returncode, 0, done)
        return done

    def refused(self, code, *arguments):
        done = self.home.run(*arguments, "--json")
        error = json.loads(done.stderr)["error"]
        self.assertEqual(error["code"], code, error)
        return done, error


class ShortIds(Sessions):
    def test_sessions_prints_prefixes_that_every_command_accepts(self):
        for text in ("one", "two", "three"):
            self.ran(text)
        whole = [row["sessionId"] for row in self.rows()]
        table = self.home.run("sessions").stdout.splitlines()[1:]
        short = [line.split()[0] for line in table]
        for full, name in zip(whole, short):
            self.assertTrue(full.startswith(name) and len(name) < 20 < len(full), (full, name))
            for words in (["show", name], ["events", name], ["approvals", "--session", name],
                          ["rules", "--session", name],
                          ["explain", "--session", name, "--", "ls"], ["run", "--session", name,
                                                                        "again"]):
                done = self.home.run(*words)
                self.assertEqual(done.returncode, 0, (words, done))
            self.assertEqual(self.turns(name)[-1], "again")
        created = json.loads(self.home.run("token", "create", "--scope", "read", "--session",
                                           short[0], "--json").stdout)
        self.assertEqual(created["sessionId"], whole[0])
        self.assertEqual(len(self.rows()), 3)

    def test_a_prefix_of_several_sessions_lists_them(self):
        for name in ("docs-old", "docs-new", "docs"):
            self.ran("--session", name, "--new", "hi")
        done, error = self.refused("invalid_params", "show", "doc")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(sorted(error["details"]["matches"]), ["docs", "docs-new", "docs-old"])
        self.assertEqual(self.home.run("show", "docs").returncode, 0)
        self.assertIn("docs-old", self.home.run("show", "docs-o").stdout)

    def test_a_mistyped_id_names_near_ones_and_creates_nothing(self):
        self.ran("--session", "release", "--new", "hi")
        for words in (["run", "--session", "relaese", "hi"], ["run", "--session", "relaese"],
                      ["show", "relaese"], ["events", "relaese"]):
            done, error = self.refused("not_found", *words)
            self.assertEqual(done.returncode, 1, done)
            self.assertEqual(error["details"]["nearMatches"], ["release"])
            self.assertEqual("--new" in error["message"], words[-1] == "hi", error)
        self.assertEqual(len(self.rows()), 1)

    def test_a_new_id_needs_new(self):
        self.refused("not_found", "run", "--session", "mine", "hi")
        self.ran("--session", "mine", "--new", "--turn-id", "t1", "hi")
        done, error = self.refused("conflict", "run", "--session", "mine", "--new", "hi")
        self.assertIn("exists already", error["message"])
        self.assertEqual(self.ran("--session", "mine", "--new", "--turn-id", "t1", "hi").stdout,
                         "Hello.\n")
        self.assertEqual(self.turns("mine"), ["hi"])
        for words in (["--new", "hi"], ["--session", "x", "--new"],
                      ["--session", "x", "--continue", "hi"]):
            self.assertEqual(self.home.run("run", *words).returncode, 2, words)


class Continue(Sessions):
    def test_it_takes_the_session_of_this_folder_that_was_used_last(self):
        other = self.home.folder / "other"
        other.mkdir()
        self.ran("--session", "first", "--new", "one")
        self.ran("--session", "second", "--new", "two")
        self.ran("--session", "first", "three")
        done = self.run_in(other, "run", "--session", "elsewhere", "--new", "four")
        self.assertEqual(done.returncode, 0, done)
        self.ran("-c", "five")
        self.ran("--continue", "six")
        self.assertEqual(self.turns("first"), ["one", "three", "five", "six"])
        self.assertEqual(self.run_in(other, "run", "-c", "seven").returncode, 0)
        self.assertEqual(self.turns("elsewhere"), ["four", "seven"])
        done = self.home.run("run", "--continue")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("no unfinished turn", done.stderr)

    def test_without_an_earlier_session_it_says_so(self):
        done, error = self.refused("not_found", "run", "-c", "hi")
        self.assertIn(str(self.home.workspace), error["message"])
        self.assertEqual(self.rows(), [])

    def test_an_archived_session_is_not_continued(self):
        self.ran("--session", "old", "--new", "one")
        self.home.run("call", "update_session", '{"sessionId":"old","archived":true}')
        self.refused("not_found", "run", "-c", "hi")


class OtherFolder(Sessions):
    def test_a_session_of_another_folder_is_announced_first(self):
        other = self.home.folder / "other"
        other.mkdir()
        self.ran("--session", "s", "--new", "one")
        done = self.run_in(other, "run", "--session", "s", "two")
        self.assertEqual((done.returncode, done.stdout), (0, "Hello.\n"), done)
        first = done.stderr.splitlines()[0]
        self.assertIn(f"session s belongs to {self.home.workspace}", first)
        self.assertIn(str(other), first)
        self.assertNotIn("belongs", self.ran("--session", "s", "three").stderr)
        done = self.run_in(other, "run", "--session", "s", "--json", "four")
        self.assertEqual(done.stderr, "")


class Piped(Sessions):
    def input(self, session):
        events = self.home.run("events", session, "--json").stdout.splitlines()
        submitted = [json.loads(e) for e in events if '"turn.submitted"' in e]
        return [part["text"] for part in submitted[-1]["payload"]["input"]]

    def test_the_prompt_comes_with_what_was_piped(self):
        done = self.home.run("run", "--session", "s", "--new", "review this", stdin="-a\n+b\n")
        self.assertEqual((done.returncode, done.stdout), (0, "Hello.\n"), done)
        self.assertEqual(self.input("s"), [
            "review this", "[standard input]\n-a\n+b\n[end of standard input]"])
        self.assertEqual(self.turns("s"), ["review this"])
        self.home.run("run", "--session", "s", "no line break", stdin="x")
        self.assertEqual(self.input("s")[1], "[standard input]\nx\n[end of standard input]")

    def test_nothing_piped_is_only_the_prompt_and_a_dash_is_only_the_input(self):
        self.ran("--session", "s", "--new", "hi")
        self.assertEqual(self.input("s"), ["hi"])
        done = self.home.run("run", "--session", "s", "-", stdin="from there")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.input("s"), ["from there"])

    def test_too_much_and_what_is_no_text_are_refused(self):
        most = (2 << 20) - 1024
        for given, words in (("x" * (most + 1), str(most)), ("x" * (4 << 20), "--file"),
                             ("\udcff", "not UTF-8")):
            done = subprocess.run([BINARY, "run", "hi"], cwd=self.home.workspace, timeout=30,
                                  input=given.encode(errors="surrogateescape"),
                                  env=self.home.environment, capture_output=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr.decode())
        self.assertEqual(self.rows(), [])
        done = self.home.run("run", "--session", "s", "--new", "hi", stdin="x" * most)
        self.assertEqual(done.returncode, 0, done.stderr[:300])

    def test_a_silent_pipe_is_not_waited_for(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, writing)
        with os.fdopen(reading) as silent:
            done = subprocess.run([BINARY, "run", "hi"], cwd=self.home.workspace, stdin=silent,
                                  env=self.home.environment, timeout=30, capture_output=True,
                                  text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "Hello.\n"), done)
        self.assertIn("standard input sent nothing for 3 s", done.stderr)


    def test_a_pipe_that_was_only_passed_on_costs_less_time(self):
        reading, writing = os.pipe()
        self.addCleanup(os.close, writing)
        with os.fdopen(reading) as silent:
            done = subprocess.run(["sh", "-c", f"'{BINARY}' run hi; exit $?"], stdin=silent,
                                  cwd=self.home.workspace, env=self.home.environment, timeout=30,
                                  capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "Hello.\n"), done)
        self.assertIn("standard input sent nothing for 1 s", done.stderr)

    def test_a_slow_pipeline_is_waited_for(self):
        done = subprocess.run(["sh", "-c", f"(sleep 4; echo late) | "
                                           f"'{BINARY}' run --session s --new hi"],
                              stdin=subprocess.DEVNULL, cwd=self.home.workspace, timeout=60,
                              env=self.home.environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "Hello.\n"), done)
        self.assertNotIn("ignored", done.stderr)
        self.assertEqual(self.input("s")[1], "[standard input]\nlate\n[end of standard input]")


class Picker(Sessions):
    scripts = {"main": [{"text": "Hello."}], "works": [{"text": "Slow.", "delayMs": 60_000}]}

    def setUp(self):
        super().setUp()
        self.other = self.home.folder / "other"
        self.other.mkdir()
        self.ran("--session", "parser", "--new", "fix the parser")
        self.ran("--session", "docs", "--new", "write the docs")
        self.assertEqual(self.run_in(self.other, "run", "--session", "elsewhere", "--new",
                                     "deploy it").returncode, 0)

    def at_terminal(self, *arguments, **more):
        return Terminal(self, *arguments, verb="resume", **more)

    def test_words_search_arrows_move_and_enter_continues(self):
        terminal = ChatTerminal(self, words=("resume",), columns=120).sees("Enter opens")
        shown = terminal.screen.text()
        self.assertIn("Sessions  3 of 3", shown)
        order = [shown.index(text) for text in ("write the docs", "fix the parser", "deploy it")]
        self.assertEqual(order, sorted(order))
        self.assertIn("/other", shown)
        terminal.type("PARS").sees("1 of 3").type("\x15").sees("3 of 3")
        terminal.type("\x1b[B").read(0.2)
        terminal.type("\r").sees("› fix the parser").sees("Hello.").sees("mode bypass")
        terminal.type("and now?\r").until(
            lambda: terminal.screen.all_text().count("Hello.") == 2, "the second answer")
        terminal.type("\x04")
        self.assertEqual(terminal.end(), 0, terminal.screen.all_text())
        self.assertEqual(self.turns("parser"), ["fix the parser", "and now?"])

    def test_the_options_of_a_conversation_apply(self):
        terminal = ChatTerminal(self, "docs", "--mode", "plan", "--model", "works",
                                words=("resume",)).sees("1 of 3")
        terminal.type("\r").sees("› write the docs").sees("works · mode plan")
        terminal.type("\x04")
        self.assertEqual(terminal.end(), 0, terminal.screen.all_text())

    def test_a_session_of_another_folder_says_so_and_its_open_turn_is_watched(self):
        process = subprocess.Popen([BINARY, "run", "--session", "elsewhere", "--model", "works",
                                    "again"], cwd=self.other, env=self.home.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: self.rows()[0]["status"] != "idle", what="a running turn")
        terminal = ChatTerminal(self, "elsewhere", words=("resume",), columns=120).sees("1 of 3")
        terminal.type("\r").shows(f"session elsewhere belongs to {self.other}").sees("› again")
        terminal.sees("waiting for works").type("\x04")
        self.assertEqual(terminal.end(), 0, terminal.screen.all_text())
        self.assertIn("the turn keeps running", terminal.screen.all_text())

    def test_it_leaves_the_terminal_as_it_was(self):
        master, slave = pty.openpty()  # a terminal that no program has changed
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        before = termios.tcgetattr(master)
        for key in ("\x1b", "\x03"):
            terminal = self.at_terminal()
            terminal.read_until("Enter opens").type(key, after=0.1).read_until("\x1b[?1049l")
            self.assertEqual(terminal.end(), 130, terminal.text())
            self.assertEqual(termios.tcgetattr(terminal.master), before)
        self.assertEqual(self.turns("docs"), ["write the docs"])

    def test_a_narrow_terminal_that_is_resized_all_the_time(self):
        terminal = self.at_terminal(columns=20).read_until("Sessions  3 of 3")
        for i in range(100):
            fcntl.ioctl(terminal.master, termios.TIOCSWINSZ,
                        struct.pack("HHHH", 5 + i % 20, 10 + i % 70, 0, 0))
            time.sleep(0.01)
        terminal.type("docs\r", after=0.1).read_until("write the docs").read_until("Hello.")
        terminal.type("\x04")
        self.assertEqual(terminal.end(), 0, terminal.text())

    def test_a_plain_terminal_gets_a_numbered_list(self):
        terminal = self.at_terminal(TERM="dumb").read_until("to leave: ")
        self.assertRegex(plain(terminal), r"1 +just now +write the docs\s+2 +just now +fix")
        self.assertNotIn("\x1b", terminal.text())
        terminal.type("nothing like this\n").read_until("No session matches.")
        terminal.type("parser\n").read_until("  1  just now").read_until("to leave: ")
        terminal.type("1\n").read_until("› fix the parser").read_until("\n> ")
        terminal.type("more\n").read_until("Hello.").read_until("\n> ")
        self.assertNotIn("\x1b", terminal.text())
        terminal.type("\x04")
        self.assertEqual(terminal.end(), 0, terminal.text())
        self.assertEqual(self.turns("parser"), ["fix the parser", "more"])

    def test_without_a_terminal_it_says_what_to_do(self):
        done = self.home.run("resume")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("agentrt run --session ID", done.stderr)


class Transcripts(Sessions):
    config = '[permissions]\nmode = "bypass"\n'
    scripts = {
        "main": [{"text": "I **look**.", "toolCalls": [
            {"name": "shell", "args": {"command": "echo output; exit 3"}},
            {"name": "read_file", "args": {"path": "none.txt"}}]}, {"text": "Done."}],
        "long": [{"text": "word " * 60_000, "deltas": 50}],
        "fails": [{"fail": {"status": 401, "message": "no key"}}],
        "slow": [{"text": "never", "delayMs": 60_000}],
    }

    def setUp(self):
        super().setUp()
        self.ran("--session", "s", "--new", "look\naround")
        self.home.run("run", "--session", "s", "--model", "fails", "again")

    def transcript(self, *words):
        done = self.home.run("show", "s", "--transcript", *words)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def test_the_whole_conversation_with_folded_calls(self):
        text = self.transcript()
        parts = ["session s", "look\n    around", "I **look**.",
                 "✗ $ echo output; exit 3 · exit code 3", "✗ read none.txt · failed", "Done.",
                 "again", "· failed: ", "no key"]
        places = [text.index(part) for part in parts]
        self.assertEqual(places, sorted(places), text)
        self.assertNotIn("  output\n", text)
        text = self.transcript("--markdown")
        parts = ["# s", "> look\n> around\n", "\nI **look**.\n",
                 "- `$ echo output; exit 3` (failed, exit code 3)\n", "\nDone.\n", "> again\n",
                 "*failed: "]
        places = [text.index(part) for part in parts]
        self.assertEqual(places, sorted(places), text)

    def test_json_has_every_turn_with_its_calls(self):
        told = json.loads(self.transcript("--json"))
        self.assertEqual((told["sessionId"], told["cwd"]), ("s", str(self.home.workspace)))
        first, second = told["turns"]
        self.assertEqual((first["status"], second["status"]), ("completed", "failed"))
        self.assertEqual(first["input"], [{"type": "text", "text": "look\naround"}])
        self.assertEqual([m["text"] for m in first["messages"]], ["I **look**.", "Done."])
        shell, read = first["messages"][0]["toolCalls"]
        self.assertEqual((shell["name"], shell["exitCode"], shell["outcome"]),
                         ("shell", 3, "failed"))
        self.assertIn("output", shell["result"])
        self.assertEqual(read["args"], {"path": "none.txt"})
        self.assertEqual(read["outcome"], "failed")

    def test_a_long_message_is_complete_and_an_open_turn_is_shown(self):
        self.ran("--session", "s", "--model", "long", "write")
        process = subprocess.Popen([BINARY, "run", "--session", "s", "--model", "slow", "wait"],
                                   cwd=self.home.workspace, env=self.home.environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        wait_until(lambda: "not finished" in self.transcript(), what="the open turn")
        turns = json.loads(self.transcript("--json"))["turns"]
        self.assertEqual(turns[2]["messages"][0]["text"], "word " * 60_000)
        self.assertEqual(turns[3]["status"], "open")
        self.home.run("stop", "--yes")

    def test_at_a_terminal_it_is_paged(self):
        pager = self.home.folder / "pager"
        pager.write_text("#!/bin/sh\necho PAGED; cat; echo END\n")
        pager.chmod(0o755)
        terminal = Terminal(self, "s", "--transcript", verb="show", PAGER=str(pager))
        terminal.read_until("END")
        self.assertEqual(terminal.end(), 0, terminal.text())
        shown = plain(terminal)
        self.assertLess(shown.index("PAGED"), shown.index("I look."))
        terminal = Terminal(self, "s", "--transcript", verb="show", PAGER="head -1 > /dev/null")
        self.assertEqual(terminal.end(), 0, terminal.text())
        terminal = Terminal(self, "s", "--transcript", verb="show", PATH="/nonexistent")
        terminal.read_until("Done.")
        self.assertEqual(terminal.end(), 0, terminal.text())

    def test_options_that_do_not_fit_are_refused(self):
        for words in (["--markdown"], ["--transcript", "--limit", "3"]):
            self.assertEqual(self.home.run("show", "s", *words).returncode, 2, words)


if __name__ == "__main__":
    unittest.main()
