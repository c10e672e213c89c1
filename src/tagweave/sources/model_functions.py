"""Labelling functions that ask models: of tagweave, pipelines of spaCy, classifiers of tokens of transformers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import Soft
from tagweave.corpus.chunk_schemes import LENIENT, recoded
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.spans import OUTSIDE, TAGS, FoundSpan, layer_of
from tagweave.errors import PlanError
from tagweave.evidence.sequences import pointers
from tagweave.features.subwords import Subwords, refusing
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.pretrained import pretrained
from tagweave.models.storage import load_model
from tagweave.sources.functions import DeclaredFunction, FunctionError, stamp

_LEAST = 0.005  # of the probability of a candidate that is worth writing
_TOGETHER = 32  # sentences that a network reads at a time
Floats = NDArray[Any]


@dataclass(frozen=True)
class SpacyModel(DeclaredFunction):
    """Finds entities, or with the task tags parts of speech (`pos_`), by a pipeline of spaCy on the given tokens."""

    model: str  # the name of an installed pipeline (`en_core_web_sm`), or its folder
    # other names for the types of spaCy, as `{"GPE": "LOC"}`; types without one are left out. `None`: all types as they
    # are.
    labels: Mapping[str, str] | None = None

    def check(self, sentences: Sequence[Sentence]) -> None:
        _pipeline(self.model)

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        from spacy.tokens import Doc

        pipeline = _pipeline(self.model)
        docs = pipeline.pipe(Doc(pipeline.vocab, words=list(sentence.forms)) for sentence in sentences)
        return [layer_of(self._found(doc), len(doc), self.outside, self.task) for doc in docs]

    def _found(self, doc: Any) -> Iterator[FoundSpan]:
        spans = ((entity.start, entity.end, entity.label_) for entity in doc.ents)
        for start, stop, kind in ((t.i, t.i + 1, t.pos_) for t in doc) if self.task == "tags" else spans:
            if self.labels is None or kind in self.labels:
                yield FoundSpan(start, stop, (self.labels[kind] if self.labels else kind,))


@lru_cache(maxsize=2)
def _pipeline(name: str) -> Any:
    try:
        import spacy
    except ImportError:
        raise FunctionError(
            f"found the spaCy model {name}, expected the extra spacy: pip install '.[spacy]' in a checkout of tagweave"
        ) from None
    try:
        return spacy.load(name)
    except OSError as error:
        raise FunctionError(f"found no spaCy model {name}, expected an installed one: {error}") from None


@dataclass(frozen=True)
class TaggingModel(DeclaredFunction):
    """Labels tokens by a model, with its best labels or with probabilities of several."""

    path_fields = ("model",)

    model: str  # its file or folder
    # other names for labels, or types of spans; those without one are left out. `None`: all as they are.
    labels: Mapping[str, str] | None = None
    probabilities: bool = False  # whether to give all probable labels with their probabilities

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        if not self.probabilities:
            return [tuple(map(self._kept, layer)) for layer in self.best(sentences)]
        names, tables = self.tables(sentences)
        return [tuple(self._kept(_probable(names, row)) for row in table.tolist()) for table in tables]

    @abstractmethod
    def best(self, sentences: Sequence[Sentence]) -> Iterator[Layer]:
        """Yield the best labels of sentences."""

    @abstractmethod
    def tables(self, sentences: Sequence[Sentence]) -> tuple[Sequence[str], Sequence[Floats]]:
        """Return all labels, and their probabilities [L, labels] in each sentence."""

    def _kept(self, candidates: Candidates) -> Candidates:
        """Rename labels; unknown if the only label, or the best of several, is left out."""
        if candidates is None or (candidates[0] == OUTSIDE and not self.outside):
            return None
        if self.labels is None:
            return candidates
        names = [self._called(label) for label in candidates]
        if names[0] is None:
            return None
        if not isinstance(candidates, Soft):
            return (names[0],)
        shares: dict[str, float] = {}
        for name, number in zip(names, candidates.numbers, strict=True):
            shares[name or OUTSIDE] = shares.get(name or OUTSIDE, 0.0) + number
        return Soft(shares, shares.values())

    def _called(self, label: str) -> str | None:
        assert self.labels is not None  # noqa: S101 - as above
        if label == OUTSIDE:
            return label
        place, kind = ("", label) if self.task == "tags" else (label[:2], label[2:])
        return f"{place}{self.labels[kind]}" if kind in self.labels else None


def _probable(names: Sequence[str], row: Sequence[float]) -> Soft[str]:
    """Return the labels of a position with enough probability, the most probable first."""
    best = max(row)
    ordered = sorted(((p, name) for p, name in zip(row, names, strict=True) if p >= min(_LEAST, best)), reverse=True)
    total = sum(p for p, _ in ordered)
    return Soft((name for _, name in ordered), (round(p / total, 6) for p, _ in ordered))


@dataclass(frozen=True)
class TagweaveModel(TaggingModel):
    """Labels tokens by a model of tags or spans."""

    guideline: str | None = None  # the guideline of the labels; by default the target of the model

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise unless the file is a model of words, under this guideline."""
        self._predictor()

    def best(self, sentences: Sequence[Sentence]) -> Iterator[Layer]:
        predictor = self._predictor()
        return (sentence.layers[predictor.guideline] for sentence in predictor.tag(list(sentences)))

    def tables(self, sentences: Sequence[Sentence]) -> tuple[Sequence[str], Sequence[Floats]]:
        predictor = self._predictor()
        return predictor.labels, predictor.probabilities(sentences)

    def layer_in(self, names: Collection[str]) -> str | None:
        """Return the one of these layers that the model learned; `None` without one, or if its labels are renamed."""
        return self._predictor().layer_in(names) if self.labels is None else None

    def _predictor(self) -> ChainPredictor:
        try:
            return _predictor(self.model, self.guideline, stamp(self.model))
        except KeyError as error:
            raise FunctionError(f"{self.name}: {error.args[0]}") from None


