"""Git in the sandbox: what works, what cannot be written, and what is reported.

Git obeys most files of a git folder outside any sandbox. So ordinary work must succeed, every other
write must fail, and a later `git status` of the user must run no program that a command left.
"""

import os
import shutil
import time
import unittest

import cage

GIT = "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main"

# Name and script. Each starts in a repository with two commits on main and two branches.
WORKS = {
    "add": "echo x > new && git add new && git diff --cached --name-only | grep -q new",
    "commit": "echo x > new && git add new && {git} commit -qm new && git log -1 | grep -q new",
    "commit -a, amend": "echo y >> a && {git} commit -qam y && {git} commit -q --amend -m z",
    "checkout -b": "git checkout -q -b topic && git symbolic-ref HEAD | grep -q topic",
    "switch and restore": "git switch -q other && echo x > b && git restore b",
    "merge": "{git} merge -q --no-edit other && test -f b",
    "merge with a conflict":
        "{git} merge -q clash; git checkout -q --ours a && git add a && {git} commit -qm m",
    "merge that is aborted": "{git} merge -q clash; git merge --abort && git diff --quiet",
    "rebase": "git checkout -q other && {git} rebase -q main && git log --oneline | grep -q two",
    "rebase with a conflict": "git checkout -q clash && {git} rebase main; "
                              "git checkout -q --theirs a && git add a && "
                              "GIT_EDITOR=true {git} rebase --continue",
    "rebase that is aborted":
        "git checkout -q clash && {git} rebase -q main; git rebase --abort",
    "rebase -i": "GIT_SEQUENCE_EDITOR=true {git} rebase -q -i --exec true HEAD~1",
    "stash": "echo x >> a && {git} stash -q && git diff --quiet && {git} stash pop -q && "
             "! git diff --quiet",
    "fetch": "git fetch -q ./remote.git main && test -s .git/FETCH_HEAD",
    "fetch into a branch": "git fetch -q ./remote.git main:refs/remotes/r/main",
    "shallow fetch": "git fetch -q --depth 1 file://$PWD/remote.git main",
    "pull": "{git} pull -q --no-rebase ./remote.git other",
    "push": "git checkout -q other && echo x > p && git add p && {git} commit -qm p && "
            "git push -q ./remote.git other",
    "cherry-pick": "{git} cherry-pick other > /dev/null",
    "revert": "{git} revert --no-edit HEAD > /dev/null",
    "tag": "git tag one && {git} tag -a -m x two && git tag -d one",
    "reset --hard": "echo x >> a && git reset -q --hard HEAD~1",
    "bisect": "git bisect start HEAD HEAD~1 > /dev/null && git bisect run true > /dev/null; "
              "git bisect reset 2> /dev/null",
    "branch and its removal": "git branch gone && git branch -D gone 2> /dev/null",
    "notes": "{git} notes add -m hi",
    "worktree": "git worktree add -q wt 2> /dev/null && cd wt && echo x > w && git add w && "
                "{git} commit -qm w && {git} rebase -q main && cd .. && git worktree list | "
                "grep -q wt && git worktree remove wt",
    "gc": "{git} gc -q && git fsck 2> /dev/null && git count-objects -v | grep -q 'packs: [1-9]'",
    "am": "git format-patch -q -1 other && git checkout -q -b mail && {git} am -q *.patch",
    "apply": "git diff HEAD~1 > /tmp/p && git apply -R /tmp/p && git apply /tmp/p",
    "blame, log, grep": "git blame a > /dev/null && git log -p > /dev/null && git grep -q one",
    "clone within": "git clone -q . copy && git -C copy log --oneline | grep -q one",
    "init --shared": "{git} init -q --shared shared && test -g shared/.git/refs && cd shared && "
                     "echo x > f && git add f && {git} commit -qm f",
    "init within": "git init -q made && cd made && git config core.bare false",
}

# Paths that must not be written. {git} is the git folder.
FORBIDDEN = [
    "config", "config.worktree", "config.lock", "commondir", "gitdir", "hooks/post-checkout",
    "info/attributes", "info/exclude", "info/sparse-checkout", "info/grafts", "description",
    "modules/x/config", "remotes/origin", "branches/origin", "unknown", "unknown.lock",
    "index/../config", "logs/../commondir", "worktrees/x/config.worktree", "worktrees/x/config",
    "worktrees/x/hooks/y", "worktrees/x/info/attributes", "objects/../hooks/x",
]

