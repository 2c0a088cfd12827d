"""Background processes: they outlive their turn and the daemon, and are never lost."""

import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import time
import unittest

from harness import Faults, types, wait_until
from tools_test import ToolCase, call, children_of, line, processes_with

ENDS = ("process.completed", "process.failed", "process.terminated")


class ProcessCase(ToolCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.end_what_is_left)

    def end_what_is_left(self):
        """A failing test must not leave processes behind either."""
        for door in self.home.data.glob("run/*/control"):
            with contextlib.suppress(OSError), \
                    socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as launcher:
                launcher.connect(str(door))
                launcher.send(b"signal 9")

    def background(self, command, session="s", **more):
        """Starts the command in the background; returns its process id."""
        events = self.play(line(call(command, background=True, **more)), {"text": "Started."},
                           session=session)
        self.assertIn("task.completed", types(events))
        return self.of(events, "process.started")[-1]["processId"]

    def output(self, process, session="s"):
        """The output according to its events; checks their offsets."""
        shown, at = "", {}
        for event in self.of(self.daemon.events(session), "process.output"):
            if event["processId"] != process:
                continue
            payload = event["payload"]
            stream = payload["stream"]
            self.assertEqual(payload["offset"], at.get(stream, 0), "no gap, nothing twice")
            at[stream] = payload["nextOffset"]
            shown += payload["text"]
        return shown

    def end(self, process, session="s"):
        found = self.daemon.wait_event(
            session, lambda e: e["type"] in ENDS and e.get("processId") == process)[-1]
        return found["type"], found["payload"]

    def wait_output(self, process, text, session="s"):
        wait_until(lambda: text in self.output(process, session), what=f"the output {text!r}")


class Read(ProcessCase):
    """The model reads the output of a background process."""

    def read(self, process, session="s", **more):
        events = self.play(line({"name": "read_file",
                                 "args": {"path": f"output:{process}", **more}}),
                           {"text": "Read."}, session=session)
        ends = [e for e in events if e["type"] in ("tool.result", "tool.failed")]
        return ends[-1]["payload"]

    def test_it_is_read_while_it_runs_and_when_it_has_ended(self):
        process = self.background("echo one; echo two >&2; read line; echo got $line; exit 3")
        self.assertIn(f"output:{process}", json.dumps(self.daemon.events("s")))
        self.wait_output(process, "two\n")
        read = self.read(process)["preview"]
        self.assertIn("\tone\n", read)
        self.assertIn("\ttwo\n", read)
        self.assertIn("still running", read)
        self.daemon.ok("write_process_stdin", processId=process, input="it\n")
        self.end(process)
        read = self.read(process, offset=3)["preview"]
        self.assertEqual(read.splitlines()[0], "     3\tgot it")
        self.assertIn("exit code 3", read)

    def test_long_output_is_read_to_its_end(self):
        process = self.background("seq 1 60000; echo the end; read line")
        self.wait_output(process, "\n40000\n")
        wait_until(lambda: "the end" in self.read(process, offset=60001).get("preview", ""),
                   what="the last line")
        self.daemon.ok("write_process_stdin", processId=process, input="\n")
        self.end(process)
        read = self.read(process)["preview"]
        self.assertIn("has a complete stream", self.read(process, offset=40000)["preview"])
        self.assertIn("read on with offset", read)

    def test_quiet_and_foreign_processes(self):
        process = self.background("read line")
        self.assertIn("has printed nothing", self.read(process)["preview"])
        self.assertEqual(self.read(process, session="other")["error"]["category"], "not_found")


