"""Checks that the canonical form of a shell text does in bash what the text does.

Random texts, mostly literal, go through the program shell_canonical. Each text that has a canonical
form runs in bash twice, as written and in that form, in equal folders. Both must start the same
programs with the same words and descriptors, print the same bytes, exit with the same status and
leave the same files.

By hand: SHELL_CANONICAL_BIN=… SHELL_MARKER_BIN=… python3 canonical_test.py --seed 7 --seconds 600
"""

import argparse
import os
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

CANONICAL = os.environ.get("SHELL_CANONICAL_BIN", "")
MARKER = os.environ.get("SHELL_MARKER_BIN", "")
SEED = int(os.environ.get("SHELL_CANONICAL_SEED", "1"))
SECONDS = 8.0
BATCH = 400
LINE = re.compile(rb"line \d+: |[\d.]+s$", re.MULTILINE)  # position in the text; duration
NOBODY = 54321  # as root, texts run as this user

WORDS = ["w", "-n", "--", "a b", "src", "if", "then", "fi", "do", "{", "}", "!", "time", "[[",
         "a=b", "é", "x.c", "a:b", "HEAD~1", "b~", "#c", "a#b", "{a", "{}", "a,b", "^", "%1", "=",
         "@x", "+"]
QUOTED = ["''", "'q r'", "'$(a1)'", "'*'", "'~'", '"d e"', '""', '"it\'s"', '"\\$x"', '"\\"',
          '"a\\\nb"', "\\;", "\\ ", "\\*", "\\~", "\\\\", "\\'", "$'a\\tb'", "$'\\''", "$'\\x41'",
          "$'\\101'", '$"t"', "'a\nb'", "'{a,b}'", "\\{a,b}", "\"{1..2}\"", "'\\'", "'!x'", "'#'",
          "'<in'"]
BRACES = ["{a,b}", "{a,b}c", "x{1..3}", "{a..c}", "{a,{b,c}}", "{a,b}{c,d}", "{a,'b c'}", "{-n,w}"]
PATTERNS = ["*", "$x", "~", "~/a", "A=~", "$(a1)", "{a,}", "?", "[a]", "$((1))", "`a1`"]
PROGRAMS = ["a1", "a2", "'a1'", "a\\1", "\"a2\"", "a1", "a2", "printf '%s|'", "echo", "cat", "true",
            "false", "test -n", "[ a = a ] && a1", ":", "command a1", "builtin printf '%s|'",
            "env a2", "cd .", "nosuch", "\\if", "exec a1", "(exit 3) || a1", "read -r v <<<"]
AHEAD = ["", "", "", "", "", "LC_ALL=C ", "NO_COLOR= ", "CI='a b' ", "TZ=UTC LC_ALL=C ", "v=1 ",
         "LC_ALL=~ ", "CI+=1 "]
REDIRECTIONS = [" >/dev/null", " 2>&1", " </dev/null", " >&2", " 2>/dev/null", " >f1", " >>f1",
                " <in", " >|f2", " 2>f2", " &>f1", " &>>f2", " 3>&1", " 1>&-", " <&-",
                " 3<in 0<&3-", " <<<w", " <<<'a b'", " >'f 3'", " <>f1", " {fd}>f1", " >&f1",
                " 10>f1", " >f{1,2}"]
BODIES = ["text", "a b", "\tt", "", "$x"]
JOINTS = ["; ", "\n", " && ", " || ", " | ", " |& ", " & ", ";", "&&", "|", "\n\n", " # c\n",
          " &&\n", " |\n", ";;", " ; ; "]
DAMAGE = ["'", '"', "\\", "$", "(", ")", "{", "}", "\n", ";", "&", "|", "<", ">", "#", " ", "!",
          "*", "~", "=", "\\\n", "\r", "\t", "<<E"]


