"""Partially annotated text as KyTea reads it (Neubig et al. 2011; KyTea's manual, partial annotation).

Between two characters there is a `|` (a word boundary), a `-` (no boundary), or a blank or `?` (unknown). `/TAG` after
a character is the tag of the word that ends there, and further slashes give further levels of tags (`/noun/reading`);
`&` separates alternatives of a tag. A backslash makes any character an ordinary one. For example, in `a-b/N|c d`, a and
b are a word with the tag N, and whether a word ends between c and d is unknown. A blank line is an empty sentence.

Sentences consist of characters. The layer `segmentation` holds the labels that the boundaries on either side of a
character allow: B (begins a word of several characters), M (inside), E (ends it) and S (a word of its own). There is a
boundary before the first character and after the last. The layer `tag` (further levels: `tag2`, `tag3`) gives the tag
of a word to every character that is known to belong to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from sys import intern
from typing import IO

from tagweave.corpus.candidates import Soft
from tagweave.corpus.formats.format import FirstLines, Format, Look, Sign, checked, layer_to_write
from tagweave.corpus.sentence import Candidates, Layer, Location, Sentence
from tagweave.errors import CorpusError

SEGMENTATION = "segmentation"
TAG = "tag"

_BOUNDARY, _INSIDE, _UNKNOWN, _SKIPPED = "|", "-", " ", "?"
_SIDES = {"B": (_BOUNDARY, _INSIDE), "M": (_INSIDE, _INSIDE), "E": (_INSIDE, _BOUNDARY), "S": (_BOUNDARY, _BOUNDARY)}

_ITEM = re.compile(r"(\\.|[^\\|\- /])((?:/(?:\\.|[^\\|\- ?/])*)*)([|\- ?]|\Z)", re.DOTALL)
_LEVEL = re.compile(r"/((?:\\.|[^\\/])*)", re.DOTALL)
_ALTERNATIVE = re.compile(r"(?:\\.|[^\\&])+", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_SPECIAL = re.compile("[\\\\|\\- ?/&\ufeff]")  # U+FEFF at the beginning of a file is a byte order mark
_EDGE = ("S",)  # as if there were words of one character before the first and after the last


_CANDIDATES: dict[tuple[str, str], Candidates] = {
    (before, after): tuple(
        label for label, (left, right) in _SIDES.items() if before in (left, _UNKNOWN) and after in (right, _UNKNOWN)
    )
    for before in "|- "
    for after in "|- "
}
_CANDIDATES[_UNKNOWN, _UNKNOWN] = None


def read(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """Yield the sentences, each form one character; constant memory."""
    for number, line in enumerate(lines, 1):
        location = Location(path, number)
        try:
            characters, fields, boundaries = _parse(line)
            layers = {SEGMENTATION: segmentation_layer(boundaries) if characters else ()}
            for level, words in enumerate(_words(fields)):
                layers[_level_name(level)] = _spread(words, boundaries)
        except CorpusError as error:
            raise error.at(*location) from None
        yield Sentence(tuple(characters), layers, location=location)


def _parse(line: str) -> tuple[list[str], list[str], list[str]]:
    """Return the T characters, the T tag fields that follow them, and the T - 1 boundaries between them."""
    items = _ITEM.findall(line)
    if not items or items[-1][2] or sum(map(len, chain.from_iterable(items))) < len(line):
        _check(line)
    if "/" in line and any(field and mark not in (_BOUNDARY, "") for _, field, mark in items):
        _check(line)
    characters = [item[0] for item in items]
    if "\\" in line:
        characters = [_unescaped(character) for character in characters]
    boundaries = [_UNKNOWN if item[2] == _SKIPPED else item[2] for item in items[:-1]]
    return [*map(intern, characters)], [item[1] for item in items], boundaries


def _check(line: str) -> None:
    position = 0
    while position < len(line):
        item = _ITEM.match(line, position)
        if item is None or (item.end() == len(line) and item[3]):
            problem = f"{line[position : position + 8]!r} at character {position + 1}"
            raise CorpusError(problem, "a character, its /TAG if any, and one of | - ? blank before the next")
        if item[2] and item[3] not in (_BOUNDARY, ""):
            problem = f"the tag {item[2]!r} at character {item.start(2) + 1} without a boundary after it"
            raise CorpusError(problem, "a tag only where a word ends")
        position = item.end()


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)


def _words(fields: Sequence[str]) -> Iterator[list[Candidates]]:
    """Yield the candidates in each field, for each level of tags, at least one."""
    different = {field: _LEVEL.findall(field) for field in dict.fromkeys(fields)}
    depth = max((level for texts in different.values() for level, text in enumerate(texts, 1) if text), default=1)
    for level in range(depth):
        candidates = {field: _candidates(*texts[level : level + 1]) for field, texts in different.items()}
        yield [*map(candidates.__getitem__, fields)]


def segmentation_layer(boundaries: Sequence[str]) -> Layer:
    """Return the candidates over B, M, E, S of T characters with T - 1 boundaries between them."""
    before, after = [_BOUNDARY, *boundaries], [*boundaries, _BOUNDARY]
    return tuple(_CANDIDATES[sides] for sides in zip(before, after, strict=True))


@lru_cache(1 << 12)
def _candidates(field: str = "") -> Candidates:
    if not field:
        return None
    pieces = _ALTERNATIVE.findall(field)
    if len("&".join(pieces)) != len(field):
        raise CorpusError(f"an empty alternative in the tag {field!r}", "alternatives A&B, or \\& for the character")
    candidates = tuple(intern(_unescaped(piece)) for piece in pieces)
    if len(set(candidates)) != len(candidates):
        raise CorpusError(f"a repeated alternative in the tag {field!r}", "each alternative once")
    return candidates


def _level_name(level: int) -> str:
    return f"{TAG}{level + 1}" if level else TAG


def _spread(words: Sequence[Candidates], boundaries: Sequence[str]) -> Layer:
    """Give the candidates at the last character of each word to every character that is joined to it."""
    layer = list(words)
    if not any(layer):
        return tuple(layer)
    for position in range(len(layer) - 2, -1, -1):
        if boundaries[position] == _INSIDE:
            layer[position] = layer[position + 1]
    return tuple(layer)


def write(sentences: Iterable[Sentence], stream: IO[str], layer: str = SEGMENTATION) -> None:
    """Write each sentence as one line; a boundary is known if the labels on one side of it are."""
    for sentence in sentences:
        if long := [form for form in sentence.forms if len(form) != 1]:
            raise sentence.error(f"the form {long[0]!r}", "forms of one character in KyTea's format")
        try:
            line = _line(sentence.forms, sentence.layers, layer_to_write(sentence, layer))
        except CorpusError as error:
            raise error.at(*sentence.location) from None
        stream.write(checked(line, sentence) + "\n")


def _line(forms: Sequence[str], layers: Mapping[str, Layer], layer: Layer) -> str:
    if not layer:
        return ""
    marks = [*map(_between, (_EDGE, *layer), (*layer, _EDGE))]
    if "" in marks:
        at = max(marks.index(""), 1)
        problem = f"contradicting labels at character {at}: {layer[at - 1]}"
        raise CorpusError(problem, "labels B, M, E, S that can follow each other in whole words")
    marks = marks[1:]  # after each of the characters; the last one ends a word
    pieces = [""] * (3 * len(forms))
    pieces[::3] = forms if _SPECIAL.search("".join(forms)) is None else map(_escaped, forms)
    if TAG in layers:
        pieces[1::3] = _fields(layers, marks)
    pieces[2::3] = marks
    return "".join(pieces[:-1])


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


@cache
def _between(before: Candidates, after: Candidates) -> str:
    """Return the mark between two characters; "" if their labels contradict each other."""
    both = _sides(before)[1] & _sides(after)[0]
    return _UNKNOWN if len(both) > 1 else "".join(both)


def _sides(candidates: Candidates) -> tuple[set[str], set[str]]:
    labels = set(_SIDES if candidates is None else candidates)
    if not labels <= _SIDES.keys():
        raise CorpusError(f"the segmentation {candidates}", "labels B, M, E, S")
    left, right = {_SIDES[label][0] for label in labels}, {_SIDES[label][1] for label in labels}
    if len(labels) != len(left) * len(right):
        expected = "candidates that boundaries can express (B|S, M|E, B|M, E|S, or one)"
        raise CorpusError(f"the segmentation {candidates}", expected)
    return left, right


def _fields(layers: Mapping[str, Layer], marks: Sequence[str]) -> list[str]:
    """Return the tag field after each character: `/first/second`, without empty levels at its end."""
    levels: list[list[str]] = []
    while (layer := layers.get(name := _level_name(len(levels)))) is not None:
        words = [candidates if mark == _BOUNDARY else None for candidates, mark in zip(layer, marks, strict=True)]
        if _spread(words, marks) != layer:
            expected = "the same tag on all characters of a word, and none where the end of the word is unknown"
            raise CorpusError(f"tags in layer {name!r} that are not tags of words", expected)
        levels.append([*map(_field, words)])
    if len(levels) == 1:
        return levels[0]
    joined = []
    for fields in zip(*levels, strict=True):
        depth = max((level + 1 for level, field in enumerate(fields) if field), default=0)
        joined.append("".join(field or "/" for field in fields[:depth]))
    return joined


@lru_cache(1 << 12)
def _field(candidates: Candidates) -> str:
    if candidates is None:
        return ""
    if "" in candidates:
        raise CorpusError("an empty label", "labels of at least one character")
    if isinstance(candidates, Soft):
        raise CorpusError(f"the numbers of {tuple(candidates)}", "candidates without numbers in KyTea files")
    return "/" + "&".join(map(_escaped, candidates))


def _look(text: FirstLines) -> Look | None:
    """Recognise marks between characters, some of them known. Text for a model of words has none."""
    if text.labels is not None:
        return None
    try:
        sentences = list(read(text.rows))
    except CorpusError:
        return None
    unknown = (segmentation_layer([_UNKNOWN] * (len(sentence) - 1)) for sentence in sentences)
    has_marks = any(sentence.layers[SEGMENTATION] != layer for sentence, layer in zip(sentences, unknown, strict=True))
    return Look(Sign.MARKS) if has_marks else None


FORMAT = Format(
    name="kytea",
    read=read,
    write=write,
    look=_look,
    extensions=(".kytea", ".part"),
    unit="character",
    layers=(SEGMENTATION, TAG),
)