class Background(ProcessCase):
    def test_the_turn_goes_on_and_the_process_too(self):
        process = self.background("echo up; read line; echo got $line; exit 3")
        self.wait_output(process, "up\n")
        events = self.daemon.events("s")
        self.assertLess(types(events).index("tool.result"), types(events).index("turn.completed"))
        self.assertIn(process, self.of(events, "tool.result")[0]["payload"]["preview"])
        shown = self.daemon.ok("get_session", sessionId="s")["processes"]
        self.assertEqual([(p["processId"], p["status"]) for p in shown], [(process, "running")])
        listed = self.daemon.ok("list_sessions")["data"][0]
        self.assertEqual(listed["processes"], 1)
        reply = self.daemon.ok("write_process_stdin", processId=process, input="this\n")
        self.assertEqual(reply["sessionId"], "s")
        kind, payload = self.end(process)
        self.assertEqual((kind, payload["exitCode"]), ("process.completed", 3))
        self.assertEqual(self.output(process), "up\ngot this\n")
        given = self.of(self.daemon.events("s"), "process.input")[0]["payload"]
        self.assertEqual((given["bytes"], given["preview"]), (5, "this\n"))
        self.assertEqual(self.daemon.ok("get_session", sessionId="s")["processes"], [])
        wait_until(lambda: not list((self.home.data / "run").iterdir()), what="an empty folder")

    def test_a_terminal_takes_what_is_typed_and_has_a_size(self):
        process = self.background("stty size; read line; stty size; echo \"[$line]\"", tty=True)
        self.wait_output(process, "24 80")
        self.daemon.ok("resize_process", processId=process, rows=40, columns=100)
        self.daemon.ok("write_process_stdin", processId=process, input="typed\n")
        self.end(process)
        self.assertIn("40 100", self.output(process))
        self.assertIn("[typed]", self.output(process))
        stream = self.of(self.daemon.events("s"), "process.output")[0]["payload"]["stream"]
        self.assertEqual(stream, "pty")

    def test_it_is_ended_politely_and_then_not(self):
        polite = self.background("trap 'echo bye; exit 9' TERM; echo up; "
                                 "while :; do sleep 0.1; done")
        self.wait_output(polite, "up")
        reply = self.daemon.ok("terminate_process", processId=polite, reason="enough")
        self.assertEqual(reply["status"], "ending")
        kind, payload = self.end(polite)
        self.assertEqual((kind, payload["reason"]), ("process.terminated", "enough"))
        self.assertIn("bye", self.output(polite))
        deaf = self.background("trap '' TERM; echo up; while :; do sleep 0.1; done", session="d")
        self.wait_output(deaf, "up", "d")
        self.daemon.ok("terminate_process", processId=deaf)
        self.assertEqual(self.end(deaf, "d")[0], "process.terminated")
        again = self.daemon.ok("terminate_process", processId=deaf)
        self.assertEqual(again["status"], "terminated")

    def test_much_output_is_capped_in_events_and_whole_behind_a_ref(self):
        process = self.background("head -c 3000000 /dev/zero | tr '\\0' x")
        kind, payload = self.end(process)
        self.assertEqual(kind, "process.completed")
        self.assertEqual(len(self.output(process)), 256 * 1024)
        reply = self.daemon.request("GET", f"/v1/outputs/{payload['outputRefs'][0]}")
        self.assertEqual(len(reply.data), 3_000_000)

    def test_secrets_are_redacted_in_what_is_given_and_what_comes_back(self):
        self.daemon.stop()
        self.home.environment["MY_TOKEN"] = "hunter2-hunter2"
        path = self.home.folder / "config/agentrt/config.toml"
        path.write_text(path.read_text() + '[redact]\nnames = ["MY_TOKEN"]\n')
        self.start()
        process = self.background("read line; echo \"<$line>\"; sleep 0.2; echo end")
        self.daemon.ok("write_process_stdin", processId=process, input="hunter2-hunter2\n")
        self.end(process)
        self.assertNotIn("hunter2", json.dumps(self.daemon.events("s")))
        self.assertIn("<[redacted:MY_TOKEN]>", self.output(process))

    def test_what_cannot_be_done_is_said(self):
        process = self.background("sleep 100")
        for params, code in ((dict(processId="proc_none", input="x"), "not_found"),
                             (dict(processId=process, input=""), "invalid_params"),
                             (dict(processId=process, input="x" * 40_000), "invalid_params"),
                             (dict(processId=process, sessionId="other", input="x"), "not_found")):
            self.assertEqual(self.daemon.call("write_process_stdin", **params).code, code, params)
        self.assertEqual(self.daemon.call("resize_process", processId=process, rows=1,
                                          columns=1).code, "conflict")
        self.assertEqual(self.daemon.call("update_session", sessionId="s", archived=True).code,
                         "conflict")
        self.daemon.ok("terminate_process", processId=process)
        self.end(process)
        self.assertEqual(self.daemon.call("write_process_stdin", processId=process,
                                          input="x").code, "conflict")
        self.daemon.ok("update_session", sessionId="s", archived=True)

    def test_an_interrupt_leaves_it_alone_unless_asked(self):
        self.play(line(call("echo up; sleep 100", background=True), call("sleep 100")), wait=False)
        process = self.daemon.wait_event(
            "s", lambda e: e["type"] == "process.started")[-1]["processId"]
        self.wait_output(process, "up")
        self.daemon.ok("interrupt_turn", sessionId="s")
        self.assertEqual(len(self.daemon.ok("get_session", sessionId="s")["processes"]), 1)
        turn = self.of(self.daemon.events("s"), "turn.started")[0]["turnId"]
        self.daemon.ok("interrupt_turn", sessionId="s", turnId=turn, processes="end")
        self.assertEqual(self.end(process)[0], "process.terminated")

    def test_the_environment_of_a_turn_is_recorded_and_read(self):
        process = self.background("sleep 100")
        read = self.daemon.ok("get_execution_environment", sessionId="s")
        environment = read["environment"]
        self.assertEqual(environment["cwd"], str(self.home.workspace))
        self.assertEqual(environment["sandboxProfile"]["mode"], "workspace_write")
        self.assertEqual(environment["networkProfile"], "none")
        self.assertIn("PATH", environment["envNames"])
        self.assertNotIn("AGENTRT_HOME", environment["envNames"])
        self.assertEqual(environment["resourceLimits"]["openFiles"], 4096)
        recorded = self.of(self.daemon.events("s"), "context.resolved")[0]
        kept = recorded["payload"]["environment"]
        self.assertRegex(kept.pop("digest"), "^sha256:[0-9a-f]{64}$")
        self.assertEqual(kept, environment)
        self.assertEqual(read["turnId"], recorded["turnId"])
        self.assertEqual([p["processId"] for p in read["processes"]], [process])
        self.assertEqual(self.daemon.call("get_execution_environment", sessionId="s",
                                          threadId="none").code, "not_found")
        shown = self.home.run("show", "s")
        self.assertIn(process, shown.stdout)
        self.daemon.ok("terminate_process", processId=process)
        self.end(process)

    def test_output_that_is_not_utf8_has_one_size_before_and_after_a_restart(self):
        def shown():
            read = self.daemon.ok("get_execution_environment", sessionId="s")
            return [p["outputBytes"] for p in read["processes"]]
        process = self.background("head -c 9000 /dev/zero | tr '\\0' '\\377'; sleep 100")
        wait_until(lambda: shown() == [9000], what="all of its output")
        self.assertEqual(self.output(process), "\N{REPLACEMENT CHARACTER}" * 9000)
        for event in self.of(self.daemon.events("s"), "process.output"):
            self.assertLessEqual(len(event["payload"]["text"].encode()), 4096)
        self.daemon.kill()
        self.daemon = self.start()
        self.assertEqual(shown(), [9000])
        self.daemon.ok("terminate_process", processId=process)
        self.end(process)
        self.assertEqual(self.output(process), "\N{REPLACEMENT CHARACTER}" * 9000)

    def test_what_runs_too_long_is_ended_in_the_background_too(self):
        process = self.background("echo up; sleep 100", timeoutMs=300)
        kind, payload = self.end(process)
        self.assertEqual(kind, "process.terminated")
        self.assertIn("300 ms", payload["reason"])


