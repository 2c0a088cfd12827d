"""Decisions of users: asked once, answered once, from any client, across kills and restarts."""

import json
import os
import pty
import select
import subprocess
import threading
import time
import unittest

from harness import BINARY, Case, types, wait_until


def call(command, **more):
    return {"name": "shell", "args": {"command": command, **more}}


def line(*calls, text="Working."):
    return {"text": text, "toolCalls": list(calls)}


class DecisionCase(Case):
    scripts = {"main": [{"text": "unused"}]}

    def submit(self, *lines, session="s", **options):
        script = self.home.script(f"play_{session}", lines)
        return self.daemon.ok("submit_turn", sessionId=session, threadId="t",
                              input=[{"type": "text", "text": "go"}],
                              options={"model": f"script:{script}",
                                       "cwd": str(self.home.workspace), **options})

    def action(self, session="s", after=0):
        return self.daemon.wait_event(session, lambda e: e["type"] == "action.required",
                                      after=after)[-1]

    def answer(self, action, decision="allow", **more):
        return self.daemon.call("respond_action", actionId=action["actionId"], decision=decision,
                                **more)

    def of(self, kind, session="s"):
        return [e["payload"] for e in self.daemon.events(session) if e["type"] == kind]

    def made(self, name="made.txt"):
        path = self.home.workspace / name
        return path.read_text() if path.exists() else None


