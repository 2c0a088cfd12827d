"""Bytes behind refs: uploads, ranges, access, secrets, retention, crashes."""

import base64
import hashlib
import http.client
import json
import os
import pathlib
import socket
import threading
import time
import unittest

from harness import Case, WAIT_SECONDS, types, wait_until

MIB = 1 << 20
SECRET = 'sk-test-"quoted"/4f9a2b8c'
OTHER = "another-secret-value"


class Outputs(Case):
    def setUp(self):
        super().setUp()
        if self.daemon:
            self.daemon.ok("create_session", sessionId="s")

    def upload(self, data, session="s", media="text/plain", **more):
        path = f"/v1/outputs?sessionId={session}" + (f"&mediaType={media}" if media else "")
        return self.daemon.request("POST", path, data, **more)

    def stored(self, data, **more):
        reply = self.upload(data, **more)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def output(self, ref, **more):
        return self.daemon.get(f"/v1/outputs/{ref}", **more)

    def blobs(self):
        return [p for p in (self.home.data / "blobs").rglob("*") if p.is_file()]

    def token(self, *scopes, session=None):
        arguments = [word for scope in scopes for word in ("--scope", scope)]
        if session:
            arguments += ["--session", session]
        done = self.home.run("token", "create", "--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["token"]


class Uploads(Outputs):
    def test_what_is_uploaded_is_read_back_with_its_type(self):
        reply = self.stored(b"hello\n")
        self.assertEqual(reply["size"], 6)
        self.assertEqual(reply["digest"], "sha256:" + hashlib.sha256(b"hello\n").hexdigest())
        got = self.output(reply["outputRef"])
        self.assertEqual((got.status, got.data), (200, b"hello\n"))
        self.assertEqual(got.headers["Content-Type"], "text/plain; charset=utf-8")
        self.assertEqual(got.headers["Cache-Control"], "private")
        self.assertEqual(got.headers["X-Content-Type-Options"], "nosniff")
        self.assertNotIn("Content-Disposition", got.headers)
        event = self.check_session("s")[-1]
        self.assertEqual((event["type"], event["sequence"]), ("output.spilled", reply["sequence"]))
        self.assertEqual(event["payload"]["preview"], "hello\n")

    def test_other_bytes_are_to_be_saved_not_shown(self):
        for media in ("text/html", "application/octet-stream", "image/svg%2Bxml"):
            ref = self.stored(b"<script>", media=media)["outputRef"]
            got = self.output(ref)
            self.assertIn("attachment", got.headers["Content-Disposition"], media)
            self.assertIn("sandbox", got.headers["Content-Security-Policy"])

    def test_the_content_type_counts_where_no_parameter_does(self):
        reply = self.upload(b"{}", media=None, headers={"Content-Type": "application/x-thing"})
        self.assertEqual(reply.json["mediaType"], "application/x-thing")
        reply = self.upload(b"", media=None, headers={"Content-Type": None})
        self.assertEqual(reply.json["mediaType"], "application/octet-stream")
        self.assertEqual(self.output(reply.json["outputRef"]).data, b"")

    def test_the_same_again_is_the_same_output(self):
        first = self.stored(b"once")
        self.assertEqual(self.stored(b"once"), first)
        with_threads = []

        def client():
            with_threads.append(self.stored(b"at once"))
            self.daemon.disconnect()

        threads = [threading.Thread(target=client) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(with_threads), 8)
        self.assertEqual(len({json.dumps(reply) for reply in with_threads}), 1)
        self.assertEqual(types(self.daemon.events("s")).count("output.spilled"), 2)
        self.assertEqual(len(self.blobs()), 2)

    def test_large_bytes_go_in_and_out_in_bounded_memory(self):
        data = os.urandom(MIB) * 48
        before = self.daemon.memory_kb()
        ref = self.stored(data, media="application/octet-stream")["outputRef"]
        got = self.output(ref)
        self.assertEqual(hashlib.sha256(got.data).digest(), hashlib.sha256(data).digest())
        self.assert_memory(24 * 1024, before)
        self.assertLess(sum(len(json.dumps(e)) for e in self.daemon.events("s")), 4096)

    def test_a_body_in_chunks_is_taken(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=WAIT_SECONDS)
        connection.request("POST", "/v1/outputs?sessionId=s", iter([b"a" * 70_000, b"b" * 5]),
                           {"Authorization": f"Bearer {self.daemon.token}"}, encode_chunked=True)
        reply = json.loads(connection.getresponse().read())
        connection.close()
        self.assertEqual(self.output(reply["outputRef"]).data, b"a" * 70_000 + b"b" * 5)

    def test_bad_uploads_are_refused_before_their_body_is_read(self):
        post = lambda path, **more: self.daemon.request("POST", path, b"x", **more)
        self.assertRefused(post("/v1/outputs"), 400, "invalid_params")
        self.assertRefused(post("/v1/outputs?sessionId=s&mediaType=no"), 400, "invalid_params")
        self.assertRefused(post("/v1/outputs?sessionId=none"), 404, "not_found")
        self.assertRefused(post("/v1/outputs?sessionId=sess_runtime"), 400, "invalid_params")
        self.assertRefused(post("/v1/outputs?sessionId=s", token=None), 401, "unauthenticated")
        self.assertRefused(post("/v1/outputs?sessionId=s", token=self.token("read")), 403,
                           "forbidden")

    def test_a_client_that_vanishes_leaves_nothing(self):
        connection = socket.create_connection(("127.0.0.1", self.daemon.port))
        connection.sendall((f"POST /v1/outputs?sessionId=s HTTP/1.1\r\nHost: localhost\r\n"
                            f"Authorization: Bearer {self.daemon.token}\r\n"
                            f"Content-Length: 1000000\r\n\r\n" + "x" * 100_000).encode())
        wait_until(self.blobs, what="the first bytes on disk")
        connection.close()
        wait_until(lambda: not self.blobs(), what="the file of a broken upload to go")
        self.assertEqual(types(self.daemon.events("s")), ["session.created"])



class AsInput(Outputs):
    def submit(self, *refs, session="s", **more):
        parts = [{"type": "text", "text": "read this"}] + [
            {"type": "output", "ref": ref} for ref in refs]
        return self.daemon.call("submit_turn", sessionId=session, input=parts, **more)

    def context(self, reply):
        events = self.daemon.wait_turn(reply.json)
        return next(e["payload"] for e in events if e["type"] == "context.resolved")

    def test_a_turn_gets_what_was_uploaded_to_its_session(self):
        kept = self.stored(b"hello\n")
        reply = self.submit(kept["outputRef"])
        self.assertEqual(reply.status, 200, reply)
        refs = self.context(reply)["workspaceRefs"]
        self.assertIn(("output:" + kept["outputRef"], kept["digest"]),
                      [(ref["ref"], ref.get("digest")) for ref in refs])

    def test_what_a_model_cannot_take_is_named_with_the_reason(self):
        large = self.stored(b"x" * MIB)["outputRef"]
        binary = self.stored(b"\0\1\2", media="application/octet-stream")["outputRef"]
        missing = {ref["ref"]: ref["reason"]
                   for ref in self.context(self.submit(large, binary))["missing"]}
        self.assertIn("larger than", missing["output:" + large])
        self.assertIn("read_file can read it", missing["output:" + large])
        self.assertIn("neither text", missing["output:" + binary])

    def test_only_outputs_of_the_session_are_accepted(self):
        self.daemon.ok("create_session", sessionId="other")
        foreign = self.stored(b"theirs", session="other")["outputRef"]
        before = len(self.daemon.events("s"))
        for ref in (foreign, "out_none", ""):
            self.assertRefused(self.submit(ref), 404, "not_found")
        self.assertRefused(self.submit(foreign, session="new"), 404, "not_found")
        self.assertRefused(self.daemon.get("/v1/sessions/new"), 404, "not_found")
        self.assertEqual(len(self.daemon.events("s")), before)
        for part in ({"type": "output"}, {"type": "output", "ref": foreign, "text": "x"},
                     {"type": "output", "path": "a"}, {"type": "text", "text": "a", "ref": "b"}):
            reply = self.daemon.call("submit_turn", sessionId="s", input=[part])
            self.assertRefused(reply, 400, "invalid_params")

    def test_a_repeated_turn_gets_the_same_reply(self):
        ref = self.stored(b"hello\n")["outputRef"]
        first = self.submit(ref, turnId="t")
        self.assertEqual(first.status, 200, first)
        self.assertEqual(self.submit(ref, turnId="t").json, first.json)

    def test_run_uploads_files_from_anywhere(self):
        outside = self.home.folder / "outside.txt"
        outside.write_text("from outside\n")
        inside = self.home.workspace / "inside.txt"
        inside.write_text("from inside\n")
        for words in (["--session", "s"], []):
            done = self.home.run("run", *words, "--json", "--file", outside, "--file", inside,
                                 "look")
            self.assertEqual(done.returncode, 0, done)
            events = [json.loads(line) for line in done.stdout.splitlines()]
            submitted = next(e for e in events if e["type"] == "turn.submitted")["payload"]
            self.assertEqual([part["type"] for part in submitted["input"]],
                             ["text", "text", "output", "file"])
            self.assertIn(str(outside), submitted["input"][1]["text"])
            self.assertEqual(self.output(submitted["input"][2]["ref"]).data, b"from outside\n")
            if not words:
                self.assertEqual(events[0]["type"], "session.created")
        before = len(self.daemon.ok("list_sessions")["data"])
        done = self.home.run("run", "--file", "/proc/self/mem", "look")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("cannot be read", done.stderr)
        self.assertEqual(len(self.daemon.ok("list_sessions")["data"]), before)


class Reads(Outputs):
    def test_ranges(self):
        data = bytes(range(256)) * 4096
        ref = self.stored(data, media="application/octet-stream")["outputRef"]
        ask = lambda value, **more: self.output(ref, headers={"Range": value, **more})
        for value, part in [("bytes=0-0", data[:1]), ("bytes=10-19", data[10:20]),
                            ("bytes=1000000-", data[1000000:]), ("bytes=-7", data[-7:]),
                            ("bytes=0-99999999", data), ("bytes=5-700000", data[5:700001])]:
            got = ask(value)
            self.assertEqual((got.status, got.data), (206, part), value)
            self.assertEqual(got.headers["Content-Length"], str(len(part)))
        self.assertEqual(ask("bytes=10-19").headers["Content-Range"], f"bytes 10-19/{len(data)}")
        for value in (f"bytes={len(data)}-", "bytes=-0"):
            got = ask(value)
            self.assertEqual(got.status, 416, value)
            self.assertEqual(got.headers["Content-Range"], f"bytes */{len(data)}")
        for value in ("bytes=5-2", "lines=1-2", "bytes=1-2,4-5", "bytes=x"):
            self.assertEqual(ask(value).status, 200, value)
        etag = self.output(ref).headers["ETag"]
        self.assertEqual(ask("bytes=0-1", **{"If-Range": etag}).status, 206)
        self.assertEqual(ask("bytes=0-1", **{"If-Range": '"other"'}).status, 200)
        self.assertEqual(self.output(ref, headers={"If-None-Match": etag}).status, 304)
        head = self.daemon.request("HEAD", f"/v1/outputs/{ref}")
        self.assertEqual((head.status, head.data), (200, b""))
        self.assertEqual(head.headers["Content-Length"], str(len(data)))

    def test_a_ref_is_no_capability(self):
        self.daemon.ok("create_session", sessionId="other")
        ref = self.stored(b"for s alone")["outputRef"]
        self.assertEqual(self.output(ref, token=self.token("read", session="s")).status, 200)
        bound = self.token("read", "submit", session="other")
        self.assertRefused(self.output(ref, token=bound), 404, "not_found")
        self.assertRefused(self.output(ref, token=None), 401, "unauthenticated")
        self.assertRefused(self.output(ref, token=self.token("submit")), 403, "forbidden")
        self.assertRefused(self.upload(b"x", token=bound), 403, "forbidden")
        self.assertEqual(self.upload(b"x", session="other", token=bound).status, 200)
        self.assertRefused(self.output("out_none"), 404, "not_found")

    def test_readers_that_do_not_read_cost_no_thread(self):
        data = os.urandom(MIB) * 8
        ref = self.stored(data, media="application/octet-stream")["outputRef"]
        idle = []
        for _ in range(20):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", self.daemon.port))
            reader.sendall((f"GET /v1/outputs/{ref} HTTP/1.1\r\nHost: localhost\r\n"
                            f"Authorization: Bearer {self.daemon.token}\r\n\r\n").encode())
            idle.append(reader)
        started = time.monotonic()
        self.assertEqual(self.output(ref).data, data)
        self.stored(b"and an upload")
        self.assertLess(time.monotonic() - started, 10)
        for reader in idle:
            reader.close()

    def test_damaged_bytes_are_told_and_mended_by_sending_them_again(self):
        ref = self.stored(b"the whole of it")["outputRef"]
        blob, = self.blobs()
        self.assertEqual(oct(blob.stat().st_mode & 0o777), oct(0o600))
        blob.write_bytes(b"the whole of IT")
        self.assertRefused(self.output(ref), 500, "internal")
        blob.write_bytes(b"the")
        self.assertRefused(self.output(ref), 500, "internal")
        blob.unlink()
        self.assertRefused(self.output(ref), 500, "internal")
        self.assertEqual(self.stored(b"the whole of it")["outputRef"], ref)
        self.assertEqual(self.output(ref).data, b"the whole of it")


class UploadLimit(Outputs):
    config = "[outputs]\nupload_bytes_max = 100000\n"

    def test_an_upload_past_the_limit_is_too_large(self):
        self.assertRefused(self.upload(b"x" * 100_001), 413, "too_large")
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=WAIT_SECONDS)
        try:
            connection.request("POST", "/v1/outputs?sessionId=s", iter([b"x" * 50_000] * 4),
                               {"Authorization": f"Bearer {self.daemon.token}"},
                               encode_chunked=True)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was refused before everything was sent
        self.assertEqual(connection.getresponse().status, 413)
        connection.close()
        self.stored(b"x" * 100_000)
        wait_until(lambda: len(self.blobs()) == 1, what="refused uploads to leave nothing")


