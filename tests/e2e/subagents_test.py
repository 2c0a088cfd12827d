"""Subagents: delegated, limited, waited for, asked about and closed, across kills and restarts."""

import json
import re
import subprocess
import threading
import unittest

from chat_test import ChatCase
from harness import BINARY, Case, types, wait_until
from run_test import Terminal


def spawn(role="reviewer", **more):
    return {"name": "spawn_subagent",
            "args": {"role": role, "prompt": "Look at the code.", "model": "child", **more}}


def wait(**more):
    return {"name": "wait_subagents", "args": more}


def shell(command):
    return {"name": "shell", "args": {"command": command}}


class SubagentCase(Case):
    scripts = {"main": [{"text": "Ready."}], "child": [{"text": "All good."}],
               "slow": [{"delayMs": 120_000, "text": "Late."}],
               "asks": [{"toolCalls": [shell("touch made.txt")]}, {"text": "Made it."}]}

    def parent(self, *lines, session="s", mode="bypass", **options):
        script = self.home.script(f"play_{session}", lines)
        return self.daemon.ok("submit_turn", sessionId=session, threadId="t",
                              input=[{"type": "text", "text": "go"}],
                              options={"model": f"script:{script}", "mode": mode, **options})

    def idle_parent(self, session="s", **options):
        turn = self.daemon.submit(sessionId=session, threadId="t", options=options)
        self.daemon.wait_turn(turn)
        return turn

    def spawn(self, session="s", **more):
        return self.daemon.call("spawn_subagent", sessionId=session,
                                **{"threadId": "t", "role": "reviewer", "prompt": "Look.",
                                   "model": "child", **more})

    def spawned(self, **more):
        reply = self.spawn(**more)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def listed(self, session="s", **more):
        return self.daemon.ok("list_subagents", sessionId=session, **more)["data"]

    def of(self, kind, session="s"):
        return [e for e in self.daemon.events(session) if e["type"] == kind]

    def wait_status(self, status, session="s", index=0):
        def reached():
            found = self.listed(session)
            return len(found) > index and found[index]["status"] == status and found[index]
        return wait_until(reached, what=f"status {status} of a subagent")


