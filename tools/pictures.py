"""Takes the pictures of docs/pictures: real conversations at a pseudo-terminal, as SVG.

usage: pictures.py --build FOLDER [--out FOLDER]

Models are scripts, everything else is the real program. tests/e2e/screen.py is the terminal."""

import argparse
import fcntl
import html
import os
import pathlib
import pty
import select
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))

CELL_WIDTH, CELL_HEIGHT, MARGIN, FONT_SIZE = 8.4, 18, 16, 14
COLOURS = {31: "#f47067", 32: "#7ee787", 33: "#e3b341", 36: "#56d4dd"}
PLAIN, DIM, BACK = "#d7dde5", "#8b949e", "#161b22"


class Terminal:
    def __init__(self, home, screen, *arguments):
        self.screen = screen
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", screen.rows, screen.columns, 0, 0))
        self.process = subprocess.Popen(
            [os.environ["AGENTRT_BIN"], "chat", *arguments], stdin=slave, stdout=slave,
            stderr=slave, cwd=home.workspace, start_new_session=True,
            env={**home.environment, "TERM": "xterm-256color", "SHELL": "/bin/sh"})
        os.close(slave)

    def read(self, seconds):
        deadline = time.monotonic() + seconds
        while select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
            try:
                self.screen.feed(os.read(self.master, 65536))
            except OSError:
                return

    def sees(self, text, seconds=30):
        deadline = time.monotonic() + seconds
        while text not in self.screen.text():
            if time.monotonic() > deadline:
                raise SystemExit(f"{text!r} does not come:\n{self.screen.text()}")
            self.read(0.05)
        self.read(0.2)
        return self

    def type(self, text):
        os.write(self.master, text.encode())
        self.read(0.2)
        return self

    def end(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def look(style):
    """Attributes of a run of text."""
    colour = next((COLOURS[code] for code in style if code in COLOURS), PLAIN)
    if 97 in style:
        colour = "#ffffff"
    elif 2 in style and colour == PLAIN:
        colour = DIM
    out = f'fill="{colour}"'
    if 1 in style:
        out += ' font-weight="bold"'
    if 3 in style:
        out += ' font-style="italic"'
    if 4 in style:
        out += ' text-decoration="underline"'
    return out


def runs(line):
    """(column, cells, text, style) of neighbours that look the same."""
    found = []
    for column, (character, style) in enumerate(line):
        if character == "":
            found[-1][1] += 1
        elif found and found[-1][3] == style and character != " " and found[-1][2][-1] != " ":
            found[-1][1] += 1
            found[-1][2] += character
        else:
            found.append([column, 1, character, style])
    return found


def picture(screen, title):
    rows = len(screen.text().splitlines())
    width = screen.columns * CELL_WIDTH + 2 * MARGIN
    height = rows * CELL_HEIGHT + 2 * MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
           f'viewBox="0 0 {width:.0f} {height:.0f}" role="img">',
           f"<title>{html.escape(title)}</title>",
           f'<rect width="100%" height="100%" rx="8" fill="{BACK}"/>',
           f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" '
           f'font-size="{FONT_SIZE}" xml:space="preserve">']
    for row, line in enumerate(screen.lines[:rows]):
        top = MARGIN + row * CELL_HEIGHT
        for column, cells, text, style in runs(line):
            left = MARGIN + column * CELL_WIDTH
            if 41 in style:
                out.append(f'<rect x="{left:.1f}" y="{top:.1f}" width="{cells * CELL_WIDTH:.1f}" '
                           f'height="{CELL_HEIGHT}" fill="#b62324"/>')
            if text.strip():
                out.append(f'<text x="{left:.1f}" y="{top + 13:.1f}" '
                           f'textLength="{cells * CELL_WIDTH:.1f}" {look(style)}>'
                           f"{html.escape(text)}</text>")
    if screen.row < rows:
        out.append(f'<rect x="{MARGIN + screen.column * CELL_WIDTH:.1f}" '
                   f'y="{MARGIN + screen.row * CELL_HEIGHT + 1}" width="{CELL_WIDTH}" '
                   f'height="{CELL_HEIGHT - 2}" fill="{PLAIN}" opacity="0.6"/>')
    return "\n".join([*out, "</g>", "</svg>", ""])


def chat(home, screen, mode, lines):
    (home.folder / "config/agentrt/config.toml").write_text(
        f'[models.main]\nprovider = "script"\nscript = "{home.script("main", lines)}"\n'
        "context_tokens = 200000\ncost_per_mtok = { input = 3.0, output = 15.0 }\n"
        '[routing]\ndefault = "main"\n')
    return Terminal(home, screen, "--mode", mode)


def shell(command, **more):
    return {"name": "shell", "args": {"command": command, **more}}


