"""Turns that run commands: sandboxed, with every step as a fact, across kills and restarts."""

import json
import os
import random
import signal
import subprocess
import time
import unittest

from harness import Case, types, wait_until

SHELL = "shell"


def call(command, **more):
    return {"name": SHELL, "args": {"command": command, **more}}


def line(*calls, text="Working."):
    return {"text": text, "toolCalls": list(calls)}


class ToolCase(Case):
    scripts = {"main": [{"text": "unused"}]}

    def play(self, *lines, mode="bypass", session="s", wait=True, **options):
        script = self.home.script(f"play_{session}", lines)
        reply = self.daemon.ok("submit_turn", sessionId=session, threadId="t",
                               input=[{"type": "text", "text": "go"}],
                               options={"model": f"script:{script}", "mode": mode,
                                        "cwd": str(self.home.workspace), **options})
        if wait:
            self.daemon.wait_turn(reply, seconds=30)
        return self.daemon.events(session)

    def of(self, events, kind):
        return [event for event in events if event["type"] == kind]


class Shell(ToolCase):
    def test_commands_run_in_the_workspace_and_leave_every_step_behind(self):
        events = self.play(line(call("echo hello > made.txt; echo out; echo err >&2")),
                           {"text": "Done."})
        self.assertEqual((self.home.workspace / "made.txt").read_text(), "hello\n")
        self.assertEqual(
            types(events)[types(events).index("tool.started") - 2:][:5],
            ["item.started", "permission.evaluated", "tool.started", "run.status",
             "sandbox.applied"])
        result = self.of(events, "tool.result")[0]["payload"]
        self.assertEqual(result["preview"], "out\n[stderr]\nerr\n")
        self.assertFalse(result["isError"])
        applied = self.of(events, "sandbox.applied")[0]["payload"]
        for layer in ("mountNamespace", "pidNamespace", "seccomp", "capabilities"):
            self.assertTrue(applied["layers"][layer]["enforced"], applied)
        self.assertEqual(self.of(events, "process.completed")[0]["payload"]["exitCode"], 0)
        self.assertEqual(self.of(events, "turn.completed")[0]["payload"]["status"], "completed")
        wait_until(lambda: not list((self.home.data / "run").iterdir()), what="an empty folder")

    def test_what_no_mode_or_rule_allows_does_not_run_and_the_turn_goes_on(self):
        expected = {"default": "unavailable", "plan": "denied", "never": "unavailable",
                    "untrusted": "unavailable"}
        for mode, category in expected.items():
            with self.subTest(mode=mode):
                events = self.play(line(call("touch made.txt")), mode=mode, session=f"s_{mode}",
                                   interactive=False)
                failed = self.of(events, "tool.failed")[0]["payload"]["error"]
                self.assertEqual(failed["category"], category)
                self.assertEqual(self.of(events, "process.started"), [])
        self.assertFalse((self.home.workspace / "made.txt").exists())

    def test_sandboxed_modes_run_without_a_question(self):
        for mode in ("on_request", "on_failure"):
            with self.subTest(mode=mode):
                events = self.play(line(call("echo hi")), {"text": "Done."}, mode=mode,
                                   session=f"s_{mode}")
                self.assertEqual(self.of(events, "permission.evaluated")[0]["payload"]["decision"],
                                 "sandboxed")
                self.assertFalse(self.of(events, "tool.result")[0]["payload"]["isError"])

    def test_what_the_sandbox_stopped_may_be_run_outside_after_a_yes(self):
        target = self.home.folder / "outside.txt"
        self.play(line(call(f"exec 3<>/dev/tcp/192.0.2.1/80 || echo x >> {target}; exit 1")),
                  {"text": "Done."}, mode="on_failure", wait=False)
        asked = self.daemon.wait_event("s", lambda e: e["type"] == "action.required")[-1]
        self.assertEqual(asked["payload"]["sandbox"], "full_access")
        self.assertFalse(target.exists())
        self.daemon.ok("respond_action", actionId=asked["actionId"], decision="deny")
        self.daemon.wait_event("s", lambda e: e["type"] == "task.completed")
        events = self.daemon.events("s")
        self.assertEqual(len(self.of(events, "process.started")), 1)
        self.assertTrue(self.of(events, "tool.result")[0]["payload"]["isError"])

    def test_what_the_model_got_wrong_is_told_and_the_turn_goes_on(self):
        events = self.play(line({"name": "rm", "args": {}}, call(""), call("true", timeoutMs=0),
                                call("true", cwd="/etc")), {"text": "Sorry."})
        messages = [e["payload"]["error"]["message"] for e in self.of(events, "tool.failed")]
        self.assertEqual(len(messages), 4)
        self.assertIn("the built-in tools are: shell", messages[0])
        self.assertIn("not a folder in the workspace", messages[3])
        self.assertEqual(events[-1]["type"], "task.completed")

    def test_the_sandbox_stops_what_leaves_it_and_says_what_was_tried(self):
        events = self.play(line(call("echo x > /etc/agentrt_test; ls ~/.ssh; "
                                     "exec 3<>/dev/tcp/192.0.2.1/80")), {"text": "Done."})
        self.assertFalse(os.path.exists("/etc/agentrt_test"))
        violations = [e["payload"] for e in self.of(events, "sandbox.violation")]
        self.assertTrue(any(v["kind"] == "network" for v in violations), events)
        self.assertTrue(self.of(events, "tool.result")[0]["payload"]["isError"])

    def test_a_command_that_leaves_a_program_for_git_is_reported(self):
        events = self.play(line(call("git init -q made && git -C made config core.fsmonitor ./x; "
                                     "echo x > .envrc")), {"text": "Done."})
        seen = [e["payload"] for e in self.of(events, "sandbox.violation")]
        self.assertEqual([(v["advisory"], v["layer"]) for v in seen], [(True, "inspection")] * 2)
        self.assertIn("made/.git/config sets a program that git runs: core.fsmonitor",
                      seen[0]["attempted"])
        self.assertIn("/.envrc", seen[1]["attempted"])
        self.assertFalse(self.of(events, "tool.result")[0]["payload"]["isError"])

    def test_run_shows_what_a_command_left_for_programs_outside(self):
        script = self.home.script("left", [line(call("echo x > .envrc")), {"text": "Done."}])
        done = self.home.run("run", "--mode", "bypass", "--model", f"script:{script}", "go")
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout + done.stderr,
                         r"noticed: .*/\.envrc is new or changed")

    def test_a_model_is_told_how_to_leave_the_sandbox(self):
        subprocess.run(["git", "init", "-q", str(self.home.workspace)], check=True)
        events = self.play(line(call("git config core.pager x"), call("echo x > .git/commondir")),
                           {"text": "Done."})
        for result in self.of(events, "tool.result"):
            self.assertTrue(result["payload"]["isError"])
            self.assertIn("Read-only file system", result["payload"]["preview"])
            self.assertIn("outsideSandbox: true", result["payload"]["preview"])
        self.assertEqual(len(self.of(events, "sandbox.violation")), 2)
        self.assertFalse((self.home.workspace / ".git/commondir").exists())

    def test_the_runtime_s_own_files_are_not_there_for_a_command(self):
        token = self.daemon.token
        events = self.play(line(call(f"cat {self.home.data}/token; ls -a {self.home.data}")))
        self.assertNotIn(token, json.dumps(events))
        self.assertNotIn("agentrt.db", json.dumps(self.of(events, "tool.result")))

    def test_much_output_is_behind_a_ref_and_costs_the_daemon_little(self):
        self.play({"text": "warm"}, session="warm")
        before = self.daemon.memory_kb()
        size = (self.home.data / "agentrt.db").stat().st_size
        events = self.play(line(call("head -c 30000000 /dev/zero | tr '\\0' 'x'")),
                           {"text": "Done."})
        result = self.of(events, "tool.result")[0]["payload"]
        # The instructions that the model received are stored as outputs, too.
        spilled = next(each["payload"] for each in self.of(events, "output.spilled")
                       if each["payload"]["outputRef"] == result["outputRef"])
        self.assertEqual(spilled["size"], 30_000_000)
        reply = self.daemon.request("GET", f"/v1/outputs/{result['outputRef']}",
                                    headers={"Range": "bytes=29999990-"})
        self.assertEqual((reply.status, reply.data), (206, b"x" * 10))
        self.assertLess(len(result["preview"]), 8_192)
        self.assertLess(sum(len(json.dumps(e)) for e in events), 80_000)
        self.assert_memory(60 * 1024)
        self.assert_memory(32 * 1024, before)
        self.assertLess((self.home.data / "agentrt.db").stat().st_size - size, 1 << 20)

    def test_what_runs_too_long_is_ended_with_all_its_children(self):
        marker = f"sleep 3{random.randrange(10_000, 99_999)}"
        events = self.play(line(call(f"trap '' TERM; ({marker} &) ; echo so far; {marker}",
                                     timeoutMs=300)))
        failed = self.of(events, "tool.failed")[0]["payload"]
        self.assertEqual(failed["error"]["category"], "timeout")
        self.assertEqual(failed["preview"], "so far\n")
        self.assertEqual(len(self.of(events, "process.terminated")), 1)
        wait_until(lambda: not processes_with(marker), what="the end of every child")

    def test_arguments_that_are_too_long_keep_no_other_call_from_running(self):
        events = self.play(line(call("echo before"), call("echo " + "x" * 60_000),
                                call("echo behind")), {"text": "Done."})
        failed = self.of(events, "tool.failed")
        self.assertEqual([f["payload"]["error"]["category"] for f in failed], ["invalid_input"])
        self.assertIn("larger than 48 KiB", failed[0]["payload"]["error"]["message"])
        self.assertEqual([e["payload"]["preview"] for e in self.of(events, "tool.result")],
                         ["before\n", "behind\n"])

    def test_a_command_in_the_foreground_finds_the_end_of_its_input(self):
        events = self.play(line(call("cat; readlink /proc/self/fd/0", timeoutMs=5000)),
                           {"text": "Done."})
        self.assertEqual(self.of(events, "tool.result")[0]["payload"]["preview"], "/dev/null\n")

    def test_of_too_many_calls_those_within_the_limit_are_made(self):
        events = self.play(line(*[call(f"echo {number}") for number in range(66)]),
                           {"text": "Done."})
        self.assertEqual([e["payload"]["preview"] for e in self.of(events, "tool.result")],
                         [f"{number}\n" for number in range(64)])
        self.assertEqual([e["payload"]["error"]["message"] for e in self.of(events, "tool.failed")],
                         ["one answer can make at most 64 calls; make this call again in the "
                          "next answer"] * 2)
        self.assertEqual(events[-1]["type"], "task.completed")

    def test_an_interrupt_ends_the_command(self):
        marker = f"sleep 4{random.randrange(10_000, 99_999)}"
        self.play(line(call(marker)), wait=False)
        self.daemon.wait_event("s", lambda e: e["type"] == "process.started")
        wait_until(lambda: processes_with(marker), what="the command")
        time.sleep(0.2)
        self.daemon.ok("interrupt_turn", sessionId="s")
        wait_until(lambda: not processes_with(marker), what="its end")
        events = self.daemon.events("s")
        self.assertGreaterEqual(self.of(events, "tool.failed")[0]["payload"]["durationMs"], 200)
        self.assertEqual(types(events)[-6:], ["process.terminated", "tool.failed", "item.completed",
                                              "task.attempt.failed", "turn.failed",
                                              "task.cancelled"])