class Secrets(Outputs):
    """A secret value appears nowhere: not in the data folder, the streams or the metrics."""

    daemon_at_start = False
    config = '[redact]\nnames = ["MY_TOKEN", "UNSET", "TINY"]\n'
    scripts = {"main": [{"text": f"Your key is {SECRET}. Keep it. {OTHER}", "deltas": 37,
                         "reasoning": f"It is {SECRET}!"}]}

    def setUp(self):
        super().setUp()
        toml = self.home.folder / "config/agentrt/config.toml"
        toml.write_text(toml.read_text().replace(
            'provider = "script"\n', 'provider = "script"\napi_key_env = "KEY_OF_MODEL"\n'))
        self.home.environment |= {"MY_TOKEN": SECRET, "KEY_OF_MODEL": OTHER, "TINY": "text"}
        self.start()
        self.daemon.ok("create_session", sessionId="s", title=f"about {SECRET}",
                       metadata={"note": OTHER, OTHER: 1})

    def assertNowhere(self):
        forms = [value.encode() for value in (SECRET, OTHER)]
        forms += [json.dumps(SECRET)[1:-1].encode()]
        forms += [base64.b64encode(b"x" * n + SECRET.encode())[4:-4] for n in range(3)]
        for path in pathlib.Path(self.home.data).rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                for form in forms:
                    self.assertNotIn(form, data, f"{form!r} in {path}")
        shown = json.dumps(self.daemon.events("s"))
        shown += json.dumps(self.daemon.ok("get_session", sessionId="s"))
        shown += self.daemon.get("/metrics").data.decode()
        for form in forms:
            self.assertNotIn(form.decode(), shown)
        self.assertNotIn(SECRET, self.daemon.stderr())

    def test_text_that_streams_in_pieces_does_not_let_a_secret_through(self):
        turn = self.daemon.submit(f"my key: {SECRET}", sessionId="s", idempotencyKey="k")
        self.daemon.wait_turn(turn)
        events = self.check_session("s")
        text = "".join(e["payload"]["text"] for e in events if e["type"] == "model.delta")
        self.assertEqual(text, "Your key is [redacted:MY_TOKEN]. Keep it. [redacted:KEY_OF_MODEL]")
        completed = next(e for e in events if e["type"] == "model.completed")
        self.assertEqual(completed["payload"]["text"], text)
        submitted = next(e for e in events if e["type"] == "turn.submitted")
        self.assertEqual(submitted["payload"]["input"][0]["text"], "my key: [redacted:MY_TOKEN]")
        self.assertNowhere()
        self.crash()
        self.start()
        self.assertEqual(self.daemon.submit(f"my key: {SECRET}", sessionId="s",
                                            idempotencyKey="k"), turn)
        self.assertNowhere()

    def test_commands_that_print_a_secret_bit_by_bit_do_not_let_it_through(self):
        half = len(OTHER) // 2
        command = (f"printf %s {OTHER[:half]}; sleep 0.3; printf %s {OTHER[half:]}; echo; "
                   f"for i in $(seq 2000); do printf 'line {OTHER[:half]}'; echo {OTHER[half:]}; "
                   f"done; printf {OTHER[:half]}")
        script = self.home.script("shell", [
            {"text": "Now.", "toolCalls": [{"name": "shell", "args": {"command": command}}]},
            {"text": "Done."}])
        turn = self.daemon.submit("go", sessionId="s", options={
            "model": f"script:{script}", "mode": "bypass", "cwd": str(self.home.workspace)})
        self.daemon.wait_turn(turn, seconds=30)
        events = self.check_session("s")
        text = "".join(e["payload"]["text"] for e in events if e["type"] == "process.output")
        self.assertTrue(text.startswith("[redacted:KEY_OF_MODEL]\nline [redacted:KEY_OF_MODEL]\n"))
        spilled = next(e for e in events if e["type"] == "output.spilled" and "toolCallId" in e)
        self.assertTrue(spilled["payload"]["redacted"])
        self.assertEqual(spilled["turnId"], turn["turnId"])
        got = self.output(spilled["payload"]["outputRef"]).data
        self.assertEqual(got, b"[redacted:KEY_OF_MODEL]\n"
                         + b"line [redacted:KEY_OF_MODEL]\n" * 2000 + OTHER[:half].encode())
        self.assertNowhere()

    def test_uploads_are_redacted_across_borders_and_in_other_spellings(self):
        filler = b"." * 65_530
        data = (filler + SECRET.encode() + filler + json.dumps({"k": SECRET}).encode() + filler
                + base64.b64encode(b"ab" + OTHER.encode() + b"cd"))
        reply = self.stored(data, media="text/plain")
        got = self.output(reply["outputRef"]).data
        self.assertTrue(got.startswith(filler + b"[redacted:MY_TOKEN]" + filler + b'{"k": "[red'))
        self.assertIn(b"[redacted:KEY_OF_MODEL]", got)
        self.assertEqual(reply["digest"], "sha256:" + hashlib.sha256(got).hexdigest())
        self.assertEqual(types(self.daemon.events("s"))[-2:], ["output.spilled", "output.redacted"])
        self.assertNowhere()

    def test_a_secret_cannot_be_an_id_or_a_key(self):
        self.assertRefused(self.daemon.call("create_session", sessionId=OTHER), 400,
                           "invalid_params")
        self.assertRefused(self.daemon.call("create_session", idempotencyKey=SECRET), 400,
                           "invalid_params")
        self.daemon.request("POST", "/v1/commands/update_session",
                            {"sessionId": "s", "title": "x"}, headers={"X-Request-Id": OTHER})
        self.assertNowhere()

    def test_words_of_the_runtime_that_happen_to_be_secrets_harm_nothing(self):
        self.daemon.stop()
        self.daemon.errors.close()
        self.home.environment["MY_TOKEN"] = "completed"
        self.start()
        self.daemon.wait_turn(self.daemon.submit("it was completed", sessionId="s"))
        text = next(e for e in self.check_session("s") if e["type"] == "turn.submitted")
        self.assertEqual(text["payload"]["input"][0]["text"], "it was [redacted:MY_TOKEN]")


