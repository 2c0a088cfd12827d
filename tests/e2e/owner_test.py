"""The background owner: who starts it, how long it stays, and that no terminal disturbs another."""

import fcntl
import json
import os
import pathlib
import signal
import stat
import subprocess
import termios
import threading
import time
import unittest

from harness import BINARY, Case, running, wait_until
from run_test import QUIET, Terminal, shell

SLOW = [{"text": "one two three four five six seven eight nine ten", "deltas": 10, "deltaMs": 120}]


class Window(Terminal):
    """A terminal window: its keys send signals, and closing it hangs up the program in it."""

    def start(self, words, **more):
        return subprocess.Popen(
            words, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **more)

    def close(self):
        nothing = os.open("/dev/null", os.O_RDWR)
        os.dup2(nothing, self.master)
        os.close(nothing)

    def finish(self):
        pass

    def ctrl_c(self):
        os.write(self.master, b"\x03")

    def ctrl_z(self):  # a session leader ignores the key itself
        self.process.send_signal(signal.SIGSTOP)

    def kill(self):
        self.process.kill()

    def terminate(self):
        self.process.terminate()


class Background(Case):
    """No daemon: commands start a background owner."""

    daemon_at_start = False
    scripts = {"main": [{"text": "Hello."}], "slow": SLOW,
               "asks": [{"toolCalls": shell("echo x >> made.txt")}, {"text": "All done."}],
               "background": [{"toolCalls": [{"name": "shell", "args": {
                   "command": "sleep 30", "background": True}}]}, {"text": "Started."}],
               "once": [{"toolCalls": shell("echo once >> made.txt; sleep 0.2")},
                        {"delayMs": 300, "text": "All done."}]}
    config = '[permissions]\nmode = "default"\nallow = ["shell(sleep:*)"]\n'

    def stopped(self):
        return self.home.owner() is None

    def events(self, session):
        done = self.home.run("events", session, "--json")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def made(self):
        path = self.home.workspace / "made.txt"
        return path.read_text() if path.exists() else ""


