"""Getting back to earlier work: ids shortened to a prefix, --continue, --new, other folders."""

import json
import os
import subprocess
import unittest

from harness import BINARY, Case


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


if __name__ == "__main__":
    unittest.main()
