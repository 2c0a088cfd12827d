"""File tools from outside: where they may work, what rules and secrets keep from them, and what a
change leaves on disk."""

import os
import subprocess
import unittest

from harness import Case

SECRET = "hunter2-hunter2-hunter2"


def call(name, **args):
    return {"name": name, "args": args}


class Files(Case):
    config = ('[redact]\nnames = ["MY_TOKEN"]\n'
              '[permissions]\ndeny = ["read_file(./secrets/**)", "write_file(./fixed.txt)"]\n'
              'ask = ["read_file(./private/)"]\nallow = ["write_file(./open/**)"]\n')
    daemon_at_start = False

    def setUp(self):
        super().setUp()
        self.home.environment["MY_TOKEN"] = SECRET
        self.start()
        self.put("a.txt", "one\ntwo\n")
        self.put("secrets/key.txt", "needle in secrets\n")
        self.put("private/p.txt", "needle in private\n")
        (self.home.folder / "outside.txt").write_text("needle outside\n")

    def put(self, path, text):
        target = self.home.workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)

    def made(self, *calls, **options):
        """The results of the calls, in the order in which they ended: text, or (category, message).
        """
        script = self.home.script("calls", [{"toolCalls": list(calls)}, {"text": "done"}])
        reply = self.daemon.ok(
            "submit_turn", input=[{"type": "text", "text": "go"}],
            options={"model": f"script:{script}", "mode": "bypass", **options})
        self.session = reply["sessionId"]
        self.daemon.wait_turn(reply)
        self.events = self.daemon.events(self.session)
        results = []
        for event in self.events:
            if event["type"] == "tool.result":
                results.append(event["payload"]["preview"])
            elif event["type"] == "tool.failed":
                error = event["payload"]["error"]
                results.append((error["category"], error["message"]))
        return results

    def one(self, name, options=None, **args):
        return self.made(call(name, **args), **(options or {}))[0]

    def test_the_users_global_git_excludes_are_honoured_as_git_does(self):
        git = ["git", "-C", str(self.home.workspace)]
        environment = self.home.environment
        for path in ("x.tmp", "keep.tmp", "top/a", "deep/top/a", "deep/b.log", "dir/c"):
            self.put(path, "needle\n")
        self.put(".gitignore", "!keep.tmp\n")
        home = self.home.folder
        (home / "config/git").mkdir(parents=True)
        patterns = "*.tmp\n/top/\n**/b.*\ndir\n"
        subprocess.run([*git, "init", "-q"], check=True, env=environment)
        for name, config in (("config/git/ignore", ""),
                             ("mine", "[include]\n\tpath = more\n")):
            with self.subTest(name):
                (home / name).write_text(patterns)
                (home / ".gitconfig").write_text(config)
                (home / "more").write_text("[core]\n\texcludesFile = ~/mine\n")
                files = [str(path.relative_to(self.home.workspace))
                         for path in self.home.workspace.rglob("*")
                         if path.is_file() and ".git" not in path.parts]
                done = subprocess.run([*git, "check-ignore", "--no-index", "--stdin"], text=True,
                                      env=environment, input="\n".join(files), capture_output=True)
                ignored = set(done.stdout.split())
                self.assertIn("top/a", ignored)
                listed = self.one("list_files", pattern="**").splitlines()
                shown = {line for line in listed if line in files}
                hidden = {"secrets/key.txt", "private/p.txt"}
                self.assertEqual(shown - hidden, set(files) - ignored - hidden)
                found = self.one("search_files", pattern="needle")
                self.assertIn("keep.tmp", found)
                self.assertNotIn("x.tmp", found)
                (home / name).unlink()

    def test_a_whole_number_may_be_written_with_a_fraction(self):
        self.assertEqual(self.one("read_file", path="a.txt", offset=2.0, limit=1e0),
                         self.one("read_file", path="a.txt", offset=2, limit=1))
        self.assertEqual(self.one("read_file", path="a.txt", offset=1.5)[0], "invalid_input")

    def test_nothing_leads_out_of_the_workspace(self):
        os.symlink("../outside.txt", self.home.workspace / "out")
        os.symlink("..", self.home.workspace / "up")
        os.mkfifo(self.home.workspace / "pipe")
        for path in ("../outside.txt", "out", "up/outside.txt", "/etc/passwd", "pipe",
                     str(self.home.folder / "outside.txt"), str(self.home.data / "token"),
                     "/proc/self/root/etc/passwd"):
            for name, more in (("read_file", {}), ("write_file", {"content": "mine"}),
                               ("edit_file", {"oldText": "needle", "newText": "mine"}),
                               ("search_files", {"pattern": "needle"})):
                result = self.one(name, path=path, **more)
                self.assertEqual(result[0], "denied", (name, path, result))
        self.assertEqual((self.home.folder / "outside.txt").read_text(), "needle outside\n")

    def test_a_deny_of_reading_holds_for_every_way_to_a_file(self):
        os.symlink("secrets/key.txt", self.home.workspace / "link")
        for name, more in (("read_file", {}), ("write_file", {"content": "mine"}),
                           ("edit_file", {"oldText": "needle", "newText": "mine"}),
                           ("search_files", {"pattern": "needle"})):
            for path in ("link", "secrets/key.txt"):
                result = self.one(name, path=path, **more)
                self.assertEqual(result[0], "denied", (name, path, result))
        found = self.one("search_files", pattern="needle")
        self.assertEqual(found, "[No line matches in 1 files.]\n"
                                "[Omitted because rules or the sandbox hide them: 2.]\n")
        listed = self.one("list_files", pattern="**")
        self.assertEqual(listed, "a.txt\nlink -> secrets/key.txt\n"
                                 "[Omitted because rules or the sandbox hide them: 2.]\n")
        kept = self.home.workspace / "secrets/key.txt"
        self.assertEqual(kept.read_text(), "needle in secrets\n")
        self.assertEqual(self.one("write_file", path="fixed.txt", content="x")[0], "denied")

    def test_a_link_is_judged_by_where_it_leads(self):
        for name, target in (("hub", ".github"), ("env", ".envrc")):
            os.symlink(target, self.home.workspace / name)
        self.put(".github/ci.yml", "steps\n")
        for path in ("hub/ci.yml", "hub/new.yml"):
            result = self.one("write_file", {"mode": "auto"}, path=path, content="mine\n")
            self.assertEqual(result[0], "denied", (path, result))
            self.assertIn("resolves to", result[1])
        self.assertEqual((self.home.workspace / ".github/ci.yml").read_text(), "steps\n")
        self.put("open/known.txt", "known\n")
        os.symlink("../a.txt", self.home.workspace / "open/link")
        alone = {"mode": "default", "interactive": False}
        self.assertEqual(self.one("write_file", alone, path="open/known.txt", content="mine\n"),
                         "Changed open/known.txt (+1 -1).")
        refused = self.one("write_file", alone, path="open/link", content="x\n")
        self.assertEqual(refused[0], "denied")
        self.assertEqual((self.home.workspace / "a.txt").read_text(), "one\ntwo\n")

    def test_rules_of_a_session_alone_hide_from_commands_too(self):
        self.put(".env", "hidden-value\n")
        script = self.home.script("env", [
            {"toolCalls": [call("shell", command="cat .env; true"),
                           call("read_file", path=".env")]},
            {"text": "done"}])
        done = self.home.run("run", "--mode", "bypass", "--deny", "read_file(./.env)", "--json",
                             "--model", f"script:{script}", "go")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("tool.result", done.stdout)
        self.assertNotIn("hidden-value", done.stdout + done.stderr)

    def test_the_runtime_itself_is_out_of_reach(self):
        """The workspace contains the runtime's data and configuration."""
        for path in ("data/token", "config/agentrt/config.toml", ".ssh/id", "data/new"):
            for name, more in (("read_file", {}), ("write_file", {"content": "mine"})):
                result = self.one(name, {"cwd": str(self.home.folder)}, path=path, **more)
                self.assertIn(result[0], ("denied", "not_found"), (name, path, result))
                if name == "write_file":
                    self.assertEqual(result[0], "denied", (path, result))
        for path in (".git/hooks/pre-commit", ".git/config", ".git", ".agentrt/config.toml",
                     ".claude/settings.json"):
            result = self.one("write_file", path=path, content="mine")
            self.assertEqual(result[0], "denied", (path, result))
        self.assertFalse((self.home.workspace / ".git").exists())

    def test_a_secret_is_in_no_result_and_no_diff(self):
        self.put(".env", f"TOKEN={SECRET}\nMODE=old\n")
        self.assertIn("[redacted:MY_TOKEN]", self.one("read_file", path=".env"))
        self.assertIn("[No line", self.one("search_files", pattern="hunter2"))
        self.assertEqual(self.one("edit_file", path=".env", oldText="MODE=old", newText="MODE=new"),
                         "Changed .env (+1 -1).")
        self.assertEqual((self.home.workspace / ".env").read_text(), f"TOKEN={SECRET}\nMODE=new\n")
        changed = [event for event in self.events if event["type"] == "artifact.changed"]
        diff = self.daemon.get(f"/v1/outputs/{changed[0]['payload']['diffRef']}").data.decode()
        self.assertIn(" TOKEN=[redacted:MY_TOKEN]\n-MODE=old\n+MODE=new\n", diff)
        self.assertNotIn(SECRET, str(self.events))
        marked = self.one("write_file", path=".env", content="TOKEN=[redacted:MY_TOKEN]\n")
        self.assertEqual(marked[0], "invalid_input")

    def test_bytes_that_are_no_text_are_told_and_never_replaced_by_their_mark(self):
        latin = self.home.workspace / "latin.txt"
        latin.write_bytes(b"caf\xe9\nold\n")
        shown = self.one("read_file", path="latin.txt")
        self.assertIn("Bytes that are not UTF-8", shown)
        category, why = self.one("write_file", path="latin.txt", content="caf\ufffd\nnew\n")
        self.assertEqual((category, "edit_file" in why), ("invalid_input", True))
        category, why = self.one("edit_file", path="latin.txt", oldText="caf\ufffd",
                                 newText="tea")
        self.assertIn("edit the text before or after it", why)
        self.one("edit_file", path="latin.txt", oldText="old", newText="new")
        self.assertEqual(latin.read_bytes(), b"caf\xe9\nnew\n")

    def test_a_search_says_what_it_did_not_look_at(self):
        self.put("wide.txt", "x" * 70_000 + "needle\n")
        self.assertEqual(self.one("search_files", pattern="needle", path="wide.txt"),
                         "[No line matches in 1 files.]\n"
                         "[1 long line: only the first 64 KiB were searched.]\n")
        category, why = self.one("search_files", pattern="one\\ntwo")
        self.assertEqual(category, "invalid_input")
        self.assertIn("each line is searched separately", why)

    def test_a_change_keeps_its_mode_and_leaves_a_diff_that_git_applies(self):
        self.put("run.sh", "echo one\necho two\n")
        os.chmod(self.home.workspace / "run.sh", 0o750)
        self.assertEqual(self.one("edit_file", path="run.sh", oldText="two", newText="2"),
                         "Changed run.sh (+1 -1).")
        self.assertEqual(os.stat(self.home.workspace / "run.sh").st_mode & 0o777, 0o750)
        changed = [event for event in self.events if event["type"] == "artifact.changed"]
        diff = self.daemon.get(f"/v1/outputs/{changed[0]['payload']['diffRef']}").data
        self.put("run.sh", "echo one\necho two\n")
        alone = {**self.home.environment, "GIT_CEILING_DIRECTORIES": str(self.home.folder)}
        subprocess.run(["git", "apply"], cwd=self.home.workspace, input=diff, check=True, env=alone)
        self.assertEqual((self.home.workspace / "run.sh").read_text(), "echo one\necho 2\n")
        self.assertEqual(sorted(os.listdir(self.home.workspace)),
                         ["a.txt", "private", "run.sh", "secrets"])

    def test_a_read_only_sandbox_is_one_for_files_too(self):
        result = self.one("write_file", {"sandbox": "read_only"}, path="a.txt", content="x")
        self.assertEqual(result[0], "denied", result)
        self.assertEqual(self.one("read_file", {"sandbox": "read_only"}, path="a.txt"),
                         "     1\tone\n     2\ttwo\n")

    def test_calls_that_read_run_side_by_side_and_all_are_answered(self):
        for i in range(40):
            self.put(f"many/{i}.txt", f"file {i}\n")
        results = self.made(*[call("read_file", path=f"many/{i}.txt") for i in range(40)])
        self.assertEqual(sorted(results), sorted(f"     1\tfile {i}\n" for i in range(40)))


if __name__ == "__main__":
    unittest.main()
