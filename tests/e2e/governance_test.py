"""Hooks and trust from outside: what they allow and block, and the state after a kill."""

import json
import os
import subprocess
import time
import unittest

import approvals_test
from approvals_test import DecisionCase, call, line
from harness import BINARY, wait_until

BYPASS = '[permissions]\nmode = "bypass"\n'


class HookCase(DecisionCase):
    """Hooks are scripts in a folder of the user; each records every run."""

    daemon_at_start = False

    def setUp(self):
        super().setUp()
        self.bin = self.home.folder / "hooks"
        self.bin.mkdir()
        self.notes = self.home.folder / "notes"
        self.config_path = self.home.folder / "config/agentrt/config.toml"

    def hook(self, name, text):
        """Creates a script that records its input and then runs `text`; returns its path."""
        path = self.bin / name
        path.write_text(f'#!/bin/bash\ninput=$(cat)\n'
                        f'printf "%s\\n" "$input" >> {self.notes}\n{text}\n')
        path.chmod(0o755)
        return path

    def configure(self, *hooks, rules=BYPASS):
        """Starts the daemon with these user hooks: (point, script, further keys)."""
        text = self.config_path.read_text() + rules + "[hooks]\n"
        points = {}
        for point, script, *more in hooks:
            entry = f'command = "{script}"' + "".join(f", {m}" for m in more)
            points.setdefault(point, []).append("{ " + entry + " }")
        for point, entries in points.items():
            text += f'{point} = [{", ".join(entries)}]\n'
        self.config_path.write_text(text)
        self.start()

    def heard(self):
        """The inputs of all hook runs."""
        if not self.notes.exists():
            return []
        return [json.loads(text) for text in self.notes.read_text().splitlines()]

    def play(self, *lines, session="s", **options):
        """Runs one turn to its end and returns its events."""
        turn = self.submit(*lines, session=session, **options)
        self.daemon.wait_turn(turn)
        return self.daemon.events(session)

    def error(self, kind="turn.failed"):
        return self.of(kind)[0]["error"]["message"]


