"""A conversation at a terminal: `agentrt` and `agentrt chat`. What it looks like is in
chat_screen_test.py."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
import unittest

from harness import BINARY, Case, wait_until
from screen import Screen

# Longer than a question ignores keys after it was drawn.
QUIET = 0.7
STATUS = "mode default"


def shell(command, **more):
    return {"name": "shell", "args": {"command": command, **more}}


class ChatTerminal:
    """A conversation at its own pseudo-terminal, with what a person sees of it."""

    def __init__(self, case, *arguments, columns=80, rows=24, words=("chat",), **environment):
        self.case, self.raw = case, b""
        self.screen = Screen(columns, rows)
        self.master, slave = pty.openpty()
        self.set_size(columns, rows)
        self.process = subprocess.Popen(
            [BINARY, *words, *arguments], stdin=slave, stdout=slave, stderr=slave,
            cwd=case.home.workspace, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**case.home.environment, "TERM": "xterm-256color", "SHELL": "/bin/sh",
                 **environment})
        os.close(slave)
        case.addCleanup(self.close)
        case.addCleanup(self.process.kill)

    def close(self):
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def set_size(self, columns, rows):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        self.screen.resize(columns, rows)
        self.set_size(columns, rows)

    def read(self, seconds=0.05):
        """Reads what comes within this time. False: the terminal is closed."""
        deadline = time.monotonic() + seconds
        while True:
            left = deadline - time.monotonic()
            if not select.select([self.master], [], [], max(0, left))[0]:
                return True
            try:
                data = os.read(self.master, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.raw += data
            self.screen.feed(data)

    def until(self, condition, what, seconds=30):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline or not self.read(0.05):
                if condition():
                    break
                self.case.fail(f"{what} does not come:\n{self.screen.all_text()}")
        return self

    def sees(self, text, seconds=30):
        return self.until(lambda: text in self.screen.text(), repr(text), seconds)

    def shows(self, text):
        """Also if it has left the screen at the top."""
        return self.until(lambda: text in self.screen.all_text(), repr(text))

    def gone(self, text):
        return self.until(lambda: text not in self.screen.text(), f"a screen without {text!r}")

    def type(self, text):
        os.write(self.master, text if isinstance(text, bytes) else text.encode())
        return self

    def answer(self, text):
        """Answers a question that is on the screen."""
        self.sees("answer >")
        self.read(QUIET)
        return self.type(text + "\r")

    def end(self, seconds=20):
        deadline = time.monotonic() + seconds
        while self.read(0.1) and time.monotonic() < deadline:
            if self.process.poll() is not None:
                self.read(0.1)
                break
        return self.process.wait(10)

    def input(self):
        """The text behind the prompt."""
        rows = [row for row in self.screen.rows_text() if row.startswith("›")]
        return rows[-1][2:] if rows else None


class ChatCase(Case):
    config = '[permissions]\nmode = "default"\n'
    scripts = {"main": [{"text": "Hello there."}]}

    def chat(self, *arguments, lines=None, **more):
        if lines is not None:
            arguments = ("--model", f"script:{self.home.script('given', lines)}", *arguments)
        return ChatTerminal(self, *arguments, **more).sees("›")

    def sessions(self):
        return self.daemon.ok("list_sessions")["data"]

    def session(self):
        return wait_until(self.sessions, what="the session")[0]["sessionId"]

    def events(self, kind, session=None):
        return [e["payload"] for e in self.daemon.events(session or self.session())
                if e["type"] == kind]

    def inputs(self, session=None):
        return [e["input"][0]["text"] for e in self.events("turn.submitted", session)]


class Talking(ChatCase):
    def test_a_message_is_answered_and_the_session_goes_on(self):
        chat = self.chat()
        self.assertEqual(self.sessions(), [], "nothing is stored before the first message")
        chat.type("hello\r").sees("Hello there.").sees(STATUS)
        chat.type("and again\r")
        chat.until(lambda: chat.screen.all_text().count("Hello there.") == 2, "the second answer")
        self.assertEqual(self.inputs(), ["hello", "and again"])
        self.assertEqual(len(self.sessions()), 1)
        chat.type("\x04")
        self.assertEqual(chat.end(), 0)
        self.assertIn(f"continue with: agentrt chat {self.session()}", chat.screen.all_text())
        self.check_session(self.session())

    def test_agentrt_alone_is_a_conversation_at_a_terminal_only(self):
        chat = ChatTerminal(self, words=())
        chat.sees("›").type("hello\r").sees("Hello there.").type("/quit\r")
        self.assertEqual(chat.end(), 0)
        done = self.home.run()
        self.assertEqual(done.returncode, 2)
        self.assertIn("agentrt --help", done.stderr)

    def test_a_session_is_continued_with_what_was_said(self):
        chat = self.chat()
        chat.type("hello\r").sees("Hello there.").type("\x04")
        chat.end()
        session = self.session()
        again = ChatTerminal(self, session[:-2]).sees("› hello").sees("Hello there.")
        again.type("more\r").until(lambda: again.screen.text().count("Hello there.") == 2, "it")
        self.assertEqual(self.inputs(session), ["hello", "more"])
        again.type("\x04").end()
        last = ChatTerminal(self, "--continue").sees("› more").type("\x04")
        self.assertEqual(last.end(), 0)
        missing = self.home.run("chat", "no_such_session")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("no_such_session", missing.stderr)

    def test_messages_are_queued_while_a_turn_runs_edited_moved_and_removed(self):
        chat = self.chat(lines=[{"text": "Slow answer.", "delayMs": 6_000}])
        chat.type("first\r").sees("waiting for")
        chat.type("second\r").sees("queued 1 · second")
        chat.type("third\r").sees("queued 2 · third").sees("2 queued")
        chat.type("/promote 2\r").sees("queued 1 · third")
        chat.type("/remove 2\r").gone("queued 2 · second")
        chat.type("\x1b[1;3A").gone("queued 1 · third")
        chat.until(lambda: chat.input() == "third", "the message to edit")
        chat.type(" edited\r").sees("queued 1 · third edited")
        chat.type("/queue\r").sees("/promote N moves it to the front")
        chat.type("/remove 1\r").gone("queued 1").type("/remove 1\r").sees("nothing is queued")
        chat.type("\x1b").shows("interrupted")
        self.assertEqual([e["status"] for e in self.events("turn.failed")], ["cancelled"] * 4)
        chat.type("\x04").end()

    def test_escape_interrupts_and_a_second_ctrl_c_leaves(self):
        chat = self.chat(lines=[{"text": "Slow answer.", "delayMs": 20_000}])
        chat.type("go\r").sees("waiting for").type("\x1b").shows("· interrupted by the user")
        chat.type("go\r").until(lambda: len(self.events("turn.started")) == 2, "another turn")
        chat.sees("Esc interrupts").type("\x03").until(
            lambda: len(self.events("turn.failed")) == 2, "the interrupt")
        chat.type("text").until(lambda: chat.input() == "text", "the text").type("\x03")
        chat.until(lambda: chat.input() == "", "an empty input")
        chat.type("\x03").sees("press Ctrl-C again to leave").type("\x03")
        self.assertEqual(chat.end(), 130)

    def test_ctrl_d_leaves_the_turn_running(self):
        chat = self.chat(lines=[{"text": "Slow answer.", "delayMs": 2_000}])
        chat.type("go\r").sees("waiting for").type("\x04")
        self.assertEqual(chat.end(), 0)
        self.assertIn("the turn keeps running", chat.screen.all_text())
        wait_until(lambda: self.events("turn.completed"), what="the end of the turn")

    def test_the_turn_of_another_client_takes_two_ctrl_c(self):
        model = f"script:{self.home.script('slow', [{'text': 'Slow.', 'delayMs': 20_000}])}"
        made = self.daemon.submit("of another", options={"model": model})
        session = made["sessionId"]
        chat = ChatTerminal(self, session).sees("› of another").sees("waiting for")
        chat.type("\x03").sees("another client submitted this turn")
        chat.read(0.3)
        self.assertEqual(self.events("turn.failed", session), [])
        chat.type("\x03").shows("interrupted")
        self.assertEqual(self.events("turn.failed", session)[0]["status"], "cancelled")
        chat.type("\x04").end()

    def test_a_terminal_that_goes_leaves_the_turn(self):
        chat = self.chat(lines=[{"text": "Slow answer.", "delayMs": 2_000}])
        chat.type("go\r").sees("waiting for")
        chat.close()
        self.assertEqual(chat.process.wait(10), 130)
        wait_until(lambda: self.events("turn.completed"), what="the end of the turn")

    def test_an_owner_that_is_killed_is_replaced_and_the_turn_continues(self):
        self.daemon.stop()
        chat = self.chat()
        chat.type("hello\r").sees("Hello there.")
        self.home.kill_owner()
        chat.type("again\r")
        chat.until(lambda: chat.screen.all_text().count("Hello there.") == 2, "the second answer")
        chat.type("\x04").end()


class Asking(ChatCase):
    lines = [{"text": "Let me. ", "toolCalls": [shell("echo x > made.txt")]}, {"text": "All done."}]

    def made(self):
        return (self.home.workspace / "made.txt").exists()

    def test_a_question_is_answered_in_the_conversation(self):
        chat = self.chat(lines=self.lines)
        chat.type("go\r").sees("Run this command?").sees("waits for your answer")
        self.assertFalse(self.made())
        chat.answer("maybe").sees("not accepted")
        chat.answer("y").shows("All done.")
        self.assertTrue(self.made())
        self.assertEqual(self.events("action.resolved")[0]["decision"], "allow")
        chat.type("\x04").end()

    def test_keys_typed_before_the_question_do_not_answer_and_the_draft_is_kept(self):
        lines = [{"text": "Let me think. ", "delayMs": 3_000,
                  "toolCalls": [shell("rm -f made.txt")]}, {"text": "All done."}]
        chat = self.chat(lines=lines)
        chat.type("go\r").sees("waiting for")
        chat.type("a draft").until(lambda: chat.input() == "a draft", "the draft")
        chat.sees("answer >")
        for _ in range(4):
            chat.type("y\r").read(0.08)
        chat.read(QUIET)
        self.assertEqual(self.events("action.resolved"), [])
        chat.type("y").read(0.5)
        self.assertEqual(self.events("action.resolved"), [], "Enter is required")
        chat.type("\x7fn use git\r").shows("All done.")
        self.assertEqual(self.events("action.resolved")[0]["decision"], "deny")
        self.assertIn("use git", self.events("tool.failed")[0]["error"]["message"])
        chat.until(lambda: chat.input() == "a draft", "the draft again")
        chat.type("\x03").type("\x04").end()

    def test_a_question_that_is_answered_elsewhere_is_withdrawn(self):
        chat = self.chat(lines=self.lines)
        chat.type("go\r").sees("answer >")
        action = self.daemon.ok("list_actions")["data"][0]
        self.assertEqual(self.home.run("deny", action["actionId"]).returncode, 0)
        chat.gone("answer >").shows("All done.")
        self.assertFalse(self.made())
        chat.type("\x04").end()

    def test_leaving_keeps_the_question_and_coming_back_asks_it_again(self):
        chat = self.chat(lines=self.lines)
        chat.type("go\r").sees("answer >").type("\x04")
        self.assertEqual(chat.end(), 0)
        self.assertIn("a question is open", chat.screen.all_text())
        again = ChatTerminal(self, self.session()).sees("answer >")
        again.answer("y").shows("All done.")
        self.assertTrue(self.made())
        again.type("\x04").end()


class Editing(ChatCase):
    def test_lines_history_and_search(self):
        chat = self.chat()
        chat.type("one\\\r").type("two\x1b\rthree")
        chat.sees("  two").sees("  three").type("\r").sees("Hello there.")
        self.assertEqual(self.inputs(), ["one\ntwo\nthree"])
        chat.type("second\r").until(lambda: len(self.inputs()) == 2, "the second message")
        chat.type("\x1b[A").until(lambda: chat.input() == "second", "the history")
        chat.type("\x1b[A").sees("› one").type("\x1b[B\x1b[B\x1b[B")
        chat.type("\x15\x12tw").sees("search: tw").type("\r").sees("  two")
        history = self.home.data / "chat_history"
        self.assertEqual(history.stat().st_mode & 0o777, 0o600)
        chat.type("\x03\x04").end()

    def test_a_paste_is_one_message_and_a_long_one_is_a_mark(self):
        chat = self.chat()
        chat.type("\x1b[200~first\r\nsecond\x1b[201~").sees("  second")
        self.assertEqual(self.sessions(), [], "a pasted line break does not send")
        long = "".join(f"line {i}\n" for i in range(400))
        chat.type(" \x1b[200~" + long + "\x1b[201~").sees("[pasted #1: 400 lines")
        chat.type("\r").sees("Hello there.")
        self.assertEqual(self.inputs(), ["first\nsecond " + long])
        chat.type("\x04").end()

    def test_ten_megabytes_and_invalid_bytes_do_no_harm(self):
        chat = self.chat()
        data = b"\x1b[200~" + b"x" * (10 << 20) + b"\x1b[201~"
        while data:
            sent = os.write(chat.master, data[:4096])
            data = data[sent:]
            chat.read(0)
        chat.sees("the pasted text is not used: 10.0 MiB")
        chat.type(b"a\xff\xfe\xc3(b\x1b[999;999zc").until(lambda: "b" in chat.input(), "the text")
        self.assertEqual(chat.input(), "a\ufffd\ufffd\ufffd(bc")
        chat.type("\r").sees("Hello there.").type("\x04").end()

    def test_files_and_commands_are_completed(self):
        (self.home.workspace / "src").mkdir()
        (self.home.workspace / "src" / "wanted.txt").write_text("the content\n")
        (self.home.workspace / ".gitignore").write_text("ignored_wanted.txt\n")
        (self.home.workspace / "ignored_wanted.txt").write_text("no\n")
        chat = self.chat()
        chat.type("look at @want").sees("▸ src/wanted.txt")
        self.assertNotIn("ignored_wanted", chat.screen.text())
        chat.type("\t").until(lambda: chat.input() == "look at @src/wanted.txt", "the path")
        chat.type("please\r").sees("Hello there.")
        sent = self.events("turn.submitted")[0]["input"]
        self.assertEqual(sent[0]["text"], "look at @src/wanted.txt please")
        self.assertTrue(sent[1]["path"].endswith("/src/wanted.txt"))
        chat.type("@nowhere").sees("no file matches").type("\x15").gone("no file matches")
        chat.type("/us").sees("▸ /usage").type("\t\r").sees("MODEL")
        chat.type("\x04").end()


    def test_what_was_not_searched_is_said_and_a_whole_path_can_be_typed(self):
        deep = self.home.workspace.joinpath(*["d"] * 45)
        deep.mkdir(parents=True)
        (deep / "hidden.txt").write_text("x\n")
        (self.home.workspace / "hidden_not.txt").write_text("x\n")
        chat = self.chat(columns=120)
        chat.type("@hidd").sees("▸ hidden_not.txt")
        chat.sees("folders below level 40 were not searched; a whole path can be typed")
        chat.type("\x15").gone("were not searched")
        name = "d/" * 45 + "hidden.txt"
        chat.type(f"look at @{name} please\r").sees("Hello there.")
        self.assertEqual(self.events("turn.submitted")[0]["input"][1]["path"],
                         str(deep / "hidden.txt"))
        chat.type("\x04").end()


if __name__ == "__main__":
    unittest.main()
