"""Values of JSON that somebody else wrote: every one is checked where it is taken out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tagweave.corpus.errors import CorpusError, shortened
from tagweave.corpus.sentence import Location
from tagweave.corpus.text_file import LONGEST, read_lines
from tagweave.exchange.limits import Unpacked

Kind = TypeVar("Kind")
_BLANKS = re.compile(r"[ \t\n]*")
_FIRST = 1 << 15  # characters of a value that are parsed at first
_LARGEST = 1 << 53  # whole number that is one as a float
_NAMES = {str: "a text", int: "a whole number", list: "a list", float: "a number"}


@dataclass(frozen=True, slots=True)
class Values:
    """An object of JSON.

    Attributes:
        values: its values, by name.
        location: the file, and the line or the number of the object, for messages.
    """

    values: Mapping[str, Any]
    location: Location

    @classmethod
    def of(cls, value: object, location: Location) -> Values:
        """Raises CorpusError if the value is no object."""
        if not isinstance(value, dict):
            raise CorpusError(shown(value), "an object {...}", *location)
        return cls(value, location)

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    def get(self, name: str, kind: type[Kind]) -> Kind:
        """The value of this kind under a name; a whole number counts as a number. Raises CorpusError without one."""
        value = self.values.get(name)
        if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
            value = float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            found = f"no {name!r}" if value is None else f"{name} {shown(value)}"
            raise self.error(found, f'"{name}", {_NAMES[kind]}')
        return value

    def objects(self, name: str) -> Iterator[Values]:
        """The objects of a list. Raises CorpusError if it is not there, or has something else."""
        return (Values.of(each, self.location) for each in self.get(name, list))

    def name(self, name: str) -> str:
        """Return a number or a text as the name of something; "" for all else."""
        value = self.values.get(name)
        return str(value) if isinstance(value, str | int) else ""

    def error(self, found: str, expected: str) -> CorpusError:
        """An error that names the place of the object."""
        return CorpusError(found, expected, *self.location)


def read_json_lines(path: str) -> Iterator[Values]:
    """The objects of a file of JSON Lines.

    Raises:
        CorpusError: a line that is no object.
        OSError: the file cannot be read.
    """
    for number, line in enumerate(read_lines(path), 1):
        if line.strip():
            location = Location(path, number)
            yield Values.of(_parsed(line, location), location)


def read_json_list(path: str) -> Iterator[Values]:
    """The objects of a file that is one list; their numbers stand for lines in messages.

    Raises as `read_json_lines`.
    """
    text = _whole(path)
    start = _after_blanks(text, 0)
    if not text.startswith("[", start):
        raise CorpusError(text[start : start + 999], "a list of objects [{...}, ...]", path)
    at, number = _after_blanks(text, start + 1), 0
    while number or not text.startswith("]", at):
        number += 1
        value, at = _element(text, at, Location(path, number))
        yield Values.of(value, Location(path, number))
        at = _after_blanks(text, at)
        if text.startswith("]", at):
            break
        if not text.startswith(",", at):
            raise CorpusError(f"no JSON ({text[at : at + 99]!r} after an object)", '"," or "]"', path, number)
        at = _after_blanks(text, at + 1)
    if _after_blanks(text, at + 1) < len(text):
        raise CorpusError(f"{text[at + 1 : at + 99]!r} after a list", "one list", path)


def _whole(path: str) -> str:
    unpacked, found = Unpacked(path), []
    for line in read_lines(path):
        unpacked.take(len(line) + 1)
        found.append(line)
    return "\n".join(found)


def _after_blanks(text: str, start: int) -> int:
    found = _BLANKS.match(text, start)
    return found.end() if found else start


def _element(text: str, start: int, location: Location) -> tuple[object, int]:
    """Return the value that begins here, and where it ends, without parsing what would be too long for memory."""
    size = _FIRST
    while True:
        piece = text[start : start + size]
        try:
            value, length = json.JSONDecoder().raw_decode(piece)
            return value, start + length
        except (ValueError, RecursionError) as error:
            if isinstance(error, RecursionError) or start + size >= len(text):
                raise CorpusError(f"no JSON ({error})", "JSON", *location) from None
            if size >= LONGEST:
                expected = f"objects of at most {LONGEST:,} characters: cut the text"
                raise CorpusError("an object that goes on, or is broken", expected, *location) from None
            size *= 8


def _parsed(text: str, location: Location) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"no JSON ({error})", "JSON", *location) from None


def shown(value: object) -> str:
    """Return a value as a message quotes it."""
    try:
        return shortened(json.dumps(value, ensure_ascii=False))
    except RecursionError:
        return "values in values in values"
