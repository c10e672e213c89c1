"""Values of JSON that somebody else wrote: every one is checked where it is taken out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Location
from tagweave.corpus.text_file import read_lines

Kind = TypeVar("Kind")
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
            raise CorpusError(_shown(value), "an object {...}", *location)
        return cls(value, location)

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) is not None

    def get(self, name: str, kind: type[Kind]) -> Kind:
        """The value of this kind under a name; a whole number counts as a number. Raises CorpusError without one."""
        value = self.values.get(name)
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            found = f"no {name!r}" if value is None else f"{name} {_shown(value)}"
            raise self.error(found, f'"{name}", {_NAMES[kind]}')
        return value

    def objects(self, name: str) -> Iterator[Values]:
        """The objects of a list. Raises CorpusError if it is not there, or has something else."""
        return (Values.of(each, self.location) for each in self.get(name, list))

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
    found = _parsed("\n".join(read_lines(path)), Location(path))
    if not isinstance(found, list):
        raise CorpusError(_shown(found), "a list of objects [{...}, ...]", path)
    for number, each in enumerate(found, 1):
        yield Values.of(each, Location(path, number))


def _parsed(text: str, location: Location) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"no JSON ({error})", "JSON", *location) from None


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
