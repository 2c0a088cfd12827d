"""Just enough C++ to check a source text: removes comments and strings, finds functions.

This is not a parser. It relies on clang-format's formatting of this tree and need not be correct
for all of C++.
"""

import re

_TOKEN = re.compile(
    r'''//[^\n]*|/\*.*?\*/|R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|'''
    r'''"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+\'''',
    re.DOTALL)
_CONTAINER = re.compile(
    r'^(?:export\s+|inline\s+|template\s*<.*>\s*|typedef\s+)*'
    r'(?:namespace\b|class\b|struct\b|union\b|enum\b|extern\b)', re.DOTALL)
_NAME = re.compile(r'([~\w:]+(?:\s*operator\s*\S+)?)\s*\(')


def blank(text: str, keep_strings: bool = False) -> str:
    """The text with comments and the contents of strings replaced by spaces; line numbers stay."""
    def replace(match: re.Match) -> str:
        found = match.group(0)
        if found[0] != '/' and keep_strings:
            return found
        spaces = re.sub(r'[^\n]', ' ', found)
        if found[0] == '/' or '\n' in found:
            return spaces
        return '"' + spaces[1:-1] + '"'
    return _TOKEN.sub(replace, text)


def without_directives(code: str) -> str:
    lines, continued = [], False
    for line in code.split('\n'):
        directive = continued or line.lstrip().startswith('#')
        continued = directive and line.endswith('\\')
        lines.append('' if directive else line)
    return '\n'.join(lines)


def functions(text: str):
    """Yields (name, first line, number of lines) of every function with a body."""
    code = without_directives(blank(text))
    stack = []          # of (kind, name, first line)
    head_start, line = 0, 1
    line_at_head = None
    parens = 0
    for position, char in enumerate(code):
        if char == '\n':
            line += 1
        elif char in '()':
            parens += 1 if char == '(' else -1
        if line_at_head is None and not char.isspace() and char not in '{};':
            head_start, line_at_head = position, line
        if char == '{':
            head = code[head_start:position].strip() if line_at_head else ''
            stack.append((*_classify(head, stack), line_at_head or line, parens))
            head_start, line_at_head, parens = position + 1, None, 0
        elif char == '}':
            if stack:
                kind, name, first, parens = stack.pop()
                if kind == 'function':
                    yield name, first, line - first + 1
            head_start, line_at_head = position + 1, None
        elif char == ';' and parens == 0:
            head_start, line_at_head = position + 1, None


def _classify(head: str, stack: list) -> tuple[str, str]:
    inside = [kind for kind, *_ in stack]
    if 'function' in inside:
        return 'block', ''
    if _CONTAINER.match(head):
        return 'container', ''
    is_lambda = re.search(r'\]\s*(?:\([^()]*\))?[^()]*$', head) and '](' in head.replace(' ', '')
    if '(' in head and (is_lambda or not re.search(r'=\s*(?:[\w:<>, ]*)$', head)):
        name = _NAME.search(head)
        return 'function', name.group(1) if name else '?'
    return 'block', ''


def type_names(text: str):
    """Yields (name, line) of every type that the text declares."""
    code = blank(text)
    pattern = (r'\b(?:class|struct|union|enum(?:\s+class)?|using)\s+([A-Z]\w*)'
               r'|BOOST_DEFINE_ENUM_CLASS\((\w+)')
    for match in re.finditer(pattern, code):
        yield match.group(1) or match.group(2), code.count('\n', 0, match.start()) + 1


def texts(text: str):
    """Yields a match for every comment and every string or character literal."""
    return _TOKEN.finditer(text)
