"""Tasks: claims, retries, dependencies, cancellation and time limits, also across kill -9."""

import json
import threading
import time
import unittest

from harness import Case, wait_until

EXTERNAL = {"kind": "external", "name": "ci"}


class Tasks(Case):
    config = '[permissions]\nmode = "bypass"\n'
    scripts = {"main": [{"text": "Done."}]}

    def setUp(self):
        super().setUp()
        self.daemon.ok("create_session", sessionId="s")

    def create(self, task, **more):
        return self.daemon.ok("create_task", sessionId="s", taskId=task, objective=f"do {task}",
                              **more)

    def claim(self, **more):
        return self.daemon.ok("claim_task", sessionId="s", worker=EXTERNAL, **more)

    def task(self, task):
        return self.daemon.ok("get_task", taskId=task)

    def status(self, task):
        return self.task(task)["status"]

    def wait_status(self, task, status):
        wait_until(lambda: self.status(task) == status, what=f"{task} is {status}")

    def refused(self, code, command, **params):
        reply = self.daemon.call(command, **params)
        self.assertEqual(reply.code, code, reply)
        return reply.json["error"]

    def restart(self):
        self.daemon.kill()
        self.daemon = self.start()


class Graph(Tasks):
    def test_retry_and_graph_survive_kill_9(self):
        self.create("build", retryPolicy={"maxAttempts": 3, "backoffMs": 200})
        self.create("sign", blockedBy=["build"])
        self.create("publish", blockedBy=["build", "sign"], title="publish it")
        self.assertEqual(self.status("publish"), "blocked")
        run = self.claim()
        self.assertEqual((run["taskId"], run["attemptCount"]), ("build", 1))
        self.assertNotIn("taskId", self.claim())
        self.restart()
        first = run["runId"]
        reply = self.daemon.ok("fail_task", taskId="build", runId=first, error={
            "category": "exit_nonzero", "message": "exit 1", "retryable": True})
        self.assertEqual(reply["status"], "retrying")
        self.restart()
        self.wait_status("build", "queued")
        error = self.refused("conflict", "complete_task", taskId="build", runId=first)
        self.assertIn("stop working", error["message"])
        run = self.claim(idempotencyKey="again")
        self.assertEqual(run["attemptCount"], 2)
        self.restart()
        self.assertEqual(self.claim(idempotencyKey="again"), run)
        self.daemon.ok("complete_task", taskId="build", runId=run["runId"], summary="2 packages")
        self.wait_status("sign", "accepted")
        self.assertEqual(self.status("publish"), "blocked")
        error = self.refused("conflict", "start_task", taskId="publish", worker=EXTERNAL)
        self.assertEqual(error["details"]["blockers"], ["sign"])
        record = self.task("build")
        self.assertEqual([(a["attemptCount"], a["nativeStatus"]) for a in record["attempts"]],
                         [(1, "failed"), (2, "completed")])
        self.assertEqual(record["attempts"][0]["lastError"]["message"], "exit 1")

    def test_cycles_are_refused_with_their_path(self):
        self.create("a")
        self.create("b", blockedBy=["a"])
        error = self.refused("conflict", "link_tasks", taskId="a", kind="blocked_by", targetId="b")
        self.assertEqual(error["details"]["path"], ["b", "a"])
        self.daemon.ok("create_session", sessionId="other")
        self.daemon.ok("create_task", sessionId="other", taskId="far", objective="x")
        error = self.refused("conflict", "link_tasks", taskId="a", kind="blocked_by",
                             targetId="far")
        self.assertEqual(error["details"]["otherSessionId"], "other")

    def test_many_dependants_are_unblocked_over_a_restart(self):
        self.create("root")
        for number in range(60):
            self.create(f"w{number}", blockedBy=["root"])
        run = self.claim()
        self.daemon.ok("complete_task", taskId="root", runId=run["runId"])
        self.restart()
        wait_until(lambda: not self.daemon.ok("list_tasks", sessionId="s",
                                              status=["blocked"])["data"], what="all are free")
        page = self.daemon.ok("list_tasks", sessionId="s", status=["accepted"], limit=25)
        seen = [task["taskId"] for task in page["data"]]
        while "nextCursor" in page:
            page = self.daemon.ok("list_tasks", sessionId="s", status=["accepted"], limit=25,
                                  cursor=page["nextCursor"])
            seen += [task["taskId"] for task in page["data"]]
        self.assertEqual(seen, [f"w{number}" for number in reversed(range(60))])


