"""CRFsuite's text format: a label and `attribute:value` fields, separated by tabs; blank lines between sequences.

Label sets are written with bars, `b|s`, as in CRFsuite's variant for partial annotation; an empty label or `?`
is unknown. The fields after the label are kept unchanged (with their escapes `\\:` and `\\\\`, and weights) in the
column `attributes`, one string a token. This format has no words: the form of a token is its first attribute, unescaped
and without its weight, or the token's number if it has no attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import isfinite, nan
from sys import intern
from typing import IO

from tagweave.corpus.characters import last_unescaped, split_unescaped, unescape
from tagweave.corpus.formats.format import FirstLines, Format, Look, Sign, blocks, checked, layer_to_write
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.errors import CorpusError

ATTRIBUTES = "attributes"
UNKNOWN = ("?", "")  # the first one is written
_NAMED = re.compile(r"[^=\s]+=.+")


def read(lines: Iterable[str], path: str = "") -> Iterator[Sentence]:
    """Yield the sequences between blank lines, in constant memory."""
    for block, start in blocks(lines):
        forms, labels, columns = [], [], []
        for number, line in enumerate(block, 1):
            field, _, attributes = line.partition("\t")
            location = Location(path, start + number - 1)
            named = weighted(attributes, location)
            forms.append(intern(named[0][0] if named else str(number)))
            labels.append(_candidates(field, location))
            columns.append(attributes)
        layers = {"tag": tuple(labels)}
        yield Sentence(tuple(forms), layers, {ATTRIBUTES: tuple(columns)}, location=Location(path, start))


def weighted(attributes: str, location: Location) -> list[tuple[str, float]]:
    """Return the attributes of a token, unescaped, with their weights, 1 where there is none."""
    return [_weighted(attribute, location) for attribute in attributes.split("\t")] if attributes else []


def _weighted(attribute: str, location: Location) -> tuple[str, float]:
    colon = last_unescaped(attribute, ":")
    name, number = (attribute, "1") if colon < 0 else (attribute[:colon], attribute[colon + 1 :])
    try:
        weight = float(number)
    except ValueError:
        weight = nan
    if not isfinite(weight):
        expected = "attribute:NUMBER, and \\: for a colon in an attribute"
        raise CorpusError(f"the weight {number!r} of {attribute!r}", expected, *location)
    if not name:
        raise CorpusError("an empty attribute", "attributes separated by one tab each", *location)
    return unescape(name, ":"), weight


def _candidates(field: str, location: Location) -> Candidates:
    if field in UNKNOWN:
        return None
    candidates = tuple(intern(unescape(piece, ":|")) for piece in split_unescaped(field, "|"))
    if "" in candidates or len(set(candidates)) != len(candidates):
        raise CorpusError(f"the label {field!r}", "different labels separated by '|'", *location)
    return candidates


def write(sentences: Iterable[Sentence], stream: IO[str], layer: str = "tag") -> None:
    """Write sentences as rows and a blank line; the form is the only attribute if there is no column `attributes`."""
    for sentence in sentences:
        labels = layer_to_write(sentence, layer)
        attributes = sentence.columns.get(ATTRIBUTES) or [_escaped(form, ":", sentence) for form in sentence.forms]
        for texts, candidates in zip(attributes, labels, strict=True):
            weighted(texts, sentence.location)
            if candidates == (UNKNOWN[0],):
                raise sentence.error(f"the label {UNKNOWN[0]!r}", "labels that do not mean unknown in this format")
            field = "|".join(_escaped(label, ":|", sentence) for label in candidates or ()) or UNKNOWN[0]
            stream.write(checked(f"{field}\t{texts}".removesuffix("\t"), sentence) + "\n")
        stream.write("\n" if sentence.forms else "")


def _escaped(text: str, special: str, sentence: Sentence) -> str:
    """Escape every special character and backslash, as CRFsuite reads them."""
    if not text or "\t" in text:
        raise sentence.error(f"the form or label {text!r}", "non-empty text without tabs")
    return "".join(f"\\{character}" if character in special + "\\" else character for character in text)


def _look(text: FirstLines) -> Look | None:
    """Recognise rows (not pairs) of mostly `name=value` after the label; for a model, if labels of its come first."""
    fields = [field for row in text.tabbed for field in row[1:]]
    are_named = 2 * sum(_NAMED.fullmatch(field) is not None for field in fields) > len(fields)
    if not are_named or {*map(len, text.tabbed)} == {2} or 2 * len(text.tabbed) <= len(text.rows):
        return None
    if text.labels is None or text.labels.fill(fields[0] for fields in text.fields):
        return Look(Sign.LAYOUT)
    note = f"read as words: no labels of the model where {FORMAT.name} have them (`format={FORMAT.name}`)"
    return Look(Sign.FIELDS, is_format=False, note=note)


FORMAT = Format(
    name="attributes",
    read=read,
    write=write,
    look=_look,
    extensions=(".crfsuite",),
)
