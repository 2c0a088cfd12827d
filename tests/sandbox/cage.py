"""A place to attack from: a workspace, surrounded by things that no command in it may reach.

Everything belongs to the user that runs the runtime, so every attempt would succeed outside the
sandbox: the sandbox stops it, not the permissions of the file system.
"""

import atexit
import contextlib
import ctypes
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

NOBODY = 65534
SECRET = "canary-7f3a"
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWUSER = 0x10000000
NAMESPACES = ["userNamespace", "mountNamespace", "pidNamespace", "networkNamespace",
              "ipcNamespace"]


def _programs():
    """Copies the programs to a folder that every user can reach: a build may be in root's home."""
    folder = tempfile.mkdtemp(prefix="agentrt_programs_", dir="/var/tmp")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.chmod(folder, 0o755)
    names = ("AGENTRT_BIN", "SANDBOX_PROBE_BIN", "SANDBOX_ATTACK_BIN")
    return [shutil.copy(os.environ[name], folder) if os.environ.get(name) else ""
            for name in names]


AGENTRT, PROBE, ATTACK = _programs()


def users():
    """The users that run the runtime in these tests: name and uid."""
    return {"root": 0, "ordinary": NOBODY} if os.geteuid() == 0 else {"ordinary": os.geteuid()}


def wait_until(check, seconds=10, what="it"):
    """Waits until check() is true. `what` names it: a text, or a function called at the end."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := check():
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited {seconds} s in vain for {what() if callable(what) else what}")


class Listener:
    """Listens on a socket that no command may reach, and counts connections."""

    def __init__(self, family, kind, address):
        self.socket = socket.socket(family, kind)
        self.socket.bind(address)
        self.reached = 0
        if kind == socket.SOCK_STREAM:
            self.socket.listen(64)
        threading.Thread(target=self._serve, args=(kind,), daemon=True).start()

    def _serve(self, kind):
        while True:
            try:
                if kind == socket.SOCK_STREAM:
                    self.socket.accept()[0].close()
                else:
                    _, sender = self.socket.recvfrom(16)
                    if sender:
                        self.socket.sendto(b"y", sender)
            except OSError:
                return
            self.reached += 1

    @property
    def port(self):
        return self.socket.getsockname()[1]


class Cage:
    def __init__(self, uid):
        self.uid = uid
        # Not below /tmp: the sandbox has its own /tmp, so nothing would be tested.
        self.base = pathlib.Path(tempfile.mkdtemp(prefix="agentrt_cage_", dir="/var/tmp"))
        self.workspace = self.base / "ws"
        self.outside = self.base / "outside"
        self.home = self.base / "home"
        self.data = self.base / "data"
        for folder in (self.workspace / ".git/hooks", self.outside, self.home / ".ssh", self.data,
                       self.workspace / "sub", self.base / "bare"):
            folder.mkdir(parents=True)
        shutil.copy(ATTACK, self.base / "attack")
        (self.workspace / ".git/hooks/pre-commit").write_text("#!/bin/sh\n")
        (self.workspace / ".git/config").write_text("[core]\n")
        (self.outside / "file").write_text("before\n")
        (self.home / ".ssh/id").write_text(SECRET)
        (self.data / "token").write_text(SECRET)
        self.own()
        os.chmod(self.base, 0o755)
        self._listen()
        self.daemon = subprocess.Popen(
            ["sleep", "1000"], env={"SECRET_OF_DAEMON": SECRET, "PATH": os.environ["PATH"]},
            **self.identity())

    def _listen(self):
        self.tcp = Listener(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.tcp6 = Listener(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0))
        self.udp = Listener(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        self.local = Listener(socket.AF_UNIX, socket.SOCK_STREAM, str(self.outside / "stream"))
        self.datagrams = Listener(socket.AF_UNIX, socket.SOCK_DGRAM, str(self.outside / "datagram"))
        self.abstract_name = f"@agentrt-cage-{os.getpid()}-{time.monotonic_ns()}"
        self.abstract = Listener(socket.AF_UNIX, socket.SOCK_STREAM,
                                 "\0" + self.abstract_name[1:])
        self.own()

    def own(self):
        if os.geteuid() == 0:
            for folder, folders, files in os.walk(self.base):  # a launcher may still remove some
                for name in (".", *folders, *files):
                    with contextlib.suppress(FileNotFoundError):
                        os.chown(os.path.join(folder, name), self.uid, self.uid,
                                 follow_symlinks=False)
        for name in ("stream", "datagram"):
            if (self.outside / name).exists():
                os.chmod(self.outside / name, 0o777)

    def identity(self):
        return {} if os.geteuid() == self.uid else {"user": self.uid, "group": self.uid,
                                                    "extra_groups": []}

    def remove(self):
        self.daemon.kill()
        self.daemon.wait()
        for listener in (self.tcp, self.tcp6, self.udp, self.local, self.datagrams, self.abstract):
            listener.socket.close()
        shutil.rmtree(self.base, ignore_errors=True)

    def fill(self, words):
        daemon = self.daemon.pid
        values = {"attack": self.base / "attack", "out": self.outside, "ws": self.workspace,
                  "home": self.home, "data": self.data, "daemon": daemon, "secret": SECRET,
                  "port": self.tcp.port, "port6": self.tcp6.port, "udp": self.udp.port,
                  "abstract": self.abstract_name, "base": self.base, "address": 0}
        if any("{address}" in word for word in words):
            maps = pathlib.Path(f"/proc/{daemon}/maps").read_text()
            values["address"] = maps.split("-")[0]
        return [word.format(**values) for word in words]

    def environment(self):
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "SECRET_OF_DAEMON": SECRET,
                "LANG": "C.UTF-8"}

    def plain(self, words, **options):
        return self._run(self.fill(words), cwd=self.workspace, **options)

    def sandboxed(self, words, *, arguments=(), workspace=None, **options):
        """Runs `agentrt sandbox`, like a user."""
        return self._run([AGENTRT, "--data", str(self.data), "sandbox", "--cwd",
                          str(workspace or self.workspace), *arguments, "--", *self.fill(words)],
                         **options)

    def probe_words(self, words, *, workspace=None, **options):
        """The command line that starts the launcher like the runtime, with the probe's options."""
        arguments = [PROBE, "--root", str(workspace or self.workspace), "--home", str(self.home),
                     "--own", str(self.data)]
        for name, value in options.items():
            arguments += ["--" + name.replace("_", "-"), str(value)]
        return [*arguments, "--", *self.fill(words)]

    def probed(self, words, *, workspace=None, stdin=subprocess.DEVNULL, timeout=60, **options):
        reports = self.base / f"reports_{time.monotonic_ns()}"
        done = self._run(self.probe_words(words, workspace=workspace, reports=reports, **options),
                         stdin=stdin, timeout=timeout)
        lines = reports.read_text().splitlines() if reports.exists() else []
        done.reports = [json.loads(line) for line in lines]
        return done

    def started(self, words, *, stdin=subprocess.PIPE, **options):
        """A probe that keeps running: its process, and the file with its reports."""
        run = self.base / f"run_{time.monotonic_ns()}"
        run.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(run, self.uid, self.uid)
        return Background(self, run, subprocess.Popen(
            self.probe_words(words, run=run, reports=run / "reports", **options), stdin=stdin,
            stdout=subprocess.DEVNULL, env=self.environment(), **self.identity()))

    def _run(self, words, *, cwd=None, stdin=subprocess.DEVNULL, timeout=60, **options):
        return subprocess.run(words, stdin=stdin, capture_output=True, text=True, timeout=timeout,
                              cwd=cwd, env=self.environment(), **self.identity(), **options)


