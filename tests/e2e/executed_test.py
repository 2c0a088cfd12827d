"""What runs is what was judged: a literal text in canonical form, an approved text as shown."""

import hashlib
import unittest
from pathlib import Path

from harness import Case, wait_until

RULES = """
[permissions]
allow = ["shell(echo:*)", "shell(printf:*)", "shell(cat:*)", "shell(true)", "shell(sleep:*)"]
"""


def call(command, **more):
    return {"name": "shell", "args": {"command": command, **more}}


class ExecutedCase(Case):
    scripts = {"main": [{"text": "unused"}]}
    config = RULES

    def submit(self, *calls, session="s", **options):
        lines = [{"text": "Working.", "toolCalls": list(calls)}, {"text": "Done."}]
        script = self.home.script(f"play_{session}", lines)
        return self.daemon.ok("submit_turn", sessionId=session, threadId="t",
                              input=[{"type": "text", "text": "go"}],
                              options={"model": f"script:{script}",
                                       "cwd": str(self.home.workspace), **options})

    def play(self, *calls, session="s", **options):
        self.daemon.wait_turn(self.submit(*calls, session=session, **options), seconds=30)

    def payloads(self, kind, session="s"):
        return [e["payload"] for e in self.daemon.events(session) if e["type"] == kind]

    def assertRan(self, started, command, executed):
        """The fact has both texts, and its digest is that of the one that ran."""
        self.assertEqual(started["command"], command)
        self.assertEqual(started.get("executed"), executed)
        words = ["/bin/bash", "-c", executed or command]
        digest = hashlib.sha256("".join(w + "\0" for w in words).encode()).hexdigest()
        self.assertEqual(started["argvDigest"], "sha256:" + digest)


class Executed(ExecutedCase):
    def test_a_literal_text_that_a_rule_allows_runs_in_canonical_form(self):
        text = "printf '%s\\n' \"it's\" {a,b} | cat\necho 'x  y' $'\\t'z >&2  # done"
        form = ("'printf' '%s\\n' 'it'\\''s' 'a' 'b' | 'cat'\n"
                "'echo' 'x  y' '\tz' >&2")
        self.play(call(text))
        self.assertRan(self.payloads("process.started")[0], text, form)
        self.assertEqual(self.payloads("tool.result")[0]["preview"],
                         "it's\na\nb\n[stderr]\nx  y \tz\n")
        self.assertEqual(self.payloads("tool.started")[0]["safeArgs"], {"command": text})
        self.check_session("s")

    def test_a_dynamic_text_runs_as_it_was_written(self):
        self.play(call('echo "$HOME"'))
        self.assertRan(self.payloads("process.started")[0], 'echo "$HOME"', None)

    def test_a_text_that_a_person_approved_runs_as_it_was_shown(self):
        text = "echo  one   >made.txt; cat made.txt"
        turn = self.submit(call(text))
        action = self.daemon.wait_event("s", lambda e: e["type"] == "action.required")[-1]
        self.assertEqual(action["payload"]["input"], {"command": text})
        self.daemon.ok("respond_action", actionId=action["actionId"], decision="allow",
                       scope="session")
        self.daemon.wait_turn(turn)
        # The answer stored a rule. The next call is decided by it, without asking the user.
        self.play(call(text))
        shown, judged = self.payloads("process.started")
        self.assertRan(shown, text, None)
        self.assertRan(judged, text, "'echo' 'one' > 'made.txt' ; 'cat' 'made.txt'")
        first, second = self.payloads("tool.result")
        self.assertEqual(first["preview"], "one\n")
        self.assertEqual(first["preview"], second["preview"])

    def test_the_form_runs_in_the_background_in_a_terminal_and_outside_the_sandbox(self):
        for name, more in {"background": {"background": True}, "tty": {"tty": True},
                           "outside": {"outsideSandbox": True, "justification": "a test"}}.items():
            with self.subTest(name):
                self.play(call("echo  a; sleep 0.1", **more), session=name, mode="bypass")
                started = self.payloads("process.started", name)[0]
                self.assertRan(started, "echo  a; sleep 0.1", "'echo' 'a' ; 'sleep' '0.1'")

    def test_the_process_has_the_form_among_its_arguments(self):
        self.play(call("sleep  60 && true", background=True))
        started = self.payloads("process.started")[0]
        self.daemon.wait_event("s", lambda e: e["type"] == "turn.completed")
        # Until it has replaced itself by bash, the process has the arguments of the launcher.
        words = Path(f"/proc/{started['pid']}/cmdline")
        wait_until(lambda: b"'sleep' '60' && 'true'" in words.read_bytes().split(b"\0"),
                   what="the form among the arguments")
        process = [e for e in self.daemon.events("s") if e["type"] == "process.started"][0]
        self.daemon.ok("terminate_process", processId=process["processId"])


if __name__ == "__main__":
    unittest.main()
