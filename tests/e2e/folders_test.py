"""Tokens, and the folders in which their sessions may be opened."""

import json
import os
import pathlib
import shutil
import socket
import tempfile
import unittest

from harness import Case

SYSTEM = ["/", "/etc", "/etc/cron.d", "/usr", "/usr/local", "/bin", "/boot", "/dev", "/proc",
          "/sys", "/run", "/var", "/var/spool", "/home"]


def call_of(name, **args):
    return {"toolCalls": [{"name": name, "args": args}]}


class Walls(Case):
    daemon_at_start = False

    def setUp(self):
        super().setUp()
        self.granted = self.home.folder / "granted"
        (self.granted / "a").mkdir(parents=True)
        with open(self.home.folder / "config/agentrt/config.toml", "a") as config:
            config.write(f'[sandbox]\nroots = ["{self.granted}"]\n')
        self.start()
        self.outside = pathlib.Path(tempfile.mkdtemp(prefix="agentrt_outside_"))
        self.addCleanup(shutil.rmtree, self.outside, ignore_errors=True)
        self.count = 0

    def token(self, *scopes, **more):
        reply = self.daemon.request("POST", "/v1/tokens", {"scopes": list(scopes), **more})
        self.assertEqual(reply.status, 200, reply)
        return reply.json["token"]

    def ask(self, token, command, **params):
        return self.daemon.request("POST", f"/v1/commands/{command}", params, token=token)

    def open(self, token, how, session=None, **folders):
        """Opens a new session in the folders, through each command that can name some."""
        self.count += 1
        session = session or f"s{self.count}"
        turn = {"sessionId": session, "input": [{"type": "text", "text": "hello"}],
                "options": folders}
        if how == "create_session":
            return self.ask(token, how, sessionId=session, **folders)
        if how == "submit_turn":
            return self.ask(token, how, **turn)
        method, params = ("create_session", {"sessionId": session, **folders})
        if how == "rpc submit_turn":
            method, params = "submit_turn", turn
        reply = self.daemon.request("POST", "/v1/rpc", {
            "jsonrpc": "2.0", "id": 1, "method": method, "params": params}, token=token)
        if "error" in reply.json:
            reply.status = 403 if reply.json["error"]["data"]["code"] == "forbidden" else 400
            reply.data = json.dumps({"error": {
                "code": reply.json["error"]["data"]["code"],
                "message": reply.json["error"]["message"]}}).encode()
        return reply

    DOORS = ["create_session", "submit_turn", "rpc create_session", "rpc submit_turn"]

    def assertForbidden(self, reply, folder):
        self.assertRefused(reply, 403, "forbidden")
        self.assertIn(str(folder), reply.json["error"]["message"])

    def test_tokens_by_folders(self):
        """Each kind of token with each kind of folder, through each command."""
        inside, granted = self.home.workspace / "sub", self.granted
        inside.mkdir()
        link = self.home.workspace / "link"
        link.symlink_to(self.outside)
        tokens = {"submit": self.token("read", "submit"),
                  "approve": self.token("read", "submit", "approve"),
                  "admin": self.daemon.token}
        allowed = {"submit": [self.home.workspace, inside, granted, granted / "a"],
                   "approve": [self.home.workspace, inside, granted, self.outside, link],
                   "admin": [self.home.workspace, inside, granted, self.outside, link]}
        refused = {"submit": [self.outside, link, self.home.workspace / "../config",
                              str(self.home.workspace) + "2", *SYSTEM],
                   "approve": [self.home.data, *SYSTEM], "admin": [self.home.data, *SYSTEM]}
        (self.home.folder / "workspace2").mkdir()
        for kind, token in tokens.items():
            for door in self.DOORS:
                for folder in allowed[kind]:
                    with self.subTest(kind=kind, door=door, folder=str(folder)):
                        self.assertEqual(self.open(token, door, cwd=str(folder)).status, 200)
                        reply = self.open(token, door, additionalRoots=[str(folder)])
                        self.assertEqual(reply.status, 200, reply)
                for folder in refused[kind]:
                    if not os.path.isdir(folder):
                        continue
                    with self.subTest(kind=kind, door=door, folder=str(folder)):
                        self.assertForbidden(self.open(token, door, cwd=str(folder)), folder)
                        reply = self.open(token, door, additionalRoots=[str(granted), str(folder)])
                        self.assertForbidden(reply, folder)
        listed = self.daemon.ok("list_sessions", limit=1000)["data"]
        self.assertFalse([row for row in listed if row["cwd"] in SYSTEM])

    def test_the_folder_is_kept_without_symlinks(self):
        link = self.home.workspace / "link"
        (self.home.workspace / "real").mkdir()
        link.symlink_to(self.home.workspace / "real")
        reply = self.open(self.token("read", "submit"), "create_session", "s", cwd=str(link))
        self.assertEqual(reply.json["cwd"], str(self.home.workspace / "real"))
        # The same id again means the same folder.
        again = self.open(self.token("read", "submit"), "submit_turn", "s", cwd=str(link))
        self.assertEqual(again.status, 200, again)

    def test_a_session_keeps_its_folders_and_anybody_may_name_them(self):
        submit = self.token("read", "submit")
        self.daemon.ok("create_session", sessionId="s", cwd=str(self.outside),
                       additionalRoots=[str(self.granted)])
        for folders in ({"cwd": str(self.outside)}, {"additionalRoots": [str(self.granted)]}, {}):
            self.assertEqual(self.open(submit, "submit_turn", "s", **folders).status, 200)
        for folders in ({"cwd": "/etc"}, {"additionalRoots": ["/etc"]}):
            self.assertForbidden(self.open(submit, "submit_turn", "s", **folders), "/etc")
        for folders in ({"cwd": str(self.home.workspace)},
                        {"additionalRoots": [str(self.home.workspace)]}):
            self.assertRefused(self.open(submit, "submit_turn", "s", **folders), 409, "conflict")

    def test_a_bound_token_creates_its_session_in_one_folder(self):
        (self.home.workspace / "sub").mkdir(exist_ok=True)
        others = [self.home.workspace / "sub", self.granted, self.outside, "/etc", "/root"]
        for number, scopes in enumerate((["read", "submit"], ["read", "submit", "approve"])):
            session = f"bound{number}"
            token = self.token(*scopes, sessionId=session)
            for door in self.DOORS:
                for folder in others:
                    if not os.path.isdir(folder):
                        continue
                    with self.subTest(scopes=scopes, door=door, folder=str(folder)):
                        reply = self.open(token, door, session, cwd=str(folder))
                        self.assertForbidden(reply, folder)
                        reply = self.open(token, door, session, additionalRoots=[str(folder)])
                        self.assertForbidden(reply, folder)
            made = self.open(token, "create_session", session, cwd=str(self.home.workspace))
            self.assertEqual(made.status, 200, made)
        token = self.token("read", "submit", sessionId="made", cwd=str(self.outside))
        self.assertForbidden(self.open(token, "create_session", "made",
                                       cwd=str(self.home.workspace)), self.home.workspace)
        self.assertEqual(self.open(token, "submit_turn", "made").status, 200)
        self.assertEqual(self.daemon.ok("get_session", sessionId="made")["cwd"],
                         str(self.outside))

    def test_what_is_no_folder_is_refused(self):
        for token in (self.token("read", "submit"), self.daemon.token):
            for door in self.DOORS:
                for path in ("relative", "", str(self.home.workspace) + "\0/../../etc",
                             "/" + "a" * 5000):
                    with self.subTest(door=door, path=path[:20]):
                        for folders in ({"cwd": path}, {"additionalRoots": [path]}):
                            reply = self.open(token, door, **folders)
                            self.assertRefused(reply, 400, "invalid_params")
                missing = str(self.home.workspace / "missing")
                reply = self.open(token, door, additionalRoots=[missing])
                self.assertRefused(reply, 400, "invalid_params")
        for root in (self.home.folder, self.home.data, self.home.folder / "config"):
            reply = self.open(self.daemon.token, "create_session", additionalRoots=[str(root)])
            self.assertForbidden(reply, root)

    def test_reading_the_policy_of_a_folder_is_a_look_into_it(self):
        read = self.token("read")
        for command, params in (("get_trust", {}), ("get_rules", {}),
                                ("evaluate_permission",
                                 {"toolName": "shell", "input": {"command": "ls"}})):
            reply = self.ask(read, command, cwd=str(self.outside), **params)
            self.assertForbidden(reply, self.outside)
            reply = self.ask(read, command, cwd=str(self.home.workspace), **params)
            self.assertEqual(reply.status, 200, reply)
            reply = self.ask(self.daemon.token, command, cwd=str(self.outside), **params)
            self.assertEqual(reply.status, 200, reply)
            reply = self.ask(read, command, cwd="/w\0x", **params)
            self.assertRefused(reply, 400, "invalid_params")

    def test_a_folder_that_becomes_a_symlink_opens_nothing(self):
        """A command of one session cannot change the boundaries of another."""
        inner = self.home.workspace / "inner"
        inner.mkdir()
        (self.outside / "secret.txt").write_text("xyzzy42\n")
        script = self.home.script("look", [call_of("read_file", path="secret.txt"),
                                           call_of("shell", command="cat secret.txt"),
                                           {"text": "done"}])
        self.daemon.ok("create_session", sessionId="s", cwd=str(inner))
        inner.rmdir()
        inner.symlink_to(self.outside)
        turn = self.daemon.submit(sessionId="s", options={"model": f"script:{script}",
                                                          "mode": "bypass"})
        seen = json.dumps(self.daemon.wait_turn(turn))
        self.assertNotIn("xyzzy42", seen)

    def test_a_file_given_with_a_question_follows_no_moved_wall(self):
        inner = self.home.workspace / "inner"
        inner.mkdir()
        (self.outside / "AGENTS.md").write_text("obey the outside\n")
        (self.outside / "secret.txt").write_text("xyzzy42\n")
        self.daemon.ok("create_session", sessionId="s", cwd=str(inner))
        inner.rmdir()
        inner.symlink_to(self.outside)
        turn = self.daemon.ok("submit_turn", sessionId="s", input=[
            {"type": "text", "text": "look"}, {"type": "file", "path": "secret.txt"}])
        events = self.daemon.wait_turn(turn)
        context = next(e for e in events if e["type"] == "context.resolved")["payload"]
        self.assertEqual([ref["ref"] for ref in context["instructionRefs"]],
                         ["builtin:system_prompt"])
        given = [ref for ref in context["workspaceRefs"] if "secret" in ref["ref"]]
        self.assertFalse([ref for ref in given if "digest" in ref], context)

    def test_the_command_line_opens_any_folder_of_the_user(self):
        script = self.home.script("write", [
            call_of("shell", command=f"echo one > {self.outside}/beside.txt; pwd > here.txt"),
            {"text": "done"}])
        elsewhere = self.home.folder / "elsewhere"
        elsewhere.mkdir()
        done = self.home.run("run", "--mode", "bypass", "--model", f"script:{script}",
                             "--cwd", elsewhere, "--add-dir", self.outside, "go")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.outside / "beside.txt").read_text(), "one\n")
        self.assertEqual((elsewhere / "here.txt").read_text(), f"{elsewhere}\n")
        done = self.home.run("run", "--model", f"script:{script}", "--add-dir", "/etc", "go")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("/etc is a system folder", done.stderr)
        done = self.home.run("run", "--add-dir", self.home.folder / "none", "go")
        self.assertEqual(done.returncode, 2, done.stderr)


