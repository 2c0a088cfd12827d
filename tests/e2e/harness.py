"""A daemon in its own folder, and the ways a client reaches it.

Nothing here depends on the program's internals: it starts the binary named by AGENTRT_BIN, speaks
HTTP to it, reads its streams and kills it. Every wait has a deadline, so a hang is a failure.
"""

import atexit
import contextlib
import http.client
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest

import stream_checker

BINARY = os.environ.get("AGENTRT_BIN", "build/release/agentrt")
SANITIZED = "AGENTRT_SANITIZED" in os.environ
START_SECONDS = 15
WAIT_SECONDS = 15

DEFAULT_SCRIPTS = {
    "main": [{"text": "Hello from the script.", "deltas": 4,
              "usage": {"inputTokens": 10, "outputTokens": 5}}],
}


class Reply:
    def __init__(self, status, headers, data):
        self.status, self.headers, self.data = status, headers, data

    @property
    def json(self):
        return json.loads(self.data)

    @property
    def code(self):
        """The error code of an error reply."""
        return self.json["error"]["code"]

    def __repr__(self):
        return f"{self.status} {self.data[:300]!r}"


def running(pid):
    """Whether the process exists and has not ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def memory_kb(pid):
    """The resident memory of a process."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line[:6] == "VmRSS:"))


class Home:
    """Folders, configuration and scripts of one runtime; daemons may be restarted on them."""

    def __init__(self, scripts=None, config="", folder=None):
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="agentrt_e2e_"))
        atexit.register(self.end_owners)  # a test that broke off leaves no background owner
        self.data = self.folder / "data"
        self.workspace = self.folder / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        (self.folder / "config/agentrt").mkdir(parents=True, exist_ok=True)
        scripts = DEFAULT_SCRIPTS if scripts is None else scripts
        models = "".join(self._model(name, lines) for name, lines in scripts.items())
        routing = f'[routing]\ndefault = "{next(iter(scripts))}"\n' if scripts else ""
        text = models + (routing if "[routing]" not in config else "") + config
        (self.folder / "config/agentrt/config.toml").write_text(text)
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8",
            "AGENTRT_HOME": str(self.data), "XDG_CONFIG_HOME": str(self.folder / "config"),
            **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}}

    def _model(self, name, lines):
        path = self.script(name, lines)
        return f'[models.{name}]\nprovider = "script"\nscript = "{path}"\n'

    def script(self, name, lines):
        path = self.folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def run(self, *arguments, stdin="", timeout=30, **environment):
        """Runs the binary with these arguments until it exits."""
        return subprocess.run([BINARY, *map(str, arguments)], cwd=self.workspace, input=stdin,
                              env={**self.environment, **environment}, timeout=timeout,
                              capture_output=True, text=True)

    def owner(self, data=None):
        """What owner.json says while the process that wrote it runs, or None."""
        try:
            found = json.loads(((data or self.data) / "owner.json").read_text())
        except (OSError, ValueError):
            return None
        return found if running(found["pid"]) else None

    def end_owners(self, sent=signal.SIGTERM):
        """Ends every background owner below this home, and waits for it."""
        for depth in ("", "*/", "*/*/"):
            for file in self.folder.glob(depth + "owner.json"):
                found = self.owner(file.parent)
                if found is None or found.get("kind") != "background":
                    continue
                with contextlib.suppress(ProcessLookupError):
                    os.kill(found["pid"], sent)
                wait_until(lambda pid=found["pid"]: not running(pid), what="the owner's end")

    def kill_owner(self):
        """As a power cut sees it: the background owner has no chance to clean up."""
        self.end_owners(signal.SIGKILL)

    def remove(self):
        self.end_owners()
        shutil.rmtree(self.folder, ignore_errors=True)


class Faults:
    """Sets the wall clock and delays syncs of daemons of this home that start later. Skips the test
    if the library is not built."""

    def __init__(self, test, home):
        library = os.environ.get("AGENTRT_FAULTS_LIB")
        if not library:
            test.skipTest("AGENTRT_FAULTS_LIB names no library: not built with sanitizers")
        self.clock, self.hold = home.folder / "clock", home.folder / "hold"
        home.environment.update(LD_PRELOAD=os.path.abspath(library),
                                AGENTRT_FAULTS_CLOCK=str(self.clock),
                                AGENTRT_FAULTS_HOLD=str(self.hold))

    def set_clock(self, seconds):
        fresh = self.clock.with_suffix(".new")
        fresh.write_text(str(seconds))
        fresh.rename(self.clock)
        time.sleep(0.05)  # the library checks every 10 ms

    def hold_syncs(self):
        self.hold.touch()

    def release_syncs(self):
        self.hold.unlink(missing_ok=True)


