"""Entities from what there is: `python -m reproductions entities`.

Spans from some of the entities (`missing`), and from the marks of a knowledge base (`distant`), beside python-crfsuite
with the features of the usual tutorial on named entities. An option `DEV` stands for the file of development data.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pycrfsuite

import tagweave as tw
from reproductions.lab.cache import Cache, Result
from reproductions.lab.comparison import TRIALS, Measured, compare
from reproductions.lab.corpora import all_corpora
from reproductions.lab.options import study_parser
from reproductions.lab.page import opening, significance, table, write_page
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence, narrow
from tagweave.evaluation.score import f_of_counts
from tagweave.evaluation.spans import SpanScores, span_scores
from tagweave.learning.run import Silence
from tagweave.models.chain_predictor import ChainPredictor

DEV = "DEV"
CRFSUITE = "python-crfsuite"
_RATIO = {"entity_ratio": DEV}
_FOLDS = {"incomplete": "folds"}
QUICK = {"settings": {"batch": 16}, "patience": 3, "span_confidence": 1.0}
"""Of every training, since there are many; no second model learns from development data how far labels are wrong."""
Unmarked = Literal["", "unknown"]


@dataclass(frozen=True)
class Way:
    """A way to train.

    Attributes:
        name: in the table.
        options: of `tw.train`.
        unmarked: what becomes of `O` in the training data.
        clusters: whether it gets word clusters of raw text.
        rival: whether it is python-crfsuite, with the features of its tutorial; it takes what is unknown for `O`.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    unmarked: Unmarked = ""
    clusters: bool = False
    rival: bool = False


@dataclass(frozen=True)
class Setting:
    """Training data, and what is compared on them; the first way is the one that others are tested against.

    Attributes:
        title: in the page.
        folder, train: the corpora; development data are in `dev.txt` of the folder.
        ways: the rivals.
    """

    title: str
    folder: str
    train: str
    ways: tuple[Way, ...]


_RIVAL = Way(CRFSUITE, rival=True)
_MISSING = (
    Way("default"),
    Way(f"{CRFSUITE}, unknown as O", rival=True),
    Way("unknown as O", {"incomplete": "outside"}),
    Way("unknown as O, believed 0.1", {"incomplete": "outside", "outside_confidence": 0.1}),
    Way("entity ratio", _RATIO),
    Way("entity ratio, spans believed 0.9", {**_RATIO, "span_confidence": 0.9}),
    Way("folds", _FOLDS),
    Way("folds, soft", {**_FOLDS, "soft": True}),
    Way("entity ratio, then folds", {**_RATIO, **_FOLDS}),
    Way("entity ratio, then folds, soft", {**_RATIO, **_FOLDS, "soft": True}),
    Way("entity ratio, spans believed 0.9, word clusters", {**_RATIO, "span_confidence": 0.9}, clusters=True),
)
_DOUBT = {"span_confidence": 0.7, "outside_confidence": 0.1}
_DISTANT = (
    Way("what is not marked as O"),
    _RIVAL,
    Way("O believed 0.1, spans 0.7", _DOUBT),
    Way("unknown, entity ratio", _RATIO, "unknown"),
    Way("O believed 0.1, spans 0.7, entity ratio", {**_DOUBT, **_RATIO}),
    Way("word clusters", clusters=True),
    Way("O believed 0.1, spans 0.7, entity ratio, word clusters", {**_DOUBT, **_RATIO}, clusters=True),
)
_SHORT = tuple(way for way in _MISSING if "folds" not in way.name and not way.rival)
_EN, _ES = "en/conll2003", "es/conll2002"
_HALF, _FEW = "partial-r0.5-p0.9.txt", "partial-1000.txt"

SETTINGS: dict[str, tuple[Setting, ...]] = {
    "missing": (
        Setting("English, half of the entities, a tenth of them wrong", _EN, _HALF, _MISSING),
        Setting("English, the first 1,000 entities", _EN, _FEW, _MISSING),
        Setting("Spanish, half of the entities, a tenth of them wrong", _ES, _HALF, _SHORT),
        Setting("Spanish, the first 1,000 entities", _ES, _FEW, _SHORT),
    ),
    "distant": (Setting("Wikigold, marked by a knowledge base", "en/wikigold", "distant.txt", _DISTANT),),
}
"""The settings of every part."""


Labels = tuple[str, ...]
POS = "column2"

PARAMETERS = {"c1": 0.1, "c2": 0.1, "max_iterations": 100, "feature.possible_transitions": True}
"""Those of the tutorial of sklearn-crfsuite, which give higher scores than those of python-crfsuite's own."""


def features(sentence: Sentence, at: int) -> list[str]:
    """The features of a word: its form, endings, case and part of speech if there is one, and those of neighbours."""
    word = sentence.forms[at]
    found = ["bias", *_of_word(sentence, at, ""), f"end3={word[-3:]}", f"end2={word[-2:]}", f"digits={word.isdigit()}"]
    found += _of_word(sentence, at - 1, "-1:") if at else ["first"]
    return [*found, *(_of_word(sentence, at + 1, "+1:") if at + 1 < len(sentence) else ["last"])]


