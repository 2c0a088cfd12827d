"""Read models: names and contents, equal before and after kill -9; turns and objects by id."""

import json
import sqlite3
import unittest

from harness import Case, wait_until

MODELS = ["session_snapshot", "thread_read_model", "tool_inventory_snapshot", "queue_snapshot",
          "task_snapshot", "context_boundary_snapshot", "artifact_checkpoint_summary",
          "evidence_summary", "permission_sandbox_summary", "execution_environment_snapshot",
          "routing_limit_summary", "subagent_job_summary", "channel_summary"]
OF_A_THREAD = ["thread_read_model", "context_boundary_snapshot"]


def write(path, content):
    return {"name": "write_file", "args": {"path": path, "content": content}}


def shell(command):
    return {"name": "shell", "args": {"command": command}}


class ModelCase(Case):
    config = '[permissions]\nmode = "bypass"\n'
    scripts = {"main": [{"text": "Done."}],
               "works": [{"toolCalls": [write("a.txt", "one\n"), shell("echo hi")]},
                         {"toolCalls": [write("a.txt", "two\n")]}, {"text": "All done."}],
               "slow": [{"text": "Late.", "delayMs": 60_000}]}

    def setUp(self):
        super().setUp()
        self.daemon.ok("create_session", sessionId="s", cwd=str(self.home.workspace))

    def model(self, name, **params):
        if name in OF_A_THREAD:
            params.setdefault("threadId", "t")
        return self.daemon.ok("get_read_model", sessionId="s", name=name, **params)

    def work(self, **more):
        turn = self.daemon.submit(sessionId="s", threadId="t", options={"model": "works"}, **more)
        self.daemon.wait_turn(turn)
        return turn

    def busy(self):
        """A session with ended turns, files, a queue, tasks, a failed job and a subagent."""
        self.work()
        self.daemon.ok("create_task", sessionId="s", taskId="first", objective="build")
        self.daemon.ok("create_task", sessionId="s", taskId="then", objective="sign",
                       blockedBy=["first"])
        self.daemon.ok("create_job", sessionId="s", jobId="job", items=[{"input": 1}],
                       runner={"kind": "command", "command": "false"})
        wait_until(lambda: self.daemon.ok("get_job", jobId="job")["status"] == "failed",
                   what="the end of the job")
        self.daemon.ok("spawn_subagent", sessionId="s", threadId="t", subagentId="sub",
                       role="helper", prompt="Look.", model="main")
        self.daemon.ok("wait_subagents", subagentIds=["sub"], timeoutMs=20_000)
        self.daemon.submit(sessionId="s", threadId="t", options={"model": "slow"})
        self.daemon.submit("next", sessionId="s", threadId="t")
        wait_until(lambda: self.model("thread_read_model")["activeTurn"]["modelRequests"] == 1,
                   what="a running turn")