def plan(*steps):
    return {"name": "update_plan",
            "args": {"plan": [{"step": step, "status": status} for step, status in steps]}}


PARSE = "def count(items):\n    return len(items) - 1\n"
FIXED = "def count(items):\n    return len(items)\n"
TEST = ('from parse import count\n\nassert count([1, 2, 3]) == 3, "three items"\n'
        'print("3 tests passed")\n')


def conversation(home, screen):
    """A turn at work, with a plan, a running command and messages that wait."""
    (home.workspace / "parse.py").write_text(PARSE)
    (home.workspace / "test_parse.py").write_text(TEST)
    lines = [
        {"text": "I look at the failing test first.",
         "usage": {"inputTokens": 6120, "outputTokens": 88},
         "toolCalls": [plan(("Find the failing test", "in_progress"),
                            ("Correct the code", "pending"), ("Run all tests", "pending")),
                       shell("python3 test_parse.py")]},
        {"text": "The function counts **one item too few**. I correct it.",
         "usage": {"inputTokens": 6890, "outputTokens": 131},
         "toolCalls": [{"name": "edit_file",
                        "args": {"path": "parse.py", "oldText": "len(items) - 1",
                                 "newText": "len(items)"}},
                       plan(("Find the failing test", "completed"),
                            ("Correct the code", "completed"), ("Run all tests", "in_progress")),
                       shell("for n in 1 2 3; do echo test $n of 3; sleep 0.4; done; sleep 20")]},
    ]
    terminal = chat(home, screen, "bypass", lines)
    terminal.sees("›").type("The tests fail. Can you repair them?\r").sees("test 3 of 3")
    terminal.type("Then write a line for the changelog\r").sees("queued 1")
    terminal.type("and show me")
    return terminal


def question(home, screen):
    """A request to leave the sandbox."""
    lines = [{"text": "The package is not installed. I need to fetch it.",
              "usage": {"inputTokens": 5210, "outputTokens": 64},
              "toolCalls": [shell("pip install --user pytest", outsideSandbox=True,
                                  justification="pytest has to be downloaded")]}]
    terminal = chat(home, screen, "default", lines)
    terminal.sees("›").type("Run the tests with pytest\r").sees("answer >")
    terminal.read(0.8)
    terminal.type("n use unittest instead")
    return terminal


def answer(home, screen):
    """Markdown with a table, and the status line."""
    text = ("Two functions changed:\n\n| function | before | after |\n| :- | -: | -: |\n"
            "| `count` | 1.20 ms | **0.31 ms** |\n| `merge` | 8.75 ms | **2.02 ms** |\n\n"
            "1. `count` no longer copies the list.\n2. `merge` sorts *once*.\n\n"
            "```python\ndef count(items):\n    return len(items)\n```\n")
    lines = [{"text": text, "usage": {"inputTokens": 18240, "outputTokens": 412}}]
    terminal = chat(home, screen, "auto", lines)
    terminal.sees("›").type("What did you change, and what did it bring?\r").sees("18,240 in")
    return terminal


def completion(home, screen):
    """Files after @."""
    for name in ("src/parse.cc", "src/parse.h", "src/parse_test.cc", "docs/parser.md", "notes.txt"):
        path = home.workspace / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n")
    lines = [{"text": "The parser reads one line at a time. Ask me about a file.",
              "usage": {"inputTokens": 5480, "outputTokens": 29}}]
    terminal = chat(home, screen, "plan", lines)
    terminal.sees("›").type("How does the parser work?\r").sees("Ask me about a file.")
    terminal.type("Compare @pars").sees("src/parse.h")
    return terminal


PICTURES = {
    "conversation": (conversation, 100, 40, "A turn at work: plan, running command, queue"),
    "question": (question, 100, 40, "A command that is to leave the sandbox"),
    "answer": (answer, 80, 40, "An answer with a table and code"),
    "completion": (completion, 80, 24, "Completion of files after @"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", default=str(ROOT / "docs/pictures"))
    options = parser.parse_args()
    os.environ["AGENTRT_BIN"] = str(pathlib.Path(options.build).resolve() / "agentrt")
    import harness
    import screen as emulator
    for name, (act, columns, rows, title) in PICTURES.items():
        folder = pathlib.Path("/tmp/agentrt_picture")
        home = harness.Home({}, folder=str(folder))
        try:
            screen = emulator.Screen(columns, rows)
            terminal = act(home, screen)
            pathlib.Path(options.out, f"{name}.svg").write_text(picture(screen, title))
            print(f"--- {name}\n{screen.text()}")
            terminal.end()
        finally:
            home.end_owners()
            home.remove()


if __name__ == "__main__":
    main()
