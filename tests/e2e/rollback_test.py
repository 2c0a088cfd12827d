"""Rollback: an earlier turn is the last of its thread again, and files get their content back."""

import json
import threading
import time
import unittest

from chat_test import ChatTerminal
from context_test import messages_of
from harness import Case, types, wait_until
from history_test import TOOL  # noqa: F401  (its scripts are used here)
from models_test import PROVIDERS, ModelCase


def conversation(request):
    return messages_of(request["body"])


class Conversation(ModelCase):
    models = {provider: (provider, "wordy", {"context_tokens": 200000}) for provider in PROVIDERS}

    def ask(self, text, model="openai_chat", **params):
        reply = self.daemon.ok(
            "submit_turn", sessionId="s", threadId="t", input=[{"type": "text", "text": text}],
            options={"model": model, "mode": "bypass", "cwd": str(self.home.workspace)}, **params)
        self.daemon.wait_turn(reply, seconds=30)
        return reply["turnId"]

    def back(self, turn, **params):
        return self.daemon.call("rollback_thread", sessionId="s", threadId="t", turnId=turn,
                                **params)

    def told(self):
        return json.dumps(conversation(self.double.requests[-1]))

    def prefixes(self):
        return [e["payload"]["prefix"] for e in self.events_of("s", "context.resolved")]

    def restart(self):
        self.daemon.kill()
        self.start()

    def removed(self):
        history = self.daemon.ok("get_session", sessionId="s", threadId="t")["history"]
        return [turn["turnId"] for turn in reversed(history) if turn.get("removed")]

    def test_no_model_sees_removed_turns_and_users_still_do(self):
        turns = [self.ask(f"question {number}.") for number in (1, 2, 3)]
        kept = conversation(self.double.requests[0])
        head = self.daemon.ok("get_session", sessionId="s")["asOfSequence"]
        preview = self.back(turns[0], restore="preview").json
        self.assertEqual((preview["removedTurns"], preview["sequence"]), (turns[1:], head))
        self.assertEqual(self.daemon.ok("get_session", sessionId="s")["asOfSequence"], head)
        reply = self.back(turns[0]).json
        self.assertEqual(reply["removedTurns"], turns[1:])
        self.assertEqual(reply["removedTurnCount"], 2)
        self.assertNotIn("restoreTurnId", reply)
        events = self.daemon.events("s", after=head)
        self.assertEqual(types(events), ["history.rollback.started", "history.rollback.completed"])
        self.assertEqual(events[-1]["sequence"], reply["sequence"])
        end = next(e["sequence"] for e in self.daemon.events("s")
                   if e["type"] == "turn.completed" and e["turnId"] == turns[0])
        self.assertEqual(events[-1]["payload"]["baselineSequence"], end)
        self.restart()
        thread = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        self.assertEqual(thread["lastOutcome"]["turnId"], turns[0])
        self.assertEqual(self.removed(), turns[1:])
        self.assertTrue(self.daemon.ok("get_turn", turnId=turns[1])["turn"]["removed"])
        self.assertNotIn("removed", self.daemon.ok("get_turn", turnId=turns[0])["turn"])
        model = self.daemon.ok("get_read_model", sessionId="s", threadId="t",
                               name="context_boundary_snapshot")
        self.assertEqual([model["rollbacks"]["total"],
                          model["rollbacks"]["newest"][0]["targetTurnId"]], [1, turns[0]])
        self.ask("question 4.")
        told = self.told()
        self.assertIn("question 1.", told)
        self.assertNotIn("question 2.", told)
        self.assertNotIn("question 3.", told)
        self.assertEqual(conversation(self.double.requests[-1])[:len(kept)], kept)
        self.assertEqual(self.prefixes()[-1], {"status": "changed", "reason": "rolled_back"})
        before = conversation(self.double.requests[-1])
        self.ask("question 5.")
        self.assertEqual(conversation(self.double.requests[-1])[:len(before)], before)
        self.assertEqual(self.prefixes()[-1], {"status": "same"})
        shown = self.home.run("show", "s").stdout
        self.assertEqual(shown.count("removed"), 2, shown)
        told = json.loads(self.home.run("show", "s", "--transcript", "--json").stdout)
        self.assertEqual([turn["turnId"] for turn in told["turns"] if turn.get("removed")],
                         turns[1:])
        again = self.back(turns[1])
        self.assertRefused(again, 409, "conflict")
        self.assertEqual(again.json["error"]["details"], {"status": "removed"})
        self.check_session("s")

    def test_requests_after_a_rollback_start_with_the_kept_part_on_every_wire(self):
        for provider in PROVIDERS:
            with self.subTest(provider=provider):
                first = self.ask("begin.", provider)
                kept = conversation(self.double.requests[-1])
                self.ask("removed.", provider)
                self.assertEqual(self.back(first).status, 200)
                self.ask("other.", provider)
                now = conversation(self.double.requests[-1])
                self.assertEqual(now[:len(kept)], kept)
                self.assertNotIn("removed.", json.dumps(now))

    def test_nested_rollbacks_and_a_fork_of_a_removed_turn(self):
        turns = [self.ask(f"question {number}.") for number in (1, 2, 3)]
        self.back(turns[1])
        turns.append(self.ask("question 4."))
        self.back(turns[0])
        self.ask("question 5.")
        self.assertEqual(self.removed(), turns[1:])
        fork = self.daemon.ok("fork_thread", sessionId="s", threadId="t", turnId=turns[3])
        self.restart()
        reply = self.daemon.ok(
            "submit_turn", sessionId="s", threadId=fork["threadId"],
            input=[{"type": "text", "text": "question 6."}], options={"model": "openai_chat"})
        self.daemon.wait_turn(reply, seconds=30)
        told = self.told()
        for number, there in ((1, True), (2, True), (3, False), (4, True), (5, False)):
            self.assertEqual(f"question {number}." in told, there, number)
        self.check_session("s")

    def test_the_compaction_before_the_removed_part_applies_again(self):
        turns = [self.ask(f"question {number}.") for number in range(5)]
        compact = self.daemon.ok("compact_thread", sessionId="s", threadId="t")
        self.daemon.wait_turn(compact, seconds=30)
        turns.append(self.ask("question 5."))
        self.assertIn("## Summary", self.told())
        boundary = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")["contextBoundary"]
        self.assertTrue(boundary["summaryRef"])
        self.assertEqual(self.back(turns[3]).status, 200)
        self.assertNotIn("contextBoundary",
                         self.daemon.ok("get_thread_read", sessionId="s", threadId="t"))
        self.ask("question 6.")
        told = self.told()
        self.assertNotIn("## Summary", told)
        self.assertIn("question 3.", told)
        self.assertNotIn("question 4.", told)

    def test_open_work_is_refused_by_name_or_cancelled(self):
        first = self.ask("question 1.")
        script = self.home.script("slow", [{"text": "slow", "delayMs": 20_000}])
        running = self.daemon.ok("submit_turn", sessionId="s", threadId="t",
                                 input=[{"type": "text", "text": "slow"}],
                                 options={"model": f"script:{script}"})
        self.daemon.wait_event("s", lambda e: e["type"] == "model.requested"
                               and e["turnId"] == running["turnId"])
        queued = self.daemon.ok("submit_turn", sessionId="s", threadId="t",
                                input=[{"type": "text", "text": "next"}], options={})
        refused = self.back(first)
        self.assertRefused(refused, 409, "conflict")
        self.assertEqual(refused.json["error"]["details"]["turnIds"],
                         [running["turnId"], queued["turnId"]])
        self.assertRefused(self.back(running["turnId"], interrupt=True), 409, "conflict")
        reply = self.back(first, interrupt=True, idempotencyKey="k").json
        self.assertEqual(reply["removedTurns"], [running["turnId"], queued["turnId"]])
        self.assertEqual(self.back(first, interrupt=True, idempotencyKey="k").json, reply)
        thread = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        self.assertEqual((thread["status"], thread["queuedTurns"]), ("idle", []))
        self.assertEqual(self.removed(), reply["removedTurns"])
        self.ask("question 2.")
        self.check_session("s")

    def test_bad_input(self):
        turn = self.ask("question 1.")
        self.assertRefused(self.daemon.call("rollback_thread", sessionId="none", threadId="t",
                                            turnId=turn), 404, "not_found")
        for params in (dict(threadId="none", turnId=turn), dict(threadId="t", turnId="none")):
            reply = self.daemon.call("rollback_thread", sessionId="s", **params)
            self.assertRefused(reply, 404, "not_found")
            self.assertIn("agentrt show s", reply.json["error"]["message"])
        self.assertRefused(self.back(turn, restore="all"), 400, "invalid_params")
        head = self.daemon.ok("get_session", sessionId="s")["asOfSequence"]
        self.assertEqual(self.back(turn).json["sequence"], head)  # nothing to remove

    def test_a_kill_leaves_it_done_or_not_done(self):
        turns = [self.ask(f"question {number}.") for number in range(3)]
        for attempt in range(6):
            thread = threading.Thread(target=lambda: self.quietly(turns[0]))
            thread.start()
            time.sleep(0.002 * attempt)
            self.restart()
            thread.join()
            kinds = types(self.daemon.events("s"))
            self.assertEqual(kinds.count("history.rollback.started"),
                             kinds.count("history.rollback.completed"))
            self.ask(f"question {attempt + 3}.")
        self.check_session("s")

    def quietly(self, turn):
        try:
            self.back(turn)
        except (OSError, ValueError, AssertionError):
            pass  # the daemon is gone


