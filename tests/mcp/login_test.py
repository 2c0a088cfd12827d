"""Logins to MCP servers: made with a scripted browser, stored, renewed, and ended; servers that
lie; kill -9 at every step; and no secret anywhere but in its file."""

import json
import os
import pathlib
import pty
import select
import subprocess
import sys
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from auth_server import Auth
from browser import Login, log_in, visit
from harness import BINARY, Case, wait_until

USE = {"toolCalls": [{"name": "mcp__tickets__echo", "args": {}}]}
WRITE = {"toolCalls": [{"name": "mcp__tickets__write", "args": {}}]}
DONE = {"text": "Done."}


class LoginCase(Case):
    daemon_at_start = False
    scripts = {"main": [USE, DONE], "write": [WRITE, DONE]}
    options = {}

    def setUp(self):
        super().setUp()
        self.auth = Auth(**self.options)
        self.addCleanup(self.auth.close)
        self.config_path = self.home.folder / "config/agentrt/config.toml"
        self.plain = self.config_path.read_text()
        self.configure()

    def configure(self, more=""):
        self.config_path.write_text(
            self.plain + '[permissions]\nmode = "bypass"\n[mcp_servers.tickets]\n'
            f'url = "{self.auth.url}"\nwait_ms = 30000\n' + more)

    @property
    def files(self):
        folder = self.home.data / "mcp_logins"
        return sorted(folder.glob("*.json")) if folder.exists() else []

    def log_in(self, *options, **more):
        return log_in(self.home, "tickets", *options, **more)

    def logged_in(self):
        done = self.log_in()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def listed(self, *options):
        done = self.home.run("mcp", "list", "--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["name"]: row for row in json.loads(done.stdout)["data"]}

    def turn(self, *options):
        """The events of a turn."""
        done = self.home.run("run", "--json", *options, "call it", timeout=60)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def results(self, *options):
        return [event for event in self.turn(*options) if event["type"] == "tool.result"]

    def refused(self, code, words, *options, **more):
        done = self.log_in(*options, **more)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(words, done.stderr)
        return done

    def no_secret_is_left(self):
        """Nothing that the authorization server gave out is anywhere but in the login's file."""
        for file in self.home.data.rglob("*"):
            if not file.is_file() or "mcp_logins" in file.parts:
                continue
            text = file.read_bytes()
            for secret in self.auth.issued:
                self.assertNotIn(secret.encode(), text, file)


class Logins(LoginCase):
    def test_a_login_makes_the_tools_usable_in_the_next_turn(self):
        events = self.turn()
        missing = [event["payload"]["missing"] for event in events
                   if event["type"] == "tool.catalog.resolved"][-1]
        self.assertEqual(missing, [{"name": "tickets", "reason": "it needs a login",
                                    "remedy": "run `agentrt mcp login tickets`"}])
        self.assertEqual(events[-1]["type"], "task.completed")
        self.assertEqual(self.listed()["tickets"]["state"], "needs_login")
        done = self.logged_in()
        self.assertIn(f"tickets ({self.auth.url}) asks for a login at {self.auth.issuer}",
                      done.stdout)
        self.assertIn("scopes: read\n", done.stdout)
        self.assertIn("✓ logged in to tickets · 2 tools · renewed automatically", done.stdout)
        self.assertEqual(len(self.results()), 1)
        row = self.listed("--check")["tickets"]
        self.assertEqual((row["state"], row["tools"], row["login"]["scopes"],
                          row["login"]["renewable"]), ("ready", 2, ["read"], True))
        self.assertEqual([file.stat().st_mode & 0o777 for file in self.files], [0o600])
        self.assertEqual((self.home.data / "mcp_logins").stat().st_mode & 0o777, 0o700)

    def test_run_prints_the_remedy_and_doctor_has_a_row(self):
        done = self.home.run("run", "call it", timeout=60)
        self.assertIn("MCP server tickets: it needs a login; run `agentrt mcp login tickets`",
                      done.stderr)
        rows = json.loads(self.home.run("doctor", "--json").stdout)["checks"]
        row = next(each for each in rows if each["name"] == "server tickets")
        self.assertIn("it needs a login", json.dumps(row))
        self.assertIn("agentrt mcp login tickets", json.dumps(row))

    def test_json_is_one_object_per_line(self):
        done = self.log_in("--json")
        opening, outcome = [json.loads(line) for line in done.stdout.splitlines() if line]
        self.assertEqual(set(opening), {"authorizationUrl", "redirectUri", "scopes", "expiresAt"})
        self.assertEqual(outcome["status"], "logged_in")
        self.assertEqual(outcome["tools"], 2)

    def test_the_final_address_can_be_pasted(self):
        login = Login(self.home, "tickets", "--no-listen")
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(login.address).query)
        login.paste("what is this")
        done = login.finish()
        self.assertEqual(done.returncode, 2)
        self.assertIn("paste it whole", done.stderr)
        login = Login(self.home, "tickets", "--no-listen")
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(login.address).query)
        with self.assertRaises(OSError):
            visit(login.address)  # nothing listens
        code = list(self.auth.codes)[-1]
        login.paste(f"{query['redirect_uri'][0]}?code={code}&state={query['state'][0]}")
        done = login.finish()
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_listener_takes_only_the_right_state(self):
        login = Login(self.home, "tickets")
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(login.address).query)
        redirect = query["redirect_uri"][0]
        self.assertRegex(redirect, r"^http://127\.0\.0\.1:\d+/callback$")
        self.assertEqual(visit(redirect + "?code=x&state=wrong")[1], 400)
        self.assertEqual(visit(redirect.replace("/callback", "/favicon.ico"))[1], 400)
        _, status, page = visit(login.address)
        self.assertEqual(status, 200)
        self.assertIn("You are logged in to tickets.", page)
        self.assertEqual(login.finish().returncode, 0)

    def test_the_next_login_reuses_the_client_and_its_port(self):
        self.logged_in()
        self.logged_in()
        self.assertEqual(self.auth.registered, 1)
        uri = self.listed()["tickets"]["login"]["redirectUri"]
        port = urllib.parse.urlsplit(uri).port
        taken = subprocess.Popen(["/usr/bin/python3", "-c", "import socket, sys\n"
                                  f"s = socket.create_server(('127.0.0.1', {port}))\n"
                                  "print('.', flush=True)\nsys.stdin.read()"],
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        taken.stdout.readline()
        self.logged_in()
        self.assertEqual(self.auth.registered, 2)
        taken.communicate()

    def test_scopes_that_a_call_lacked_are_requested_by_the_next_login(self):
        self.logged_in()
        failed = [event["payload"]["error"] for event in self.turn("--model", "write")
                  if event["type"] == "tool.failed"]
        self.assertEqual(failed[0]["category"], "unavailable")
        self.assertIn("lacks scopes (read write)", failed[0]["message"])
        self.assertIn("run `agentrt mcp login tickets`", failed[0]["message"])
        self.assertIn("scopes: read write\n", self.logged_in().stdout)
        self.assertEqual(len(self.results("--model", "write")), 1)

    def test_a_url_is_logged_in_to_and_out_of_like_a_name(self):
        done = log_in(self.home, self.auth.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.results()), 1)
        done = self.home.run("mcp", "logout", self.auth.url)
        self.assertIn("logged out of tickets · its server confirmed it", done.stdout)
        self.assertEqual(self.files, [])
        self.assertEqual(self.results(), [])
        self.assertEqual(self.home.run("mcp", "logout", "tickets").stdout,
                         "there was no login to tickets\n")

    def test_another_server_of_the_same_name_gets_nothing(self):
        self.logged_in()
        other = Auth()
        self.addCleanup(other.close)
        self.config_path.write_text(self.config_path.read_text().replace(self.auth.url, other.url))
        self.home.run("stop", "--yes")
        self.turn()
        self.assertTrue(other.requests("/mcp"))
        for _, _, headers, _ in other.seen:
            self.assertNotIn("Authorization", headers)

    def test_no_secret_is_in_events_logs_or_arguments(self):
        login = Login(self.home, "tickets")
        arguments = pathlib.Path(f"/proc/{login.process.pid}/cmdline").read_bytes()
        visit(login.address)
        self.assertEqual(login.finish().returncode, 0)
        self.turn()
        self.no_secret_is_left()
        for secret in self.auth.issued:
            self.assertNotIn(secret.encode(), arguments)

    def test_a_file_that_others_may_read_is_refused(self):
        self.logged_in()
        self.home.run("stop", "--yes")
        self.files[0].chmod(0o640)
        self.assertEqual(self.results(), [])

    def test_a_login_with_ctrl_c_at_a_terminal(self):
        controller, terminal = pty.openpty()
        process = subprocess.Popen([BINARY, "mcp", "login", "tickets"], cwd=self.home.workspace,
                                   env=self.home.environment, stdin=terminal, stdout=terminal,
                                   stderr=terminal, start_new_session=True,
                                   preexec_fn=lambda: __import__("fcntl").ioctl(0, 0x540E, 0))
        os.close(terminal)
        shown = b""
        while b"Paste its final address here." not in shown:
            ready, _, _ = select.select([controller], [], [], 30)
            self.assertTrue(ready, shown)
            shown += os.read(controller, 4096)
        os.write(controller, b"\x03")
        self.assertEqual(process.wait(20), 130)
        os.close(controller)