def _of_word(sentence: Sentence, at: int, place: str) -> Iterator[str]:
    word = sentence.forms[at]
    yield from (f"{place}lower={word.lower()}", f"{place}title={word.istitle()}", f"{place}upper={word.isupper()}")
    if POS in sentence.columns:
        pos = sentence.columns[POS][at]
        yield from (f"{place}pos={pos}", f"{place}pos2={pos[:2]}")


def trained_labels(train: Sequence[Sentence], labels: Sequence[Labels], test: Sequence[Sentence]) -> list[Labels]:
    """The labels that a model trained on sentences and labels gives to other sentences."""
    trainer = pycrfsuite.Trainer(verbose=False)
    for sentence, own in zip(train, labels, strict=True):
        trainer.append([features(sentence, at) for at in range(len(sentence))], own)
    trainer.set_params(PARAMETERS)
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        trainer.train(model)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        return [tuple(tagger.tag([features(each, at) for at in range(len(each))])) for each in test]


@dataclass(frozen=True)
class Data:
    """The corpora of a setting."""

    train: Corpus
    dev: Corpus
    test: Corpus

    @classmethod
    def of(cls, setting: Setting, corpora: Path) -> Data:
        """Read the corpora of a setting."""
        folder = corpora / setting.folder
        train, test = load(str(folder / setting.train)), load(str(folder / "test.txt"))
        return cls(train, load(str(folder / "dev.txt")), test)

    def cut(self, sentences: int) -> Data:
        """The first sentences of every corpus."""
        parts = (self.train, self.dev, self.test)
        return Data(*(part.with_sentences(part.sentences[:sentences]) for part in parts))


@dataclass(frozen=True)
class Cell:
    """One training run.

    Attributes:
        setting, way, seed: on what, how, and the seed.
        data: the corpora of the setting.
        clusters: gives the file of word clusters.
    """

    setting: Setting
    way: Way
    seed: int
    data: Data
    clusters: Callable[[], str]

    def result(self, cache: Cache) -> Result:
        """The result from the cache or, where it is not there, from `run`."""
        name = f"{self.setting.title} {self.way.name} {self.seed}"
        return cache.result(name, self._description(), self.run)

    def _description(self) -> Result:
        way = asdict(self.way)
        way.pop("name")
        parts = (self.data.train, self.data.dev, self.data.test)
        texts = [[(each.forms, each.layers) for each in part] for part in parts]
        return {
            "data": hashlib.sha256(repr(texts).encode()).hexdigest()[:12],
            "way": way,
            "seed": self.seed,
        }

    def run(self) -> Result:
        """Train, and label the test set: `test`, the labels of each sentence, `dev`, `iterations`, `seconds`."""
        begin = time.process_time()
        found = self._rival() if self.way.rival else self._own()
        return {**found, "seconds": round(time.process_time() - begin, 1)}

    def _rival(self) -> Result:
        train, test = self.data.train, self.data.test
        labels = [tuple(each[0] if each else "O" for each in sentence.layers[train.guideline]) for sentence in train]
        return {"test": [" ".join(labels) for labels in trained_labels(train.sentences, labels, test.sentences)]}

    def _own(self) -> Result:
        train, dev, way = self.data.train, self.data.dev, self.way
        own = {name: dev.path if value == DEV else value for name, value in way.options.items()}
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


def _marked(layer: Any) -> Any:
    return narrow(layer, lambda candidates: None if candidates == ("O",) else candidates)


_RAW = {
    "en": (
        *("en/conll2003/train.txt", "en/wikigold/distant.txt", "en/conll2000/train.txt"),
        *("en/brown/train.txt", "en/wsj/train.txt", "en/ewt/train.conllu"),
    ),
    "es": ("es/conll2002/train.txt",),
}
"""The texts whose words are clustered, by language, beside the training text itself; labels are not looked at."""
CLASSES = 1000


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("entities", __doc__)
    parser.add_argument("--only", action="append", choices=SETTINGS, help="a part (repeatable; default: all)")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sentences", type=int, help="of every corpus, to see that it works")
    options = parser.parse_args(words)
    for part in options.only or SETTINGS:
        found = {
            "part": part,
            "command": f"python -m reproductions entities --only {part} --seeds {options.seeds}",
            "settings": [
                _summary(each, options.seeds, Cache(options.cache), options.sentences) for each in SETTINGS[part]
            ],
        }
        write_page(options.out, f"entities-{part}", found, lines(found, TRIALS))


