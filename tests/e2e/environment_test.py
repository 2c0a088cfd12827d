"""The environment of a turn: that of the client which submitted it, and nobody else's."""

import json
import socket
import stat
import subprocess
import threading
import unittest

from harness import BINARY, types, wait_until
from owner_test import Background, Window
from run_test import shell

KEY = "sk-canary-0123456789abcdef"


class Provider:
    """A server that takes requests and never answers; it remembers their heads."""

    def __init__(self, case):
        self.heads = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/v1"
        self.taken = []
        case.addCleanup(self.close)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        try:
            while True:
                connection, _ = self.listener.accept()
                self.taken.append(connection)
                self.heads.append(connection.recv(65536).decode(errors="replace"))
        except OSError:
            pass

    def close(self):
        for connection in [*self.taken, self.listener]:
            connection.close()


class Environments(Background):
    scripts = {"main": [{"toolCalls": shell("echo term=$TERM lang=$LANG > made.txt")},
                        {"text": "All done."}],
               "slow": [{"text": "one two three", "deltas": 3, "deltaMs": 700}],
               "tells": [{"text": f"The key is {KEY}."}]}
    config = '[permissions]\nmode = "default"\n'

    def files(self):
        return sorted((self.home.data / "environments").glob("*"))

    def test_each_turn_gets_the_environment_of_its_own_client(self):
        window = Window(self, "--session", "keeps", "--new", "--model", "slow", "hi")
        window.read_until("one")
        pid = self.home.owner()["pid"]
        for term in ("vt100", "xterm"):
            done = self.home.run("run", "--yes", "hi", TERM=term, LANG=f"C.{term}")
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(self.made(), f"term={term} lang=C.{term}\n")
        self.assertEqual(self.home.owner()["pid"], pid)
        self.assertEqual(window.end(), 0, window.text())

    def test_an_approval_holds_for_an_answer_from_another_environment_after_a_crash(self):
        window = Window(self, "--session", "s", "--new", "hi", TERM="xterm-256color", LANG="C.one")
        window.read_until("> ").process.kill()
        window.process.wait(10)
        stored, = self.files()
        self.assertEqual(stat.S_IMODE(stored.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(stored.parent.stat().st_mode), 0o700)
        self.home.kill_owner()
        listed = json.loads(self.home.run("approvals", "--json", TERM="dumb").stdout)["data"]
        done = self.home.run("approve", listed[0]["actionId"], TERM="vt100", LANG="C.two")
        self.assertEqual(done.returncode, 0, done)
        wait_until(lambda: self.made(), what="the command")
        self.assertEqual(self.made(), "term=xterm-256color lang=C.one\n")
        wait_until(lambda: not self.files(), what="the end of the stored environment")

    def test_a_daemons_approval_holds_after_a_restart_in_another_environment(self):
        self.home.environment["TERM"] = "xterm-256color"
        self.start()
        self.daemon.submit(sessionId="s", options={"cwd": str(self.home.workspace)})
        action = wait_until(lambda: self.daemon.ok("list_actions")["data"], what="a question")[0]
        self.crash()
        self.home.environment["TERM"] = "vt100"
        self.start()
        self.daemon.ok("respond_action", actionId=action["actionId"], digest=action["digest"],
                       decision="allow")
        wait_until(lambda: self.made(), what="the command")
        self.assertEqual(self.made().split()[0], "term=xterm-256color")

    def test_credentials_are_redacted_and_never_stored(self):
        window = Window(self, "--session", "keeps", "--new", "--model", "slow", "hi")
        window.read_until("one")
        done = self.home.run("run", "--session", "s", "--new", "--model", "tells", "hi",
                             OPENAI_API_KEY=KEY)
        self.assertEqual(done.returncode, 0, done)
        self.assertNotIn(KEY, done.stdout + json.dumps(self.events("s")))
        self.assertIn("[redacted:OPENAI_API_KEY]", done.stdout)
        self.assertEqual(window.end(), 0, window.text())
        for path in self.home.data.rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)

    def test_after_a_restart_without_its_credentials_a_turn_waits_for_them(self):
        provider = Provider(self)
        given = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": provider.url}
        (self.home.folder / "config/agentrt/config.toml").write_text(self.config)
        window = Window(self, "--session", "s", "--new", "hi", **given)
        wait_until(lambda: provider.heads, what="a request")
        self.assertIn(KEY, provider.heads[0])
        window.process.kill()
        window.process.wait(10)
        self.home.kill_owner()
        self.home.run("sessions")
        read = wait_until(lambda: self.thread(status="blocked"), what="a blocked thread")
        self.home.run("call", "resume_thread",
                      json.dumps({"sessionId": "s", "threadId": read["threadId"]}))
        read = wait_until(lambda: self.thread(statusReason="no_model"), what="no model")
        self.assertEqual(read["status"], "blocked")
        Window(self, "--session", "s", **given)
        wait_until(lambda: len(provider.heads) > 1, what="the request again")
        self.assertIn(KEY, provider.heads[1])
        self.assertEqual(self.home.run("stop", "--yes").returncode, 0)

    def thread(self, **wanted):
        shown = json.loads(self.home.run("call", "get_session", '{"sessionId":"s"}').stdout)
        thread = shown["threads"][0]["threadId"]
        read = json.loads(self.home.run("call", "get_thread_read", json.dumps(
            {"sessionId": "s", "threadId": thread})).stdout)
        return read if all(read.get(k) == v for k, v in wanted.items()) else None

    def test_the_turns_of_a_task_get_the_environment_of_the_client_that_created_it(self):
        self.start()
        made = self.home.run("call", "create_session", json.dumps(
            {"sessionId": "s", "cwd": str(self.home.workspace)}))
        self.assertEqual(made.returncode, 0, made)
        made = self.home.run("call", "create_task", json.dumps(
            {"sessionId": "s", "objective": "go", "threadId": "t",
             "constraints": {"mode": "bypass"}}), TERM="vt100", LANG="C.task")
        self.assertEqual(made.returncode, 0, made)
        task = json.loads(made.stdout)["taskId"]
        self.crash()
        self.start()
        self.assertEqual(self.home.run("call", "start_task", json.dumps({"taskId": task}),
                                       TERM="dumb").returncode, 0)
        wait_until(lambda: self.made(), what="the command")
        self.assertEqual(self.made(), "term=vt100 lang=C.task\n")
        wait_until(lambda: not self.files(), what="the end of the stored environment")

    def test_serve_takes_over_the_credentials_of_turns_in_flight(self):
        provider = Provider(self)
        (self.home.folder / "config/agentrt/config.toml").write_text(self.config)
        window = Window(self, "--session", "s", "--new", "hi", OPENAI_API_KEY=KEY,
                        OPENAI_BASE_URL=provider.url)
        wait_until(lambda: provider.heads, what="a request")
        self.start()
        wait_until(lambda: len(provider.heads) > 1, what="the request again")
        self.assertIn(KEY, provider.heads[1])
        window.ctrl_c()
        self.assertEqual(window.end(), 130, window.text())
        self.assertIn("task.cancelled", types(self.daemon.events("s")))

    def test_environments_travel_over_the_socket_alone(self):
        self.start()
        body = {"variables": [{"name": "TERM", "value": "x"}], "settings": [], "credentials": []}
        reply = self.daemon.request("POST", "/v1/turns/t1/environment", body)
        self.assertRefused(reply, 404, "not_found")
        self.assertRefused(self.daemon.get("/v1/environments"), 404, "not_found")
        self.assertRefused(self.daemon.request("POST", "/v1/owner/leave", {}), 404, "not_found")

    def test_a_config_that_only_names_models_counts_for_its_turn(self):
        script = self.home.script("other", [{"text": "From the other one."}])
        other = self.home.folder / "other.toml"
        other.write_text(f'[models.other]\nprovider = "script"\nscript = "{script}"\n')
        window = Window(self, "--session", "keeps", "--new", "--model", "slow", "hi")
        window.read_until("one")
        done = self.home.run("run", "--config", str(other), "--model", "other", "hi")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("From the other one.", done.stdout)
        other.write_text(other.read_text() + '[permissions]\nmode = "bypass"\n')
        done = self.home.run("run", "--config", str(other), "--model", "other", "hi")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(str(other), done.stderr)
        self.assertIn("user's configuration", done.stderr)
        self.assertEqual(window.end(), 0, window.text())


