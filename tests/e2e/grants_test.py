"""What was judged is what runs: the folder of a call, leaving the sandbox, grants, and files that
are swapped between approval and execution.

AGENTRT_SWAPS sets the number of approvals in the race; the default is small.
"""

import hashlib
import os
import pathlib
import shutil
import time
import unittest

from approvals_test import DecisionCase, call, line
from governance_test import HookCase
from harness import types

SWAPS = int(os.environ.get("AGENTRT_SWAPS", "40"))
GOOD = "#!/bin/sh\necho good >> ran.txt\n"
EVIL = "#!/bin/sh\necho evil >> ran.txt\n"


class GrantCase(DecisionCase):
    rules = ""

    def setUp(self):
        super().setUp()
        if self.rules:
            self.daemon.stop()
            path = self.home.folder / "config/agentrt/config.toml"
            path.write_text(path.read_text() + "[permissions]\n" + self.rules)
            self.daemon = self.start()

    def put(self, name, text, mode=0o755):
        path = self.home.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)
        return path

    def last(self, session="s"):
        return self.daemon.events(session)[-1]["sequence"]

    def ask(self, *calls, after=None, **options):
        """Runs a turn whose call needs approval; returns the turn and the action."""
        at = after if after is not None else (self.last() if self.asked else 0)
        self.asked = True
        turn = self.submit(line(*calls), {"text": "Done."}, **options)
        return turn, self.action(after=at)

    asked = False

    def unasked(self, *calls, **options):
        """Runs a turn that needs no approval to its end; returns its decisions."""
        before = len(self.of("permission.evaluated")) if self.asked else 0
        self.asked = True
        self.daemon.wait_turn(self.submit(line(*calls), {"text": "Done."}, interactive=False,
                                          **options))
        return [e["decision"] for e in self.of("permission.evaluated")[before:]]


class Folder(GrantCase):
    rules = 'allow = ["shell(make test)", "shell(./run.sh)"]\ndeny = ["shell(cd secret:*)"]\n'

    def test_a_call_with_a_folder_is_judged_as_the_text_with_a_cd_in_front(self):
        for name in ("vendor/evil", "secret"):
            self.put(f"{name}/Makefile", "test:\n\ttouch made.txt\n")
        self.put("Makefile", "test:\n\ttouch made.txt\n")
        decisions = self.unasked(
            call("make test"), call("make test", cwd="."),
            call("make test", cwd=str(self.home.workspace)),
            call("make test", cwd="vendor/evil"), call("cd vendor/evil && make test"),
            call("make test", cwd="vendor/evil/../evil"), call("make test", cwd="secret"))
        self.assertEqual(decisions, ["allow"] * 3 + ["unavailable"] * 3 + ["deny"])
        self.assertIsNone(self.made("vendor/evil/made.txt"))
        self.assertIsNotNone(self.made())

    def test_explain_says_the_same(self):
        self.put("vendor/evil/Makefile", "test:\n")
        for given, decision in (({}, "allow"), ({"cwd": "vendor/evil"}, "ask")):
            reply = self.daemon.ok("evaluate_permission", toolName="shell",
                                   input={"command": "make test", **given},
                                   cwd=str(self.home.workspace))
            self.assertEqual(reply["decision"], decision)


class Outside(HookCase):
    def test_a_hook_cannot_let_a_command_out_of_the_sandbox(self):
        for point in ("pre_tool_use", "permission_request"):
            with self.subTest(point=point):
                script = self.hook(point, """echo '{"decision":"allow"}'""")
                self.config_path.write_text(self.config_path.read_text().split("[hooks]")[0])
                self.configure((point, script), rules="")
                target = self.home.folder / f"{point}.txt"
                session = f"s_{point}"
                turn = self.submit(line(call(f"touch {target}", outsideSandbox=True)),
                                   {"text": "Done."}, session=session)
                action = self.action(session)
                self.assertEqual(action["payload"]["sandbox"], "full_access")
                self.assertFalse(target.exists())
                self.answer(action)
                self.daemon.wait_turn(turn)
                self.assertTrue(target.exists())
                self.daemon.stop()
        self.start()

    def test_a_hook_can_keep_it_in(self):
        script = self.hook("no", """echo '{"decision":"deny","reason":"stay"}'""")
        self.configure(("pre_tool_use", script), rules="")
        self.play(line(call("ls", outsideSandbox=True)), {"text": "Done."})
        self.assertEqual(self.of("permission.evaluated")[0]["decision"], "deny")

    def test_a_rule_that_says_outside_does(self):
        self.configure(rules='[permissions]\nallow = ["shell(touch:*, outside)", "shell(ls:*)"]\n')
        target = self.home.folder / "let_out.txt"
        self.play(line(call(f"touch {target}", outsideSandbox=True), call("touch made.txt"),
                       call("ls", outsideSandbox=True)),
                  {"text": "Done."}, interactive=False)
        self.assertTrue(target.exists())
        self.assertEqual([e["decision"] for e in self.of("permission.evaluated")],
                         ["allow", "allow", "unavailable"])

    def test_one_of_the_workspace_counts_once_it_is_trusted(self):
        folder = self.home.workspace / ".agentrt"
        folder.mkdir()
        (folder / "config.toml").write_text('[permissions]\nallow = ["shell(touch:*, outside)"]\n')
        self.start()
        target = self.home.folder / "let_out.txt"
        self.play(line(call(f"touch {target}", outsideSandbox=True)), {"text": "Done."},
                  interactive=False)
        self.assertFalse(target.exists())
        trust = self.daemon.ok("get_trust", cwd=str(self.home.workspace))
        self.daemon.ok("trust_workspace", cwd=str(self.home.workspace),
                       files=[{"path": f["path"], "digest": f["digest"], "trusted": True}
                              for f in trust["files"]])
        self.play(line(call(f"touch {target}", outsideSandbox=True)), {"text": "Done."},
                  session="trusting", interactive=False)
        self.assertTrue(target.exists())