class Files(Case):
    scripts = {"main": [{"text": "done"}]}
    config = '[permissions]\nallow = ["write_file", "edit_file"]\n'

    def turn(self, *calls, wait=True, **options):
        """A turn that makes these calls one after the other."""
        lines = [{"toolCalls": [{"name": name, "args": args}]} for name, args in calls]
        script = self.home.script("calls", [*lines, {"text": "done"}])
        reply = self.daemon.ok("submit_turn", sessionId="s", threadId="t",
                               input=[{"type": "text", "text": "go"}],
                               options={"model": f"script:{script}", **options})
        if wait:
            self.daemon.wait_turn(reply, seconds=60)
        return reply["turnId"]

    def write(self, path, content):
        return "write_file", {"path": path, "content": content}

    def path(self, name):
        return self.home.workspace / name

    def back(self, turn, restore="files", **params):
        return self.daemon.ok("rollback_thread", sessionId="s", threadId="t", turnId=turn,
                              restore=restore, **params)

    def restored(self, turn):
        reply = self.back(turn)
        self.daemon.wait_turn({"sessionId": "s", "turnId": reply["restoreTurnId"]}, seconds=60)
        return reply

    def states(self, reply):
        return {file["path"].rpartition("/")[2]: file["state"] for file in reply["files"]}

    def changes(self):
        return [(e["payload"]["path"].rpartition("/")[2], e["payload"]["change"])
                for e in self.daemon.events("s") if e["type"] == "artifact.changed"]

    def test_each_file_gets_back_what_it_had(self):
        self.path("old.txt").write_text("one\ntwo\nthree")
        self.path("raw.bin").write_bytes(b"\x00\xff\x01 old")
        first = self.turn(self.write("kept.txt", "kept\n"))
        self.turn(("edit_file", {"path": "old.txt", "oldText": "two", "newText": "2\n2"}),
                  self.write("new.txt", "new\n"), self.write("kept.txt", "changed\n"))
        self.turn(self.write("old.txt", "all new\n"), self.write("raw.bin", "text\n"),
                  self.write("new.txt", "newer\n"))
        self.path("by_shell.txt").write_text("not a file tool")
        preview = self.back(first, restore="preview")
        self.assertEqual(self.states(preview), {
            name: "restorable" for name in ("old.txt", "new.txt", "kept.txt", "raw.bin")})
        reply = self.restored(first)
        self.assertEqual(reply["fileCount"], 4)
        self.assertEqual(self.path("old.txt").read_text(), "one\ntwo\nthree")
        self.assertEqual(self.path("raw.bin").read_bytes(), b"\x00\xff\x01 old")
        self.assertEqual(self.path("kept.txt").read_text(), "kept\n")
        self.assertFalse(self.path("new.txt").exists())
        self.assertTrue(self.path("by_shell.txt").exists())
        restored = [name for name, change in self.changes() if change == "restore"]
        self.assertEqual(restored, ["kept.txt", "new.txt", "old.txt", "raw.bin"])
        events = self.check_session("s")
        submitted = [e for e in events if e["type"] == "turn.submitted"][-1]["payload"]
        self.assertEqual((submitted["source"], submitted["work"]), ("system", "restore"))
        judged = [e["payload"] for e in events if e["type"] == "permission.evaluated"
                  and e["turnId"] == reply["restoreTurnId"]]
        self.assertEqual([each["decisionSource"] for each in judged], ["rule"] * 4)
        self.assertIn("write_file", judged[0]["ruleRefs"][0])
        # What was restored can be taken back as well.
        self.turn(self.write("old.txt", "again\n"))
        self.restored(first)
        self.assertEqual(self.path("old.txt").read_text(), "one\ntwo\nthree")

    def test_a_file_that_a_person_edited_stays(self):
        first = self.turn(self.write("a.txt", "a\n"), self.write("b.txt", "b\n"))
        self.turn(self.write("a.txt", "A\n"), self.write("b.txt", "B\n"))
        self.path("a.txt").write_text("mine\n")
        reply = self.restored(first)
        self.assertEqual(self.states(reply), {"a.txt": "changed_since", "b.txt": "restorable"})
        self.assertEqual(self.path("a.txt").read_text(), "mine\n")
        self.assertEqual(self.path("b.txt").read_text(), "b\n")
        self.check_session("s")

    def test_an_edit_between_two_removed_changes_stays(self):
        first = self.turn(self.write("a.txt", "1\n"))
        self.turn(self.write("a.txt", "2\n"))
        self.path("a.txt").write_text("mine\n")
        self.turn(self.write("a.txt", "3\n"))
        reply = self.back(first)
        self.assertEqual(self.states(reply), {"a.txt": "changed_since"})
        self.assertNotIn("restoreTurnId", reply)
        self.assertEqual(self.path("a.txt").read_text(), "3\n")

    def test_an_edit_between_decision_and_restore_stays(self):
        first = self.turn(self.write("a.txt", "1\n"))
        self.turn(self.write("a.txt", "2\n"))
        (self.home.workspace / ".agentrt").mkdir(exist_ok=True)
        (self.home.workspace / ".agentrt/config.toml").write_text(
            '[permissions]\nask = ["write_file"]\n')
        reply = self.back(first)
        asked = self.daemon.wait_event("s", lambda e: e["type"] == "action.required")[-1]
        self.path("a.txt").write_text("mine\n")
        self.daemon.ok("respond_action", actionId=asked["actionId"], decision="allow")
        self.daemon.wait_turn({"sessionId": "s", "turnId": reply["restoreTurnId"]})
        self.assertEqual(self.path("a.txt").read_text(), "mine\n")
        self.assertIn("tool.failed", types(self.check_session("s")))

    def test_a_rule_may_forbid_it(self):
        first = self.turn(self.write("a.txt", "1\n"))
        self.turn(self.write("a.txt", "2\n"))
        (self.home.workspace / ".agentrt").mkdir(exist_ok=True)
        (self.home.workspace / ".agentrt/config.toml").write_text(
            '[permissions]\ndeny = ["write_file"]\n')
        self.restored(first)
        self.assertEqual(self.path("a.txt").read_text(), "2\n")
        self.check_session("s")

    def test_commands_and_calls_are_named_and_stay(self):
        first = self.turn(self.write("a.txt", "1\n"))
        self.turn(("shell", {"command": "touch made"}), self.write("a.txt", "2\n"),
                  ("shell", {"command": "sleep 1000", "background": True}), mode="bypass")
        reply = self.back(first, restore="preview")
        effects = [(e["kind"], e["state"], e.get("text")) for e in reply["effects"]]
        self.assertIn(("command", "not_undoable", "touch made"), effects)
        self.assertIn(("process", "running", "sleep 1000"), effects)
        self.assertEqual(reply["effectCount"], len(effects))
        reply = self.restored(first)
        self.assertTrue(self.path("made").exists())
        processes = self.daemon.ok("get_session", sessionId="s")["processes"]
        self.assertEqual([each["status"] for each in processes], ["running"])
        affected = [e for e in self.daemon.events("s")
                    if e["type"] == "history.rollback.completed"][-1]["payload"]["affected"]
        self.assertEqual(affected["tools"], ["shell", "write_file"])
        self.assertEqual(len(affected["artifacts"]), 1)
        self.daemon.ok("terminate_process", processId=processes[0]["processId"])
        self.check_session("s")

    def test_restoring_continues_after_a_kill_and_changes_each_file_once(self):
        names = [f"f{number:02}.txt" for number in range(40)]
        first = self.turn(*[self.write(name, "old\n") for name in names], wait=True)
        self.turn(*[self.write(name, "new\n") for name in names])
        reply = self.back(first)
        self.assertEqual(reply["fileCount"], 40)
        for part in range(1, 4):
            wait_until(lambda: [c for _, c in self.changes()].count("restore") >= 10 * part
                       or self.ended(reply), seconds=60)
            self.crash()
            self.start()
        wait_until(lambda: self.ended(reply), seconds=60, what="the end of the restore")
        for name in names:
            self.assertEqual(self.path(name).read_text(), "old\n")
        restored = [name for name, change in self.changes() if change == "restore"]
        self.assertEqual(sorted(restored), names)
        self.check_session("s")

    def ended(self, reply):
        return any(e["type"] in ("turn.completed", "turn.failed")
                   and e["turnId"] == reply["restoreTurnId"] for e in self.daemon.events("s"))

    def test_at_the_command_line(self):
        first = self.turn(self.write("a.txt", "1\n"))
        self.turn(self.write("a.txt", "2\n"), ("shell", {"command": "true"}), mode="bypass")
        shown = self.home.run("rollback", "s", "--to", first, "--restore", "preview")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("1 turn of thread t leaves the conversation", shown.stdout)
        self.assertIn("can be restored", shown.stdout)
        self.assertIn("command true", shown.stdout)
        refused = self.home.run("rollback", "s", "--to", first, "--restore", "files")
        self.assertEqual(refused.returncode, 3)
        self.assertIn("--yes", refused.stderr)
        (self.home.workspace / ".agentrt").mkdir(exist_ok=True)
        (self.home.workspace / ".agentrt/config.toml").write_text(
            '[permissions]\nask = ["write_file"]\n')
        done = self.home.run("rollback", "s", "--to", first, "--restore", "files", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Restored a.txt", done.stdout)
        self.assertIn(f"thread t continues after turn {first}", done.stdout)
        self.assertEqual(self.path("a.txt").read_text(), "1\n")
        newest = self.daemon.ok("get_session", sessionId="s")["history"][0]["turnId"]
        again = self.home.run("rollback", "s", "--to", newest)
        self.assertEqual((again.returncode, again.stdout), (0, "there is nothing to remove\n"))
        missing = self.home.run("rollback", "s", "--to", "none")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("there is no turn none", missing.stderr)


class AtATerminal(Case):
    scripts = {"main": [{"toolCalls": [{"name": "write_file",
                                        "args": {"path": "a.txt", "content": "made\n"}}]},
                        {"text": "It is done."}]}
    config = '[permissions]\nallow = ["write_file"]\n'
    daemon_at_start = False

    def test_undo_takes_back_the_last_turn_with_its_files(self):
        chat = ChatTerminal(self, "--mode", "default", columns=100, rows=40)
        chat.type("first\r").sees("It is done.")
        (self.home.workspace / "a.txt").unlink()
        chat.type("/undo\r").sees("first turn of the conversation")
        chat.type("second\r").until(
            lambda: chat.screen.all_text().count("It is done.") == 2, "the second answer")
        chat.type("/undo\r").sees("can be restored").sees("/undo again does it")
        self.assertTrue((self.home.workspace / "a.txt").exists())
        chat.type("/undo\r").sees("rolled back: 1 turn left")
        wait_until(lambda: not (self.home.workspace / "a.txt").exists(), what="the old state")
        chat.type("/undo\r").sees("first turn of the conversation")
        chat.type("/rollback\r").sees("/rollback takes the id")
        chat.type("\x04").end()


if __name__ == "__main__":
    unittest.main()
