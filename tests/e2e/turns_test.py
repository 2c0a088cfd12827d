"""Turns as a client sees them: order of facts, the queue, interruption, reads."""

import time
import unittest

from harness import Case, types, wait_until

SUBMIT_ORDER = ["session.created", "thread.started", "task.created", "turn.submitted",
                "task.started", "task.attempt.started", "turn.started", "run.status"]
PREPARED = ["context.resolved", "tool.catalog.resolved", "task.profile.resolved",
            "routing.candidates.resolved", "routing.single_candidate", "model.requested"]


def of_type(events, kind):
    return [event for event in events if event["type"] == kind]


class PlainTurn(Case):
    scripts = {"main": [{"text": "The answer is 42.", "reasoning": "Let me think.", "deltas": 5,
                         "usage": {"inputTokens": 10, "outputTokens": 7}}]}

    def test_a_turn_runs_from_submission_to_completion_in_the_documented_order(self):
        reply = self.daemon.submit("what is the answer?")
        self.assertEqual(reply["status"], "accepted")
        events = self.daemon.wait_turn(reply)
        self.check(events)
        self.assertEqual(types(events)[:8], SUBMIT_ORDER)
        self.assertGreaterEqual(reply["sequence"], 8)
        kinds = [kind for kind in types(events) if kind in PREPARED]
        self.assertEqual(kinds, PREPARED)
        self.assertLess(types(events).index("run.status"), types(events).index("model.requested"))
        completed = of_type(events, "model.completed")[0]["payload"]
        self.assertEqual(completed["text"], "The answer is 42.")
        self.assertEqual(completed["usage"]["inputTokens"], 10)
        self.assertEqual(completed["usage"]["outputTokens"], 7)
        end = events[-1]
        self.assertEqual((end["type"], end["payload"]["status"]), ("turn.completed", "completed"))
        self.assertEqual(end["payload"]["usage"]["outputTokens"], 7)

    def test_the_tasks_end_is_in_the_log_with_the_turns(self):
        reply = self.daemon.submit()
        last = self.daemon.wait_turn(reply)[-1]["sequence"]
        kinds = types(self.check_session(reply["sessionId"]))
        self.assertIn("task.attempt.completed", kinds)
        self.assertIn("task.completed", kinds)
        self.assertLessEqual(abs(kinds.index("task.completed") + 1 - last), 3)

    def test_reasoning_and_text_are_items_with_a_beginning_and_an_end(self):
        events = self.daemon.wait_turn(self.daemon.submit())
        items = [(e["type"], e["payload"]["kind"]) for e in events if e["type"][:5] == "item."]
        for kind in ("reasoning", "agent_message"):
            self.assertIn(("item.started", kind), items)
            self.assertIn(("item.completed", kind), items)
        message = [e for e in of_type(events, "item.completed")
                   if e["payload"]["kind"] == "agent_message"][0]
        self.assertEqual(message["payload"]["text"], "The answer is 42.")
        self.assertEqual("".join(e["payload"]["text"] for e in of_type(events, "reasoning.delta")),
                         "Let me think.")

    def test_every_fact_of_the_turn_carries_the_same_task_run_and_attempt(self):
        events = self.daemon.wait_turn(self.daemon.submit())
        of_turn = [event for event in events if "turnId" in event]
        for name in ("taskId", "runId", "attemptId", "threadId", "traceId"):
            self.assertEqual(len({event.get(name) for event in of_turn}), 1, name)

    def test_instructions_of_the_workspace_are_an_instruction_ref(self):
        (self.home.workspace / "AGENTS.md").write_text("Be brief.\n")
        events = self.daemon.wait_turn(self.daemon.submit())
        refs = of_type(events, "context.resolved")[0]["payload"]["instructionRefs"]
        self.assertTrue(any("AGENTS.md" in ref["ref"] for ref in refs), refs)

    def test_a_second_turn_of_a_thread_loads_the_history_before_it(self):
        first = self.daemon.submit()
        self.daemon.wait_turn(first)
        second = self.daemon.submit("and again", sessionId=first["sessionId"],
                                    threadId=first["threadId"])
        self.assertEqual(second["threadId"], first["threadId"])
        events = self.daemon.wait_turn(second)
        self.check(events)
        loaded = of_type(events, "history.window.loaded")
        self.assertEqual([event["payload"]["turns"] for event in loaded], [1])

    def test_past_its_last_line_a_script_says_done(self):
        empty = self.home.script("empty", [])
        reply = self.daemon.submit(options={"model": f"script:{empty}"})
        events = self.daemon.wait_turn(reply)
        self.assertEqual(of_type(events, "model.completed")[0]["payload"]["text"], "done")

    def test_a_model_that_does_not_exist_blocks_nothing_else(self):
        reply = self.daemon.submit(options={"model": "no_such_model"})
        events = self.daemon.wait_event(
            reply["sessionId"], lambda e: e["type"] == "routing.not_possible")
        self.check(events)
        self.assertEqual(events[-1]["payload"]["requestedModel"], "no_such_model")
        self.assertNotIn("selectedModel", events[-1]["payload"])
        self.daemon.wait_turn(self.daemon.submit())


