"""Gazetteers: phrases of one word or several, and the types of entity that they may name, read from files.

UTF-8, one entry a line, in one of these forms:

    TYPE TAB phrase
    TYPE|TYPE TAB phrase     any one of these types
    phrase                   an entity whose type is unknown

Blank lines are skipped. Several entries of a phrase become one entry with all their types; a line without a type adds
none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tagweave.corpus.candidates import format_candidates, parse_candidates
from tagweave.corpus.files import read_lines
from tagweave.corpus.sentence import Candidates
from tagweave.errors import CorpusError

_FORMS = "TYPE TAB phrase, TYPE|TYPE TAB phrase, or phrase"


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """Phrases and their types."""

    phrases: tuple[str, ...] = ()  # different ones, in the order of the file, none of them blank
    types: tuple[Candidates, ...] = ()  # that each phrase may have; `None`: unknown
    path: str = ""  # for messages

    def __len__(self) -> int:
        return len(self.phrases)

    def __post_init__(self) -> None:
        if len(self.phrases) != len(self.types):
            raise CorpusError(f"{len(self.types)} sets of types", f"{len(self.phrases)}, one a phrase", self.path)
        if "\n" in "".join(self.phrases):
            raise CorpusError("a phrase with a line break", "phrases of one line", self.path)

    def types_of(self, entry: Iterable[int], size: int) -> list[Candidates]:
        """Return the types of each of `size` entries, where entry[p] is the entry of phrase p, negative for none."""
        types: list[Candidates] = [None] * size
        for at, names in zip(entry, self.types, strict=True):
            if at >= 0 and names != types[at]:
                types[at] = names if types[at] is None else united((types[at], names))
        return types

    def lines(self) -> list[str]:
        """Return the lines from which `parse` makes the same gazetteer."""
        pairs = zip(self.phrases, self.types, strict=True)
        return [phrase if types is None else f"{format_candidates(types)}\t{phrase}" for phrase, types in pairs]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted({name for types in set(self.types) for name in types or ()}))


def read(path: str) -> Gazetteer:
    """Read a gazetteer from a file; `-` is standard input, gzip is decompressed."""
    gazetteer = parse(read_lines(path), path)
    if not gazetteer.phrases:
        raise CorpusError("no entry", f"a gazetteer, one entry a line ({_FORMS})", path)
    return gazetteer


def parse(lines: Iterable[str], path: str = "") -> Gazetteer:
    """Parse lines. Raises CorpusError, with file and line, for one in none of the forms."""
    entries: dict[str, Candidates] = {}
    types: dict[str, Candidates] = {}  # of each first field: there are few
    for number, line in enumerate(lines, 1):
        first, tab, rest = line.partition("\t")
        field, phrase = first.strip(), rest.strip()
        if not tab or not (field or phrase):
            if field:
                entries.setdefault(field, None)
            continue
        if not phrase or "\t" in phrase:
            raise CorpusError(f"the entry {line!r}", _FORMS, path, number)
        if field not in types:
            try:
                types[field] = parse_candidates(field)
            except CorpusError as error:
                raise error.at(path, number) from None
            if any(name.split() != [name] for name in types[field] or ()):
                raise CorpusError(f"the type {field!r}", f"types without blanks ({_FORMS})", path, number)
        if entries.setdefault(phrase, types[field]) != types[field]:
            entries[phrase] = united((entries[phrase], types[field]))
    return Gazetteer(tuple(entries), tuple(entries.values()), path)


def joined(gazetteers: Sequence[Gazetteer]) -> Gazetteer:
    """Return one gazetteer with the entries of several."""
    entries: dict[str, Candidates] = {}
    for gazetteer in gazetteers:
        for phrase, types in zip(gazetteer.phrases, gazetteer.types, strict=True):
            entries[phrase] = united((entries.get(phrase), types))
    return Gazetteer(tuple(entries), tuple(entries.values()))


def united(types: Iterable[Candidates]) -> Candidates:
    """Return all types of several entries, in their order; unknown if no entry has any."""
    return tuple(dict.fromkeys(name for names in types for name in names or ())) or None