class Hooks(HookCase):
    def test_what_a_hook_rewrote_is_what_is_judged_and_runs(self):
        script = self.hook("rewrite",
                           """echo '{"updatedInput":{"command":"echo new > made.txt"}}'""")
        self.configure(("pre_tool_use", script, 'matcher = "shell"'), rules="")
        turn = self.submit(line(call("echo old > made.txt")), {"text": "Done."})
        action = self.action()
        self.assertEqual(action["payload"]["input"], {"command": "echo new > made.txt"})
        self.answer(action)
        self.daemon.wait_turn(turn)
        self.assertEqual(self.made(), "new\n")
        told = self.heard()
        self.assertEqual(len(told), 1)
        self.assertEqual(told[0]["point"], "pre_tool_use")
        self.assertEqual(told[0]["toolInput"], {"command": "echo old > made.txt"})
        self.assertEqual(self.of("hook.completed")[0]["updatedInput"],
                         {"command": "echo new > made.txt"})
        self.assertEqual(self.of("process.started")[0]["command"], "echo new > made.txt")

    def test_a_rewrite_cannot_slip_past_a_rule(self):
        script = self.hook("rewrite", """echo '{"decision":"allow","updatedInput":"""
                                      """{"command":"touch secret"}}'""")
        self.configure(("pre_tool_use", script),
                       rules=BYPASS + 'deny = ["shell(touch secret:*)"]\n')
        self.play(line(call("ls")), {"text": "Done."})
        self.assertIsNone(self.made("secret"))
        self.assertEqual(self.of("permission.evaluated")[0]["decision"], "deny")

    def test_exit_code_two_blocks_with_what_it_wrote(self):
        script = self.hook("block", "echo 'not on a Friday' >&2; exit 2")
        self.configure(("pre_tool_use", script))
        self.play(line(call("touch made.txt")), {"text": "Done."})
        self.assertIsNone(self.made())
        self.assertIn("not on a Friday", self.error("tool.failed"))
        self.assertEqual(self.of("permission.evaluated")[0]["decisionSource"], "hook")
        self.assertEqual(self.of("process.started"), [])
        self.assertEqual(self.of("turn.completed")[0]["status"], "completed")

    def test_a_hook_that_takes_too_long_stops_the_call_unless_it_is_open(self):
        script = self.hook("slow", "sleep 30")
        self.configure(("pre_tool_use", script, "timeout_ms = 200"))
        began = time.monotonic()
        self.play(line(call("touch made.txt")), {"text": "Done."})
        self.assertLess(time.monotonic() - began, 10)
        self.assertIsNone(self.made())
        failed = self.of("hook.failed")[0]
        self.assertEqual((failed["onFailure"], failed["error"]["category"]), ("closed", "timeout"))

    def test_a_hook_that_takes_too_long_and_is_open_is_a_warning(self):
        script = self.hook("slow", "sleep 30")
        self.configure(("pre_tool_use", script, "timeout_ms = 200", 'on_failure = "open"'))
        self.play(line(call("touch made.txt")), {"text": "Done."})
        self.assertIsNotNone(self.made())
        self.assertEqual(self.of("hook.failed")[0]["onFailure"], "open")
        self.assertEqual(len(self.of("runtime.warning")), 1)

    def test_a_prompt_that_a_hook_blocks_reaches_no_model(self):
        script = self.hook("prompt", "echo 'no such talk' >&2; exit 2")
        self.configure(("user_prompt_submit", script))
        self.play({"text": "Done."})
        self.assertEqual(self.of("model.requested"), [])
        self.assertIn("no such talk", self.error())
        self.assertEqual(self.heard()[0]["prompt"], "go")

    def test_a_hook_at_the_end_sends_the_turn_on(self):
        script = self.hook("stop", f"[ $(wc -l < {self.notes}) -gt 1 ] || "
                                   "{ echo 'tests first' >&2; exit 2; }")
        self.configure(("stop", script))
        self.play({"text": "Done."}, {"text": "Really done."})
        self.assertEqual(len(self.of("model.requested")), 2)
        self.assertEqual([t["stopHookActive"] for t in self.heard()], [False, True])
        self.assertEqual([h["block"] for h in self.of("hook.completed")], [True, False])

    def test_a_stop_hook_that_never_works_cannot_keep_a_turn_for_ever(self):
        self.configure(("stop", self.hook("stop", "exit 1")))
        self.play({"text": "Done."}, {"text": "Done."}, {"text": "Done."}, {"text": "Done."},
                  {"text": "Done."})
        self.assertEqual(len(self.heard()), 3)
        self.assertEqual(len(self.of("turn.completed")), 1)

    def test_continue_false_ends_the_turn_and_its_call(self):
        script = self.hook("enough", """echo '{"continue":false,"reason":"enough"}'""")
        self.configure(("pre_tool_use", script))
        self.play(line(call("touch made.txt")), {"text": "Done."})
        self.assertIsNone(self.made())
        self.assertIn("enough", self.error())
        self.assertEqual(len(self.of("model.requested")), 1)

    def test_every_point_is_heard_once_and_in_order(self):
        points = ["session_start", "user_prompt_submit", "pre_tool_use", "permission_request",
                  "post_tool_use", "post_tool_failure", "post_sampling", "stop"]
        script = self.hook("all", "")
        self.configure(*[(point, script) for point in points], rules="")
        turn = self.submit(line(call("echo a"), call("exit 3")), {"text": "Done."})
        first = self.action()
        self.answer(first)
        self.answer(self.action(after=first["sequence"] + 1))
        self.daemon.wait_turn(turn)
        self.assertEqual([t["point"] for t in self.heard()],
                         ["session_start", "user_prompt_submit", "post_sampling",
                          "pre_tool_use", "permission_request", "post_tool_use",
                          "pre_tool_use", "permission_request", "post_tool_failure",
                          "post_sampling", "stop"])

    def test_a_hook_at_permission_request_that_always_rewrites_ends_in_a_refusal(self):
        script = self.hook("restless", 'n=$(wc -l < ' + str(self.notes) + ')\n'
                           'echo "{\\"updatedInput\\":{\\"command\\":\\"echo $n > made.txt\\"}}"')
        self.configure(("permission_request", script), rules="")
        self.play(line(call("ls -la > x")), {"text": "Done."})
        self.assertEqual(len(self.heard()), 2)
        self.assertIn("changed the call again", self.error("tool.failed"))
        self.assertIsNone(self.made())

    def test_a_hook_sees_neither_data_nor_token_nor_secrets_of_the_environment(self):
        script = self.hook("curious", f"""
            {{ cat {self.home.data}/token; ls {self.home.data}; cat {self.config_path}; env; }} \\
                > {self.home.folder}/found 2>/dev/null
            {BINARY} approvals --json >> {self.home.folder}/found 2>&1
            exit 0""")
        self.home.environment["MY_API_KEY"] = "very-secret-value"
        self.configure(("pre_tool_use", script))
        self.play(line(call("true")), {"text": "Done."})
        found = (self.home.folder / "found").read_text()
        self.assertIn("AGENTRT_HOOK_POINT=pre_tool_use", found)
        self.assertNotIn(self.daemon.token, found)
        self.assertNotIn("agentrt.db", found)
        self.assertNotIn("[hooks]", found)
        self.assertNotIn("very-secret-value", found)

    def test_hooks_of_a_claude_file_of_the_user_work_as_they_are(self):
        script = self.hook("guard", """
            command=$(printf '%s' "$input" | sed 's/.*"command" *: *"\\([^"]*\\)".*/\\1/')
            case "$command" in rm*) echo "no rm here" >&2; exit 2;; esac""")
        folder = self.home.folder / ".claude"
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [
            {"matcher": "Bash", "hooks": [{"type": "command", "command": str(script)}]}]}}))
        self.configure()
        self.play(line(call("rm made.txt"), call("touch made.txt")), {"text": "Done."})
        self.assertIsNotNone(self.made())
        self.assertIn("no rm here", self.error("tool.failed"))
        told = self.heard()
        self.assertEqual([t["tool_name"] for t in told], ["Bash", "Bash"])
        self.assertEqual(told[0]["hook_event_name"], "PreToolUse")


