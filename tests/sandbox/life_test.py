"""Lifetimes: commands, supervisors and runtimes, killed at every step."""

import fcntl
import os
import pathlib
import signal
import struct
import time
import unittest

import cage
from cage import wait_until

F_OFD_SETLK = 37
TREE = ("trap '' TERM INT HUP; "
        "(setsid bash -c \"trap '' TERM; exec -a {mark} sleep 1000\" &) ; "
        "(bash -c \"exec >&- 2>&- <&-; exec -a {mark} sleep 1000\" &) ; "
        "echo up; while :; do sleep 0.1; done")


class Life(cage.Caged):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cage.inherit()

    def started(self, words, **options):
        one = self.cage.started(words, **options)
        self.addCleanup(one.end)
        return one

    def tree(self, **options):
        """A command with children that ignore signals, leave the session and close their pipes."""
        mark = f"stubborn-{os.getpid()}-{time.monotonic_ns()}"
        one = self.started(["bash", "-c", TREE.replace("{mark}", mark)], **options)
        if "orders" in options:
            one.wait_for("ready")
            one.order("go")
        one.wait_for("started")
        wait_until(lambda: one.output() == b"up\n", what="the command")
        wait_until(lambda: len(self.children(mark)) >= 2, what="its children")
        return one, mark

    def children(self, mark):
        return [pid for pid in cage.processes_with(mark) if "sleep" in self.name(pid)]

    @staticmethod
    def name(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/comm").read_text()
        except OSError:
            return ""

    def assert_gone(self, mark, *pids):
        wait_until(lambda: not cage.processes_with(mark), 5, "the children to end")
        for pid in pids:
            wait_until(lambda: not cage.is_alive(pid), 5, f"{pid} to end")

    # --- killed ---

    def test_kill_of_the_supervisor_ends_everything(self):
        one, mark = self.tree()
        ready = one.reports("ready")[0]
        cage.kill(ready["supervisor"])
        self.assert_gone(mark, ready["supervisor"], ready["pid"])
        self.assertFalse((one.run / "exit.json").exists())

    def test_kill_of_init_ends_everything_and_is_recorded(self):
        one, mark = self.tree()
        ready = one.reports("ready")[0]
        parent = pathlib.Path(f"/proc/{ready['pid']}/stat").read_text()
        init = int(parent.rsplit(")", 1)[1].split()[1])
        cage.kill(init)
        self.assertEqual(one.wait_for("exited")["signal"], signal.SIGKILL)
        self.assert_gone(mark, ready["pid"], init)

    def test_kill_of_the_runtime_ends_a_foreground_command(self):
        one, mark = self.tree()
        ready = one.reports("ready")[0]
        one.process.kill()
        self.assert_gone(mark, ready["supervisor"], ready["pid"])
        self.assertEqual(one.record()["signal"], signal.SIGKILL)

    def test_a_background_command_outlives_the_runtime(self):
        one = self.started(["bash", "-c", "echo a; read line; echo got $line; exit 7"],
                           survive=1, orders=1)
        one.wait_for("ready")
        one.order("go")
        ready = one.wait_for("started") and one.reports("ready")[0]
        one.process.kill()
        one.process.wait()
        time.sleep(0.1)
        self.assertTrue(cage.is_alive(ready["pid"]))
        with one.connect() as door:
            door.send(b"input again\n")
            door.send(b"closeInput")
            texts = []
            while not texts or '"exited"' not in texts[-1]:
                try:
                    texts.append(door.recv(65536).decode())
                    self.assertTrue(texts[-1], "it ended without saying so")
                except ConnectionResetError:
                    pass  # it ended before it read closeInput; its last report is still available
        self.assertIn('"code":7', texts[-1])
        self.assertEqual(one.output(), b"a\ngot again\n")
        wait_until(lambda: not cage.is_alive(ready["supervisor"]), what="the supervisor to end")
        self.assertEqual(one.record()["code"], 7)
        self.assertFalse((one.run / "control").exists())

    def test_before_the_gate_opens_nothing_runs(self):
        for survive in ({}, {"survive": 1}):
            with self.subTest(**survive):
                trace = self.cage.workspace / "trace"
                one = self.started(["touch", "{ws}/trace"], orders=1, **survive)
                ready = one.wait_for("ready")
                if survive:
                    door = one.connect()  # only the first connection can open the gate
                    self.addCleanup(door.close)
                    door.send(b"go")
                    time.sleep(0.1)
                one.process.kill()
                wait_until(lambda: not cage.is_alive(ready["supervisor"]), what="the supervisor")
                self.assertFalse(trace.exists())
                record = one.record()
                self.assertEqual((record["event"], record["started"], record["abandoned"]),
                                 ("exited", False, True))

    def test_a_runtime_killed_at_any_moment_leaves_nothing(self):
        # A group that was there before may have the number of one of these launchers.
        before, groups, left = cage.children(), cage.command_groups(), set()
        for step in range(25):
            mark = f"moment-{os.getpid()}-{self.uid}-{step}"
            one = self.started(["bash", "-c", f"exec -a {mark} sleep 1000"])
            time.sleep(step * 0.0006)
            one.process.kill()
            one.process.wait()
            left |= cage.children() - before
            self.assert_gone(mark)
        self.assertGreater(len(left), 10)
        for launcher in left:
            wait_until(lambda: cage.has_ended(launcher), 5, f"launcher {launcher} to end")
        self.assertEqual(
            [group for group in cage.command_groups() - groups
             if int(group.rpartition("-")[2]) in left], [])
        self.assertFalse((self.cage.workspace / ".agentrt").exists(), "a placeholder is left")

    # --- signals ---

    def test_a_stubborn_tree_ends_with_the_second_signal(self):
        one, mark = self.tree(orders=1)
        one.order(f"signal {signal.SIGTERM}")
        time.sleep(0.3)
        self.assertEqual(one.reports("exited"), [])
        one.order(f"signal {signal.SIGKILL}")
        self.assertEqual(one.wait_for("exited")["signal"], signal.SIGKILL)
        self.assert_gone(mark)

    def test_a_signal_comes_once_to_the_command_and_to_its_children(self):
        count = ("import os, signal\n"
                 "signal.pthread_sigmask(signal.SIG_BLOCK, [40])\n"  # real-time: queued, not merged
                 "child = os.fork()\n"
                 "name = 'child' if child == 0 else 'command'\n"
                 "print(name, 'up', flush=True)\n"
                 "heard = [signal.sigwaitinfo([40])]\n"
                 "while signal.sigtimedwait([40], 0.1): heard.append(1)\n"
                 "if child: os.waitpid(child, 0)\n"
                 "print(name, len(heard), flush=True)\n"
                 "os._exit(0)\n")
        one = self.started(["/usr/bin/python3", "-c", count], orders=1)
        one.wait_for("ready")
        one.order("go")
        wait_until(lambda: one.output().count(b"up\n") == 2, what="both")
        one.order("signal 40")
        self.assertEqual(one.wait_for("exited")["code"], 0)
        self.assertEqual(one.output().splitlines()[2:], [b"child 1", b"command 1"])

    def test_a_polite_command_ends_with_the_first(self):
        one = self.started(["bash", "-c", "trap 'echo bye; exit 3' TERM; echo up; "
                            "while :; do sleep 0.05; done"], orders=1)
        one.wait_for("ready")
        one.order("go")
        wait_until(lambda: one.output() == b"up\n")
        one.order(f"signal {signal.SIGTERM}")
        self.assertEqual(one.wait_for("exited")["code"], 3)
        self.assertEqual(one.output(), b"up\nbye\n")

    def test_children_end_with_the_command(self):
        mark = f"left-{os.getpid()}-{self.uid}"
        child = f"(setsid bash -c 'exec -a {mark} sleep 1000' &)"
        one = self.started(["bash", "-c", child + "; exit 0"])
        self.assertEqual(one.wait_for("exited")["code"], 0)
        self.assert_gone(mark)

    def test_a_command_that_closes_its_pipes_is_waited_for(self):
        one = self.started(["bash", "-c", "exec >&- 2>&- <&-; sleep 0.3; exit 5"])
        self.assertEqual(one.wait_for("exited")["code"], 5)

    def test_the_process_is_named_by_its_start(self):
        one = self.started(["sleep", "5"])
        ready = one.wait_for("ready")
        stat = pathlib.Path(f"/proc/{ready['pid']}/stat").read_text()
        self.assertEqual(ready["startTicks"], int(stat.rsplit(")", 1)[1].split()[19]))

    def test_under_root_it_is_a_user_that_nobody_else_is(self):
        if self.uid != 0:
            self.skipTest("an ordinary user's commands are that user's")
        one = self.started(["sleep", "5"])
        status = pathlib.Path(f"/proc/{one.wait_for('ready')['pid']}/status").read_text()
        for kind in ("Uid:", "Gid:"):
            real = int(status.split(kind)[1].split()[0])
            self.assertGreater(real, 600_100_000)  # SUB_UID_MAX of login.defs
            self.assertGreater(real, 1_879_048_191)  # highest container uid of systemd
            self.assertLess(real, 1 << 31)

    # --- output and input ---

    def test_output_keeps_head_and_tail(self):
        one = self.started(["bash", "-c", "for i in $(seq -w 1 5000); do echo line $i; done"],
                           spool=20000)
        exited = one.wait_for("exited")
        whole = b"".join(b"line %04d\n" % i for i in range(1, 5001))
        self.assertEqual(exited["stdout"], len(whole))
        self.assertTrue(exited["truncated"])
        self.assertEqual(one.output(), whole[:10000])
        ring, end = one.output("stdout.tail"), (len(whole) - 10000) % 10000
        self.assertEqual(ring[end:] + ring[:end], whole[-10000:])

    def test_ten_gigabytes_without_a_newline_stay_bounded(self):
        size = 10 << 30 if self.uid == 0 or os.geteuid() != 0 else 1 << 30
        one = self.started(["head", "-c", str(size), "/dev/zero"], spool=1 << 20)
        ready = one.wait_for("ready")
        high = 0
        while not one.reports("exited"):
            try:
                status = pathlib.Path(f"/proc/{ready['supervisor']}/status").read_text()
                high = max(high, int(status.split("VmRSS:")[1].split()[0]))
            except (OSError, IndexError):
                pass
            time.sleep(0.2)
        exited = one.reports("exited")[0]
        self.assertEqual((exited["code"], exited["stdout"]), (0, size))
        self.assertEqual(len(one.output()) + len(one.output("stdout.tail")), 1 << 20)
        self.assertLess(high, 8_000)  # kB

    def test_a_terminal_has_a_size_and_takes_input(self):
        one = self.started(["bash", "-c", "tty; stty size; read a; echo got:$a; stty size; cat; "
                            "test -t 0 && test -t 2 && exit 4"], tty=1, orders=1)
        one.wait_for("ready")
        one.order("go")
        wait_until(lambda: b"24 80" in one.output())
        self.assertIn(b"/dev/pts/0", one.output())
        door = one.connect()
        self.addCleanup(door.close)
        door.send(b"resize 50 120")  # over the same connection as the input, so it comes first
        door.send(b"input hello\n")
        wait_until(lambda: b"got:hello\r\n50 120" in one.output(), what=one.output)
        one.order("closeInput")
        self.assertEqual(one.wait_for("exited")["code"], 4, one.output())

    def test_a_command_that_closes_its_terminal_is_not_hung_up(self):
        one = self.started(["bash", "-c", "echo shown; exec <&- >&- 2>&-; sleep 0.3; exit 3"],
                           tty=1, orders=1)
        one.wait_for("ready")
        one.order("go")
        self.assertEqual(one.wait_for("exited").get("code"), 3)
        self.assertEqual(one.output(), b"shown\r\n")

    def test_input_waits_within_a_bound(self):
        one = self.started(["sleep", "60"], orders=1)
        one.wait_for("ready")
        one.order("go")
        with one.connect() as door:
            for _ in range(40):
                door.send(b"input " + b"x" * 60_000)
            self.assertIn("waiting", one.wait_for("inputRefused"))

    def test_a_slow_reader_loses_no_report(self):
        one = self.started(["bash", "-c", "for i in $(seq 300); do unshare -U true; echo $i; done "
                            "2>/dev/null; exit 6"])
        one.wait_for("started")
        os.kill(one.process.pid, signal.SIGSTOP)
        wait_until(lambda: (one.run / "exit.json").exists(), 30, "the end")
        os.kill(one.process.pid, signal.SIGCONT)
        self.assertEqual(one.wait_for("exited")["code"], 6)
        self.assertEqual(len(one.reports("violation")), 100)
        self.assertEqual(one.reports("exited")[0]["violations"], 300)

    # --- what the supervisor does for the command ---

    def test_a_connect_that_waits_for_ever_holds_up_nobody(self):
        script = ("import socket, threading\n"
                  "s = socket.socket(socket.AF_UNIX); s.bind('full.sock'); s.listen(0)\n"
                  "def one():\n"
                  "    c = socket.socket(socket.AF_UNIX); c.connect('full.sock'); kept.append(c)\n"
                  "kept = []\n"
                  "for i in range(70): threading.Thread(target=one, daemon=True).start()\n"
                  "import time; time.sleep(0.5)\n"
                  "try: socket.socket(socket.AF_INET6).connect(('::1', 1))\n"
                  "except OSError as e: print(e.errno, flush=True)\n"
                  "time.sleep(100)\n")
        (self.cage.workspace / "full.sock").unlink(missing_ok=True)
        one = self.started(["/usr/bin/python3", "-c", script], orders=1)
        one.wait_for("ready")
        one.order("go")
        wait_until(lambda: one.output().strip() == b"11", 10, "EAGAIN beyond the bound")
        one.order(f"signal {signal.SIGTERM}")
        self.assertEqual(one.wait_for("exited")["signal"], signal.SIGTERM)

    def test_local_sockets_work_inside(self):
        script = ("import os, socket, threading\n"
                  "u = socket.socket(socket.AF_UNIX); u.bind('in.sock'); u.listen()\n"
                  "def connect(path):\n"
                  "    c = socket.socket(socket.AF_UNIX); c.connect(path); c.sendall(b'x')\n"
                  "os.chdir('sub')\n"
                  "for path in ('../in.sock', os.path.abspath('../in.sock')):\n"
                  "    t = threading.Thread(target=connect, args=(path,)); t.start(); t.join()\n"
                  "    a, _ = u.accept(); assert a.recv(1) == b'x'\n"
                  "    who = a.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)\n"
                  "    assert int.from_bytes(who[4:8], 'little') == os.getuid(), who\n"
                  "s = socket.create_server(('127.0.0.1', 0))\n"
                  "c = socket.create_connection(s.getsockname()); a, _ = s.accept()\n"
                  "for any in ('0.0.0.0', '::ffff:0.0.0.0'):\n"
                  "    f = socket.AF_INET6 if ':' in any else socket.AF_INET\n"
                  "    socket.socket(f).connect((any, s.getsockname()[1])); s.accept()\n"
                  "s6 = socket.create_server(('::1', 0), family=socket.AF_INET6)\n"
                  "socket.socket(socket.AF_INET6).connect(('::', s6.getsockname()[1]))\n"
                  "n = socket.socket(); n.setblocking(False)\n"
                  "assert n.connect_ex(s.getsockname()) in (0, 115)\n"
                  "print('all')\n")
        (self.cage.workspace / "in.sock").unlink(missing_ok=True)
        one = self.started(["/usr/bin/python3", "-c", script])
        exited = one.wait_for("exited")
        self.assertEqual(one.output(), b"all\n", one.output("stderr"))
        self.assertEqual(exited["violations"], 0, one.reports("violation"))

    # --- placeholders ---

    def test_placeholders_go_with_the_last_sandbox(self):
        bare = self.cage.base / "bare"
        first = self.started(["sleep", "1000"], workspace=bare)
        first.wait_for("started")
        second = self.started(["sleep", "1000"], workspace=bare)
        second.wait_for("started")
        self.assertEqual(sorted(p.name for p in bare.iterdir()), [".agentrt", ".claude", ".git"])
        self.assertEqual(list((bare / ".git").iterdir()), [])
        self.assertEqual((bare / ".git").stat().st_uid, self.uid)
        first.process.kill()
        wait_until(lambda: (first.run / "exit.json").exists())
        self.assertEqual(len(list(bare.iterdir())), 3)
        cage.kill(second.reports("ready")[0]["supervisor"])  # leaves them
        third = self.cage.probed(["true"], workspace=bare)
        self.assertEqual(third.returncode, 0)
        self.assertEqual(list(bare.iterdir()), [])

    def test_sandboxes_that_come_and_go_do_not_disturb_each_other(self):
        bare = self.cage.base / "bare"
        script = "for i in $(seq 20); do test -d .agentrt || exit 3; done"
        for _ in range(6):
            several = [self.started(["bash", "-c", script], workspace=bare) for _ in range(4)]
            for one in several:
                self.assertEqual(one.process.wait(20), 0, one.reports())
        self.assertEqual(list(bare.iterdir()), [])

    def test_a_workspace_that_is_cleaned_for_ever_is_refused_and_holds_up_nobody(self):
        bare = self.cage.base / "bare"
        with CleaningLock(bare):
            began = time.monotonic()
            done = self.cage.probed(["true"], workspace=bare)
        self.assertEqual(done.returncode, 125)
        self.assertLess(time.monotonic() - began, 5)

    def test_the_lock_of_the_workspace_is_the_commands(self):
        done = self.cage.probed(["flock", "-n", ".", "echo", "got"])
        self.assertEqual((done.returncode, done.stdout), (0, "got\n"), done.stderr)
        folder = os.open(str(self.cage.workspace), os.O_RDONLY | os.O_DIRECTORY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)  # like a build outside, for which commands need not wait
        self.assertEqual(self.cage.probed(["true"]).returncode, 0)


class CleaningLock:
    """A lock like that of a launcher that removes placeholders: see launcher/placeholders.cc."""

    def __init__(self, folder):
        self.fd = os.open(str(folder), os.O_RDONLY | os.O_DIRECTORY)
        byte = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 1, 1, 0)
        fcntl.fcntl(self.fd, F_OFD_SETLK, byte)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)


globals().update(cage.for_each_user(Life))

if __name__ == "__main__":
    unittest.main()
