"""A small terminal emulator: what a person would see after the bytes of a program.

Knows what agentrt uses: cursor movement relative and home, erasing, colours, wide characters,
scrolling with the lines that left at the top, modes and operating system commands (ignored)."""

import re
import unicodedata

_SEQUENCE = re.compile(
    r"\x1b\[([?>=]?)([0-9;]*)([@-~])|\x1b\]([^\x07\x1b]*)(?:\x07|\x1b\\)|\x1b[=>78]")


def cells(character):
    if unicodedata.combining(character) or character in "\u200b\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Screen:
    def __init__(self, columns=80, rows=24):
        self.columns, self.rows = columns, rows
        self.lines = [[] for _ in range(rows)]  # cells: (character, style)
        self.scrolled = []  # lines that left at the top
        self.row = self.column = 0
        self.style = ()
        self.pending = ""  # an incomplete sequence
        self.commands = []  # of the operating system, as OSC 9
        self.bells = 0
        self.modes = set()
        self.kept = None  # the first screen, while another one is shown

    def feed(self, data):
        text = self.pending + (data.decode(errors="replace") if isinstance(data, bytes) else data)
        self.pending = ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                match = _SEQUENCE.match(text, at)
                if not match:
                    if len(text) - at < 64:
                        self.pending = text[at:]
                        return self
                    at += 1
                    continue
                self._sequence(match)
                at = match.end()
                continue
            self._character(text[at])
            at += 1
        return self

    def _character(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self._line_feed()
        elif character == "\b":
            self.column = max(0, self.column - 1)
        elif character == "\a":
            self.bells += 1
        elif character >= " ":
            width = cells(character)
            if width == 0:
                return
            if self.column + width > self.columns:
                self.column = 0
                self._line_feed()
            line = self.lines[self.row]
            while len(line) < self.column + width:
                line.append((" ", ()))
            line[self.column] = (character, self.style)
            if width == 2:
                line[self.column + 1] = ("", self.style)
            self.column += width

    def _line_feed(self):
        if self.row + 1 < self.rows:
            self.row += 1
            return
        self.scrolled.append(self.lines.pop(0))
        self.lines.append([])

    def _sequence(self, match):
        mark, numbers, final, command = match.groups()
        if command is not None:
            self.commands.append(command)
            return
        if final is None:
            return
        if mark:
            if numbers == "1049":
                self._other_screen(final == "h")
            if final == "h":
                self.modes.add(numbers)
            elif final == "l":
                self.modes.discard(numbers)
            return
        values = [int(n) if n else 0 for n in numbers.split(";")] if numbers else []
        count = max(1, values[0] if values else 1)
        if final == "A":
            self.row = max(0, self.row - count)
        elif final == "B":
            self.row = min(self.rows - 1, self.row + count)
        elif final == "C":
            self.column = min(self.columns - 1, self.column + count)
        elif final == "D":
            self.column = max(0, self.column - count)
        elif final == "H":
            self.row = min(self.rows, max(1, values[0] if values else 1)) - 1
            self.column = min(self.columns, max(1, values[1] if len(values) > 1 else 1)) - 1
        elif final == "K":
            del self.lines[self.row][self.column:]
        elif final == "J":
            del self.lines[self.row][self.column:]
            for row in range(self.row + 1, self.rows):
                self.lines[row] = []
        elif final == "m":
            self._style(values or [0])

    def _other_screen(self, enter):
        """A program that fills the screen gets another one; then the first one is back."""
        if enter and self.kept is None:
            self.kept = (self.lines, self.row, self.column)
            self.lines, self.row, self.column = [[] for _ in range(self.rows)], 0, 0
        elif not enter and self.kept is not None:
            (self.lines, self.row, self.column), self.kept = self.kept, None

    def _style(self, values):
        style = set(self.style)
        for value in values:
            if value == 0:
                style.clear()
            else:
                style.add(value)
        self.style = tuple(sorted(style))

    def resize(self, columns, rows):
        """As a terminal that does not reflow: lines are cut, and leave at the top."""
        while len(self.lines) > rows:
            if self.row < rows and not self.lines[-1] and self.row < len(self.lines) - 1:
                self.lines.pop()
            else:
                self.scrolled.append(self.lines.pop(0))
                self.row = max(0, self.row - 1)
        while len(self.lines) < rows:
            self.lines.append([])
        for line in self.lines:
            del line[columns:]
        self.columns, self.rows = columns, rows
        self.row, self.column = min(self.row, rows - 1), min(self.column, columns - 1)

    @staticmethod
    def _text(line):
        return "".join(character for character, _ in line).rstrip()

    def rows_text(self):
        return [self._text(line) for line in self.lines]

    def text(self):
        return "\n".join(self.rows_text()).rstrip()

    def all_text(self):
        return "\n".join([self._text(line) for line in self.scrolled] + self.rows_text()).rstrip()
