r"""Patterns of Wapiti, which make observations from the columns of tokens.

`u01:%x[-1,0]` is the text before, then column 0 of the token before. `%t[OFFSET,COLUMN,"REGEX"]` is `true` or `false`,
whether the regular expression is found, `%m[...]` what it finds. A capital letter (`%X`) makes the value lower case; an
offset with `@` counts from the first token (from 1) or from the end. Regular expressions have `.`, `\a \d \l \p \s \u
\w` and their capital opposites, `*` (as few as possible), `?`, `^` and `$`; all is bytes in UTF-8, letters are ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_COMMAND = re.compile(r'%([xXtTmM])\[(@?)([+-]?\d{1,6}),(\d{1,6})(?:,"((?:[^"\\]|\\.)*)")?\]')
_CLASSES = {
    "a": rb"A-Za-z",
    "d": rb"0-9",
    "l": rb"a-z",
    "p": rb"!-/:-@\[-`{-~",
    "s": rb" \t\n\v\f\r",
    "u": rb"A-Z",
    "w": rb"A-Za-z0-9",
}
_MOST_STARS, _MOST_OPTIONS = 3, 12  # of a regular expression: its time grows as a power of them


def text_of(data: bytes) -> str:
    r"""Bytes as text; those that are not UTF-8, since a pattern has cut a character, as `\xe9`."""
    return data.decode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Command:
    """A part of a pattern that looks at a token.

    Attributes:
        kind: `x`, `t` or `m`.
        lower: whether its value is made lower case.
        absolute: whether the offset counts from the beginning or the end.
        offset, column: which token, and which of its columns.
        expression: for `t` and `m`.
    """

    kind: str
    lower: bool
    absolute: bool
    offset: int
    column: int
    expression: re.Pattern[bytes] | None

    def value(self, rows: Sequence[Sequence[str]], t: int) -> bytes:
        """Its value at token t.

        Raises:
            ValueError: the token has no such column.
        """
        value = self._cell(rows, t)
        if self.expression is not None:
            found = self.expression.search(value)
            missed, hit = (b"false", b"true") if self.kind == "t" else (b"", found[0] if found else b"")
            value = missed if found is None else hit
        return value.lower() if self.lower else value

    def _cell(self, rows: Sequence[Sequence[str]], t: int) -> bytes:
        at = self.offset + (0 if self.absolute else t)
        if self.absolute:
            at += len(rows) if self.offset < 0 else -1
        if not 0 <= at < len(rows):
            beyond = -at if at < 0 else at - len(rows) + 1
            return b"_x" + (b"-" if at < 0 else b"+") + (b"%d" % beyond if beyond <= 4 else b"#")
        if self.column >= len(rows[at]):
            raise ValueError(f"found a token of {len(rows[at])} columns, expected one with column {self.column}")
        return rows[at][self.column].encode()


@dataclass(frozen=True)
class Pattern:
    """A pattern.

    Attributes:
        text: as the model file has it.
        parts: text and commands, in order.
    """

    text: str
    parts: tuple[bytes | Command, ...]

    @classmethod
    def of(cls, text: str) -> Pattern:
        """The pattern of a text.

        Raises:
            ValueError: it cannot be read, or its regular expression could take too long.
        """
        parts: list[bytes | Command] = []
        at = 0
        while at < len(text):
            if text[at] == "%":
                found = _COMMAND.match(text, at)
                if found is None:
                    raise ValueError(f"the pattern {text!r:.60}, expected commands such as %x[-1,0]")
                parts.append(_command(found, text))
                at = found.end()
            else:
                end = text.find("%", at) if "%" in text[at:] else len(text)
                parts.append(text[at:end].encode())
                at = end
        return cls(text, tuple(parts))

    @property
    def is_constant(self) -> bool:
        """Whether it is the same at every token."""
        return all(isinstance(part, bytes) for part in self.parts)

    def observation(self, rows: Sequence[Sequence[str]], t: int) -> str:
        """What it gives at token t of a sentence, whose tokens are their columns. Raises as `Command.value`."""
        return text_of(b"".join(part if isinstance(part, bytes) else part.value(rows, t) for part in self.parts))


def attributes(patterns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The attributes of the tokens of a sentence, given as their columns.

    Raises:
        ValueError: a pattern that cannot be read, or a token that lacks a column.
    """
    read = [Pattern.of(text) for text in patterns]
    return [[pattern.observation(rows, t) for pattern in read] for t in range(len(rows))]


def _command(found: re.Match[str], text: str) -> Command:
    kind, absolute, offset, column, expression = found.groups()
    if (expression is None) != (kind in "xX"):
        raise ValueError(f"the pattern {text!r:.60}, expected a regular expression for %t and %m, and none for %x")
    compiled = None if expression is None else _compiled(expression)
    return Command(kind.lower(), kind.isupper(), absolute == "@", int(offset), int(column), compiled)


def _compiled(expression: str) -> re.Pattern[bytes]:
    """A regular expression of Wapiti as one of Python."""
    out, stars, options, data, at = b"", 0, 0, expression.encode(), 0
    if data.startswith(b"^"):
        out, at = b"\\A", 1
    while at < len(data):
        if data[at:] == b"$":
            out, at = out + b"\\Z", at + 1
            break
        if data[at : at + 1] in (b"*", b"?"):
            raise ValueError(f"the regular expression {expression!r:.60}, expected a character before * and ?")
        size = 2 if data[at : at + 1] == b"\\" and at + 1 < len(data) else 1
        out += _one(data[at : at + size])
        at += size
        if data[at : at + 1] in (b"*", b"?"):
            stars, options = stars + (data[at : at + 1] == b"*"), options + (data[at : at + 1] == b"?")
            out += b"*?" if data[at : at + 1] == b"*" else b"?"
            at += 1
    if stars > _MOST_STARS or options > _MOST_OPTIONS:
        expected = f"at most {_MOST_STARS} * and {_MOST_OPTIONS} ?"
        raise ValueError(f"the regular expression {expression!r:.60}, expected {expected}")
    return re.compile(out, re.DOTALL)


def _one(item: bytes) -> bytes:
    """A character, a class of characters, or any character."""
    if item == b".":
        return b"."
    if len(item) == 1:
        return re.escape(item)
    name = item[1:].decode("latin-1")
    if (members := _CLASSES.get(name.lower())) is None:
        return re.escape(item[1:])
    return b"[" + (b"^" if name.isupper() else b"") + members + b"]"
