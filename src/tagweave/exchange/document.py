"""Documents: texts in which people or models have marked spans of characters, as annotation tools keep them.

A tool has functions to read and to write its files. Libraries whose files have tokens are read as sentences, without a
way over offsets. INCEpTION's texts have layers of spans with features; a corpus takes the spans of one feature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.errors import CorpusError

if TYPE_CHECKING:
    from tagweave.exchange.members import ExportFile
    from tagweave.exchange.tokens import Offsets


class Mark(NamedTuple):
    """The characters start .. stop - 1 (code points), their label, and the probability that the label is right.

    A mark with gaps leaves out some of these characters, so it is no span of adjacent tokens. A rejected mark says that
    it is wrong, and nothing else.
    """

    start: int
    stop: int
    label: str
    probability: float = 1.0
    gaps: bool = False
    rejected: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A text, and what each annotator marked in it."""

    text: str
    # the marks of each annotator, by name; `None` if the annotator saw the text and the answer is unusable. An
    # annotator without an entry did not see it.
    marks: Mapping[str, tuple[Mark, ...] | None] = field(default_factory=dict)
    name: str = ""
    # tokens, sentences: pairs of offsets in their order, if the tool has them; without sentences, lines are used
    tokens: tuple[tuple[int, int], ...] | None = None
    location: Location = Location()
    sentences: tuple[tuple[int, int], ...] | None = None
    # what else was marked and cannot be kept, such as relations, and how often
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        end = 0
        for start, stop in self.sentences or ():
            if not end <= start <= stop <= len(self.text):
                expected = f"characters of the text, {end} to {len(self.text)}, after the sentence before"
                raise self.error(f"a sentence from {start} to {stop}", expected)
            end = stop
        for mark in (mark for marks in self.marks.values() for mark in marks or ()):
            place = f"a span from {mark.start} to {mark.stop}"
            if not 0 <= mark.start < mark.stop <= len(self.text):
                raise self.error(place, f"characters of the text, 0 to {len(self.text)}")
            if not mark.label:
                raise self.error(f"{place} without a label", "a label")
            if not 0 < mark.probability <= 1:
                found = f"a span with the probability {mark.probability}"
                raise self.error(found, "a number above 0, and at most 1")

    def error(self, found: str, expected: str) -> CorpusError:
        return CorpusError(found, expected, *self.location)


@dataclass(frozen=True, slots=True)
class Tool:
    """How documents are read from a tool's file, and how predictions are written for people to look over."""

    name: str
    read: Callable[[str], Iterator[Document]]
    write: Callable[[Iterable[Document], IO[Any]], None]
    extension: str
    binary: bool = False  # whether it writes bytes, such as a zip of files, to the stream; otherwise text
    rejections: bool = False  # whether its files hold rejected marks


@dataclass(frozen=True, slots=True)
class TokenTool:
    """How a library's files of tokens are read and written."""

    name: str
    # yields the sentences of a file, by its path; the second argument counts what is left out
    read: Callable[[str, Callable[[str], None]], Iterator[Sentence]]
    # writes sentences, with these layers of labels, to a stream; the last argument is the name of the file, whose
    # extension may say in which form
    write: Callable[[Sequence[Sentence], IO[bytes], Sequence[str], str], None]
    extensions: tuple[str, ...]  # of its files, the usual one first


def single(layer: Layer, sentence: Sentence, tool: str) -> list[str | None]:
    """Return the label of each position, `None` where it is unknown. Raises CorpusError for several candidates."""
    labels = []
    for candidates in layer:
        if candidates is not None and len(candidates) > 1:
            expected = f"one label or none, as {tool} has them"
            raise sentence.error(f"the candidates {' '.join(candidates)}", expected)
        labels.append(None if candidates is None else candidates[0])
    return labels


ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
"""The layer of every new project of INCEpTION, with the feature `value`: what is written."""
_ANNOTATOR = "annotator"
_FOLDERS = ("annotation", "curation")
_NOT_ANNOTATED = ("source", "annotation_ser", "curation_ser")  # folders of a project's export
_NOBODY = "INITIAL_CAS"


@dataclass
class LayeredText:
    """A text of one annotator."""

    text: str
    tokens: Sequence[Offsets] | None = None
    sentences: Sequence[Offsets] | None = None
    # the spans with a value, by `Layer.feature`; of a layer without features, by `Layer`
    layers: dict[str, list[Mark]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)  # what is no span with a value, and how often


def split_argument(argument: str) -> tuple[str, str | None]:
    """Return the path and the layer of `PATH[#LAYER]`; a path that exists is a path."""
    path, mark, layer = argument.rpartition("#")
    return (argument, None) if not mark or Path(argument).exists() else (path, layer)


def is_annotated(name: PurePosixPath) -> bool:
    """Return whether somebody annotated a file of an export: it is no source, and no text that nobody has opened."""
    return not {*name.parts} & {*_NOT_ANNOTATED} and _place(name)[1] != _NOBODY


def _place(name: PurePosixPath) -> tuple[str, str]:
    """Return document and annotator of a file: in exports of projects, it is `annotation/DOCUMENT/ANNOTATOR.xmi`."""
    parts = name.parts
    at = next((at for at, part in enumerate(parts[:-2]) if part in _FOLDERS), None)
    if at is None:
        return name.stem, _ANNOTATOR
    return parts[at + 1], name.stem if at + 3 == len(parts) else parts[at + 2]


def documents(found: Iterable[tuple[ExportFile, LayeredText]], wanted: str | None, path: str) -> Iterator[Document]:
    """Yield documents with the spans of one layer, from the texts of an export and their files.

    Args:
        wanted: the layer, by its name or the end of it; may be `None` if all texts together have only one.
    """
    kept = list(found)
    layer = _chosen(sorted({name for _, text in kept for name in text.layers}), wanted, path)
    for member, text in kept:
        name, annotator = _place(member.name)
        marks = tuple(text.layers.get(layer, ()))
        tokens, bounds = (None if some is None else tuple(some) for some in (text.tokens, text.sentences))
        others = {f"spans of {name}": len(marks) for name, marks in text.layers.items() if name != layer and wanted}
        left_out = {**text.left_out, **others}
        yield Document(text.text, {annotator: marks}, name, tokens, member.location(), bounds, left_out)


def _chosen(names: Sequence[str], wanted: str | None, path: str) -> str:
    def ends(name: str) -> bool:
        layer, _, _ = name.rpartition(".")  # a layer may be named with or without its feature
        return name.endswith(f".{wanted}") or layer == wanted or layer.endswith(f".{wanted}")

    fitting = [name for name in names if wanted is None or name == wanted or ends(name)]
    if len(fitting) > 1 and wanted in fitting:
        return wanted
    if len(fitting) == 1 or not names:
        return fitting[0] if fitting else ""
    if wanted is not None and not fitting:
        raise CorpusError(f"no layer {wanted}", f"one of {', '.join(names)}", path)
    raise CorpusError(f"the layers {', '.join(fitting)}", f"one of them: {path}#{fitting[0]}", path)


def short(type_name: str) -> str:
    """Return the name of a layer without the packages of DKPro and `webanno`."""
    return type_name.rpartition(".")[2]