class Delegation(SubagentCase):
    def test_a_turn_delegates_and_gets_the_result(self):
        turn = self.parent({"toolCalls": [spawn(nickname="anna")]}, {"toolCalls": [wait()]},
                           {"text": "Thanks."})
        self.daemon.wait_turn(turn)
        events = self.check_session("s")
        spawned = self.of("subagent.spawned")[0]
        self.assertEqual((spawned["threadId"], spawned["turnId"]), ("t", turn["turnId"]))
        child = spawned["payload"]["childThreadId"]
        self.assertEqual(spawned["payload"]["parentThreadId"], "t")
        # The delegating task is that of the parent's turn, and the child's is its own.
        delegated = self.of("task.delegated")[0]
        self.assertEqual(delegated["taskId"], turn["taskId"])
        self.assertEqual(delegated["payload"]["childTaskId"], spawned["payload"]["taskId"])
        submitted = [e for e in self.of("turn.submitted") if e["threadId"] == child][0]
        self.assertEqual(submitted["payload"]["source"], "subagent")
        self.assertEqual(submitted["taskId"], spawned["payload"]["taskId"])
        completed = self.of("subagent.completed")[0]
        self.assertEqual(completed["payload"]["childThreadId"], child)
        self.assertEqual(completed["payload"]["preview"], "All good.")
        result = json.loads(self.of("tool.result")[-1]["payload"]["preview"])
        self.assertEqual(result["timedOut"], False)
        self.assertEqual(result["subagents"][0]["status"], "completed")
        self.assertEqual(result["subagents"][0]["message"], "All good.")
        # The child and the result of the call that spawned it are one append.
        kinds = types(events)
        between = kinds[kinds.index("subagent.spawned"):kinds.index("tool.result")]
        self.assertNotIn("context.resolved", between)
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        self.assertEqual(read["subagents"][0]["nickname"], "anna")
        session = self.daemon.ok("get_session", sessionId="s")
        self.assertEqual(session["subagents"][0]["threadId"], child)

    def test_input_wait_and_close_by_command(self):
        self.idle_parent()
        child = self.spawned(subagentId="sub-1")
        again = self.spawned(subagentId="sub-1")
        self.assertEqual(again, child)
        self.assertRefused(self.spawn(subagentId="sub-1", role="other"), 409,
                           "idempotency_conflict")
        done = self.daemon.ok("wait_subagents", subagentIds=["sub-1"], timeoutMs=10_000)
        self.assertEqual(done["subagents"][0]["status"], "completed")
        self.assertEqual(done["subagents"][0]["preview"], "All good.")
        self.assertFalse(done["timedOut"])
        more = self.daemon.ok("send_subagent_input", subagentId="sub-1",
                              input=[{"type": "text", "text": "And the tests?"}])
        self.assertNotEqual(more["taskId"], child["taskId"])
        self.daemon.ok("wait_subagents", subagentIds=["sub-1"])
        self.assertEqual(len(self.of("subagent.completed")), 2)
        self.assertEqual(self.listed()[0]["delegations"], 2)
        closed = self.daemon.ok("close_subagent", subagentId="sub-1", reason="enough")
        self.assertEqual(closed["status"], "closed")
        late = self.daemon.call("send_subagent_input", subagentId="sub-1",
                                input=[{"type": "text", "text": "?"}])
        self.assertRefused(late, 409, "conflict")
        self.assertEqual(self.listed()[0]["status"], "closed")
        direct = self.daemon.call("submit_turn", sessionId="s", threadId=child["threadId"],
                                  input=[{"type": "text", "text": "x"}])
        self.assertRefused(direct, 409, "conflict")
        self.assertRefused(self.daemon.call("close_subagent", subagentId="none"), 404, "not_found")
        self.assertRefused(
            self.daemon.call("close_subagent", subagentId="sub-1", sessionId="other"), 404,
            "not_found")

    def test_a_wait_that_times_out_is_no_error(self):
        self.idle_parent()
        child = self.spawned(model="slow")
        done = self.daemon.ok("wait_subagents", subagentIds=[child["subagentId"]], timeoutMs=50)
        self.assertTrue(done["timedOut"])
        self.assertEqual(done["subagents"][0]["status"], "running")
        self.assertRefused(self.daemon.call("wait_subagents", subagentIds=["none"]), 404,
                           "not_found")
        # A client that waits does not keep others out, and learns the end.
        replies = []
        waiting = threading.Thread(target=lambda: replies.append(self.daemon.ok(
            "wait_subagents", subagentIds=[child["subagentId"]], timeoutMs=60_000)))
        waiting.start()
        self.daemon.ok("close_subagent", subagentId=child["subagentId"])
        waiting.join(15)
        self.assertEqual(replies[0]["subagents"][0]["status"], "closed")


