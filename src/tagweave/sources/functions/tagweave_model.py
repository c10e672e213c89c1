"""A model of tagweave as a labelling function."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.soft import Soft
from tagweave.corpus.spans import OUTSIDE
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model
from tagweave.sources.functions.function import FunctionError, digest_of, stamp

_LEAST = 0.005  # of the probability of a candidate that is worth writing


@dataclass(frozen=True)
class TagweaveModel:
    """Labels tokens by a model of tags or spans.

    Attributes:
        name: the name of its layer.
        model: its file.
        guideline: that of the labels; by default the target of the model.
        labels: labels, or types of spans, under other names; all others are left out. `None`: all as they are.
        probabilities: whether to give all probable labels with their probabilities.
        outside: whether `O` of the model is `O`; otherwise it abstains there.
        task: `spans` or `tags`.
    """

    name: str
    model: str
    guideline: str | None = None
    labels: Mapping[str, str] | None = None
    probabilities: bool = False
    outside: bool = False
    task: str = "spans"

    def digest(self) -> str:
        """See `LabellingFunction.digest`."""
        return digest_of(self, self.model)

    def check(self, sentences: Sequence[Sentence]) -> None:
        """Raise unless the file is a model of words, under this guideline. Raises ModelFileError as `load_model`."""
        self._predictor()

    def layers(self, sentences: Sequence[Sentence]) -> list[Layer]:
        """See `LabellingFunction.layers`."""
        predictor = self._predictor()
        if not self.probabilities:
            said = predictor.tag(list(sentences))
            return [tuple(self._kept(each) for each in sentence.layers[predictor.guideline]) for sentence in said]
        names, tables = predictor.labels, predictor.probabilities(sentences)
        return [tuple(self._kept(_probable(names, row)) for row in table.tolist()) for table in tables]

    def layer_in(self, names: Collection[str]) -> str | None:
        """Return the one of these layers that the model learned; `None` without one, or if its labels are renamed."""
        return self._predictor().layer_in(names) if self.labels is None else None

    def _predictor(self) -> ChainPredictor:
        try:
            return _predictor(self.model, self.guideline, stamp(self.model))
        except KeyError as error:
            raise FunctionError(f"{self.name}: {error.args[0]}") from None

    def _kept(self, candidates: Candidates) -> Candidates:
        """The labels under their names here; unknown if one of them, or the best of several, is left out."""
        if candidates is None or (candidates[0] == OUTSIDE and not self.outside):
            return None
        if self.labels is None:
            return candidates
        names = [self._called(each) for each in candidates]
        if names[0] is None:
            return None
        if not isinstance(candidates, Soft):
            return tuple(each for each in names if each)
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
    """The labels of a position with enough probability, the most probable first."""
    best = max(row)
    ordered = sorted(((p, name) for p, name in zip(row, names, strict=True) if p >= min(_LEAST, best)), reverse=True)
    total = sum(p for p, _ in ordered)
    return Soft((name for _, name in ordered), (round(p / total, 6) for p, _ in ordered))


@lru_cache(maxsize=4)
def _predictor(path: str, guideline: str | None, _stamp: object) -> ChainPredictor:
    model = load_model(path, ChainModel)
    if model.of_characters:
        raise FunctionError(f"{path}: found a model of characters, expected one of words")
    return ChainPredictor(model, guideline=guideline)