def _summary(setting: Setting, seeds: int, results: Cache, sentences: int | None) -> Result:
    data = Data.of(setting, all_corpora())
    if sentences:
        data = data.cut(sentences)
    rows: list[Result] = []
    first: Measured | None = None
    for way in setting.ways:
        row, measured = _row(setting, way, seeds, data, results)
        row["against"] = None if first is None else compare(measured, first)
        first = first or measured
        rows.append(row)
        print(setting.title, way.name, f"{row['f']['mean']:.2f}", file=sys.stderr, flush=True)
    about: Result = {"title": setting.title, "folder": setting.folder, "train": setting.train}
    return {**about, "rows": rows}


def _row(setting: Setting, way: Way, seeds: int, data: Data, results: Cache) -> tuple[Result, Measured]:
    def clusters() -> str:
        return word_clusters(setting, results.folder)

    cells = [Cell(setting, way, seed, data, clusters) for seed in range(1 if way.rival else seeds)]
    found = [cell.result(results) for cell in cells] * (seeds if way.rival else 1)
    scores = [span_scores(data.test, _said(data.test, each["test"])) for each in found]
    measured = Measured(np.stack([each.counts for each in scores]), f_of_counts)
    return {"name": way.name, "options": _words(way), **_numbers(found, scores), "f": measured.to_json()}, measured


def _numbers(found: Sequence[Result], scores: Sequence[SpanScores]) -> dict[str, Any]:
    dev = [each["dev"] for each in found if each.get("dev") is not None]
    iterations = [each["iterations"] for each in found if "iterations" in each]
    return {
        "precision": 100 * float(np.mean([each.spans.precision for each in scores])),
        "recall": 100 * float(np.mean([each.spans.recall for each in scores])),
        "dev": 100 * float(np.mean(dev)) if dev else None,
        "iterations": round(float(np.mean(iterations))) if iterations else None,
        "seconds": float(np.mean([each["seconds"] for each in found])),
    }


def _said(test: Corpus, labels: Sequence[str]) -> Corpus:
    """The test set under the labels of a model."""
    pairs = zip(test, labels, strict=True)
    return test.with_sentences(each.with_layer(test.guideline, [(y,) for y in own.split()]) for each, own in pairs)


def _words(way: Way) -> str:
    """The options as on the command line."""
    words = [_option(name, value) for name, value in way.options.items()]
    return " ".join([*words, *(["--clusters FILE"] if way.clusters else [])])


def _option(name: str, value: Any) -> str:
    if name == "settings":
        return " ".join(f"--set {key}={each}" for key, each in value.items())
    return f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}")


def word_clusters(setting: Setting, folder: Path) -> str:
    """The file of word clusters for a setting, which is made if it is not there."""
    path = folder / f"{setting.folder.replace('/', '-')}-{CLASSES}.clusters"
    if not path.exists():
        names = dict.fromkeys((*_RAW[setting.folder[:2]], f"{setting.folder}/{setting.train}"))
        tw.harvest_clusters_files([str(all_corpora() / name) for name in names], path, classes=CLASSES)
    return str(path)


_TITLES = {
    "missing": "Entities from some of the entities",
    "distant": "Entities from distant annotation",
}
_CHOSEN = {
    "missing": "Margin and weight of the ratio, and how far spans are believed, were chosen on the development data of"
    " these corpora, one value for all.",
    "distant": "How far labels are believed was chosen on the development data.",
}
_HEAD = ["way", "options", "F, test", "P", "R", "F, dev", "iterations", "CPU s", "difference", "p"]


def lines(found: dict[str, Any], trials: int) -> Iterator[str]:
    """The lines of a page."""
    yield from opening(_TITLES[found["part"]], found["command"])
    yield "F, precision and recall of exact spans on test, in percent: the mean over seeds, in brackets each seed. The"
    yield "entity ratio is that of the development data, which also choose the iteration."
    yield _CHOSEN[found["part"]]
    yield "CPU seconds are those of a training, the reading of corpora and the tagging of the test set.\n"
    yield "Every training: `--set batch=16 --set patience=3`, a third of the time of the defaults.\n"
    yield from [significance(trials), "  Differences are to the first row of each table.", ""]
    for setting in found["settings"]:
        yield f"## {setting['title']}\n"
        yield f"`{setting['folder']}`, `{setting['train']}`.\n"
        yield from table(_HEAD, (_cells(row) for row in setting["rows"]))


def _cells(row: dict[str, Any]) -> list[str]:
    scores = [f"**{row['f']['mean']:.2f}** ({', '.join(f'{f:.2f}' for f in row['f']['values'])})"]
    scores += [f"{row[name]:.2f}" for name in ("precision", "recall")]
    scores += [
        "-" if row["dev"] is None else f"{row['dev']:.2f}",
        str(row["iterations"] or "-"),
        f"{row['seconds']:.0f}",
    ]
    against = row["against"]
    tested = ["", ""] if against is None else [f"{against['difference']:+.2f}", f"{against['p_all']:.4f}"]
    return [row["name"], f"`{row['options']}`" if row["options"] else "", *scores, *tested]
