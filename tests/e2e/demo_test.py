"""`agentrt demo`: the whole story, without a model, a network or configuration."""

import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from harness import BINARY, running, wait_until

STEPS = ["plan", "failing test", "fix", "approval", "green test", "server", "subagents", "answer",
         "job"]
STORY_SECONDS = 60


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="agentrt_e2e_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8",
                            "TMPDIR": str(self.folder)}

    def start(self, *arguments):
        process = subprocess.Popen([BINARY, "demo", *arguments], cwd=self.folder,
                                   env=self.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def folders(self):
        return sorted(self.folder.glob("agentrt_demo_*"))

    def servers(self):
        """Background servers of demos of this test."""
        found = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/cwd"):
            try:
                if os.readlink(stat).startswith(str(self.folder)) and running(stat.parts[2]):
                    found.append(int(stat.parts[2]))
            except OSError:
                continue
        return found

    def test_the_story_plays_by_itself_and_leaves_nothing(self):
        started = time.monotonic()
        process = self.start("--auto", "--exit", "--json")
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertLess(time.monotonic() - started, STORY_SECONDS)
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(lines[0]["step"], "link")
        self.assertRegex(lines[0]["url"], r"^http://127\.0\.0\.1:\d+/#login=\w{64}&session=demo$")
        completed = [line["step"] for line in lines if line.get("status") == "completed"]
        self.assertEqual(completed, STEPS)
        self.assertIn("retried", next(line["detail"] for line in lines
                                      if line.get("status") == "running"))
        self.assertEqual(self.folders(), [])
        self.assertEqual(self.servers(), [])

    def test_the_person_answers_and_ends_it(self):
        process = self.start("--keep")
        link = process.stdout.readline()
        self.assertRegex(link, r"^http://127\.0\.0\.1:\d+/#login=\w{64}&session=demo\n$")
        for line in process.stdout:
            if "waits for you" in line:
                break
        action, data = re.search(r"agentrt approve (\S+) --data (\S+)", line).groups()
        done = subprocess.run([BINARY, "approve", action, "--data", data], env=self.environment,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        for line in process.stdout:
            if line.startswith("· job: three checks"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.servers(), [])
        self.assertEqual(len(self.folders()), 1)
        self.assertIn(str(self.folders()[0]), err)

    def test_a_killed_demo_is_cleaned_up_by_the_next_one(self):
        process = self.start("--auto")
        process.stdout.readline()
        wait_until(lambda: self.folders() and (self.folders()[0] / "data/owner.json").exists(),
                   what="the demo's owner")
        left = self.folders()[0]
        process.kill()
        process.wait()
        os.utime(left, (0, 0))  # a folder that has just been made may belong to a starting demo
        second = self.start("--auto")
        second.stdout.readline()
        self.assertFalse(left.exists())
        second.send_signal(signal.SIGTERM)
        self.assertEqual(second.wait(60), 0)
        self.assertEqual(self.folders(), [])


if __name__ == "__main__":
    unittest.main()
