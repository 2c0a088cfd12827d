"""Questions at a terminal: an approval cannot mislead, and a key that was typed before a question
was on the screen does not answer it."""

import json
import os
import pathlib
import re
import signal
import termios
import time
import unittest

from harness import Case, wait_until
from run_test import QUIET, Terminal

SERVER = pathlib.Path(__file__).resolve().parent / "tool_server.py"


def shell(command, **more):
    return {"name": "shell", "args": {"command": command, **more}}


def calls(*tools):
    return [{"toolCalls": list(tools)}, {"text": "All done."}]


def plain(terminal):
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.text())


class PromptCase(Case):
    config = '[permissions]\nmode = "default"\n'
    scripts = {"main": [{"text": "unused"}]}

    def setUp(self):
        super().setUp()
        self.sessions = set()

    def at_terminal(self, *lines, arguments=(), session="s", **more):
        self.model = f"script:{self.home.script(f'model_{session}', lines)}"
        new = () if session in self.sessions else ("--new",)
        self.sessions.add(session)
        return Terminal(self, "--session", session, *new, "--model", self.model, *arguments, "go",
                        **more)

    def of(self, kind, session="s"):
        return [e["payload"] for e in self.daemon.events(session) if e["type"] == kind]

    def made(self, name="made.txt"):
        path = self.home.workspace / name
        return path.read_text() if path.exists() else None


class LeavingTheSandbox(PromptCase):
    def setUp(self):
        super().setUp()
        self.target = self.home.folder / "let_out.txt"
        self.leave = shell(f"touch {self.target}", outsideSandbox=True,
                           justification="it needs a file of the user", tty=True)

    def test_the_prompt_the_list_and_the_line_of_the_call_say_so(self):
        terminal = self.at_terminal(*calls(self.leave)).read_until("\n  > ")
        seen = plain(terminal)
        self.assertIn("OUTSIDE THE SANDBOX: run this command without confinement?", seen)
        self.assertIn("\x1b[1;97;41mOUTSIDE THE SANDBOX", terminal.text())
        self.assertRegex(seen, r"it runs as \w+, without network")
        self.assertIn("model says   it needs a file of the user", seen)
        self.assertIn("tty ", seen)
        self.assertNotIn("in this session", seen)
        self.assertNotIn("always", seen)
        listed = re.sub(r"\s+", " ", self.home.run("approvals").stdout)
        self.assertIn(" s OUTSIDE THE SANDBOX: t", listed)
        self.assertRegex(listed, r"runs OUTSIDE THE SANDBOX as \w+, without network")
        self.assertIn("it needs a file of the user", listed)
        self.assertIn("has a tty", listed)
        for word in ("s\n", "a\n"):
            terminal.type(word).read_until("type y or n")
        self.assertFalse(self.target.exists())
        terminal.type("y\n").read_until("All done.")
        self.assertEqual(terminal.end(), 0)
        seen = plain(terminal)
        self.assertIn("✓ OUTSIDE THE SANDBOX $ touch", seen)
        self.assertIn("the model says: it needs a file of the user", re.sub(r"\s+", " ", seen))
        self.assertTrue(self.target.exists())

    def test_a_background_command_says_so(self):
        terminal = self.at_terminal(*calls(shell("sleep 1", background=True))).read_until("\n  > ")
        self.assertIn("background   it keeps running after the call ends", plain(terminal))
        self.assertIn("runs in the background", self.home.run("approvals").stdout)
        terminal.type("y\n").read_until("All done.")
        self.assertEqual(terminal.end(), 0)

    def unattended(self, *options):
        script = self.home.script("model", calls(shell("echo x > made.txt"), self.leave))
        for path in (self.target, self.home.workspace / "made.txt"):
            path.unlink(missing_ok=True)
        done = self.home.run("run", *options, "--model", f"script:{script}", "go")
        return done.returncode, self.made() is not None, self.target.exists(), done.stderr

    def test_yes_never_lets_a_command_out_and_the_other_option_does_only_that(self):
        code, made, out, said = self.unattended("--yes")
        self.assertEqual((code, made, out), (3, True, False), said)
        self.assertIn("--yes-outside-sandbox", said)
        code, made, out, said = self.unattended("--yes-outside-sandbox")
        self.assertEqual((code, made, out), (3, False, True), said)
        code, made, out, said = self.unattended("--yes", "--yes-outside-sandbox")
        self.assertEqual((code, made, out), (0, True, True), said)

    def test_at_a_terminal_yes_still_asks_about_leaving(self):
        terminal = self.at_terminal(*calls(shell("echo x > made.txt"), self.leave),
                                    arguments=("--yes",)).read_until("\n  > ")
        self.assertEqual(self.made(), "x\n")
        self.assertIn("OUTSIDE THE SANDBOX", plain(terminal))
        terminal.type("n not today\n").read_until("All done.")
        terminal.end()
        self.assertFalse(self.target.exists())