class Launcher(ToolCase):
    def test_a_launcher_that_is_killed_takes_its_command_along_and_the_log_says_lost(self):
        marker = f"sleep 5{random.randrange(10_000, 99_999)}"
        self.play(line(call(marker)), {"text": "Done."}, wait=False)
        self.daemon.wait_event("s", lambda e: e["type"] == "process.started")
        wait_until(lambda: processes_with(marker), what="the command")
        for pid in children_of(self.daemon.process.pid):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not processes_with(marker), what="the end of the command")
        self.daemon.wait_event("s", lambda e: e["type"] == "turn.completed")
        events = self.daemon.events("s")
        failed = self.of(events, "process.failed")[0]["payload"]["error"]
        self.assertEqual(failed["category"], "lost")
        self.assertEqual(len(self.of(events, "process.started")), 1)

    def test_many_commands_at_once_in_many_threads(self):
        script = self.home.script("many", [line(call("echo $$; sleep 0.1")), {"text": "Done."}])
        replies = [self.daemon.ok("submit_turn", sessionId=f"m{n}", threadId="t",
                                  input=[{"type": "text", "text": "go"}],
                                  options={"model": f"script:{script}", "mode": "bypass",
                                           "cwd": str(self.home.workspace)})
                   for n in range(24)]
        for reply in replies:
            self.daemon.wait_turn(reply, seconds=60)
        for n in range(24):
            results = self.of(self.daemon.events(f"m{n}"), "tool.result")
            self.assertEqual([r["payload"]["isError"] for r in results], [False])
        wait_until(lambda: not list((self.home.data / "run").iterdir()), what="an empty folder")


