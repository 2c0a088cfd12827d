"""Tasks: claims, retries, dependencies, cancellation and time limits, also across kill -9."""

import json
import threading
import time
import unittest

from chat_test import ChatTerminal
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
        self.assertEqual(error["message"], "task a cannot be completed: statement reviewed: it is "
                         "not among the satisfied statements")
        # An output of another session is none of this one.
        self.daemon.ok("create_session", sessionId="other")
        ref = self.daemon.request("POST", "/v1/outputs?sessionId=other", b"x").json["outputRef"]
        error = self.refused("conflict", "complete_task", taskId="a", satisfied=["reviewed"],
                             artifacts=[{"name": "bin", "ref": ref}])
        self.assertIn(f"artifact bin: {ref} is not stored in this session", error["message"])
        self.daemon.ok("complete_task", taskId="a", satisfied=["reviewed"])
        self.assertEqual(self.status("a"), "completed")


class Ends(Tasks):
    def test_without_propagation_only_started_children_go_on(self):
        self.create("all")
        self.create("started", parentTaskId="all",
                    retryPolicy={"maxAttempts": 5, "backoffMs": 0})
        self.create("idle", parentTaskId="all")
        self.create("below", parentTaskId="idle")
        run = self.daemon.ok("start_task", taskId="started", worker=EXTERNAL)["runId"]
        reply = self.daemon.ok("cancel_task", taskId="all", reason="enough", propagate=False)
        self.assertEqual(reply["status"], "cancelling")
        self.wait_status("idle", "cancelled")
        self.assertEqual(self.status("below"), "cancelled")
        self.assertEqual((self.status("started"), self.status("all")), ("running", "cancelling"))
        self.restart()
        # Nothing is started beneath it any more, so the policy does not retry.
        reply = self.daemon.ok("fail_task", taskId="started", runId=run, error={
            "category": "exit_nonzero", "message": "exit 1", "retryable": True})
        self.assertEqual(reply["status"], "failed")
        self.wait_status("all", "cancelled")

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


class Replies(Tasks):
    def test_roots_and_older_edges_are_listed(self):
        self.create("root")
        self.create("child", parentTaskId="root")
        self.create("leaf", parentTaskId="child")
        self.assertEqual({row["taskId"]: row["rootTaskId"] for row in self.daemon.ok(
            "list_tasks", sessionId="s")["data"]}, dict.fromkeys(("root", "child", "leaf"), "root"))
        self.daemon.ok("unlink_tasks", taskId="child", kind="parent", targetId="root")
        self.restart()
        self.assertEqual(self.task("leaf")["rootTaskId"], "child")
        for number in range(7):
            self.daemon.ok("link_tasks", taskId="leaf", kind="evidence", targetId=f"out_{number}")
        seen, cursor = [], {}
        while True:
            page = self.daemon.ok("get_task", taskId="leaf", limit=3, **cursor)
            seen = [edge["targetId"] for edge in page["relationships"]] + seen
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        self.assertEqual(seen, ["child"] + [f"out_{number}" for number in range(7)])
        self.refused("invalid_params", "get_task", taskId="leaf", cursor="1.2")

    def test_the_same_creation_gets_the_same_reply(self):
        self.create("a")
        self.create("p")
        made = {"b": self.create("b", draft=True),
                "c": self.create("c", parentTaskId="p", blockedBy=["a", "b", "a"])}
        self.daemon.ok("update_task", taskId="b", draft=False)
        self.daemon.ok("unlink_tasks", taskId="c", kind="blocked_by", targetId="b")
        self.daemon.ok("cancel_task", taskId="c", reason="no")
        self.restart()
        self.assertEqual(made["b"], self.create("b", draft=True))
        self.assertEqual(made["c"], self.create("c", parentTaskId="p", blockedBy=["a", "b", "a"]))

    def test_lists_of_an_unknown_session_are_refused(self):
        for command in ("list_tasks", "list_jobs", "list_actions", "list_subagents"):
            self.refused("not_found", command, sessionId="nobody")
        self.assertEqual(self.home.run("jobs", "--session", "nobody").returncode, 1)

    def test_limits_are_named(self):
        self.daemon.stop()
        config = self.home.folder / "config/agentrt/config.toml"
        config.write_text(config.read_text() + "[limits]\ntasks_max = 5\ntask_edges_max = 2\n"
                          "task_depth_max = 2\n")
        self.daemon = self.start()
        self.create("a")
        self.create("b", parentTaskId="a")
        for key, params in (("task_depth_max", {"parentTaskId": "b"}),
                            ("task_edges_max", {"blockedBy": ["a", "b"], "parentTaskId": "a"})):
            error = self.refused("limit_exceeded", "create_task", sessionId="s", objective="x",
                                 **params)
            self.assertEqual(error["details"]["limit"], f"limits.{key}")
        self.daemon.ok("link_tasks", taskId="b", kind="source_task", targetId="a")
        error = self.refused("limit_exceeded", "link_tasks", taskId="b", kind="evidence",
                             targetId="out_1")
        self.assertEqual(error["details"], {"limit": "limits.task_edges_max", "max": 2})
        for task in ("c", "d", "e"):
            self.create(task)
        error = self.refused("limit_exceeded", "create_task", sessionId="s", objective="x")
        self.assertEqual(error["details"]["limit"], "limits.tasks_max")
        self.daemon.ok("cancel_task", taskId="e", reason="room")
        self.create("f")


class Terminal(Tasks):
    def test_a_watched_tree_is_redrawn_in_place_and_ends_with_130(self):
        for number in range(30):
            self.create(f"t{number}", title=f"task number {number}")
        watch = ChatTerminal(self, words=("tasks", "--session", "s", "--watch"))
        watch.sees("task number 0").sees("… 8 more lines")
        self.daemon.ok("start_task", taskId="t0", worker=EXTERNAL)
        watch.sees("worker ci")
        watch.resize(60, 12)
        watch.sees("… 20 more lines")
        watch.type("\x03")
        self.assertEqual(watch.end(), 130)
        self.assertEqual(watch.screen.text().count("task number 0 "), 1)

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