class KilledWhileAHookRuns(HookCase):
    def cut_off(self, point, *more, lines=()):
        """A turn whose hook was running when the daemon was killed; the daemon is running again."""
        self.configure((point, self.hook("slow", "sleep 3"), *more))
        self.submit(*(lines or (line(call("echo x >> made.txt")), {"text": "Done."})))
        wait_until(self.heard, what="the hook to run")
        self.daemon.kill()
        self.daemon = self.start()
        wait_until(lambda: self.of("hook.failed"), what="the outcome of the hook in the log")

    def resume(self):
        self.daemon.ok("resume_thread", sessionId="s", threadId="t")
        wait_until(lambda: self.daemon.ok("get_thread_read", sessionId="s",
                                          threadId="t")["status"] == "idle")

    def test_closed_the_call_is_refused_and_the_hook_does_not_run_again(self):
        self.cut_off("pre_tool_use")
        self.resume()
        self.assertEqual(self.of("hook.failed")[0]["onFailure"], "closed")
        self.assertIsNone(self.made())
        self.assertEqual(len(self.heard()), 1)
        self.assertEqual(self.of("turn.completed")[0]["status"], "completed")

    def test_open_the_call_runs_and_the_hook_does_not_run_again(self):
        self.cut_off("pre_tool_use", 'on_failure = "open"')
        self.resume()
        self.assertEqual(self.of("hook.failed")[0]["onFailure"], "open")
        self.assertEqual(self.made(), "x\n")
        self.assertEqual(len(self.heard()), 1)

    def test_closed_about_a_prompt_the_turn_has_failed(self):
        self.cut_off("user_prompt_submit")
        self.assertEqual(self.of("model.requested"), [])
        self.assertEqual(self.of("turn.failed")[0]["error"]["category"], "interrupted")

    def test_closed_about_a_result_the_turn_has_failed_and_nothing_runs_twice(self):
        self.cut_off("post_tool_use")
        self.assertEqual(self.made(), "x\n")
        self.assertEqual(self.of("turn.failed")[0]["error"]["category"], "interrupted")
        self.assertEqual(len(self.heard()), 1)

    def test_open_at_the_end_the_turn_completes_and_the_hook_does_not_run_again(self):
        self.cut_off("stop", 'on_failure = "open"', lines=({"text": "Done."},))
        self.resume()
        self.assertEqual(len(self.heard()), 1)
        self.assertEqual(len(self.of("turn.completed")), 1)


class TrustCase(HookCase):
    def setUp(self):
        super().setUp()
        self.file = self.home.workspace / ".agentrt/config.toml"
        self.file.parent.mkdir()

    def write(self, text):
        self.file.write_text(text)

    def trust(self, *arguments):
        done = self.home.run("trust", *(arguments or ("--yes",)))
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def ignored(self, session="s"):
        """The ignored requests according to the session's policy."""
        return [p["policy"]["ignored"] for p in self.of("policy.changed", session)
                if "policy" in p][-1]


