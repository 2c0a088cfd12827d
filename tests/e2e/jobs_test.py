"""Jobs: many items through one command, with retries, cancellation, approvals and kill -9."""

import json
import subprocess
import unittest

from harness import BINARY, Case, WAIT_SECONDS, types, wait_until

BYPASS = {"mode": "bypass"}


class Jobs(Case):
    def setUp(self):
        super().setUp()
        if self.daemon:
            self.daemon.ok("create_session", sessionId="s")

    def create(self, command, items, **more):
        more.setdefault("options", BYPASS)
        return self.daemon.ok("create_job", sessionId="s",
                              runner={"kind": "command", "command": command},
                              items=[{"input": item} for item in items], **more)

    def job(self, job, **more):
        return self.daemon.ok("get_job", jobId=job, **more)

    def wait_end(self, job, seconds=4 * WAIT_SECONDS):
        def ended():
            found = self.job(job)
            return found if found["status"] != "running" else None
        return wait_until(ended, seconds=seconds, what=f"the end of {job}")

    def items(self, job, **more):
        """Every item, page by page, by id."""
        found, cursor = {}, None
        while True:
            page = self.job(job, **({"cursor": cursor} if cursor else {}), **more)
            for item in page["items"]:
                self.assertNotIn(item["jobItemId"], found)
                found[item["jobItemId"]] = item
            cursor = page.get("nextCursor")
            if not cursor:
                return found

    def ran(self, name="ran"):
        path = self.home.workspace / name
        return path.read_text().split() if path.exists() else []


