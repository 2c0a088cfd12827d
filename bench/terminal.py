"""A conversation at a terminal: how soon a key is echoed, how soon an answer is on the screen."""

import fcntl
import os
import pty
import select
import statistics
import struct
import subprocess
import termios
import threading
import time

KEYS = 60
KEY_PAUSE = 0.05
ECHO_GOAL_MS = 16
TOKEN_GOAL_MS = 5
# 1,000 tokens per second for as long as the keys take.
STREAM = [{"text": "token " * 8_000, "deltas": 8_000, "deltaMs": 1}]
ANSWER = [{"text": "first token of the answer", "deltas": 5, "deltaMs": 200, "delayMs": 300}]
MARKS = "qxzjkvwQXZJKVW"  # characters that the streamed text does not contain


class Terminal:
    """A conversation whose output is searched, not emulated."""

    def __init__(self, here, home, *arguments):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(
            [str(here.build / "agentrt"), "chat", "--mode", "default", *arguments], stdin=slave,
            stdout=slave, stderr=slave, cwd=home.workspace, start_new_session=True,
            env={**home.environment, "TERM": "xterm-256color", "NO_COLOR": "1"})
        os.close(slave)

    def wait_for(self, text, seconds=20):
        """Reads until the text has come; returns the time at which it was there."""
        seen, deadline = b"", time.monotonic() + seconds
        while text.encode() not in seen:
            if not select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
                raise SystemExit(f"the conversation does not show {text!r}")
            seen = seen[-256:] + os.read(self.master, 65536)
        return time.monotonic()

    def drain(self, seconds):
        deadline = time.monotonic() + seconds
        while select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
            os.read(self.master, 65536)

    def type(self, text):
        os.write(self.master, text.encode())
        return time.monotonic()

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def chat(here, home, name, lines):
    script = home.script(name, lines)
    terminal = Terminal(here, home, "--model", f"script:{script}")
    terminal.wait_for("mode default")
    return terminal


def echo_ms(here, home):
    """The slowest echo but one in twenty, while 1,000 tokens per second stream."""
    terminal = chat(here, home, "stream", STREAM)
    terminal.type("go\r")
    terminal.wait_for("token token")
    times = []
    for number in range(KEYS):
        mark = MARKS[number % len(MARKS)]
        typed = terminal.type(mark)
        times.append((terminal.wait_for(mark) - typed) * 1e3)
        terminal.drain(KEY_PAUSE)
        if number % len(MARKS) == len(MARKS) - 1:
            terminal.type("\x15")  # an empty input, so that no mark is there already
            terminal.drain(KEY_PAUSE)
    terminal.end()
    return statistics.quantiles(times, n=20)[-1]


def first_token_ms(here, home, daemon):
    """From the event on a stream of the session to the text on the screen."""
    before = {row["sessionId"] for row in daemon.ok("list_sessions")["data"]}
    terminal = chat(here, home, "answer", ANSWER)
    terminal.type("go\r")
    session = None
    while session is None:
        new = [row["sessionId"] for row in daemon.ok("list_sessions")["data"]
               if row["sessionId"] not in before]
        session = new[0] if new else None
    arrived = []

    def follow():
        with daemon.stream(session, after=0) as stream:
            for event in stream.events():
                if event["type"] == "model.delta":
                    arrived.append(time.monotonic())
                    return

    follower = threading.Thread(target=follow)
    follower.start()
    shown = terminal.wait_for("first")
    follower.join()
    terminal.end()
    return max(0.0, (shown - arrived[0]) * 1e3)


def measure(here, table):
    home = here.home("terminal")
    daemon = here.harness.Daemon(home)
    table.add("chat_echo", "key on the screen while 1,000 tokens/s stream, p95",
              here.rounds(5, lambda: echo_ms(here, home)), "ms", better="less", goal=ECHO_GOAL_MS)
    table.add("chat_first_token", "first token on the screen after its event",
              here.rounds(9, lambda: first_token_ms(here, home, daemon)), "ms", better="less",
              goal=TOKEN_GOAL_MS)
    daemon.stop()
    home.remove()
