"""What a UIMA CAS would take, found out before dkpro-cassis reads it.

The library compiles a class for every type, anew for every feature, and makes two tables of all characters of a text.
So a type with features by the hundred takes minutes, and a text of megabytes gigabytes. Real type systems have a few
hundred types with five to twenty features each.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tagweave.corpus.errors import CorpusError, shortened
from tagweave.exchange.members import Member

CONTENT, TYPES = "%FEATURE_STRUCTURES", "%TYPES"
"""The keys of CAS JSON under which annotations and types stand."""
_FEATURES = 100  # of a type, inherited ones among them: compiling takes 0.2 s
_DEPTH = 50  # of types below each other
_WEIGHT = 100_000  # sum of the squares of features over all types: 2 s
_STEPS = 10_000_000  # annotations times features of the largest type
_ANNOTATIONS = 500_000
_CHARACTERS = 1 << 21
_SOFAS = 100  # texts of a document
_BUILT_IN = 3  # features of an annotation
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*?encoding\s*=\s*["'](?!utf-?8|us-ascii)""", re.IGNORECASE)
_TEXT = re.compile(rb"""sofaString\s*=\s*("[^"]*"|'[^']*')""")

Declared = Mapping[str, tuple[str, int]]
"""Types by name: the name of the type above, and the number of their own features."""


class Types(NamedTuple):
    """A type system: the features of its largest type, and a measure of the time to load it."""

    features: int
    weight: int


def declared_in_xml(member: Member) -> Iterator[tuple[str, tuple[str, int]]]:
    """Return the types of a file. Raises CorpusError if it is not plain XML, and whatever lxml raises."""
    from lxml import etree

    check_xml(member)
    for _, each in etree.iterparse(io.BytesIO(member.data), events=("end",), tag=("{*}typeDescription",)):
        features = sum(1 for _ in each.iterfind("{*}features/{*}featureDescription"))
        yield str(each.findtext("{*}name")).strip(), (str(each.findtext("{*}supertypeName")).strip(), features)
        each.clear()


def declared_in_json(types: object) -> Iterator[tuple[str, tuple[str, int]]]:
    """Return the types of CAS JSON."""
    for name, each in types.items() if isinstance(types, dict) else ():
        if isinstance(each, dict):
            features = sum(1 for feature in each if not feature.startswith("%"))
            yield name, (str(each.get("%SUPER_TYPE"))[:1000], features)


def checked_types(declared: Declared, place: str) -> Types:
    """Return the measure of a type system. Raises CorpusError if it is too large, or a type is above itself."""
    totals: dict[str, int] = {}
    for name in declared:
        chain, at = [name], declared[name][0]
        while at in declared and at not in totals:
            chain.append(at)
            at = declared[at][0]
            if len(chain) > _DEPTH:
                found = f"the type {shortened(name)} below more than {_DEPTH} others, or below itself"
                raise CorpusError(found, "types of an annotation tool", place)
        for below in reversed(chain):
            totals[below] = declared[below][1] + totals.get(declared[below][0], _BUILT_IN)
    measured = Types(max(totals.values(), default=_BUILT_IN), sum(each**2 for each in totals.values()))
    if measured.features > _FEATURES:
        raise CorpusError(f"a type with {measured.features:,} features", f"at most {_FEATURES}", place)
    if measured.weight > _WEIGHT:
        raise CorpusError(f"{len(totals):,} types of up to {measured.features} features", "fewer types", place)
    return measured


def check_xml(member: Member) -> None:
    """Raise CorpusError for XML that is not UTF-8, or has entities of its own."""
    member.text()
    if _ENCODING.match(member.data):
        raise CorpusError("an encoding of XML", "UTF-8", member.place)
    if b"<!DOCTYPE" in member.data:
        raise CorpusError("<!DOCTYPE", "XML without a document type, as UIMA writes it", member.place)


def check_xmi(member: Member, types: Types) -> None:
    """Raise CorpusError for an XMI file that is too large for its type system."""
    check_xml(member)
    characters = sum(map(len, _TEXT.findall(member.data)))
    _check_size(member.data.count(b"<"), member.data.count(b":Sofa"), characters, types, member.place)


def check_json(content: Mapping[str, Any], types: Types, place: str) -> None:
    """Raise CorpusError for CAS JSON that is too large for its type system, or is not CAS JSON."""
    given = content.get(CONTENT)
    found = list(given.values() if isinstance(given, dict) else given) if isinstance(given, dict | list) else []
    if not all(isinstance(each, dict) for each in found):
        raise CorpusError("a feature structure that is no object", "objects {...}", place)
    texts = [len(each["sofaString"]) for each in found if isinstance(each.get("sofaString"), str)]
    sofas = sum(each.get("%TYPE") == "uima.cas.Sofa" for each in found)
    _check_size(len(found), sofas, sum(texts), types, place)


def check_objects(text: str, place: str) -> None:
    """Raise CorpusError for JSON that would have too many objects and lists to be parsed."""
    found = text.count("{") + text.count("[")
    if found > 2 * _ANNOTATIONS:
        raise CorpusError(f"{found:,} objects and lists", f"at most {2 * _ANNOTATIONS:,}: cut the document", place)


def _check_size(annotations: int, sofas: int, characters: int, types: Types, place: str) -> None:
    most = min(_ANNOTATIONS, _STEPS // types.features)
    if annotations > most:
        found = f"{annotations:,} annotations with up to {types.features} features"
        raise CorpusError(found, f"at most {most:,}: cut the document, or export WebAnno TSV", place)
    if characters > _CHARACTERS:
        expected = f"at most {_CHARACTERS:,}: cut the document, or export WebAnno TSV"
        raise CorpusError(f"a text of {characters:,} characters", expected, place)
    if sofas > _SOFAS:
        raise CorpusError(f"{sofas:,} texts of a document", "one", place)