class Trust(TrustCase):
    def workspace_hook(self):
        self.hook("note", "")
        (self.home.workspace / ".agentrt/note.sh").write_text(
            "cat > /dev/null; echo ran >> hooked.txt\n")
        return '[hooks]\npre_tool_use = [{ command = "bash .agentrt/note.sh" }]\n'

    def test_what_loosens_counts_only_once_trusted_and_no_longer_when_it_changes(self):
        self.write('[permissions]\nallow = ["shell(touch:*)"]\ndeny = ["shell(whoami)"]\n'
                   + self.workspace_hook())
        self.configure(rules="")
        self.play(line(call("whoami"), call("touch a.txt")), {"text": "Done."}, interactive=False)
        self.assertEqual([e["decision"] for e in self.of("permission.evaluated")],
                         ["deny", "unavailable"])
        self.assertIsNone(self.made("hooked.txt"))
        self.assertIn("permissions.allow", self.ignored()[0])
        self.assertIn(str(self.file), self.trust("--list"))
        self.trust()
        self.play(line(call("whoami"), call("touch a.txt")), {"text": "Done."}, session="s2",
                  interactive=False)
        self.assertEqual([e["decision"] for e in self.of("permission.evaluated", "s2")],
                         ["deny", "allow"])
        self.assertIsNotNone(self.made("a.txt"))
        self.assertEqual(self.made("hooked.txt"), "ran\nran\n")
        self.assertEqual(self.ignored("s2"), [])
        # With one byte more, the file is not trusted any more.
        self.write(self.file.read_text() + "\n")
        self.play(line(call("touch b.txt")), {"text": "Done."}, session="s3", interactive=False)
        self.assertIsNone(self.made("b.txt"))
        self.assertIn("the file has changed since it was trusted", self.ignored("s3")[0])
        self.assertIn("changed since it was trusted", self.trust("--list"))

    def test_a_run_that_asks_nobody_says_what_was_left_out(self):
        self.write('[permissions]\nallow = ["shell(touch:*)"]\n')
        self.configure(rules="")
        script = self.home.script("hello", [{"text": "Hello."}])
        run = ("run", "--cwd", str(self.home.workspace), "--model", f"script:{script}", "hi")
        done = self.home.run(*run)
        self.assertIn(f"{self.file}: ignored: permissions.allow", done.stderr)
        self.assertIn("agentrt trust", done.stderr)
        self.trust()
        self.assertNotIn("ignored", self.home.run(*run).stderr)

    def test_trust_survives_a_kill_and_can_be_taken_back(self):
        self.write('[permissions]\nallow = ["shell(touch:*)"]\n')
        self.configure(rules="")
        self.trust()
        self.daemon.kill()
        self.daemon = self.start()
        self.play(line(call("touch a.txt")), {"text": "Done."}, interactive=False)
        self.assertIsNotNone(self.made("a.txt"))
        self.trust("--revoke")
        self.play(line(call("touch b.txt")), {"text": "Done."}, session="s2", interactive=False)
        self.assertIsNone(self.made("b.txt"))

    def trust_in_place(self, session, **options):
        """A turn that asks for trust, gets it, and continues."""
        turn = self.submit(line(call(f"touch {session}.txt")), {"text": "Done."}, session=session,
                           askTrust=True, **options)
        action = self.action(session)
        self.assertEqual(action["payload"]["actionType"], "trust")
        self.answer(action, digest=action["payload"]["digest"])
        self.daemon.wait_turn(turn)
        self.assertIsNotNone(self.made(f"{session}.txt"))
        self.assertEqual(len(self.of("action.required", session)), 1)

    def test_trust_taken_back_can_be_given_again_in_place(self):
        self.write('[permissions]\nallow = ["shell(touch:*)"]\n')
        self.configure(rules="")
        self.trust()
        self.trust("--revoke")
        self.trust_in_place("one")
        self.trust("--revoke")
        self.trust_in_place("two")

    def test_trust_is_in_the_file_whatever_name_leads_to_it(self):
        self.write('[permissions]\nallow = ["shell(touch:*)"]\n')
        other = self.home.folder / "other"
        other.symlink_to(self.home.workspace)
        self.configure(rules="")
        self.trust_in_place("one", cwd=str(other))

    def test_hooks_of_a_claude_file_of_the_workspace_run_once_it_is_trusted(self):
        folder = self.home.workspace / ".claude"
        folder.mkdir()
        (folder / "block.sh").write_text("cat > /dev/null; echo 'not here' >&2; exit 2\n")
        (folder / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [
            {"matcher": "Bash", "hooks": [{
                "type": "command",
                "command": 'bash "$CLAUDE_PROJECT_DIR/.claude/block.sh"'}]}]}}))
        self.configure()
        self.play(line(call("touch a.txt")), {"text": "Done."})
        self.assertIsNotNone(self.made("a.txt"))
        self.trust()
        self.play(line(call("touch b.txt")), {"text": "Done."}, session="s2")
        self.assertIsNone(self.made("b.txt"))
        self.assertIn("not here", self.of("tool.failed", "s2")[0]["error"]["message"])

    def test_a_broken_file_of_the_workspace_fails_its_turns_and_names_file_and_line(self):
        self.configure()
        self.write('[permissions]\nallow = ["shell(ls)"]\ndeny = ["shell(("]\n')
        self.play(line(call("touch made.txt")), {"text": "Done."})
        self.assertIn(f"{self.file}:3", self.error())
        self.assertEqual(self.of("model.requested"), [])
        self.write('[permissions]\ndeny = []\n')
        self.play(line(call("touch made.txt")), {"text": "Done."}, session="s2")
        self.assertIsNotNone(self.made())

    def test_a_broken_rule_of_the_user_stops_the_program(self):
        self.config_path.write_text(self.config_path.read_text()
                                    + '[permissions]\ndeny = ["shell(("]\n')
        done = subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:0"], timeout=30,
                              cwd=self.home.workspace, env=self.home.environment,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done)
        lines = self.config_path.read_text().splitlines()
        self.assertIn(f"{self.config_path}:{len(lines)}: permissions.deny", done.stderr)

    def test_rules_of_a_session_count_from_the_next_call_and_stand_in_the_log(self):
        self.configure(rules="")
        self.daemon.ok("create_session", sessionId="s", cwd=str(self.home.workspace))
        self.daemon.ok("set_policy", sessionId="s", allow=["shell(touch:*)"], reason="for now")
        self.play(line(call("touch a.txt")), {"text": "Done."}, interactive=False)
        self.assertIsNotNone(self.made("a.txt"))
        self.daemon.ok("set_policy", sessionId="s", remove=["shell(touch:*)"])
        self.play(line(call("touch b.txt")), {"text": "Done."}, interactive=False)
        self.assertIsNone(self.made("b.txt"))
        self.assertRefused(self.daemon.call("set_policy", sessionId="s", allow=["shell(("]), 400,
                           "invalid_params")
        changes = [p for p in self.of("policy.changed") if p["change"] == "rules"]
        self.assertEqual(changes[0]["added"][0]["rule"], "shell(touch:*)")
        self.assertEqual(changes[0]["reason"], "for now")
        self.assertEqual(changes[1]["removed"][0]["rule"], "shell(touch:*)")