class Commands(Jobs):
    def test_every_item_gets_its_input_and_runs_once(self):
        made = self.create("cat >> all", [{"n": n, "text": "äb\n"} for n in range(12)],
                           jobId="job", concurrency=3)
        self.assertEqual((made["jobId"], made["items"], made["status"]), ("job", 12, "running"))
        end = self.wait_end("job")
        self.assertEqual(end["status"], "completed", end)
        self.assertEqual(end["counts"], {"pending": 0, "running": 0, "completed": 12, "failed": 0,
                                         "reported": 0})
        lines = (self.home.workspace / "all").read_text().splitlines()
        self.assertEqual(sorted(json.loads(line)["n"] for line in lines), list(range(12)))
        self.assertEqual(len(self.items("job")), 12)
        events = self.daemon.events("s")
        started = [e for e in events if e["type"] == "job.item.started"]
        self.assertEqual(len({e["threadId"] for e in started}), 3, "at most three threads")
        self.assertEqual(len({e["attemptId"] for e in started}), 12)
        per_item = [e for e in events if e.get("jobItemId") == "7"]
        self.assertLessEqual(len(per_item), 18, types(per_item))
        self.assertTrue(all(e["jobId"] == "job" and e["taskId"] == made["taskId"]
                            for e in per_item))
        reasons = [e["payload"]["decisionReason"] for e in events
                   if e["type"] == "permission.evaluated"]
        judged = [r for r in reasons if not r.startswith("decided for the whole job")]
        self.assertEqual((len(reasons), len(judged)), (12, 1), "judged once")

    def test_the_input_is_exactly_what_was_uploaded_and_may_be_ignored(self):
        lines = b'{"jobItemId":"a","input": {"x":  1.50}}\n{"input":"two"}\n{"input":[3]}'
        reply = self.daemon.request("POST", "/v1/outputs?sessionId=s", lines)
        made = self.daemon.ok(
            "create_job", sessionId="s", itemsRef=reply.json["outputRef"], options=BYPASS,
            concurrency=1, runner={"kind": "command", "command": "cat >> seen; true < /dev/null"})
        self.assertEqual(self.wait_end(made["jobId"])["status"], "completed")
        self.assertEqual((self.home.workspace / "seen").read_bytes(),
                         b'{"x":  1.50}\n"two"\n[3]\n')
        self.assertEqual(set(self.items(made["jobId"])), {"a", "2", "3"})
        ignoring = self.create("true", ["x" * 200_000] * 3)
        self.assertEqual(self.wait_end(ignoring["jobId"])["status"], "completed")

    def test_a_failed_item_is_retried_alone_and_reopens_the_job(self):
        (self.home.workspace / "bad").write_text("2")
        script = 'n=$(cat); echo $n >> ran; echo "out $n"; ! grep -qx "$n" bad'
        self.create(script, [1, 2, 3], jobId="job")
        end = self.wait_end("job")
        self.assertEqual((end["status"], end["counts"]["failed"]), ("failed", 1))
        self.assertEqual(end["error"]["message"], "1 of 3 items failed")
        failed = self.items("job", status="failed")
        self.assertEqual(list(failed), ["2"])
        self.assertEqual(failed["2"]["lastError"]["category"], "exit_nonzero")
        refused = self.daemon.call("retry_job_item", jobId="job", jobItemId="1")
        self.assertEqual((refused.status, refused.code), (409, "conflict"))
        unknown = self.daemon.call("retry_job_item", jobId="job", jobItemId="4")
        self.assertEqual((unknown.code, unknown.json["error"]["message"][:21]),
                         ("not_found", "job job has no item 4"))
        (self.home.workspace / "bad").write_text("")
        again = self.daemon.ok("retry_job_item", jobId="job", jobItemId="2", reason="fixed",
                               idempotencyKey="k")
        self.assertEqual((again["status"], again["attemptCount"]), ("pending", 1))
        self.assertEqual(self.daemon.ok("retry_job_item", jobId="job", jobItemId="2",
                                        reason="fixed", idempotencyKey="k"), again)
        end = self.wait_end("job")
        self.assertEqual((end["status"], end["counts"]["completed"]), ("completed", 3))
        self.assertEqual(self.items("job")["2"]["attemptCount"], 2)
        self.assertEqual(sorted(self.ran()), ["1", "2", "2", "3"])
        starts = [e for e in self.daemon.events("s") if e["type"] == "job.started"]
        self.assertEqual([e["payload"].get("reason") for e in starts], [None, "fixed"])
        self.assertEqual(len({e["attemptId"] for e in starts}), 2)

    def test_the_policy_retries_with_a_delay(self):
        self.create('n=$(cat); echo $n >> ran; [ "$(grep -cx $n ran)" -ge 3 ]', ["a"],
                    jobId="job", retryPolicy={"maxAttempts": 3, "backoffMs": 20})
        self.assertEqual(self.wait_end("job")["status"], "completed")
        self.assertEqual(self.ran(), ['"a"'] * 3)
        self.create("false", ["b"], jobId="twice", retryPolicy={"maxAttempts": 2})
        self.assertEqual(self.wait_end("twice")["status"], "failed")
        self.assertEqual(self.items("twice")["1"]["attemptCount"], 2)

    def test_cancelling_keeps_what_completed_and_leaves_the_rest_pending(self):
        self.create('n=$(cat); echo $n >> ran; [ $n = 1 ] || sleep 60', [1, 2, 3], jobId="job",
                    concurrency=1)
        wait_until(lambda: self.ran() == ["1", "2"], what="the second item")
        self.assertEqual(self.daemon.ok("cancel_job", jobId="job", reason="enough")["status"],
                         "cancelled")
        found = self.items("job")
        self.assertEqual({k: v["status"] for k, v in found.items()},
                         {"1": "completed", "2": "failed", "3": "pending"})
        self.assertEqual(found["2"]["lastError"]["category"], "cancelled")
        self.assertEqual(self.daemon.ok("cancel_job", jobId="job")["status"], "cancelled")
        refused = self.daemon.call("retry_job_item", jobId="job", jobItemId="2")
        self.assertEqual(refused.code, "conflict")
        self.assertEqual([j["jobId"] for j in self.daemon.ok("list_jobs", status="cancelled")
                          ["data"]], ["job"])

    def test_a_job_ends_at_its_maximum_time(self):
        self.create("sleep 60", [1, 2], jobId="job", concurrency=1, maxRuntimeMs=700)
        end = self.wait_end("job")
        self.assertEqual((end["status"], end["error"]["category"]), ("failed", "timeout"))
        self.assertEqual(self.items("job")["1"]["lastError"]["category"], "timeout")

    def test_a_bare_interrupt_does_not_end_items(self):
        self.create("sleep 1; echo done >> ran", [1], jobId="job")
        self.daemon.wait_event("s", lambda e: e["type"] == "process.started")
        self.assertFalse(self.daemon.ok("interrupt_turn", sessionId="s")["interrupted"])
        self.assertEqual(self.wait_end("job")["status"], "completed")
        self.assertEqual(self.ran(), ["done"])


