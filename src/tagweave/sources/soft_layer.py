"""From what answers say together to a layer of sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tagweave.corpus.soft import with_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tagweave.corpus.sentence import Candidates, Sentence
    from tagweave.sources.answers import Answers
    from tagweave.sources.posterior import Aggregate


def with_aggregate(
    sentences: Iterable[Sentence], answers: Answers, result: Aggregate, layer: str, hard: bool = False
) -> Iterator[Sentence]:
    """The sentences with one layer: labels with their probabilities, the best one first.

    What nobody labelled stays unknown. Sources leave, with the columns of their names.

    Args:
        sentences: those of the answers.
        answers: what sources said.
        result: what that says together.
        layer: the name of the layer.
        hard: the best label alone.
    """
    spelled: dict[tuple[int, bytes], Candidates] = {}

    def candidates(t: int) -> Candidates:
        row = result.probabilities[t].round(4)
        key = int(result.best[t]), b"" if hard else row.tobytes()
        if key not in spelled:
            best = result.labels[key[0]]
            spelled[key] = (best,) if hard else with_probabilities(result.labels, row.tolist(), best)
        return spelled[key]

    start = 0
    for sentence in sentences:
        own = tuple(candidates(t) if answers.answered[t] else None for t in range(start, start + len(sentence)))
        columns = {name: column for name, column in sentence.columns.items() if name not in sentence.layers}
        start += len(sentence)
        yield replace(sentence, layers={layer: own}, columns=columns)