class FailingModel(Case):
    scripts = {
        "main": [{"fail": {"status": 429, "retryAfterMs": 20}}, {"text": "second try"}],
        "broken": [{"fail": {"status": 400}}],
    }

    def test_a_rate_limit_is_waited_out_and_the_next_line_is_played(self):
        events = self.daemon.wait_turn(self.daemon.submit())
        self.check(events)
        failed = of_type(events, "model.failed")
        self.assertEqual([event["payload"]["error"]["category"] for event in failed],
                         ["rate_limited"])
        self.assertEqual(events[-1]["type"], "turn.completed")
        self.assertEqual(of_type(events, "model.completed")[0]["payload"]["text"], "second try")

    def test_a_request_the_provider_refuses_fails_the_turn_with_its_reason(self):
        events = self.daemon.wait_turn(self.daemon.submit(options={"model": "broken"}))
        end = events[-1]
        self.assertEqual((end["type"], end["payload"]["status"]), ("turn.failed", "failed"))
        self.assertIn(end["payload"]["error"]["category"], ("invalid_input", "provider"))
        self.check_session(end["sessionId"])


class Queue(Case):
    scripts = {"main": [{"delayMs": 30_000, "text": "slow"}], "fast": [{"text": "fast"}]}

    def setUp(self):
        super().setUp()
        self.first = self.daemon.submit("one", sessionId="s", threadId="t", turnId="u1")

    def put(self, turn, **options):
        return self.daemon.call("submit_turn", sessionId="s", threadId="t", turnId=turn,
                                input=[{"type": "text", "text": turn}],
                                options={"model": "fast", **options})

    def order(self):
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        return [turn["turnId"] for turn in read["queuedTurns"]]

    def test_turns_behind_a_running_one_wait_in_order(self):
        for number, turn in enumerate(["u2", "u3", "u4"], 1):
            reply = self.put(turn).json
            self.assertEqual((reply["status"], reply["position"]), ("queued", number))
        self.assertEqual(self.order(), ["u2", "u3", "u4"])
        self.daemon.ok("interrupt_turn", sessionId="s", threadId="t")
        for turn in ["u2", "u3", "u4"]:
            self.daemon.wait_turn({"sessionId": "s", "turnId": turn})
        events = self.check_session("s")
        started = [e["turnId"] for e in of_type(events, "turn.started")]
        self.assertEqual(started, ["u1", "u2", "u3", "u4"])
        changes = [(e["payload"]["change"], e["payload"]["turnId"])
                   for e in of_type(events, "queue.changed")]
        self.assertEqual(changes[:3], [("added", "u2"), ("added", "u3"), ("added", "u4")])
        self.assertEqual(changes[3:], [("started", "u2"), ("started", "u3"), ("started", "u4")])

    def test_the_duration_of_a_turn_leaves_out_its_time_in_the_queue(self):
        self.put("u2")
        time.sleep(4)
        self.daemon.ok("interrupt_turn", sessionId="s", threadId="t")
        self.daemon.wait_turn({"sessionId": "s", "turnId": "u2"})
        end, = [e for e in of_type(self.daemon.events("s"), "turn.completed")]
        self.assertLess(end["payload"]["durationMs"], 3_500)

    def test_a_queued_turn_can_be_promoted_and_removed(self):
        for turn in ["u2", "u3", "u4"]:
            self.put(turn)
        reply = self.daemon.ok("promote_queued_turn", sessionId="s", threadId="t",
                               queuedTurnId="u4")
        self.assertEqual(reply["queue"], ["u4", "u2", "u3"])
        reply = self.daemon.ok("remove_queued_turn", sessionId="s", threadId="t",
                               queuedTurnId="u2")
        self.assertEqual(reply["queue"], ["u4", "u3"])
        self.assertEqual(self.order(), ["u4", "u3"])
        events = self.check_session("s")
        removed = of_type(events, "turn.failed")[0]
        self.assertEqual((removed["turnId"], removed["payload"]["status"]), ("u2", "cancelled"))
        self.assertRefused(self.daemon.call("remove_queued_turn", sessionId="s", threadId="t",
                                            queuedTurnId="nobody"), 404, "not_found")

    def test_the_policy_reject_refuses_while_a_turn_runs(self):
        self.assertRefused(self.put("u2", queuePolicy="reject"), 409, "conflict")
        self.assertEqual(self.order(), [])

    def test_the_policy_interrupt_ends_the_running_turn_and_goes_first(self):
        self.put("u2")
        self.put("u3", queuePolicy="interrupt")
        self.daemon.wait_turn({"sessionId": "s", "turnId": "u2"})
        events = self.check_session("s")
        ends = [(e["turnId"], e["payload"]["status"]) for e in events
                if e["type"] in ("turn.completed", "turn.failed")]
        self.assertEqual(ends, [("u1", "cancelled"), ("u3", "completed"), ("u2", "completed")])

    def test_interrupting_may_clear_the_queue(self):
        self.put("u2")
        reply = self.daemon.ok("interrupt_turn", sessionId="s", threadId="t", queue="clear",
                               reason="enough")
        self.assertTrue(reply["interrupted"])
        events = self.daemon.wait_turn({"sessionId": "s", "turnId": "u2"})
        self.check(events)
        self.assertEqual([e["payload"]["status"] for e in of_type(events, "turn.failed")],
                         ["cancelled", "cancelled"])
        self.assertEqual(self.order(), [])

    def test_interrupting_what_has_ended_is_no_error_and_writes_nothing(self):
        self.daemon.ok("interrupt_turn", sessionId="s", threadId="t")
        self.daemon.wait_turn(self.first)
        before = len(self.daemon.events("s"))
        reply = self.daemon.ok("interrupt_turn", sessionId="s", threadId="t", turnId="u1")
        self.assertFalse(reply["interrupted"])
        self.assertEqual(len(self.daemon.events("s")), before)

    def test_threads_of_a_session_run_side_by_side(self):
        other = self.daemon.submit("x", sessionId="s", threadId="other",
                                   options={"model": "fast"})
        self.assertEqual(other["status"], "accepted")
        self.assertEqual(self.daemon.wait_turn(other)[-1]["type"], "turn.completed")

    def test_resuming_a_thread_with_nothing_to_resume_is_no_error(self):
        reply = self.daemon.ok("resume_thread", sessionId="s", threadId="t")
        self.assertFalse(reply["resumed"])
        self.assertRefused(self.daemon.call("resume_thread", sessionId="s", threadId="none"),
                           404, "not_found")