class Gate(DecisionCase):
    def test_nothing_runs_until_a_person_says_yes_and_then_it_runs_once(self):
        turn = self.submit(line(call("echo x >> made.txt")), {"text": "Done."})
        action = self.action()
        self.assertEqual(action["payload"]["actionType"], "permission")
        self.assertEqual(action["payload"]["input"], {"command": "echo x >> made.txt"})
        self.assertIn("toolCallId", action)
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        self.assertEqual(read["status"], "waiting_permission")
        self.assertEqual(read["pendingRequests"][0]["actionId"], action["actionId"])
        self.assertIsNone(self.made())
        # Other sessions continue meanwhile.
        self.daemon.wait_turn(self.submit({"text": "hi"}, session="other"))
        self.assertEqual(self.answer(action).status, 200)
        self.daemon.wait_turn(turn)
        self.assertEqual(self.made(), "x\n")
        events = types(self.daemon.events("s"))
        order = ["permission.evaluated", "permission.requested", "action.required",
                 "action.resolved", "permission.resolved", "tool.started", "sandbox.applied",
                 "process.started", "tool.result", "turn.completed"]
        self.assertEqual([e for e in events if e in order], order)

    def test_the_list_of_sessions_follows_the_answer(self):
        def listed():
            rows = self.daemon.ok("list_sessions")["data"]
            return next(row["status"] for row in rows if row["sessionId"] == "s")

        turn = self.submit(line(call("while [ ! -e go ]; do sleep 0.05; done")), {"text": "Done."})
        action = self.action()
        self.assertEqual(listed(), "waiting_permission")
        self.answer(action)
        self.daemon.wait_event("s", lambda e: e["type"] == "process.started")
        self.assertEqual(listed(), "running")
        (self.home.workspace / "go").touch()
        self.daemon.wait_turn(turn)
        self.assertEqual(listed(), "idle")

    def test_no_is_told_to_the_model_and_the_turn_goes_on(self):
        turn = self.submit(line(call("touch made.txt")), {"text": "Fine."})
        self.assertEqual(self.answer(self.action(), "deny", reason="not today").status, 200)
        self.daemon.wait_turn(turn)
        self.assertIsNone(self.made())
        self.assertEqual(self.of("tool.failed")[0]["error"]["message"],
                         "denied by a person: not today")
        self.assertEqual(self.of("turn.completed")[0]["status"], "completed")

    def test_nobody_is_asked_about_a_change_that_would_be_refused_anyway(self):
        (self.home.workspace / "a.txt").write_text("one\n")
        (self.home.workspace / ".git").mkdir()
        calls = [{"name": "edit_file", "args": {"path": "a.txt", "oldText": "six", "newText": "1"}},
                 {"name": "edit_file", "args": {"path": "b.txt", "oldText": "one", "newText": "1"}},
                 {"name": "write_file", "args": {"path": ".git/hooks/x", "content": "x"}},
                 {"name": "write_file", "args": {"path": "/etc/made", "content": "x"}},
                 {"name": "edit_file", "args": {"path": "a.txt", "oldText": "one", "newText": "1"}}]
        turn = self.submit({"toolCalls": calls}, {"text": "Done."})
        asked = self.action()
        self.assertEqual(asked["payload"]["input"], calls[-1]["args"])
        self.assertEqual([f["error"]["category"] for f in self.of("tool.failed")],
                         ["invalid_input", "not_found", "denied", "denied"])
        # The state at the time of the change counts.
        (self.home.workspace / "a.txt").write_text("two\n")
        self.assertEqual(self.answer(asked).status, 200)
        self.daemon.wait_turn(turn)
        self.assertEqual((self.home.workspace / "a.txt").read_text(), "two\n")
        self.assertEqual(len(self.of("action.required")), 1)

    def test_what_may_not_be_read_unasked_is_not_told_unasked(self):
        (self.home.workspace / "a.txt").write_text("one\n")
        edit = {"name": "edit_file", "args": {"path": "a.txt", "oldText": "six", "newText": "1"}}
        turn = self.submit({"toolCalls": [edit]}, {"text": "Done."}, mode="untrusted")
        asked = self.action()
        self.assertEqual(self.of("tool.failed"), [])
        self.answer(asked)
        self.daemon.wait_turn(turn)
        self.assertEqual(self.of("tool.failed")[0]["error"]["category"], "invalid_input")

    def test_a_rule_allows_without_a_question_and_a_deny_beats_it(self):
        config = (self.home.folder / "config/agentrt/config.toml").read_text()
        self.daemon.stop()
        (self.home.folder / "config/agentrt/config.toml").write_text(
            config + '[permissions]\nallow = ["shell(echo:*)", "shell(touch:*)"]\n'
            'deny = ["shell(touch secret:*)"]\n')
        self.daemon = self.start()
        turn = self.submit(line(call("echo hi"), call("touch secret"), call("echo a > made.txt")),
                           {"text": "Done."})
        action = self.action()  # the redirection writes a file, which no rule allows
        self.assertEqual(action["payload"]["input"]["command"], "echo a > made.txt")
        evaluated = self.of("permission.evaluated")
        self.assertEqual([e["decision"] for e in evaluated], ["allow", "deny", "ask"])
        self.assertEqual(evaluated[0]["ruleRefs"], ["shell(echo:*)"])
        self.answer(action, "deny")
        self.daemon.wait_turn(turn)
        self.assertIsNone(self.made("secret"))

    def test_the_catalogue_says_what_a_command_gets(self):
        for session, word, decision, options in (
                ("confined", "allowed", "sandboxed", {"mode": "on_request"}),
                ("free", "asked", "ask", {"mode": "on_request", "sandbox": "full_access"}),
                ("alone", "by_rule", "unavailable", {"interactive": False})):
            turn = self.submit(line(call("touch made.txt")), {"text": "Done."}, session=session,
                               **options)
            if decision == "ask":
                self.answer(self.action(session), "deny")
            self.daemon.wait_turn(turn)
            tools = self.of("tool.catalog.resolved", session)[0]["tools"]
            self.assertEqual([t["policy"] for t in tools if t["toolName"] == "shell"], [word])
            evaluated = self.of("permission.evaluated", session)
            self.assertEqual([e["decision"] for e in evaluated], [decision])

    def test_an_answer_counts_once_and_for_what_was_seen(self):
        turn = self.submit(line(call("touch made.txt")), {"text": "Done."})
        action = self.action()
        self.assertRefused(self.answer(action, "maybe"), 400, "invalid_params")
        self.assertRefused(self.answer(action, digest="sha256:0"), 409, "binding_mismatch")
        self.assertRefused(self.daemon.call("respond_action", actionId="action_none",
                                            decision="allow"), 404, "not_found")
        self.assertEqual(self.answer(action, digest=action["payload"]["digest"]).status, 200)
        second = self.answer(action, "deny")
        self.assertRefused(second, 409, "conflict")
        error = second.json["error"]
        self.assertEqual(error["details"]["decision"], "allow")
        self.assertRegex(error["details"]["answeredBy"], r"^\w+")
        self.assertIn(f"allow, by {error['details']['answeredBy']}", error["message"])
        self.daemon.wait_turn(turn)

    def test_a_listed_action_has_what_a_person_needs_to_decide(self):
        turn = self.submit(line(call("rm -rf gone && sh script.sh")), {"text": "Done."})
        asked = self.action()
        action, = self.daemon.ok("list_actions")["data"]
        self.assertEqual(action["sequence"], asked["sequence"])
        for member in ("sandbox", "subcommands", "scopes", "rules", "destructive", "impact"):
            self.assertEqual(action.get(member), asked["payload"].get(member), member)
        self.assertEqual(action["subcommands"], ["rm -rf gone", "sh script.sh"])
        evaluated, = self.of("permission.evaluated")
        self.assertEqual(action["chain"], evaluated["chain"])
        self.assertNotIn("answeredBy", action)
        self.answer(asked, "deny")
        self.daemon.wait_turn(turn)
        action, = self.daemon.ok("list_actions", sessionId="s", includeResolved=True)["data"]
        self.assertEqual((action["decision"], action["chain"]), ("deny", evaluated["chain"]))
        self.assertEqual(action["answeredBy"], self.of("action.resolved")[0]["answeredBy"])

    def test_two_clients_at_once_have_one_winner(self):
        for round_number in range(5):
            session = f"s{round_number}"
            turn = self.submit(line(call("echo x >> made.txt")), {"text": "Done."},
                               session=session)
            action = self.action(session)
            replies = []

            def give(decision):
                body = {"actionId": action["actionId"], "decision": decision}
                replies.append(self.home.run("call", "respond_action", json.dumps(body)))

            threads = [threading.Thread(target=give, args=(d,)) for d in ("allow", "deny")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.daemon.wait_turn(turn)
            self.assertEqual(sorted(r.returncode for r in replies), [0, 1], replies)
            self.assertEqual(len(self.of("action.resolved", session)), 1)

    def test_a_token_that_may_submit_may_not_approve(self):
        made = self.home.run("token", "create", "--scope", "submit", "--scope", "read", "--json")
        token = json.loads(made.stdout)["token"]
        self.submit(line(call("touch made.txt")))
        action = self.action()
        for command, body in (("respond_action", {"decision": "allow"}),
                              ("resolve_permission", {"decision": "allow"})):
            reply = self.daemon.request("POST", f"/v1/commands/{command}", token=token,
                                        body={"actionId": action["actionId"], **body})
            self.assertRefused(reply, 403, "forbidden")
        for command, body in (("set_policy", {"sessionId": "s", "allow": ["shell"]}),
                              ("set_folder_policy", {"cwd": "/", "mode": "bypass"}),
                              ("trust_workspace", {"cwd": "/", "files": []})):
            reply = self.daemon.request("POST", f"/v1/commands/{command}", token=token, body=body)
            self.assertRefused(reply, 403, "forbidden")
        for options in ({"mode": "bypass"}, {"mode": "auto"}, {"sandbox": "full_access"}):
            reply = self.daemon.request("POST", "/v1/commands/submit_turn", token=token,
                                        body={"input": [{"type": "text", "text": "go"}],
                                              "options": options})
            self.assertRefused(reply, 403, "forbidden")
        self.answer(action, "deny")

    def test_an_expired_question_is_a_no_and_a_late_answer_is_told_so(self):
        turn = self.submit(line(call("touch made.txt")), {"text": "Done."}, askTimeoutMs=200)
        action = self.action()
        self.assertIn("expiresAt", action["payload"])
        self.daemon.wait_turn(turn)
        self.assertRefused(self.answer(action), 410, "expired")
        self.assertEqual(self.of("action.resolved")[0]["decision"], "expired")
        self.assertIsNone(self.made())

    def test_an_interrupt_takes_the_question_back(self):
        turn = self.submit(line(call("touch made.txt")))
        action = self.action()
        self.daemon.ok("interrupt_turn", sessionId="s")
        self.daemon.wait_turn(turn)
        self.assertRefused(self.answer(action), 409, "conflict")
        self.assertEqual(self.daemon.ok("list_actions")["data"], [])
        self.assertIsNone(self.made())

    def test_where_nobody_may_be_asked_the_turn_says_so_and_does_not_wait(self):
        turn = self.submit(line(call("touch made.txt")), {"text": "Done."}, interactive=False)
        self.daemon.wait_turn(turn)
        self.assertEqual(self.of("permission.evaluated")[0]["decision"], "unavailable")
        self.assertEqual(self.of("tool.failed")[0]["error"]["category"], "unavailable")

    def test_an_answer_for_longer_spares_the_next_question(self):
        command = "echo 'a (b) \"c\"' >> made.txt"
        turn = self.submit(line(call(command)), line(call(command)), line(call(command + " ")),
                           {"text": "Done."})
        first = self.action()
        self.answer(first, scope="session")
        second = self.action(after=first["sequence"] + 1)
        self.assertEqual(second["payload"]["input"]["command"], command + " ")
        self.answer(second, "deny")
        self.daemon.wait_turn(turn)
        self.assertEqual(len(self.made().splitlines()), 2)

    def test_always_reaches_other_sessions_of_the_workspace_and_survives_a_restart(self):
        turn = self.submit(line(call("echo x >> made.txt")), {"text": "Done."})
        self.answer(self.action(), scope="always")
        self.daemon.wait_turn(turn)
        self.daemon.kill()
        self.daemon = self.start()
        self.daemon.wait_turn(self.submit(line(call("echo x >> made.txt")), {"text": "Done."},
                                          session="later"))
        self.assertEqual(self.made(), "x\nx\n")
        self.assertEqual(self.of("action.required", "later"), [])

    def test_a_script_that_changed_after_the_answer_does_not_run(self):
        script = self.home.workspace / "check.sh"
        script.write_text("echo good > made.txt\n")
        turn = self.submit(line(call("sleep 0.2; bash check.sh")), {"text": "Done."})
        action = self.action()
        self.assertEqual([os.path.basename(f["path"]) for f in action["payload"]["executes"]],
                         ["check.sh"])
        script.write_text("echo evil > made.txt\n")
        self.answer(action)
        self.daemon.wait_turn(turn)
        self.assertIsNone(self.made())
        self.assertIn("binding_mismatch", self.of("tool.failed")[0]["error"]["message"])

    def test_a_question_of_the_model_is_answered_with_a_choice(self):
        question = {"name": "ask_user", "args": {"question": "Which?", "choices": ["a", "b"]}}
        turn = self.submit(line(question), {"text": "Done."})
        action = self.action()
        self.assertEqual(action["payload"]["actionType"], "input")
        self.assertRefused(self.answer(action, "answer", payload={"answer": "c"}), 400,
                           "invalid_params")
        self.assertEqual(self.answer(action, "answer", payload={"answer": "b"}).status, 200)
        self.daemon.wait_turn(turn)
        self.assertEqual(self.of("tool.result")[0]["preview"], '{"answer": "b"}')


class Restarts(DecisionCase):
    def test_a_question_outlives_the_daemon_and_the_answer_alone_goes_on(self):
        turn = self.submit(line(call("echo x >> made.txt"), call("echo y >> made.txt")),
                           {"text": "Done."})
        first = self.action()
        self.daemon.kill()
        self.daemon = self.start()
        listed = self.daemon.ok("list_actions")["data"]
        self.assertEqual([a["actionId"] for a in listed], [first["actionId"]])
        self.assertEqual(self.answer(first).status, 200)
        second = self.action(after=first["sequence"] + 1)
        self.assertEqual(self.made(), "x\n")
        self.daemon.kill()
        self.daemon = self.start()
        self.assertRefused(self.answer(first), 409, "conflict")
        self.assertEqual(self.answer(second).status, 200)
        self.daemon.wait_turn(turn)
        self.assertEqual(self.made(), "x\ny\n")

    def test_a_change_of_a_file_is_bound_to_the_file_and_to_no_environment(self):
        (self.home.workspace / "kept.txt").write_text("old\n")
        write = {"name": "write_file", "args": {"path": "kept.txt", "content": "new\n"}}
        turn = self.submit({"toolCalls": [write]}, {"text": "Done."})
        asked = self.action()
        self.assertEqual(asked["payload"]["impact"], "it replaces an existing file")
        self.daemon.kill()
        self.home.environment["TERM"] = "another"
        self.daemon = self.start()
        self.assertEqual(self.answer(asked).status, 200)
        self.daemon.wait_turn(turn)
        self.assertEqual((self.home.workspace / "kept.txt").read_text(), "new\n")

    def test_killed_at_every_moment_around_the_answer_it_runs_at_most_once(self):
        for pause_ms in (0, 1, 2, 4, 8, 15, 30, 60):
            session = f"s{pause_ms}"
            name = f"made_{pause_ms}"
            self.submit(line(call(f"echo x >> {name}")), {"text": "Done."}, session=session)
            action = self.action(session)
            sent = threading.Thread(target=lambda: self.home.run(
                "approve", action["actionId"], timeout=60))
            sent.start()
            time.sleep(pause_ms / 1000)
            self.daemon.kill()
            sent.join()
            wait_until(lambda: not (self.home.data / "owner.json").exists() or True)
            self.daemon = self.start()
            if self.daemon.ok("list_actions", sessionId=session)["data"]:
                self.answer(action)
            read = self.daemon.ok("get_thread_read", sessionId=session, threadId="t")
            if read["status"] == "blocked":
                self.daemon.ok("resume_thread", sessionId=session, threadId="t")
            wait_until(lambda: self.daemon.ok("get_thread_read", sessionId=session,
                                              threadId="t")["status"] == "idle")
            self.assertIn(self.made(name), ("x\n", None), pause_ms)

    def test_a_queue_behind_a_question_survives_and_goes_on(self):
        first = self.submit(line(call("echo x >> made.txt")), {"text": "Done."})
        script = self.home.script("second", [{"text": "after"}])
        second = self.daemon.ok("submit_turn", sessionId="s", threadId="t",
                                input=[{"type": "text", "text": "next"}],
                                options={"model": f"script:{script}"})
        self.assertEqual(second["status"], "queued")
        action = self.action()
        self.daemon.kill()
        self.daemon = self.start()
        read = self.daemon.ok("get_thread_read", sessionId="s", threadId="t")
        self.assertEqual([t["turnId"] for t in read["queuedTurns"]], [second["turnId"]])
        self.answer(action)
        self.daemon.wait_turn(first)
        self.daemon.wait_turn(second)


class Explain(DecisionCase):
    def explain(self, text, *options):
        done = self.home.run("explain", "--json", *options, "--", text)
        self.assertEqual(done.returncode, 0, done)
        return json.loads(done.stdout)

    def test_the_same_answer_as_a_call_would_get_and_nothing_runs(self):
        reply = self.explain("touch made.txt && ls")
        self.assertEqual(reply["decision"], "ask")
        self.assertTrue(reply["chain"])
        self.assertEqual(len(reply["subcommands"]), 2)
        self.assertEqual(self.explain("ls", "--mode", "bypass")["decision"], "allow")
        self.assertTrue(self.explain("rm -rf build")["destructive"])
        self.assertIsNone(self.made())
        self.assertEqual(self.daemon.ok("list_sessions")["data"], [])

    def test_options_are_read_as_the_programs_read_them(self):
        path = self.home.folder / "config/agentrt/config.toml"
        config = path.read_text()
        self.daemon.stop()
        path.write_text(
            config + '[permissions]\nallow = ["shell(sort:*)", "shell(watch:*)", "shell(uniq:*)", '
            '"shell(sed:*)", "shell(git config:*)", "shell(npx:*)", "shell(rm:*)"]\n'
            'deny = ["shell(rm -rf:*)"]\n')
        self.daemon = self.start()
        for text, decision in {
                "sort --rev f": "allow", "sort --outp=made.txt f": "ask", "sort --new f": "ask",
                "watch --beep touch made.txt": "ask", "uniq -c f": "allow",
                "uniq f -c made.txt": "ask", "sed ':a;s/x/y/;ta' f": "allow",
                "sed ':a w made.txt' f": "ask", "git config user.name": "allow",
                "git config core.pager get": "ask", "npx touch made.txt": "ask",
                "rm f": "allow", "rm --recur --forc f": "deny"}.items():
            self.assertEqual(self.explain(text)["decision"], decision, text)

    def test_it_shows_the_canonical_form_of_an_allowed_command(self):
        form = "'touch' 'made.txt' && 'ls'"
        reply = self.explain("touch made.txt && ls", "--mode", "bypass")
        self.assertEqual(reply["executed"], form)
        done = self.home.run("explain", "--mode", "bypass", "--", "touch made.txt && ls")
        self.assertRegex(done.stdout, r"bash gets +" + form)
        # A text that a person approves runs as it is shown, and a dynamic one has no form.
        self.assertNotIn("executed", self.explain("touch made.txt && ls"))
        self.assertNotIn("executed", self.explain("ls *", "--mode", "bypass"))

    def test_a_person_reads_it(self):
        done = self.home.run("explain", "--", "git push --force")
        self.assertIn("ask:", done.stdout)
        self.assertIn("runs         git push --force", done.stdout)


class Terminal(DecisionCase):
    """Runs `agentrt run` at its own pseudo-terminal."""

    config = '[permissions]\nmode = "default"\n'

    def run_at_terminal(self, *arguments):
        master, slave = pty.openpty()
        process = subprocess.Popen([BINARY, "run", *arguments], stdin=slave, stdout=slave,
                                   stderr=slave, cwd=self.home.workspace,
                                   env=self.home.environment, close_fds=True)
        os.close(slave)
        self.addCleanup(process.kill)
        self.addCleanup(os.close, master)
        return process, master

    def read_until(self, master, text, seconds=20):
        seen = b""
        deadline = time.monotonic() + seconds
        while text.encode() not in seen:
            left = deadline - time.monotonic()
            self.assertGreater(left, 0, f"{text!r} does not come: {seen.decode(errors='replace')}")
            if select.select([master], [], [], left)[0]:
                try:
                    seen += os.read(master, 65536)
                except OSError:
                    break
        self.assertIn(text.encode(), seen)
        return seen.decode(errors="replace")

    @staticmethod
    def type(master, text):
        time.sleep(0.7)  # a prompt ignores keys for 500 ms after it was drawn
        os.write(master, text)

    def play(self, *lines):
        return f"script:{self.home.script('terminal', lines)}"

    def test_it_asks_in_place_and_goes_on_with_the_answer(self):
        model = self.play(line(call("echo x >> made.txt\necho 'a\u202eb\x1b[2Jc'")),
                          {"text": "All done."})
        process, master = self.run_at_terminal("--model", model, "go")
        seen = self.read_until(master, "> ")
        self.assertIn("Run this command?", seen)
        self.assertIn("\\xe2\\x80\\xae", seen)
        self.assertIn("\\x1b[2Jc", seen)
        self.assertNotIn("\x1b[2J", seen)
        self.type(master, b"what?\n")
        self.read_until(master, "> ")
        self.type(master, b"y\n")
        self.read_until(master, "All done.")
        self.assertEqual(process.wait(10), 0)
        self.assertEqual(self.made(), "x\n")

    def test_an_answer_from_elsewhere_takes_the_question_back(self):
        model = self.play(line(call("echo x >> made.txt")), {"text": "All done."})
        process, master = self.run_at_terminal("--model", model, "go")
        self.read_until(master, "> ")
        action = self.daemon.ok("list_actions")["data"][0]
        done = self.home.run("approve", action["actionId"])
        self.assertEqual(done.returncode, 0, done)
        self.read_until(master, "All done.")
        self.assertEqual(process.wait(10), 0)

    def test_a_killed_client_leaves_the_question_and_a_killed_owner_too(self):
        model = self.play(line(call("echo x >> made.txt")), {"text": "All done."})
        for owner in ("daemon", "run"):
            with self.subTest(owner=owner):
                if owner == "run":
                    self.daemon.stop()
                process, master = self.run_at_terminal("--session", owner, "--new", "--model",
                                                       model, "go")
                self.read_until(master, "> ")
                process.kill()
                process.wait(10)
                self.assertIsNone(self.made())
                listed = json.loads(self.home.run("approvals", "--json").stdout)["data"]
                self.assertEqual([a["sessionId"] for a in listed], [owner])
                done = self.home.run("approve", listed[0]["actionId"], "--json")
                self.assertEqual(done.returncode, 0, done)
                wait_until(lambda: self.made() == "x\n", what="the command's one run")
                if owner == "run":
                    self.daemon = self.start()
                self.daemon.wait_event(owner, lambda e: e["type"] == "turn.completed")
                (self.home.workspace / "made.txt").unlink()

    def test_without_a_terminal_it_never_waits_and_says_so(self):
        model = self.play(line(call("echo x >> made.txt")), {"text": "Done."})
        done = self.home.run("run", "--model", model, "go")
        self.assertEqual(done.returncode, 3, done)
        self.assertIn("needed approval", done.stderr)
        self.assertIsNone(self.made())
        done = self.home.run("run", "--json", "--model", model, "go")
        error = json.loads(done.stderr)["error"]
        self.assertEqual((done.returncode, error["code"]), (3, "conflict"), done)
        self.assertEqual((error["details"]["status"], error["details"]["unapproved"]),
                         ("completed", 1))

    def test_rules_of_the_command_line_hold_for_its_session(self):
        model = self.play(line(call("echo x"), call("touch made.txt")), {"text": "Done."})
        done = self.home.run("run", "--allow", "shell(echo:*)", "--allow", "shell(touch:*)",
                             "--deny", "shell(touch made.txt)", "--session", "ruled", "--new",
                             "--model", model, "go")
        self.assertEqual(done.returncode, 0, done)
        decisions = [e["decision"] for e in self.of("permission.evaluated", "ruled")]
        self.assertEqual(decisions, ["allow", "deny"])
        done = self.home.run("run", "--allow", "shel(x)", "--model", model, "go")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("shel", done.stderr)

    def test_yes_answers_once_for_all_that_a_person_may_approve(self):
        model = self.play(line(call("echo x >> made.txt")), {"text": "Done."})
        done = self.home.run("run", "--yes", "--model", model, "go")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.made(), "x\n")


if __name__ == "__main__":
    unittest.main()
