"""MCP servers from outside: what a model gets from them, and how they end."""

import fcntl
import json
import os
import pathlib
import signal
import subprocess
import unittest

from approvals_test import DecisionCase, call, line
from harness import BINARY, types, wait_until
from tool_server import PICTURE

SERVER = pathlib.Path(__file__).resolve().parent / "tool_server.py"
SECRET = "hunter2-and-some-more"
DONE = {"text": "Done."}


def use(tool, server="box", **args):
    return {"name": f"mcp__{server}__{tool}", "args": args}


class ServerCase(DecisionCase):
    daemon_at_start = False
    mode = "bypass"

    def setUp(self):
        super().setUp()
        self.notes = self.home.folder / "notes"
        self.home.environment["BOX_SECRET"] = SECRET
        self.config_path = self.home.folder / "config/agentrt/config.toml"
        self.command = ["/usr/bin/python3", str(SERVER)]

    def configure(self, text=None):
        if text is None:
            text = (f"[mcp_servers.box]\ncommand = {json.dumps(self.command)}\n"
                    f'env = {{ NOTES = "{self.notes}", SECRET = "${{BOX_SECRET}}" }}\n'
                    'wait_ms = 60000\n')
        mode = f'[permissions]\nmode = "{self.mode}"\n'
        self.config_path.write_text(self.config_path.read_text() + mode + text)
        self.start()

    def play(self, *lines, session="s", **options):
        turn = self.submit(*lines, session=session, **options)
        self.daemon.wait_turn(turn)
        return self.daemon.events(session)

    def noted(self):
        return self.notes.read_text().splitlines() if self.notes.exists() else []

    def starts(self):
        return self.noted().count("started")

    def nobody_lives(self):
        """No server holds its lock any more."""
        with open(self.notes, encoding="utf-8") as notes:
            try:
                fcntl.flock(notes, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                return False

    def missing(self, session="s"):
        found = self.of("tool.catalog.resolved", session)[-1].get("missing") or []
        return {each["name"]: each["reason"] for each in found}

    def offered(self, session="s"):
        return [tool["toolName"] for tool in self.of("tool.catalog.resolved", session)[-1]["tools"]]


class Calls(ServerCase):
    def test_a_tool_is_offered_called_and_its_result_told(self):
        self.configure()
        events = self.play(line(use("echo", text="marco")), DONE)
        self.assertIn("mcp__box__echo", self.offered())
        self.assertIn("shell", self.offered())
        self.assertEqual(types(events)[-2:], ["turn.completed", "task.completed"])
        self.assertIn("marco", json.dumps(self.of("tool.result")))

    def test_every_tool_is_offered_with_the_type_and_the_members_of_its_arguments(self):
        self.configure()
        self.play(DONE)
        schemas = {tool["toolName"]: tool["inputSchema"]
                   for tool in self.of("tool.catalog.resolved")[-1]["tools"]}
        self.assertEqual(schemas["mcp__box__hang"], {"type": "object", "properties": {}})
        for name, schema in schemas.items():
            self.assertEqual(schema["type"], "object", name)
            self.assertIn("properties", schema, name)

    def test_turns_of_a_session_share_one_server_and_sessions_do_not(self):
        self.configure()
        for session in ("s", "s", "other"):
            self.play(line(use("echo", text="x")), DONE, session=session)
        self.assertEqual(self.starts(), 2)

    def test_arguments_that_do_not_fit_are_told_to_the_model_and_never_sent(self):
        self.configure()
        self.play(line(use("echo", text=7)), DONE)
        self.assertIn("text: expected a string, but got a number",
                      json.dumps(self.daemon.events("s")))
        self.assertEqual(self.of("tool.result"), [])

    def test_progress_is_told_on_the_way(self):
        self.configure()
        self.play(line(use("progress")), DONE)
        told = json.dumps(self.of("tool.progress"))
        self.assertIn("step 1", told)
        self.assertIn("step 2", told)

    def test_sampling_is_refused_and_noted_once_per_call(self):
        self.configure()
        self.play(line(use("sample")), DONE)
        result = self.of("tool.result")[0]["preview"]
        self.assertEqual(result.count("-32601"), 2)
        self.assertIn("does not offer sampling", result)
        warnings = self.of("runtime.warning")
        self.assertEqual([each["code"] for each in warnings], ["mcp_sampling_refused"])
        self.assertIn("MCP server box", warnings[0]["message"])

    def test_an_image_stands_behind_a_ref(self):
        self.configure()
        self.play(line(use("picture")), DONE)
        result = self.of("tool.result")[0]
        self.assertIn("[image, image/gif, 18 bytes: output:", result["preview"])
        ref = result["preview"].partition("output:")[2].rstrip("]")
        self.assertEqual(self.daemon.get(f"/v1/outputs/{ref}").data, PICTURE)

    def test_secrets_reach_the_server_and_no_event(self):
        self.configure()
        self.play(line(use("environment")), DONE)
        told = json.dumps(self.daemon.events("s"))
        self.assertIn(f"{len(SECRET)} characters", told)
        self.assertNotIn(SECRET, told)


class Questions(ServerCase):
    def test_a_question_is_an_action_and_its_answer_goes_back(self):
        self.configure()
        turn = self.submit(line(use("ask")), DONE)
        action = self.action()
        self.assertEqual(action["payload"]["actionType"], "elicitation")
        self.answer(action, "accept", payload={"name": "Ada"})
        self.daemon.wait_turn(turn)
        self.assertIn("Ada", json.dumps(self.of("tool.result")))

    def test_of_titled_choices_the_server_gets_the_constants(self):
        self.configure()
        turn = self.submit(line(use("choose")), DONE)
        action = self.action()["actionId"]
        told = self.home.run("approve", action, "--answer", "tier=Gold, days=1")
        self.assertIn("tier must be one of Basic, Paid", told.stderr)
        told = self.home.run("approve", action, "--answer", "tier=Paid, days=2, 1")
        self.assertEqual(told.returncode, 0, told.stderr)
        self.daemon.wait_turn(turn)
        result = json.loads(self.of("tool.result")[0]["preview"])
        self.assertEqual(result["content"], {"tier": "p", "days": ["tu", "mo"]})

    def test_a_question_can_be_declined(self):
        self.configure()
        turn = self.submit(line(use("ask")), DONE)
        self.answer(self.action(), "decline")
        self.daemon.wait_turn(turn)
        self.assertIn("decline", json.dumps(self.of("tool.result")))

    def test_calls_are_asked_about_like_any_other(self):
        self.mode = "default"
        self.configure()
        turn = self.submit(line(use("progress")), DONE)
        action = self.action()
        self.assertEqual(action["payload"]["actionType"], "permission")
        self.assertEqual(self.of("tool.progress"), [])
        self.answer(action, "deny")
        self.daemon.wait_turn(turn)
        self.assertEqual(self.of("tool.progress"), [])


class Ends(ServerCase):
    def test_a_server_that_dies_during_a_call_is_lost_and_comes_back(self):
        self.configure()
        self.play(line(use("die")), DONE)
        failed = self.of("tool.failed")[0]["error"]
        self.assertEqual(failed["category"], "lost")
        self.assertIn("the disk is on fire", failed["message"])
        self.play(line(use("echo", text="again")), DONE)
        self.assertIn("again", json.dumps(self.of("tool.result")))
        self.assertEqual(self.starts(), 2)

    def test_servers_that_cannot_be_used_are_missing_with_a_reason(self):
        self.configure('[mcp_servers.gone]\ncommand = ["no-such-program-anywhere"]\n'
                       '[mcp_servers.slow]\ncommand = ["sleep", "100"]\n'
                       'startup_ms = 200\nwait_ms = 60000\n'
                       '[mcp_servers.open]\ncommand = ["x", "${NO_SUCH_VARIABLE}"]\n')
        events = self.play({"text": "Hello."})
        self.assertIn("turn.completed", types(events))
        missing = self.missing()
        self.assertIn("No such file or directory", missing["gone"])
        self.assertEqual(missing["slow"],
                         "it did not start within 200 ms; if a package is still being downloaded, "
                         "run `sleep 100` once in a terminal, or raise startup_ms in "
                         "[mcp_servers.slow]")
        self.assertIn("NO_SUCH_VARIABLE", missing["open"])

    def test_an_interrupted_turn_cancels_the_call_at_the_server(self):
        self.configure()
        turn = self.submit(line(use("hang")), DONE)
        wait_until(lambda: "hanging" in self.noted())
        self.daemon.ok("interrupt_turn", sessionId="s", threadId="t", turnId=turn["turnId"])
        self.daemon.wait_turn(turn)
        wait_until(lambda: "notifications/cancelled" in self.noted())

    def test_a_runtime_that_stops_ends_its_servers_in_order(self):
        self.configure()
        self.play(line(use("echo", text="x")), DONE)
        self.daemon.stop()
        self.assertIn("ended", self.noted())
        self.assertTrue(self.nobody_lives())

    def test_ctrl_c_cancels_the_call_and_the_owners_end_closes_the_server_in_order(self):
        self.configure()
        self.daemon.stop()
        script = self.home.script("play", [line(use("hang")), DONE])
        run = subprocess.Popen([BINARY, "run", "--yes", "--model", f"script:{script}", "go"],
                               cwd=self.home.workspace, env=self.home.environment,
                               start_new_session=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        self.addCleanup(run.kill)
        wait_until(lambda: "hanging" in self.noted())
        os.killpg(run.pid, signal.SIGINT)  # like a terminal: to the whole foreground group
        run.wait(timeout=20)
        wait_until(lambda: "notifications/cancelled" in self.noted())
        self.assertEqual(self.home.run("stop").returncode, 0)
        self.assertEqual(self.noted()[-2:], ["notifications/cancelled", "ended"])

    def test_servers_end_with_a_runtime_that_is_killed(self):
        self.configure()
        turn = self.submit(line(use("hang")), DONE)
        wait_until(lambda: "hanging" in self.noted())
        self.daemon.kill()
        wait_until(self.nobody_lives)
        self.start()
        self.daemon.ok("resume_thread", sessionId="s", threadId="t")
        self.daemon.wait_turn(turn)
        self.assertEqual(self.of("tool.failed")[0]["error"]["category"], "lost")


class Slow(ServerCase):
    def test_a_slow_server_delays_only_its_own_tools_and_joins_the_turn(self):
        gate, on = self.home.folder / "gate", self.home.workspace / "on"
        waits = f'while [ ! -e {gate} ]; do sleep 0.05; done; exec {" ".join(self.command)}'
        self.configure(f'[mcp_servers.box]\ncommand = ["/bin/sh", "-c", {json.dumps(waits)}]\n'
                       f'env = {{ NOTES = "{self.notes}" }}\nwait_ms = 100\n')
        turn = self.submit(line(call("while [ ! -e on ]; do sleep 0.05; done")),
                           line(use("echo", text="marco")), DONE)
        self.daemon.wait_event("s", lambda e: e["type"] == "process.started")
        self.assertNotIn("mcp__box__echo", self.offered())
        self.assertIn("it is still starting", self.missing()["box"])
        gate.touch()
        wait_until(lambda: "mcp__box__echo" in self.offered(), what="the tools of the server")
        self.assertEqual(self.missing(), {})
        on.touch()
        self.daemon.wait_turn(turn)
        self.assertIn("marco", json.dumps(self.of("tool.result")))
        self.check_session("s")


class Workspace(ServerCase):
    def write(self, text):
        (self.home.workspace / ".mcp.json").write_text(text)

    def test_its_servers_count_once_the_file_is_trusted(self):
        self.write(json.dumps({"mcpServers": {"theirs": {
            "command": self.command[0], "args": self.command[1:],
            "env": {"NOTES": str(self.notes)}}}}))
        self.configure("")
        self.play({"text": "Hello."})
        self.assertNotIn("mcp__theirs__echo", self.offered())
        self.assertIn(".mcp.json is not trusted; trust it with `agentrt trust`",
                      self.missing()["theirs"])
        self.assertEqual(self.noted(), [])
        done = self.home.run("trust", "--yes")
        self.assertEqual(done.returncode, 0, done.stderr)
        # The first turns may end before the server has started.
        wait_until(lambda: self.play({"text": "Hello."}, session="s2")
                   and "mcp__theirs__echo" in self.offered("s2"), what="the server's tools")
        self.play(line(use("echo", "theirs", text="polo")), DONE, session="s2")
        self.assertIn("polo", json.dumps(self.of("tool.result", "s2")))

    def test_a_broken_file_says_so_and_the_turn_goes_on(self):
        self.write('{"mcpServers": 1')
        self.configure("")
        self.assertEqual(self.home.run("trust", "--yes").returncode, 0)
        events = self.play({"text": "Hello."})
        self.assertIn("turn.completed", types(events))
        self.assertIn("it is not valid JSON", self.missing()[".mcp.json"])


if __name__ == "__main__":
    unittest.main()