class TypedAhead(PromptCase):
    @staticmethod
    def echoes(terminal):
        return bool(termios.tcgetattr(terminal.master)[3] & termios.ECHO)

    def test_keys_typed_while_the_model_streams_do_not_answer(self):
        lines = [{"text": "Let me think about that. ", "deltas": 12, "delayMs": 150,
                  "toolCalls": [shell("echo x > made.txt")]}, {"text": "All done."}]
        terminal = self.at_terminal(*lines)
        wait_until(lambda: self.daemon.ok("list_sessions")["data"], what="the session")
        for _ in range(4):
            terminal.type("y\n", after=0)
            time.sleep(0.1)
        terminal.read_until("\n  > ")
        self.assertNotIn("y\r\n", terminal.text().split("Run this command?")[0])
        time.sleep(QUIET + 0.5)
        self.assertIsNone(self.made())
        self.assertEqual(len(self.of("action.resolved")), 0)
        terminal.type("n\n").read_until("All done.")
        terminal.end()
        self.assertIsNone(self.made())

    def test_keys_within_the_first_half_second_do_not_answer(self):
        terminal = self.at_terminal(*calls(shell("rm -f made.txt"))).read_until("\n  > ")
        for _ in range(4):
            os.write(terminal.master, b"y\n")
            time.sleep(0.08)
        time.sleep(QUIET)
        self.assertEqual(self.of("action.resolved"), [])
        terminal.type("y").type("")
        time.sleep(0.5)
        self.assertEqual(self.of("action.resolved"), [], "Enter is required")
        terminal.type("\n", after=0).read_until("All done.")
        self.assertEqual(terminal.end(), 0)

    def test_a_line_for_one_question_does_not_answer_the_next(self):
        terminal = self.at_terminal(*calls(shell("echo x > a.txt"), shell("echo x > b.txt")))
        terminal.read_until("\n  > ").type("y\ny\n").read_until("\n  > ")
        time.sleep(QUIET)
        self.assertEqual(len(self.of("action.resolved")), 1)
        self.assertIsNone(self.made("b.txt"))
        terminal.type("n\n").read_until("All done.")
        terminal.end()

    def test_the_echo_is_off_while_it_streams_and_on_again_afterwards(self):
        terminal = self.at_terminal({"text": "Slow.", "delayMs": 1_000})
        self.assertTrue(self.echoes(terminal))
        wait_until(lambda: not self.echoes(terminal), what="a silent keyboard")
        terminal.type("typed", after=0).read_until("Slow.")
        self.assertNotIn("typed", terminal.text())
        self.assertEqual(terminal.end(), 0)
        self.assertTrue(self.echoes(terminal))

    def test_an_interrupted_question_leaves_the_terminal_as_it_was(self):
        terminal = self.at_terminal(*calls(shell("echo x > made.txt"))).read_until("\n  > ")
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.process.wait(15), 130)
        self.assertTrue(self.echoes(terminal))