class Background:
    def __init__(self, cage, run, process):
        self.cage, self.run, self.process = cage, run, process

    def reports(self, event=None):
        try:
            lines = (self.run / "reports").read_text().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        found = [json.loads(line) for line in lines if line.endswith("\n")]
        return [r for r in found if event in (None, r["event"])]

    def wait_for(self, event, seconds=10):
        return wait_until(lambda: self.reports(event), seconds, f"{event} {self.reports()}")[0]

    def order(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def connect(self):
        """Connects like a runtime that was started later."""
        door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        door.settimeout(10)
        door.connect(str(self.run / "control"))
        return door

    def output(self, name="stdout"):
        return (self.run / name).read_bytes()

    def record(self):
        return json.loads((self.run / "exit.json").read_text())

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    state = pathlib.Path(f"/proc/{pid}/stat")
    try:
        return state.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def inherit():
    """From now on, orphaned descendants become children of this process."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def enter_users(uid, limits):
    """Enters a user namespace with the same user, and limits further namespaces."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)  # else /proc/self belongs to root
    if libc.unshare(CLONE_NEWUSER) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"),
                       ("gid_map", f"{uid} {uid} 1")):
        pathlib.Path(f"/proc/self/{name}").write_text(text)
    for name, most in limits.items():
        pathlib.Path(f"/proc/sys/user/{name}").write_text(str(most))


def children():
    """The children of this process, also ended ones until `has_ended` reaps them."""
    found = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text()
    return {int(pid) for pid in found.split()}


def has_ended(child):
    return os.waitpid(child, os.WNOHANG)[0] == child


def command_groups():
    """The cgroups of commands in every hierarchy; others may appear and vanish meanwhile."""
    return {folder for folder, _, _ in os.walk("/sys/fs/cgroup")
            if os.path.basename(folder).startswith("agentrt-run-")}


def processes_with(mark):
    """The processes whose arguments contain `mark`."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in words and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def kill(pid):
    os.kill(pid, signal.SIGKILL)


class Caged:
    """Tests that share one cage and run as one user; `for_each_user` creates test cases from them.
    """

    uid = None

    @classmethod
    def setUpClass(cls):
        cls.cage = Cage(cls.uid)

    @classmethod
    def tearDownClass(cls):
        cls.cage.remove()


def for_each_user(tests):
    """Creates test cases, by name, that run the tests as each user that may run the runtime."""
    return {f"As_{name}": type(f"As_{name}", (tests, unittest.TestCase), {"uid": uid})
            for name, uid in users().items()}