class QueueLimit(Case):
    scripts = {"main": [{"delayMs": 30_000, "text": "slow"}]}
    config = "[limits]\nqueue_turns_max = 3\n"

    def test_a_full_queue_refuses_with_limit_exceeded(self):
        for number in range(4):
            self.daemon.submit(sessionId="s", threadId="t", turnId=f"u{number}")
        full = self.daemon.call("submit_turn", sessionId="s", threadId="t",
                                input=[{"type": "text", "text": "x"}])
        self.assertRefused(full, 429, "limit_exceeded")
        self.check_session("s")


class Repeats(Case):
    def test_the_same_key_gives_the_same_reply_and_no_new_facts(self):
        params = {"sessionId": "s", "input": [{"type": "text", "text": "x"}]}
        first = self.daemon.ok("submit_turn", **params, idempotencyKey="k")
        self.daemon.wait_turn(first)
        before = len(self.daemon.events("s"))
        self.assertEqual(self.daemon.ok("submit_turn", **params, idempotencyKey="k"), first)
        self.assertEqual(len(self.daemon.events("s")), before)

    def test_the_same_key_with_other_params_is_a_conflict(self):
        self.daemon.ok("create_session", sessionId="a", idempotencyKey="k")
        reply = self.daemon.call("create_session", sessionId="b", idempotencyKey="k")
        self.assertRefused(reply, 409, "idempotency_conflict")
        self.assertEqual(self.daemon.get("/v1/sessions/b").status, 404)

    def test_the_same_chosen_id_gives_the_same_reply(self):
        params = {"sessionId": "s", "threadId": "t", "turnId": "u",
                  "input": [{"type": "text", "text": "x"}]}
        first = self.daemon.ok("submit_turn", **params)
        self.daemon.wait_turn(first)
        self.assertEqual(self.daemon.ok("submit_turn", **params), first)
        other = {**params, "input": [{"type": "text", "text": "y"}]}
        self.assertRefused(self.daemon.call("submit_turn", **other), 409, "idempotency_conflict")
        self.assertEqual(self.daemon.ok("create_session", sessionId="c", title="x"),
                         self.daemon.ok("create_session", sessionId="c", title="x"))

    def test_naming_an_existing_session_never_conflicts(self):
        self.daemon.ok("create_session", sessionId="s", title="mine")
        self.daemon.wait_turn(self.daemon.submit(sessionId="s"))
        self.check_session("s")