@lru_cache(maxsize=4)
def _predictor(path: str, guideline: str | None, _stamp: object) -> ChainPredictor:
    model = load_model(path, ChainModel)
    if model.of_characters:
        raise FunctionError(f"{path}: found a model of characters, expected one of words")
    return ChainPredictor(model, guideline=guideline)


@dataclass(frozen=True)
class TransformersModel(TaggingModel):
    """Labels tokens by a network of transformers that classifies tokens, read at the first piece of each token."""

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise unless the folder has a classifier, whose labels suit the task."""
        self._columns(_classifier(self.model, stamp(self.model)).labels)

    def best(self, sentences: Sequence[Sentence]) -> Iterator[Layer]:
        names, tables = self.tables(sentences)
        for sentence, table in zip(sentences, tables, strict=True):
            layer = tuple((names[best],) for best in table.argmax(axis=1).tolist())
            yield layer if self.task == TAGS else recoded(sentence, layer, "IOB2", LENIENT, "tokens")

    def tables(self, sentences: Sequence[Sentence]) -> tuple[Sequence[str], Sequence[Floats]]:
        classifier = _classifier(self.model, stamp(self.model))
        spelled = self._columns(classifier.labels)
        names = tuple(dict.fromkeys(spelled))
        sums = np.array([[label == name for name in names] for label in spelled], np.float64)
        return names, [table @ sums for table in classifier.probabilities(sentences)]

    def _columns(self, labels: Sequence[str]) -> list[str]:
        """Return labels with the letters B and I, in which S begins a span and E goes on; tags as they are."""
        if self.task == TAGS:
            return list(labels)
        for label in labels:
            if label != OUTSIDE and label[:2] not in _IN_IOB:
                expected = 'labels as B-PER, I-PER and O, or "task": "tags"'
                raise FunctionError(f"{self.name}: found the label {label} in {self.model}, expected {expected}")
        return [label if label == OUTSIDE else _IN_IOB[label[:2]] + label[2:] for label in labels]


_IN_IOB = {"B-": "B-", "I-": "I-", "S-": "B-", "U-": "B-", "E-": "I-", "L-": "I-"}


@dataclass(frozen=True)
class _Classifier:
    """A network that gives every piece a score for each label."""

    subwords: Subwords
    network: Any
    labels: tuple[str, ...]

    def probabilities(self, sentences: Sequence[Sentence]) -> list[Floats]:
        """Return the probabilities [L, labels] of the labels of each sentence, from the first pieces of tokens."""
        blocks = (self._of(sentences[low : low + _TOGETHER]) for low in range(0, len(sentences), _TOGETHER))
        return [table for tables in blocks for table in tables]

    def _of(self, sentences: Sequence[Sentence]) -> list[Floats]:
        import torch

        ends = pointers(np.array([len(sentence) for sentence in sentences], np.int64))
        piece_ptr, pieces = self.subwords.pieces([form for sentence in sentences for form in sentence.forms])
        reading = self.subwords.laid_out(pieces, piece_ptr, ends)
        mask = torch.from_numpy(reading.mask.astype(np.int64))
        with torch.no_grad(), refusing("a network"):
            scores = self.network(input_ids=torch.from_numpy(reading.pieces), attention_mask=mask).logits
        every = scores.float().softmax(-1).reshape(-1, len(self.labels)).double().numpy()
        return np.split(every[reading.first_piece], ends[1:-1])


@lru_cache(maxsize=2)
def _classifier(folder: str, _stamp: object) -> _Classifier:
    try:
        subwords = Subwords.of_folder(folder)
        network = pretrained(subwords, "AutoModelForTokenClassification")
    except (PlanError, OSError) as error:
        raise FunctionError(f"{folder}: found no classifier of tokens: {error}") from None
    import torch

    torch.set_num_threads(1)  # functions are called in parallel
    with refusing("id2label of config.json"):
        names = network.config.id2label
        labels = tuple(str(names[at]) for at in range(len(names)))
    return _Classifier(subwords, network.eval(), labels)