class Retention(Outputs):
    config = "[outputs]\nbytes_max = 2500000\n"

    def test_beyond_the_bound_the_oldest_go_and_their_room_is_free(self):
        refs = [self.stored(os.urandom(MIB), media="application/octet-stream")["outputRef"]
                for _ in range(4)]
        self.crash()
        self.start()  # every start runs a sweep
        wait_until(lambda: len(self.blobs()) == 2, what="two blobs to go")
        for ref in refs[:2]:
            self.assertRefused(self.output(ref), 410, "expired")
        for ref in refs[2:]:
            self.assertEqual(self.output(ref).status, 200)
        self.assertLess(sum(p.stat().st_size for p in self.blobs()), 2_500_000)
        events = self.check_session("s")
        self.assertEqual(types(events)[-2:], ["output.expired"] * 2)
        self.assertEqual(events[-1]["payload"]["reason"], "room")
        self.assertEqual(self.daemon.metrics_value("outputs_expired"), 2)

    def test_what_a_crash_left_without_a_name_goes_after_a_day(self):
        kept = self.stored(b"kept")["outputRef"]
        for age, name in ((2 * 86_400, "old"), (3_600, "young")):
            digest = hashlib.sha256(name.encode()).hexdigest()
            blob = self.home.data / "blobs" / digest[:2] / digest[2:]
            blob.parent.mkdir(exist_ok=True)
            blob.write_bytes(name.encode())
            os.utime(blob, (time.time() - age,) * 2)
        for blob in self.blobs():
            if blob.read_bytes() == b"kept":
                os.utime(blob, (0, 0))
        half = self.home.data / "blobs/new/99"
        half.write_bytes(b"half of something")
        self.crash()
        self.start()
        wait_until(lambda: len(self.blobs()) == 2, what="the old one to go")
        self.assertEqual({p.read_bytes() for p in self.blobs()}, {b"kept", b"young"})
        self.assertEqual(self.output(kept).data, b"kept")