class Daemon:
    def __init__(self, home, *arguments, descriptors=None):
        self.home = home
        limit = (descriptors, descriptors)
        self.errors = tempfile.TemporaryFile()
        started = time.monotonic()
        self.process = subprocess.Popen(
            [BINARY, "serve", "--listen", "127.0.0.1:0", *arguments], cwd=home.workspace,
            env=home.environment, stdout=subprocess.PIPE, stderr=self.errors,
            preexec_fn=descriptors and
            (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit)))
        atexit.register(self._reap)  # an aborted test or measurement leaves no process behind
        line = self._first_line()
        self.start_seconds = time.monotonic() - started
        self._local = threading.local()
        self._reach(line.rpartition(" ")[2])

    def _reach(self, url):
        """Takes the address that the daemon printed, and its token."""
        self.url = url
        self.port = int(url.rpartition(":")[2])
        self.token = (self.home.data / "token").read_text().strip()

    def _first_line(self):
        lines = []
        reader = threading.Thread(target=lambda: lines.append(self.process.stdout.readline()))
        reader.daemon = True
        reader.start()
        reader.join(START_SECONDS)
        line = lines[0].decode().strip() if lines else ""
        if not line.startswith(("listening on http://127.0.0.1:",
                                "listening on https://127.0.0.1:")):
            self.process.kill()
            raise AssertionError(f"serve said {line!r}; stderr: {self.stderr()}")
        return line

    def _reap(self):
        if self.alive():
            self.process.kill()

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    def alive(self):
        return self.process.poll() is None

    def kill(self):
        """Like a power cut: no chance to clean up."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.disconnect()

    def stop(self):
        """Stops the daemon as a user does; returns the exit code."""
        self.disconnect()
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"serve did not stop on SIGTERM: {self.stderr()}") from None
        finally:
            self.process.stdout.close()
        return code

    def disconnect(self):
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _connect(self):
        if self.url.startswith("http:"):
            return http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS)
        context = ssl._create_unverified_context()  # tests of certificates have their own client
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=WAIT_SECONDS,
                                           context=context)

    def request(self, method, path, body=None, headers=None, token=...):
        """Sends one request on this thread's persistent connection."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect()
            self._local.connection = connection
        sent = {}
        token = self.token if token is ... else token
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        sent = {k: v for k, v in sent.items() if v is not None}
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            reply = Reply(answer.status, answer.headers, answer.read())
        except Exception:
            self.disconnect()
            raise
        if reply.headers.get("Connection", "").lower() == "close":
            self.disconnect()
        return reply

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def call(self, command, **params):
        return self.request("POST", f"/v1/commands/{command}", params)

    def ok(self, command, **params):
        """Calls a command that must succeed; returns its reply."""
        reply = self.call(command, **params)
        assert reply.status == 200, f"{command} {params} -> {reply}"
        return reply.json

    def submit(self, text="hello", **params):
        return self.ok("submit_turn", input=[{"type": "text", "text": text}], **params)

    def events(self, session, after=0):
        """All stored events of a session, page by page."""
        found = []
        while True:
            page = self.get(f"/v1/sessions/{session}/events?after={after}&limit=1000")
            assert page.status == 200, page
            data = page.json["data"]
            found += data
            if not data or "nextCursor" not in page.json or page.json["nextCursor"] is None:
                return found
            after = data[-1]["sequence"]

    def wait_event(self, session, matches, after=0, seconds=WAIT_SECONDS):
        """Follows the live stream until an event matches; returns all events up to that one."""
        seen = []
        with self.stream(session, after=after, seconds=seconds) as stream:
            for event in stream.events():
                seen.append(event)
                if matches(event):
                    return seen
        raise AssertionError(f"the stream ended early; last: {seen[-1:]}")

    def wait_turn(self, reply, seconds=WAIT_SECONDS):
        """All events of the session up to the end of the turn named in `reply`."""
        ends = stream_checker.TURN_ENDS
        return self.wait_event(
            reply["sessionId"],
            lambda e: e["type"] in ends and e["turnId"] == reply["turnId"], seconds=seconds)

    def stream(self, session=None, after=None, seconds=WAIT_SECONDS, receive_buffer=0, **headers):
        path = f"/v1/sessions/{session}/events" if session else "/v1/events"
        if after is not None:
            path += f"?after={after}"
        return Stream(self, path, headers, seconds, receive_buffer)

    def metrics(self):
        found = {}
        for line in self.get("/metrics").data.decode().splitlines():
            if line and not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                found[name] = float(value)
        return found

    def metrics_value(self, name):
        """A counter by its bare name, without prefix and suffix."""
        found = self.metrics()
        return next(value for full, value in found.items()
                    if full.removeprefix("agentrt_").removesuffix("_total") == name)

    def memory_kb(self):
        return memory_kb(self.process.pid)