class Bounds(SubagentCase):
    config = "[limits]\nsubagents_running = 2\n"

    def test_a_child_is_never_wider_than_its_parent(self):
        self.idle_parent(mode="plan", sandbox="read_only")
        for member, value in (("mode", "default"), ("mode", "untrusted"),
                              ("sandbox", "workspace_write"), ("writeRoots", ["/etc"])):
            reply = self.spawn(**{member: value})
            self.assertRefused(reply, 403, "forbidden")
            self.assertEqual(reply.json["error"]["details"]["member"], member)
            self.assertTrue(reply.json["error"]["details"]["parent"])
        self.spawned(mode="plan", tools=["read_file"])
        child = self.listed()[0]
        reply = self.spawn(threadId=child["threadId"], tools=["shell"])
        self.assertRefused(reply, 403, "forbidden")
        self.assertEqual(reply.json["error"]["details"]["member"], "tools")

    def test_a_parent_that_becomes_stricter_binds_its_child(self):
        self.idle_parent(mode="bypass")
        child = self.spawned(model="asks", mode="bypass")
        self.daemon.ok("wait_subagents", subagentIds=[child["subagentId"]])
        self.assertTrue((self.home.workspace / "made.txt").exists())
        (self.home.workspace / "made.txt").unlink()
        self.daemon.wait_turn(self.parent({"text": "Careful now."}, mode="plan"))
        self.daemon.ok("send_subagent_input", subagentId=child["subagentId"],
                       input=[{"type": "text", "text": "again"}])
        self.daemon.ok("wait_subagents", subagentIds=[child["subagentId"]])
        self.assertFalse((self.home.workspace / "made.txt").exists())
        self.assertEqual(self.of("tool.failed")[-1]["payload"]["error"]["category"], "denied")

    def test_write_roots_confine_commands_and_file_tools(self):
        (self.home.workspace / "docs").mkdir()
        self.home.script("child", [
            {"toolCalls": [shell("echo a > docs/a; echo b > b"),
                           {"name": "write_file", "args": {"path": "c.txt", "content": "c"}},
                           {"name": "write_file", "args": {"path": "docs/c", "content": "c"}}]},
            {"text": "Done."}])
        self.idle_parent(mode="bypass")
        child = self.spawned(mode="bypass", writeRoots=["docs"])
        self.daemon.ok("wait_subagents", subagentIds=[child["subagentId"]])
        made = sorted(p.name for p in self.home.workspace.rglob("*") if p.is_file())
        self.assertEqual(made, ["a", "c"])

    def test_too_many_and_too_deep(self):
        self.idle_parent()
        first = self.spawned(model="slow")
        self.spawned(model="slow")
        reply = self.spawn()
        self.assertRefused(reply, 429, "limit_exceeded")
        self.assertIn("limits.subagents_running", reply.json["error"]["message"])
        self.daemon.ok("close_subagent", subagentId=first["subagentId"])
        second = self.listed()[0]
        self.daemon.ok("close_subagent", subagentId=second["subagentId"])
        one = self.spawned(nickname="one")
        two = self.spawned(threadId=one["threadId"], nickname="two")
        reply = self.spawn(threadId=two["threadId"])
        self.assertRefused(reply, 429, "limit_exceeded")
        self.assertIn("limits.subagent_depth", reply.json["error"]["message"])
        below = self.listed(threadId=one["threadId"])
        self.assertEqual([each["subagentId"] for each in below], [two["subagentId"]])
        self.assertEqual(below[0]["depth"], 2)
        # Closing a parent closes its children.
        self.daemon.ok("close_subagent", subagentId=one["subagentId"])
        self.assertEqual({each["status"] for each in self.listed()}, {"closed"})


class Questions(SubagentCase):
    def test_a_request_of_a_child_is_listed_by_its_ancestors(self):
        self.parent({"toolCalls": [spawn(model="asks")]}, {"toolCalls": [wait()]},
                    {"text": "Thanks."}, mode="default")
        self.daemon.wait_event("s", lambda e: e["type"] == "action.required")
        self.answer_first()  # the spawn itself follows the mode
        child = self.wait_status("waiting_permission")
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        request = read["pendingRequests"][0]
        self.assertEqual(request["subagentId"], child["subagentId"])
        self.assertEqual(request["threadId"], child["threadId"])
        self.assertEqual(child["actionId"], request["actionId"])
        status = self.of("subagent.status")[-1]["payload"]
        self.assertEqual((status["status"], status["actionId"]),
                         ("waiting_permission", request["actionId"]))
        self.daemon.ok("respond_action", actionId=request["actionId"], decision="allow")
        self.daemon.wait_event("s", lambda e: e["type"] == "turn.completed" and
                               e["threadId"] == "t")
        self.assertTrue((self.home.workspace / "made.txt").exists())

    def answer_first(self):
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        self.daemon.ok("respond_action", actionId=read["pendingRequests"][0]["actionId"],
                       decision="allow")

    def test_run_asks_in_place_and_names_the_child(self):
        script = self.home.script("play", [
            {"toolCalls": [spawn(model="asks", nickname="anna")]}, {"toolCalls": [wait()]},
            {"text": "Thanks."}])
        terminal = Terminal(self, "--session", "s", "--new", "--model", f"script:{script}",
                            "--mode", "default", "--allow", "spawn_subagent", "go")
        terminal.read_until("\n  > ")
        seen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.text())
        self.assertRegex(seen, r"subagent +anna")
        terminal.type("y\n")
        terminal.read_until("Thanks.")
        seen = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.text())
        self.assertRegex(seen, r"✓ anna finished")
        self.assertTrue((self.home.workspace / "made.txt").exists())