class Refused(LoginCase):
    def test_what_the_person_denies(self):
        self.auth.options["denied"] = True
        self.refused(1, "access_denied (The person said no.)")
        self.assertEqual(self.files, [])

    def test_servers_that_lie(self):
        origin, issuer = self.auth.origin, self.auth.issuer
        for options, words in (
                ({"iss": "https://evil.example"}, "not from the authorization server"),
                ({"promises_iss": True}, "not from the authorization server"),
                ({"issuer": issuer + "/other"}, "names the issuer"),
                ({"resource": "https://evil.example/mcp"}, "is about another resource"),
                ({"resource": origin + "/mcp/deeper"}, "is about another resource"),
                ({"pkce": ["plain"]}, "does not support PKCE with S256"),
                ({"pkce": []}, "does not support PKCE with S256"),
                ({"named_issuer": "http://auth.example.com"}, "that is not https"),
                ({"named_issuer": "https://10.0.0.1"}, "private or local address"),
                ({"token_endpoint": "https://169.254.169.254/"}, "private or local address"),
                ({"challenge": 'Bearer resource_metadata="http://evil.example/x"'}, "not https"),
                ({"challenge": "Bearer scope=\"" + "x" * 9000 + '"'}, "8192 bytes"),
                ({"challenge": 'Bearer scope="' + " ".join(f"s{i}" for i in range(101)) + '"'},
                 "100 scopes"),
                ({"resource_document": {"resource": self.auth.url}}, "no authorization server"),
                ({"resource_document": b"[" * 3000}, "not a JSON object")):
            with self.subTest(words=words, **options):
                self.auth.options = options
                self.refused(1, words)
                self.assertEqual(self.files, [])

    def test_a_redirect_with_another_state_is_not_the_login(self):
        self.auth.options["state"] = "of-someone-else"
        self.refused(3, "did not come back within 2 s", "--timeout", "2")
        self.assertEqual(self.files, [])

    def test_redirects_are_not_followed(self):
        path = "/.well-known/oauth-protected-resource/mcp"
        self.auth.options["redirect"] = {path: self.auth.issuer + "/elsewhere"}
        self.refused(1, "has no document")
        self.auth.options["redirect"] = {"/token": self.auth.issuer + "/elsewhere"}
        self.refused(1, "HTTP status 302")
        self.assertEqual(self.auth.requests("/elsewhere"), [])

    def test_endless_documents(self):
        for path in ("/.well-known/oauth-protected-resource/mcp",
                     "/.well-known/oauth-authorization-server", "/register", "/token"):
            with self.subTest(path=path):
                self.auth.options["endless"] = (path,)
                done = self.log_in()
                self.assertNotEqual(done.returncode, 0)
                self.assertIn("65536 bytes", done.stderr)

    def test_names_that_are_not_there(self):
        self.configure('[mcp_servers.files]\ncommand = ["true"]\n'
                       f'[mcp_servers.fixed]\nurl = "{self.auth.url}"\n'
                       'bearer_token_env = "FIXED"\n')
        for server, words in (("nothing", "there are files, fixed, tickets"),
                              ("files", "is a program on this machine"),
                              ("fixed", "bearer_token_env")):
            done = self.home.run("mcp", "login", server, FIXED="a-token-of-mine")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
        done = self.home.run("mcp")
        self.assertEqual(done.returncode, 2)

    def test_a_server_of_a_folder_that_is_not_trusted(self):
        (self.home.workspace / ".mcp.json").write_text(
            json.dumps({"mcpServers": {"mine": {"url": self.auth.url}}}))
        self.assertEqual(self.listed()["mine"]["state"], "untrusted")
        done = self.home.run("mcp", "login", "mine")
        self.assertEqual(done.returncode, 2)
        self.assertIn("agentrt trust", done.stderr)

    def test_a_server_that_cannot_be_reached(self):
        self.auth.close()
        self.refused(4, "cannot be reached")

    def test_seventeen_unfinished_logins(self):
        self.start()
        for index in range(17):
            reply = self.daemon.request("POST", "/v1/mcp/logins", {
                "server": "tickets", "redirectUri": "http://127.0.0.1:9/callback"})
            if index < 16:
                self.assertEqual(reply.status, 200, reply)
        self.assertRefused(reply, 429, "limit_exceeded")
        reply = self.daemon.request("POST", "/v1/mcp/logins/login_x", {"callbackUrl": "http://x"})
        self.assertRefused(reply, 404, "not_found")
        reply = self.daemon.request("POST", "/v1/mcp/logins", {
            "server": "tickets", "redirectUri": "https://evil.example/callback"})
        self.assertRefused(reply, 400, "invalid_params")


