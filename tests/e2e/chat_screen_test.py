"""A conversation at a terminal: its commands, sizes, colours and plain output, and what a long one
looks like."""

import os
import signal
import termios
import unittest

from chat_test import QUIET, STATUS, ChatCase, ChatTerminal, shell
from harness import wait_until


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
        chat.type("/").sees(" more; type on, or see /help").type("\x15").gone("type on")
        chat.type("/new\r").sees("a new session begins with your next message")
        chat.type("in the new one\r").shows("Hello there.")
        wait_until(lambda: len(self.sessions()) == 2, what="a second session")
        chat.type("/resume title\r").sees("My title").type("\r").shows("session sess")
        chat.shows("· My title").type("/quit\r")
        self.assertEqual(chat.end(), 0)

    def test_own_commands_run_outside_and_their_output_can_be_sent(self):
        chat = self.chat()
        chat.type("!echo from me; exit 3\r").sees("from me").sees("exit code 3")
        chat.sees("[output #1: 2 lines")
        # A command is no message: the output waits for the next one.
        chat.type("/mode\r").sees("mode default (/rules says why)").sees("[output #1: 2 lines")
        chat.type("what is this\r").sees("Hello there.")
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

    def test_lines_do_not_break_inside_words(self):
        chat = self.chat(columns=50)
        chat.type("/mode\r").sees("bypass").type("/model nope\r").sees("There is no model nope")
        shown = chat.screen.text()
        for words in ("never,", "bypass", "There is no model nope;", "[models.nope]"):
            self.assertIn(words, shown)
        chat.type("\x04").end()

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
        self.assertIn("\n· continue with: ", chat.screen.all_text())
        again = ChatTerminal(self, "--plain", "--continue").sees("All done.")
        again.until(lambda: again.screen.text().endswith("\n>"), "the prompt")
        self.assertNotIn(">\n› go", again.screen.all_text(), "no prompt before what was said")
        again.type("\x04").end()
        self.assertNotRegex(chat.raw.decode(), r"\x1b\[[0-9]*[A-HJK]")

    def test_a_question_calls_a_person_who_looks_elsewhere(self):
        config = self.home.folder / "config/agentrt/config.toml"
        config.write_text(config.read_text() + '[terminal]\nnotify = "osc9"\n')
        lines = [{"text": "Let me. ", "delayMs": 500, "toolCalls": [shell("echo x > made.txt")]},
                 {"text": "All done."}]
        chat = self.chat(lines=lines)
        chat.type("\x1b[I").type("go\r").sees("answer >")
        self.assertEqual((chat.screen.bells, chat.screen.commands), (0, []), "it is focused")
        chat.answer("n").shows("All done.").type("\x1b[O")
        chat.type("again\r").sees("answer >")
        chat.until(lambda: chat.screen.commands, "the notification")
        self.assertEqual(chat.screen.commands, ["9;agentrt: an answer is needed"])
        chat.answer("n").shows("All done.").type("\x04").end()

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
        for said in ("b.txt │   340 │ old", "A hundred numbers.", "exit code 3", "+TWO",
                     "Eight commands.", "no such key",
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