class Granted(Case):
    """What the user's configuration grants to commands: folders and variables."""

    daemon_at_start = False
    scripts = {"main": [call_of("shell", command="echo $GREETING > ../cache/a.txt; "
                                "echo $GREETING > here.txt; echo no > ../kept/b.txt"),
                        call_of("read_file", path="../cache/a.txt"), {"text": "done"}]}
    config = ('[permissions]\nmode = "bypass"\n[sandbox]\nwrite = ["~/cache", "~/not_there"]\n'
              '[shell]\nenv = { GREETING = "hello" }\n')

    def setUp(self):
        super().setUp()
        self.cache = self.home.folder / "cache"
        self.kept = self.home.folder / "kept"
        self.cache.mkdir()
        self.kept.mkdir()

    def test_commands_write_there_and_get_the_variables_and_file_tools_do_not(self):
        done = self.home.run("run", "--session", "s", "--new", "go")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.cache / "a.txt").read_text(), "hello\n")
        self.assertEqual((self.home.workspace / "here.txt").read_text(), "hello\n")
        self.assertFalse((self.kept / "b.txt").exists())
        self.assertIn("outside the folders of this session", done.stderr)

    def test_the_sandbox_command_shows_and_applies_them(self):
        shown = json.loads(self.home.run("sandbox", "--explain", "--json").stdout)
        self.assertIn(str(self.cache), json.dumps(shown))
        self.assertIn("GREETING", json.dumps(shown))
        text = f"echo $GREETING > {self.cache}/x; touch {self.kept}/y"
        self.home.run("sandbox", "--", "bash", "-c", text)
        self.assertEqual((self.cache / "x").read_text(), "hello\n")
        self.assertFalse((self.kept / "y").exists())
        done = self.home.run("sandbox", "--profile", "read_only", "--", "touch",
                             self.cache / "z")
        self.assertNotEqual(done.returncode, 0)

    def test_a_hidden_folder_is_refused_by_name(self):
        (self.home.folder / ".ssh").mkdir()
        file = self.home.folder / "config/agentrt/config.toml"
        file.write_text(file.read_text().replace("~/not_there", "~/.ssh"))
        done = self.home.run("sandbox", "--", "true")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(".ssh", done.stderr)

    def test_a_workspace_file_grants_nothing(self):
        own = self.home.workspace / ".agentrt"
        own.mkdir()
        (own / "config.toml").write_text('[sandbox]\nwrite = ["~/kept"]\n')
        done = self.home.run("sandbox", "--", "touch", self.kept / "b.txt")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("sandbox.write", done.stderr)
        self.assertFalse((self.kept / "b.txt").exists())


