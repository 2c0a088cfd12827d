"""A complete task in a repository: look, search, run the tests, fix, run them again. The daemon is
killed at every step and continues; the tree at the end is always the same."""

import os
import random
import unittest

from harness import Case, types, wait_until

BROKEN = "add() { echo $(($1 - $2)); }\n"
MENDED = "add() { echo $(($1 + $2)); }\n"
TESTS = ('. ./calc.sh\necho ran >> runs_$1\n'
         '[ "$(add 2 3)" = 5 ] || { echo "2 + 3 is not 5"; exit 1; }\n')
PLAN = [{"step": "find the fault", "status": "in_progress"},
        {"step": "mend it", "status": "pending"}]
DONE = [{"step": step["step"], "status": "completed"} for step in PLAN]

# Kill points; what remains of a run differs by one event from one to the next.
STEPS = ("turn.started", "context.resolved", "model.requested", "model.completed", "tool.started",
         "tool.progress", "tool.result", "sandbox.applied", "process.started", "process.completed",
         "artifact.changed", "item.completed", "turn.completed")


def call(name, **args):
    return {"name": name, "args": args}


def task():
    """The script: the model's requests, answer by answer."""
    return [
        {"text": "Looking.", "toolCalls": [
            call("update_plan", plan=PLAN), call("list_files"),
            call("search_files", pattern=r"add\(\)", files="*.sh")]},
        {"text": "Reading.", "toolCalls": [
            call("read_file", path="calc.sh"), call("read_file", path="test.sh")]},
        {"text": "Trying.", "toolCalls": [call("shell", command="sh test.sh before")]},
        {"text": "Mending.", "toolCalls": [
            call("edit_file", path="calc.sh", oldText="$1 - $2", newText="$1 + $2")]},
        {"text": "Trying again.", "toolCalls": [call("shell", command="sh test.sh after")]},
        {"text": "Noting.", "toolCalls": [
            call("write_file", path="docs/CHANGES.md", content="- add() adds.\n"),
            call("update_plan", plan=DONE)]},
        {"text": "It adds now."}]


class Repository(Case):
    scripts = {"main": [{"text": "unused"}]}

    def repository(self, name):
        folder = self.home.workspace / name
        folder.mkdir()
        (folder / "calc.sh").write_text(BROKEN)
        (folder / "test.sh").write_text(TESTS)
        return folder

    def begin(self, name):
        folder = self.repository(name)
        script = self.home.script("task", task())
        self.daemon.ok("submit_turn", sessionId=name, threadId="t",
                       input=[{"type": "text", "text": "Mend add()."}],
                       options={"model": f"script:{script}", "mode": "bypass", "cwd": str(folder)})
        return folder

    def settled(self, session):
        """'ended', 'blocked', or None while work is in progress."""
        events = self.daemon.events(session)
        if events and events[-1]["type"] in ("task.completed", "task.failed"):
            return "ended"
        thread = self.daemon.ok("get_thread_read", sessionId=session, threadId="t")
        begun = types(events).count("process.started")
        over = sum(types(events).count(kind) for kind in (
            "process.completed", "process.failed", "process.terminated"))
        return "blocked" if thread["status"] == "blocked" and begun == over else None

    def finish(self, session):
        for _ in range(4):
            if wait_until(lambda: self.settled(session), what=f"rest in {session}") == "ended":
                return self.daemon.events(session)
            self.daemon.ok("resume_thread", sessionId=session, threadId="t")
        self.fail(f"{session} does not come to an end")

    def check_tree(self, folder, events, told):
        files = {path.relative_to(folder).as_posix(): path.read_text()
                 for path in folder.rglob("*") if path.is_file() and "runs_" not in path.name}
        self.assertEqual(files, {"calc.sh": MENDED, "test.sh": TESTS,
                                 "docs/CHANGES.md": "- add() adds.\n"}, told)
        self.assertEqual(events[-1]["type"], "task.completed", told)
        self.assertEqual(types(events).count("artifact.changed"), 2, told)
        # An interrupted command may have written nothing or an empty file; none ran twice.
        cut_off = [event for event in events if event["type"] == "process.failed"
                   and not event["payload"].get("neverRan")]
        runs = [len(path.read_text().split()) for path in sorted(folder.glob("runs_*"))]
        self.assertTrue(all(count <= 1 for count in runs), (told, runs))
        self.assertGreaterEqual(sum(runs) + len(cut_off), 2, told)

    def test_the_task_is_done_and_every_step_of_it_is_a_fact(self):
        folder = self.begin("whole")
        events = self.finish("whole")
        self.check_tree(folder, events, "undisturbed")
        self.assertEqual((folder / "runs_before").read_text(), "ran\n")
        self.assertEqual((folder / "runs_after").read_text(), "ran\n")
        results = [event["payload"] for event in events if event["type"] == "tool.result"]
        self.assertEqual([result["isError"] for result in results],
                         [False, False, False, False, False, True, False, False, False, False])
        kinds = [event["payload"]["kind"] for event in events if event["type"] == "item.completed"]
        self.assertEqual(kinds.count("file_change"), 2)
        self.assertEqual(kinds.count("todo"), 2)
        self.assertEqual(kinds.count("command"), 2)
        changed = [event for event in events if event["type"] == "artifact.changed"]
        diff = self.daemon.get(f"/v1/outputs/{changed[0]['payload']['diffRef']}").data.decode()
        self.assertIn("-add() { echo $(($1 - $2)); }\n+add() { echo $(($1 + $2)); }\n", diff)
        self.check_session("whole")

    def test_killed_at_every_step_it_ends_with_the_same_tree(self):
        self.begin("reference")
        reference = types(self.finish("reference"))
        at = [index + 1 for index, kind in enumerate(reference) if kind in STEPS]
        seed = int(os.environ.get("AGENTRT_CRASH_SEED", random.randrange(1 << 30)))
        rounds = int(os.environ.get("AGENTRT_CRASH_ROUNDS", 1000))
        print(f"\nAGENTRT_CRASH_SEED={seed}")
        if rounds < len(at):
            at = sorted(random.Random(seed).sample(at, rounds))
        for sequence in at:
            session = f"killed_{sequence}"
            folder = self.begin(session)
            with self.daemon.stream(session) as stream:
                for event in stream.events():
                    if event["sequence"] >= sequence:
                        break
            self.crash()
            self.start()
            events = self.finish(session)
            self.check_tree(folder, events, (seed, sequence, reference[sequence - 1]))


if __name__ == "__main__":
    unittest.main()
