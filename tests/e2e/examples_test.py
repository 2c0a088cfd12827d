"""Runs every example of the documents: shell commands with the real binary against a scripted
model, configurations with the real reader, JSON against the published schemas.

An example is a fenced block of README.md or of a page in docs/. Its language says how it is tried:

    toml      read as the user's configuration
    sh        run by bash, in the order of the page; each command must succeed, unless the comment
              before the block is <!-- example: may fail -->
    console   the same for lines that begin with "$ "; the words of the lines below each command
              must occur in its output, in order
    json      checked as the comment before the block says, for example <!-- example: event -->;
              JSON_CHECKS lists these
    python    run with the path of the store

A block with the comment <!-- not run: REASON --> before it is only shown. Blocks without a language
are pictures, unless they begin with "$ ".
"""

import dataclasses
import json
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import json_schema
from harness import BINARY, Daemon, Home, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/providers"))
from double import ProviderDouble  # noqa: E402

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(\w*)$")
COMMENT = re.compile(r"^<!-- (example|not run): (.*) -->$")
SECONDS = 60
KEY = "sk-canary-0123456789abcdef"


@dataclasses.dataclass
class Block:
    line: int
    language: str
    lines: list
    example: str = ""  # how to check it
    not_run: str = ""  # why it is only shown

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    @property
    def kind(self):
        if self.language in ("", "bash"):
            return "console" if self.lines[0].startswith("$ ") else self.language and "sh"
        return self.language


def blocks_of(page):
    lines = page.read_text().splitlines()
    blocks, at = [], 0
    while at < len(lines):
        opened = FENCE.match(lines[at])
        if opened:
            end = lines.index("```", at + 1)
            before = next((line for line in reversed(lines[:at]) if line), "")
            said = COMMENT.match(before)
            block = Block(at + 1, opened[1], lines[at + 1:end])
            if said:
                setattr(block, said[1].replace(" ", "_"), said[2])
            blocks.append(block)
            at = end
        at += 1
    return blocks


def json_values(text):
    """The JSON values of a block, one after the other."""
    values, decoder = [], json.JSONDecoder()
    while text.strip():
        value, end = decoder.raw_decode(text.strip())
        values.append(value)
        text = text.strip()[end:]
    return values


def steps_of(block):
    """The commands of a console block, each with the output that the page shows."""
    steps = []
    for line in block.lines:
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps[-1][0].count('"') % 2 == 1 and not steps[-1][1]:  # a quoted text continues
            steps[-1] = (f"{steps[-1][0]}\n{line}", [])
        else:
            steps[-1][1].append(line)
    return steps


def words(text):
    return re.findall(r"[^\W\d_]{3,}", re.sub(r"\S*…\S*", "", text))