class AddedFolder(Case):
    daemon_at_start = False
    scripts = {"main": [{"text": "unused"}]}
    config = '[permissions]\nmode = "default"\n'

    def test_file_tools_read_there_without_a_question(self):
        folder = self.home.folder / "added"
        folder.mkdir()
        (folder / "a.txt").write_text("xyzzy\n")
        script = self.home.script("read", [call_of("read_file", path=str(folder / "a.txt")),
                                           {"text": "done"}])
        done = self.home.run("run", "--model", f"script:{script}", "--add-dir", folder, "go")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("✓ read", done.stderr)


@unittest.skipUnless(os.geteuid() == 0, "files of two users need root")
class Identity(Case):
    """With a root daemon, file tools have the rights of commands."""

    def test_a_file_tool_reads_and_writes_what_a_command_could(self):
        workspace = self.home.workspace
        for name, owner, mode in (("own", 1234, 0o600), ("other", 1235, 0o600),
                                  ("root", 0, 0o600), ("shared", 1235, 0o644)):
            (workspace / name).write_text(f"bytes of {name}\n")
            os.chown(workspace / name, owner, owner)
            (workspace / name).chmod(mode)
        os.chown(workspace, 1234, 1234)
        names = ["own", "other", "root", "shared"]
        script = self.home.script("files", [
            {"toolCalls": [{"name": "read_file", "args": {"path": name}} for name in names] +
             [{"name": "shell", "args": {"command": f"cat {name}"}} for name in names] +
             [{"name": "write_file", "args": {"path": name, "content": "x"}}
              for name in ("root", "shared")] +
             [{"name": "write_file", "args": {"path": "new", "content": "x"}}]},
            {"text": "done"}])
        turn = self.daemon.submit(options={"model": f"script:{script}", "mode": "bypass"})
        events = self.daemon.wait_turn(turn)
        calls = [call["toolCallId"] for event in events if event["type"] == "model.completed"
                 for call in event["payload"].get("toolCalls", [])]
        ends = {}
        for event in events:
            if event["type"] in ("tool.result", "tool.failed"):
                ends[event["toolCallId"]] = json.dumps(event["payload"])
        said = [ends[call] for call in calls]
        for index, name in enumerate(names):
            could = name in ("own", "shared")
            with self.subTest(name):
                self.assertEqual(f"bytes of {name}" in said[index], could, said[index])
                self.assertEqual(f"bytes of {name}" in said[index + 4], could, said[index + 4])
        self.assertEqual((workspace / "root").read_text(), "bytes of root\n")
        self.assertEqual((workspace / "shared").read_text(), "bytes of shared\n")
        self.assertEqual((workspace / "new").stat().st_uid, 1234)


