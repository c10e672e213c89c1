"""How long models take to segment raw sentences, measured side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.models.chain import ChainModel
from tagweave.models.tagger import Tagger

REPEATS = 7


def seconds(models: Mapping[str, ChainModel], corpus: Corpus, repeats: int = REPEATS) -> dict[str, list[float]]:
    """Of every model the seconds of every repeat, from the characters of the sentences to labels, on one thread.

    The models take turns, so that whatever else the machine does slows all of them alike.
    """
    raw = [Sentence(tuple("".join(sentence.forms))) for sentence in corpus]
    taggers = {name: Tagger(model) for name, model in models.items()}
    for tagger in taggers.values():
        _once(tagger, raw)  # kernels are compiled, or read from their cache
    found: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(repeats):
        for name, tagger in taggers.items():
            found[name].append(_once(tagger, raw))
    return found


def _once(tagger: Tagger, raw: Sequence[Sentence]) -> float:
    begin = time.perf_counter()
    for _ in tagger.tag(raw):
        pass
    return time.perf_counter() - begin