class World:
    """A workspace with everything that the examples name, and a daemon for it."""

    SCRIPTS = {
        "main": [{"text": "Hello."}],
        "asks": [{"toolCalls": [{"name": "shell", "args": {"command": "echo x >> made.txt"}}]},
                 {"text": "Done."}],
        "logs": [{"toolCalls": [{"name": "shell", "args": {"command": "git log -1"}}]},
                 {"text": "Done."}],
        "edits": [{"toolCalls": [{"name": "write_file", "args": {"path": "new.txt",
                                                                 "content": "one\n"}},
                                 {"name": "shell", "args": {"command": "cat",
                                                            "background": True}}]},
                  {"text": "Done."}],
    }

    def __init__(self, page):
        self.name = page.name
        hello = [{"text": "Hello.", "usage": {"input": 1, "output": 1}}]
        self.double = ProviderDouble({"qwen3": hello, "claude-sonnet-4-5": hello}).start()
        scripts = {} if self.name == "models.md" else self.SCRIPTS
        self.home = Home(scripts, '[permissions]\nmode = "default"\n')
        self.make_workspace()
        self.daemon = Daemon(self.home)
        self.session = "demo"
        if not scripts:
            self.daemon.ok("create_session", sessionId="demo")
        elif self.name != "README.md":  # the tour creates its own session
            self.make_session()
        self.environment = {
            **self.home.environment,
            "PATH": f"{self.home.folder}/bin:{self.home.environment['PATH']}",
            "DATA": str(self.home.data), "U": self.daemon.url,
            "T": f"Authorization: Bearer {self.daemon.token}",
            "ANTHROPIC_BASE_URL": self.double.base_url("anthropic")}
        self.actions, self.outputs, self.token_id, self.process = [], {}, None, None

    def make_workspace(self):
        folder = self.home.workspace
        shutil.copytree(ROOT / "examples", folder / "examples")
        (folder / "Makefile").write_text("test:\n\t@echo tested\n")
        (folder / "report.csv").write_text("a,b\n1,2\n")
        (folder / "prompt.txt").write_text("hello\n")
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("-c", "user.name=ada", "-c", "user.email=a@x", "commit", "-qm", "first")
        (folder / "Makefile").write_text("test:\n\t@echo tested twice\n")
        # A stream has no end, and a refusal is a failure.
        binary = pathlib.Path(BINARY).resolve()
        self.add_program("agentrt", f"""
case " $* " in *" --follow "*) timeout 3 {binary} "$@"; [ $? = 124 ]; exit;; esac
exec {binary} "$@"
""")
        self.add_program("curl", """
/usr/bin/curl --no-progress-meter --max-time 3 --fail-with-body "$@"
code=$?
case " $* " in *" -N "*) [ $code = 28 ] && exit 0;; esac
exit $code
""")

    def add_program(self, name, text):
        folder = self.home.folder / "bin"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text("#!/bin/bash" + text)
        (folder / name).chmod(0o755)

    def git(self, *arguments):
        subprocess.run(["git", *arguments], cwd=self.home.workspace, check=True,
                       env=self.home.environment, capture_output=True)

    def make_session(self):
        self.daemon.ok("submit_turn", sessionId="demo", threadId="main",
                       input=[{"type": "text", "text": "hello"}],
                       options={"model": "edits", "mode": "bypass"})
        wait_until(lambda: self.daemon.ok("get_session", sessionId="demo")["status"] == "idle",
                   what="the turn")
        workspace = self.home.workspace
        for file, command in (("events.jsonl", ("events", "demo", "--json")),
                              ("session.json", ("call", "get_session", '{"sessionId":"demo"}'))):
            (workspace / file).write_text(self.home.run(*command).stdout)

    # --- what stands for something on the page ---

    def waiting_action(self):
        """A new approval that nobody has answered."""
        session = f"waits{len(self.actions)}"
        self.daemon.ok("submit_turn", sessionId=session, input=[{"type": "text", "text": "go"}],
                       options={"model": "asks"})
        self.actions.append(self.action_of(session))
        return self.actions[-1]

    def action_of(self, session):
        found = []

        def look():
            found[:] = self.daemon.ok("list_actions", sessionId=session)["data"]
            return found
        wait_until(look, what="the question")
        return found[0]["actionId"]

    def granted_rule(self, rule):
        self.daemon.ok("submit_turn", sessionId="logs", input=[{"type": "text", "text": "go"}],
                       options={"model": "logs"})
        self.daemon.ok("respond_action", actionId=self.action_of("logs"), decision="allow",
                       scope="always", rule=rule)

    def uploaded(self):
        path = "/v1/outputs?sessionId=demo&mediaType=text/csv"
        return self.daemon.request("POST", path, b"a,b\n" * 1000).json["outputRef"]

    def diff_ref(self):
        return next(event["payload"]["diffRef"] for event in self.daemon.events("demo")
                    if event["type"] == "artifact.changed")

    def background_process(self):
        return next(event["processId"] for event in self.daemon.events("demo")
                    if event["type"] == "process.started")

    def new_token(self):
        made = self.home.run("token", "create", "--scope", "read", "--name", "old", "--json")
        return re.search(r"tok_\w+", made.stdout)[0]

    def filled_in(self, text):
        """The text with the names of this world in place of those of the page."""
        stand_ins = {r"action_0…": self.waiting_action, r"tok_…": self.new_token,
                     r"out_5b1c…": self.uploaded, r"out_0…": self.diff_ref,
                     r"proc_…": self.background_process}
        for name, make in stand_ins.items():
            while name in text:
                text = text.replace(name, make(), -1 if name == r"proc_…" else 1)
        if "rules remove 'shell(git log:*)'" in text:
            self.granted_rule("shell(git log:*)")
        for name, value in {"http://127.0.0.1:7717": self.daemon.url,
                            "http://127.0.0.1:11434/v1": self.double.base_url("openai_chat"),
                            "https://example.org": self.daemon.url + "/healthz"}.items():
            text = text.replace(name, value)
        text = re.sub(r"(?<!\$)\bDATA/", f"{self.home.data}/", text)
        text = re.sub(r"(?<!/)\bagentrt\.db\b", f"{self.home.data}/agentrt.db", text)
        text = re.sub(r"\bSESSION\b|\bID\b", "demo", text)
        text = re.sub(r"\bTOKEN\b", self.daemon.token, text)
        return text.replace("=…", f"={KEY}")

    def bash(self, text):
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], text=True,
                              cwd=self.home.workspace, env=self.environment, timeout=SECONDS,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT)

    def close(self):
        self.double.stop()
        self.daemon.kill()
        self.daemon.errors.close()
        self.home.remove()