class WorkspaceModels(Background):
    """Models that only a file of the workspace names."""

    scripts = {}
    config = '[permissions]\nmode = "default"\n'

    def setUp(self):
        super().setUp()
        folder = self.home.workspace / ".agentrt"
        folder.mkdir()
        (folder / "local.jsonl").write_text('{"text": "From the workspace."}\n')
        self.file = folder / "config.toml"
        self.file.write_text('[models.local]\nprovider = "script"\nscript = "local.jsonl"\n'
                             '[routing]\ndefault = "local"\n')

    def trust(self):
        done = self.home.run("trust", "--yes")
        self.assertEqual(done.returncode, 0, done)

    def assertAnswers(self, *arguments, **more):
        done = self.home.run("run", *arguments, "hi", **more)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("From the workspace.", done.stdout)

    def test_they_count_once_the_file_is_trusted(self):
        for arguments in ((), ("--model", "local")):
            done = self.home.run("run", *arguments, "hi")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f"{self.file} names models, but it is not trusted", done.stderr)
        self.trust()
        self.assertAnswers("--session", "s", "--new")
        self.assertAnswers("--model", "local")
        elsewhere = self.home.folder / "elsewhere"
        elsewhere.mkdir()
        done = subprocess.run([BINARY, "run", "--session", "s", "again"], cwd=elsewhere, text=True,
                              env=self.home.environment, capture_output=True, timeout=30)
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("From the workspace.", done.stdout)
        done = subprocess.run([BINARY, "run", "again"], cwd=elsewhere, text=True,
                              env=self.home.environment, capture_output=True, timeout=30)
        self.assertEqual(done.returncode, 2, done)
        self.file.write_text(self.file.read_text() + "\n")
        self.assertEqual(self.home.run("run", "hi").returncode, 2)

    def test_a_conversation_uses_them_too(self):
        def talk():
            return subprocess.run([BINARY, "chat", "--plain"], input="hi\n", text=True,
                                  cwd=self.home.workspace, env=self.home.environment,
                                  capture_output=True, timeout=30)
        done = talk()
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(f"{self.file} names models, but it is not trusted", done.stderr)
        self.trust()
        done = talk()
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("From the workspace.", done.stdout)

    def test_they_count_under_a_serve_of_another_folder(self):
        self.trust()
        self.home.end_owners()
        workspace = self.home.workspace
        self.home.workspace = self.home.folder / "elsewhere"
        self.home.workspace.mkdir()
        self.start()
        self.home.workspace = workspace
        self.assertAnswers()

    def test_their_key_reaches_the_provider(self):
        provider = Provider(self)
        self.file.write_text('[models.local]\nprovider = "openai_chat"\nmodel = "m"\n'
                             f'base_url = "{provider.url}"\napi_key_env = "WORKSPACE_KEY"\n')
        self.trust()
        done = self.home.run("run", "hi")
        self.assertIn("set WORKSPACE_KEY", done.stderr)
        self.home.environment["WORKSPACE_KEY"] = KEY
        window = Window(self, "--session", "s", "--new", "hi")
        wait_until(lambda: provider.heads, what="the request")
        self.assertIn(f"Bearer {KEY}", provider.heads[0])
        window.kill()
        window.process.wait()


if __name__ == "__main__":
    unittest.main()