class Texts:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def next(self):
        text = self.listing(2)
        if self.random.random() < 0.2:
            for _ in range(self.random.randint(1, 3)):
                at = self.random.randrange(len(text) + 1)
                cut = self.random.randint(0, 1)
                text = text[:at] + self.random.choice(DAMAGE + [""]) + text[at + cut:]
        return text

    def word(self):
        kind = self.random.random()
        source = (WORDS if kind < 0.5 else QUOTED if kind < 0.85 else BRACES if kind < 0.98
                  else PATTERNS)
        word = self.random.choice(source)
        return word + self.word() if self.random.random() < 0.15 else word

    def simple(self):
        one = self.random.choice
        text = one(AHEAD) + one(PROGRAMS)
        for _ in range(self.random.randint(0, 3)):
            text += one([" ", " ", "  ", "\t", " \\\n"]) + self.word()
        while self.random.random() < 0.25:
            text += one(REDIRECTIONS)
        if self.random.random() < 0.06:
            end = one(["E", "'E'", "\\E"])
            text += f" <<{one(['', '-', ' '])}{end}\n{one(BODIES)}\nE\n"
        return text

    def command(self, depth):
        kind = self.random.random()
        if depth and kind < 0.06:
            return "(" + self.listing(depth - 1) + ")" + self.random.choice(["", " >f1", " 2>&1"])
        if depth and kind < 0.12:
            return "{ " + self.listing(depth - 1) + self.random.choice(["; }", "\n}", " }"])
        if kind < 0.16:
            return "! " + self.command(depth)
        return self.simple()

    def listing(self, depth):
        text = self.command(depth)
        while self.random.random() < 0.4:
            text += self.random.choice(JOINTS) + self.command(depth)
        return text


def forms_of(texts):
    """The canonical form of each text; "": none."""
    out = subprocess.run([CANONICAL], input="".join(t + "\0" for t in texts).encode(),
                         capture_output=True, check=True).stdout
    return [form.decode() for form in out.split(b"\0")[:len(texts)]]


class Stage:
    """A folder in which a text runs, with programs that record their words, and one file."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix="shell_canonical.")
        self.here = os.path.join(self.root, "here")
        os.mkdir(os.path.join(self.root, "bin"))
        marker = os.path.join(self.root, "bin", "marker")
        shutil.copy(MARKER, marker)
        for name in ("a1", "a2", "if"):
            os.link(marker, os.path.join(self.root, "bin", name))
        for name in ("cat", "env"):
            os.symlink("/usr/bin/" + name, os.path.join(self.root, "bin", name))
        os.chmod(self.root, 0o777)

    def close(self):
        shutil.rmtree(self.root)

    def run(self, text):
        ran = os.path.join(self.root, "ran")
        shutil.rmtree(self.here, ignore_errors=True)
        os.mkdir(self.here)
        with open(ran, "wb"), open(os.path.join(self.here, "in"), "w") as file:
            file.write("one\ntwo\n")
        for path in (ran, self.here):
            os.chmod(path, 0o777)
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        # Every process of the text holds the writing end, so end of file means that all have ended.
        gone, held = os.pipe()
        try:
            done = subprocess.run(
                ["/bin/bash", "-c", text], cwd=self.here, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=5,
                pass_fds=(held,), **who,
                env={"PATH": os.path.join(self.root, "bin"), "LC_ALL": "C.UTF-8", "HOME": "/h"})
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            os.close(held)
            select.select([gone], [], [], 5)
            os.close(gone)
        with open(ran, "rb") as file:
            programs = file.read()
        # Concurrent commands write in any order; bash numbers the lines of its own text.
        files = {}
        for name in os.listdir(self.here):
            with open(os.path.join(self.here, name), "rb") as file:
                files[name] = sorted(LINE.sub(b"", file.read()).splitlines())
        return (done.returncode, sorted(programs.split(b"\0")),
                sorted(LINE.sub(b"", done.stdout).splitlines()), files)


def differences(seed, seconds, at_least=0):
    """Texts whose form behaved differently, and the number of compared texts. A slow machine gets
    more time, until `at_least` texts are compared."""
    stage, texts, wrong, compared = Stage(), Texts(seed), [], 0
    end = time.monotonic() + seconds

    def over():
        return time.monotonic() > end and compared >= at_least

    try:
        while not over() and len(wrong) < 10:
            batch = [texts.next() for _ in range(BATCH)]
            for text, form in zip(batch, forms_of(batch)):
                if not form or over():
                    continue
                compared += 1
                # Two parts of a pipeline may write one file in any order: retry.
                if not any(stage.run(text) == stage.run(form) for _ in range(4)):
                    wrong.append(f"{text!r}: {stage.run(text)}\n{form!r}: {stage.run(form)}")
    finally:
        stage.close()
    return wrong, compared


class CanonicalForms(unittest.TestCase):
    def test_do_what_their_texts_do(self):
        wrong, compared = differences(SEED, SECONDS, at_least=101)
        self.assertEqual(wrong, [])
        self.assertGreater(compared, 100)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    chosen = parser.parse_args()
    found, count = differences(chosen.seed, chosen.seconds)
    print("\n".join(found))
    print(f"{count} texts compared, {len(found)} wrong")
    sys.exit(1 if found else 0)