class Answers(PromptCase):
    def test_a_reason_for_no_reaches_the_model(self):
        terminal = self.at_terminal(*calls(shell("echo x > made.txt"))).read_until("\n  > ")
        terminal.type("n use the Makefile\n").read_until("All done.")
        terminal.end()
        self.assertIn("use the Makefile", self.of("tool.failed")[0]["error"]["message"])
        self.assertIsNone(self.made())

    def test_a_new_file_is_not_overwritten(self):
        (self.home.workspace / "old.txt").write_text("old\n")
        for name, words in (("new.txt", False), ("old.txt", True)):
            for tool in (shell(f"echo x > {name}"),
                         {"name": "write_file", "args": {"path": name, "content": "x\n"}}):
                with self.subTest(name=name, tool=tool["name"]):
                    session = f"{name}_{tool['name']}"
                    terminal = self.at_terminal(*calls(tool), session=session)
                    seen = plain(terminal.read_until("\n  > "))
                    self.assertEqual("destructive" in seen, words, seen)
                    terminal.type("n\n").end()

    def test_no_line_breaks_inside_a_word(self):
        words = " ".join(f"word{i}" for i in range(40))
        (self.home.workspace / "old.txt").write_text("old\n")
        for columns in (44, 80):
            terminal = self.at_terminal(*calls(shell(f"echo {words} > old.txt")), columns=columns,
                                        session=f"s{columns}")
            seen = plain(terminal.read_until("\n  > "))
            question = seen[seen.index("Run this command?"):]
            for line in question.splitlines():
                self.assertLessEqual(len(line), columns, question)
            joined = re.sub(r"\n  ↪ ", "", question)
            self.assertIn(f"echo {words} > old.txt", joined)
            for number in range(40):
                self.assertRegex(question, rf"\bword{number}\b")
            terminal.type("n\n").end()

    def test_a_path_outside_is_refused_without_a_question_and_the_option_is_named(self):
        (self.home.folder / "beside.txt").write_text("beside\n")
        read = {"name": "read_file", "args": {"path": "../beside.txt"}}
        terminal = self.at_terminal(*calls(read)).read_until("All done.")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.of("action.required"), [])
        error = self.of("tool.failed")[0]["error"]
        self.assertEqual(error["category"], "denied")
        self.assertIn(f"--add-dir {self.home.folder}", error["message"])


class Rules(PromptCase):
    def setUp(self):
        super().setUp()
        (self.home.workspace / "a.txt").write_text("one\n")

    def listed(self, *arguments):
        done = self.home.run("rules", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done)
        return json.loads(done.stdout)

    def decisions(self, session):
        return [e["decision"] for e in self.of("permission.evaluated", session)]

    def test_a_prefix_is_offered_kept_listed_and_taken_back_from_anywhere(self):
        terminal = self.at_terminal(*calls(shell("head -1 a.txt"))).read_until("\n  > ")
        seen = plain(terminal)
        self.assertIn('stores the rule shell("head -1 a.txt")', seen)
        self.assertIn("ap  yes, every command that begins with head, always in this folder; "
                      "stores the rule shell(head:*)",
                      re.sub(r"\s+", " ", seen).replace("ap yes", "ap  yes"))
        required = self.of("action.required")[0]
        self.assertEqual(required["scopes"], ["once", "session", "always"])
        self.assertEqual(required["rules"], ['shell("head -1 a.txt")', "shell(head:*)"])
        terminal.type("ap\n").read_until("All done.")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.of("action.resolved")[0]["rule"], "shell(head:*)")
        # Another session of the folder, another command with that prefix.
        terminal = self.at_terminal(*calls(shell("head -2 a.txt")), session="s2")
        self.assertEqual(terminal.read_until("All done.").end(), 0)
        self.assertEqual(self.decisions("s2"), ["allow"])
        rules = self.listed()["rules"]
        self.assertEqual([(r["rule"], r["origin"]) for r in rules], [("shell(head:*)", "always")])
        self.assertIn("grantedAt", rules[0])
        self.assertIn("granted for this folder, just now", self.home.run("rules").stdout)
        done = self.home.run("rules", "remove", "shell(head:*)")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.listed()["rules"], [])
        # Neither the session that granted it nor another has it any more, also after a restart.
        self.daemon.kill()
        self.daemon = self.start()
        for session in ("s", "s2"):
            terminal = self.at_terminal(*calls(shell("head -3 a.txt")), session=session)
            terminal.read_until("\n  > ").type("n\n").read_until("All done.")
            terminal.end()
        done = self.home.run("rules", "remove", "shell(head:*)")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("agentrt rules lists", done.stderr)

    def test_what_is_removed_may_be_granted_again(self):
        for _ in range(2):
            session = f"s{time.monotonic_ns()}"
            terminal = self.at_terminal(*calls(shell("head -1 a.txt")), session=session)
            terminal.read_until("\n  > ").type("a\n").read_until("All done.")
            terminal.end()
            rule = 'shell("head -1 a.txt")'
            self.assertEqual([r["rule"] for r in self.listed()["rules"]], [rule])
            self.assertEqual(self.home.run("rules", "remove", rule).returncode, 0)

    def test_a_rule_of_a_session_is_listed_and_removed_there(self):
        terminal = self.at_terminal(*calls(shell("head -1 a.txt"))).read_until("\n  > ")
        terminal.type("sp\n").read_until("All done.")
        terminal.end()
        self.assertEqual(self.listed()["rules"], [])
        self.assertEqual([r["origin"] for r in self.listed("--session", "s")["rules"]],
                         ["session"])
        done = self.home.run("rules", "remove", "--session", "s", "shell(head:*)")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.listed("--session", "s")["rules"], [])

    def test_a_rule_or_scope_that_was_not_offered_is_refused(self):
        terminal = self.at_terminal(*calls(shell("rm a.txt"))).read_until("\n  > ")
        action = self.daemon.ok("list_actions")["data"][0]
        self.assertEqual(action["rules"], ['shell("rm a.txt")'])
        for answer in ({"scope": "always", "rule": "shell(rm:*)"}, {"rule": 'shell("rm a.txt")'}):
            self.assertRefused(self.daemon.call("respond_action", actionId=action["actionId"],
                                                decision="allow", **answer), 400, "invalid_params")
        self.assertNotIn("sp ", plain(terminal))
        terminal.type("sp\n").read_until("type y, s, a or n")
        terminal.type("n\n").end()

    def test_an_mcp_tool_is_offered_as_a_whole(self):
        self.daemon.stop()
        path = self.home.folder / "config/agentrt/config.toml"
        path.write_text(path.read_text() + f'[mcp_servers.box]\ncommand = ["/usr/bin/python3", '
                        f'"{SERVER}"]\nenv = {{ NOTES = "{self.home.folder}/notes" }}\n')
        self.daemon = self.start()
        use = [{"name": "mcp__box__echo", "args": {"text": text}} for text in ("one", "two")]
        terminal = self.at_terminal(*calls(*use)).read_until("\n  > ")
        self.assertIn("stores the rule mcp__box__echo", re.sub(r"\s+", " ", plain(terminal)))
        terminal.type("st\n").read_until("All done.")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(len(self.of("action.required")), 1)

    def test_an_answer_that_would_have_no_effect_is_not_offered(self):
        self.daemon.stop()
        path = self.home.folder / "config/agentrt/config.toml"
        path.write_text(path.read_text().replace(
            'mode = "default"\n', 'mode = "default"\nask = ["shell(head:*)"]\n'))
        self.daemon = self.start()
        terminal = self.at_terminal(*calls(shell("head -1 a.txt"))).read_until("\n  > ")
        self.assertNotIn("in this session", plain(terminal))
        terminal.type("y\n").read_until("All done.")
        self.assertEqual(terminal.end(), 0)


