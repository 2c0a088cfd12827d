"""Resource limits: what a greedy command runs into, and how that is reported."""

import os
import pathlib
import re
import resource
import unittest

import cage


def attack(*words):
    return ["{attack}", *words]


class Limits(cage.Caged):
    def layers(self, done):
        return next(r["layers"] for r in done.reports if r["event"] == "ready")

    def test_a_fork_bomb_stops_at_the_limit(self):
        self.assertEqual(self.cage.plain(attack("fork_many", "300")).returncode, 0)
        inside = self.cage.probed(attack("fork_many", "300"), processes=100)
        self.assertEqual((inside.returncode, inside.stdout), (1, "99\n"), inside.reports)
        without = self.cage.probed(attack("fork_many", "300"), processes=100,
                                   without="limits,cgroup")
        self.assertEqual(without.returncode, 0)

    def test_each_layer_alone_stops_a_fork_bomb(self):
        for other in ("limits", "cgroup"):
            with self.subTest(without=other):
                done = self.cage.probed(attack("fork_many", "300"), processes=100, without=other)
                alone = {"limits": "cgroup", "cgroup": "limits"}[other]
                if not self.layers(done).get(alone, {}).get("enforced"):
                    continue  # this user has no cgroup; only rlimits were tested
                self.assertEqual((done.returncode, done.stdout), (1, "99\n"))
                exited = done.reports[-1]
                self.assertEqual(exited["limitsHit"], ["processes"] if alone == "cgroup" else [])

    def test_sandboxes_do_not_share_the_number_of_processes(self):
        one = self.cage.started(attack("fork_many", "90"), processes=100)
        self.addCleanup(one.end)
        two = self.cage.probed(attack("fork_many", "90"), processes=100)
        self.assertEqual(two.returncode, 0, two.stdout)
        self.assertEqual(one.wait_for("exited")["code"], 0)

    def test_a_memory_hog_ends_or_is_said_to_be_free(self):
        done = self.cage.probed(attack("take_memory", "300"), memory=64 << 20)
        if self.layers(done)["cgroup"]["enforced"]:
            self.assertEqual(done.returncode, 137, done.stdout)
            self.assertEqual(done.reports[-1]["limitsHit"], ["memory"])
            self.assertIn("64 MiB of memory", self.layers(done)["cgroup"]["how"])
            self.assertNotIn("not enforced", self.layers(done)["limits"]["how"])
        else:
            self.assertEqual(done.returncode, 0)
            self.assertIn("memory: not enforced", self.layers(done)["limits"]["how"])
        plain = self.cage.probed(attack("take_memory", "300"), memory=64 << 20, without="cgroup")
        self.assertEqual(plain.returncode, 0)
        self.assertIn("memory: not enforced", self.layers(plain)["limits"]["how"])

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a cgroup tree")
    def test_a_cgroup_tree_that_is_mounted_many_times_is_one(self):
        if self.uid != 0:
            self.skipTest("these cgroups are root's")
        mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
        trees = [line.split()[4] for line in mounts if " - cgroup " in line and "pids" in line]
        if not trees:
            self.skipTest("version 1 has a tree of its own for processes")
        places = [self.cage.base / f"tree{i}" for i in range(12)]
        for place in places:
            place.mkdir()
        for count in (1, len(places)):
            mount = "".join(f"mount --bind {trees[0]} {place} && " for place in places[:count])
            with self.subTest(mounts=count):
                words = self.cage.probe_words(["true"], require="cgroup")
                done = self.cage._run(["unshare", "-m", "bash", "-c", mount + 'exec "$@"', "x",
                                       *words])
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_descriptors_run_out_inside_alone(self):
        done = self.cage.probed(attack("open_many", "500"), files=200)
        self.assertEqual(done.returncode, 1)
        self.assertLess(int(done.stdout), 200)
        without = self.cage.probed(attack("open_many", "500"), files=200, without="limits")
        self.assertEqual(without.returncode, 0)

    def test_a_limit_above_the_callers_is_the_callers(self):
        def less():
            resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
        words = self.cage.probe_words(["bash", "-c", "ulimit -n"])
        done = self.cage._run(words, preexec_fn=less)
        self.assertEqual((done.returncode, done.stdout), (0, "300\n"), done.stderr)

    def test_tmp_and_shared_memory_are_small_and_private(self):
        for place in ("/tmp", "/dev/shm"):
            with self.subTest(place):
                done = self.cage.probed(["bash", "-c", f"head -c 3M /dev/zero > {place}/x"],
                                        tmp=1 << 20)
                self.assertEqual(done.returncode, 1)
                self.assertIn("No space left", done.stderr)
                done = self.cage.probed(["bash", "-c", f"ls -A {place}; touch {place}/mine-only"])
                self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
                self.assertFalse(pathlib.Path(place, "mine-only").exists())

    def test_a_file_can_be_bounded(self):
        done = self.cage.probed(["head", "-c", "3M", "/dev/zero"], file_bytes=1 << 20)
        self.assertEqual(done.returncode, 0)  # the limit does not apply to a pipe
        done = self.cage.probed(["bash", "-c", "head -c 3M /dev/zero > big"], file_bytes=1 << 20)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual((self.cage.workspace / "big").stat().st_size, 1 << 20)

    def test_groups_are_removed(self):
        before = cage.command_groups()
        done = self.cage.probed(["cat", "/proc/self/cgroup"])
        own = set(re.findall("agentrt-run-[0-9]+", done.stdout))
        left = {pathlib.Path(folder).name for folder in cage.command_groups() - before}
        self.assertEqual(own & left, set())

    def test_the_environment_is_what_was_asked_for(self):
        done = self.cage.probed(["env"])
        names = {line.split("=")[0] for line in done.stdout.splitlines()}
        self.assertEqual(names, {"PATH", "HOME", "LANG"})

    def test_files_belong_to_whoever_owns_the_workspace(self):
        done = self.cage.probed(["bash", "-c", "umask; echo x > mine; mkdir d; stat -c %U:%a mine"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0], "0022")
        for name, mode in (("mine", 0o644), ("d", 0o755)):
            stat = (self.cage.workspace / name).stat()
            self.assertEqual((stat.st_uid, stat.st_gid, stat.st_mode & 0o777),
                             (self.uid, self.uid, mode))

    def test_writes_elsewhere_are_told_as_advice(self):
        script = ("echo x > {out}/file; mkdir {out}/d; ln -s a {out}/l; touch sub/../ok; "
                  "echo x > sub/../../outside/y; mv ok {out}/ok; echo x > .git/config; "
                  "echo x > /tmp/fine; cat {out}/file; true")
        done = self.cage.probed(["bash", "-c", script], watch=1)
        told = [r for r in done.reports if r["event"] == "violation"]
        config = f"{self.cage.workspace}/.git/config"
        self.assertTrue(all(r["kind"] == "filesystem" for r in told), told)
        # In a git folder the supervisor itself refuses, so the violation is not advisory.
        self.assertEqual([r["attempted"] for r in told if not r["advisory"]], [f"openat {config}"])
        paths = {r["attempted"].split(" ", 1)[1] for r in told}
        out = str(self.cage.outside)
        self.assertEqual(paths, {f"{out}/file", f"{out}/d", f"{out}/l", f"{out}/y", f"{out}/ok",
                                 config})
        done = self.cage.probed(["bash", "-c", script])
        self.assertEqual([r["attempted"] for r in done.reports if r["event"] == "violation"],
                         [f"openat {config}"])

    def test_a_missing_layer_that_is_required_refuses(self):
        trace = self.cage.workspace / "trace"
        for layer in ("landlock", "cgroup", "networkNamespace", "notify"):
            with self.subTest(layer):
                done = self.cage.probed(["touch", "{ws}/trace"], require=layer, without="")
                runs = done.returncode == 0
                self.assertEqual(runs, trace.exists())
                trace.unlink(missing_ok=True)
        done = self.cage.probed(["touch", "{ws}/trace"], without="seccomp", require="notify")
        self.assertEqual(done.returncode, 125)
        self.assertFalse(trace.exists())
        self.assertEqual(done.reports[-1]["stage"], "notify is required but not enforced")

    def test_read_only_writes_nowhere(self):
        done = self.cage.probed(["bash", "-c", "touch x; touch .git/x; touch /tmp/x"],
                                mode="read_only")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("Read-only file system"), 2, done.stderr)

    def test_full_access_writes_where_its_user_may(self):
        done = self.cage.probed(["bash", "-c", "echo y > {out}/file; touch .git/hooks/mine; "
                                 "cat {data}/token {home}/.ssh/id"], mode="full_access")
        self.assertEqual((self.cage.outside / "file").read_text(), "y\n")
        self.assertTrue((self.cage.workspace / ".git/hooks/mine").exists())
        self.assertNotIn(cage.SECRET, done.stdout)
        (self.cage.workspace / ".git/hooks/mine").unlink()

    def test_the_network_of_the_host_where_it_is_allowed(self):
        self.assertEqual(self.cage.probed(attack("tcp", "127.0.0.1", "{port}"),
                                          network="host").returncode, 0)
        for words in (attack("stream", "{out}/stream"), attack("datagram", "{out}/datagram", "3"),
                      attack("stream", "{abstract}"), attack("vsock")):
            with self.subTest(words=words):
                self.assertEqual(self.cage.probed(words, network="host").returncode, 1)

    def test_without_a_namespace_there_is_no_network(self):
        for words in (attack("tcp", "127.0.0.1", "{port}"), attack("udp", "127.0.0.1", "{udp}")):
            done = self.cage.probed(words, without="networkNamespace")
            self.assertEqual(done.returncode, 1)
            self.assertIn("socket of family 2", str(done.reports))

    def test_without_a_listener_there_are_no_local_sockets(self):
        done = self.cage.probed(attack("stream", "{out}/stream"), without="notify")
        self.assertEqual((done.returncode, done.stdout), (1, "Operation not permitted\n"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root to cover a part of /proc")
    def test_a_proc_that_others_cover_in_part_leaves_an_empty_one(self):
        words = self.cage.probe_words(["bash", "-c", "echo /proc/*; echo ran"])
        drop = [] if self.uid == 0 else ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}",
                                         "--clear-groups"]
        inside = ["unshare", "-m", "bash", "-c",
                  "mount -t tmpfs none /proc/sys; exec \"$@\"", "x", *drop, *words]
        saved, self.cage.uid = self.cage.uid, 0
        try:
            done = self.cage._run(inside)
        finally:
            self.cage.uid = saved
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.endswith("ran\n"))
        if self.uid != 0:
            self.assertEqual(done.stdout, "/proc/*\nran\n")


globals().update(cage.for_each_user(Limits))

if __name__ == "__main__":
    unittest.main()