class Advised(ProcessCase):
    config = "[sandbox]\nreport_writes = true\n"

    def test_writes_elsewhere_are_reported_as_advice(self):
        events = self.play(line(call("echo x > /etc/agentrt_advice; echo y > here")),
                           {"text": "Done."})
        found = [e["payload"] for e in self.of(events, "sandbox.violation")]
        self.assertEqual([(v["kind"], v["advisory"]) for v in found], [("filesystem", True)], found)
        self.assertIn("/etc/agentrt_advice", found[0]["attempted"])
        self.assertEqual((self.home.workspace / "here").read_text(), "y\n")


class Restarted(ProcessCase):
    """The daemon is killed or stopped; the process keeps running."""

    def ticking(self):
        """Prints until it has read "stop". On a slow machine, bash's `read -t` returns the part of
        a line that it got in time, so the parts are joined."""
        return self.background("n=0; while read -t 0.05 part; all=$all$part; "
                               "[ \"${all%stop}\" = \"$all\" ]; do n=$((n+1)); echo t$n; done")

    def test_it_goes_on_when_the_daemon_is_killed_and_its_output_follows_without_a_seam(self):
        process = self.ticking()
        for turn in range(3):
            self.wait_output(process, f"t{5 * (turn + 1)}\n")
            self.crash()
            self.start()
            wait_until(lambda: len(self.of(self.daemon.events("s"), "runtime.warning")) == turn + 1,
                       what="the process, found again")
        self.daemon.ok("write_process_stdin", processId=process, input="stop\n")
        self.assertEqual(self.end(process)[1]["exitCode"], 0)
        ticks = self.output(process).split()
        self.assertEqual(ticks, [f"t{n}" for n in range(1, len(ticks) + 1)])
        self.assertEqual(len(self.of(self.daemon.events("s"), "process.started")), 1)

    def test_it_goes_on_when_the_daemon_is_stopped(self):
        process = self.ticking()
        self.wait_output(process, "t3\n")
        self.daemon.stop()
        self.assertNotEqual(processes_with("read -t 0.05"), [])
        self.start()
        wait_until(lambda: self.statuses() == {process: "running"}, what="the process, found again")
        self.daemon.ok("terminate_process", processId=process)
        self.assertEqual(self.end(process)[0], "process.terminated")
        self.assertEqual(processes_with("read -t 0.05"), [])

    def statuses(self):
        read = self.daemon.ok("get_execution_environment", sessionId="s")
        return {p["processId"]: p["status"] for p in read["processes"]}

    def test_one_that_ended_meanwhile_ends_with_its_record(self):
        marker = f"0.9{random.randrange(10_000, 99_999)}"
        process = self.background(f"echo up; sleep {marker}; echo last; exit 4")
        self.wait_output(process, "up")
        self.crash()
        wait_until(lambda: not processes_with(marker), what="its end")
        self.start()
        kind, payload = self.end(process)
        self.assertEqual((kind, payload["exitCode"]), ("process.completed", 4))

    def test_what_it_left_for_programs_outside_is_reported_by_the_next_daemon(self):
        for stop in (self.crash, lambda: self.daemon.stop()):
            name = f"made{random.randrange(10_000, 99_999)}"
            process = self.background(
                f"echo up; until [ -e go_{name} ]; do sleep 0.02; done; git init -q {name}; "
                f"git -C {name} config core.fsmonitor ./x")
            self.wait_output(process, "up")
            stop()
            (self.home.workspace / f"go_{name}").touch()
            wait_until((self.home.data / f"run/{process}/exit.json").exists, what="its end")
            self.start()
            self.end(process)
            found = [e["payload"] for e in self.of(self.daemon.events("s"), "sandbox.violation")
                     if e["processId"] == process]
            self.assertEqual([(v["advisory"], v["layer"]) for v in found], [(True, "inspection")])
            self.assertIn(f"{name}/.git/config sets a program that git runs: core.fsmonitor",
                          found[0]["attempted"])

    def ten_lines(self, last):
        """Prints three lines, the rest when the file `go` exists, and then runs the last command.
        """
        go = self.home.workspace / f"go{random.randrange(10_000, 99_999)}"
        process = self.background(
            f"for n in 1 2 3; do echo line $n; done; until [ -e {go.name} ]; do sleep 0.02; done; "
            f"for n in 4 5 6 7 8 9 10; do echo line $n; done; {last}")
        self.wait_output(process, "line 3\n")
        return process, go, self.home.data / f"run/{process}"

    LINES = "".join(f"line {n}\n" for n in range(1, 11))

    def test_what_it_prints_while_no_daemon_runs_is_passed_on_by_the_next_one(self):
        for stop in (self.crash, lambda: self.daemon.stop()):
            process, go, folder = self.ten_lines("echo complaint >&2; exit 6")
            stop()
            go.touch()
            wait_until((folder / "exit.json").exists, what="its end")
            self.start()
            kind, payload = self.end(process)
            self.assertEqual((kind, payload["exitCode"]), ("process.completed", 6))
            self.assertEqual(self.output(process), self.LINES + "complaint\n")
            wait_until(lambda: not folder.exists(), what="its folder to go")

    def test_what_it_printed_before_its_launcher_was_killed_is_passed_on(self):
        marker = f"sleep 5{random.randrange(10_000, 99_999)}"
        for while_down in (True, False):
            process, go, folder = self.ten_lines(marker)
            launchers = children_of(self.daemon.process.pid)
            if while_down:
                self.crash()
            go.touch()
            wait_until(lambda: (folder / "stdout").read_text() == self.LINES, what="its output")
            for pid in launchers:
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not processes_with(marker), what="the end of the command")
            if while_down:
                self.start()
            kind, payload = self.end(process)
            self.assertEqual((kind, payload["error"]["category"]), ("process.failed", "lost"))
            self.assertEqual(self.output(process), self.LINES)
            wait_until(lambda: not folder.exists(), what="its folder to go")

    def test_one_whose_launcher_was_killed_is_lost(self):
        marker = f"sleep 6{random.randrange(10_000, 99_999)}"
        process = self.background(f"echo up; {marker}")
        self.wait_output(process, "up")
        launchers = children_of(self.daemon.process.pid)
        self.crash()
        for pid in launchers:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not processes_with(marker), what="the end of the command")
        self.start()
        kind, payload = self.end(process)
        self.assertEqual((kind, payload["error"]["category"]), ("process.failed", "lost"))

    def test_one_whose_launcher_is_killed_beside_the_daemon_is_lost_at_once(self):
        process = self.background("echo up; sleep 100")
        self.wait_output(process, "up")
        for pid in children_of(self.daemon.process.pid):
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(self.end(process)[1]["error"]["category"], "lost")

    def test_after_a_reboot_of_the_machine_it_is_lost(self):
        process = self.background("echo up; sleep 100")
        self.wait_output(process, "up")
        launchers = children_of(self.daemon.process.pid)
        self.crash()
        for pid in launchers:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.home.data / "run")
        self.start()
        self.assertEqual(self.end(process)[1]["error"]["category"], "lost")

    def test_an_end_that_was_asked_for_is_carried_out_by_the_next_daemon(self):
        process = self.background("trap '' TERM; echo up; while :; do sleep 0.1; done")
        self.wait_output(process, "up")
        self.daemon.ok("terminate_process", processId=process, reason="over")
        self.crash()
        self.start()
        kind, payload = self.end(process)
        self.assertEqual((kind, payload["reason"]), ("process.terminated", "over"))

    def test_killed_at_any_instant_it_runs_once_and_is_never_unseen(self):
        seed = int(os.environ.get("AGENTRT_CRASH_SEED", random.randrange(1 << 30)))
        rounds = int(os.environ.get("AGENTRT_CRASH_ROUNDS", 8))
        draw = random.Random(seed)
        print(f"\nAGENTRT_CRASH_SEED={seed}")
        for number in range(rounds):
            session, log = f"k{number}", self.home.workspace / f"runs_{number}"
            marker = f"7{draw.randrange(10_000, 99_999)}"
            self.play(line(call(f"echo x >> runs_{number}; sleep {marker}", background=True)),
                      {"text": "Done."}, session=session, wait=False)
            wait_until(lambda: draw.random() < 0.03, seconds=5, what="an instant")
            self.crash()
            self.start()
            self.daemon.ok("resume_thread", sessionId=session, threadId="t")
            self.daemon.wait_event(session, lambda e: e["type"] == "task.completed")
            open_ones = self.daemon.ok("get_session", sessionId=session)["processes"]
            runs = log.read_text().split() if log.exists() else []
            self.assertLessEqual(len(runs), 1, (seed, number))
            for process in open_ones:
                self.daemon.ok("terminate_process", processId=process["processId"])
            wait_until(lambda: not self.daemon.ok("get_session", sessionId=session)["processes"],
                       what="the end of them all")
            wait_until(lambda: not processes_with(marker), what="nothing left")