class Renewal(LoginCase):
    def wait_for_refresh(self, count):
        wait_until(lambda: sum("grant_type=refresh_token" in body
                               for _, _, _, body in self.auth.requests("/token")) >= count,
                   what="a refresh")

    def refreshes(self):
        return sum("grant_type=refresh_token" in body
                   for _, _, _, body in self.auth.requests("/token"))

    def test_many_sessions_share_one_refresh(self):
        self.auth.options["expires_in"] = 30  # less than the minute before the end
        self.logged_in()
        self.start()
        before = self.refreshes()
        self.auth.options.update(expires_in=3600, hold=True)
        count = int(os.environ.get("AGENTRT_LOGIN_SESSIONS", "100"))
        turns = [self.daemon.submit(sessionId=f"s{index}") for index in range(count)]
        self.wait_for_refresh(before + 1)
        time.sleep(0.5)
        self.auth.hold.set()
        for turn in turns:
            self.daemon.wait_turn(turn, seconds=120)
        self.assertEqual(self.refreshes(), before + 1)
        self.no_secret_is_left()

    def test_a_refused_token_is_renewed_and_the_request_repeated(self):
        self.logged_in()
        with self.auth.lock:
            self.auth.access.clear()
        self.assertEqual(len(self.results()), 1)
        self.assertEqual(self.refreshes(), 1)

    def test_a_refresh_token_that_is_no_longer_valid_needs_a_login(self):
        self.logged_in()
        with self.auth.lock:
            self.auth.access.clear()
            self.auth.refresh.clear()
        self.assertEqual(self.results(), [])
        row = self.listed()["tickets"]
        self.assertEqual((row["state"], row["remedy"]),
                         ("needs_login", "run `agentrt mcp login tickets`"))
        self.logged_in()
        self.assertEqual(len(self.results()), 1)

    def test_an_authorization_server_that_is_away_keeps_the_tokens(self):
        self.logged_in()
        before = self.files[0].read_text()
        with self.auth.lock:
            self.auth.access.clear()
        self.auth.options["token_status"] = 503
        self.assertEqual(self.results(), [])
        self.assertEqual(self.files[0].read_text(), before)
        del self.auth.options["token_status"]
        self.assertEqual(len(self.results()), 1)

    def test_a_kill_while_the_refresh_is_in_flight(self):
        self.logged_in()
        for lost in (False, True):
            with self.auth.lock:
                self.auth.access.clear()
            self.auth.hold.clear()
            self.auth.options["hold"] = True
            before = self.refreshes()
            running = threading.Thread(target=self.turn, daemon=True)
            running.start()
            self.wait_for_refresh(before + 1)
            if lost:  # the server voids the old refresh token, and nobody gets the new one
                self.auth.options["lose_reply"] = True
                self.auth.hold.set()
                time.sleep(0.3)
            self.home.kill_owner()
            self.auth.hold.set()
            self.auth.options.pop("hold")
            self.auth.options.pop("lose_reply", None)
            running.join(60)
            if not lost:  # the old refresh token was used by the request that was in flight
                with self.auth.lock:
                    stored = json.loads(self.files[0].read_text())
                    old = stored["login"]["tokens"]["refreshToken"]
                    self.auth.refresh[old] = "read"
                self.assertEqual(len(self.results()), 1)
            else:
                self.assertEqual(self.results(), [])
                self.assertEqual(self.listed()["tickets"]["state"], "needs_login")

    def test_a_kill_before_the_token_is_stored(self):
        login = Login(self.home, "tickets")
        self.auth.options["hold"] = True
        browser = threading.Thread(target=lambda: visit(login.address), daemon=True)
        browser.start()
        wait_until(lambda: self.auth.requests("/token"), what="the token request")
        self.home.kill_owner()
        self.auth.hold.set()
        self.auth.options.pop("hold")
        done = login.finish()
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.files, [])
        self.logged_in()

    def test_logout_without_revocation_and_with_a_failing_one(self):
        self.auth.options["no_revocation"] = True
        self.logged_in()
        self.assertIn("offers no revocation", self.home.run("mcp", "logout", "tickets").stdout)
        self.assertEqual(self.files, [])
        self.auth.options = {"revoke_status": 500}
        self.logged_in()
        self.assertIn("revocation not confirmed", self.home.run("mcp", "logout", "tickets").stdout)
        self.assertEqual(self.files, [])


if __name__ == "__main__":
    unittest.main()