class TrustAtTheTerminal(TrustCase):
    run_at_terminal = approvals_test.Terminal.run_at_terminal
    read_until = approvals_test.Terminal.read_until
    type = staticmethod(approvals_test.Terminal.type)

    def ask(self, answer):
        self.write('[permissions]\nallow = ["shell(touch:*)"]\n')
        self.configure(rules='[permissions]\nmode = "default"\n')
        script = self.home.script("terminal", [line(call("touch made.txt")),
                                               {"text": "All done."}])
        process, master = self.run_at_terminal("--model", f"script:{script}", "go")
        seen = self.read_until(master, "> ")
        self.assertIn(str(self.file), seen)
        self.assertIn("allows shell(touch:*)", seen)
        self.type(master, answer)
        return process, master

    def test_yes_trusts_the_file_and_the_turn_goes_on_under_it(self):
        process, master = self.ask(b"y\n")
        self.read_until(master, "All done.")
        self.assertEqual(process.wait(10), 0)
        self.assertIsNotNone(self.made())
        self.assertNotIn("not trusted", self.trust("--list"))

    def test_no_leaves_it_out_and_the_call_is_asked_about(self):
        process, master = self.ask(b"n\n")
        self.read_until(master, "> ")
        self.type(master, b"n\n")
        self.read_until(master, "All done.")
        process.wait(10)
        self.assertIsNone(self.made())


if __name__ == "__main__":
    unittest.main()