class Unstored(ProcessCase):
    """The daemon dies before the end of a process is committed."""

    daemon_at_start = False

    def setUp(self):
        super().setUp()
        self.faults = Faults(self, self.home)
        self.start()

    def end_behind_a_slow_commit(self, session, record):
        """Syncs are delayed while the command prints and ends; then the daemon is killed."""
        self.faults.hold_syncs()
        (self.home.workspace / session).touch()
        wait_until(record.exists, what="the record of its end")
        time.sleep(0.5)  # more than the daemon needs to receive the report
        self.crash()
        self.faults.release_syncs()
        self.start()

    def command(self, session):
        return f"until [ -e {session} ]; do sleep 0.02; done; echo printed; sleep 0.2; exit 3"

    def test_a_finished_command_is_not_lost(self):
        self.play(line(call(self.command("f"))), {"text": "Done."}, session="f", wait=False)
        process = self.daemon.wait_event(
            "f", lambda e: e["type"] == "process.started")[-1]["processId"]
        self.end_behind_a_slow_commit("f", self.home.data / f"run/{process}/exit.json")
        self.daemon.ok("resume_thread", sessionId="f", threadId="t")
        kind, payload = self.end(process, "f")
        self.assertEqual((kind, payload.get("exitCode")), ("process.completed", 3), payload)
        self.daemon.wait_event("f", lambda e: e["type"] == "task.completed")
        results = self.of(self.daemon.events("f"), "tool.result")
        self.assertEqual(results[0]["payload"]["preview"], "printed\n")

    def test_a_finished_process_in_the_background_is_not_lost(self):
        process = self.background(self.command("s"))
        self.end_behind_a_slow_commit("s", self.home.data / f"run/{process}/exit.json")
        kind, payload = self.end(process)
        self.assertEqual((kind, payload.get("exitCode")), ("process.completed", 3), payload)
        self.assertEqual(self.output(process), "printed\n")


if __name__ == "__main__":
    unittest.main()