class Judged(Jobs):
    def action(self):
        found = self.daemon.ok("list_actions", sessionId="s")["data"]
        return found[0] if found else None

    def test_a_person_is_asked_once_and_every_item_runs_what_was_approved(self):
        script = self.home.workspace / "step.sh"
        script.write_text("cat >> ran\n")
        self.create("bash ./step.sh", [1, 2, 3, 4], jobId="job", options={}, concurrency=2)
        action = wait_until(self.action, what="the question")
        self.assertEqual(self.job("job")["counts"]["running"], 1, "the others wait")
        for words in (("jobs",), ("jobs", "job"), ("jobs", "--session", "s")):
            shown = self.home.run(*words).stdout
            self.assertIn("asks: bash ./step.sh", shown)
            self.assertIn(f"answer: agentrt approve {action['actionId']}, or agentrt deny", shown)
        self.daemon.ok("respond_action", actionId=action["actionId"], decision="allow")
        self.daemon.wait_event("s", lambda e: e["type"] == "process.started")
        script.write_text("echo other >> ran\n")
        end = self.wait_end("job")
        self.assertEqual(end["status"], "completed", end)
        self.assertEqual(sorted(self.ran()), ["1", "2", "3", "4"], "the approved bytes ran")
        self.assertEqual(types(self.daemon.events("s")).count("action.required"), 1)

    def test_a_file_that_changed_before_a_restart_is_not_run_and_named(self):
        script = self.home.workspace / "step.sh"
        script.write_text("cat >> ran; sleep 0.3\n")
        self.create("bash ./step.sh", list(range(6)), jobId="job", options={}, concurrency=1)
        action = wait_until(self.action, what="the question")
        self.daemon.ok("respond_action", actionId=action["actionId"], decision="allow")
        wait_until(lambda: len(self.ran()) >= 2, what="some items")
        self.crash()
        script.write_text("echo other >> ran\n")
        self.start()
        self.assertEqual(self.wait_end("job")["status"], "failed")
        self.assertNotIn("other", self.ran())
        failed = self.items("job", status="failed")
        denied = [item for item in failed.values() if item["lastError"]["category"] == "denied"]
        self.assertTrue(denied, failed)
        self.assertIn("step.sh", denied[0]["lastError"]["message"])
        self.daemon.ok("retry_job_item", jobId="job", jobItemId=denied[0]["jobItemId"])
        again = wait_until(self.action, what="the second question")
        self.assertNotEqual(again["actionId"], action["actionId"])
        self.daemon.ok("respond_action", actionId=again["actionId"], decision="allow")
        self.wait_end("job")
        self.assertEqual(self.ran().count("other"), 1)

    def test_a_denied_command_fails_the_job_and_leaves_the_rest_pending(self):
        self.create("touch made", [1, 2, 3], jobId="job", options={})
        action = wait_until(self.action, what="the question")
        self.daemon.ok("respond_action", actionId=action["actionId"], decision="deny")
        end = self.wait_end("job")
        self.assertEqual((end["status"], end["error"]["category"]), ("failed", "denied"))
        self.assertEqual(end["counts"]["pending"], 2)
        self.assertFalse((self.home.workspace / "made").exists())
        self.daemon.ok("retry_job_item", jobId="job", jobItemId="1")
        again = wait_until(self.action, what="the second question")
        self.daemon.ok("respond_action", actionId=again["actionId"], decision="allow")
        self.assertEqual(self.wait_end("job")["status"], "completed")

    def test_a_deny_rule_added_later_stops_the_items_that_have_not_started(self):
        self.create("sleep 0.3; echo x >> ran", list(range(8)), jobId="job", concurrency=1)
        wait_until(lambda: len(self.ran()) >= 2, what="some items")
        self.daemon.ok("set_policy", sessionId="s", deny=["shell(sleep:*)"])
        end = self.wait_end("job")
        self.assertEqual(end["status"], "failed")
        self.assertLess(len(self.ran()), 8)
        denied = self.items("job", status="failed")
        self.assertTrue(denied)
        self.assertEqual({item["lastError"]["category"] for item in denied.values()}, {"denied"})

    def test_a_deny_rule_in_a_file_added_later_stops_them_too(self):
        self.create("sleep 0.3; echo x >> ran", list(range(8)), jobId="job", concurrency=2)
        wait_until(lambda: len(self.ran()) >= 2, what="some items")
        folder = self.home.workspace / ".agentrt"
        folder.mkdir(exist_ok=True)  # a sandbox may have made it
        (folder / "config.toml").write_text('[permissions]\ndeny = ["shell(sleep:*)"]\n')
        end = self.wait_end("job")
        self.assertEqual(end["status"], "failed")
        self.assertLess(len(self.ran()), 8)
        denied = self.items("job", status="failed")
        self.assertEqual({item["lastError"]["category"] for item in denied.values()}, {"denied"})

    def test_nobody_to_ask_fails_the_job(self):
        self.create("touch made", [1, 2], jobId="job", options={"interactive": False})
        end = self.wait_end("job")
        self.assertEqual((end["status"], end["counts"]["pending"]), ("failed", 1))

    def test_a_mode_that_approves_in_advance_needs_the_scope(self):
        done = self.home.run("token", "create", "--json", "--scope", "submit", "--scope", "read")
        token = json.loads(done.stdout)["token"]
        body = {"sessionId": "s", "runner": {"kind": "command", "command": "true"},
                "items": [{"input": 1}], "options": BYPASS}
        reply = self.daemon.request("POST", "/v1/commands/create_job", body, token=token)
        self.assertEqual(reply.code, "forbidden")


