"""The inspector page from outside: its files and headers, `agentrt open`, login codes, tokens that
expire. What it looks like in a browser is tested in tests/page."""

import concurrent.futures
import gzip
import json
import re
import time
import unittest

from harness import Case, Daemon

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
          "require-trusted-types-for 'script'; trusted-types 'none'")
FIRST_LOAD_BYTES_MAX = 100_000
ALL_BYTES_MAX = 350_000


class PageFiles(Case):
    def fetch(self, path, **headers):
        return self.daemon.get(path, token=None, headers={"Accept-Encoding": "gzip", **headers})

    def test_the_page_needs_no_token_and_contains_no_data(self):
        self.daemon.wait_turn(self.daemon.submit("a secret prompt"))
        page = self.fetch("/")
        self.assertEqual(page.status, 200)
        self.assertEqual(page.headers["Cache-Control"], "no-store")
        self.assertEqual(page.headers["Content-Type"], "text/html;charset=utf-8")
        html = gzip.decompress(page.data).decode()
        self.assertNotIn("secret prompt", html)
        self.assertNotIn("<style", html)
        self.assertIsNone(re.search(r"<script(?![^>]*\bsrc=)", html), "no inline script")
        names = re.findall(r'"/assets/([^"]+)"', html)
        self.assertEqual(len(names), 3)
        for path in ["/", *(f"/assets/{name}" for name in names)]:
            with self.subTest(path):
                reply = self.fetch(path)
                self.assertEqual(reply.status, 200)
                self.assertEqual(reply.headers["Content-Security-Policy"], POLICY)
                self.assertEqual(reply.headers["Referrer-Policy"], "no-referrer")
                self.assertEqual(reply.headers["Cross-Origin-Opener-Policy"], "same-origin")
                self.assertEqual(reply.headers["Cross-Origin-Resource-Policy"], "same-origin")
                self.assertEqual(reply.headers["Content-Encoding"], "gzip")
                plain = self.daemon.get(path, token=None, headers={"Accept-Encoding": "identity"})
                self.assertEqual(plain.data, gzip.decompress(reply.data))
        for name in names:
            self.assertRegex(name, r"^\w+-[0-9A-Z]{8}\.\w+$")
            self.assertEqual(self.fetch(f"/assets/{name}").headers["Cache-Control"],
                             "public, max-age=31536000, immutable")
        self.assertEqual(self.fetch("/assets/none.js").code, "not_found")

    def test_the_page_is_small(self):
        html = gzip.decompress(self.fetch("/").data).decode()
        first = [f"/assets/{name}" for name in re.findall(r'"/assets/([^"]+)"', html)]
        replies = {path: self.fetch(path).data for path in ["/", *first]}
        self.assertLess(sum(map(len, replies.values())), FIRST_LOAD_BYTES_MAX)
        chunks = set()
        for data in list(replies.values()):
            chunks |= set(re.findall(r'"\./([\w-]+\.js)"', gzip.decompress(data).decode()))
        self.assertTrue(chunks, "the terminal is loaded on demand")
        for name in chunks:
            replies[name] = self.fetch(f"/assets/{name}").data
        self.assertLess(sum(map(len, replies.values())), ALL_BYTES_MAX)