class Workers(Tasks):
    def test_one_of_many_claims_wins(self):
        self.create("only")
        replies = []

        def claim():
            replies.append(self.claim())

        threads = [threading.Thread(target=claim) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len([reply for reply in replies if "taskId" in reply]), 1, replies)
        self.assertEqual(len(self.task("only")["attempts"]), 1)

    def test_a_claim_waits_for_a_task(self):
        got = []
        waiting = threading.Thread(target=lambda: got.append(self.claim(waitMs=14_000)))
        waiting.start()
        time.sleep(0.2)
        self.create("later")
        waiting.join()
        self.assertEqual(got[0]["taskId"], "later")
        self.assertNotIn("taskId", self.claim(waitMs=50))

    def test_a_silent_worker_is_lost(self):
        self.create("a", constraints={"heartbeatMs": 300})
        run = self.claim()
        self.wait_status("a", "lost")
        self.refused("conflict", "append_task_progress", taskId="a", runId=run["runId"])
        again = self.daemon.ok("retry_task", taskId="a", reason="the worker died")
        self.assertEqual(again["attemptCount"], 2)

    def test_a_turn_works_on_a_task(self):
        self.create("a", threadId="t")
        run = self.daemon.ok("start_task", taskId="a")
        self.wait_status("a", "completed")
        record = self.task("a")
        self.assertEqual(record["attempts"][0]["runId"], run["runId"])
        self.assertEqual(record["attempts"][0]["worker"]["kind"], "turn")
        submitted = [event for event in self.daemon.events("s")
                     if event["type"] == "turn.submitted"]
        self.assertEqual(submitted[0]["payload"]["source"], "task")

    def test_completion_needs_what_was_declared(self):
        self.create("a", acceptance=[{"kind": "statement", "name": "reviewed"}], threadId="t")
        self.daemon.ok("start_task", taskId="a")
        self.wait_status("a", "blocked")
        self.assertEqual(self.task("a")["statusReason"], "acceptance")
        error = self.refused("conflict", "complete_task", taskId="a")
        self.assertEqual(error["details"]["missing"][0]["name"], "reviewed")
        self.daemon.ok("complete_task", taskId="a", satisfied=["reviewed"])
        self.assertEqual(self.status("a"), "completed")


class Ends(Tasks):
    def test_cancellation_reaches_children_over_a_restart(self):
        self.create("top")
        for number in range(40):
            self.create(f"c{number}", parentTaskId="top")
        run = self.daemon.ok("start_task", taskId="c5", worker=EXTERNAL)
        reply = self.daemon.ok("cancel_task", taskId="top", reason="enough")
        self.assertEqual(reply["status"], "cancelling")
        self.restart()
        self.refused("conflict", "create_task", sessionId="s", taskId="new", objective="x",
                     parentTaskId="top")
        self.wait_status("top", "cancelled")
        self.assertEqual(self.status("c5"), "cancelled")
        self.assertEqual(self.task("c5")["attempts"][0]["nativeStatus"], "lost")
        self.refused("conflict", "fail_task", taskId="c5", runId=run["runId"], error={
            "category": "cancelled", "message": "late", "retryable": False})

    def test_time_limits_are_armed_again(self):
        self.create("a", constraints={"timeoutMs": 1_500})
        self.claim()
        self.restart()
        self.wait_status("a", "timed_out")
        self.create("b", constraints={"deadlineMs": 1_000})
        self.restart()
        self.wait_status("b", "timed_out")


class Terminal(Tasks):
    def test_the_tree_shows_reasons_and_the_next_command(self):
        self.create("release", title="release 2.4")
        self.create("build", title="build packages", parentTaskId="release")
        self.create("sign", title="sign packages", parentTaskId="release")
        self.create("publish", title="publish", parentTaskId="release", blockedBy=["sign"])
        run = self.daemon.ok("start_task", taskId="sign", worker=EXTERNAL)
        self.daemon.ok("fail_task", taskId="sign", runId=run["runId"], error={
            "category": "exit_nonzero", "message": "gpg: no secret key", "retryable": False})
        shown = self.home.run("tasks", "--session", "s").stdout
        self.assertIn("release 2.4", shown.splitlines()[0])
        self.assertIn("├─ ○ build packages", shown)
        self.assertRegex(shown, r"✗ sign packages +failed +attempt 1 · exit_nonzero: gpg: no")
        self.assertIn("""agentrt call retry_task '{"taskId":"sign","reason":"…"}'""", shown)
        self.assertRegex(shown, r"└─ ○ publish +blocked +by sign packages")
        rows = json.loads(self.home.run("tasks", "--status", "failed", "--json").stdout)["data"]
        self.assertEqual([row["taskId"] for row in rows], ["sign"])


if __name__ == "__main__":
    unittest.main()
