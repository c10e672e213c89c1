"""INCEpTION's exports: UIMA CAS XMI and CAS JSON (dkpro-cassis), and WebAnno TSV.

An argument is `PATH[#LAYER]`: a file, a folder or a zip, and if there are several, `Layer.feature`, or either of these.
In the export of a project, `annotation/DOCUMENT/ANNOTATOR.xmi` (or a zip of it, or `.json`, `.tsv`) tells who annotated
what, `curation` is like it, and sources and texts that nobody has opened (`INITIAL_CAS`) are not read. A span is an
annotation with a text in the feature; a feature `score` between 0 and 1 is its probability.

The way back is a zip of XMI files, with tokens and sentences, and spans as named entities with `value` and `score`.
INCEpTION imports what its project knows: without a feature `score` of that layer, the scores are dropped.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO

from tagweave.corpus.errors import CorpusError
from tagweave.exchange import webanno_tsv
from tagweave.exchange.document import Document, Tool
from tagweave.exchange.layered import LayeredText, documents, is_annotated, split_argument
from tagweave.exchange.members import Member, members, refuse_link
from tagweave.exchange.packing import packed_names, write_zip
from tagweave.exchange.uima_types import CONTENT, TYPES, Types, check_objects

_TYPES = "TypeSystem.xml"
_WEIGHT = 300_000  # of all different type systems of an export


def read(argument: str) -> Iterator[Document]:
    """The documents of `PATH[#LAYER]`.

    Raises:
        CorpusError: a file that is not in one of these forms; XMI without its `TypeSystem.xml`; several layers, of
            which none is named.
        ExchangeError: dkpro-cassis is not installed.
        OSError: a file cannot be read.
    """
    path, layer = split_argument(argument)
    return documents(_texts(path), layer, path)


def _texts(path: str) -> Iterator[tuple[Member, LayeredText]]:
    systems = _Systems(path)
    alone = not (Path(path).is_dir() or zipfile.is_zipfile(path))
    for each in members(path, ".xmi", ".json", ".tsv"):
        if is_annotated(each.name) and (found := _text(each, systems, alone)) is not None:
            yield each, found


class _Systems:
    """The type systems of an export, or the one beside a file. Of those that are the same, one is kept.

    Args:
        path: of the export.
    """

    def __init__(self, path: str) -> None:
        same: dict[bytes, Member] = {}
        self._of = {each.name.parent: same.setdefault(each.data, each) for each in _type_systems(path)}
        self._known: set[int] = set()
        self._left = _WEIGHT

    def beside(self, member: Member) -> Member:
        """Return the type system of an XMI file. Raises CorpusError if there is none."""
        folder = next((each for each in (member.name.parent, *member.name.parents) if each in self._of), None)
        if folder is None:
            raise CorpusError(f"no {_TYPES}", "the type system beside the XMI, as INCEpTION exports both", member.place)
        return self._of[folder]

    def count(self, content: bytes, place: str, measure: Callable[[], Types]) -> None:
        """Count a type system that was not there before. Raises CorpusError if all together take too long to load."""
        if hash(content) in self._known:
            return
        self._known.add(hash(content))
        self._left -= measure().weight
        if self._left < 0:
            raise CorpusError("too many different type systems", "one of a tool: import the files in parts", place)


def _type_systems(path: str) -> Iterator[Member]:
    if Path(path).is_dir() or zipfile.is_zipfile(path):
        yield from (each for each in members(path, ".xml") if each.name.name == _TYPES)
    elif (beside := Path(path).with_name(_TYPES)).is_file():
        refuse_link(beside)
        yield from members(str(beside))


def _text(member: Member, systems: _Systems, alone: bool) -> LayeredText | None:
    """The text of a file; `None` for JSON of an export that is no CAS, such as the settings of the project."""
    from tagweave.exchange import cas

    if member.name.suffix == ".tsv":
        return webanno_tsv.layered(member)
    if member.name.suffix == ".json":
        content = _json(member)
        if not isinstance(content, dict) or CONTENT not in content:
            if alone:
                raise CorpusError("no CAS", f'an object with "{CONTENT}"', member.place)
            return None
        declared = json.dumps(content.get(TYPES)).encode()
        systems.count(declared, member.place, lambda: cas.types_of(member, content))
        return cas.from_json(member, content)
    types = systems.beside(member)
    systems.count(types.data, types.place, lambda: cas.types_of(types))
    return cas.from_xmi(member, types)


def _json(member: Member) -> object:
    text = member.text()
    check_objects(text, member.place)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"no JSON ({error})", "CAS JSON", member.place) from None


def write(found: Iterable[Document], stream: IO[bytes]) -> None:
    """Write a zip of XMI files with their type system.

    Raises:
        CorpusError: a text that XML cannot hold.
        ExchangeError: dkpro-cassis is not installed.
    """
    from tagweave.exchange import cas

    system = cas.type_system()
    named = packed_names(found, ".xmi")
    texts = ((name, cas.to_xmi(document, marks, system)) for document, marks, name in named)
    write_zip(stream, chain(texts, [(_TYPES, system.to_xml())]))


TOOL = Tool("inception", read, write, ".zip", binary=True)
