"""Terminals and owners that fail while people work: a terminal that is narrow, is resized all the
time, disappears or is none at all, and an owner that is killed while many clients wait for it."""

import fcntl
import json
import os
import re
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest

from harness import BINARY, types, wait_until
from owner_test import Background, Window
from run_test import shell

TEXT = " ".join(f"word{n}" for n in range(60))


class Disturbed(Background):
    scripts = {**Background.scripts,
               "talks": [{"text": TEXT, "deltas": 60, "deltaMs": 30,
                          "toolCalls": shell("sleep 0.5")}, {"text": "All done."}],
               "waits": [{"delayMs": 1500, "text": "All done."}]}

    def client(self, *arguments, **more):
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                **more}
        process = subprocess.Popen([BINARY, *arguments], cwd=self.home.workspace, text=True,
                                   env=self.home.environment, **more)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for pipe in (process.stdout, process.stderr):
            if pipe:
                self.addCleanup(pipe.close)
        return process

    def assertEnds(self, session, kind="turn.completed"):
        wait_until(lambda: kind in types(self.events(session)), what=f"{kind} of {session}")


class ATerminal(Disturbed):
    def test_it_may_be_twenty_columns_wide(self):
        window = Window(self, "--session", "s", "--new", "--model", "asks", "go", columns=20)
        window.read_until("\n  > ").type("y\n").read_until("All done.")
        self.assertEqual(window.end(), 0, window.text())
        self.assertEqual(self.made(), "x\n")
        window = Window(self, "--session", "t", "--new", "--model", "talks", "go", columns=20)
        self.assertEqual(window.end(), 0, window.text())
        screen = window.screen()
        for word in TEXT.split():
            self.assertRegex(screen, rf"\b{word}\b")
        for line in screen.splitlines():
            if "sess" not in line:
                self.assertLessEqual(len(line), 20, line)

    def resize(self, window, stop):
        columns = 20
        while not stop.wait(0.01):
            columns = 20 + (columns + 37) % 120
            fcntl.ioctl(window.master, termios.TIOCSWINSZ,
                        struct.pack("HHHH", 30, columns, 0, 0))
            window.process.send_signal(signal.SIGWINCH)

    def test_it_may_be_resized_every_ten_milliseconds(self):
        window = Window(self, "--session", "s", "--new", "--model", "talks", "go")
        stop = threading.Event()
        resizing = threading.Thread(target=self.resize, args=(window, stop))
        resizing.start()
        try:
            window.read_until("All done.")
        finally:
            stop.set()
            resizing.join()
        self.assertEqual(window.end(), 0, window.text())
        screen = re.sub(r"\s+", " ", window.screen())
        self.assertIn(TEXT, screen)
        self.assertEqual(screen.count("All done."), 1)

    def test_a_question_survives_being_resized(self):
        window = Window(self, "--session", "s", "--new", "--model", "asks", "go")
        window.read_until("\n  > ")
        stop = threading.Event()
        resizing = threading.Thread(target=self.resize, args=(window, stop))
        resizing.start()
        time.sleep(0.2)
        window.type("y\n")
        stop.set()
        resizing.join()
        window.read_until("All done.")
        self.assertEqual(window.end(), 0, window.text())
        self.assertEqual(self.made(), "x\n")

    def test_it_may_disappear_at_any_moment(self):
        self.home.run("call", "list_sessions", "{}")  # an owner that is ready
        windows = {}
        for pause_ms in (0, 5, 20, 60, 150, 400, 900, 2000):
            session = f"s{pause_ms}"
            windows[session] = Window(self, "--session", session, "--new", "--model", "talks", "go")
            time.sleep(pause_ms / 1000)
            windows[session].close()
        for session, window in windows.items():
            with self.subTest(session=session):
                window.process.wait(20)
                listed = [row["sessionId"] for row in json.loads(
                    self.home.run("sessions", "--json").stdout)["data"]]
                if session in listed:  # it was submitted
                    self.assertEnds(session)

    def test_it_may_be_none_at_all(self):
        for name in ("stdin", "stdout", "stderr"):
            with self.subTest(closed=name):
                number = {"stdin": 0, "stdout": 1, "stderr": 2}[name]
                done = self.client("run", "--session", name, "--new", "hi",
                                   preexec_fn=lambda number=number: os.close(number))
                out, errors = done.communicate(timeout=30)
                self.assertEqual(done.returncode, 0, (out, errors))
                self.assertEnds(name)
                if name != "stdout":
                    self.assertIn("Hello.", out)

    def test_its_reader_may_leave(self):
        for name in ("pipe", "full"):
            with self.subTest(name):
                output = open("/dev/full", "w") if name == "full" else subprocess.PIPE
                client = self.client("run", "--session", name, "--new", "--model", "talks", "go",
                                     stdout=output)
                if name == "full":
                    output.close()
                else:
                    client.stdout.readline()
                    client.stdout.close()
                client.stderr.read()
                self.assertIn(client.wait(20), (0, 1, 4, 141, -signal.SIGPIPE))
                self.assertEnds(name)

    def test_another_one_answers_after_a_crash_in_another_environment(self):
        first = Window(self, "--session", "s", "--new", "--model", "asks", "go",
                       TERM="xterm-256color", LANG="C.one").read_until("\n  > ")
        first.kill()
        first.process.wait(10)
        self.home.kill_owner()
        second = Window(self, "--session", "s", TERM="vt100", LANG="C.two", COLORTERM="truecolor")
        second.read_until("\n  > ").type("y\n").read_until("All done.")
        self.assertEqual(second.end(), 0, second.text())
        self.assertEqual(self.made(), "x\n")