class FirstRun(PromptCase):
    config = ""

    def test_it_asks_once_per_folder_and_keeps_the_answer(self):
        run = calls(shell("echo x > made.txt"))
        terminal = self.at_terminal(*run).read_until("\n  > ")
        seen = plain(terminal)
        self.assertIn("How should commands run in this folder?", seen)
        self.assertIn("no network, writes only in this folder", re.sub(r"\s+", " ", seen))
        terminal.type("y\n").read_until("type 1 or 2")
        terminal.type("1\n").read_until("All done.")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.made(), "x\n")
        self.assertEqual(self.of("permission.evaluated")[0]["decision"], "sandboxed")
        self.assertEqual(list(self.home.workspace.glob(".*")), [])
        self.daemon.kill()
        self.daemon = self.start()
        terminal = self.at_terminal(*run, session="s2").read_until("All done.")
        self.assertEqual(terminal.end(), 0)
        self.assertNotIn("How should", plain(terminal))
        self.assertIn("on_request (chosen for this folder)", self.home.run("rules").stdout)

    def test_it_is_changed_and_the_other_answer_asks_each_time(self):
        run = calls(shell("echo x > made.txt"))
        terminal = self.at_terminal(*run).read_until("\n  > ").type("2\n")
        terminal.read_until("Run this command?").read_until("\n  > ").type("n\n").end()
        self.assertIsNone(self.made())
        done = self.home.run("rules", "--mode", "on_request")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("on_request (chosen for this folder)", done.stdout)
        terminal = self.at_terminal(*run, session="s2").read_until("All done.")
        self.assertEqual(terminal.end(), 0)
        terminal = self.at_terminal(*run, session="s3", arguments=("--mode", "default"))
        terminal.read_until("Run this command?").read_until("\n  > ").type("n\n").end()
        self.assertIn("on_request", self.home.run("rules").stdout)

    def test_scripts_and_configured_modes_are_not_asked(self):
        script = self.home.script("plain", [{"text": "Hello."}])
        for options in ((), ("--json",), ("--yes",)):
            done = self.home.run("run", *options, "--model", f"script:{script}", "go")
            self.assertEqual(done.returncode, 0, done)
        terminal = self.at_terminal({"text": "Hello."}, arguments=("--yes",))
        self.assertEqual(terminal.read_until("Hello.").end(), 0)
        self.daemon.stop()
        path = self.home.folder / "config/agentrt/config.toml"
        path.write_text(path.read_text() + '[permissions]\nmode = "default"\n')
        self.daemon = self.start()
        terminal = self.at_terminal({"text": "Hello."}, session="s2")
        self.assertEqual(terminal.read_until("Hello.").end(), 0)
        done = self.home.run("rules", "--mode", "auto")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("A configuration file (user) sets the mode default", done.stderr)


