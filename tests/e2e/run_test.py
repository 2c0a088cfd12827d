"""`agentrt run` at a terminal: the screen, the keys, and returning to a turn."""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from harness import BINARY, Case, wait_until

SERVER = pathlib.Path(__file__).resolve().parent / "tool_server.py"
ANSWER = """# Title

Some **bold** text, `code` and a [link](http://a.b/c).

- one item that is long enough to be wrapped under its own text at forty columns
- 中文文本也要正确地换行因为它没有空格而且每个字占两列宽度

```sh
make a_line_that_is_much_longer_than_forty_columns_and_stays_whole
```

| a | b |
| - | - |
| 🙂 | wide |
"""


# Longer than a prompt ignores keys after it was drawn.
QUIET = 0.7


def shell(*commands):
    return [{"name": "shell", "args": {"command": command}} for command in commands]


class Terminal:
    """Runs a program at its own pseudo-terminal."""

    def __init__(self, case, *arguments, columns=80, verb="run", **environment):
        self.case, self.seen = case, b""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.process = self.start(
            [BINARY, verb, *arguments], stdin=slave, stdout=slave, stderr=slave,
            cwd=case.home.workspace, start_new_session=True,
            env={**case.home.environment, "TERM": "xterm-256color", **environment})
        os.close(slave)
        case.addCleanup(os.close, self.master)
        case.addCleanup(self.process.kill)

    def start(self, words, **more):
        return subprocess.Popen(words, **more)

    def read_until(self, text, seconds=20):
        deadline = time.monotonic() + seconds
        while text.encode() not in self.seen:
            left = deadline - time.monotonic()
            self.case.assertGreater(left, 0, f"{text!r} does not come: {self.text()}")
            if select.select([self.master], [], [], left)[0]:
                try:
                    self.seen += os.read(self.master, 65536)
                except OSError:
                    self.case.fail(f"{text!r} does not come: {self.text()}")
        return self

    def type(self, text, after=QUIET):
        """Types when a prompt accepts keys; after=0: at once."""
        time.sleep(after)
        self.seen = b""
        os.write(self.master, text.encode())
        return self

    def end(self, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if not select.select([self.master], [], [], 0.2)[0]:
                continue
            try:
                self.seen += os.read(self.master, 65536)
            except OSError:
                break
        return self.process.wait(5)

    def text(self):
        return self.seen.decode(errors="replace").replace("\r\n", "\n")

    def screen(self):
        """The final screen, without text that was overwritten and without colours."""
        text = re.sub(r"\r\x1b\[K[^\n]*?(?=\r\x1b\[K)", "", self.text())
        text = text.replace("\r\x1b[K", "")
        return re.sub(r"\x1b\[[0-9;]*m", "", text)


class AtATerminal(Case):
    daemon_at_start = False
    config = ('[permissions]\nmode = "default"\n'
              'allow = ["shell(echo:*)", "shell(sleep:*)", "shell(exit:*)", '
              '"write_file", "edit_file", "update_plan"]\n')
    scripts = {
        "main": [{"text": ANSWER, "deltas": 50}],
        "edits": [{"toolCalls": [
            {"name": "update_plan", "args": {"plan": [
                {"step": "write", "status": "completed"},
                {"step": "change", "status": "in_progress"},
                {"step": "check", "status": "pending"}]}},
            {"name": "write_file", "args": {"path": "a.txt", "content": "one\ntwo\n"}},
            {"name": "edit_file", "args": {"path": "a.txt", "oldText": "two", "newText": "2"}},
            {"name": "edit_file", "args": {"path": "a.txt", "oldText": "three", "newText": "3"}}]},
            {"text": "Done."}],
        "works": [{"reasoning": "Let me see.", "text": "I look.",
                   "toolCalls": shell("echo hi", "echo one; echo two; exit 3")},
                  {"text": "Done.", "usage": {"inputTokens": 3410, "outputTokens": 512}}],
        "waits": [{"toolCalls": shell("sleep 1.5")}, {"text": "Slept."}],
        "slow": [{"delayMs": 60_000, "text": "never"}],
        "cut": [{"text": "And th", "stopReason": "max_tokens"}],
    }

    def run_at_terminal(self, *arguments, **more):
        return Terminal(self, *arguments, **more)

    def test_markdown_is_shown_and_wrapped(self):
        for columns in (24, 80, 40):
            terminal = self.run_at_terminal("hi", columns=columns)
            self.assertEqual(terminal.end(), 0, terminal.text())
            self.assertIn("\x1b[1;4mTitle\x1b[0m", terminal.text())
            self.assertIn("\x1b[1mbold\x1b[0m", terminal.text())
            screen = terminal.screen()
            self.assertNotIn("**", screen)
            self.assertIn("  make a_line_that_is_much_longer_than_forty_columns_and_stays_whole\n",
                          screen)
            self.assertIn("| 🙂 | wide |\n", screen)
            self.assertIn("link (http://a.b/c).", re.sub(r"\s+", " ", screen))
            for line in screen.splitlines():
                cells = sum(2 if ord(c) > 0x2E80 else 1 for c in line)
                if "a_line" not in line and "session" not in line:
                    self.assertLessEqual(cells, columns, line)
        self.assertIn("• one item that is long enough to be\n  wrapped under", screen)

    def test_a_line_a_tool_with_time_and_outcome(self):
        terminal = self.run_at_terminal("--model", "works", "hi")
        self.assertEqual(terminal.end(), 0, terminal.text())
        screen = terminal.screen()
        self.assertRegex(screen, r"✓ \$ echo hi · [\d.]+ m?s\n")
        self.assertRegex(screen, r"✗ \$ echo one; echo two; exit 3 · exit code 3 · [\d.]+ m?s\n"
                                 r"  one\n  two\n")
        self.assertRegex(screen, r"· [\d.]+ m?s · 3,410 in · 512 out · 2 tools · session\s+sess_")
        self.assertIn("\x1b[2mLet\x1b[0m", terminal.text())

    def test_changes_of_files_are_shown_with_their_diffs_and_plans_as_boxes(self):
        terminal = self.run_at_terminal("--model", "edits", "hi")
        self.assertEqual(terminal.end(), 0, terminal.text())
        screen = terminal.screen()
        self.assertRegex(screen, r"✓ plan · \d+ ms\n  ☑ write\n  ▸ change\n  ☐ check\n")
        self.assertRegex(screen, r"✓ write a.txt \+2 -0 · \d+ ms\n  @@ .*\n  \+one\n  \+two\n")
        self.assertRegex(screen, r"✓ edit a.txt \+1 -1 · \d+ ms\n  @@ .*\n   one\n  -two\n  \+2\n")
        self.assertRegex(screen, r"✗ edit a.txt · failed · ")
        self.assertIn("\x1b[31m-two\x1b[0m", terminal.text())
        self.assertIn("\x1b[32m+2\x1b[0m", terminal.text())

    def test_what_is_waited_for_is_drawn_and_leaves_nothing(self):
        terminal = self.run_at_terminal("--model", "waits", "hi")
        terminal.read_until("$ sleep 1.5 · 1 s")
        self.assertEqual(terminal.end(), 0)
        self.assertNotIn("Ctrl-C", terminal.screen())
        self.assertIn("Slept.", terminal.screen())

    def test_without_colour_nothing_is_coloured_and_dumb_draws_nothing(self):
        terminal = self.run_at_terminal("hi", NO_COLOR="1")
        self.assertEqual(terminal.end(), 0)
        self.assertNotIn("m", re.findall(r"\x1b\[[0-9;]*(.)", terminal.text()))
        self.assertIn("Some **bold** text", terminal.text())
        terminal = self.run_at_terminal("--model", "waits", "hi", TERM="dumb")
        self.assertEqual(terminal.end(), 0)
        self.assertNotIn("\x1b", terminal.text())

    def test_an_answer_that_was_cut_off_is_told_with_what_to_do(self):
        terminal = self.run_at_terminal("--model", "cut", "hi", columns=200)
        self.assertEqual(terminal.end(), 0, terminal.text())
        self.assertIn("And th\n\n· the answer is cut off", terminal.screen())
        self.assertIn("max_output_tokens in [models.cut]", terminal.screen())

    def test_ctrl_c_interrupts_the_turn(self):
        terminal = self.run_at_terminal("--model", "slow", "hi").read_until("waiting for slow")
        terminal.process.send_signal(signal.SIGINT)
        self.assertEqual(terminal.end(), 130)
        self.assertIn("interrupting the turn", terminal.screen())
        self.assertIn("interrupted · session", terminal.screen())


class ComingBack(Case):
    daemon_at_start = False
    config = '[permissions]\nmode = "bypass"\n'
    scripts = {
        "main": [{"text": "Hello."}],
        "works": [{"text": "First I write.", "toolCalls": shell("echo once >> made.txt")},
                  {"delayMs": 1_500, "text": "Then I am done."}],
    }

    def cut_off(self, session):
        """A turn of `session` whose runtime was killed while it waited for the model."""
        process = subprocess.Popen(
            [BINARY, "run", "--json", "--session", session, "--new", "--model", "works", "go"],
            cwd=self.home.workspace, env=self.home.environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        for line in process.stdout:
            event = json.loads(line)
            if event["type"] == "model.requested" and event["payload"]["number"] == 2:
                break
        process.kill()
        process.stdout.close()
        process.wait(10)
        self.home.kill_owner()

    def test_a_turn_that_was_cut_off_is_resumed_and_shown_from_its_beginning(self):
        self.cut_off("s")
        done = self.home.run("run", "--session", "s")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, "First I write.\nThen I am done.\n")
        self.assertIn("resumed", done.stderr)
        self.assertEqual((self.home.workspace / "made.txt").read_text(), "once\n")
        done = self.home.run("run", "--session", "s")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("no unfinished turn", done.stderr)

    def test_a_new_prompt_comes_after_the_turn_that_was_cut_off(self):
        self.cut_off("s")
        done = self.home.run("run", "--session", "s", "and now?")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, "First I write.\nThen I am done.\nHello.\n")

    def test_a_repeated_turn_id_goes_on_with_that_turn(self):
        self.cut_off("s")
        events = self.home.run("events", "s", "--json").stdout.splitlines()
        turn = next(json.loads(e)["turnId"] for e in events if "turn.submitted" in e)
        done = self.home.run("run", "--session", "s", "--model", "works", "--turn-id", turn, "go")
        self.assertIn(done.returncode, (0, 1), done)

    def test_a_turn_that_runs_is_joined(self):
        self.start()
        self.daemon.ok("submit_turn", sessionId="s", threadId="t",
                       input=[{"type": "text", "text": "go"}],
                       options={"model": "works", "cwd": str(self.home.workspace)})
        done = self.home.run("run", "--session", "s")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, "First I write.\nThen I am done.\n")

    def test_a_second_ctrl_c_leaves_and_says_how_to_come_back(self):
        self.home.script("works", [{"delayMs": 60_000, "text": "never"}])
        self.start()
        self.daemon.ok("create_session", sessionId="s")
        process = subprocess.Popen([BINARY, "run", "--session", "s", "--model", "works", "go"],
                                   cwd=self.home.workspace, env=self.home.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        wait_until(lambda: any(e["type"] == "model.requested" for e in self.daemon.events("s")))
        os.kill(self.daemon.process.pid, signal.SIGSTOP)  # so that the interrupt is not answered
        try:
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=20)
        finally:
            os.kill(self.daemon.process.pid, signal.SIGCONT)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("agentrt run --session s", errors)
        self.assertIn("agentrt events s --follow", errors)