class Expiry(Outputs):
    config = "[outputs]\nkeep_days = 0\n"

    def test_a_time_that_is_over_is_said_at_once_and_the_bytes_go(self):
        ref = self.stored(b"not for long")["outputRef"]
        self.assertRefused(self.output(ref), 410, "expired")
        self.crash()
        self.start()
        wait_until(lambda: not self.blobs(), what="the bytes to go")
        self.assertEqual(types(self.daemon.events("s"))[-1], "output.expired")
        again = self.stored(b"not for long")["outputRef"]
        self.assertNotEqual(again, ref)


class Kills(Outputs):
    config = "[outputs]\nbytes_max = 600000\n"

    def test_killed_at_any_moment_what_was_answered_is_there_and_nothing_dangles(self):
        answered = {}
        for round_ in range(6):
            stop = threading.Event()

            def client(number, daemon=self.daemon, round_=round_, stop=stop):
                count = 0
                while not stop.is_set():
                    data = f"{round_} {number} {count} ".encode() * 2000
                    count += 1
                    try:
                        reply = daemon.request("POST", "/v1/outputs?sessionId=s", data)
                        if reply.status == 200:
                            answered[reply.json["outputRef"]] = data
                    except (OSError, http.client.HTTPException):
                        break
                daemon.disconnect()

            threads = [threading.Thread(target=client, args=(n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(0.05 + 0.07 * round_)
            self.crash()
            stop.set()
            for thread in threads:
                thread.join()
            self.start()
        self.assertGreater(len(answered), 6)
        spilled = {e["payload"]["outputRef"] for e in self.daemon.events("s")
                   if e["type"] == "output.spilled"}
        self.assertLessEqual(set(answered), spilled)
        for ref in spilled:
            got = self.output(ref)
            self.assertIn(got.status, (200, 410), got)
            if got.status == 200 and ref in answered:
                self.assertEqual(got.data, answered[ref])


if __name__ == "__main__":
    unittest.main()
