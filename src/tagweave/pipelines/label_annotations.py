"""What taggers of words set in documents of spaCy: tags or entities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.formats.conllu import XPOS
from tagweave.corpus.sentence import Sentence
from tagweave.labels.transition_scheme import split_label
from tagweave.pipelines.doc_sentences import DocSentences, joined
from tagweave.pipelines.errors import PipelineError

if TYPE_CHECKING:
    from tagweave.models.chain_predictor import ChainPredictor

ATTRIBUTES = ("tag", "pos")
_BLANK = {"tag": "_SP", "pos": "SPACE"}
"""What spaCy's taggers give to blanks."""


class _Labels:
    """The labels of documents by a tagger, as numbers of its labels."""

    def __init__(self, tagger: ChainPredictor) -> None:
        self._tagger = tagger
        self._number = {(name,): at for at, name in enumerate(tagger.labels)}

    def of(self, documents: Sequence[DocSentences]) -> Iterator[NDArray[np.int64]]:
        """The numbers of each document's tokens."""
        labelled = self._tagger.tag([sentence for each in documents for sentence in each.sentences])
        for each in documents:
            yield joined([self._numbers(sentence) for sentence in islice(labelled, len(each.sentences))])

    def _numbers(self, sentence: Sentence) -> NDArray[np.int64]:
        layer: Any = sentence.layers[self._tagger.guideline]
        return np.fromiter(map(self._number.__getitem__, layer), np.int64, len(layer))


class Tags:
    """Labels as `token.tag_` or `token.pos_`.

    Args:
        tagger: finds them.
        attribute: `tag` or `pos`; by default `pos` if all labels are parts of speech of UD and not learned from XPOS.
        overwrite: whether tags that are there are replaced.

    Raises:
        PipelineError: another attribute, or labels that are no parts of speech.
    """

    def __init__(self, tagger: ChainPredictor, attribute: str | None, overwrite: bool) -> None:
        from spacy.parts_of_speech import IDS

        strange = [name for name in tagger.labels if name not in IDS]
        is_xpos = XPOS in tagger.model.layers(tagger.guideline)
        name = attribute or ("tag" if strange or is_xpos else "pos")
        if name not in ATTRIBUTES:
            raise PipelineError(f"found attribute {name!r}, expected {' or '.join(ATTRIBUTES)}")
        if name == "pos" and strange:
            shown = ", ".join(strange[:5])
            raise PipelineError(f"found the labels {shown}, expected parts of speech of UD for attribute pos, or tag")
        self.labels, self._name, self._overwrite = tagger.labels, name, overwrite
        self._labels = _Labels(tagger)

    def set(self, docs: Sequence[Any]) -> None:
        """Set the tags of documents. Raises CorpusError as `ChainPredictor.tag`."""
        from spacy.attrs import IDS

        attribute, documents = IDS[self._name.upper()], [DocSentences(each) for each in docs]
        vocab, ids, blank = None, np.zeros(0, np.uint64), 0
        for document, numbers in zip(documents, self._labels.of(documents), strict=True):
            doc = document.doc
            if doc.vocab is not vocab:
                vocab, blank = doc.vocab, self._id(doc, _BLANK[self._name])
                ids = np.array([self._id(doc, name) for name in self.labels], np.uint64)
            values = ids[numbers]
            if len(numbers) < len(doc):
                values = np.full(len(doc), blank, np.uint64)
                values[document.tokens] = ids[numbers]
            if not self._overwrite and doc.has_annotation(attribute):
                before = doc.to_array([attribute]).reshape(-1)
                values = np.where(before != 0, before, values)
            doc.from_array([attribute], values.reshape(-1, 1))

    def _id(self, doc: Any, name: str) -> int:
        from spacy.parts_of_speech import IDS

        number: int = IDS[name] if self._name == "pos" else doc.vocab.strings.add(name)
        return number


class Entities:
    """Labels that code spans, as `doc.ents`.

    Args:
        tagger: finds them.
        overwrite: whether entities that are there give way to others; else those stay, and what overlaps them is left
            out.
    """

    def __init__(self, tagger: ChainPredictor, overwrite: bool) -> None:
        parts = [split_label(name) for name in tagger.labels]
        self.labels = tuple(sorted({kind for _, kind in parts if kind}))
        self._overwrite = overwrite
        self._labels = _Labels(tagger)
        self._types = [kind for _, kind in parts]
        kinds = {kind: at for at, kind in enumerate(dict.fromkeys(self._types))}
        self._kind = np.array([kinds[kind] for kind in self._types])
        self._goes_on = np.array([letter in "BI" for letter, _ in parts])
        self._inner = np.array([letter in "IE" for letter, _ in parts])
        self._outside = np.array([letter == "O" for letter, _ in parts])

    def set(self, docs: Sequence[Any]) -> None:
        """Set the entities of documents. Raises CorpusError as `ChainPredictor.tag`."""
        from spacy.tokens import Span

        documents = [DocSentences(each) for each in docs]
        for document, numbers in zip(documents, self._labels.of(documents), strict=True):
            doc, tokens = document.doc, document.tokens
            found = [
                Span(doc, int(tokens[start]), int(tokens[stop - 1]) + 1, label=kind)
                for start, stop, kind in self._spans(numbers, document)
            ]
            doc.set_ents(self._beside(found, doc.ents))

    def _spans(self, numbers: NDArray[np.int64], document: DocSentences) -> Iterator[tuple[int, int, str]]:
        """The spans: what goes on where none of its type was begins one."""
        if not len(numbers):
            return
        kind, before = self._kind[numbers], numbers[:-1]
        inner = self._inner[numbers]
        inner[1:] &= self._goes_on[before] & (kind[1:] == kind[:-1])
        inner[np.cumsum([0, *map(len, document.positions[:-1])])] = False
        starts = np.flatnonzero(~inner)
        stops = np.append(starts[1:], len(numbers))
        named = ~self._outside[numbers[starts]]
        for start, stop in zip(starts[named].tolist(), stops[named].tolist(), strict=True):
            yield start, stop, self._types[numbers[start]]

    def _beside(self, found: list[Any], before: Sequence[Any]) -> list[Any]:
        """The entities, beside those that are there."""
        if not before or self._overwrite:
            return found
        taken = {at for each in before for at in range(each.start, each.end)}
        return [*before, *(each for each in found if taken.isdisjoint(range(each.start, each.end)))]
