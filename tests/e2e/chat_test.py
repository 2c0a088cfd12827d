"""A conversation at a terminal: `agentrt` and `agentrt chat`."""

import fcntl
import json
import os
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
        chat.type("go\r").sees("waiting for").type("\x1b").shows("interrupted: interrupted")
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
        chat.type(" \x1b[200~" + long + "\x1b[201~").sees("[pasted #1: 401 lines")
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
        chat.type("/us").sees("▸ /usage").type("\t\r").sees("MODEL")
        chat.type("\x04").end()


class Commands(ChatCase):
    def test_every_command_does_its_work(self):
        lines = [{"text": "Let me. ", "toolCalls": [
                      {"name": "write_file", "args": {"path": "a.txt", "content": "new line\n"}},
                      shell("seq 1 30")]},
                 {"text": "All done.", "usage": {"inputTokens": 1200, "outputTokens": 34}}]
        chat = self.chat("--mode", "bypass", lines=lines, rows=50)
        chat.type("go\r").sees("All done.").sees("+new line").sees("· #2").sees("mode bypass")
        self.assertNotIn("  17", chat.screen.text(), "a finished command is one line")
        chat.type("/output 2\r").sees("#2 $ seq 1 30").sees("  17")
        chat.type("/output 9\r").sees("there is no call #9")
        chat.type("/files\r").sees("a.txt +1 -0")
        chat.type("/diff\r").until(
            lambda: chat.screen.all_text().count("+new line") == 2, "the diff")
        chat.type("/usage\r").shows("cost unknown")
        chat.type("/rules\r").shows("No rules.")
        chat.type("/approvals\r").shows("No ")
        chat.type("/sessions\r").shows("UPDATED")
        chat.type("/rename My title\r").sees("the session is called My title")
        self.assertEqual(self.sessions()[0]["title"], "My title")
        chat.type("/mode plan\r").sees("mode plan from the next message on").sees("mode plan ·")
        chat.type("/mode nonsense\r").shows("is not valid")
        chat.type("/sandbox read_only\r").sees("sandbox read_only")
        chat.type("/model main\r").sees("the next message goes to main")
        chat.type("/model\r").shows("PROVIDER")
        chat.type("/mcp\r").shows("No MCP server")
        chat.type("/interrupt\r").sees("nothing is running")
        chat.type("/continue\r").sees("no turn is blocked")
        chat.type("/help\r").shows("/promote N")
        chat.type("/nonsense\r").shows("There is no command /nonsense")
        chat.type("/new\r").sees("a new session begins with your next message")
        chat.type("in the new one\r").shows("Hello there.")
        wait_until(lambda: len(self.sessions()) == 2, what="a second session")
        chat.type("/resume title\r").shows("FOLDER").type("1\r").shows("session sess")
        chat.shows("· My title").type("/quit\r")
        self.assertEqual(chat.end(), 0)

    def test_own_commands_run_outside_and_their_output_can_be_sent(self):
        chat = self.chat()
        chat.type("!echo from me; exit 3\r").sees("from me").sees("exit code 3")
        chat.sees("[output #1: 3 lines").type("what is this\r").sees("Hello there.")
        self.assertEqual(self.inputs(), ["$ echo from me; exit 3\nfrom me\n what is this"])
        self.assertEqual(self.events("tool.started"), [])
        chat.type("\x04").end()

    def test_a_blocked_turn_is_continued(self):
        self.daemon.stop()
        chat = self.chat(lines=[{"text": "Slow answer.", "delayMs": 3_000}])
        chat.type("go\r").sees("waiting for")
        self.home.kill_owner()
        chat.sees("blocked").type("/continue\r").shows("Slow answer.")
        chat.type("\x04").end()


