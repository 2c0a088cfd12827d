"""`agentrt sandbox` and `agentrt doctor`, as a user runs them."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import cage

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs/sandbox.md"
NO_NAMESPACES = "echo 0 > /proc/sys/user/max_user_namespaces; exec \"$@\""


class Command(cage.Caged):
    def agentrt(self, *words, **options):
        return self.cage._run([cage.AGENTRT, "--data", str(self.cage.data), *words],
                              cwd=options.pop("cwd", self.cage.workspace), **options)

    # --- exit codes and streams ---

    def test_the_exit_code_is_the_commands(self):
        for words, code in ((["true"], 0), (["bash", "-c", "exit 7"], 7),
                            (["bash", "-c", "kill -TERM $$"], 128 + signal.SIGTERM),
                            (["bash", "-c", "kill -KILL $$"], 128 + signal.SIGKILL),
                            (["no-such-command"], 127), (["/etc/passwd"], 126),
                            (["/nowhere/x"], 127)):
            with self.subTest(words=words):
                self.assertEqual(self.cage.sandboxed(words).returncode, code)

    def test_streams_are_those_of_the_caller(self):
        done = subprocess.run([cage.AGENTRT, "--data", str(self.cage.data), "sandbox", "--cwd",
                               str(self.cage.workspace), "--", "bash", "-c",
                               "read x; echo out $x; echo err >&2"], input="hello\n", text=True,
                              capture_output=True, env=self.cage.environment(),
                              **self.cage.identity())
        self.assertEqual((done.stdout, done.stderr), ("out hello\n", "err\n"))

    def test_a_signal_to_us_reaches_the_command(self):
        process = subprocess.Popen(
            [cage.AGENTRT, "--data", str(self.cage.data), "sandbox", "--cwd",
             str(self.cage.workspace), "--", "bash", "-c",
             "trap 'exit 9' INT; echo up; while :; do sleep 0.05; done"],
            stdout=subprocess.PIPE, text=True, env=self.cage.environment(),
            start_new_session=True, **self.cage.identity())
        self.assertEqual(process.stdout.readline(), "up\n")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        self.assertEqual(process.wait(5), 9)
        process.stdout.close()

    def test_killed_it_leaves_nothing(self):
        mark = f"orphan-{os.getpid()}-{time.monotonic_ns()}"
        process = subprocess.Popen(
            [cage.AGENTRT, "--data", str(self.cage.data), "sandbox", "--cwd",
             str(self.cage.workspace), "--", "bash", "-c", f"exec -a {mark} sleep 1000"],
            env=self.cage.environment(), **self.cage.identity())
        cage.wait_until(lambda: len(cage.processes_with(mark)) >= 2)
        process.kill()
        process.wait()
        cage.wait_until(lambda: not cage.processes_with(mark), what="the command to end")

    # --- workspaces ---

    def run_in(self, workspace, script, **options):
        return self.cage.sandboxed(["bash", "-c", script], workspace=workspace, **options)

    def assert_works_in(self, workspace, real=None):
        done = self.run_in(workspace, "pwd; echo x > made && cat made")
        self.assertEqual((done.returncode, done.stdout), (0, f"{real or workspace}\nx\n"),
                         done.stderr)
        made = pathlib.Path(workspace, "made")
        self.assertEqual((made.read_text(), made.stat().st_uid), ("x\n", self.uid))
        made.unlink()

    def test_a_workspace_by_symlink_is_what_it_leads_to(self):
        link = self.cage.base / "link"
        link.symlink_to(self.cage.workspace)
        self.assert_works_in(link, self.cage.workspace)
        link.unlink()

    def test_a_workspace_below_tmp(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="agentrt_ws_"))
        self.addCleanup(shutil.rmtree, folder)
        other = pathlib.Path(tempfile.mkdtemp(prefix="agentrt_other_"))
        self.addCleanup(shutil.rmtree, other)
        if os.geteuid() == 0:
            os.chown(folder, self.uid, self.uid)
        self.assert_works_in(folder)
        done = self.run_in(folder, "ls /tmp")
        self.assertEqual(done.stdout, folder.name + "\n")

    def test_a_workspace_below_shared_memory(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="agentrt_ws_", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, folder)
        (folder / "in/ner").mkdir(parents=True)
        if os.geteuid() == 0:
            for each in (folder, folder / "in", folder / "in/ner"):
                os.chown(each, self.uid, self.uid)
        self.assert_works_in(folder)
        self.assert_works_in(folder / "in/ner")

    def test_a_workspace_in_a_folder_of_its_owner_alone(self):
        closed = self.cage.base / "closed"
        (closed / "ws").mkdir(parents=True)
        (closed / "diary").write_text(cage.SECRET)
        self.cage.own()
        os.chmod(closed, 0o700)
        self.assert_works_in(closed / "ws")
        done = self.run_in(closed / "ws", "cat ../diary; true")
        if self.uid == 0:  # another user may not even read the folder
            self.assertNotIn(cage.SECRET, done.stdout)

    def test_a_home_as_workspace_keeps_its_secrets(self):
        home = self.cage.home
        done = self.run_in(home, "cat .ssh/id; mkdir -p .config/agentrt && "
                           "echo x > .config/agentrt/config.toml; echo y > .ssh/authorized_keys; "
                           "echo z > fine")
        self.assertNotIn(cage.SECRET, done.stdout)
        self.assertEqual(sorted(p.name for p in home.iterdir()), [".ssh", "fine"])
        self.assertEqual([p.name for p in (home / ".ssh").iterdir()], ["id"])
        (home / "fine").unlink()

    def test_what_is_hidden_does_not_move_with_its_folder(self):
        secret = self.cage.home / ".cargo/credentials.toml"
        secret.parent.mkdir()
        secret.write_text(cage.SECRET)
        self.cage.own()
        for mode in ("workspace_write", "full_access"):
            with self.subTest(mode):
                self.run_in(self.cage.home, "mv .cargo c2", arguments=["--profile", mode])
                done = self.run_in(self.cage.home, "cat c2/credentials.toml .cargo/*",
                                   arguments=["--profile", mode])
                self.assertNotIn(cage.SECRET, done.stdout)
                self.assertEqual(secret.read_text(), cage.SECRET)
        done = self.run_in(self.cage.home, "echo x > .cargo/env && cat .cargo/env")
        self.assertEqual(done.stdout, "x\n", done.stderr)
        shutil.rmtree(secret.parent)

    def test_a_workspace_that_holds_the_data_does_not_show_it(self):
        done = self.run_in(self.cage.base, "cat data/token; ls -A data; echo x > data/y; "
                           "echo x > fine && cat fine; rm fine")
        self.assertEqual(done.stdout, "x\n", done.stderr)
        self.assertEqual([p.name for p in self.cage.data.iterdir()], ["token"])

    def test_workspaces_that_cannot_be_one_are_refused(self):
        inside = self.cage.data / "ws"
        inside.mkdir(exist_ok=True)
        self.cage.own()
        for folder, word in (("/", "cannot be /"), (inside, "is hidden"),
                             (self.cage.base / "absent", "not a folder"),
                             (self.cage.outside / "file", "not a folder")):
            with self.subTest(folder=str(folder)):
                done = self.run_in(folder, "echo ran")
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                self.assertIn(word, done.stderr)
        inside.rmdir()

    def test_a_git_folder_that_is_a_link_is_refused(self):
        bare = self.cage.base / "bare"
        (bare / ".git").symlink_to(self.cage.outside)
        done = self.run_in(bare, "echo ran")
        (bare / ".git").unlink()
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(".git", done.stderr)

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_git_works_inside_but_for_its_configuration(self):
        repository = self.cage.base / "repository"
        repository.mkdir()
        self.cage.own()
        git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
        self.cage._run(["git", "init", "-q", str(repository)])
        words = " ".join(git)
        done = self.run_in(repository, f"echo x > f; git add f && {words} commit -qm m && "
                           f"git checkout -qb other && git gc -q && git log --oneline")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.run_in(repository, "git config core.hooksPath x").returncode == 0,
                         False)

    # --- profile, refusal, doctor ---

    def test_explain_prints_the_profile_and_what_is_in_force(self):
        done = self.agentrt("sandbox", "--explain")
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in ("workspace_write", str(self.cage.workspace), str(self.cage.data), "landlock",
                     "seccomp"):
            self.assertIn(word, done.stdout)
        explained = json.loads(self.agentrt("sandbox", "--explain", "--json").stdout)
        self.assertTrue(explained["applied"])
        self.assertIn(str(self.cage.workspace), explained["profile"]["roots"])

    def without_namespaces(self, *words):
        return self.cage._run(["unshare", "-Ur", "bash", "-c", NO_NAMESPACES, "x", cage.AGENTRT,
                               "--data", str(self.cage.data), *words], cwd=self.cage.workspace)

    def test_without_namespaces_nothing_runs(self):
        done = self.without_namespaces("sandbox", "--", "touch", "ran")
        self.assertEqual(done.returncode, 125, (done.stdout, done.stderr))
        self.assertIn("the command was not run", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertFalse((self.cage.workspace / "ran").exists())

    def test_doctor_names_the_layer_that_is_missing_and_the_remedy(self):
        done = self.without_namespaces("doctor", "--json")
        report = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
        self.assertEqual(done.returncode, 1)
        self.assertFalse(report["sandbox verdict"]["ok"])
        self.assertFalse(report["sandbox userNamespace"]["ok"])
        self.assertIn("max_user_namespaces", report["sandbox userNamespace"]["remedy"])
        self.assertTrue(report["sandbox seccomp"]["ok"], report["sandbox seccomp"])
        self.assertTrue(report["sandbox landlock"]["ok"], report["sandbox landlock"])

    def test_doctor_has_a_row_for_each_layer_of_the_page(self):
        done = self.agentrt("doctor", "--json")
        rows = {check["name"].removeprefix("sandbox ") for check in
                json.loads(done.stdout)["checks"] if check["name"].startswith("sandbox ")}
        written = set(re.findall(r"^\| `(\w+)` \|", DOCS.read_text(), re.M))
        self.assertEqual(rows - {"verdict"}, written - (set() if self.uid == 0 else {"identity"}))


globals().update(cage.for_each_user(Command))

if __name__ == "__main__":
    unittest.main()