class Turns(Jobs):
    scripts = {
        "good": [{"text": '{"n": 1}'}],
        "bad": [{"text": '{"n": "one"}'}],
        "calls": [{"toolCalls": [{"name": "shell", "args": {"command": "echo x >> ran"}}]},
                  {"text": "Done."}]}
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    def turns(self, model, items, **runner):
        made = self.daemon.ok("create_job", sessionId="s", options=BYPASS, concurrency=2,
                              items=[{"input": item} for item in items],
                              runner={"kind": "turn", "instruction": "Count.", "model": model,
                                      **runner})
        return made["jobId"]

    def test_the_answer_is_stored_and_then_compared_with_the_schema(self):
        good = self.turns("good", [1, 2, 3], outputSchema=self.schema)
        self.assertEqual(self.wait_end(good)["status"], "completed")
        events = [e for e in self.daemon.events("s") if e.get("jobItemId") == "2"]
        order = [e["payload"].get("itemStatus", e["type"]) for e in events
                 if e["type"] in ("job.progress", "job.item.completed")]
        self.assertEqual(order, ["reported", "job.item.completed"])
        self.assertEqual(self.items(good)["2"]["preview"], '{"n": 1}')
        submitted = next(e for e in events if e["type"] == "turn.submitted")
        self.assertEqual(submitted["payload"]["source"], "job")
        bad = self.turns("bad", [1], outputSchema=self.schema)
        self.assertEqual(self.wait_end(bad)["status"], "failed")
        self.assertIn("outputSchema: n", self.items(bad)["1"]["lastError"]["message"])

    def test_only_the_named_tools_may_be_called(self):
        free = self.turns("calls", [1])
        self.assertEqual(self.wait_end(free)["status"], "completed")
        self.assertEqual(self.ran(), ["x"])
        self.assertEqual(self.wait_end(self.turns("calls", [1], tools=["read_file"]))["status"],
                         "completed")
        self.assertEqual(self.ran(), ["x"], "the call was refused")

    def test_an_item_of_a_killed_runtime_is_answered_again(self):
        job = self.turns("good", list(range(30)), outputSchema=self.schema)
        wait_until(lambda: self.job(job)["counts"]["completed"] >= 5, what="some items")
        self.crash()
        self.start()
        end = self.wait_end(job)
        self.assertEqual((end["status"], end["counts"]["completed"]), ("completed", 30), end)