class Interruption(SubagentCase):
    def running_pair(self):
        turn = self.parent({"toolCalls": [spawn(model="slow")]}, {"toolCalls": [wait()]},
                           {"text": "Thanks."})
        self.daemon.wait_event("s", lambda e: e["type"] == "run.status" and
                               e["payload"]["phase"] == "subagents")
        return turn

    def test_interrupting_the_parent_ends_its_children(self):
        self.running_pair()
        done = self.daemon.ok("interrupt_turn", sessionId="s")
        self.assertEqual(len(done["turnIds"]), 2)
        self.assertEqual(self.listed()[0]["status"], "cancelled")
        failed = self.of("subagent.failed")[0]
        self.assertEqual(failed["payload"]["error"]["category"], "cancelled")
        self.assertNotIn("turnId", failed)  # the parent's turn has ended before

    def test_children_can_be_kept_and_a_bare_interrupt_skips_them(self):
        self.running_pair()
        done = self.daemon.ok("interrupt_turn", sessionId="s", subagents="keep")
        self.assertEqual(len(done["turnIds"]), 1)
        self.assertEqual(self.listed()[0]["status"], "running")
        done = self.daemon.ok("interrupt_turn", sessionId="s")
        self.assertEqual(done["turnIds"], [])
        child = self.listed()[0]
        self.daemon.ok("interrupt_turn", sessionId="s", threadId=child["threadId"])
        self.assertEqual(self.listed()[0]["status"], "cancelled")


class Restart(SubagentCase):
    def test_kill_while_the_parent_waits(self):
        self.home.script("slow", [{"delayMs": 2_500, "text": "Late."}])
        turn = self.parent({"toolCalls": [spawn(model="slow")]}, {"toolCalls": [wait()]},
                           {"text": "Thanks."})
        self.daemon.wait_event("s", lambda e: e["type"] == "run.status" and
                               e["payload"]["phase"] == "subagents")
        self.crash()
        self.start()
        child = self.wait_status("blocked")
        self.assertEqual(child["statusReason"], "restart")
        self.assertEqual(len(self.listed()), 1)
        resumed = self.daemon.ok("resume_thread", sessionId="s", threadId="t")
        self.assertTrue(resumed["resumed"])
        self.daemon.wait_event("s", lambda e: e["type"] == "turn.completed" and
                               e["turnId"] == turn["turnId"], seconds=30)
        self.assertEqual(len(self.of("subagent.spawned")), 1)
        result = json.loads(self.of("tool.result")[-1]["payload"]["preview"])
        self.assertEqual(result["subagents"][0]["message"], "Late.")
        self.check_session("s")

    def test_a_child_is_resumed_singly(self):
        self.idle_parent()
        child = self.spawned(model="slow")
        self.crash()
        self.home.script("slow", [{"text": "Late."}])
        self.start()
        self.wait_status("blocked")
        reply = self.daemon.ok("resume_subagent", subagentId=child["subagentId"])
        self.assertEqual(reply["status"], "running")
        done = self.daemon.ok("wait_subagents", subagentIds=[child["subagentId"]])
        self.assertEqual(done["subagents"][0]["status"], "completed")

    def test_an_answer_after_a_kill_continues_the_child(self):
        self.idle_parent()
        child = self.spawned(model="asks")
        asked = self.wait_status("waiting_permission")
        self.crash()
        self.start()
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        self.assertEqual(read["pendingRequests"][0]["actionId"], asked["actionId"])
        self.daemon.ok("respond_action", actionId=asked["actionId"], decision="allow")
        done = self.daemon.ok("wait_subagents", subagentIds=[child["subagentId"]])
        self.assertEqual(done["subagents"][0]["status"], "completed")
        self.assertTrue((self.home.workspace / "made.txt").exists())
        self.check_session("s")

    def test_kills_at_random_leave_no_child_or_exactly_one(self):
        for i, pause in enumerate((0.0, 0.02, 0.05, 0.1)):
            session = f"k{i}"
            turn = self.parent({"toolCalls": [spawn()]}, {"toolCalls": [wait()]},
                               {"text": "Thanks."}, session=session)
            threading.Event().wait(pause)
            self.crash()
            self.start()
            self.daemon.ok("resume_thread", sessionId=session, threadId="t")
            self.daemon.wait_event(session, lambda e: e["type"] == "turn.completed" and
                                   e["turnId"] == turn["turnId"], seconds=30)
            self.assertEqual(len(self.of("subagent.spawned", session)), 1)
            self.check_session(session)