class Trusting(PromptCase):
    def setUp(self):
        super().setUp()
        self.write(["/usr/bin/python3", "server.py"])

    def write(self, command):
        (self.home.workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {
            "theirs": {"command": command[0], "args": command[1:]}}}))

    def state(self):
        files = self.daemon.ok("get_trust", cwd=str(self.home.workspace))["files"]
        return [file["trusted"] for file in files]

    def test_it_shows_asks_and_marks_what_changed(self):
        terminal = Terminal(self, verb="trust").read_until("\n  > ")
        self.assertIn("starts the MCP server theirs: /usr/bin/python3 server.py", plain(terminal))
        terminal.type("n\n").read_until("Nothing was trusted.")
        self.assertEqual(terminal.end(), 1)
        self.assertEqual(self.state(), [False])
        terminal = Terminal(self, verb="trust").read_until("\n  > ").type("y\n")
        self.assertEqual(terminal.end(), 0, terminal.text())
        self.assertEqual(self.state(), [True])
        self.write(["/usr/bin/python3", "other.py"])
        terminal = Terminal(self, verb="trust").read_until("\n  > ")
        seen = plain(terminal)
        self.assertIn("changed since it was trusted", seen)
        self.assertIn("+ starts the MCP server theirs: /usr/bin/python3 other.py", seen)
        self.assertIn("- starts the MCP server theirs: /usr/bin/python3 server.py", seen)
        terminal.type("n\n").end()

    def test_scripts_say_yes(self):
        done = self.home.run("trust")
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("--yes", done.stderr)
        self.assertIn("server.py", done.stderr)
        self.assertEqual(self.state(), [False])
        self.assertEqual(self.home.run("trust", "--yes").returncode, 0)
        self.assertEqual(self.state(), [True])

    def test_the_question_of_a_run_shows_the_same(self):
        self.assertEqual(self.home.run("trust", "--yes").returncode, 0)
        self.write(["/usr/bin/python3", "other.py"])
        terminal = self.at_terminal({"text": "Hello."}).read_until("\n  > ")
        seen = plain(terminal)
        self.assertIn("+ starts the MCP server theirs: /usr/bin/python3 other.py", seen)
        self.assertIn("- starts the MCP server theirs: /usr/bin/python3 server.py", seen)
        terminal.type("n\n").read_until("Hello.")
        self.assertEqual(terminal.end(), 0)


class Automatic(PromptCase):
    def test_work_in_the_workspace_needs_no_question(self):
        (self.home.workspace / "f.txt").write_text("a\n")
        (self.home.workspace / "test_x.py").write_text(
            "import unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n        pass\n")
        commands = ("sed -i s/a/b/ f.txt", "python3 -m unittest -q")
        for text in ("python3 -m pytest", "git checkout -b topic", "sed -i s/a/b/ f.txt"):
            done = self.home.run("explain", "--mode", "auto", "--json", "--", text)
            self.assertEqual(json.loads(done.stdout)["decision"], "allow", text)
        terminal = self.at_terminal(*calls(*(shell(text) for text in commands)),
                                    arguments=("--mode", "auto")).read_until("All done.")
        self.assertEqual(terminal.end(), 0)
        self.assertEqual(self.of("action.required"), [])
        self.assertEqual((self.home.workspace / "f.txt").read_text(), "b\n")


if __name__ == "__main__":
    unittest.main()