class SignIn(Case):
    def code(self, token=..., **params):
        return self.daemon.request("POST", "/v1/login-codes", params, token=token)

    def login(self, code):
        return self.daemon.request("POST", "/v1/login", {"code": code}, token=None)

    def token(self, **params):
        return self.daemon.request("POST", "/v1/tokens", params).json

    def test_open_prints_a_link_that_works_once(self):
        done = self.home.run("open")
        self.assertEqual(done.returncode, 0, done.stderr)
        link = re.fullmatch(rf"http://127\.0\.0\.1:{self.daemon.port}/#login=([0-9a-f]{{64}})\n",
                            done.stdout)
        self.assertTrue(link, done.stdout)
        self.assertIn("works once, within 60 s, with scopes read, submit, approve", done.stderr)
        login = self.login(link[1])
        self.assertEqual(login.status, 200)
        own = self.daemon.get("/v1/token", token=login.json["token"]).json
        self.assertEqual(own["tokenId"], login.json["tokenId"])
        self.assertEqual(own["scopes"], ["read", "submit", "approve"])
        self.assertEqual(self.login(link[1]).code, "unauthenticated")

    def test_open_names_a_session_and_scopes(self):
        self.daemon.ok("create_session", sessionId="demo")
        done = self.home.run("open", "demo", "--scope", "read", "--json")
        reply = json.loads(done.stdout)
        self.assertRegex(reply["url"], r"#login=[0-9a-f]{64}&session=demo$")
        self.assertEqual(reply["scopes"], ["read"])
        self.assertEqual(self.home.run("open", "nothing").returncode, 1)
        for wrong in ("admin", "everything"):
            done = self.home.run("open", "--scope", wrong)
            self.assertEqual(done.returncode, 2)
            self.assertIn("read, submit, approve", done.stderr)

    def test_the_browser_gets_the_link_through_a_file_of_the_user(self):
        folder = self.home.folder / "bin"
        folder.mkdir()
        (folder / "xdg-open").write_text('#!/bin/sh\necho "$@" > "$HOME/asked"\n')
        (folder / "xdg-open").chmod(0o755)
        done = self.home.run("open", "--browser", PATH=f"{folder}:/usr/bin:/bin")
        self.assertEqual(done.returncode, 0, done.stderr)
        path = self.home.data / "open.html"
        self.assertEqual((self.home.folder / "asked").read_text().strip(), str(path))
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        self.assertIn(done.stdout.strip(), path.read_text())

    def test_of_two_logins_with_one_code_one_wins(self):
        for _ in range(5):
            code = self.code().json["code"]
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                found = [each.status for each in pool.map(lambda _: self.login(code), range(8))]
            self.assertEqual(sorted(found), [200] + [401] * 7)

    def test_a_login_is_never_wider_than_the_token_that_asked(self):
        self.daemon.ok("create_session", sessionId="own")
        narrow = self.token(scopes=["read"], sessionId="own", expiresAt="2099-01-01T00:00:00.000Z")
        self.assertEqual(self.code(narrow["token"], scopes=["submit"]).code, "forbidden")
        self.assertEqual(self.code(scopes=["admin"]).code, "forbidden")
        self.assertEqual(self.code(scopes=["root"]).code, "invalid_params")
        issued = self.code(narrow["token"]).json
        self.assertEqual(issued["scopes"], ["read"])
        login = self.login(issued["code"]).json
        self.assertEqual(login["sessionId"], "own")
        self.assertLess(login["expiresAt"], "2099")
        self.assertEqual(self.daemon.get("/v1/sessions", token=login["token"]).code, "forbidden")
        self.assertEqual(self.daemon.get("/v1/sessions/own", token=login["token"]).status, 200)

    def test_sixteen_codes_may_be_open(self):
        codes = [self.code().json["code"] for _ in range(16)]
        self.assertEqual(self.code().code, "limit_exceeded")
        self.assertEqual(self.login(codes[3]).status, 200)
        self.assertEqual(self.code().status, 200)

    def test_signing_out_revokes_the_token(self):
        token = self.login(self.code().json["code"]).json["token"]
        self.assertEqual(self.daemon.request("DELETE", "/v1/token", token=token).status, 200)
        self.assertEqual(self.daemon.get("/v1/token", token=token).code, "unauthenticated")
        self.assertEqual(self.daemon.request("DELETE", "/v1/token").code, "conflict")
        self.assertEqual(self.daemon.get("/v1/token").json,
                         {"tokenId": "local", "scopes": ["admin"]})

    def test_a_restart_voids_codes_and_keeps_logins(self):
        code = self.code().json["code"]
        token = self.login(self.code().json["code"]).json["token"]
        self.daemon.kill()
        self.daemon = Daemon(self.home)
        self.assertEqual(self.login(code).code, "unauthenticated")
        self.assertEqual(self.daemon.get("/v1/token", token=token).status, 200)

    def test_a_token_expires_and_its_stream_ends(self):
        done = self.home.run("token", "create", "--scope", "read", "--expires", "2s", "--json")
        created = json.loads(done.stdout)
        self.daemon.ok("create_session", sessionId="s")
        started = time.monotonic()
        with self.daemon.stream("s", Authorization=f"Bearer {created['token']}") as stream:
            self.assertEqual([event["type"] for event in stream.events()], ["session.created"])
        self.assertLess(time.monotonic() - started, 4)
        reply = self.daemon.get("/v1/sessions/s", token=created["token"])
        self.assertEqual(reply.code, "unauthenticated")
        self.assertIn("expired", self.home.run("token", "list").stdout)
        for wrong in ("12", "h", "0s", "-1h", "1.5h"):
            self.assertEqual(self.home.run("token", "create", "--scope", "read",
                                           f"--expires={wrong}").returncode, 2, wrong)
        past = self.daemon.request("POST", "/v1/tokens",
                                   {"scopes": ["read"], "expiresAt": "2001-01-01T00:00:00.000Z"})
        self.assertEqual(past.code, "invalid_params")


class WithoutDaemon(Case):
    daemon_at_start = False

    def test_open_needs_a_daemon_that_listens(self):
        done = self.home.run("open")
        self.assertEqual(done.returncode, 4)
        self.assertIn("agentrt serve", done.stderr)
        self.home.run("sessions")  # starts a background owner, which listens on no port
        self.assertEqual(self.home.run("open").returncode, 4)


if __name__ == "__main__":
    unittest.main()
