"""Terminals without a daemon: what happens to one never reaches the other or the work."""

import json
import signal
import subprocess
import time
import unittest

from harness import BINARY, types, wait_until
from owner_test import Background, Window

ACTIONS = ("finish", "ctrl_c", "ctrl_z", "close", "kill", "terminate")


class Terminals(Background):
    def test_no_terminal_disturbs_another(self):
        for first in ACTIONS:
            pairs = []
            for second in ACTIONS:
                names = [f"{first}-{second}-{n}" for n in (1, 2)]
                pairs.append([(action, name, Window(self, "--session", name, "--new",
                                                    "--model", "slow", "go"))
                              for action, name in zip((first, second), names)])
            for pair in pairs:
                for _, _, window in pair:
                    window.read_until("one")
                for action, _, window in pair:
                    getattr(window, action)()
            for pair in pairs:
                for action, name, window in pair:
                    with self.subTest(action=action, name=name):
                        self.check_one(action, name, window)

    def check_one(self, action, name, window):
        end = "task.cancelled" if action == "ctrl_c" else "turn.completed"
        wait_until(lambda: end in types(self.events(name)), what=f"{end} of {name}")
        if action == "ctrl_z":
            window.process.send_signal(signal.SIGCONT)
        if action in ("finish", "ctrl_z"):
            self.assertEqual(window.end(), 0, window.text())
        elif action == "ctrl_c":
            self.assertEqual(window.end(), 130, window.text())
        else:
            window.process.wait(10)

    def test_a_question_stays_when_its_terminal_goes(self):
        for action in ("close", "kill", "terminate", "ctrl_z"):
            with self.subTest(action=action):
                window = Window(self, "--session", action, "--new", "--model", "asks", "go")
                window.read_until("> ")
                getattr(window, action)()
                if action != "ctrl_z":
                    window.process.wait(10)
                time.sleep(0.3)
                listed = json.loads(self.home.run("approvals", "--json").stdout)["data"]
                self.assertEqual([a["sessionId"] for a in listed], [action])
                other = Window(self, "--session", action).read_until("> ")
                other.type("y\n").read_until("All done.")
                self.assertEqual(other.end(), 0, other.text())
                if action == "ctrl_z":
                    window.process.send_signal(signal.SIGCONT)
                    self.assertEqual(window.end(), 0, window.text())
        self.assertEqual(self.made(), "x\n" * 4)

    def test_an_owner_killed_at_any_step_loses_nothing(self):
        for pause_ms in (0, 20, 60, 120, 250, 400, 600):
            with self.subTest(pause_ms=pause_ms):
                session = f"k{pause_ms}"
                path = self.home.workspace / "made.txt"
                path.unlink(missing_ok=True)
                client = subprocess.Popen(
                    [BINARY, "run", "--yes", "--session", session, "--new", "--model", "once",
                     "go"],
                    cwd=self.home.workspace, env=self.home.environment, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, text=True)
                self.addCleanup(client.kill)
                wait_until(lambda: self.home.owner() is not None, what="an owner")
                time.sleep(pause_ms / 1000)
                self.home.kill_owner()
                out, errors = client.communicate(timeout=40)
                if client.returncode != 0:
                    self.assertIn("agentrt", errors)
                    done = self.home.run("run", "--yes", "--session", session)
                    self.assertEqual(done.returncode, 0, (out, errors, done))
                    out = done.stdout
                self.assertIn("All done.", out)
                self.assertIn(self.made(), ("once\n", ""))

    def test_serve_takes_over_and_turns_in_flight_continue(self):
        window = Window(self, "--session", "s", "--new", "--model", "slow", "go")
        window.read_until("one two")
        asking = Window(self, "--session", "q", "--new", "--model", "asks", "go")
        asking.read_until("> ")
        self.start()
        self.assertEqual(self.home.owner()["kind"], "serve")
        self.assertEqual(window.end(), 0, window.text())
        self.assertIn("turn.completed", types(self.daemon.events("s")))
        asking.type("y\n").read_until("All done.")
        self.assertEqual(asking.end(), 0, asking.text())
        done = self.home.run("serve", "--listen", "127.0.0.1:0")
        self.assertEqual(done.returncode, 4, done)
        self.assertIn(str(self.daemon.process.pid), done.stderr)


if __name__ == "__main__":
    unittest.main()