class Models(ModelCase):
    def test_every_model_over_both_routes_with_its_sequence(self):
        self.busy()
        for name in MODELS:
            with self.subTest(name):
                model = self.model(name)
                self.assertIn("asOfSequence", model)
                self.assertTrue(model["generation"].startswith("gen_"))
                reply = self.daemon.get(f"/v1/sessions/s/models/{name}?threadId=t")
                self.assertEqual(reply.status, 200, reply)
                self.assertEqual(reply.json, self.model(name, threadId="t"))

    def test_contents(self):
        self.busy()
        queue = self.model("queue_snapshot")
        self.assertEqual((queue["queuedCount"], queue["queuedTurns"][0]["policy"],
                          queue["queuedTurns"][0]["source"]), (1, "enqueue", "user"))
        tasks = self.model("task_snapshot")
        self.assertEqual([task["taskId"] for task in tasks["waiting"]["tasks"]], ["then", "first"])
        self.assertEqual(tasks["waiting"]["total"], 2)
        self.assertEqual(tasks["waiting"]["tasks"][0]["relationships"][0]["targetId"], "first")
        self.assertEqual(tasks["failed"]["total"], 1)
        files = self.model("artifact_checkpoint_summary")
        self.assertEqual(files["total"], 1)
        self.assertEqual((files["files"][0]["versions"], files["files"][0]["path"]),
                         (2, str(self.home.workspace / "a.txt")))
        self.assertEqual(files["files"][0]["restorable"]["status"], "not_applicable")
        rights = self.model("permission_sandbox_summary")
        self.assertEqual(rights["mode"], "bypass")
        self.assertGreaterEqual(sum(each["count"] for each in rights["decisions"]), 3)
        self.assertEqual(rights["profile"]["sandbox"]["mode"], "workspace_write")
        family = self.model("subagent_job_summary")
        self.assertEqual((family["subagents"]["total"], family["jobs"]["data"][0]["jobId"]),
                         (1, "job"))
        self.assertEqual(self.model("subagent_job_summary", threadId="t")["subagents"]["open"], 1)
        context = self.model("context_boundary_snapshot")
        self.assertEqual(context["turns"], 3)
        self.assertEqual(self.model("channel_summary")["peers"]["status"], "not_applicable")
        self.assertEqual(self.model("session_snapshot", threadId="t")["threads"][0]["threadId"],
                         "t")

    def test_each_model_is_the_same_after_kill_9(self):
        self.busy()
        self.daemon.ok("interrupt_turn", sessionId="s", threadId="t", queue="clear")
        before = {name: self.model(name) for name in MODELS}
        self.crash()
        self.start()
        for name in MODELS:
            self.assertEqual(json.dumps(self.model(name)), json.dumps(before[name]), name)

    def test_the_past_is_what_was_read_then_on_both_routes(self):
        then = {}

        def look():
            for name in MODELS:
                if name == "tool_inventory_snapshot":
                    continue  # its permissions follow the files of the present
                model = self.model(name)
                then[name, model["asOfSequence"]] = model
        self.work()
        look()
        self.busy()
        look()
        self.daemon.ok("interrupt_turn", sessionId="s", threadId="t", queue="clear")
        self.daemon.ok("update_session", sessionId="s", title="Later")
        self.crash()
        self.start()
        for (name, sequence), model in then.items():
            with self.subTest(name=name, sequence=sequence):
                self.assertEqual(self.model(name, atSequence=sequence), model)
                thread = "?threadId=t&" if name in OF_A_THREAD else "?"
                reply = self.daemon.get(f"/v1/sessions/s/models/{name}{thread}"
                                        f"atSequence={sequence}")
                self.assertEqual(reply.json, model)
        sequence = then["session_snapshot", max(s for n, s in then)]["asOfSequence"]
        for path, name in ((f"/v1/sessions/s?atSequence={sequence}", "session_snapshot"),
                           (f"/v1/sessions/s/threads/t?atSequence={sequence}",
                            "thread_read_model")):
            self.assertEqual(self.daemon.get(path).json, then[name, sequence])
        inventory = self.model("tool_inventory_snapshot", atSequence=sequence)
        self.assertIn("shell", [tool["toolName"] for tool in inventory["tools"]])
        self.assertEqual(self.model("tool_inventory_snapshot", atSequence=1)["tools"]["status"],
                         "unknown")

    def test_a_moment_that_does_not_exist(self):
        turn = self.work()
        head = self.daemon.ok("get_session", sessionId="s")["asOfSequence"]
        for command, more in (("get_session", {}), ("get_thread_read", {"threadId": "t"}),
                              ("get_read_model", {"name": "queue_snapshot"})):
            reply = self.daemon.call(command, sessionId="s", atSequence=0, **more)
            self.assertRefused(reply, 400, "invalid_params")
            self.assertTrue(reply.json["error"]["message"].startswith("atSequence"), reply)
            reply = self.daemon.call(command, sessionId="s", atSequence=head + 1, **more)
            self.assertRefused(reply, 410, "gone")
            self.assertEqual(reply.json["error"]["details"], {"lastSequence": head})
        for text in ("x", "-1", "0"):
            self.assertRefused(self.daemon.get(f"/v1/sessions/s?atSequence={text}"), 400,
                               "invalid_params")
        self.assertRefused(self.daemon.call("get_thread_read", sessionId="s", threadId="t",
                                            atSequence=1), 404, "not_found")
        self.assertEqual(self.daemon.ok("get_session", sessionId="s")["asOfSequence"], head)
        self.daemon.wait_turn(turn)

    def test_bad_input(self):
        reply = self.daemon.call("get_read_model", sessionId="s", name="everything")
        self.assertRefused(reply, 404, "not_found")
        self.assertEqual(reply.json["error"]["details"]["models"], MODELS)
        for name in OF_A_THREAD:
            reply = self.daemon.call("get_read_model", sessionId="s", name=name)
            self.assertRefused(reply, 400, "invalid_params")
        reply = self.daemon.call("get_read_model", sessionId="s", name="queue_snapshot",
                                 threadId="none")
        self.assertRefused(reply, 404, "not_found")
        self.assertIn("agentrt show s", reply.json["error"]["message"])
        self.assertRefused(self.daemon.get("/v1/sessions/none/models/queue_snapshot"), 404,
                           "not_found")
        self.assertRefused(self.daemon.get("/v1/sessions/s/models/none"), 404, "not_found")

    def test_at_the_terminal(self):
        turn = self.work()
        done = self.home.run("show", "s", "--view", "task_snapshot")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout)["sessionId"], "s")
        done = self.home.run("show", "s", "--view", "thread_read_model", "--thread", "t")
        self.assertEqual(json.loads(done.stdout)["threadId"], "t")
        self.assertEqual(self.home.run("show", "s", "--thread", "t").returncode, 2)
        self.assertEqual(self.home.run("show", "s", "--view", "none").returncode, 1)
        done = self.home.run("find", turn["turnId"])
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("kind     turn", done.stdout)
        self.assertEqual(self.home.run("find", "none").returncode, 1)


