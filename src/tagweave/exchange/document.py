"""Documents: texts in which people or models have marked spans of characters, as annotation tools keep them.

Libraries whose files have tokens: they are read as sentences, without a way over offsets.

Texts whose spans stand in layers with features, as INCEpTION has them; a corpus takes the spans of one feature.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from tagweave.corpus.sentence import Candidates, Layer, Location, Sentence
from tagweave.errors import CorpusError

if TYPE_CHECKING:
    from tagweave.exchange.members import ExportFile
    from tagweave.exchange.tokens import Offsets


class Mark(NamedTuple):
    """The characters start .. stop - 1 (code points), their label, and the probability that the label is right.

    With gaps, not all of these characters are marked, so the span is none of tokens that stand side by side. A rejected
    mark says that it is wrong, and nothing else.
    """

    start: int
    stop: int
    label: str
    probability: float = 1.0
    gaps: bool = False
    rejected: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A text, and what each annotator marked in it.

    Attributes:
        text: the text, with its line breaks.
        marks: for each annotator, by name, what they marked; `None` if they saw the text and their answer is unusable.
            An annotator who is not here did not see it.
        name: of the document in its tool; "" without one.
        tokens: the tokens, as pairs of offsets, if the tool has them.
        location: where it was read, for messages.
        sentences: the sentences, as pairs of offsets in their order, if the tool has them; otherwise lines are.
        left_out: what else was marked and cannot be kept, such as relations, and how often.

    Raises:
        CorpusError: a span without a label or without characters, or beyond the text; sentences that overlap.
    """

    text: str
    marks: Mapping[str, tuple[Mark, ...] | None] = field(default_factory=dict)
    name: str = ""
    tokens: tuple[tuple[int, int], ...] | None = None
    location: Location = Location()
    sentences: tuple[tuple[int, int], ...] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        end = 0
        for start, stop in self.sentences or ():
            if not end <= start <= stop <= len(self.text):
                expected = f"characters of the text, {end} to {len(self.text)}, after the sentence before"
                raise self.error(f"a sentence from {start} to {stop}", expected)
            end = stop
        for marks in self.marks.values():
            for mark in marks or ():
                self._check(mark)

    def _check(self, mark: Mark) -> None:
        if not 0 <= mark.start < mark.stop <= len(self.text):
            raise self.error(
                f"a span from {mark.start} to {mark.stop}", f"characters of the text, 0 to {len(self.text)}"
            )
        if not mark.label:
            raise self.error(f"a span from {mark.start} to {mark.stop} without a label", "a label")
        if not 0 < mark.probability <= 1:
            raise self.error(f"a span with the probability {mark.probability}", "a number above 0, and at most 1")

    def error(self, found: str, expected: str) -> CorpusError:
        """An error that names the place of the document."""
        return CorpusError(found, expected, *self.location)


@dataclass(frozen=True, slots=True)
class Tool:
    """How a tool's files are read, and how predictions are written for it.

    Attributes:
        name: on the command line.
        read: the documents of a file, by its path.
        write: writes documents to a stream, as annotation that people look at before they accept it.
        extension: of its files.
        binary: whether it writes bytes, such as a zip of files, to the stream; otherwise text.
        rejections: whether its files hold rejected marks.
    """

    name: str
    read: Callable[[str], Iterator[Document]]
    write: Callable[[Iterable[Document], IO[Any]], None]
    extension: str
    binary: bool = False
    rejections: bool = False


@dataclass(frozen=True, slots=True)
class TokenTool:
    """How a library's files of tokens are read and written.

    Attributes:
        name: on the command line.
        read: the sentences of a file, by its path; the second argument counts what is left out.
        write: writes sentences, with these layers of labels, to a stream; the last argument is the name of the file,
            whose extension may say in which form.
        extensions: of its files, the usual one first.
    """

    name: str
    read: Callable[[str, Callable[[str], None]], Iterator[Sentence]]
    write: Callable[[Sequence[Sentence], IO[bytes], Sequence[str], str], None]
    extensions: tuple[str, ...]


def single(layer: Layer, sentence: Sentence, tool: str) -> list[str | None]:
    """The labels of a layer of which every position is known or unknown. Raises CorpusError for several candidates."""
    return [_single(candidates, sentence, tool) for candidates in layer]


def _single(candidates: Candidates, sentence: Sentence, tool: str) -> str | None:
    if candidates is None:
        return None
    if len(candidates) > 1:
        expected = f"one label or none, as {tool} has them"
        raise sentence.error(f"the candidates {' '.join(candidates)}", expected)
    return candidates[0]


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


def documents(found: Iterable[tuple[ExportFile, LayeredText]], wanted: str | None, path: str) -> Iterator[Document]:
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
