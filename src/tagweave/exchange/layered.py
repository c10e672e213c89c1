"""Texts whose spans stand in layers with features, as INCEpTION has them; a corpus takes the spans of one feature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tagweave.corpus.errors import CorpusError
from tagweave.exchange.document import Document, Mark
from tagweave.exchange.members import Member
from tagweave.exchange.tokens import Offsets

ANNOTATOR = "annotator"
ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
"""The layer of every new project of INCEpTION, with the feature `value`: what is written."""
_FOLDERS = ("annotation", "curation")
_NOT_ANNOTATED = ("source", "annotation_ser", "curation_ser")  # folders of a project's export
_NOBODY = "INITIAL_CAS"


@dataclass
class LayeredText:
    """A text of one annotator.

    Attributes:
        text: the text.
        tokens, sentences: as pairs of offsets; `None` if there are none.
        layers: the spans with a value, by `Layer.feature`; of a layer without features, by `Layer`.
        left_out: what is no span with a value, and how often.
    """

    text: str
    tokens: Sequence[Offsets] | None = None
    sentences: Sequence[Offsets] | None = None
    layers: dict[str, list[Mark]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


def split_argument(argument: str) -> tuple[str, str | None]:
    """The path and the layer of `PATH[#LAYER]`; a path that is there is a path."""
    path, mark, layer = argument.rpartition("#")
    return (argument, None) if not mark or Path(argument).exists() else (path, layer)


def is_annotated(name: PurePosixPath) -> bool:
    """Whether a file of an export is what somebody annotated: not a source, nor a text that nobody has opened."""
    return not {*name.parts} & {*_NOT_ANNOTATED} and _place(name)[1] != _NOBODY


def _place(name: PurePosixPath) -> tuple[str, str]:
    """The document and the annotator of a file: in exports of projects `annotation/DOCUMENT/ANNOTATOR.xmi`."""
    parts = name.parts
    at = next((at for at, part in enumerate(parts[:-2]) if part in _FOLDERS), None)
    if at is None:
        return name.stem, ANNOTATOR
    return parts[at + 1], name.stem if at + 3 == len(parts) else parts[at + 2]


def documents(found: Iterable[tuple[Member, LayeredText]], wanted: str | None, path: str) -> Iterator[Document]:
    """The documents of texts, with the spans of one layer.

    Args:
        found: the texts, and their files.
        wanted: the layer, by its name or the end of it; may be `None` if all texts together have only one.
        path: of the export, for messages.

    Raises:
        CorpusError: no such layer, or several.
    """
    kept = list(found)
    layer = _chosen(sorted({name for _, each in kept for name in each.layers}), wanted, path)
    for member, each in kept:
        name, annotator = _place(member.name)
        marks = tuple(each.layers.get(layer, ()))
        tokens, bounds = (None if some is None else tuple(some) for some in (each.tokens, each.sentences))
        others = {f"spans of {name}": len(marks) for name, marks in each.layers.items() if name != layer and wanted}
        left_out = {**each.left_out, **others}
        yield Document(each.text, {annotator: marks}, name, tokens, member.location(), bounds, left_out)


def _chosen(names: Sequence[str], wanted: str | None, path: str) -> str:
    fitting = [name for name in names if wanted is None or name == wanted or _ends(name, wanted)]
    if len(fitting) > 1 and wanted in fitting:
        return wanted
    if len(fitting) == 1 or not names:
        return fitting[0] if fitting else ""
    listed = ", ".join(names)
    if wanted is not None and not fitting:
        raise CorpusError(f"no layer {wanted}", f"one of {listed}", path)
    raise CorpusError(f"the layers {', '.join(fitting)}", f"one of them: {path}#{fitting[0]}", path)


def _ends(name: str, wanted: str) -> bool:
    """Whether a layer is meant by the end of its name, with or without its feature."""
    layer, _, _ = name.rpartition(".")
    return name.endswith(f".{wanted}") or layer == wanted or layer.endswith(f".{wanted}")


def short(type_name: str) -> str:
    """The name of a layer as people know it: without the packages of DKPro and `webanno`."""
    return type_name.rpartition(".")[2]
