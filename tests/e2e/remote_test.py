"""TLS, and commands that reach a runtime on another machine: here, this one by its https address."""

import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import unittest

from chat_test import ChatTerminal
from harness import BINARY, Case, Home, wait_until
from websocket import WebSocket, trusting


def make_certificate(folder, name="cert", days=2):
    """A self-signed certificate for localhost and 127.0.0.1, and its key."""
    certificate, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", str(days),
                    "-subj", "/CN=localhost", "-addext",
                    "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", str(key), "-out", str(certificate)],
                   check=True, capture_output=True)
    return certificate, key


class Remote(Case):
    """The client has a home of its own; only the URL, the token and the certificate are shared."""

    scripts = {"main": [{"text": "Hello from afar."}]}
    judged = False  # the daemon is reached over TLS only

    def setUp(self):
        self.home = Home(self.scripts)
        self.addCleanup(self.home.remove)
        self.certificate, self.key = make_certificate(self.home.folder)
        self.process = self.serve("--tls-cert", self.certificate, "--tls-key", self.key)
        self.client = Home({})
        self.addCleanup(self.client.remove)
        token = (self.home.data / "token").read_text().strip()
        self.token_file = self.client.folder / "token"
        self.token_file.write_text(token + "\n")
        self.token = token

    def tearDown(self):
        pass

    def serve(self, *arguments):
        errors = open(self.home.folder / "stderr", "w")
        self.addCleanup(errors.close)
        process = subprocess.Popen(
            [BINARY, "serve", *(("--listen", "127.0.0.1:0") if "--listen" not in arguments else ()),
             *map(str, arguments)],
            cwd=self.home.workspace, env=self.home.environment, text=True,
            stdout=subprocess.PIPE, stderr=errors)
        line = process.stdout.readline()
        self.assertRegex(line, r"^listening on https://127\.0\.0\.1:\d+\n$")
        self.url = line.split()[-1]
        self.port = int(self.url.rsplit(":", 1)[1])

        def end():
            process.kill()
            process.wait()
            process.stdout.close()

        self.addCleanup(end)
        return process

    def run_client(self, *arguments, **more):
        return self.client.run(*arguments, "--remote", self.url, "--token-file", self.token_file,
                               "--ca-file", self.certificate, **more)

    def test_the_verbs_work_over_https(self):
        done = self.run_client("run", "--session", "demo", "--new", "hello")
        self.assertEqual((done.returncode, done.stdout.strip()), (0, "Hello from afar."),
                         done.stderr)
        listed = self.run_client("sessions", "--json")
        self.assertIn('"demo"', listed.stdout)
        called = self.run_client("call", "get_session", '{"sessionId":"demo"}')
        self.assertEqual(called.returncode, 0, called.stderr)
        reply = self.run_client("rpc", stdin='{"jsonrpc":"2.0","id":1,"method":"list_sessions"}\n')
        self.assertEqual(json.loads(reply.stdout)["result"]["data"][0]["sessionId"], "demo")
        events = self.run_client("events", "demo", "--json").stdout.splitlines()
        self.assertEqual(json.loads(events[-1])["type"], "task.completed")
        # Before the verb too, and with the token in the environment.
        early = self.client.run("--remote", self.url, "--ca-file", self.certificate, "sessions",
                                AGENTRT_TOKEN=self.token)
        self.assertIn("demo", early.stdout)
        self.assertFalse((self.client.data / "owner.json").exists())  # nothing was started here

    def test_a_file_of_this_machine_is_uploaded(self):
        note = self.client.workspace / "note.txt"
        note.write_text("the word is marmalade\n")
        done = self.run_client("run", "--session", "f", "--new", "--file", note, "read it")
        self.assertEqual(done.returncode, 0, done.stderr)
        events = self.run_client("events", "f", "--json").stdout
        self.assertIn("note.txt, uploaded", events)

    def test_a_name_in_the_configuration_says_where_and_with_which_token(self):
        config = self.client.folder / "config/agentrt/config.toml"
        config.write_text(f'[remotes.box]\nurl = "{self.url}"\ntoken_env = "BOX"\n'
                          f'ca_file = "{self.certificate}"\n')
        done = self.client.run("sessions", "--remote", "box", BOX=self.token)
        self.assertEqual(done.returncode, 0, done.stderr)
        unknown = self.client.run("sessions", "--remote", "bax", BOX=self.token)
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("configured: box", unknown.stderr)

    def test_what_is_wrong_has_its_exit_code_and_its_advice(self):
        run, token = self.client.run, {"AGENTRT_TOKEN": self.token}
        trust = ("--ca-file", self.certificate)
        cases = (
            (2, "https", run("sessions", "--remote", "http://box.example:1", **token)),
            (2, "--token-file or AGENTRT_TOKEN", run("sessions", "--remote", self.url, *trust)),
            (2, "--token-file or AGENTRT_TOKEN",
             run("sessions", "--remote", "https://u:secret-1@127.0.0.1:1", **token)),
            (2, "drop", run("sessions", "--remote", self.url, "--data", "x", **token)),
            (2, "drop --remote", run("serve", "--remote", self.url, **token)),
            (2, "--remote", run("sessions", *trust)),
            (4, "Check the address", run("sessions", "--remote", "https://127.0.0.1:9", **token)),
            (4, "--ca-file", run("sessions", "--remote", self.url, **token)),
            (4, "create one on that machine",
             run("sessions", "--remote", self.url, *trust, AGENTRT_TOKEN="x" * 40)),
        )
        for code, words, done in cases:
            with self.subTest(words):
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertNotIn("secret-1", done.stderr)

    def test_certificates_that_cannot_be_used_stop_the_start(self):
        other = make_certificate(self.home.folder, "other")
        for arguments in (("--tls-cert", "/none", "--tls-key", self.key),
                          ("--tls-cert", self.certificate, "--tls-key", other[1]),
                          ("--tls-cert", self.certificate)):
            done = self.client.run("serve", "--listen", "127.0.0.1:0", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
        beyond = self.client.run("serve", "--listen", "0.0.0.0:0")
        self.assertEqual(beyond.returncode, 2)
        self.assertIn("--allow-remote", beyond.stderr)

    def test_a_hangup_reads_the_certificate_again_and_keeps_it_if_it_is_bad(self):
        good = self.certificate.read_bytes()
        self.certificate.write_text("broken")
        os.kill(self.process.pid, signal.SIGHUP)
        stderr = self.home.folder / "stderr"
        wait_until(lambda: "stays" in stderr.read_text(), what="the refusal")
        self.certificate.write_bytes(good)
        self.assertEqual(self.run_client("sessions").returncode, 0)
        renewed, renewed_key = make_certificate(self.home.folder, "renewed")
        self.key.write_bytes(renewed_key.read_bytes())
        self.certificate.write_bytes(renewed.read_bytes())
        os.kill(self.process.pid, signal.SIGHUP)
        wait_until(lambda: "read again" in stderr.read_text(), what="the new certificate")
        self.assertEqual(ssl.get_server_certificate(("127.0.0.1", self.port)).strip(),
                         renewed.read_text().strip())
        self.assertEqual(self.run_client("sessions").returncode, 0)
        self.assertIsNone(self.process.poll())

    def test_a_websocket_over_tls_gives_the_stored_bytes(self):
        with WebSocket(port=self.port, token=self.token,
                       context=trusting(self.certificate)) as socket:
            socket.call("create_session", sessionId="s")
            socket.call("subscribe", sessionId="s", after=0)
            socket.call("submit_turn", sessionId="s",
                        input=[{"type": "text", "text": "x" * 200_000}])
            seen = []
            for raw, event in socket.events():
                seen.append(raw)
                if event["type"] == "task.completed":
                    break
        stored = self.run_client("events", "s", "--json").stdout.splitlines()
        self.assertEqual(seen, stored[:len(seen)])

    def test_a_client_that_stalls_its_handshake_disturbs_no_other(self):
        stalled = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(20)]
        self.addCleanup(lambda: [each.close() for each in stalled])
        stalled[0].sendall(b"\x16\x03")
        self.assertEqual(self.run_client("sessions").returncode, 0)
        for each in stalled:
            each.settimeout(20)
        self.assertEqual(stalled[0].recv(1), b"")  # after 10 s


    def test_attach_at_a_terminal_survives_the_end_of_the_daemon(self):
        self.run_client("run", "--session", "demo", "--new", "hello")
        terminal = ChatTerminal(
            ClientCase(self, self.client), "demo", "--remote", self.url, "--token-file",
            str(self.token_file), "--ca-file", str(self.certificate), words=("attach",))
        terminal.shows("Hello from afar.")
        self.process.kill()
        self.process.wait()
        terminal.sees("reconnecting")
        self.serve("--listen", f"127.0.0.1:{self.port}", "--tls-cert", self.certificate,
                   "--tls-key", self.key)
        terminal.gone("reconnecting")
        self.run_client("run", "--session", "demo", "again")
        terminal.until(lambda: terminal.screen.all_text().count("Hello from afar.") == 2,
                       "the second answer")
        terminal.type("\x04")
        terminal.end()
        self.assertIn("come back with: agentrt attach demo", terminal.screen.all_text())
        self.assertEqual(terminal.screen.all_text().count("Hello from afar."), 2)


