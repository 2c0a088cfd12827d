"""Every known way out of the sandbox, attempted as root and as an ordinary user.

Each attempt succeeds outside the sandbox, is stopped inside, and succeeds again without the layers
that are listed for it. So no attempt fails by accident, and no layer gets credit for another's
work.
"""

import dataclasses
import os
import pathlib
import unittest

import cage

FILES = ["mountNamespace", "landlock"]
OTHERS = [*cage.NAMESPACES, "landlock", "seccomp", "notify"]
NETWORK = ["networkNamespace", "seccomp", "notify", "landlock"]
FILTER = ["seccomp", "notify"]


@dataclasses.dataclass
class Attempt:
    name: str
    command: list
    layers: list  # that stop it, individually or together
    outside: str = "works"  # or "root": only as root; or "no": it would do harm
    without: str = "works"  # or "no": the kernel also stops it for other reasons
    fact: str = ""  # the text of the violation
    unharmed: object = None


def shell(text):
    return ["bash", "-c", text]


def attack(*words):
    return ["{attack}", *words]


ATTEMPTS = [
    # files outside
    Attempt("write by path", shell("echo x > {out}/file"), FILES),
    Attempt("write through a symlink", shell("ln -sf {out}/file l && echo x > l"), FILES),
    Attempt("write by ..", shell("echo x > ../outside/file"), FILES),
    Attempt("write by /proc/self/root", shell("echo x > /proc/self/root{out}/file"), FILES),
    Attempt("write by /proc/self/cwd", shell("echo x > /proc/self/cwd/../outside/file"), FILES),
    Attempt("make a file", shell("echo x > {out}/new"), FILES),
    Attempt("remove a file", shell("touch {ws}/t; rm {out}/file && echo before > {out}/file"),
            FILES),
    Attempt("hard link", shell("rm -f h; ln {out}/file h && echo x > h"), FILES),
    Attempt("rename into the workspace",
            ["/usr/bin/python3", "-c", "import os; os.rename('{out}/file', '{ws}/taken')"], FILES),
    Attempt("rename out of the workspace",
            ["/usr/bin/python3", "-c",
             "import os; open('own','w').close(); os.rename('own', '{out}/file')"], FILES),
    Attempt("change a mode", ["chmod", "777", "{out}/file"], ["mountNamespace"]),
    Attempt("change a time", ["touch", "-d", "2001-01-01", "{out}/file"], ["mountNamespace"]),
    Attempt("write to /usr", shell("echo x > /usr/agentrt-attack"), FILES, outside="no",
            without="no"),
    Attempt("bind over a file", attack("bind_mount", "{out}/file", "{ws}/.git/config"),
            ["capabilities", "seccomp", "landlock"], outside="no", without="no", fact="mount"),
    Attempt("remount writable", attack("remount", "/"), ["capabilities", "seccomp"], outside="no",
            without="no", fact="mount"),
    Attempt("unmount what hides", attack("unmount", "{data}"), ["capabilities", "seccomp"],
            outside="no", without="no", fact="umount2"),
    Attempt("chroot", attack("change_root", "/"), ["capabilities", "seccomp"], outside="root",
            without="no", fact="chroot"),
    Attempt("device node", attack("make_device", "{ws}/device"), ["capabilities", "landlock"],
            outside="root", without="no"),
    Attempt("a disk", shell("ls /dev | grep -Eq '^(sd|vd|nvme|mem|kmsg)'"), ["mountNamespace"],
            outside="no", without="no"),
    # protected
    Attempt("a hook that exists", shell("echo x > .git/hooks/pre-commit"), ["mountNamespace"]),
    Attempt("a hook that does not", shell("echo x > .git/hooks/post-merge"), ["mountNamespace"]),
    Attempt("git's configuration", shell("echo x >> .git/config"), ["mountNamespace"],
            fact="openat"),
    Attempt("whose configuration holds", shell("echo ../evil > .git/commondir"),
            ["mountNamespace"], fact=".git/commondir"),
    Attempt("an unknown name in .git", shell("echo x > .git/unknown"),
            ["mountNamespace"], fact=".git/unknown"),
    Attempt("the workspace's own configuration", shell("echo x > .agentrt/config.toml"),
            ["mountNamespace"], outside="no", without="no"),
    Attempt("its folder anew", shell("rm -rf .agentrt && mkdir .agentrt && touch .agentrt/x"),
            ["mountNamespace"]),
    Attempt("hooks in another agent's file",
            shell("mkdir -p .claude && echo x > .claude/settings.json"), ["mountNamespace"]),
    Attempt("rename the parent", shell("mv .git g && cp -a g .git && echo x > .git/config"),
            ["mountNamespace"]),
    Attempt("a repository that is not there", shell("cd {base}/bare && mkdir -p .git/hooks && "
                                                    "echo x > .git/hooks/post-merge"),
            ["mountNamespace"]),
    # hidden
    Attempt("read a key of the home", ["grep", "-q", "{secret}", "{home}/.ssh/id"],
            ["mountNamespace"]),
    Attempt("read the runtime's token", ["grep", "-q", "{secret}", "{data}/token"],
            ["mountNamespace"]),
    Attempt("list the runtime's data", shell("ls -A {data} | grep -q ."), ["mountNamespace"]),
    # programs for others to run
    Attempt("a program that runs as its owner", shell("cp /usr/bin/id s && chmod 4755 s"), FILTER,
            fact="with mode 4755"),
    Attempt("one that runs as its group", shell("cp /usr/bin/id s && chmod g+s s"), FILTER,
            fact="with mode 2755"),
    Attempt("such a mode from the beginning",
            ["/usr/bin/python3", "-c", "import os; os.open('s', os.O_CREAT | os.O_RDWR, 0o4755)"],
            FILTER, fact="with mode 4755"),
    Attempt("the same without a name",
            ["/usr/bin/python3", "-c", "import os; os.open('.', os.O_TMPFILE | os.O_RDWR, 0o4755)"],
            FILTER, fact="with mode 4755"),
    Attempt("the same by mknod", ["/usr/bin/python3", "-c", "import os; os.mknod('s', 0o104755)"],
            FILTER, fact="with mode 4755"),
    # the runtime
    Attempt("its environment", shell("grep -qa {secret} /proc/{daemon}/environ"), OTHERS),
    Attempt("its command line", shell("grep -qa sleep /proc/{daemon}/cmdline"),
            ["pidNamespace", "mountNamespace"]),
    Attempt("its root", shell("ls /proc/{daemon}/root/"), OTHERS),
    Attempt("its descriptors", shell("ls /proc/{daemon}/fd | grep -q 0"), OTHERS),
    Attempt("its memory by file", shell("head -c 0 /proc/{daemon}/mem"), OTHERS),
    Attempt("its memory by call", attack("read_memory", "{daemon}", "{address}"), OTHERS,
            fact="process_vm_readv"),
    Attempt("its descriptor by call", attack("take_descriptor", "{daemon}"), OTHERS),
    Attempt("ptrace", attack("ptrace", "{daemon}"), OTHERS, fact="ptrace"),
    Attempt("signal", attack("signal", "{daemon}"), ["pidNamespace", "landlock"]),
    Attempt("the environment inherited", shell('test -n "$SECRET_OF_DAEMON"'),
            ["environment"], without="no"),
    Attempt("the sandbox's own init", attack("init_memory"), ["init"], outside="no",
            without="no"),
    # network
    Attempt("TCP", attack("tcp", "127.0.0.1", "{port}"), NETWORK),
    Attempt("TCP over IPv6", attack("tcp", "::1", "{port6}"), NETWORK),
    Attempt("TCP by name", ["/usr/bin/python3", "-c",
                            "import socket; socket.create_connection(('localhost', {port}), 3)"],
            NETWORK),
    Attempt("TCP to elsewhere", attack("tcp", "192.0.2.1", "9"), NETWORK, outside="no",
            without="no", fact="192.0.2.1:9"),
    Attempt("UDP", attack("udp", "127.0.0.1", "{udp}"), NETWORK),
    Attempt("an abstract socket", attack("stream", "{abstract}"), NETWORK),
    Attempt("a socket in the file system", attack("stream", "{out}/stream"), FILTER,
            fact="connect unix:"),
    Attempt("a socket by ..", attack("stream", "../outside/stream"), FILTER,
            fact="connect unix:"),
    Attempt("a datagram", attack("datagram", "{out}/datagram", "2"), FILTER, fact="socket"),
    Attempt("a datagram called raw", attack("datagram", "{out}/datagram", "3"), FILTER,
            fact="socket"),
    Attempt("a datagram from a pair", attack("paired_datagram", "{out}/datagram", "2"), FILTER,
            fact="socketpair"),
    Attempt("a raw one from a pair", attack("paired_datagram", "{out}/datagram", "3"), FILTER,
            fact="socketpair"),
    Attempt("the host of a virtual machine", attack("vsock"), FILTER, outside="no", without="no",
            fact="socket"),
    Attempt("raw packets", attack("packet"), ["capabilities", *FILTER], outside="root",
            without="no", fact="socket"),
    # the kernel
    Attempt("a new user namespace", attack("new_user_namespace"), FILTER, fact="unshare"),
    Attempt("the same by clone", attack("clone_user_namespace"), FILTER, fact="clone"),
    Attempt("the same by clone3", attack("clone3_user_namespace"), FILTER),
    Attempt("a key", attack("key"), FILTER, fact="add_key"),
    Attempt("faults handled by a user", attack("userfault"), FILTER, fact="userfaultfd"),
    Attempt("a ring that goes around filters", attack("ring"), FILTER),
    Attempt("calls of another machine", attack("old_calls"), FILTER),
    Attempt("new privileges", attack("new_privileges"), ["no new privileges"], without="no"),
]


