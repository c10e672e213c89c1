"""CoNLL-2003 under ten labelling functions, and what becomes of their answers."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import tagweave as tw
from reproductions.lab.corpora import all_corpora
from reproductions.sources.rules import country_names, rules
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.sources.answers import Answers

_EXCLUDES = "plain"  # the function that says only `O`


class Text(NamedTuple):
    """A corpus with gold labels and a layer for each function; the names of these."""

    corpus: Corpus
    functions: tuple[str, ...]

    @property
    def answers(self) -> Answers:
        """What the functions say."""
        return Answers.of_sentences(self.corpus, self.functions)

    @property
    def marked_everywhere(self) -> Answers:
        """What they say as skweak takes it: `O` where a function is silent, and no function that says only `O`."""
        names = [name for name in self.functions if name != _EXCLUDES]
        return Answers.of_sentences((_filled(each, names) for each in self.corpus), names)


class Outcome(NamedTuple):
    """Labels, the best of each token int32[N], probabilities [N, Y], and CPU seconds."""

    labels: tuple[str, ...]
    best: NDArray[np.integer]
    probabilities: NDArray[np.floating]
    seconds: float


def word_lists(python: Path) -> dict[str, list[str]]:
    """The lists of PyPI packages, which another Python has."""
    script = Path(__file__).with_name("word_lists.py")
    shown = subprocess.run([python, script], check=True, capture_output=True, text=True).stdout
    lists: dict[str, list[str]] = json.loads(shown)
    return lists


def text_of(part: str, lists: Mapping[str, list[str]], sentences: int | None) -> Text:
    """A part of CoNLL-2003 under the functions, without its columns."""
    corpus = tw.load(str(all_corpora() / "en/conll2003" / f"{part}.txt"))
    bare = corpus.with_sentences(replace(each, columns={}) for each in corpus.sentences[:sentences])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "countries.txt").write_text("\n".join(country_names(lists)), encoding="utf-8")
        countries = {"name": "countries", "type": "lexicon", "file": "countries.txt", "label": "LOC"}
        (path / "functions.json").write_text(json.dumps({"functions": [countries]}), encoding="utf-8")
        weak = tw.apply_functions(bare, path / "functions.json", *rules(lists))
    return Text(weak, tuple(name for name in weak[0].layers if name != weak.guideline))


def only_gold(corpus: Corpus) -> Corpus:
    """The corpus without the layers of functions."""
    return corpus.map(lambda sentence: sentence.with_layers_of([corpus.guideline]))


def _filled(sentence: Sentence, names: list[str]) -> Sentence:
    layers = {name: tuple(each or ("O",) for each in sentence.layers[name]) for name in names}
    return replace(sentence, layers=layers)