class Lists(ModelCase):
    def ids(self, **params):
        return [row["sessionId"] for row in self.daemon.ok("list_sessions", **params)["data"]]

    def test_order_status_and_text_on_both_routes(self):
        for name in ("one", "two"):
            self.daemon.ok("create_session", sessionId=name, title=f"Title of {name.upper()}")
        self.daemon.submit(sessionId="s", threadId="t", options={"model": "slow"})
        wait_until(lambda: self.ids(status=["preparing", "running", "streaming"]) == ["s"],
                   what="a running session")
        self.assertEqual(self.ids(), ["two", "one", "s"])
        self.assertEqual(self.ids(order="updated"), ["s", "two", "one"])
        self.assertEqual(self.ids(text="title OF one"), ["one"])
        self.assertEqual(self.ids(status=["idle"], text="two"), ["two"])
        for query, expected in (("order=updated", ["s", "two", "one"]), ("text=OF%20TWO", ["two"]),
                                ("status=idle,blocked&order=updated", ["two", "one"])):
            reply = self.daemon.get(f"/v1/sessions?{query}")
            self.assertEqual([row["sessionId"] for row in reply.json["data"]], expected, query)
        self.crash()
        self.start()
        self.assertEqual(self.ids(order="updated")[1:], ["two", "one"])

    def test_wrong_words_are_named(self):
        for params, query, member in (({"order": "size"}, "order=size", "order"),
                                      ({"status": ["busy"]}, "status=idle,busy", "status"),
                                      ({"text": "x" * 257}, "text=" + "x" * 257, "text")):
            for reply in (self.daemon.call("list_sessions", **params),
                          self.daemon.get(f"/v1/sessions?{query}")):
                self.assertRefused(reply, 400, "invalid_params")
                self.assertTrue(reply.json["error"]["message"].startswith(member), reply.json)