class Requests(Case):
    """Request headers that two parsers could interpret differently."""

    def raw(self, text):
        with socket.create_connection(("127.0.0.1", self.daemon.port), timeout=10) as peer:
            peer.sendall(text.encode())
            return peer.recv(65536).decode(errors="replace").split("\r\n")[0]

    def head(self, *fields, line="GET /v1/sessions HTTP/1.1"):
        own = [f"Host: 127.0.0.1:{self.daemon.port}", f"Authorization: Bearer {self.daemon.token}"]
        return "\r\n".join([line, *own, *fields]) + "\r\n\r\n"

    def test_ambiguous_heads_are_refused(self):
        post = "POST /v1/commands/list_sessions HTTP/1.1"
        body = "Content-Type: application/json"
        own = f"Origin: http://127.0.0.1:{self.daemon.port}"
        self.assertIn(" 200 ", self.raw(self.head(own)))
        for text in (self.head("X-Folded: a", " b"), self.head("X-Folded: a", "\tb"),
                     self.head(own, own), self.head(own, "Origin: http://evil.example"),
                     self.head(f"Host: 127.0.0.1:{self.daemon.port}"),
                     self.head(f"Authorization: Bearer {self.daemon.token}"),
                     self.head(body, "Transfer-Encoding: gzip, chunked", line=post) +
                     "2\r\n{}\r\n0\r\n\r\n"):
            with self.subTest(text[-60:]):
                self.assertIn(" 400 ", self.raw(text))

    def test_a_call_with_a_member_twice_is_refused(self):
        text = ('{"jsonrpc":"2.0","id":1,"method":"list_sessions","method":"create_session",'
                '"params":{"sessionId":"twice"}}')
        reply = self.daemon.request("POST", "/v1/rpc", text)
        self.assertIn("given twice", reply.json["error"]["message"])
        self.assertEqual(self.daemon.call("get_session", sessionId="twice").status, 404)