class AnOwner(Disturbed):
    """It is killed while clients of every kind wait."""

    def test_clients_reconnect_and_continue(self):
        self.home.run("call", "create_session", '{"sessionId":"followed"}')
        followers = [self.client("events", "followed", "--follow", "--json") for _ in range(5)]
        asked = Window(self, "--session", "asked", "--new", "--model", "asks", "go")
        asked.read_until("\n  > ")
        watcher = self.client("run", "--session", "asked")
        for follower in followers:
            self.assertEqual(json.loads(follower.stdout.readline())["type"], "session.created")
        for _ in range(3):
            self.home.kill_owner()
            wait_until(lambda: self.home.owner() is not None, what="the next owner")
        done = self.home.run("run", "--session", "followed", "hi")
        self.assertEqual(done.returncode, 0, done)
        for follower in followers:
            seen = [1]
            for line in follower.stdout:
                event = json.loads(line)
                seen.append(event["sequence"])
                if event["type"] == "turn.completed":
                    break
            else:
                self.fail(f"a follower ended after {seen}: {follower.stderr.read()}")
            self.assertEqual(seen, list(range(1, len(seen) + 1)))
        asked.type("y\n").read_until("All done.")
        self.assertEqual(asked.end(), 0, asked.text())
        self.assertEqual(self.made(), "x\n")
        out, errors = watcher.communicate(timeout=20)
        self.assertIn(watcher.returncode, (0, 3), (out, errors))

    def test_what_was_lost_is_said(self):
        """The answer of a model that was being asked is lost; the turn says so and can be
        continued."""
        client = self.client("run", "--session", "s", "--new", "--model", "waits", "go")
        wait_until(lambda: "model.requested" in types(self.events("s"))
                   if self.home.owner() else False, what="the request")
        self.home.kill_owner()
        out, errors = client.communicate(timeout=40)
        if client.returncode == 0:
            self.assertIn("All done.", out)
            return
        self.assertRegex(errors, r"agentrt run --session s|resum")
        done = self.home.run("run", "--session", "s")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("All done.", done.stdout)


if __name__ == "__main__":
    unittest.main()