class Grants(GrantCase):
    def test_a_grant_holds_in_its_folder_and_for_its_files(self):
        for folder in ("safe", "evil"):
            self.put(f"{folder}/run.sh", f"#!/bin/sh\necho {folder} >> ../ran.txt\n")
        for scope in ("session", "always"):
            with self.subTest(scope=scope):
                run = call(f"./run.sh {scope}", cwd="safe")
                turn, action = self.ask(run)
                self.answer(action, scope=scope)
                self.daemon.wait_turn(turn)
                self.assertEqual(self.unasked(run), ["allow"])
                self.assertEqual(self.unasked(call(f"./run.sh {scope}", cwd="evil")),
                                 ["unavailable"])
                self.assertEqual(self.unasked(call(f"./run.sh {scope}")), ["unavailable"])
                self.put("safe/run.sh", f"#!/bin/sh\necho edited {scope} >> ../ran.txt\n")
                turn, action = self.ask(run)
                self.assertIn("safe/run.sh has changed since it was approved",
                              action["payload"]["reason"])
                self.answer(action, scope=scope)
                self.daemon.wait_turn(turn)
                self.assertEqual(self.unasked(run), ["allow"])
        self.assertEqual(self.made("ran.txt").count("evil"), 0)

    def test_the_question_says_which_folder_it_was(self):
        (self.home.workspace / "a").mkdir()
        (self.home.workspace / "b").mkdir()
        turn, action = self.ask(call("make", cwd="a"))
        self.answer(action, scope="session")
        self.daemon.wait_turn(turn)
        turn, action = self.ask(call("make", cwd="b"))
        self.assertIn(f"it was approved in {self.home.workspace}/a, but would run in "
                      f"{self.home.workspace}/b", action["payload"]["reason"])
        self.answer(action, "deny")
        self.daemon.wait_turn(turn)

    def test_a_grant_survives_a_restart_and_a_folder_that_became_a_link_is_another(self):
        for folder in ("safe", "evil"):
            self.put(f"{folder}/run.sh", "#!/bin/sh\necho ran >> ../ran.txt\n")
        turn, action = self.ask(call("./run.sh", cwd="safe"))
        self.answer(action, scope="always")
        self.daemon.wait_turn(turn)
        self.crash()
        self.daemon = self.start()
        self.assertEqual(self.unasked(call("./run.sh", cwd="safe")), ["allow"])
        shutil.rmtree(self.home.workspace / "safe")
        os.symlink("evil", self.home.workspace / "safe")
        self.assertEqual(self.unasked(call("./run.sh", cwd="safe")), ["unavailable"])

    def test_leaving_the_sandbox_is_granted_once_at_a_time(self):
        target = self.home.folder / "let_out.txt"
        leave = call(f"touch {target}", outsideSandbox=True)
        turn, action = self.ask(leave)
        self.assertEqual(action["payload"]["scopes"], ["once"])
        self.assertNotIn("rules", action["payload"])
        for scope in ("session", "always"):
            self.assertRefused(self.answer(action, scope=scope), 400, "invalid_params")
        self.assertFalse(target.exists())
        self.answer(action)
        self.daemon.wait_turn(turn)
        self.assertTrue(target.exists())
        self.assertEqual(self.unasked(leave), ["unavailable"])
        self.assertEqual([e for e in self.of("policy.changed") if e.get("added")], [])