class Screens(ChatCase):
    answer = ("A **bold** answer that is long enough to be wrapped on a narrow terminal, with "
              "words.\n\n| name | value |\n| - | - |\n| a | 1 |\n\n- one\n- two\n")

    def test_twenty_columns_and_two_rows(self):
        chat = self.chat(lines=[{"text": self.answer, "deltas": 20}], columns=20, rows=12)
        chat.type("a question that is longer than twenty columns\r").shows("• two")
        for line in chat.screen.all_text().splitlines():
            self.assertLessEqual(len(line), 20)
        chat.resize(20, 2)
        chat.read(0.3)
        chat.type("ok").until(lambda: chat.input() == "ok", "the input")
        chat.type("\x03\x04").end()

    def test_a_resize_leaves_nothing_behind(self):
        chat = self.chat(lines=[{"text": self.answer * 3, "deltas": 200, "delayMs": 10}])
        chat.type("go\r").sees("bold")
        sizes = [(140, 40), (30, 10), (80, 24), (20, 8), (100, 30), (50, 12)]
        for number in range(60):
            chat.resize(*sizes[number % len(sizes)])
            chat.read(0.01)
        chat.resize(80, 24)
        chat.until(lambda: self.events("turn.completed"), "the end")
        chat.type("after").until(lambda: chat.input() == "after", "the input")
        rows = chat.screen.rows_text()
        self.assertEqual(sum(row.startswith("› after") for row in rows), 1, chat.screen.text())
        self.assertEqual(sum(STATUS in row for row in rows), 1, chat.screen.text())
        self.assertNotIn("Esc interrupts", chat.screen.text())
        chat.type("\x03\x04").end()
        self.assertNotIn(STATUS, chat.screen.text(), "the frame is removed at the end")

    def test_without_colour_there_is_none(self):
        chat = self.chat(NO_COLOR="1")
        chat.type("hello\r").sees("Hello there.").type("\x04").end()
        self.assertNotRegex(chat.raw.decode(), r"\x1b\[[0-9;]*m")

    def test_plain_prints_lines_and_redraws_nothing(self):
        lines = [{"text": "Let me. ", "toolCalls": [shell("echo x > made.txt")]},
                 {"text": "All done."}]
        chat = ChatTerminal(self, "--plain", "--model",
                            f"script:{self.home.script('given', lines)}")
        chat.sees(">").type("go\n").sees("Run this command?").sees("\n  >")
        chat.read(2 * QUIET)
        chat.type("y\n").sees("All done.")
        chat.until(lambda: chat.screen.text().endswith("\n>"), "the prompt")
        chat.type("/usage\n").sees("cost unknown").type("\x04")
        self.assertEqual(chat.end(), 0)
        self.assertNotRegex(chat.raw.decode(), r"\x1b\[[0-9]*[A-HJK]")

    def test_a_pipe_gets_plain_text(self):
        done = self.home.run("chat", stdin="one\ntwo\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("Hello there."), 2)
        self.assertNotIn("\x1b", done.stdout)
        self.assertEqual(self.inputs(), ["one", "two"])

    def test_the_terminal_is_as_it_was_and_ctrl_z_stops_only_this_process(self):
        chat = self.chat(lines=[{"text": "Slow answer.", "delayMs": 1_500}])
        wait_until(lambda: not termios.tcgetattr(chat.master)[3] & termios.ECHO, what="raw mode")
        chat.type("go\r").sees("waiting for").type("\x1a")
        wait_until(lambda: self.state(chat) == "T", what="a stopped process")
        self.assertTrue(termios.tcgetattr(chat.master)[3] & termios.ECHO)
        wait_until(lambda: self.events("turn.completed"), what="the turn, meanwhile")
        chat.process.send_signal(signal.SIGCONT)
        chat.sees("Slow answer.").type("\x04")
        self.assertEqual(chat.end(), 0)
        self.assertTrue(termios.tcgetattr(chat.master)[3] & termios.ECHO)
        self.assertNotIn("2004", chat.screen.modes)

    @staticmethod
    def state(chat):
        with open(f"/proc/{chat.process.pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0]


class TwentyTurns(ChatCase):
    """A long conversation, as a person has it; AGENTRT_SHOW prints every screen."""

    prose = ("Here is a paragraph of ordinary prose with **emphasis**, `code` and a "
             "[link](http://example.org/page), long enough to be wrapped more than once. ")
    table = ("| file | lines | state |\n| :- | -: | - |\n| a.txt | 12 | new |\n"
             "| b.txt | 340 | old |\n")
    turns = [
        [{"text": prose, "deltas": 20}],
        [{"text": "# Title\n\n" + prose + "\n\n- one\n- two\n  - three\n\n1. first\n2. second\n"}],
        [{"text": table}],
        [{"text": "```sh\nmake test && echo a_line_that_is_longer_than_eighty_columns_"
                  "and_stays_whole_for_copying --with --options\n```\n"}],
        [{"toolCalls": [shell("seq 1 100")]}, {"text": "A hundred numbers."}],
        [{"toolCalls": [shell("echo out; echo wrong >&2; exit 3")]}, {"text": "It failed."}],
        [{"toolCalls": [{"name": "write_file",
                         "args": {"path": "a.txt", "content": "one\ntwo\n"}}]},
         {"text": "Written."}],
        [{"toolCalls": [{"name": "edit_file", "args": {"path": "a.txt", "oldText": "two",
                                                       "newText": "TWO"}}]}, {"text": "Edited."}],
        [{"toolCalls": [{"name": "read_file", "args": {"path": "a.txt"}},
                        {"name": "list_files", "args": {}}]}, {"text": "I looked."}],
        [{"toolCalls": [{"name": "update_plan", "args": {"plan": [
            {"step": "think", "status": "completed"}, {"step": "act", "status": "in_progress"}]}}]},
         {"text": "Planned."}],
        [{"reasoning": "Let me think about it. " * 20, "text": "Thought about it."}],
        [{"text": "中文文本也要正确地换行因为它没有空格而且每个字占两列宽度。" * 3}],
        [{"text": "> a quote " * 12 + "\n\n---\n\nafter the rule"}],
        [{"toolCalls": [shell("sleep 0.3; echo slept")]}, {"text": "Rested."}],
        [{"text": "word " * 300, "deltas": 300}],
        [{"toolCalls": [shell(f"echo {n}") for n in range(8)]}, {"text": "Eight commands."}],
        [{"fail": {"status": 401, "message": "no such key"}}],
        [{"text": "Back again after the failure."}],
        [{"text": "Control \x1b[31m characters \u202e stay text."}],
        [{"text": "The **end**."}],
    ]

    def talk(self, columns):
        chat = ChatTerminal(self, "--mode", "bypass", columns=columns, rows=30).sees("›")
        show = os.environ.get("AGENTRT_SHOW")
        for number, lines in enumerate(self.turns, 1):
            script = self.home.script(f"turn_{columns}_{number}", lines)
            chat.type(f"/model script:{script}\r").sees("the next message goes to")
            chat.type(f"message number {number}\r").shows(f"› message number {number}\n")
            session = wait_until(self.sessions, what="the session")[0]["sessionId"]
            ended = ("turn.completed", "turn.failed")
            chat.until(lambda n=number: sum(e["type"] in ended for e in
                                            self.daemon.events(session)) == n, "the end")
            chat.read(0.3)
            rows = chat.screen.rows_text()
            self.assertEqual(sum(" · bypass · " in row or "mode bypass" in row for row in rows), 1,
                             chat.screen.text())
            self.assertNotIn("Esc interrupts", chat.screen.text())
            if show:
                print(f"=== {columns} columns, turn {number}\n{chat.screen.text()}")
        whole = chat.screen.all_text()
        for number in range(1, len(self.turns) + 1):
            self.assertEqual(whole.count(f"› message number {number}\n"), 1)
        for said in ("b.txt │   340 │ old", "A hundred numbers.", "exit code 3", "+TWO", "Eight commands.", "no such key",
                     "Back again", "\\x1b[31m", "The end."):
            self.assertIn(said, whole)
        self.assertNotIn("\x1b[31m characters", chat.raw.decode())
        chat.type("/quit\r")
        self.assertEqual(chat.end(), 0)
        self.assertEqual(len(self.events("turn.submitted", session)), len(self.turns))

    def test_at_80_columns(self):
        self.talk(80)

    def test_at_140_columns(self):
        self.talk(140)


if __name__ == "__main__":
    unittest.main()