class BadInput(Jobs):
    def refused(self, code, words, **params):
        params = {"sessionId": "s", "runner": {"kind": "command", "command": "true"}, **params}
        before = self.daemon.ok("list_jobs")["data"]
        reply = self.daemon.call("create_job", **params)
        self.assertEqual(reply.code, code, reply)
        self.assertIn(words, reply.json["error"]["message"])
        self.assertEqual(self.daemon.ok("list_jobs")["data"], before, "nothing was created")

    def test_wrong_params_are_named(self):
        items = [{"input": 1}]
        self.refused("invalid_params", "either items or itemsRef")
        self.refused("invalid_params", "either items or itemsRef", items=items, itemsRef="x")
        self.refused("invalid_params", "expected at least one item", items=[])
        self.refused("invalid_params", "runner.kind: expected one of", items=items,
                     runner={"kind": "magic"})
        self.refused("invalid_params", "runner.command", items=items, runner={"kind": "command"})
        self.refused("invalid_params", "runner.instruction: only allowed", items=items,
                     runner={"kind": "command", "command": "true", "instruction": "x"})
        self.refused("invalid_params", "concurrency: expected 1 to 64", items=items, concurrency=65)
        self.refused("invalid_params", "retryPolicy.maxAttempts", items=items,
                     retryPolicy={"maxAttempts": 0})
        self.refused("invalid_params", "line 2: its jobItemId a",
                     items=[{"jobItemId": "a", "input": 1}, {"jobItemId": "a", "input": 2}])
        self.refused("invalid_params", "runner.outputSchema: expected the JSON Schema of an object",
                     items=items, runner={"kind": "turn", "instruction": "x",
                                          "outputSchema": {"type": "array"}})
        self.refused("not_found", "upload it again", itemsRef="out_0")
        reply = self.daemon.call("create_job", sessionId="nowhere", items=items,
                                 runner={"kind": "command", "command": "true"})
        self.assertEqual(reply.code, "not_found")

    def test_a_bad_line_of_an_upload_is_named(self):
        def upload(data):
            return self.daemon.request("POST", "/v1/outputs?sessionId=s", data).json["outputRef"]
        good = b'{"input":1}\n' * 3
        self.refused("invalid_params", "line 4: ", itemsRef=upload(good + b"{broken\n"))
        self.refused("invalid_params", "line 2: it is empty", itemsRef=upload(b'{"input":1}\n\n'
                                                                             b'{"input":1}\n'))
        self.daemon.ok("create_session", sessionId="other")
        reply = self.daemon.call("create_job", sessionId="other", itemsRef=upload(good),
                                 runner={"kind": "command", "command": "true"})
        self.assertEqual(reply.code, "not_found", "an output of another session")

    def test_the_same_id_gives_the_same_reply(self):
        first = self.create("true", [1], jobId="job")
        self.assertEqual(self.create("true", [1], jobId="job"), first)
        self.wait_end("job")
        self.assertEqual(self.create("true", [1], jobId="job"), first)
        reply = self.daemon.call("create_job", sessionId="s", jobId="job", options=BYPASS,
                                 runner={"kind": "command", "command": "false"},
                                 items=[{"input": 1}])
        self.assertEqual(reply.code, "idempotency_conflict")
        self.assertEqual(self.daemon.call("get_job", jobId="job", sessionId="other").code,
                         "not_found")
        self.assertEqual(self.daemon.call("cancel_job", jobId="none").code, "not_found")


