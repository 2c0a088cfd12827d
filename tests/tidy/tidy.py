"""Checks the rules of the source tree: layering, purity, sizes, names, links.

Usage: tidy.py ROOT. Prints one line per violation, with what to do instead, and exits with 1 if
there is any. Each rule is a function from the Tree to violations; tidy_test.py tests each one on
made-up trees.
"""

import dataclasses
import fnmatch
import functools
import pathlib
import re
import sys

import cpp_text
import prose

LINE_COLUMNS_MAX = 100
SOURCE_LINES_MAX = 600
HEADER_LINES_MAX = 300
FUNCTION_LINES_MAX = 70
FOLDER_SOURCES_MAX = 20

SKIPPED_FOLDERS = {".git", "build", ".cache", "node_modules", "__pycache__", "dist"}
CPP = {".cc", ".h"}
WEB = {".ts", ".tsx", ".mjs", ".css"}
LINED = CPP | WEB | {".py", ".txt", ".cmake", ".sh", ""}
TEXT = LINED | {".md", ".toml", ".jsonl", ".yml"}
DESIGN_VALUES = "web/src/style/tokens.css"
BANNED_WORDS = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "misc",
                "impl", "v2"}
MARKS = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
MACHINE_PATHS = ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"]

PURE_FOLDERS = ["src/schema/", "src/state/", "src/tools/", "src/policy/", "src/control/",
                "src/validate/", "src/engine/plan"]
