"""What a model scores on a corpus, with intervals, and how fast it is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from tagweave.corpus.named.name import short_name
from tagweave.front.corpora import load
from tagweave.front.loading import load_model


@dataclass(frozen=True)
class Scored:
    """The scores of a model on a corpus.

    Attributes:
        corpus: its name.
        sentences, tokens: its size.
        metrics: the score and the ends of its 95 % interval by metric, 0..1.
        seconds: how long one pass took.
        threads: with how many threads.
    """

    corpus: str
    sentences: int
    tokens: int
    metrics: dict[str, tuple[float, float, float]]
    seconds: float
    threads: int

    @property
    def speed(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds

    def result(self, task: str) -> dict[str, Any]:
        """As an entry of `model-index` in the hub's front matter."""
        name = short_name(self.corpus)
        return {
            "task": {"type": task},
            "dataset": {"name": name, "type": name},
            "metrics": [
                {"type": name, "name": f"{name}, 95 % interval {low:.4f} to {high:.4f}", "value": round(value, 4)}
                for name, (value, low, high) in self.metrics.items()
            ],
        }


def score_on(model: str, argument: str, threads: int = 1) -> Scored:
    """Measure a model on the corpus `[GUIDELINE=]PATH[#LAYER]`. Raises as `load_model`, `load` and `evaluate`."""
    from tagweave.corpus.errors import CorpusError
    from tagweave.evaluation.intervals import interval
    from tagweave.evaluation.report import evaluate

    loaded, gold = load_model(model, threads), load(argument)
    loaded.relabelled(
        gold.with_sentences(gold.sentences[:1])
    )  # what is compiled or made for the first use is not speed
    begin = time.perf_counter()
    output = loaded.relabelled(gold)
    seconds = time.perf_counter() - begin
    measures = evaluate(gold, {"model": output}).systems["model"].measures()
    if not measures:
        raise CorpusError("nothing to score", "a corpus with annotation", gold.path)
    metrics = {name: (float(each.metric(each.counts.sum(axis=0))), *interval(each)) for name, each in measures.items()}
    tokens = sum(map(len, gold.sentences))
    return Scored(gold.path, len(gold), tokens, metrics, seconds, threads)