class Killed(Jobs):
    def test_no_item_runs_twice_and_none_is_forgotten(self):
        count = 60
        self.create("cat >> ran; sleep 0.03", list(range(count)), jobId="job", concurrency=4)
        for share in (5, 20, 35):
            wait_until(lambda: len(self.ran()) >= share, what=f"{share} items")
            self.crash()
            self.start()
        end = self.wait_end("job")
        counts = end["counts"]
        self.assertEqual(counts["completed"] + counts["failed"], count, end)
        found = self.items("job")
        self.assertEqual(len(found), count)
        ran = self.ran()
        self.assertEqual(len(ran), len(set(ran)), "an item ran twice")
        for item in found.values():
            if item["status"] == "completed":
                self.assertIn(str(int(item["jobItemId"]) - 1), ran)
            else:
                self.assertIn(item["lastError"]["category"], ("lost", "interrupted"))
        self.assertGreater(counts["completed"], count - 3 * 4 - 1)

    def test_repeatable_items_that_may_have_run_run_again(self):
        self.create("cat >> ran; sleep 0.3", list(range(8)), jobId="job", concurrency=4,
                    repeatable=True)
        wait_until(lambda: len(self.ran()) >= 2, what="some items")
        self.crash()
        self.start()
        end = self.wait_end("job")
        self.assertEqual((end["status"], end["counts"]["completed"]), ("completed", 8), end)
        self.assertEqual(set(self.ran()), {str(n) for n in range(8)})

    def test_retry_of_one_item_survives_a_kill(self):
        (self.home.workspace / "bad").write_text("1")
        self.create('n=$(cat); echo $n >> ran; sleep 0.5; ! grep -qx "$n" bad', [0, 1],
                    jobId="job")
        self.assertEqual(self.wait_end("job")["status"], "failed")
        (self.home.workspace / "bad").write_text("")
        self.daemon.ok("retry_job_item", jobId="job", jobItemId="2")
        self.crash()
        self.start()
        end = self.wait_end("job")
        if end["status"] == "failed":  # it was running when the runtime was killed
            self.assertIn(self.items("job")["2"]["lastError"]["category"], ("lost", "interrupted"))
            self.daemon.ok("retry_job_item", jobId="job", jobItemId="2")
            end = self.wait_end("job")
        self.assertEqual((end["status"], end["counts"]["completed"]), ("completed", 2))
        self.assertEqual(self.ran().count("0"), 1)

    def test_a_question_survives_and_its_answer_continues_the_job(self):
        self.create("cat >> ran", [1, 2, 3], jobId="job", options={})
        wait_until(lambda: self.daemon.ok("list_actions", sessionId="s")["data"], what="question")
        self.crash()
        self.start()
        action = self.daemon.ok("list_actions", sessionId="s")["data"][0]
        self.daemon.ok("respond_action", actionId=action["actionId"], decision="allow")
        self.assertEqual(self.wait_end("job")["status"], "completed")
        self.assertEqual(sorted(self.ran()), ["1", "2", "3"])


    def test_a_retry_of_the_task_survives_a_kill(self):
        (self.home.workspace / "bad").write_text("yes")
        made = self.create('cat >> ran; sleep 0.1; ! test -s bad', list(range(6)), jobId="job",
                           concurrency=2, repeatable=True)
        self.assertEqual(self.wait_end("job")["counts"]["failed"], 6)
        (self.home.workspace / "bad").write_text("")
        self.daemon.ok("retry_task", taskId=made["taskId"], reason="fixed")
        wait_until(lambda: len(self.ran()) >= 8, what="some retries")
        self.crash()
        self.start()
        end = self.wait_end("job")
        self.assertEqual((end["status"], end["counts"]["completed"]), ("completed", 6), end)
        task = self.daemon.ok("get_task", taskId=made["taskId"])
        self.assertEqual([a["status"] for a in task["attempts"]], ["failed", "completed"])


