"""Annotation of spaCy's documents: tags, entities and trees, for sentences without blanks."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, ORTH, SENT_START
from spacy.attrs import IDS as ATTRIBUTES
from spacy.parts_of_speech import IDS as PARTS_OF_SPEECH
from spacy.tokens import Span

from tagweave.corpus.documents import marks
from tagweave.corpus.formats.conllu import XPOS
from tagweave.corpus.sentence import Sentence
from tagweave.errors import PipelineError
from tagweave.features.arc_templates import lacking, with_columns
from tagweave.labels.transition_scheme import split_label
from tagweave.models.tree import TreePredictor

if TYPE_CHECKING:
    from tagweave.front.parser import Parser
    from tagweave.models.chain_predictor import ChainPredictor


class DocSentences:
    """The sentences of a document, or else its lines, without blanks; `positions`, int64, places their tokens."""

    def __init__(self, doc: Any) -> None:
        self.doc = doc
        array = doc.to_array([ORTH, SENT_START])
        strings = doc.vocab.strings
        forms = [strings[number] for number in array[:, 0].tolist()]
        if not any(map(str.isspace, forms)) and not doc.has_annotation("SENT_START"):  # most documents of one sentence
            self.positions: list[NDArray[np.int64]] = [np.arange(len(forms))] if forms else []
            self.sentences = [Sentence(tuple(forms), comments=next(marks()))] if forms else []
            return
        kept = np.array([not form.isspace() for form in forms], bool)
        begins = array[:, 1] == 1
        if not doc.has_annotation("SENT_START"):  # a blank token with a break begins a line
            begins = ~kept & np.array(["\n" in form or "\r" in form for form in forms], bool)
        begins[:1] = False
        sentence_positions = (
            indices[kept[indices]] for indices in np.split(np.arange(len(forms)), np.flatnonzero(begins))
        )
        self.positions = [positions for positions in sentence_positions if len(positions)]
        self.sentences = [
            Sentence(tuple(forms[at] for at in positions.tolist()), comments=mark)
            for positions, mark in zip(self.positions, marks(), strict=False)
        ]

    @property
    def tokens(self) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(0, np.int64), *self.positions])


_BLANKS = {"tag": "_SP", "pos": "SPACE"}
"""By attribute, what spaCy's taggers give to blanks."""


class _Labels:
    """The labels of documents by a tagger, as numbers of its labels."""

    def __init__(self, tagger: ChainPredictor) -> None:
        self._tagger = tagger
        self._number = {(name,): at for at, name in enumerate(tagger.labels)}

    def of(self, documents: Sequence[DocSentences]) -> Iterator[NDArray[np.int64]]:
        labelled = self._tagger.tag([sentence for document in documents for sentence in document.sentences])
        for document in documents:
            layers = [sentence.layers[self._tagger.guideline] for sentence in islice(labelled, len(document.sentences))]
            yield np.array([self._number[label] for layer in layers for label in layer], np.int64)  # type: ignore[index]


class Tags:
    """Labels as `token.tag_` or `token.pos_`; with `overwrite`, existing tags are replaced.

    By default `pos` if all labels are parts of speech of UD and not learned from XPOS. Raises PipelineError for
    another attribute, or labels that are no parts of speech.
    """

    def __init__(self, tagger: ChainPredictor, attribute: str | None, overwrite: bool) -> None:
        strange = [name for name in tagger.labels if name not in PARTS_OF_SPEECH]
        is_xpos = XPOS in tagger.model.layers(tagger.guideline)
        name = attribute or ("tag" if strange or is_xpos else "pos")
        if name not in _BLANKS:
            raise PipelineError(f"found attribute {name!r}, expected {' or '.join(_BLANKS)}")
        if name == "pos" and strange:
            shown = ", ".join(strange[:5])
            raise PipelineError(f"found the labels {shown}, expected parts of speech of UD for attribute pos, or tag")
        self.labels, self._name, self._overwrite = tagger.labels, name, overwrite
        self._labels = _Labels(tagger)

    def set(self, docs: Sequence[Any]) -> None:
        attribute = ATTRIBUTES[self._name.upper()]
        documents = [DocSentences(doc) for doc in docs]
        vocab, ids, blank = None, np.zeros(0, np.uint64), 0
        for document, numbers in zip(documents, self._labels.of(documents), strict=True):
            doc = document.doc
            if doc.vocab is not vocab:
                vocab, blank = doc.vocab, self._id(doc, _BLANKS[self._name])
                ids = np.array([self._id(doc, name) for name in self.labels], np.uint64)
            values = ids[numbers]
            if len(numbers) < len(doc):
                values = np.full(len(doc), blank, np.uint64)
                values[document.tokens] = ids[numbers]
            if not self._overwrite and doc.has_annotation(attribute):
                before = doc.to_array([attribute]).reshape(-1)
                values = np.where(before != 0, before, values)
            doc.from_array([attribute], values.reshape(-1, 1))

    def _id(self, doc: Any, name: str) -> Any:
        return PARTS_OF_SPEECH[name] if self._name == "pos" else doc.vocab.strings.add(name)