class Owner(Background):
    def test_a_command_starts_an_owner_that_is_detached_and_stays(self):
        done = self.home.run("run", "hi")
        self.assertEqual(done.returncode, 0, done)
        owner = self.home.owner()
        self.assertEqual(owner["kind"], "background")
        self.assertNotIn("url", owner)
        fields = pathlib.Path(f"/proc/{owner['pid']}/stat").read_text().rpartition(")")[2].split()
        self.assertNotEqual(int(fields[3]), os.getsid(0))  # a process session of its own
        self.assertEqual(fields[4], "0")                   # and no terminal
        self.assertEqual(os.readlink(f"/proc/{owner['pid']}/cwd"), "/")
        log = self.home.data / "owner.log"
        self.assertEqual(stat.S_IMODE(log.stat().st_mode), 0o600)
        for path in pathlib.Path(f"/proc/{owner['pid']}/fd").iterdir():
            self.assertNotIn("/pts/", os.readlink(path))
        self.assertEqual(self.home.run("run", "hi").returncode, 0)
        self.assertEqual(self.home.owner()["pid"], owner["pid"])
        self.assertIn("in the background", self.home.run("doctor").stdout)

    def test_a_reader_of_its_output_sees_the_end_of_a_command_that_started_the_owner(self):
        read, write = os.pipe()
        done = subprocess.run([BINARY, "sessions"], cwd=self.home.workspace, pass_fds=(write,),
                              env=self.home.environment, stdout=write, timeout=20)
        os.close(write)
        self.assertEqual(done.returncode, 0)
        reader = threading.Thread(target=lambda: self.read_all(read), daemon=True)
        reader.start()
        reader.join(10)
        self.assertFalse(reader.is_alive(), "the owner holds a pipe of the command open")

    def read_all(self, descriptor):
        while os.read(descriptor, 4096):
            pass
        os.close(descriptor)

    def test_it_leaves_when_nothing_has_needed_it_for_a_while(self):
        self.home.environment["AGENTRT_OWNER_IDLE_MS"] = "300"
        self.assertEqual(self.home.run("run", "hi").returncode, 0)
        pid = self.home.owner()["pid"]
        wait_until(lambda: not running(pid), what="the owner's end")
        self.assertFalse((self.home.data / "owner.json").exists())
        self.assertFalse((self.home.data / "agentrt.sock").exists())
        self.assertEqual(self.home.run("run", "hi").returncode, 0)

    def test_open_work_keeps_it(self):
        self.home.environment["AGENTRT_OWNER_IDLE_MS"] = "200"
        for session, model in (("q", "asks"), ("b", "background")):
            with self.subTest(model=model):
                words = [BINARY, "call", "submit_turn", json.dumps(
                    {"sessionId": session, "input": [{"type": "text", "text": "go"}],
                     "options": {"model": model}})]
                subprocess.run(words, cwd=self.home.workspace, env=self.home.environment,
                               check=True, capture_output=True, timeout=20)
                time.sleep(1.5)
                self.assertFalse(self.stopped())
                self.assertNotIn("process_found", json.dumps(self.events(session)))
                self.assertEqual(self.events(session)[0]["payload"]["cwd"],
                                 str(self.home.workspace))
                if model == "asks":
                    action = json.loads(self.home.run("approvals", "--json").stdout)["data"][0]
                    self.home.run("deny", action["actionId"])
                else:
                    self.home.run("call", "interrupt_turn", json.dumps({"sessionId": session}))
                    self.assertEqual(self.home.run("stop", "--yes").returncode, 0)
                wait_until(self.stopped, what="the owner's end")

    def test_an_open_stream_keeps_it(self):
        self.home.environment["AGENTRT_OWNER_IDLE_MS"] = "200"
        self.home.run("call", "create_session", '{"sessionId":"s"}')
        follower = subprocess.Popen([BINARY, "events", "s", "--follow"], cwd=self.home.workspace,
                                    env=self.home.environment, stdout=subprocess.DEVNULL)
        self.addCleanup(follower.kill)
        time.sleep(1)
        self.assertFalse(self.stopped())
        follower.kill()
        follower.wait(10)
        wait_until(self.stopped, what="the owner's end")

    def test_stop_ends_it_and_asks_first_where_work_is_open(self):
        done = self.home.run("stop")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("nothing to stop", done.stdout)
        self.home.run("run", "hi")
        pid = self.home.owner()["pid"]
        done = self.home.run("stop")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(str(pid), done.stdout)
        self.assertTrue(self.stopped())
        window = Window(self, "--session", "s", "--new", "--model", "slow", "go")
        window.read_until("one two")
        done = self.home.run("stop")
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("--yes", done.stderr)
        self.assertIn("s  ", done.stderr)
        self.assertFalse(self.stopped())
        self.assertEqual(self.home.run("stop", "--yes").returncode, 0)
        window.end()
        done = self.home.run("run", "--session", "s")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("nine ten", done.stdout)

    def test_stop_asks_at_a_terminal_and_ctrl_c_means_no(self):
        window = Window(self, "--session", "s", "--new", "--model", "asks", "go").read_until("> ")
        for answer, code in ((b"\x03", 130), (b"n\n", 130), (b"y\n", 0)):
            with self.subTest(answer=answer):
                asked = Window(self, verb="stop").read_until("[y/N] ")
                time.sleep(QUIET)
                os.write(asked.master, answer)
                self.assertEqual(asked.end(), code, asked.text())
                self.assertEqual(self.stopped(), code == 0)
        window.kill()
        window.process.wait()

    def test_an_owner_started_by_a_client_that_ignores_signals_can_be_stopped(self):
        subprocess.run([BINARY, "run", "hi"], cwd=self.home.workspace, env=self.home.environment,
                       preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=True)
        self.assertEqual(self.home.run("stop").returncode, 0)
        self.assertTrue(self.stopped())

    def test_it_may_be_asked_to_leave_without_a_body(self):
        self.home.run("run", "hi")
        token = (self.home.data / "token").read_text().strip()
        done = subprocess.run(
            ["curl", "-sS", "-X", "POST", "-H", f"Authorization: Bearer {token}", "-H",
             "Content-Type: application/json", "--unix-socket",
             str(self.home.data / "agentrt.sock"), "http://127.0.0.1/v1/owner/leave"],
            capture_output=True, text=True, timeout=30)
        self.assertEqual(done.stdout, '{"leaves":true}', done)
        wait_until(self.stopped, what="its end")

    def test_stop_leaves_a_daemon_alone_and_names_it(self):
        self.start()
        done = self.home.run("stop", "--yes")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(str(self.daemon.process.pid), done.stderr)
        self.assertTrue(self.daemon.alive())

    def test_its_configuration_is_read_anew_when_it_has_nothing_else_to_do(self):
        self.assertEqual(self.home.run("run", "hi").returncode, 0)
        pid = self.home.owner()["pid"]
        file = self.home.folder / "config/agentrt/config.toml"
        script = self.home.script("new", [{"text": "From the new one."}])
        file.write_text(f'[models.new]\nprovider = "script"\nscript = "{script}"\n')
        done = self.home.run("run", "--model", "new", "hi")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("From the new one.", done.stdout)
        self.assertNotEqual(self.home.owner()["pid"], pid)
        good = file.read_text()
        file.write_text("[models.new\n")
        self.home.run("stop")
        done = self.home.run("sessions")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("config.toml:1", done.stderr)
        file.write_text(good)

    def test_another_config_is_refused_while_it_works_with_its_own(self):
        other = self.home.folder / "other.toml"
        other.write_text((self.home.folder / "config/agentrt/config.toml").read_text())
        done = self.home.run("run", "--config", str(other), "hi")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.home.owner()["config"], str(other))
        window = Window(self, "--session", "s", "--new", "--model", "slow", "go")
        window.read_until("one two")
        done = self.home.run("run", "--config", str(other), "hi")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(str(other), done.stderr)
        self.assertEqual(window.end(), 0)

    def test_read_commands_append_nothing(self):
        words = [BINARY, "run", "--session", "s", "--new", "--model", "background", "hi"]
        subprocess.run(words, cwd=self.home.workspace, env=self.home.environment, timeout=30,
                       check=True, capture_output=True)
        before = len(self.events("s"))
        for _ in range(3):
            self.home.run("show", "s")
            self.home.run("sessions")
            self.home.run("call", "get_session", '{"sessionId":"s"}')
            self.home.run("approvals")
        self.assertEqual(len(self.events("s")), before)
        self.assertEqual(self.home.run("stop", "--yes").returncode, 0)

    def test_two_hundred_clients_at_once(self):
        self.home.run("call", "create_session", '{"sessionId":"s"}')
        followers = [subprocess.Popen(
            [BINARY, "events", "s", "--follow", "--json"], cwd=self.home.workspace,
            env=self.home.environment, stdout=subprocess.PIPE, text=True) for _ in range(200)]
        for follower in followers:
            self.addCleanup(follower.stdout.close)
            self.addCleanup(follower.wait)
            self.addCleanup(follower.kill)
        for follower in followers:
            self.assertEqual(json.loads(follower.stdout.readline())["type"], "session.created")
        self.assertEqual(self.home.run("run", "--session", "s", "hi").returncode, 0)
        for follower in followers:
            for line in follower.stdout:
                if json.loads(line)["type"] == "turn.completed":
                    break
            else:
                self.fail("a stream ended early")


if __name__ == "__main__":
    unittest.main()