class OfTasks(Jobs):
    def task(self, task):
        return self.daemon.ok("get_task", taskId=task)

    def test_a_job_is_the_next_attempt_of_an_existing_task(self):
        self.daemon.ok("create_task", sessionId="s", taskId="t", objective="two files")
        made = self.create("cat >> ran", [1, 2], jobId="job", taskId="t")
        self.assertEqual(made["taskId"], "t")
        refused = self.daemon.call("create_job", sessionId="s", taskId="t", options=BYPASS,
                                   runner={"kind": "command", "command": "true"},
                                   items=[{"input": 1}])
        self.wait_end("job")
        task = wait_until(lambda: self.task("t")["status"] == "completed" and self.task("t"),
                          what="the end of the task")
        self.assertEqual([a["worker"] for a in task["attempts"]],
                         [{"kind": "job", "jobId": "job"}])
        if refused.status != 200:  # unless the first job had ended already
            self.assertEqual(refused.code, "conflict")

    def test_a_retry_of_the_task_retries_all_failed_items_and_no_other(self):
        (self.home.workspace / "bad").write_text("1\n2\n4\n5\n")
        made = self.create('n=$(cat); echo $n >> ran; ! grep -qx "$n" bad', [1, 2, 3, 4, 5, 6],
                           jobId="job", concurrency=3)
        self.assertEqual(self.wait_end("job")["counts"]["failed"], 4)
        (self.home.workspace / "bad").write_text("4\n")
        run = self.daemon.ok("retry_task", taskId=made["taskId"], reason="fixed")
        self.assertEqual((run["status"], run["attemptCount"]), ("running", 2))
        end = self.wait_end("job")
        self.assertEqual((end["status"], end["counts"]["failed"]), ("failed", 1), end)
        self.assertEqual(sorted(self.ran()), sorted("1 2 3 4 5 6 1 2 4 5".split()))
        task = self.task(made["taskId"])
        self.assertEqual((task["status"], len(task["attempts"])), ("failed", 2))

    def test_the_policy_of_the_task_starts_the_job_again(self):
        self.daemon.ok("create_task", sessionId="s", taskId="t", objective="twice",
                       retryPolicy={"maxAttempts": 2, "backoffMs": 700})
        self.create('n=$(cat); echo $n >> ran; [ "$(grep -cx $n ran)" -ge 2 ]', [1, 2, 3],
                    jobId="job", taskId="t")
        self.wait_end("job")
        self.crash()  # the retry is armed again
        self.start()
        task = wait_until(lambda: self.task("t")["status"] == "completed" and self.task("t"),
                          seconds=4 * WAIT_SECONDS, what="the second attempt")
        self.assertEqual([a["status"] for a in task["attempts"]], ["failed", "completed"])
        self.assertEqual(sorted(self.ran()), ["1", "1", "2", "2", "3", "3"])

    def test_time_limits_of_the_task_end_the_job(self):
        for limit in ("timeoutMs", "deadlineMs"):
            self.daemon.ok("create_task", sessionId="s", taskId=limit, objective="soon",
                           constraints={limit: 600})
            self.create("sleep 60", [1, 2], jobId="job" + limit, taskId=limit)
            self.assertEqual(self.wait_end("job" + limit)["error"]["category"], "timeout")
            self.assertEqual(self.task(limit)["status"], "timed_out")

    def test_a_paused_task_lets_its_running_items_end(self):
        made = self.create("cat >> ran; sleep 0.5", [1, 2, 3, 4], jobId="job", concurrency=1)
        wait_until(lambda: len(self.ran()) >= 1, what="the first item")
        self.daemon.ok("pause_task", taskId=made["taskId"])
        before = len(self.ran())
        wait_until(lambda: self.job("job")["counts"]["running"] == 0, what="the running items")
        self.assertLessEqual(len(self.ran()), before + 1)
        self.assertEqual(self.task(made["taskId"])["status"], "paused")
        self.daemon.ok("resume_task", taskId=made["taskId"])
        self.assertEqual(self.wait_end("job")["counts"]["completed"], 4)

    def test_cancelling_the_task_cancels_the_job(self):
        made = self.create("cat >> ran; sleep 60", [1, 2, 3], jobId="job", concurrency=1)
        wait_until(self.ran, what="the first item")
        self.daemon.ok("cancel_task", taskId=made["taskId"], reason="enough")
        self.assertEqual(self.job("job")["status"], "cancelled")
        self.assertEqual(self.task(made["taskId"])["status"], "cancelled")

    def test_a_thread_of_a_job_takes_no_other_turn(self):
        self.create("cat >> ran; sleep 60", [1], jobId="job")
        wait_until(self.ran, what="the item")
        thread = self.job("job")["threads"][0]
        reply = self.daemon.call("submit_turn", sessionId="s", threadId=thread,
                                 input=[{"type": "text", "text": "hello"}])
        self.assertEqual(reply.code, "conflict")
        self.daemon.ok("cancel_job", jobId="job")

    def test_the_environment_of_the_client_is_kept_with_the_job(self):
        body = {"variables": [{"name": "TERM", "value": "of-the-client"}], "settings": [],
                "credentials": []}
        done = subprocess.run(
            ["curl", "-sS", "--fail-with-body", "--max-time", "30", "--unix-socket",
             str(self.home.data / "agentrt.sock"), "-H",
             f"Authorization: Bearer {self.daemon.token}", "-H", "Content-Type: application/json",
             "-d", json.dumps(body), "http://127.0.0.1/v1/turns/job/environment"],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done)
        self.create('echo "$TERM" >> ran', [1, 2, 3], jobId="job", options={}, concurrency=2)
        action = wait_until(lambda: self.daemon.ok("list_actions", sessionId="s")["data"],
                            what="the question")[0]
        self.crash()
        self.start()
        self.daemon.ok("respond_action", actionId=action["actionId"], decision="allow")
        self.assertEqual(self.wait_end("job")["status"], "completed")
        self.assertEqual(self.ran(), ["of-the-client"] * 3)