class Stream(contextlib.AbstractContextManager):
    """One server-sent event stream, read as raw bytes so that defects stay visible."""

    def __init__(self, daemon, path, headers, seconds, receive_buffer):
        self.deadline = time.monotonic() + seconds
        self.socket = socket.socket()
        self.socket.settimeout(seconds)
        if receive_buffer:  # set before connecting, so that the peer never sees a larger window
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", daemon.port))
        lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{daemon.port}",
                 "Accept: text/event-stream"]
        headers.setdefault("Authorization", f"Bearer {daemon.token}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.response = http.client.HTTPResponse(self.socket)
        self.response.begin()
        self.status = self.response.status

    def __exit__(self, *_):
        self.response.close()
        self.socket.close()

    def body(self):
        """The complete body of an error reply."""
        return json.loads(self.response.read())

    def frames(self):
        """(id, event, data) of each frame until the server closes; comments are skipped."""
        assert self.status == 200, (self.status, self.response.read())
        frame = {}
        while True:
            left = self.deadline - time.monotonic()
            assert left > 0, "the stream did not get there in time"
            self.socket.settimeout(left)
            line = self.response.readline()
            if not line:
                return
            line = line.rstrip(b"\r\n").decode()
            if line == "":
                if frame:
                    yield frame.get("id"), frame.get("event"), frame.get("data")
                frame = {}
            elif not line.startswith(":"):
                name, _, value = line.partition(":")
                value = value.removeprefix(" ")
                frame[name] = frame[name] + "\n" + value if name in frame else value

    def events(self):
        """The envelopes; checks that id and event of each frame match."""
        for identity, kind, data in self.frames():
            event = json.loads(data)
            if kind == "stream.overflow":
                return
            assert event["type"] == kind, (event["type"], kind)
            yield event


def judge(home, daemon, sessions_replayed=3):
    """Validates everything in the daemon's store with `agentrt validate`: no rule is broken, and
    the snapshots of the newest sessions match their streams."""
    done = home.run("validate", f"http://127.0.0.1:{daemon.port}/", "--json", timeout=60)
    report = json.loads(done.stdout or "{}")
    if report.get("events") == 0:
        return
    assert done.returncode == 0 and report["rules"] == [], done.stdout + done.stderr
    for row in daemon.ok("list_sessions", limit=sessions_replayed)["data"]:
        session = row["sessionId"]
        snapshot = home.folder / "judged.json"
        snapshot.write_text(json.dumps(daemon.ok("get_session", sessionId=session)))
        done = home.run("validate", f"http://127.0.0.1:{daemon.port}/v1/sessions/{session}/events",
                        "--snapshot", str(snapshot), timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr


class Case(unittest.TestCase):
    """A test with a home, and with a daemon unless `daemon_at_start` is false.

    At the end of every test, the store is validated, unless the test damages the store or its
    configuration on purpose and sets `judged = False`.
    """

    scripts = None
    config = ""
    daemon_at_start = True
    judged = True
    maxDiff = None

    def setUp(self):
        self.home = Home(self.scripts, self.config)
        self.addCleanup(self.home.remove)
        self.daemon = None
        self.addCleanup(self._end)
        if self.daemon_at_start:
            self.start()

    def tearDown(self):
        if not self.judged or not (self.home.data / "token").exists():
            return
        if self.daemon is None or not self.daemon.alive():
            self.start()
        judge(self.home, self.daemon)

    def start(self, *arguments):
        self.daemon = Daemon(self.home, *arguments)
        return self.daemon

    def _end(self):
        self.home.end_owners()
        if self.daemon and self.daemon.alive():
            self.daemon.kill()
        if self.daemon:
            self.daemon.errors.close()

    def crash(self):
        self.daemon.kill()
        self.daemon.errors.close()

    def assert_memory(self, limit_kb, before=0):
        """The daemon holds at most this much more than before. A sanitizer holds memory of its own,
        so there the size means nothing."""
        if not SANITIZED:
            self.assertLess(self.daemon.memory_kb() - before, limit_kb)

    def schema(self):
        done = self.home.run("schema", "events")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def check(self, events):
        return stream_checker.StreamChecker(self.schema()).feed_all(events)

    def check_session(self, session):
        """Validates the session's whole log."""
        events = self.daemon.events(session)
        self.check(events)
        return events

    def assertRefused(self, reply, status, code):
        self.assertEqual((reply.status, reply.code), (status, code), reply)


def types(events):
    return [event["type"] for event in events]


def wait_until(condition, seconds=WAIT_SECONDS, what="the condition"):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come true in {seconds} s")