class DelegatedTasks(SubagentCase):
    def test_a_cancellation_that_does_not_propagate_waits_for_the_child(self):
        script = self.home.script("waits", [{"toolCalls": [spawn(model="slow")]},
                                            {"toolCalls": [wait()]}, {"text": "Thanks."}])
        self.daemon.ok("create_session", sessionId="s")
        self.daemon.ok("create_task", sessionId="s", taskId="whole", objective="go", threadId="t",
                       constraints={"model": f"script:{script}", "mode": "bypass"})
        self.daemon.ok("start_task", taskId="whole")
        child = wait_until(lambda: self.listed(), what="a child")[0]
        edges = self.daemon.ok("get_task", taskId=child["taskId"])["relationships"]
        self.assertIn(("parent", "whole"), [(e["relationship"], e["targetId"]) for e in edges])
        reply = self.daemon.ok("cancel_task", taskId="whole", reason="stop", propagate=False)
        self.assertEqual(reply["status"], "cancelling")
        self.crash()
        self.start()
        self.assertEqual(self.daemon.ok("get_task", taskId="whole")["status"], "cancelling")
        self.daemon.ok("interrupt_turn", sessionId="s", threadId=child["threadId"])
        wait_until(lambda: self.daemon.ok("get_task", taskId="whole")["status"] == "cancelled",
                   what="the end of the task")

    def test_a_task_is_delegated_and_keeps_its_attempt_across_a_kill(self):
        self.idle_parent()
        self.daemon.ok("create_task", sessionId="s", taskId="part", objective="the hard part")
        child = self.spawned(taskId="part", model="slow", prompt="Do the hard part.")
        self.assertEqual(child["taskId"], "part")
        self.assertRefused(self.spawn(taskId="part"), 409, "conflict")
        self.assertRefused(self.spawn(taskId="none"), 404, "not_found")
        self.crash()
        self.home.script("slow", [{"text": "Late."}])
        self.start()
        self.wait_status("blocked")
        self.assertEqual(self.daemon.ok("get_task", taskId="part")["status"], "blocked")
        self.daemon.ok("resume_subagent", subagentId=child["subagentId"])
        self.daemon.ok("wait_subagents", subagentIds=[child["subagentId"]])
        part = self.daemon.ok("get_task", taskId="part")
        self.assertEqual((part["status"], part["attemptCount"]), ("completed", 1))
        self.assertEqual(part["attempts"][0]["worker"]["threadId"], child["threadId"])
        self.assertIn(("spawned_subagent", child["subagentId"]),
                      [(edge["relationship"], edge["targetId"]) for edge in part["relationships"]])
        self.check_session("s")

    def test_cancelling_a_task_ends_the_children_of_its_turn(self):
        script = self.home.script("play", [{"toolCalls": [spawn(model="slow")]},
                                           {"toolCalls": [wait()]}, {"text": "Thanks."}])
        self.idle_parent()
        self.daemon.ok("create_task", sessionId="s", taskId="whole", objective="all of it",
                       threadId="t",
                       constraints={"mode": "bypass", "model": f"script:{script}"})
        self.daemon.ok("start_task", taskId="whole")
        self.daemon.wait_event("s", lambda e: e["type"] == "run.status" and
                               e["payload"]["phase"] == "subagents")
        done = self.daemon.ok("cancel_task", taskId="whole", reason="enough")
        self.assertEqual(done["status"], "cancelled")
        self.crash()
        self.start()
        child = self.listed()[0]
        self.assertEqual((child["status"], child["openDelegations"]), ("cancelled", 0))
        self.assertEqual(self.daemon.ok("get_task", taskId=child["taskId"])["status"], "cancelled")
        self.assertEqual(self.daemon.ok("get_session", sessionId="s")["status"], "idle")
        self.check_session("s")


