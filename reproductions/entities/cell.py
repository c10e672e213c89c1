"""A cell: one training, and what its model says of the test set."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import tagweave as tw
from reproductions.entities.rival import chain_crf_labels, trained_labels
from reproductions.entities.rows import DEV, QUICK, Setting, Way
from reproductions.lab.cache import Cache, Result
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Candidates, Layer, narrow
from tagweave.learning.run import Silence
from tagweave.models.chain_predictor import ChainPredictor

STOPPED = 100
_PLAIN = Way("")
_OLDEST = ("options", "unmarked", "clusters", "rival")  # which the names of results have, whatever their values


@dataclass(frozen=True)
class Data:
    """The corpora of a setting."""

    train: Corpus
    dev: Corpus | None
    test: Corpus

    @classmethod
    def of(cls, setting: Setting, corpora: Path) -> Data:
        """Read the corpora of a setting."""
        folder = corpora / setting.folder
        train, test = load(str(folder / setting.train)), load(str(folder / "test.txt"))
        if setting.held_out:
            known = {each.forms for part in ("dev.txt", "test.txt") for each in load(str(folder / part))}
            train = train.with_sentences(each for each in train if each.forms not in known)
        return cls(train, load(str(folder / setting.dev)) if setting.dev else None, test)

    def cut(self, sentences: int) -> Data:
        """The first sentences of every corpus."""
        train, dev, test = (
            each and each.with_sentences(each.sentences[:sentences]) for each in (self.train, self.dev, self.test)
        )
        assert train and test
        return Data(train, dev, test)


@dataclass(frozen=True)
class Cell:
    """One training run.

    Attributes:
        setting, way, seed: on what, how, and the seed.
        data: the corpora of the setting.
        folder: their folder.
        clusters: gives the file of word clusters.
    """

    setting: Setting
    way: Way
    seed: int
    data: Data
    folder: Path
    clusters: Callable[[], str]

    def result(self, cache: Cache) -> Result:
        """The result from the cache or, where it is not there, from `run`."""
        name = f"{self.setting.title} {self.way.name} {self.seed}"
        return cache.result(name, self._description(), self.run)

    def _description(self) -> Result:
        way = asdict(self.way)
        way.pop("name")
        way = {name: value for name, value in way.items() if name in _OLDEST or value != getattr(_PLAIN, name)}
        parts = (self.data.train, self.data.dev or (), self.data.test)
        texts = [[(each.forms, each.layers) for each in part] for part in parts]
        return {
            "lists": self.setting.lists,
            "data": hashlib.sha256(repr(texts).encode()).hexdigest()[:12],
            "way": way,
            "seed": self.seed,
        }

    def run(self) -> Result:
        """Train, and label the test set: `test`, the labels of each sentence, `dev`, `iterations`, `seconds`."""
        begin = time.process_time()
        found = self._trained()
        return {**found, "seconds": round(time.process_time() - begin, 1)}

    def _trained(self) -> Result:
        if self.way.rival or self.way.same_features:
            return self._rival()
        return self._own() if self.way.learns else self._matched()

    def _rival(self) -> Result:
        train, test = self.data.train, self.data.test
        labels = [tuple(each[0] if each else "O" for each in sentence.layers[train.guideline]) for sentence in train]
        learn = trained_labels if self.way.rival else chain_crf_labels
        return {"test": [" ".join(labels) for labels in learn(train.sentences, labels, test.sentences)]}

    def _matched(self) -> Result:
        test = self._harvested(self.data.test)
        return {"test": [" ".join(map(_one_type, layer)) for layer in test]}

    def _harvested(self, corpus: Corpus) -> list[Layer]:
        """The labels that the dictionaries of the setting give to a corpus."""
        lists = [path.read_text(encoding="utf-8").splitlines() for path in sorted(self.folder.glob(self.setting.lists))]
        with tempfile.TemporaryDirectory() as folder:
            stop = Path(folder) / "stop.txt"
            stop.write_text("\n".join(frequent(self.data.train)), encoding="utf-8")
            found = tw.harvest_gazetteer(corpus, *lists, stop=stop, **self.way.dictionary)
        return [sentence.layers[found.guideline] for sentence in found]

    def _own(self) -> Result:
        train, dev, way = self.data.train, self.data.dev, self.way
        if way.dictionary:
            pairs = zip(train, self._harvested(train), strict=True)
            train = train.with_sentences(each.with_layer(train.guideline, layer) for each, layer in pairs)
        own = {name: dev.path if dev and value == DEV else value for name, value in way.options.items()}
        options: dict[str, Any] = {**QUICK, **own}
        if way.clusters:
            options["clusters"] = [self.clusters()]
        if way.unmarked == "unknown":
            train = train.map(lambda each: each.with_layer(train.guideline, _marked(each.layers[train.guideline])))
        model = tw.train(train, dev=dev, task="spans", seed=self.seed, callback=Silence(), **options).chain
        tagger = ChainPredictor(model)
        said = tagger.tag([replace(each, layers={}) for each in self.data.test])
        labels = [" ".join(each[0] for each in sentence.layers[tagger.guideline] if each) for sentence in said]
        return {"test": labels, "dev": model.about["dev_score"], "iterations": model.about["iterations"]}


def frequent(corpus: Corpus) -> list[str]:
    """The most frequent words, which dictionaries list as abbreviations of something rare."""
    counts = Counter(form.lower() for sentence in corpus for form in sentence.forms)
    return [word for word, _ in counts.most_common(STOPPED)]


def _one_type(candidates: Candidates) -> str:
    """The label of a token in a phrase of one type, else `O`."""
    return candidates[0] if candidates and len(candidates) == 1 and "*" not in candidates[0] else "O"


def _marked(layer: Any) -> Any:
    return narrow(layer, lambda candidates: None if candidates == ("O",) else candidates)