class Asked(Case):
    """Questions at the terminal, and the answers of users."""

    daemon_at_start = False
    scripts = {
        "main": [{"toolCalls": shell("echo x >> made.txt")}, {"text": "All done."}],
        "asks": [{"toolCalls": [{"name": "ask_user",
                                 "args": {"question": "Which?", "choices": ["red", "blue"]}}]},
                 {"text": "All done."}],
        "server": [{"toolCalls": [{"name": "mcp__box__ask", "args": {}}]}, {"text": "All done."}],
        "twice": [{"toolCalls": shell("echo x >> made.txt", "echo y >> made.txt")},
                  {"text": "All done."}],
    }

    def setUp(self):
        super().setUp()
        self.config_file = self.home.folder / "config/agentrt/config.toml"
        self.config_file.write_text(
            self.config_file.read_text()
            + '[permissions]\nmode = "default"\nallow = ["mcp__box__ask"]\n'
            f'[mcp_servers.box]\ncommand = ["/usr/bin/python3", "{SERVER}"]\n'
            f'env = {{ NOTES = "{self.home.folder}/notes", SECRET = "x" }}\n')

    def made(self):
        path = self.home.workspace / "made.txt"
        return path.read_text() if path.exists() else ""

    def test_an_answer_that_the_runtime_refuses_is_asked_for_again(self):
        terminal = Terminal(self, "--model", "server", "go").read_until("> ")
        terminal.type("{}\n").read_until("not accepted: ").read_until("> ")
        self.assertIn("name", terminal.screen())
        self.assertNotIn("payload", terminal.screen())
        terminal.type("{nothing\n").read_until("not accepted: that starts like a JSON object")
        terminal.type("Ada\n").read_until("All done.")
        self.assertEqual(terminal.end(), 0, terminal.text())

    def test_an_entry_that_is_no_answer_is_told_why(self):
        terminal = Terminal(self, "--model", "asks", "go").read_until("> ")
        terminal.type("green\n").read_until("not accepted: that is not one of the choices")
        terminal.type("2\n").read_until("All done.")
        self.assertEqual(terminal.end(), 0, terminal.text())

    def test_the_end_of_the_input_says_how_to_answer_and_the_turn_is_followed(self):
        terminal = Terminal(self, "--session", "s", "--new", "--model", "twice", "go")
        terminal.read_until("> ")
        terminal.type("\x04")
        for made in ("x\n", "x\ny\n"):
            terminal.read_until("standard input has ended").read_until("Ctrl-C interrupts")
            action = json.loads(self.home.run("approvals", "--json").stdout)["data"][0]["actionId"]
            self.assertIn(f"agentrt approve {action} or agentrt deny {action}",
                          re.sub(r"\s+", " ", terminal.screen()))
            terminal.seen = b""
            self.assertEqual(self.home.run("approve", action).returncode, 0)
            wait_until(lambda expected=made: self.made() == expected, what=repr(made))
        terminal.read_until("All done.")
        self.assertEqual(terminal.end(), 0, terminal.text())

    def test_a_turn_that_waits_is_come_back_to_where_no_model_is_configured(self):
        script = self.home.script("waits", self.scripts["main"])
        terminal = Terminal(self, "--session", "s", "--new", "--model", f"script:{script}", "go")
        terminal.read_until("> ").process.kill()
        terminal.process.wait(10)
        self.home.kill_owner()
        self.config_file.write_text("")
        terminal = Terminal(self, "--session", "s").read_until("> ")
        terminal.type("y\n").read_until("All done.")
        self.assertEqual(terminal.end(), 0, terminal.text())
        self.assertEqual(self.made(), "x\n")
        for session, words in (("s", "no unfinished turn"),
                               ("none", "There is no session none")):
            done = self.home.run("run", "--session", session)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(words, done.stderr)


