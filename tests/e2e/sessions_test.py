"""Getting back to earlier work: ids shortened to a prefix, --continue, --new, other folders."""

import json
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


if __name__ == "__main__":
    unittest.main()