class Reads(Case):
    def test_a_session_is_read_by_windows_from_the_newest_turn_back(self):
        turns = [f"u{number}" for number in range(7)]
        for turn in turns:
            self.daemon.wait_turn(
                self.daemon.submit(turn, sessionId="s", threadId="t", turnId=turn))
        seen, cursor = [], None
        while True:
            more = {"cursor": cursor} if cursor else {}
            page = self.daemon.ok("get_session", sessionId="s", limit=3, **more)
            self.assertEqual(page["sessionId"], "s")
            self.assertLessEqual(len(page["history"]), 3)
            seen.append([turn["turnId"] for turn in page["history"]])
            cursor = page.get("historyCursor")
            if not cursor:
                break
        self.assertEqual(len(seen), 3)
        self.assertEqual(sorted(turn for window in seen for turn in window), turns)
        self.assertEqual(set(seen[0]), {"u4", "u5", "u6"})
        self.assertEqual(page["asOfSequence"], self.daemon.events("s")[-1]["sequence"])
        self.assertEqual([thread["threadId"] for thread in page["threads"]], ["t"])

    def test_reads_append_nothing(self):
        self.daemon.wait_turn(self.daemon.submit(sessionId="s", threadId="t"))
        before = self.daemon.events("s")
        self.daemon.ok("get_session", sessionId="s")
        self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        self.daemon.ok("list_sessions")
        self.daemon.ok("list_events", sessionId="s")
        self.assertEqual(self.daemon.events("s"), before)

    def test_a_reader_that_sees_the_replys_sequence_sees_its_effect(self):
        for number in range(20):
            reply = self.daemon.ok("update_session", sessionId=self.session(), title=f"t{number}")
            read = self.daemon.ok("get_session", sessionId=self.session())
            self.assertGreaterEqual(read["asOfSequence"], reply["sequence"])
            self.assertEqual(read["title"], f"t{number}")

    def session(self):
        self.daemon.ok("create_session", sessionId="r")
        return "r"

    def test_a_thread_reads_as_what_it_is_doing(self):
        reply = self.daemon.submit(sessionId="s", threadId="t")
        self.daemon.wait_turn(reply)
        read = wait_until(lambda: self.idle_thread(), what="the thread being idle")
        self.assertNotIn("activeTurnId", {k for k, v in read.items() if v is not None})
        for name in ("pendingRequests", "queuedTurns", "incidents", "tasks", "diagnostics",
                     "lastOutcome", "asOfSequence"):
            self.assertIn(name, read)
        over_http = self.daemon.get("/v1/sessions/s/threads/t")
        self.assertEqual(over_http.json, read)

    def idle_thread(self):
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        return read if read["status"] == "idle" else None

    def test_sessions_are_listed_in_pages_without_the_system_session(self):
        made = [f"s{number:02}" for number in range(25)]
        for session in made:
            self.daemon.ok("create_session", sessionId=session)
        seen, cursor = [], None
        while True:
            path = "/v1/sessions?limit=10" + (f"&cursor={cursor}" if cursor else "")
            page = self.daemon.get(path).json
            seen += [session["sessionId"] for session in page["data"]]
            cursor = page.get("nextCursor")
            if not cursor:
                break
        self.assertEqual(sorted(seen), made)

    def test_events_are_listed_by_type_and_in_pages(self):
        self.daemon.wait_turn(self.daemon.submit(sessionId="s"))
        page = self.daemon.ok("list_events", sessionId="s", types=["turn.submitted"])
        self.assertEqual(types(page["data"]), ["turn.submitted"])
        page = self.daemon.ok("list_events", sessionId="s", after=2, limit=3)
        self.assertEqual([event["sequence"] for event in page["data"]], [3, 4, 5])
        huge = self.daemon.get("/v1/sessions/s/events?limit=1000000")
        self.assertEqual(huge.status, 200)

    def test_an_update_changes_what_it_names_and_no_more(self):
        self.daemon.ok("create_session", sessionId="s", title="one", metadata={"a": 1.50})
        self.daemon.ok("update_session", sessionId="s", archived=True)
        read = self.daemon.ok("get_session", sessionId="s")
        self.assertEqual(read["title"], "one")
        self.assertTrue(read["archived"])
        created = self.check_session("s")[0]
        self.assertEqual(created["payload"]["metadata"], {"a": 1.50})


if __name__ == "__main__":
    unittest.main()