def children_of(parent):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == parent:
                    found.append(int(pid))
        except OSError:
            continue
    return found


def processes_with(text):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if text.encode() in file.read().replace(b"\0", b" "):
                    found.append(int(pid))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


class Killed(ToolCase):
    """kill -9 of the daemon at any time: no command runs twice, and the log is truthful."""

    def test_no_command_runs_twice_whenever_the_daemon_is_killed(self):
        seed = int(os.environ.get("AGENTRT_CRASH_SEED", random.randrange(1 << 30)))
        rounds = int(os.environ.get("AGENTRT_CRASH_ROUNDS", 12))
        draw = random.Random(seed)
        print(f"\nAGENTRT_CRASH_SEED={seed}")
        for number in range(rounds):
            session = f"k{number}"
            log = self.home.workspace / f"runs_{number}"
            commands = [call(f"echo {n} >> runs_{number}; sleep 0.02") for n in range(3)]
            self.play(line(*commands), {"text": "Done."}, session=session, wait=False)
            time.sleep(draw.random() * 0.25)
            self.crash()
            self.start()
            wait_until(lambda: self.settled(session), what="the end of what was cut off")
            for _ in range(4):
                self.daemon.ok("resume_thread", sessionId=session, threadId="t")
                if wait_until(lambda: self.settled(session), what="a state at rest") == "ended":
                    break
            events = self.daemon.events(session)
            runs = log.read_text().split() if log.exists() else []
            self.assertEqual(len(runs), len(set(runs)), (seed, number, runs))
            self.assertEqual(events[-1]["type"], "task.completed", (seed, number))
            self.assertEqual(len(self.of(events, "tool.started")), 3, (seed, number))
            ends = self.of(events, "tool.result") + self.of(events, "tool.failed")
            self.assertEqual(len(ends), 3, (seed, number))
            good = [e for e in self.of(events, "tool.result") if not e["payload"]["isError"]]
            self.assertLessEqual(len(good), len(runs), (seed, number))
            self.assertEqual(processes_with(f"runs_{number}"), [])

    def settled(self, session):
        """'ended', 'blocked', or None while work is in progress."""
        events = self.daemon.events(session)
        if events and events[-1]["type"] == "task.completed":
            return "ended"
        thread = self.daemon.ok("get_thread_read", sessionId=session, threadId="t")
        open_calls = (len(self.of(events, "process.started")) -
                      len([e for e in events if e["type"] in (
                          "process.completed", "process.failed", "process.terminated")]))
        return "blocked" if thread["status"] == "blocked" and open_calls == 0 else None


if __name__ == "__main__":
    unittest.main()