class Told(Case):
    """Files as input of a turn."""

    def test_agents_files_are_a_chain_and_skills_are_listed(self):
        repository = self.home.workspace
        inner = repository / "packages/one"
        inner.mkdir(parents=True)
        (repository / ".git").mkdir()
        config = self.home.folder / "config/agentrt"
        for folder in (config, repository, inner):
            (folder / "AGENTS.md").write_text("Be brief.\n")
        for folder, name in ((inner / ".agentrt", "deploy"), (inner / ".claude", "test"),
                             (config, "write")):
            (folder / "skills" / name).mkdir(parents=True)
            (folder / "skills" / name / "SKILL.md").write_text(
                f"---\nname: {name}\ndescription: How to {name}.\n---\nText.\n")
        (inner / ".claude/skills/broken").mkdir()
        (inner / ".claude/skills/broken/SKILL.md").write_text("nothing\n")
        reply = self.daemon.submit(sessionId="s", options={"cwd": str(inner)})
        self.daemon.wait_turn(reply)
        context = next(e["payload"] for e in self.daemon.events("s")
                       if e["type"] == "context.resolved")
        self.assertEqual([ref["ref"] for ref in context["instructionRefs"]],
                         ["builtin:system_prompt"] +
                         [f"file:{folder}/AGENTS.md" for folder in (config, repository, inner)] +
                         ["builtin:skills"])
        self.assertEqual([ref["ref"].rpartition("skills/")[2] for ref in context["workspaceRefs"]],
                         ["deploy/SKILL.md", "test/SKILL.md", "write/SKILL.md"])
        self.assertTrue(all(ref["digest"].startswith("sha256:")
                            for ref in context["workspaceRefs"] + context["instructionRefs"]))
        self.assertEqual([ref["reason"] for ref in context["missing"]],
                         ["it does not start with a header between two lines of ---"])


if __name__ == "__main__":
    unittest.main()
