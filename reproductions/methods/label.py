"""What a model of words and tags makes of texts: `python -m reproductions.methods.label MODEL DEV TEST` prints JSON.

`dev` and `test`: a string a sentence, the lengths and tags of its words, so that no text is kept; `characters` of test,
and `times`, the processor seconds in which one thread made tagged words of them, run by run; `weights` of the model.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

from reproductions.lab.tagged_words import answer
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import load_model

RUNS = 3


def label(tagger: ChainPredictor, sentences: Sequence[Sentence]) -> list[Sentence]:
    """The tagged words of sentences of characters."""
    return [tagger.words(sentence) for sentence in tagger.tag(sentences)]


def told(path: str, dev: str, test: str) -> dict[str, Any]:
    """What the model in a file says of two texts.

    All methods are timed on the same sentences, those of test. Both texts are labelled before, so that code is compiled
    and memory is warm. Processor time, unlike that on the clock, hardly depends on what else a machine does.
    """
    tagger = ChainPredictor(load_model(path, ChainModel), threads=1)
    texts = {name: _characters(text) for name, text in (("dev", dev), ("test", test))}
    found = {name: [answer(words, tagger.guideline) for words in label(tagger, text)] for name, text in texts.items()}
    times = [_seconds(tagger, texts["test"]) for _ in range(RUNS)]
    characters = sum(map(len, texts["test"]))
    return {**found, "characters": characters, "times": times, "weights": len(tagger.model.weights)}


def _characters(path: str) -> list[Sentence]:
    return [Sentence(tuple("".join(sentence.forms))) for sentence in load(path)]


def _seconds(tagger: ChainPredictor, sentences: Sequence[Sentence]) -> float:
    begin = time.process_time()
    label(tagger, sentences)
    return time.process_time() - begin


if __name__ == "__main__":
    print(json.dumps(told(*sys.argv[1:])))
