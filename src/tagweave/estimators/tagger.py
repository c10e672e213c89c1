"""A fitted model with the methods of python-crfsuite's `Tagger`, which answers about one sentence at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tagweave.estimators.sequences import TokenSequence

if TYPE_CHECKING:
    from tagweave.estimators.chain_crf import ChainCRF


@dataclass(frozen=True)
class ModelInfo:
    """The parts of a model by name, as python-crfsuite's `Tagger.info()` gives them.

    Attributes:
        header: `size` in bytes, `num_labels`, `num_attrs`, `num_features`, as text.
        labels, attributes: numbers by name, as text.
        transitions: nonzero weights by (label, next label).
        state_features: nonzero weights by (attribute, label).
    """

    header: dict[str, str]
    labels: dict[str, str]
    attributes: dict[str, str]
    transitions: dict[tuple[str, str], float]
    state_features: dict[tuple[str, str], float]


class Tagger:
    """Answers about one sentence at a time, the one that `set` was given last.

    Args:
        crf: a fitted estimator.
    """

    def __init__(self, crf: ChainCRF) -> None:
        self._crf = crf
        self._sentence: TokenSequence = []
        self._marginals: list[dict[str, float]] = []

    def labels(self) -> list[str]:
        """The labels of the model."""
        return list(self._crf.model_.space.names)

    def set(self, xseq: TokenSequence) -> None:
        """Take a sentence, about which the next questions are."""
        self._sentence, self._marginals = list(xseq), self._crf.predict_marginals_single(xseq)

    def tag(self, xseq: TokenSequence | None = None) -> list[str]:
        """The best labels of a sentence, which is then the one that others are asked about."""
        if xseq is not None:
            self.set(xseq)
        return self._crf.predict_single(self._sentence)

    def marginal(self, y: str, pos: int) -> float:
        """The probability of a label at a position.

        Raises:
            KeyError: no such label.
            IndexError: no such position.
        """
        return self._marginals[pos][y]

    def probability(self, yseq: Sequence[str]) -> float:
        """The probability of a label sequence.

        Raises:
            ValueError: another number of labels than tokens, or a label that the model does not know.
        """
        from tagweave.estimators.answers import sequence_probability

        return sequence_probability(self._crf.model_, self._sentence, yseq)

    def info(self) -> ModelInfo:
        """The parts of the model by name."""
        crf = self._crf
        states, transitions, attributes = crf.state_features_ or {}, crf.transition_features_ or {}, crf.attributes_
        labels = self.labels()
        counts = {
            "size": crf.size_,
            "num_labels": len(labels),
            "num_attrs": crf.num_attributes_,
            "num_features": len(states) + len(transitions),
        }
        header = {name: str(value) for name, value in counts.items()}
        return ModelInfo(header, _numbered(labels), _numbered(attributes or []), transitions, states)


def _numbered(names: Sequence[Any]) -> dict[str, str]:
    return {name: str(number) for number, name in enumerate(names)}