class Swaps(GrantCase):
    """A background process of the same session swaps the script while approvals arrive."""

    SWAPPER = """
import os, time
def put(name, text, how):
    if how == 'rename':
        open('t', 'w').write(text); os.chmod('t', 0o755); os.rename('t', name)
    elif how == 'write':
        open(name, 'w').write(text)
    else:
        open('e.sh', 'w').write(text); os.chmod('e.sh', 0o755)
        os.symlink('e.sh', 'l'); os.rename('l', name)
good, evil = %r, %r
i = 0
while not os.path.exists('stop'):
    for text, how in ((evil, ('rename', 'write', 'link')[i %% 3]), (good, 'rename')):
        try:
            put('check.sh', text, how)
        except OSError:
            pass
        time.sleep(0.004)
    i += 1
"""

    def test_what_was_approved_is_what_is_executed(self):
        self.put("check.sh", GOOD)
        self.put("swap.py", self.SWAPPER % (GOOD, EVIL))
        # In the sandbox like every command, as a background process of the same session.
        turn, action = self.ask(call("/usr/bin/python3 swap.py", background=True))
        self.answer(action)
        self.daemon.wait_turn(turn)
        asked = approved = started = refused = 0
        at = self.last()
        try:
            while approved < SWAPS:
                command = ("./check.sh", "bash check.sh", ". ./check.sh")[asked % 3]
                _, action = self.ask(call(command, outsideSandbox=asked % 4 == 3), after=at)
                asked += 1
                yes = {f["path"]: f.get("digest") for f in action["payload"]["executes"]} == {
                    str(self.home.workspace / "check.sh"): self.digest(GOOD)}
                self.answer(action, "allow" if yes else "deny")
                news = self.daemon.wait_event("s", lambda e: e["type"] == "task.completed",
                                              after=action["sequence"])
                at = news[-1]["sequence"]
                approved += yes
                started += "process.started" in types(news)
                refused += yes and "process.started" not in types(news)
        finally:
            self.put("stop", "")
        lines = (self.made("ran.txt") or "").split()
        print(f"\n{asked} questions, {approved} approvals: {refused} refused at the gate, "
              f"{started} started; {lines.count('good')} ran the approved script, "
              f"{lines.count('evil')} another")
        self.assertEqual(lines.count("evil"), 0)
        self.assertEqual(len(lines), lines.count("good"))
        self.assertGreater(len(lines), 0)

    @staticmethod
    def digest(text):
        return "sha256:" + hashlib.sha256(text.encode()).hexdigest()

    def test_a_file_swapped_at_the_gate_is_named(self):
        path = self.put("check.sh", GOOD)
        turn, action = self.ask(call("./check.sh"))
        path.write_text(EVIL)
        self.answer(action)
        self.daemon.wait_turn(turn)
        message = self.of("tool.failed")[0]["error"]["message"]
        self.assertIn("check.sh has changed", message)
        self.assertIn(self.digest(GOOD), message)
        self.assertIsNone(self.made("ran.txt"))

    def test_what_the_command_itself_makes_of_its_files_is_its_own(self):
        self.put("check.sh", GOOD)
        text = ("printf '#!/bin/sh\\necho built >> ran.txt\\n' > check.sh && ./check.sh && "
                "cp /bin/echo check.sh && ./check.sh as a program")
        turn, action = self.ask(call(text))
        self.answer(action)
        self.daemon.wait_turn(turn)
        self.assertEqual(self.made("ran.txt"), "built\n")
        self.assertIn("as a program", self.of("tool.result")[0]["preview"])

    def test_a_mode_or_a_folder_that_is_there_is_no_change_of_the_file(self):
        path = self.put("sub/check.sh", GOOD.replace("ran.txt", "../ran.txt"), mode=0o644)
        text = ("chmod +x check.sh; mkdir -p ../sub; "
                "while [ ! -e ../swapped ]; do sleep 0.01; done; ./check.sh")
        turn, action = self.ask(call(text, cwd="sub"))
        self.answer(action)
        self.daemon.wait_event("s", lambda e: e["type"] == "process.started")
        time.sleep(0.3)
        path.write_text(EVIL.replace("ran.txt", "../ran.txt"))
        self.put("swapped", "")
        self.daemon.wait_turn(turn)
        self.assertEqual(self.made("ran.txt"), "good\n")

    def test_programs_and_links_run_as_ever(self):
        shutil.copy("/bin/echo", self.home.workspace / "prog")
        self.put("tool.py", "#!/usr/bin/env python3\nimport sys\nprint(sys.argv)\n")
        os.symlink("tool.py", self.home.workspace / "link")
        turn, action = self.ask(call("./prog a b; ./tool.py c; ./link d; /usr/bin/python3 link"))
        names = sorted(pathlib.Path(f["path"]).name for f in action["payload"]["executes"])
        self.assertEqual(names, ["link", "prog", "tool.py"])
        self.answer(action)
        self.daemon.wait_turn(turn)
        self.assertEqual(self.of("tool.result")[0]["preview"].splitlines(),
                         ["a b", "['./tool.py', 'c']", "['./link', 'd']", "['link']"])

    def test_a_file_that_cannot_be_compared_is_said(self):
        (self.home.workspace / "big").write_bytes(b"\x7fELF" + b"\0" * (9 << 20))
        turn, action = self.ask(call("./big"))
        self.assertIn("the approval does not cover its contents",
                      action["payload"]["executesUnknown"])
        self.answer(action, "deny")
        self.daemon.wait_turn(turn)


if __name__ == "__main__":
    unittest.main()
