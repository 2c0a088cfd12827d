"""The command line: what a user types, what a script reads, and the exit code of each command."""

import fcntl
import json
import os
import pty
import signal
import socket
import subprocess
import threading
import time
import unittest

from harness import BINARY, Case, Daemon, wait_until
from stream_checker import StreamChecker


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


class Run(Case):
    daemon_at_start = False
    scripts = {"main": [{"text": "Hello, person.", "deltas": 3}],
               "broken": [{"fail": {"status": 400}}],
               "slow": [{"delayMs": 30_000, "text": "never"}]}

    def test_run_prints_the_answer_and_ends_with_zero(self):
        done = self.home.run("run", "hi")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Hello, person.", done.stdout)
        self.assertNotIn("\x1b", done.stdout + done.stderr)

    def test_run_json_streams_the_envelopes(self):
        done = self.home.run("run", "--json", "hi")
        self.assertEqual(done.returncode, 0, done)
        events = lines(done.stdout)
        StreamChecker(self.schema()).feed_all(events)
        self.assertIn("turn.completed", [event["type"] for event in events[-3:]])
        self.assertEqual(events[0]["sequence"], 1)

    def test_a_dash_reads_the_prompt_from_stdin(self):
        done = self.home.run("run", "--json", "-", stdin="from a pipe")
        self.assertEqual(done.returncode, 0, done)
        submitted = next(e for e in lines(done.stdout) if e["type"] == "turn.submitted")
        self.assertIn("from a pipe", json.dumps(submitted["payload"]["input"]))

    def test_a_model_can_be_a_script_named_on_the_line(self):
        path = self.home.script("other", [{"text": "From the other script."}])
        done = self.home.run("run", "--model", f"script:{path}", "hi")
        self.assertIn("From the other script.", done.stdout)

    def test_work_that_fails_ends_with_one(self):
        done = self.home.run("run", "--model", "broken", "hi")
        self.assertEqual(done.returncode, 1, done)
        self.assertTrue(done.stderr.strip())

    def test_wrong_usage_ends_with_two(self):
        for arguments in (["run"], ["nonsense"], ["run", "--no-such-option", "x"], ["show"]):
            done = self.home.run(*arguments)
            self.assertEqual(done.returncode, 2, done)
            self.assertTrue(done.stderr.strip())

    def test_without_a_model_run_says_what_to_set(self):
        (self.home.folder / "config/agentrt/config.toml").write_text("")
        done = self.home.run("run", "hi")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("model", done.stderr)

    def test_turns_of_one_session_go_on_where_they_left_off(self):
        for text, new in (("one", ["--new"]), ("two", [])):
            done = self.home.run("run", "--session", "mine", *new, "--thread", "t", text)
            self.assertEqual(done.returncode, 0, done)
        shown = json.loads(self.home.run("show", "mine", "--json").stdout)
        self.assertEqual(len(shown["history"]), 2)

    def test_an_interrupt_ends_the_turn_and_the_program_with_130(self):
        process = subprocess.Popen(
            [BINARY, "run", "--json", "--session", "s", "--new", "--model", "slow", "hi"],
            cwd=self.home.workspace, env=self.home.environment, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        for line in process.stdout:
            if b"model.requested" in line:
                break
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        self.assertEqual(process.wait(10), 130)
        process.stdout.close()
        events = lines(self.home.run("events", "s", "--json").stdout)
        self.assertEqual(events[-1]["sessionId"], "s")
        failed = [e for e in events if e["type"] == "turn.failed"]
        self.assertEqual([e["payload"]["status"] for e in failed], ["cancelled"])

    def test_at_a_terminal_the_answer_comes_live_and_in_colour(self):
        parent, child = pty.openpty()
        process = subprocess.Popen([BINARY, "run", "--mode", "default", "hi"],
                                   cwd=self.home.workspace, stdin=child,
                                   stdout=child, stderr=child,
                                   env={**self.home.environment, "TERM": "xterm-256color"})
        os.close(child)
        seen = b""
        try:
            while chunk := os.read(parent, 4096):
                seen += chunk
        except OSError:
            pass
        os.close(parent)
        self.assertEqual(process.wait(10), 0)
        self.assertIn(b"Hello, person.", seen)
        self.assertIn(b"\x1b[", seen)

    def test_a_reader_that_goes_away_ends_the_program(self):
        process = subprocess.Popen([BINARY, "run", "--json", "hi"], cwd=self.home.workspace,
                                   env=self.home.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.close()
        process.wait(15)
        process.stderr.close()


class Attached(Case):
    scripts = {"main": [{"text": "Hello again."}]}

    def test_commands_reach_the_running_daemon(self):
        done = self.home.run("run", "--session", "s", "--new", "hi")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.check_session("s")[0]["type"], "session.created")

    def test_call_prints_the_reply_and_errors_end_with_one(self):
        done = self.home.run("call", "create_session", '{"sessionId":"made"}')
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout)["sessionId"], "made")
        done = self.home.run("call", "get_session", '{"sessionId":"none"}')
        self.assertEqual(done.returncode, 1, done)
        done = self.home.run("call", "create_session", "{not json")
        self.assertIn(done.returncode, (1, 2))
        self.assertTrue(done.stderr.strip())
        done = self.home.run("call", "get_session", '{"sessionId":"none"}', "--json")
        self.assertIn("not_found", done.stdout + done.stderr)

    def test_sessions_and_show_are_tables_or_json(self):
        self.daemon.ok("create_session", sessionId="s1", title="First of all")
        self.daemon.wait_turn(self.daemon.submit(sessionId="s1"))
        table = self.home.run("sessions")
        self.assertIn("s1", table.stdout)
        self.assertIn("First of all", table.stdout)
        listed = json.loads(self.home.run("sessions", "--json").stdout)
        data = listed["data"] if isinstance(listed, dict) else listed
        self.assertEqual([session["sessionId"] for session in data], ["s1"])
        self.assertIn("First of all", self.home.run("show", "s1").stdout)
        missing = self.home.run("show", "none")
        self.assertEqual(missing.returncode, 1, missing)

    def test_events_follow_as_they_come(self):
        self.daemon.ok("create_session", sessionId="s")
        process = subprocess.Popen([BINARY, "events", "s", "--follow", "--json", "--after", "1"],
                                   cwd=self.home.workspace, env=self.home.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        time.sleep(0.2)
        self.daemon.ok("update_session", sessionId="s", title="new")
        event = json.loads(process.stdout.readline())
        self.assertEqual((event["type"], event["sequence"]), ("session.updated", 2))
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        process.wait(10)
        process.stdout.close()

    def test_events_without_follow_prints_what_is_stored_and_ends(self):
        self.daemon.ok("create_session", sessionId="s")
        done = self.home.run("events", "s", "--json")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual([event["sequence"] for event in lines(done.stdout)], [1])
        self.assertIn("session.created", self.home.run("events", "s").stdout)

    def test_parallel_runs_share_one_owner(self):
        running = [subprocess.Popen([BINARY, "run", "--session", f"p{n}", "--new", "hi"],
                                    cwd=self.home.workspace, env=self.home.environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for n in range(6)]
        for process in running:
            out, errors = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 0, errors)
            self.assertIn("Hello again.", out)


class WithoutDaemon(Case):
    daemon_at_start = False

    def test_call_works_on_the_local_store(self):
        done = self.home.run("call", "create_session", '{"sessionId":"local"}')
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("local", self.home.run("sessions").stdout)

    def test_runs_started_together_without_an_owner_all_finish(self):
        running = [subprocess.Popen([BINARY, "run", "--session", f"p{n}", "--new", "hi"],
                                    cwd=self.home.workspace, env=self.home.environment,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                   for n in range(4)]
        for process in running:
            out, errors = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.home.owner()["kind"], "background")
        self.daemon = Daemon(self.home)
        for number in range(4):
            self.check_session(f"p{number}")

    def leaving_owner(self):
        """Owns the data folder, answers /healthz, and leaves at the next request."""
        self.home.run("sessions")  # makes the folder and its token
        self.home.end_owners()
        lock = open(self.home.data / "lock", "r+")
        fcntl.flock(lock, fcntl.LOCK_EX)
        path = self.home.data / "agentrt.sock"
        path.unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen(8)
        asked = []

        def serve():
            while True:
                connection, _ = listener.accept()
                request = connection.recv(65536).split(b"\r\n")[0].decode()
                if "/healthz" not in request:
                    break
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                                   b"Connection: close\r\n\r\n{}")
                connection.close()
            asked.append(request)
            path.unlink()
            listener.close()
            lock.close()
            connection.close()

        thread = threading.Thread(target=serve)
        thread.start()
        return thread, asked

    def test_an_owner_that_leaves_before_it_answers_is_succeeded(self):
        self.home.run("call", "create_session", '{"sessionId":"s"}')
        for words, code in ((["sessions"], 0), (["show", "s"], 0), (["events", "s", "--json"], 0),
                            (["approvals"], 0), (["explain", "--", "ls"], 0), (["trust"], 0),
                            (["token", "list"], 0), (["token", "create", "--scope", "read"], 0),
                            (["call", "list_sessions", "{}"], 0),
                            (["call", "update_session",
                              '{"sessionId":"s","title":"a","idempotencyKey":"k"}'], 0),
                            (["call", "update_session", '{"sessionId":"s","title":"b"}'], 4)):
            with self.subTest(words):
                thread, asked = self.leaving_owner()
                done = self.home.run(*words)
                thread.join(10)
                self.assertEqual(len(asked), 1)
                self.assertEqual(done.returncode, code, done)
                if code == 0:
                    self.assertNotIn("closed the connection", done.stderr)
        read = self.home.run("call", "get_session", '{"sessionId":"s"}').stdout
        self.assertIn('"title":"a"', read.replace(" ", ""))

    def test_help_has_examples(self):
        for command in ("run", "serve", "call", "sessions", "show", "events", "token", "schema",
                        "doctor"):
            done = self.home.run(command, "--help")
            self.assertEqual(done.returncode, 0, done)
            self.assertIn("agentrt " + command, done.stdout)
        self.assertEqual(self.home.run("--help").returncode, 0)
        self.assertIn("0.1.0", self.home.run("--version").stdout)

    def test_doctor_says_what_works(self):
        done = self.home.run("doctor")
        self.assertIn(done.returncode, (0, 1), done)
        self.assertIn("store", done.stdout)
        report = json.loads(self.home.run("doctor", "--json").stdout)
        self.assertTrue(report)

    def test_doctor_names_hooks_and_files_that_need_trust(self):
        hook = {"type": "command", "command": "touch sprung"}
        for folder in (self.home.folder, self.home.workspace):
            (folder / ".claude").mkdir()
            (folder / ".claude" / "settings.json").write_text(json.dumps(
                {"hooks": {"Stop": [{"hooks": [hook]}], "Notification": [{"hooks": [hook]}]}}))
        done = self.home.run("doctor", "--json")
        checks = json.loads(done.stdout)["checks"]
        found = {name: [check["finding"] for check in checks if check["name"] == name]
                 for name in ("hooks", "hook file", "trust")}
        self.assertEqual(found["hooks"], ["1 at stop"])
        self.assertEqual(len(found["hook file"]), 2, found)
        for finding in found["hook file"]:
            self.assertIn("Notification has no equivalent", finding)
        self.assertIn("not run until the file is trusted", found["hook file"][1])
        self.assertEqual(len(found["trust"]), 1, found)
        self.assertIn("only its restrictions apply", found["trust"][0])
        self.assertFalse((self.home.workspace / "sprung").exists())

    def findings(self, name):
        checks = json.loads(self.home.run("doctor", "--json").stdout)["checks"]
        return {check["name"]: (check["ok"], check["finding"]) for check in checks
                if check["name"].startswith(name)}

    def test_doctor_knows_what_is_trusted_with_and_without_an_owner(self):
        (self.home.workspace / ".claude").mkdir()
        settings = self.home.workspace / ".claude/settings.json"
        hook = {"type": "command", "command": "true"}
        settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
        self.assertEqual(self.findings("hooks")["hooks"], (True, "none"))
        self.assertEqual(self.home.run("trust", "--yes").returncode, 0)
        for end in (lambda: None, self.home.end_owners):
            end()
            self.assertEqual(self.findings("hooks")["hooks"], (True, "1 at stop"))
            self.assertNotIn("not run", self.findings("hook file")["hook file"][1])
            self.assertEqual(self.findings("trust")["trust"], (True, f"{settings}: trusted"))
        settings.write_text(settings.read_text() + "\n")
        self.assertEqual(self.findings("hooks")["hooks"], (True, "none"))
        self.assertIn("changed since it was trusted", self.findings("trust")["trust"][1])

    def test_doctor_lists_the_servers_of_mcp_json(self):
        file = self.home.workspace / ".mcp.json"
        file.write_text(json.dumps({"mcpServers": {
            "files": {"command": "true"}, "lacking": {"command": "true", "args": ["${NO_SUCH}"]},
            "absent": {"command": "no-such-mcp-server"}, "wrong": {"command": 7}}}))
        for ok, finding in self.findings("server").values():
            self.assertTrue(ok)
            self.assertIn("not started: .mcp.json is not trusted", finding)
        self.assertEqual(sorted(self.findings("server")),
                         ["server absent", "server files", "server lacking", "server wrong"])
        self.assertEqual(self.home.run("trust", "--yes").returncode, 0)
        servers = self.findings("server")
        self.assertEqual(servers["server files"], (True, "true"))
        self.assertFalse(servers["server lacking"][0])
        self.assertIn("NO_SUCH", servers["server lacking"][1])
        self.assertFalse(servers["server wrong"][0])
        self.assertEqual(servers["server absent"],
                         (False, "no-such-mcp-server is not in any folder of PATH"))

    def test_a_workspace_file_that_is_a_link_stops_the_program(self):
        (self.home.workspace / ".agentrt").mkdir()
        (self.home.workspace / ".agentrt" / "config.toml").symlink_to("/etc/passwd")
        done = self.home.run("run", "hi")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("is a symbolic link", done.stderr)
        self.assertNotIn("root:", done.stderr)

    def test_schemas_are_json(self):
        for name in ("events", "commands", "snapshots", "openapi"):
            done = self.home.run("schema", name)
            self.assertEqual(done.returncode, 0, done)
            json.loads(done.stdout)


if __name__ == "__main__":
    unittest.main()