class Terminal(Jobs):
    def test_a_paused_job_says_so(self):
        job = self.create("sleep 0.3", [1, 2, 3], jobId="job", concurrency=1)
        self.daemon.ok("pause_task", taskId=job["taskId"], reason="lunch")
        wait_until(lambda: self.job("job")["counts"]["running"] == 0, what="the end of the item")
        shown = self.home.run("jobs", "job").stdout
        self.assertIn("paused: lunch", shown)
        self.assertIn("resume: agentrt call resume_task "
                      f"""'{{"taskId":"{job['taskId']}"}}'""", shown)

    def test_jobs_are_listed_shown_and_watched(self):
        self.create("n=$(cat); sleep 0.1; [ $n != 2 ]", [1, 2, 3], jobId="job", concurrency=1)
        done = self.home.run("jobs", "job", "--watch")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("✗ job  failed", done.stdout)
        self.assertIn("exit_nonzero: exit code 1", done.stdout)
        self.assertIn("retry: agentrt call retry_job_item "
                      "'{\"jobId\":\"job\",\"jobItemId\":\"2\"}'", done.stdout)
        listed = self.home.run("jobs", "--session", "s", "--status", "failed")
        self.assertIn("3 of 3 items · 1 failed", listed.stdout)
        self.assertIn("agentrt jobs job --status failed", listed.stdout)
        self.assertEqual(json.loads(self.home.run("jobs", "--json").stdout)["data"][0]["jobId"],
                         "job")
        shown = json.loads(self.home.run("jobs", "job", "--json").stdout)
        self.assertEqual(shown["counts"]["completed"], 2)
        self.assertEqual(self.home.run("jobs", "none").returncode, 1)
        self.assertEqual(self.home.run("jobs", "--status", "odd").returncode, 2)


class Followed(Jobs):
    scripts = {"main": [{"text": "Done.", "delayMs": 3000}]}

    def test_a_run_shows_the_jobs_of_its_session(self):
        with subprocess.Popen([BINARY, "run", "--session", "s", "go"], cwd=self.home.workspace,
                              env=self.home.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            self.daemon.wait_event("s", lambda e: e["type"] == "model.requested")
            self.create("true", [1, 2], jobId="job")
            out, err = run.communicate(timeout=4 * WAIT_SECONDS)
        self.assertEqual((run.returncode, out.strip()), (0, "Done."), err)
        self.assertIn("job job started: 2 items, $ true", err)
        self.assertIn("job job completed: 2 items", err)


class Background(Jobs):
    daemon_at_start = False

    def test_a_running_job_keeps_the_background_owner(self):
        call = lambda name, params: self.home.run("call", name, json.dumps(params))
        self.assertEqual(call("create_session", {"sessionId": "s"}).returncode, 0)
        done = call("create_job", {"sessionId": "s", "jobId": "job", "options": BYPASS,
                                   "runner": {"kind": "command", "command": "sleep 1; cat >> ran"},
                                   "items": [{"input": 1}, {"input": 2}], "concurrency": 1})
        self.assertEqual(done.returncode, 0, done.stderr)
        wait_until(lambda: self.ran() == ["1", "2"], what="both items")


if __name__ == "__main__":
    unittest.main()