class Entities:
    """Labels that code spans, as `doc.ents`; without `overwrite`, existing entities stay, and none overlaps them."""

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
        documents = [DocSentences(doc) for doc in docs]
        for document, numbers in zip(documents, self._labels.of(documents), strict=True):
            doc, tokens = document.doc, document.tokens
            entities = [
                Span(doc, int(tokens[start]), int(tokens[stop - 1]) + 1, label=kind)
                for start, stop, kind in self._spans(numbers, document)
            ]
            if doc.ents and not self._overwrite:
                taken = {at for entity in doc.ents for at in range(entity.start, entity.end)}
                new = (entity for entity in entities if taken.isdisjoint(range(entity.start, entity.end)))
                entities = [*doc.ents, *new]
            doc.set_ents(entities)

    def _spans(self, numbers: NDArray[np.int64], document: DocSentences) -> Iterator[tuple[int, int, str]]:
        """Yield the spans: an inner label where none of its type was begins one."""
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


_ROOT, _ANY = "ROOT", "dep"
"""What spaCy calls the relation of a root, and one that is not known."""
_USER = "user:"
_ATTRIBUTES = {"upos": "POS", "user:lemma": "LEMMA", "user:feats": "MORPH"}
"""Where inputs of parsers are in documents; any other layer is `TAG`."""
_UNKNOWN = "_"


class Trees:
    """Trees as `token.head` and `token.dep_`; with `overwrite`, existing trees are replaced."""

    def __init__(self, parser: Parser, overwrite: bool) -> None:
        self._parser, self._overwrite = TreePredictor(parser.trained, parser.threads), overwrite
        self._inputs, self._name, self._has_warned = parser.trained.inputs, parser.name, False
        relations = parser.trained.labels
        self.labels = () if relations is None else tuple(relations.names)

    def set(self, docs: Sequence[Any]) -> None:
        documents = [DocSentences(doc) for doc in docs if self._overwrite or not doc.has_annotation("DEP")]
        seen = [sentence for document in documents for sentence in self._with_inputs(document)]
        missing = [] if self._has_warned or not seen else lacking(seen, self._inputs)
        if missing:
            self._has_warned = True
            said = f"the documents have no {', '.join(missing)}, which {self._name} looks at: its trees will be worse"
            warnings.warn(said, UserWarning, stacklevel=3)
        parsed = self._parser.parse(with_columns(sentence, self._inputs) for sentence in seen)
        for document in documents:
            if document.sentences:
                self._set(document, islice(parsed, len(document.sentences)))

    def _set(self, document: DocSentences, parsed: Any) -> None:
        doc, strings = document.doc, document.doc.vocab.strings
        places, tokens = np.arange(len(doc)), document.tokens
        # a blank hangs on the last token before it that is none, or else on the first
        heads = tokens[np.maximum(np.searchsorted(tokens, places, "right") - 1, 0)]
        relations = np.full(len(doc), strings.add(_ANY), np.uint64)
        for positions, sentence in zip(document.positions, parsed, strict=True):
            arcs = [candidates[0] for candidates in sentence.heads[self._parser.model.guideline]]
            heads[positions] = [positions[(arc.head or at) - 1] for at, arc in enumerate(arcs, 1)]
            names = [(arc.relation or _ANY) if arc.head else _ROOT for arc in arcs]
            relations[positions] = [strings.add(name) for name in names]
        distances = (heads - places).astype(np.int64).astype(np.uint64)
        doc.from_array([HEAD, DEP], np.stack([distances, relations], axis=1))

    def _with_inputs(self, document: DocSentences) -> list[Sentence]:
        """Return the sentences with the columns that the parser looks at, where the document has them."""
        sentences, strings = document.sentences, document.doc.vocab.strings
        for name in self._inputs:
            attribute = _ATTRIBUTES.get(name, "TAG")
            if name.startswith(_USER) and name not in _ATTRIBUTES:
                continue
            values = document.doc.to_array([ATTRIBUTES[attribute]]).reshape(-1)
            if values.any():
                texts = [[strings[at] for at in values[positions].tolist()] for positions in document.positions]
                sentences = [_with(sentence, name, words) for sentence, words in zip(sentences, texts, strict=True)]
        return sentences


def _with(sentence: Sentence, name: str, values: list[str]) -> Sentence:
    if name.startswith(_USER):
        return sentence.with_column(name.removeprefix(_USER), (value or _UNKNOWN for value in values))
    return replace(sentence, layers={**sentence.layers, name: tuple((value,) if value else None for value in values)})
