"""Extracts the sentences of a file: Markdown text, comments and string literals, without code.

The result has the line breaks of the file, so that a position still gives the line. Code is blank,
except for one BARRIER per piece of code, so that no phrase is found across two unrelated texts.
"""

import re

import cpp_text

BARRIER = "\0"

_PYTHON = re.compile(r'"""(?:\\.|.)*?"""|\'\'\'(?:\\.|.)*?\'\'\'|"(?:\\.|[^"\\\n])*"'
                     r"|'(?:\\.|[^'\\\n])*'|#[^\n]*", re.DOTALL)
# Comments and strings of TypeScript and CSS; regular expressions may be taken for either.
_SCRIPT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|`(?:\\.|[^`\\])*`'
                     r"|(?<![:\w])//[^\n]*|/\*.*?\*/", re.DOTALL)
_MARKDOWN_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
# Signs around a sentence: quotes, comment signs, escaped line breaks, stars of a block comment.
_SIGNS = re.compile(r"""^(?://+|\#+|/\*|R?["'(]+)|["')]+$|\*/$|\\[nt]|(?m:^[ \t]*\*)""")


def prose(path: str, text: str) -> str:
    """`path` selects the language; shell scripts and CMake files count as text throughout."""
    if path.endswith(".md"):
        return _MARKDOWN_CODE.sub(lambda match: _blank_code(match.group(0)), text)
    if path.endswith((".cc", ".h")):
        return _sentences(cpp_text.texts(text), text)
    if path.endswith(".py"):
        return _sentences(_PYTHON.finditer(text), text)
    if path.endswith((".ts", ".tsx", ".mjs", ".css")):
        return _sentences(_SCRIPT.finditer(text), text)
    return re.sub(r"(?m)^[ \t]*#", _spaces, text)


def _sentences(matches, text: str) -> str:
    parts, last = [], 0
    for match in matches:
        parts += [_blank_code(text[last:match.start()]), _SIGNS.sub(_spaces, match.group(0))]
        last = match.end()
    return "".join(parts) + _blank_code(text[last:])


def _blank_code(code: str) -> str:
    blank = re.sub(r"[^\n]", " ", code)
    first = re.search(r"\S", code)
    return blank[:first.start()] + BARRIER + blank[first.end():] if first else blank


def _spaces(match: re.Match) -> str:
    return " " * len(match.group(0))
