"""The sample corpus: 300 Chinese sentences under the CTB and the PD guideline, written for this project (CC0).

Small enough to ship and large enough to learn from: 120 sentences under each guideline, and 60 under both. The tag sets
and the annotation policies are in the README.md beside this file.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Candidates, Sentence

NAMES = ("ctb.txt", "pd.txt", "both.tsv")
"""The files of the sample: `word_TAG` under CTB, `word/TAG` under PD, and columns `form ctb pd`."""
_LABELLED = 0.3
_WHOLE = 0.2  # of the sentences stay whole in the partial corpus, so that discarding the others leaves something
AMBIGUOUS = ("VV", "NN")
"""The tags that the ambiguous corpus does not tell apart."""


def path(name: str) -> Path:
    """Return the path of one of `NAMES`. Raises FileNotFoundError for another name."""
    if name not in NAMES:
        raise FileNotFoundError(f"no file {name!r} in the sample corpus; there are {', '.join(NAMES)}")
    return Path(__file__).with_name(name)


def sample(argument: str) -> Corpus:
    """Load a file of the sample corpus, its own layer under the name of its guideline."""
    name, _, layer = argument.partition("#")
    guideline = layer or Path(name).stem
    return load(f"{guideline}={path(name)}{'#' + layer if layer else ''}")


def partial(corpus: Corpus, seed: int = 0) -> Corpus:
    """Keep about 30 % of the labels: one sentence of five whole, of the others single tokens at random."""
    rng = np.random.default_rng(seed)
    rest = (_LABELLED - _WHOLE) / (1 - _WHOLE)

    def step(number: int, sentence: Sentence) -> Sentence:
        if number % round(1 / _WHOLE) == 0:
            return sentence
        kept = rng.random(len(sentence)) < rest
        layer = sentence.layers[corpus.guideline]
        return sentence.with_layer(corpus.guideline, (c if keep else None for c, keep in zip(layer, kept, strict=True)))

    return corpus.with_sentences(step(number, sentence) for number, sentence in enumerate(corpus))


def ambiguous(corpus: Corpus) -> Corpus:
    """Label every second VV and NN as VV|NN: someone was not sure."""
    count = 0

    def blur(candidates: Candidates) -> Candidates:
        nonlocal count
        if candidates is None or candidates[0] not in AMBIGUOUS:
            return candidates
        count += 1
        return AMBIGUOUS if count % 2 == 0 else candidates

    return corpus.map(lambda s: s.with_layer(corpus.guideline, map(blur, s.layers[corpus.guideline])))


def forms_only(corpus: Corpus, *layers: str) -> Corpus:
    """Keep the words, and of their labels these layers."""
    return corpus.map(lambda s: replace(s, layers={name: s.layers[name] for name in layers}, columns={}))


def partial_lines(corpus: Corpus, seed: int = 0) -> list[str]:
    """Return text in KyTea's format in which every other gap between characters, at random, is left open."""
    rng = np.random.default_rng(seed)
    lines = []
    for sentence in corpus:
        text = "".join(sentence.forms)
        marks = "".join("-" * (len(form) - 1) + "|" for form in sentence.forms)
        shown = [mark if rng.random() < 0.5 else " " for mark in marks[:-1]]
        lines.append("".join(character + mark for character, mark in zip(text, [*shown, ""], strict=True)))
    return lines