# One thread swaps a folder and a file at one path, the other sets the mode of a folder there.
# Prints how often the file had the bit.
SWAPS = """
import ctypes, os, threading
libc = ctypes.CDLL(None)
os.mkdir("d"); open("f", "w").close()
stop = False
def swap():
    while not stop:
        libc.renameat2(-100, b"d", -100, b"f", 2)
thread = threading.Thread(target=swap); thread.start()
wrong = 0
for _ in range(3000):
    try: os.chmod("d", 0o2755)
    except OSError: pass
    for name in ("d", "f"):
        found = os.stat(name)
        if found.st_mode & 0o2000 and found.st_mode & 0o170000 == 0o100000: wrong += 1
stop = True; thread.join()
for name in ("d", "f"): (os.rmdir if os.path.isdir(name) else os.unlink)(name)
print(wrong)
"""


class Escape(cage.Caged):
    """For one user; the table defines the tests."""

    def reset(self):
        c = self.cage
        for name in ("l", "h", "s", "taken", "own", "device", "t", "g"):
            path = c.workspace / name
            if path.is_dir():
                for file in sorted(path.rglob("*"), reverse=True):
                    file.rmdir() if file.is_dir() else file.unlink()
                path.rmdir()
            elif path.exists() or path.is_symlink():
                path.unlink()
        for path in (c.workspace / ".git/hooks/post-merge", c.outside / "new",
                     c.workspace / ".agentrt/x", c.workspace / ".claude/settings.json",
                     c.base / "bare/.git/hooks/post-merge"):
            path.unlink(missing_ok=True)
        for path in (c.workspace / ".agentrt", c.workspace / ".claude", c.base / "bare/.git/hooks",
                     c.base / "bare/.git"):
            if path.exists():
                path.rmdir()
        (c.outside / "file").write_text("before\n")
        os.chmod(c.outside / "file", 0o644)
        os.utime(c.outside / "file", (1_000_000_000, 1_000_000_000))
        (c.workspace / ".git/hooks").mkdir(parents=True, exist_ok=True)
        (c.workspace / ".git/config").write_text("[core]\n")
        (c.workspace / ".git/hooks/pre-commit").write_text("#!/bin/sh\n")
        c.own()

    def state(self):
        c = self.cage
        found = {}
        for path in [*c.outside.rglob("*"), *(c.workspace / ".git").rglob("*")]:
            stat = path.lstat()
            content = path.read_bytes() if path.is_file() else b""
            found[str(path)] = (content, stat.st_mode, stat.st_mtime_ns if path.is_file() else 0,
                                stat.st_nlink)
        return found

    def listeners(self):
        c = self.cage
        return [x.reached for x in (c.tcp, c.tcp6, c.udp, c.local, c.datagrams, c.abstract)]

    def workspace_of(self, attempt):
        bare = any("/bare" in word for word in attempt.command)
        return self.cage.base / "bare" if bare else self.cage.workspace

    def test_works_outside(self):
        for attempt in ATTEMPTS:
            if attempt.outside == "no" or (attempt.outside == "root" and self.uid != 0):
                continue
            with self.subTest(attempt.name):
                self.reset()
                if "{ws}/.agentrt" in str(attempt.command) or ".agentrt" in str(attempt.command):
                    (self.cage.workspace / ".agentrt").mkdir()
                    self.cage.own()
                done = self.cage.plain(attempt.command)
                self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))

    def test_stopped_inside(self):
        for attempt in ATTEMPTS:
            with self.subTest(attempt.name):
                self.reset()
                state, reached = self.state(), self.listeners()
                done = self.cage.sandboxed(attempt.command, workspace=self.workspace_of(attempt))
                self.assertNotIn(done.returncode, (0, 99, 125, 126, 127),
                                 (done.stdout, done.stderr))
                self.assertEqual(self.state(), state)
                self.assertEqual(self.listeners(), reached)
                if attempt.fact:
                    self.assertIn("blocked by", done.stderr)
                    self.assertIn(attempt.fact, done.stderr)

    def test_no_program_runs_as_its_owner_whoever_watches(self):
        for watch in ({}, {"watch": 1}):
            with self.subTest(**watch):
                self.reset()
                done = self.cage.probed(shell("umask 077; cp /usr/bin/id s; chmod 4755 s; "
                                              "chmod 755 s && stat -c %a s"), **watch)
                self.assertEqual(done.stdout, "755\n", done.stderr)
                self.assertIn("Operation not permitted", done.stderr)
                told = [r for r in done.reports if r["event"] == "violation"]
                self.assertEqual([(r["kind"], r["attempted"]) for r in told],
                                 [("filesystem", "fchmodat with mode 4755")])

    def test_a_folder_may_pass_its_group_on(self):
        for watch in ({}, {"watch": 1}):
            with self.subTest(**watch):
                self.reset()
                done = self.cage.probed(
                    shell("trap 'cd ..; rm -rf d l' EXIT; mkdir d && ln -s d l && chmod g+s l && "
                          "cd d && mkdir e && touch f && chmod 2711 . && python3 -c 'import os; "
                          "os.fchmod(os.open(\"e\", os.O_RDONLY), 0o2700)' && "
                          "stat -c %a . e f"), **watch)
                self.assertEqual(done.stdout, "2711\n2700\n644\n", done.stderr)
                self.assertEqual([r for r in done.reports if r["event"] == "violation"], [])
                for text in ("chmod u+s d", "touch f && ln -s f k && chmod g+s k",
                             "chmod 2755 /usr", "chmod 6755 d"):
                    refused = self.cage.probed(shell("trap 'rm -rf d f k' EXIT; mkdir d; " + text),
                                               **watch)
                    self.assertNotEqual(refused.returncode, 0, text)
                    self.assertTrue(any(r["event"] == "violation" for r in refused.reports), text)

    def test_no_file_gets_the_mode_of_a_folder_by_a_swap(self):
        self.reset()
        done = self.cage.probed(["/usr/bin/python3", "-c", SWAPS], timeout=120)
        self.assertEqual(done.stdout, "0\n", done.stderr)

    def test_works_without_the_layers_that_stop_it(self):
        for attempt in ATTEMPTS:
            if attempt.without == "no":
                continue
            without = set(attempt.layers)
            if self.uid == 0:  # an unprivileged user is a layer of its own
                without.add("identity")
                if "userNamespace" in without:
                    without.add("capabilities")
            elif "userNamespace" in without:
                without |= set(cage.NAMESPACES)
            with self.subTest(attempt.name, without=sorted(without)):
                self.reset()
                done = self.cage.probed(attempt.command, workspace=self.workspace_of(attempt),
                                        without=",".join(sorted(without)))
                self.assertEqual(done.returncode, 0, (done.stdout, done.stderr, done.reports))

    def test_a_swapped_path_reaches_nobody(self):
        inside = self.cage.workspace / "own.sock"
        inside.unlink(missing_ok=True)
        before = self.cage.local.reached
        script = ("import socket, subprocess, sys, threading\n"
                  "s = socket.socket(socket.AF_UNIX); s.bind('own.sock'); s.listen(64)\n"
                  "def serve():\n"
                  "    while True: s.accept()[0].close()\n"
                  "threading.Thread(target=serve, daemon=True).start()\n"
                  "sys.exit(subprocess.call(['{attack}', 'swapped_path', '{ws}/own.sock',\n"
                  "                          '{out}/stream']))\n")
        done = self.cage.sandboxed(["/usr/bin/python3", "-c", script])
        self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
        self.assertEqual(self.cage.local.reached, before)
        inside.unlink()

    def test_no_command_says_what_a_root_within_another_is(self):
        outer = self.cage.base / "outer"
        app = outer / "packages/deep/app"
        app.mkdir(parents=True)
        self.cage.own()
        roots = [app, outer]

        def run(script):
            words = self.cage.probe_words(["bash", "-c", script], workspace=roots[0])
            return self.cage._run([words[0], "--root", str(roots[1]), *words[1:]])

        for moved in ("packages", "packages/deep", "packages/deep/app"):
            for roots in ([app, outer], [outer, app]):
                with self.subTest(moved, roots=roots):
                    run(f"cd {outer} && perl -e 'rename \"{moved}\", \"moved\" or exit 1' && "
                        f"mkdir -p packages/deep && ln -s {self.cage.outside} {app}")
                    self.assertFalse((outer / "moved").exists())
                    run(f"echo x > {app}/file")
                    self.assertEqual((self.cage.outside / "file").read_text(), "before\n")
        done = run(f"cd {outer} && echo x > packages/deep/y && mv packages/deep/y z && echo y > "
                   f"{app}/a && cat z {app}/a")
        self.assertEqual(done.stdout, "x\ny\n", done.stderr)

    def test_a_root_that_became_a_link_is_refused(self):
        moved = self.cage.base / "linked"
        moved.symlink_to(self.cage.outside)
        self.addCleanup(moved.unlink)
        words = self.cage.probe_words(["bash", "-c", "echo x > {out}/file"])
        # The probe resolves roots like the runtime; here the link is created after that.
        done = self.cage._run([words[0], "--root-as-it-is", str(moved), *words[1:]])
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertEqual((self.cage.outside / "file").read_text(), "before\n")

    def test_without_a_network_of_its_own_it_reaches_no_abstract_socket(self):
        if self.uid == 0:
            self.skipTest("root's commands need users that this place does not know")
        words = self.cage.probe_words(attack("stream", "{abstract}"))
        # An environment in which the kernel allows user namespaces but no network namespaces.
        done = self.cage._run(words, preexec_fn=lambda: cage.enter_users(
            self.uid, {"max_net_namespaces": 0}))
        self.assertEqual((done.returncode, done.stdout), (1, "Permission denied\n"), done.stderr)
        self.assertEqual(self.cage.abstract.reached, 0)

    def test_a_descriptor_that_was_open_is_closed(self):
        words = self.cage.fill(attack("inherited", "99"))
        with open("/etc/passwd") as file:
            os.dup2(file.fileno(), 99)
            try:
                plain = self.cage.plain(words, pass_fds=[99])
                inside = self.cage.sandboxed(words, pass_fds=[99])
            finally:
                os.close(99)
        self.assertEqual(plain.returncode, 0)
        self.assertEqual(inside.returncode, 1, inside.stderr)

    def test_a_folder_as_standard_input_is_refused(self):
        folder = os.open("/", os.O_RDONLY)
        try:
            done = self.cage.sandboxed(["true"], stdin=folder)
        finally:
            os.close(folder)
        self.assertEqual(done.returncode, 125, done.stderr)

    def test_input_cannot_be_pushed_into_a_terminal(self):
        for words in (attack("push_input"), attack("push_input", "high")):
            with self.subTest(words=words):
                for without, code in (("", 1), ("seccomp,notify", 0)):
                    one = self.cage.started(words, tty=1, without=without) if without else \
                        self.cage.started(words, tty=1)
                    self.addCleanup(one.end)
                    self.assertEqual(one.wait_for("exited")["code"], code, one.output())

    @unittest.skipUnless(os.geteuid() == 0, "only root has more groups than it was given")
    def test_the_groups_of_root_stay_outside(self):
        if self.uid != 0:
            self.skipTest("an ordinary user's groups are its own")
        secret = self.cage.outside / "of_a_group"
        secret.write_text(cage.SECRET)
        self.addCleanup(secret.unlink)
        for group in (0, 42):
            os.chown(secret, 0, group)
            os.chmod(secret, 0o640)
            with self.subTest(group=group):
                done = self.cage.sandboxed(["cat", str(secret)], extra_groups=[0, 42])
                self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        done = self.cage.sandboxed(["id", "-G"], extra_groups=[0, 42])
        self.assertEqual(done.stdout, "1000\n")

    @unittest.skipUnless(os.geteuid() == 0, "only root can make a setuid program")
    def test_a_setuid_program_gives_nothing(self):
        program = self.cage.base / "become_root"
        program.write_bytes(pathlib.Path("/usr/bin/id").read_bytes())
        os.chown(program, 0, 0)
        os.chmod(program, 0o4755)
        plain = self.cage.plain([str(program), "-u"])
        inside = self.cage.sandboxed([str(program), "-u"])
        self.assertEqual(plain.stdout, "0\n")
        self.assertEqual(inside.returncode, 0, inside.stderr)
        self.assertEqual(inside.stdout, f"{1000 if self.uid == 0 else self.uid}\n")


globals().update(cage.for_each_user(Escape))

if __name__ == "__main__":
    unittest.main()