class BackgroundOwner(SubagentCase):
    daemon_at_start = False
    scripts = {**SubagentCase.scripts, "slow": [{"delayMs": 3_000, "text": "Late."}],
               "terms": [{"toolCalls": [shell("echo $TERM >> terms.txt")]}, {"text": "Done."}]}

    def test_a_child_keeps_the_environment_of_the_client_whose_turn_spawned_it(self):
        def run(term, *lines):
            script = self.home.script(f"play_{term}", [*lines, {"toolCalls": [wait()]},
                                                       {"text": "Thanks."}])
            done = self.home.run("run", "--session", "s", *(["--new"] if term == "vt100" else []),
                                 "--model", f"script:{script}", "--mode", "bypass", "go", TERM=term)
            self.assertEqual(done.returncode, 0, done.stderr)
        run("vt100", {"toolCalls": [spawn(model="terms")]})
        run("xterm", {"toolCalls": [{"name": "send_subagent_input",
                                     "args": {"subagentId": "reviewer", "prompt": "Again."}}]})
        self.assertEqual((self.home.workspace / "terms.txt").read_text(), "vt100\nvt100\n")

    def test_a_working_child_keeps_the_owner_running(self):
        self.home.environment["AGENTRT_OWNER_IDLE_MS"] = "200"
        script = self.home.script("play", [{"toolCalls": [spawn(model="slow")]},
                                           {"text": "It works on it."}])
        done = self.home.run("run", "--session", "s", "--new", "--model", f"script:{script}",
                             "--mode", "bypass", "go")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 subagent is still running", done.stderr)
        owner = self.home.owner()
        self.assertIsNotNone(owner)
        wait_until(lambda: self.home.owner() is None, what="the end of the owner")
        listed = json.loads(self.home.run("agents", "--session", "s", "--json").stdout)["data"]
        self.assertEqual(listed[0]["status"], "completed")


class InAConversation(ChatCase):
    config = '[permissions]\nmode = "default"\nallow = ["spawn_subagent"]\n'
    scripts = {"main": [{"text": "Hello there."}], "asks": SubagentCase.scripts["asks"]}

    def test_a_child_is_shown_asked_about_and_listed(self):
        chat = self.chat(lines=[{"toolCalls": [spawn(model="asks", nickname="anna")]},
                                {"toolCalls": [wait()]}, {"text": "Thanks."}])
        chat.type("go\r").sees("Run this command?").sees("subagent")
        chat.answer("y").shows("anna finished").shows("Thanks.")
        self.assertTrue((self.home.workspace / "made.txt").exists())
        chat.type("/agents\r").shows("reviewer anna")
        chat.type("/tasks\r").shows("Look at the code.")
        chat.type("\x04").end()

    def test_a_child_that_outlives_its_turn_is_asked_about_too(self):
        chat = self.chat(lines=[{"toolCalls": [spawn(model="asks", nickname="anna")]},
                                {"text": "It works on it."}])
        chat.type("go\r").shows("It works on it.").sees("Run this command?")
        chat.answer("y").shows("anna finished")
        chat.type("\x04").end()


class AtTheTerminal(SubagentCase):
    def test_agents_prints_a_tree(self):
        self.idle_parent()
        self.assertEqual(self.home.run("agents").stdout, "No subagents.\n")
        one = self.spawned(nickname="one")
        self.daemon.ok("wait_subagents", subagentIds=[one["subagentId"]])
        two = self.spawned(threadId=one["threadId"], role="tester", model="slow")
        shown = self.home.run("agents", "--session", "s").stdout
        self.assertRegex(shown, r"session s\n✓ reviewer one +completed .*All good\. · \S+\n"
                                r"└─ ● tester +running")
        found = json.loads(self.home.run("agents", "--status", "running", "--json").stdout)
        self.assertEqual([each["subagentId"] for each in found["data"]], [two["subagentId"]])
        wrong = self.home.run("agents", "--status", "asleep")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("waiting_permission", wrong.stderr)

    def test_watching_in_a_pipe_prints_one_line_per_change(self):
        self.idle_parent()
        watching = subprocess.Popen([BINARY, "agents", "--session", "s", "--watch"],
                                    cwd=self.home.workspace, env=self.home.environment,
                                    stdout=subprocess.PIPE, text=True)
        self.addCleanup(watching.stdout.close)
        self.addCleanup(watching.wait)
        self.addCleanup(watching.kill)
        child = self.spawned(model="slow")
        line = watching.stdout.readline()
        self.assertIn(f"{child['subagentId']} reviewer: running", line)
        self.daemon.ok("close_subagent", subagentId=child["subagentId"], reason="enough")
        self.assertIn("closed · enough", watching.stdout.readline())


if __name__ == "__main__":
    unittest.main()