class LookUps(ModelCase):
    def test_a_turn_with_its_items_page_by_page(self):
        turn = self.work()
        whole = self.daemon.ok("get_turn", turnId=turn["turnId"])
        self.assertEqual(whole["turn"]["status"], "completed")
        kinds = [(item["kind"], item["status"]) for item in whole["items"]]
        self.assertEqual(kinds[-1], ("agent_message", "completed"))
        self.assertEqual(len([kind for kind, _ in kinds if kind in ("file_change", "command")]), 3)
        self.assertNotIn("nextCursor", whole)
        seen, cursor = [], {}
        while True:
            page = self.daemon.ok("get_turn", turnId=turn["turnId"], limit=1, **cursor)
            seen += page["items"]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        self.assertEqual(seen, whole["items"])
        self.assertRefused(self.daemon.call("get_turn", turnId="none"), 404, "not_found")
        self.assertRefused(self.daemon.call("get_turn", turnId=turn["turnId"], sessionId="x"), 404,
                           "not_found")

    def test_objects_are_found_by_their_ids(self):
        self.busy()
        events = self.daemon.events("s")

        def of(kind, member):
            return next(event for event in events if event["type"] == kind and member in event)
        call = of("tool.started", "toolCallId")
        changed = of("artifact.changed", "artifactId")
        expected = {"s": ("session", 1), call["toolCallId"]: ("tool_call", call["sequence"]),
                    changed["artifactId"]: ("artifact", None), "first": ("task", None),
                    "job": ("job", None), "sub": ("subagent", None),
                    call["turnId"]: ("turn", None)}
        for id, (kind, sequence) in expected.items():
            with self.subTest(id):
                found = self.daemon.ok("find_object", id=id)
                self.assertEqual((found["kind"], found["sessionId"]), (kind, "s"))
                if sequence:
                    self.assertEqual(found["sequence"], sequence)
        found = self.daemon.ok("find_object", id=call["toolCallId"])
        self.assertEqual((found["threadId"], found["turnId"]), ("t", call["turnId"]))
        self.assertRefused(self.daemon.call("find_object", id="none"), 404, "not_found")

    def test_history_of_one_thread_and_pages_of_threads(self):
        turns = {}
        for number in range(25):
            turn = self.daemon.submit(sessionId="s", threadId=f"t{number}")
            turns[f"t{number}"] = turn["turnId"]
            self.daemon.wait_turn(turn)
        page = self.daemon.ok("get_session", sessionId="s", threadId="t3")
        self.assertEqual([turn["turnId"] for turn in page["history"]], [turns["t3"]])
        self.assertEqual((page["threadCount"], len(page["threads"])), (25, 20))
        self.assertEqual(page["threads"][0]["threadId"], "t24")
        older = self.daemon.ok("get_session", sessionId="s", threadsCursor=page["threadsCursor"])
        self.assertEqual([thread["threadId"] for thread in older["threads"]],
                         ["t4", "t3", "t2", "t1", "t0"])
        self.assertNotIn("threadsCursor", older)
        self.assertRefused(self.daemon.call("get_session", sessionId="s", threadId="none"), 404,
                           "not_found")
        self.assertRefused(self.daemon.call("get_session", sessionId="s", threadsCursor="x"), 400,
                           "invalid_params")


class Snapshots(ModelCase):
    def test_a_damaged_and_a_missing_snapshot_are_replaced(self):
        for number in range(30):
            self.work()
        for change, reason in (("UPDATE snapshot SET bytes = x'00'", "damaged"),
                               ("DELETE FROM snapshot", "missing")):
            with self.subTest(reason):
                self.daemon.ok("update_session", sessionId="s", title=reason)
                before = {name: self.model(name) for name in MODELS}
                after = before["queue_snapshot"]["asOfSequence"]
                self.crash()
                store = sqlite3.connect(self.home.data / "agentrt.db")
                self.assertGreater(store.execute("SELECT count(*) FROM snapshot").fetchone()[0], 0)
                store.execute(change)
                store.commit()
                store.close()
                self.start()
                self.model("queue_snapshot")
                new = [event for event in self.daemon.events("s")
                       if event["sequence"] > after]
                self.assertEqual([event["type"] for event in new],
                                 ["snapshot.repaired", "snapshot.updated"])
                self.assertEqual(new[0]["payload"]["reason"], reason)


if __name__ == "__main__":
    unittest.main()
