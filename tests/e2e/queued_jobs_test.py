"""Jobs that wait for the task they work on, and the jobs that a thread lists."""

import unittest

from harness import wait_until
from jobs_test import Jobs


class Queued(Jobs):
    def task(self, task):
        return self.daemon.ok("get_task", taskId=task)

    def test_a_job_for_a_blocked_task_is_queued_and_starts_by_itself_across_a_kill(self):
        for task, more in (("first", {}), ("then", {"blockedBy": ["first"]})):
            self.daemon.ok("create_task", sessionId="s", taskId=task, objective=task, **more)
        made = self.create("cat >> ran", [1, 2], jobId="job", taskId="then")
        self.assertEqual((made["status"], made["blockers"]), ("queued", ["first"]))
        self.assertEqual(self.daemon.ok("get_job", jobId="job")["status"], "queued")
        self.assertEqual(self.task("then")["status"], "queued")
        refused = self.daemon.call("start_task", taskId="then",
                                   worker={"kind": "turn", "threadId": "t"})
        self.assertEqual(refused.code, "conflict")
        self.crash()
        self.start()
        listed = self.daemon.ok("get_session", sessionId="s")["jobs"]
        self.assertEqual([(job["jobId"], job["status"]) for job in listed], [("job", "queued")])
        run = self.daemon.ok("start_task", taskId="first", worker={"kind": "external"})
        self.daemon.ok("complete_task", taskId="first", runId=run["runId"])
        wait_until(lambda: self.job("job")["status"] == "completed", what="the end of the job")
        self.assertEqual(sorted(self.ran()), ["1", "2"])
        wait_until(lambda: self.task("then")["status"] == "completed", what="the end of the task")

    def test_a_queued_job_is_cancelled_with_its_task(self):
        for task, more in (("first", {}), ("then", {"blockedBy": ["first"]})):
            self.daemon.ok("create_task", sessionId="s", taskId=task, objective=task, **more)
        self.create("true", [1], jobId="job", taskId="then")
        self.assertEqual(
            self.daemon.ok("cancel_task", taskId="then", reason="no")["status"], "cancelled")
        self.assertEqual(self.daemon.ok("get_job", jobId="job")["status"], "cancelled")

    def test_a_thread_lists_the_jobs_that_concern_it(self):
        self.daemon.wait_turn(self.daemon.submit(sessionId="s", threadId="t"))
        self.create("sleep 60", [1], jobId="job")
        items = wait_until(lambda: [item for item in self.daemon.ok("get_job", jobId="job")["items"]
                                    if "threadId" in item], what="a running item")
        for thread in ("t", items[0]["threadId"]):
            read = self.daemon.ok("get_thread_read", sessionId="s", threadId=thread)
            self.assertEqual([job["jobId"] for job in read["jobs"]], ["job"], thread)
        self.daemon.ok("cancel_job", jobId="job")


if __name__ == "__main__":
    unittest.main()