def schema(name):
    done = subprocess.run([BINARY, "schema", name], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def whole_ids(value):
    """The value with every shortened id written out."""
    return json.loads(json.dumps(value, ensure_ascii=False).replace("…", "0"))


class Examples(unittest.TestCase):
    maxDiff = None

    def config_is_read(self, block):
        home = Home({}, block.text)
        self.addCleanup(home.remove)
        (home.folder / "config/agentrt/demo.jsonl").write_text('{"text": "Hello."}\n')
        keys = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", *re.findall(r'_env = "(\w+)"', block.text)}
        done = home.run("doctor", "--json", **dict.fromkeys(keys, KEY))
        checks = json.loads(done.stdout)["checks"]
        for check in checks:
            if check["name"].split()[0] in ("configuration", "model", "models", "server", "hooks"):
                self.assertTrue(check["ok"], check)
        self.assertIn("user configuration", [check["name"] for check in checks])

    # --- JSON ---

    def params_and_reply(self, values, command):
        commands = schema("commands")
        json_schema.validate(values[0], commands["$defs"][f"{command}.params"], commands)
        for reply in values[1:]:
            self.reply([reply], command)

    def reply(self, values, command):
        commands = schema("commands")
        known = commands["$defs"].get(f"{command}.reply")
        if known is None:  # a route that is not a command
            commands = schema("openapi")
            known = commands["components"]["schemas"][f"{command}.reply"]
        json_schema.validate(whole_ids(values[0]), known, commands)

    def event(self, values):
        json_schema.validate(whole_ids(values[0]), schema("events"))

    def error(self, values):
        home = Home()
        self.addCleanup(home.remove)
        given = json.loads(home.run("show", "no_such_session", "--json").stderr)
        self.assertEqual(sorted(values[0]), sorted(given))
        self.assertLessEqual(set(given["error"]), set(values[0]["error"]))

    def script(self, values):
        home = Home({"main": [{**value, "delayMs": 0, "deltaMs": 0} for value in values]})
        self.addCleanup(home.remove)
        (home.workspace / "README.md").write_text("x\n")
        done = home.run("run", "--mode", "bypass", "go")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Let me look.", done.stdout)

    def hook(self, values, part):
        """Runs a hook that keeps its input and gives the answer of the page."""
        answer = values[0] if part == "answer" else {}
        home = Home({"main": [{"toolCalls": [{"name": "shell", "args": {"command": "git push"}}]},
                              {"text": "Done."}]})
        self.addCleanup(home.remove)
        kept = home.workspace / "kept.json"
        command = f"cat > {kept}; echo '{json.dumps(answer)}'"
        path = home.folder / "config/agentrt/config.toml"
        path.write_text(path.read_text() +
                        f"[hooks]\npre_tool_use = [{{ command = '''{command}''' }}]\n")
        done = home.run("run", "--yes", "--json", "go")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        if part == "input":
            self.assertEqual(sorted(json.loads(kept.read_text())), sorted(values[0]))
        else:
            self.assertIn(answer["reason"], json.dumps([
                event["payload"] for event in events if event["type"] == "tool.failed"]))

    def mcp_json(self, values):
        home = Home()
        self.addCleanup(home.remove)
        (home.workspace / ".mcp.json").write_text(json.dumps(values[0]))
        self.assertEqual(home.run("trust", "--yes").returncode, 0)
        checks = json.loads(home.run("doctor", "--json", TICKETS_URL="https://x.org/mcp").stdout)
        found = {check["name"]: check for check in checks["checks"]}
        for name in values[0]["mcpServers"]:
            self.assertTrue(found[f"server {name}"]["ok"], found)

    JSON_CHECKS = {"command": params_and_reply, "reply": reply, "event": event, "error": error,
                   "script": script, "hook": hook, "mcp_json": mcp_json}

    def json_holds(self, block):
        kind, *rest = block.example.split()
        self.assertIn(kind, self.JSON_CHECKS,
                      f"say how to check it in a comment before it: {sorted(self.JSON_CHECKS)}")
        self.JSON_CHECKS[kind](self, json_values(block.text), *rest)

    # --- commands ---

    def commands_run(self, world, block):
        if block.example == "may fail":  # as the page says
            for line in block.lines:
                done = world.bash(world.filled_in(line))
                self.assertIn(done.returncode, (0, 1), done)
            return
        done = world.bash(world.filled_in(block.text))
        self.assertEqual(done.returncode, 0, done)

    def console_is_as_shown(self, world, block):
        for command, shown in steps_of(block):
            if command.startswith("cat "):
                (world.home.workspace / command[4:]).write_text("\n".join(shown) + "\n")
            done = world.bash(world.filled_in(command))
            # A command that is refused shows so on the page.
            self.assertEqual(done.returncode != 0, "cannot" in " ".join(shown), done)
            if block.example == "other data":
                continue
            printed = iter(words(done.stdout))
            for word in words("\n".join(shown)):
                self.assertIn(word, printed, f"{command}: {done.stdout}")

    def program_runs(self, world, block):
        (world.home.workspace / "check_log.py").write_text(block.text)
        done = world.bash(f"/usr/bin/python3 check_log.py {world.home.data}/agentrt.db")
        self.assertEqual(done.returncode, 0, done)
        for line in done.stdout.splitlines():
            self.assertTrue(line.startswith("ok "), line)

    TRIED = {"sh": commands_run, "console": console_is_as_shown, "python": program_runs}

    def try_page(self, page):
        blocks = [block for block in blocks_of(page) if not block.not_run]
        world = None
        if any(block.kind in self.TRIED for block in blocks):
            world = World(page)
            self.addCleanup(world.close)
        for block in blocks:
            with self.subTest(f"{page.name}:{block.line}"):
                if block.kind == "toml":
                    self.config_is_read(block)
                elif block.kind == "json":
                    self.json_holds(block)
                elif block.kind in self.TRIED:
                    self.TRIED[block.kind](self, world, block)
                else:
                    self.assertIn(block.kind, ("", "markdown"), "an unknown language")


def add_tests():
    for page in PAGES:
        if blocks_of(page):
            setattr(Examples, f"test_{page.stem.lower()}",
                    lambda self, page=page: self.try_page(page))


add_tests()


class Markers(unittest.TestCase):
    def test_every_example_that_is_not_run_says_why(self):
        for page in PAGES:
            for block in blocks_of(page):
                if block.not_run:
                    self.assertGreater(len(block.not_run.split()), 3, f"{page.name}:{block.line}")

    def test_every_command_that_is_shown_is_in_a_fenced_block(self):
        for page in PAGES:
            fenced = {line for block in blocks_of(page) for line in block.lines}
            for line in page.read_text().splitlines():
                if re.match(r"    (agentrt|curl|\$) ", line):
                    self.assertIn(line, fenced, page.name)

    def test_the_readme_links_every_page(self):
        linked = (ROOT / "README.md").read_text()
        for page in sorted((ROOT / "docs").glob("*.md")):
            self.assertIn(f"(docs/{page.name})", linked)


if __name__ == "__main__":
    unittest.main()
