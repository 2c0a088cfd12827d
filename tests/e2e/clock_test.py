"""A wall clock that is set: nothing expires early, and no duration exceeds the time that passed."""

import unittest

from harness import Case, Faults, types, wait_until
from tools_test import call, line

YEAR = 365 * 24 * 3600
LONG_MS = 60_000  # longer than any test takes, and shorter than every step of the clock


class Clock(Case):
    daemon_at_start = False

    def setUp(self):
        super().setUp()
        self.faults = Faults(self, self.home)
        self.start()

    def leave_things(self):
        """Creates one object of each kind that expires."""
        keyed = dict(sessionId="s", title="first", idempotencyKey="key-1")
        self.daemon.ok("create_session", sessionId="s")
        answer = self.daemon.ok("update_session", **keyed)
        stored = self.daemon.request("POST", "/v1/outputs?sessionId=s&mediaType=text/plain", b"x")
        self.assertEqual(stored.status, 200, stored)
        return keyed, answer, stored.json["outputRef"]

    def check_things(self, keyed, answer, ref):
        self.assertEqual(self.daemon.request("GET", f"/v1/outputs/{ref}").status, 200)
        self.assertEqual(self.daemon.ok("update_session", **keyed), answer)
        self.assertNotIn("output.expired", types(self.daemon.events("s")))

    def test_nothing_expires_while_the_daemon_runs(self):
        things = self.leave_things()
        for step in (YEAR, 0, -YEAR, 0):
            self.faults.set_clock(step)
            self.check_things(*things)

    def test_nothing_expires_across_a_restart(self):
        for number, step in enumerate((YEAR, -YEAR)):
            self.faults.set_clock(0)
            self.home.data = self.home.folder / f"data{number}"
            self.home.environment["AGENTRT_HOME"] = str(self.home.data)
            self.daemon.stop()
            self.start()
            things = self.leave_things()
            for stop in ("stop", "kill"):
                getattr(self.daemon, stop)()
                self.faults.set_clock(step)
                self.start()
                self.check_things(*things)

    def test_what_is_kept_after_the_clock_was_put_right_does_not_expire_either(self):
        self.daemon.stop()
        self.faults.set_clock(-20 * YEAR)
        self.start()
        things = self.leave_things()
        self.faults.set_clock(0)
        self.check_things(*things)
        self.daemon.stop()
        self.start()
        self.check_things(*things)

    def test_durations_are_those_of_time_that_passed(self):
        script = self.home.script("slow", [
            line(call("touch up; until [ -e go ]; do sleep 0.02; done"),
                 call("until [ -e later ]; do sleep 0.02; done", background=True)),
            {"text": "Done."}])
        reply = self.daemon.submit(
            sessionId="d", threadId="t",
            options={"model": f"script:{script}", "mode": "bypass",
                     "cwd": str(self.home.workspace)})
        wait_until((self.home.workspace / "up").exists, what="the command")
        self.faults.set_clock(YEAR)
        (self.home.workspace / "go").touch()
        self.daemon.wait_turn(reply)
        self.daemon.kill()
        self.faults.set_clock(2 * YEAR)
        self.start()
        (self.home.workspace / "later").touch()
        wait_until(lambda: types(self.daemon.events("d")).count("process.completed") == 2,
                   what="the end of the process in the background")
        durations = {event["type"]: event["payload"]["durationMs"]
                     for event in self.daemon.events("d") if "durationMs" in event["payload"]}
        for expected in ("turn.completed", "tool.result", "process.completed", "model.completed"):
            self.assertIn(expected, durations)
        for kind, duration in durations.items():
            self.assertLess(duration, LONG_MS, kind)

    def test_a_question_waits_as_long_as_it_should(self):
        script = self.home.script("ask", [line(call("touch made")), {"text": "Done."}])
        self.daemon.submit(sessionId="q", threadId="t",
                           options={"model": f"script:{script}", "mode": "default",
                                    "cwd": str(self.home.workspace), "askTimeoutMs": 3_600_000})
        asked = self.daemon.wait_event("q", lambda e: e["type"] == "action.required")[-1]
        self.faults.set_clock(YEAR)
        self.daemon.stop()
        self.start()
        answer = self.daemon.ok("respond_action", actionId=asked["actionId"], decision="allow",
                                digest=asked["payload"]["digest"])
        self.assertEqual(answer["sessionId"], "q")
        self.daemon.wait_event("q", lambda e: e["type"] == "task.completed")
        self.assertTrue((self.home.workspace / "made").exists())


if __name__ == "__main__":
    unittest.main()