# Creates a file by a syscall other than open.
OTHER_CALLS = {
    "rename": "echo x > f && perl -e 'rename \"f\", \"{path}\" or exit 1'",
    "rename within": "echo x > {git}/MERGE_X && perl -e 'rename \"{git}/MERGE_X\", \"{path}\" or "
                     "exit 1'",
    "hard link": "echo x > f && ln f {path}",
    "hard link within": "echo x > {git}/objects/f && ln {git}/objects/f {path}",
    "symlink": "ln -s /etc/passwd {path}",
    "folder": "mkdir {path}",
    "mknod": "python3 -c 'import os; os.mknod(\"{path}\")'",
    "through a link": "ln -s {git} l && echo x > l/{name}",
    "from inside": "cd {git} && echo x > {name}",
    "by the process": "echo x > /proc/self/cwd/{path}",
}

# A second place for the configuration: a program that reads it would run a command.
PROGRAM = "[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = touch {mark}; false\\n"


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Git(cage.Caged):
    def setUp(self):
        self.ws = self.cage.base / f"repo_{time.monotonic_ns()}"
        self.ws.mkdir()
        self.cage.own()
        self.host(f"git init -q -b main . && echo one > a && git add a && {GIT} commit -qm one && "
                  "git branch clash && echo two >> a && mkdir sub && echo s > sub/s && "
                  f"git add . && {GIT} commit -qm two && git checkout -q -b other && echo b > b && "
                  f"git add b && {GIT} commit -qm other && git checkout -q clash && "
                  f"echo three >> a && {GIT} commit -qam clash && git checkout -q main && "
                  "git clone -q --bare . remote.git && mkdir -p .git/hooks .git/info")

    def host(self, script, cwd=None, check=True):
        done = self.cage._run(["bash", "-c", script], cwd=cwd or self.ws)
        if check:
            self.assertEqual(done.returncode, 0, (script, done.stdout, done.stderr))
        return done

    def inside(self, script, **options):
        script = script.replace("{git} ", GIT + " ")
        return self.cage.probed(["bash", "-c", script.replace("{", "{{").replace("}", "}}")],
                                workspace=options.pop("workspace", self.ws), **options)

    def state(self, folder=None):
        """The content of a git folder that no command may change."""
        folder = folder or self.ws / ".git"
        return {str(p.relative_to(folder)): (p.lstat().st_mode, p.read_bytes() if p.is_file()
                                             else b"")
                for p in folder.rglob("*")
                if p.relative_to(folder).parts[0] not in ("objects", "logs", "index", "refs",
                                                          "MERGE_X")}

    # --- what works ---

    def test_ordinary_work(self):
        for name, script in WORKS.items():
            with self.subTest(name):
                self.setUp()
                done = self.inside(script)
                self.assertEqual(done.returncode, 0, (done.stdout, done.stderr))
                self.host("git fsck --no-dangling && git status")

    def test_what_it_makes_belongs_to_the_owner(self):
        self.inside("echo x > new && git add new && {git} commit -qm new")
        for path in self.ws.rglob("*"):
            self.assertEqual(path.lstat().st_uid, self.uid, path)
        self.inside("umask 077; echo y > new && git add new")
        self.assertEqual((self.ws / ".git/index").stat().st_mode & 0o777, 0o600)

    def test_locks_exclude_each_other(self):
        (self.ws / ".git/index.lock").touch()
        done = self.inside("echo x > new; git add new")
        self.assertIn("File exists", done.stderr)
        (self.ws / ".git/index.lock").unlink()

    def test_a_failed_call_fails_as_it_would_outside(self):
        script = ("import os\n"
                  "def code(call, *words):\n"
                  "    try: call(*words)\n"
                  "    except OSError as e: return e.errno\n"
                  "print(code(os.unlink, '.git/MERGE_HEAD'), code(os.unlink, '.git/none'),\n"
                  "      code(os.open, '.git/ORIG_HEAD', os.O_WRONLY),\n"
                  "      code(os.mkdir, '.git/rebase-merge/x'), code(os.rmdir, '.git/logs'),\n"
                  "      code(os.mkdir, '.git/hooks'),\n"
                  "      code(os.rename, '.git/MERGE_A', '.git/MERGE_B'))\n")
        here = self.host(f"python3 -c \"{script}\"").stdout.split()
        done = self.inside(f"python3 -c \"{script}\"")
        self.assertEqual(done.stdout.split()[:4], here[:4], done.stderr)
        self.assertEqual(done.stdout.split()[5:], here[5:])

    # --- what does not ---

    def test_nothing_else_can_be_written(self):
        before = self.state()
        for name in FORBIDDEN:
            with self.subTest(name):
                done = self.inside(f"mkdir -p .git/{os.path.dirname(name)} 2>/dev/null; "
                                   f"echo x > .git/{name}")
                self.assertNotEqual(done.returncode, 0, done.stderr)
        shutil.rmtree(self.ws / ".git/worktrees", ignore_errors=True)
        self.assertEqual(self.state(), before)

    def test_nothing_else_can_be_written_by_other_calls(self):
        before = self.state()
        for how, script in OTHER_CALLS.items():
            for name in ("commondir", "config", "unknown"):
                with self.subTest(how, name=name):
                    filled = script.format(git=".git", path=f".git/{name}", name=name)
                    done = self.inside(filled)
                    self.assertNotEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(self.state(), before)
                    for left in ("f", "l"):
                        if (self.ws / left).is_symlink() or (self.ws / left).exists():
                            (self.ws / left).unlink()

    def test_nothing_can_be_removed_or_moved_away(self):
        before = self.state()
        for script in ("rm .git/config", "rm -rf .git/hooks", "mv .git g", "mv .git/hooks h",
                       "mv .git/info .git/logs/i", "rm -rf .git/info", "chmod 777 .git/config",
                       "truncate -s0 .git/config", "touch -d 2001-01-01 .git/config",
                       "rmdir .git/objects", "mv .git/refs .git/rebase-merge"):
            with self.subTest(script):
                self.assertNotEqual(self.inside(script).returncode, 0)
                self.assertEqual(self.state(), before)

    def test_what_needs_more_fails_and_is_a_violation(self):
        for script in ("git config core.pager x", "git remote add o /x",
                       "git -c protocol.file.allow=always submodule add ./remote.git m",
                       "git config --worktree a.b c", "git sparse-checkout set sub"):
            with self.subTest(script):
                done = self.inside(script)
                self.assertNotEqual(done.returncode, 0)
                told = [r for r in done.reports if r["event"] == "violation"]
                self.assertTrue(told, done.stderr)
                self.assertFalse(told[0]["advisory"])
                self.assertEqual(told[0]["kind"], "filesystem")

    def test_the_user_s_own_git_runs_nothing_afterwards(self):
        mark = self.cage.base / "ran"
        program = PROGRAM.replace("{mark}", str(mark))
        attacks = {
            "commondir": "cp -r .git evil; printf '%s' > evil/config; "
                         "echo ../evil > .git/commondir",
            "config.worktree": "printf '%s' > .git/config.worktree",
            "a worktree's commondir": "git worktree add -q wt; cp -r .git evil; "
                                      "printf '%s' > evil/config; "
                                      "echo $PWD/evil > .git/worktrees/wt/commondir; "
                                      "rm -f .git/worktrees/wt/commondir; "
                                      "echo $PWD/evil > .git/worktrees/wt/commondir",
            "a worktree that is made by hand": "cp -r .git evil; printf '%s' > evil/config; "
                                               "mkdir -p .git/worktrees/wt wt; "
                                               "echo ../../../evil > .git/worktrees/wt/commondir; "
                                               "cp .git/HEAD .git/worktrees/wt; "
                                               "echo gitdir: $PWD/.git/worktrees/wt > wt/.git",
            "a hook": "printf '#!/bin/sh\\ntouch MARK' > .git/hooks/post-index-change; "
                      "chmod +x .git/hooks/post-index-change",
        }
        for name, script in attacks.items():
            with self.subTest(name):
                self.setUp()
                self.host("git config extensions.worktreeConfig true")
                self.inside(script.replace("%s", program).replace("MARK", str(mark)))
                for folder in (self.ws, self.ws / "wt"):
                    if folder.exists():
                        self.host("git status; git add -A; git diff; git log -1", cwd=folder,
                                  check=False)
                self.assertFalse(mark.exists())

    def test_a_path_that_is_swapped_reaches_nothing_else(self):
        script = """
import ctypes, os, threading
libc = ctypes.CDLL(None)
good, bad = b".git/MERGE_X\\0\\0", b".git/commondir\\0"
text = ctypes.create_string_buffer(good, 64)
stop = False
def swap():
    while not stop:
        ctypes.memmove(text, bad, len(bad)); ctypes.memmove(text, good, len(good))
thread = threading.Thread(target=swap); thread.start()
done = 0
for _ in range(20000):
    fd = libc.open(text, os.O_CREAT | os.O_WRONLY, 0o644)
    if fd >= 0:
        done += 1
        os.close(fd)
stop = True
thread.join()
print(done > 0, os.path.exists(".git/commondir"))
"""
        (self.ws / "swap.py").write_text(script)
        done = self.inside("python3 swap.py")
        self.assertEqual(done.stdout, "True False\n", done.stderr)
        self.assertFalse((self.ws / ".git/commondir").exists())

    def test_the_configuration_stays_protected_when_the_user_replaces_it(self):
        running = self.cage.started(
            ["bash", "-c", "until test -e go; do sleep 0.02; done; echo x >> .git/config; "
             "echo x > .git/hooks/x"], workspace=self.ws)
        self.addCleanup(running.end)
        running.wait_for("started")
        self.host("git config a.b c && git remote add o /x && rm -rf .git/hooks && "
                  "mkdir .git/hooks")
        before = self.state()
        self.host("touch go")
        running.wait_for("exited")
        self.assertEqual(self.state(), before)

    # --- where else git folders are ---

    def refuses_in(self, folder, **options):
        before = self.state(folder)
        for name in ("config", "commondir", "hooks/post-checkout", "config.worktree", "unknown"):
            with self.subTest(name, folder=folder):
                done = self.inside(f"echo x > {folder}/{name}", **options)
                self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.state(folder), before)

    def test_submodules(self):
        self.host(f"{GIT} -c protocol.file.allow=always submodule --quiet add ./remote.git "
                  f"mod/one && {GIT} commit -qm sub")
        self.refuses_in(self.ws / ".git/modules/mod/one")
        done = self.inside("cd mod/one && echo x > n && git add n && {git} commit -qm n && "
                           "cd ../.. && git add mod && {git} commit -qm up && "
                           "git status --short mod")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        done = self.inside("rm -f mod/one/.git; echo gitdir: ../../remote.git > mod/one/.git")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotEqual(self.inside("mv mod m").returncode, 0)

    def test_linked_worktrees(self):
        self.host("git worktree add -q wt other")
        before = self.state()
        for name in ("commondir", "gitdir", "config.worktree", "config", "hooks"):
            with self.subTest(name):
                self.assertNotEqual(
                    self.inside(f"echo x > .git/worktrees/wt/{name}").returncode, 0)
        self.assertEqual(self.state(), before)
        done = self.inside("cd wt && echo x > n && git add n && {git} commit -qm n && "
                           "git checkout -q -b more")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(self.inside("echo gitdir: /x > wt/.git").returncode, 0)

    def test_a_workspace_that_is_a_linked_worktree(self):
        self.host("git worktree add -q ../linked other")
        linked = self.cage.base / "linked"
        self.addCleanup(shutil.rmtree, linked)
        words = self.cage.probe_words(["bash", "-c", "echo x > n && git add n && "
                                       f"{GIT} commit -qm n; echo x > {self.ws}/.git/config; "
                                       f"echo x > {self.ws}/.git/worktrees/linked/commondir"],
                                      workspace=linked)
        before = self.state()
        done = self.cage._run([*words[:3], "--root", str(self.ws), *words[3:]])
        self.assertEqual(done.stderr.count("Read-only file system"), 2, done.stderr)
        self.assertEqual(before["config"], self.state()["config"])
        self.assertEqual(self.host("git log -1 --format=%s", cwd=linked).stdout, "n\n")

    def test_a_git_folder_elsewhere(self):
        self.host("git init -q --separate-git-dir store tree && cd tree && echo x > f")
        self.refuses_in(self.ws / "store")
        done = self.inside("cd tree && git add f && {git} commit -qm f")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotEqual(self.inside("echo gitdir: x > tree/.git").returncode, 0)

    def test_nested_and_bare_repositories(self):
        self.host("mkdir -p deep/er && git init -q deep/er/nested")
        self.refuses_in(self.ws / "deep/er/nested/.git")
        self.refuses_in(self.ws / "remote.git")
        self.assertNotEqual(self.inside("mv deep/er d").returncode, 0)

    def test_additional_roots(self):
        other = self.cage.base / "additional"
        self.host(f"git init -q {other}")
        self.addCleanup(shutil.rmtree, other)
        words = self.cage.probe_words(["bash", "-c", f"cd {other} && echo x > f && git add f && "
                                       f"{GIT} commit -qm f; echo x > .git/commondir"],
                                      workspace=self.ws)
        done = self.cage._run([*words[:3], "--root", str(other), *words[3:]])
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.host("git log -1 --format=%s", cwd=other).stdout, "f\n")

    def test_a_bare_repository_as_workspace(self):
        bare = self.ws / "remote.git"
        before = self.state(bare)
        done = self.inside("git update-ref refs/heads/x main && echo x > hooks/update",
                           workspace=bare)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.state(bare), before)
        self.assertTrue((bare / "refs/heads/x").exists())

    def test_without_notify_git_reads_and_writes_nothing(self):
        done = self.inside("git log -1 --format=%s; echo x > n; git add n", without="notify")
        self.assertEqual(done.stdout, "two\n")
        self.assertIn("Read-only file system", done.stderr)

    def test_a_repository_is_as_it_was_in_the_other_modes(self):
        done = self.inside("git add a; echo x > .git/index.lock", mode="read_only")
        self.assertNotEqual(done.returncode, 0)
        done = self.inside("git config a.b c", mode="full_access")
        self.assertEqual(done.returncode, 0, done.stderr)

    # --- what is reported ---

    def seen(self, script):
        done = self.cage.sandboxed(["bash", "-c", script], workspace=self.ws)
        return [line.removeprefix("agentrt: observed by inspection: ")
                for line in done.stderr.splitlines() if "observed by inspection" in line]

    def test_a_new_repository_that_names_a_program_is_reported(self):
        self.assertEqual(self.seen("git init -q plain; git clone -q . copy"), [])
        seen = self.seen("git init -q made && cd made && git config core.fsmonitor ./x && "
                         "git config filter.f.clean ./y && git config alias.l log && "
                         "printf '#!/bin/sh' > .git/hooks/pre-commit && "
                         "chmod +x .git/hooks/pre-commit")
        self.assertEqual(seen, [
            f"{self.ws}/made/.git/config sets a program that git runs: core.fsmonitor",
            f"{self.ws}/made/.git/config sets a program that git runs: filter.f.clean",
            f"{self.ws}/made/.git/hooks/pre-commit is a new or changed hook that git runs"])

    def test_files_that_other_programs_obey_are_reported(self):
        (self.ws / ".envrc").write_text("x\n")
        (self.ws / ".vscode").mkdir()
        (self.ws / ".vscode/tasks.json").write_text("{}\n")
        self.cage.own()
        self.assertEqual(self.seen("cat .envrc .vscode/tasks.json; touch package.json Makefile"),
                         [])
        seen = self.seen("echo y >> .envrc; mkdir -p .husky; echo x > .husky/pre-commit; "
                         "echo x > .vscode/tasks.json; echo x > .npmrc")
        self.assertEqual(sorted(s.split(" ")[0].removeprefix(f"{self.ws}/") for s in seen),
                         [".envrc", ".husky/pre-commit", ".npmrc", ".vscode/tasks.json"])

    def test_a_rebase_plan_with_commands_is_reported(self):
        seen = self.seen("GIT_SEQUENCE_EDITOR='echo exec touch x >' "
                         f"{GIT} rebase -i HEAD~1; mkdir -p .git/rebase-merge; "
                         "echo 'exec touch x' > .git/rebase-merge/git-rebase-todo")
        self.assertEqual(len(seen), 1, seen)
        self.assertIn("rebase-merge/git-rebase-todo", seen[0])


globals().update(cage.for_each_user(Git))

if __name__ == "__main__":
    unittest.main()