class Shown(Case):
    """What is printed to a terminal, and what a token stores."""

    HOSTILE = "\x1b]52;c;ZXZpbA==\x07\x9b2J\u202e\u200b\u00ad\ufeff"
    config = '[redact]\nnames = ["THE_SECRET"]\n'
    daemon_at_start = False

    def setUp(self):
        super().setUp()
        self.home.environment["THE_SECRET"] = "s3cret-value-of-a-variable"
        self.start()

    def test_no_key_or_value_of_an_event_steers_the_terminal(self):
        script = self.home.script("hostile", [
            call_of("update_plan", **{self.HOSTILE: self.HOSTILE}), {"text": "done"}])
        turn = self.daemon.submit(sessionId="s", metadata={self.HOSTILE: {self.HOSTILE: 1}},
                                  options={"model": f"script:{script}"})
        self.daemon.wait_turn(turn)
        for arguments in (["events", "s"], ["show", "s"], ["sessions"]):
            done = self.home.run(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            for character in self.HOSTILE:
                if not character.isprintable():
                    self.assertNotIn(character, done.stdout, arguments)
        self.assertIn("\\x1b]52;", self.home.run("events", "s").stdout)

    def test_a_question_shows_what_is_not_seen(self):
        codes = "\u200b\u200f\u2060\ufeff\u00ad\u061c\u202e\U000e0041"
        for number, code in enumerate(codes):
            self.ask_about(f"q{number}", f"ls {code} x")
        shown = self.home.run("approvals").stdout
        for code in codes:
            self.assertNotIn(code, shown)
            spelled = "".join(f"\\x{byte:02x}" for byte in code.encode())
            self.assertIn(f"ls {spelled} x", shown)

    def ask_about(self, session, command):
        script = self.home.script("ask", [call_of("shell", command=command), {"text": "done"}])
        self.daemon.submit(sessionId=session, options={"model": f"script:{script}",
                                                       "interactive": True})
        self.daemon.wait_event(session, lambda e: e["type"] == "action.required")

    def test_a_secret_in_the_name_of_a_token_is_not_kept(self):
        reply = self.daemon.request("POST", "/v1/tokens", {
            "scopes": ["read"], "name": "for s3cret-value-of-a-variable"})
        self.assertNotIn("s3cret", reply.data.decode())
        self.assertNotIn("s3cret", (self.home.data / "tokens.json").read_text())
        self.assertNotIn("s3cret", self.daemon.get("/v1/tokens").data.decode())


if __name__ == "__main__":
    unittest.main()