IMPURE = {
    "reads a clock (take a Timestamp)":
        r"\b(?:system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday)\b"
        r"|(?:\bstd::|(?<![\w.>:]))time\s*\(\s*(?:nullptr|0|&|NULL)",
    "uses threads or locks (the core has one thread)":
        r"\bstd::(?:thread|jthread|mutex|shared_mutex|recursive_mutex|condition_variable|async"
        r"|future|promise|atomic|lock_guard|unique_lock|scoped_lock|this_thread)\b|\bpthread_",
    "suspends (decisions cannot wait)": r"\bco_(?:await|yield|return)\b",
    "draws randomness (take ids as inputs)":
        r"\bstd::(?:random_device|mt19937\w*|default_random_engine)\b"
        r"|(?<![\w.>])(?:rand|srand|random|drand48|getrandom|arc4random)\s*\(",
    "reads the environment (configuration is a parameter)":
        r"(?<![\w.>])(?:getenv|secure_getenv|setenv)\s*\(",
    "touches files or sockets (use a port)":
        r"\bstd::(?:ifstream|ofstream|fstream|filesystem|cout|cerr|cin)\b"
        r"|(?<![\w.>:])(?:fopen|fread|fwrite|printf|fprintf|puts|mmap|recv|ioctl)\s*\("
        r"|(?<!\w)::(?:open|read|write|close|socket|connect|bind|send|stat|unlink)\s*\(",
}
IMPURE_HEADERS = {"thread", "mutex", "shared_mutex", "condition_variable", "future", "atomic",
                  "fstream", "iostream", "filesystem", "random", "cstdio", "unistd.h", "fcntl.h",
                  "ctime", "time.h", "sys/socket.h", "coroutine", "stop_token", "semaphore"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
LINK = re.compile(r'(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)')


@dataclasses.dataclass(frozen=True)
class Offence:
    rule: str
    path: str
    line: int
    message: str

    def __str__(self):
        return f"{self.path}:{self.line}: {self.message} [{self.rule}]"


class Tree:
    """Every text file of the repository, by its path from the root."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self.paths = sorted(self._walk(root))
        self.texts = {}
        for path in self.paths:
            if pathlib.PurePath(path).suffix in TEXT:
                self.texts[path] = (root / path).read_text(encoding="utf-8", errors="replace")

    def _walk(self, folder: pathlib.Path):
        for entry in folder.iterdir():
            if entry.name in SKIPPED_FOLDERS:
                continue
            if entry.is_dir():
                yield from self._walk(entry)
            elif entry.is_file():
                yield entry.relative_to(self.root).as_posix()

    def having(self, *suffixes: str):
        return [(p, t) for p, t in self.texts.items() if pathlib.PurePath(p).suffix in suffixes]

    @functools.cached_property
    def cpp(self):
        return self.having(*CPP)

    @functools.cached_property
    def includes(self):
        """(path, line, quote, header) of every include."""
        found = []
        for path, text in self.cpp:
            code = cpp_text.blank(text, keep_strings=True)
            for match in INCLUDE.finditer(code):
                line = code.count("\n", 0, match.start(1)) + 1
                found.append((path, line, match.group(1), match.group(2)))
        return found

    def rules(self, name: str):
        """The `LEFT -> words` lines of a file in tools/; an indented line continues the last."""
        text = re.sub(r"\n[ \t]+(?=\S)", " ", self.texts.get(f"tools/{name}", ""))
        lines = text.splitlines()
        pairs = [line.split("->", 1) for line in lines if "->" in line and line[:1] != "#"]
        return {left.strip(): right.split() for left, right in pairs}

    @functools.cached_property
    def exceptions(self):
        lines = self.texts.get("tools/tidy_exceptions.txt", "").splitlines()
        pairs = [line.partition(":") for line in lines if line.strip() and line[0] != "#"]
        return {path.strip(): reason.strip() for path, _, reason in pairs}


def _module_of(path: str, modules) -> str:
    """The innermost folder of this path below src/ that is a module; else the outermost."""
    folders = path.split("/")[:-1]
    for depth in range(len(folders), 0, -1):
        if "/".join(folders[:depth]) in modules:
            return "/".join(folders[:depth])
    return folders[0]


def layering(tree: Tree):
    allowed = tree.rules("modules.txt")
    for path, line, quote, header in tree.includes:
        if not path.startswith("src/") or path.count("/") < 2 or quote != '"':
            continue
        module = _module_of(path.removeprefix("src/"), allowed)
        if module not in allowed:
            yield Offence("layering", path, line, f"src/{module} has no line in tools/modules.txt")
        elif "/" not in header:
            yield Offence("layering", path, line,
                          f'write "{module}/{header}": includes start at src/')
        else:
            target = _module_of(header, allowed)
            may = allowed[module] + (allowed.get(f"{module} tests", []) if _is_test(path) else [])
            if target != module and target not in may:
                yield Offence("layering", path, line,
                              f"{module} may include {' '.join(may) or 'nothing else'}; "
                              f"not {target}")


def architecture(tree: Tree):
    """The table of folders in docs/ARCHITECTURE.md says the same as tools/modules.txt."""
    page = "docs/ARCHITECTURE.md"
    rows = {}
    for number, line in enumerate(tree.texts.get(page, "").split("\n"), 1):
        match = re.match(r"\| `src/([\w/]+)` \|.*\| ([\w/, ]+) \|$", line)
        if match:
            words = set(match.group(2).split(", ")) - {"nothing"}
            rows[match.group(1)] = (number, words)
    if not rows:
        return
    modules = {name: set(may) - {"base", "schema"}
               for name, may in tree.rules("modules.txt").items() if " " not in name}
    for name in modules.keys() - rows.keys():
        yield Offence("architecture", page, 1, f"src/{name} has no row")
    for name, (number, words) in rows.items():
        if words != modules.get(name):
            may = ", ".join(sorted(modules.get(name, set()))) or "nothing"
            yield Offence("architecture", page, number,
                          f"tools/modules.txt lets src/{name} include {may}")


def third_party(tree: Tree):
    rules = tree.rules("third_party.txt")
    users = {prefix: set() for prefix in rules}
    for path, line, _, header in tree.includes:
        prefix = next((p for p in rules if header == p or header.startswith(p)), None)
        if prefix is None:
            continue
        words = rules[prefix]
        places = [w for w in words if w not in ("(one", "file)")]
        users[prefix].add(path)
        if not any(_within(path, place) for place in places):
            yield Offence("third_party", path, line,
                          f"<{header}> belongs in {' '.join(places)} only (tools/third_party.txt)")
        elif "(one" in words and len(users[prefix]) > 1:
            yield Offence("third_party", path, line,
                          f"<{header}> stays in one file: {min(users[prefix])}")


def _within(path: str, place: str) -> bool:
    if "*" in place:
        return fnmatch.fnmatchcase(path, place)
    return path == place or path.startswith(place + "/")


def purity(tree: Tree):
    for path, text in tree.cpp:
        if not path.startswith(tuple(PURE_FOLDERS)) or path.endswith("_test.cc"):
            continue
        code = cpp_text.blank(text)
        for what, pattern in IMPURE.items():
            for match in re.finditer(pattern, code):
                line = code.count("\n", 0, match.start()) + 1
                yield Offence("purity", path, line, f"`{match.group(0).strip()}` {what}")
    for path, line, _, header in tree.includes:
        pure = path.startswith(tuple(PURE_FOLDERS)) and not path.endswith("_test.cc")
        if pure and header in IMPURE_HEADERS:
            yield Offence("purity", path, line, f"<{header}> has no place in a pure folder")


def sizes(tree: Tree):
    used = set()
    for path, text in tree.having(".cc", ".h", ".py", *WEB):
        limit = HEADER_LINES_MAX if path.endswith(".h") else SOURCE_LINES_MAX
        offences = []
        lines = text.count("\n")
        if lines > limit:
            offences.append(Offence("file_size", path, limit,
                                    f"{lines} lines, limit {limit}: split it"))
        if path.endswith((".cc", ".h")):
            for name, first, count in cpp_text.functions(text):
                if count > FUNCTION_LINES_MAX:
                    offences.append(Offence("function_size", path, first,
                                            f"{name} has {count} lines, "
                                            f"limit {FUNCTION_LINES_MAX}"))
        if path in tree.exceptions and offences:
            used.add(path)
        else:
            yield from offences
    for path, reason in tree.exceptions.items():
        if path not in used:
            yield Offence("exceptions", "tools/tidy_exceptions.txt", 1,
                          f"{path} needs no exception")
        elif not reason:
            yield Offence("exceptions", "tools/tidy_exceptions.txt", 1, f"{path} gives no reason")


def line_length(tree: Tree):
    for path, text in tree.having(*LINED):
        if path == "LICENSE":
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > LINE_COLUMNS_MAX and "http" not in line:
                yield Offence("line_length", path, number,
                              f"{len(line)} columns, limit {LINE_COLUMNS_MAX}")


def design_values(tree: Tree):
    """Colours, sizes and spaces of the page are variables of one file."""
    value = re.compile(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl)a?\(|\b[\d.]+(?:px|rem|em)\b")
    for path, text in tree.having(".css"):
        if path == DESIGN_VALUES:
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if not line.startswith("@media") and (found := value.search(line)):
                yield Offence("design_values", path, number,
                              f"`{found.group()}`: name it in {DESIGN_VALUES} and use the variable")


def names(tree: Tree):
    for path in tree.paths:
        for word in re.split(r"[/_.\-]", path):
            if word.lower() in BANNED_WORDS:
                yield Offence("names", path, 1, f"`{word}` says nothing: name the thing itself")
    for path, text in tree.cpp:
        for name, line in cpp_text.type_names(text):
            for word in re.findall(r"[A-Z]+(?![a-z])\d*|[A-Z][a-z0-9]*", name):
                if word.lower() in BANNED_WORDS:
                    yield Offence("names", path, line, f"`{word}` in {name} says nothing")


def wording(tree: Tree):
    """Phrases of tools/phrases.txt in documents, comments and string literals."""
    advice = list(tree.rules("phrases.txt").items())
    if not advice:
        return
    pattern = re.compile(r"\b(?:%s)\b" % "|".join(
        "(" + phrase.lower().replace(" ", r"\s+") + ")" for phrase, _ in advice))
    for path, text in tree.texts.items():
        if not path.endswith((".md", ".cc", ".h", ".py", ".cmake", "CMakeLists.txt", "dev", *WEB)):
            continue
        sentences = prose.prose(path, text)
        for match in pattern.finditer(sentences.lower()):
            line = sentences.count("\n", 0, match.start()) + 1
            found = " ".join(match.group(0).split())
            instead = " ".join(advice[match.lastindex - 1][1])
            yield Offence("wording", path, line, f'"{found}" is hard to read; write: {instead}')


def marks(tree: Tree):
    pattern = re.compile(r"\b(?:" + "|".join(MARKS) + r")\b")
    for path, text in tree.texts.items():
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            yield Offence("marks", path, line, f"{match.group(0)}: do it, or write an issue")


def machine_paths(tree: Tree):
    for path, text in tree.texts.items():
        if path.endswith("_test.cc"):  # tests contain made-up paths
            continue
        for place in MACHINE_PATHS:
            for match in re.finditer(r"(?<![\w.$}])" + place, text):
                line = text.count("\n", 0, match.start()) + 1
                yield Offence("machine_paths", path, line, f"{place} exists on one machine only")


def dead_headers(tree: Tree):
    included = {header for _, _, quote, header in tree.includes if quote == '"'}
    included |= {f"{path.rpartition('/')[0]}/{header}" for path, _, _, header in tree.includes}
    for path, _ in tree.having(".h"):
        name = path.removeprefix("src/").removeprefix("include/")
        if name not in included and path not in included and not path.startswith("include/"):
            yield Offence("dead_files", path, 1, "no file includes this header")


def _is_test(path: str) -> bool:
    return path.endswith("_test.cc") or "/testing/" in path or path.startswith(("tests/", "bench/"))


def test_support(tree: Tree):
    """Headers for tests are in testing/ folders, and only tests include those."""
    includers = {}
    for path, line, quote, header in tree.includes:
        if quote != '"':
            continue
        includers.setdefault(f"src/{header}", []).append(path)
        if "/testing/" in header and not _is_test(path):
            yield Offence("test_support", path, line, f"only tests may include {header}")
    for path, _ in tree.having(".h"):
        # The simulation is a program for tests, with fakes of its own.
        if not path.startswith("src/") or "/testing/" in path or path.startswith("src/sim/"):
            continue
        name = path.rpartition("/")[2]
        used_by = includers.get(path, [])
        if used_by and all(_is_test(each) for each in used_by):
            yield Offence("test_support", path, 1, "only tests include this: move it to testing/")
        elif name.startswith("fake_") or name.endswith("_fixture.h"):
            yield Offence("test_support", path, 1, "fakes and fixtures belong in testing/")


def tool_names(tree: Tree):
    """The descriptor in src/tools says what a tool is; other code does not compare its name."""
    specs = [t for p, t in tree.having(".h") if p.startswith("src/tools/")]
    tools = {name for spec in specs for name in re.findall(r'\.name = "(\w+)",\n +\.desc', spec)}
    for path, text in tree.cpp:
        # src/schema declares commands, and some have the name of a tool.
        exempt = ("src/tools/", "src/sim/", "src/schema/")
        judged = path.startswith("src/") and not path.startswith(exempt)
        if not judged or _is_test(path):
            continue
        code = cpp_text.blank(text, keep_strings=True)
        for match in re.finditer(r'"(\w+)"', code):
            if match.group(1) in tools:
                line = code.count("\n", 0, match.start()) + 1
                yield Offence("tool_names", path, line, f"{match.group(0)}: ask the descriptor of "
                              "the tool (tools/registry.h)")


def folders(tree: Tree):
    counts = {}
    for path, _ in tree.having(".cc"):
        if path.startswith("src/") and not path.endswith("_test.cc"):
            folder = path.rpartition("/")[0]
            counts[folder] = counts.get(folder, 0) + 1
    for folder, count in sorted(counts.items()):
        if count > FOLDER_SOURCES_MAX:
            yield Offence("folders", folder, 1,
                          f"{count} sources, limit {FOLDER_SOURCES_MAX}: split it by noun")


def _slug(heading: str) -> str:
    plain = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return plain.replace(" ", "-")


def doc_links(tree: Tree):
    linked = set()
    for path, text in tree.having(".md"):
        prose = re.sub(r"```.*?```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.DOTALL)
        for match in LINK.finditer(prose):
            target, _, anchor = match.group(1).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            line = prose.count("\n", 0, match.start()) + 1
            place = (tree.root / path).parent / target if target else tree.root / path
            if not place.exists():
                yield Offence("doc_links", path, line, f"{match.group(1)} does not exist")
                continue
            name = place.resolve().relative_to(tree.root.resolve()).as_posix()
            linked.add(name)
            if anchor and name in tree.texts:
                heads = re.findall(r"^#+ +(.*)$", tree.texts[name], flags=re.MULTILINE)
                if anchor not in {_slug(head) for head in heads}:
                    yield Offence("doc_links", path, line, f"{name} has no heading #{anchor}")
    for path, _ in tree.having(".md"):
        if path.startswith("docs/") and path not in linked:
            yield Offence("dead_files", path, 1,
                          "no page links to this one: README.md or docs/ must")


RULES = [layering, architecture, third_party, purity, sizes, line_length, design_values, names,
         wording, marks, machine_paths, dead_headers, test_support, tool_names, folders, doc_links]


def offences(root: pathlib.Path) -> list[Offence]:
    tree = Tree(root)
    return [offence for rule in RULES for offence in rule(tree)]


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = offences(pathlib.Path(sys.argv[1]))
    for offence in found:
        print(offence)
    print(f"tidy: {len(found)} offences" if found else "tidy: the tree keeps its rules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
