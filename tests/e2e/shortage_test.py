"""A process without free file descriptors: failures say so, and a retry may succeed."""

import os
import resource
import unittest

from harness import Case, types, wait_until
from tools_test import call, line


class NoDescriptors(Case):
    def starve(self):
        """Lowers the limit so that no further descriptor can be opened; open ones stay."""
        used = {int(fd) for fd in os.listdir(f"/proc/{self.daemon.process.pid}/fd")}
        free = next(number for number in range(1 << 20) if number not in used)
        self.before = resource.prlimit(self.daemon.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self.daemon.process.pid, resource.RLIMIT_NOFILE, (free, self.before[1]))
        self.addCleanup(self.feed)

    def feed(self):
        if self.daemon.alive():
            resource.prlimit(self.daemon.process.pid, resource.RLIMIT_NOFILE, self.before)

    def submit(self, *lines, session="s"):
        script = self.home.script(f"play_{session}", lines)
        return self.daemon.submit(sessionId=session, threadId="t",
                                  options={"model": f"script:{script}", "mode": "bypass",
                                           "cwd": str(self.home.workspace)})

    def wait_for(self, kind, session="s"):
        """Uses the open connection, because a second one is impossible."""
        return wait_until(lambda: [e for e in self.daemon.events(session) if e["type"] == kind],
                          what=kind)

    def check_shortage(self, error):
        self.assertEqual((error["category"], error["retryable"]), ("unavailable", True), error)
        self.assertIn("open files", error["message"])

    def test_a_turn_that_cannot_be_prepared_is_unavailable_for_now(self):
        self.daemon.ok("create_session", sessionId="s")
        self.starve()
        self.submit({"text": "Done."})
        failed = self.wait_for("turn.failed")[0]
        self.check_shortage(failed["payload"]["error"])
        self.feed()
        self.submit({"text": "Done."})
        self.wait_for("turn.completed")

    def test_a_command_that_cannot_be_started_is_unavailable_for_now(self):
        self.submit({**line(call("touch made")), "delayMs": 1_000}, {"text": "Done."})
        self.wait_for("model.requested")
        self.starve()
        failed = self.wait_for("tool.failed")[0]
        self.check_shortage(failed["payload"]["error"])
        self.assertFalse((self.home.workspace / "made").exists())
        self.feed()
        self.wait_for("task.completed")
        self.assertNotIn("turn.failed", types(self.daemon.events("s")))


if __name__ == "__main__":
    unittest.main()