class ClientCase:
    """Gives a terminal the home of the client."""

    def __init__(self, case, home):
        self.home, self.addCleanup, self.fail = home, case.addCleanup, case.fail


class Attach(Case):
    scripts = {"main": [{"text": "An answer."}]}

    def attach(self, *arguments):
        process = subprocess.Popen([BINARY, "attach", *arguments], env=self.home.environment,
                                   cwd=self.home.workspace, stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def end():
            process.kill()
            process.communicate()

        self.addCleanup(end)
        return process

    def lines_of(self, process):
        lines = []

        def read():
            for line in process.stdout:
                lines.append(line.rstrip("\n"))

        threading.Thread(target=read, daemon=True).start()
        return lines

    def test_it_never_creates_a_session(self):
        done = self.home.run("attach", "none")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("none", done.stderr)
        self.assertEqual(self.daemon.ok("list_sessions")["data"], [])

    def test_json_prints_the_events_byte_for_byte_across_kills(self):
        self.daemon.wait_turn(self.daemon.submit(sessionId="s"))
        lines = self.lines_of(self.attach("s", "--json"))
        wait_until(lambda: len(lines) >= len(self.daemon.events("s")), what="the first turn")
        for _ in range(2):
            self.crash()
            self.start()
            self.daemon.wait_turn(self.daemon.submit(sessionId="s"))
        expected = self.daemon.events("s")
        wait_until(lambda: len(lines) >= len(expected), what="the later turns", seconds=60)
        sequences = [json.loads(line)["sequence"] for line in lines]
        self.assertEqual(sequences, list(range(1, len(sequences) + 1)))
        page = self.daemon.get("/v1/sessions/s/events?limit=1000").data.decode()
        for line in lines:
            self.assertIn(line, page)

    def test_without_a_terminal_it_shows_turns_of_others_and_reads_nothing(self):
        self.daemon.wait_turn(self.daemon.submit(sessionId="s", threadId="main", text="one"))
        process = self.attach("s")
        lines = self.lines_of(process)
        wait_until(lambda: "".join(lines).count("An answer.") == 1, what="the last turn")
        self.daemon.wait_turn(self.daemon.submit(sessionId="s", threadId="main", text="two"))
        wait_until(lambda: "".join(lines).count("An answer.") == 2, what="the live turn")
        self.assertIsNone(process.poll())
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=15)


    def test_at_a_terminal_it_is_a_conversation_on_the_session(self):
        self.daemon.wait_turn(self.daemon.submit(sessionId="demo", threadId="main", text="one"))
        terminal = ChatTerminal(self, "demo", words=("attach",))

        def answers(count):
            terminal.until(lambda: terminal.screen.all_text().count("An answer.") == count,
                           f"answer {count}")

        answers(1)
        terminal.type("go on\r")
        answers(2)
        self.daemon.wait_turn(self.daemon.submit(sessionId="demo", threadId="main",
                                                   text="from elsewhere"))
        answers(3)
        terminal.type("\x04")
        terminal.end()
        self.assertIn("come back with: agentrt attach demo", terminal.screen.all_text())


if __name__ == "__main__":
    unittest.main()
