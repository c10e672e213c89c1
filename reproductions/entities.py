"""Entities from some of the entities."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pycrfsuite

import tagweave as tw
from reproductions.lab import page
from reproductions.lab.comparison import counts_of
from reproductions.lab.corpora import corpora_folder
from reproductions.lab.models import trained
from reproductions.lab.study import Numbers, Result, Setting, Study
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence

QUICK = {"settings": {"batch": 16}, "patience": 3, "span_confidence": 1.0}
"""Of every training, since there are many; no second model learns from development data how far labels are wrong."""
DEV = "DEV"
"""As an option: the file of development data."""
RATIO, FOLDS = {"entity_ratio": DEV}, {"incomplete": "folds"}
CRFSUITE, CLUSTERS = "python-crfsuite", "word clusters"
MISSING: dict[str, dict[str, Any]] = {
    "default": {},
    f"{CRFSUITE}, unknown as O": {},
    "unknown as O": {"incomplete": "outside"},
    "unknown as O, believed 0.1": {"incomplete": "outside", "outside_confidence": 0.1},
    "entity ratio, spans believed 0.9": {**RATIO, "span_confidence": 0.9},
    "folds": FOLDS,
    "entity ratio, then folds, soft": {**RATIO, **FOLDS, "soft": True},
    f"entity ratio, spans believed 0.9, {CLUSTERS}": {**RATIO, "span_confidence": 0.9},
}
"""Options of `tw.train`, by the name of a way to train; ways with word clusters look up those of raw text."""
SHORT = [name for name in MISSING if "folds" not in name and CRFSUITE not in name]
EN, ES = "en/conll2003", "es/conll2002"
HALF, FEW = "partial-r0.5-p0.9.txt", "partial-1000.txt"
SETTINGS = (
    ("English, half of the entities, a tenth of them wrong", EN, HALF, list(MISSING)),
    ("English, the first 1,000 entities", EN, FEW, list(MISSING)),
    ("Spanish, half of the entities, a tenth of them wrong", ES, HALF, SHORT),
    ("Spanish, the first 1,000 entities", ES, FEW, SHORT),
)
"""Title, folder, training data and ways of each setting; the first way is the one that others are tested against."""
RAW = {
    "en": ("conll2003/train.txt", "wikigold/distant.txt", "conll2000/train.txt", "brown/train.txt", "wsj/train.txt"),
    "es": ("conll2002/train.txt",),
}
"""The texts whose words are clustered, by language, beside the training text itself; labels are not looked at."""
CLASSES = 1000


class Data(NamedTuple):
    """The corpora of a setting, the folder and name of its training data, and the files whose words are clustered."""

    train: Corpus
    dev: Corpus
    test: Corpus
    folder: str
    name: str
    raw: tuple[str, ...]


def settings(quick: bool) -> list[Setting]:
    """Corpora of which some entities are marked."""

    @lru_cache(maxsize=1)
    def data(folder: str, train: str, _seed: int) -> Data:
        corpora = (tw.load(str(corpora_folder() / folder / file)) for file in (train, "dev.txt", "test.txt"))
        language, own = folder[:2], f"{folder}/{train}"
        raw = (own,) if quick else (*(f"{language}/{each}" for each in RAW[language]), own)
        marked, dev, test = (each.with_sentences(each.sentences[: 60 if quick else None]) for each in corpora)
        return Data(marked, dev, test, folder, train, tuple(dict.fromkeys(raw)))

    return [
        Setting(title, title, partial(data, folder, train), ways, lambda own: {"folder": own.folder, "train": own.name})
        for title, folder, train, ways in SETTINGS
    ]


def train(data: Data, way: str, seed: int) -> Result:
    """Train in a way, and find the spans of the test data."""
    if CRFSUITE in way:
        return {"counts": {"test": counts_of(data.test, _by_crfsuite(data))}}
    options = {**QUICK, **{name: data.dev.path if value == DEV else value for name, value in MISSING[way].items()}}
    if CLUSTERS in way:
        options["clusters"] = [_clusters(data.raw)]
    model = trained(data.train, dev=data.dev, task="spans", seed=seed, **options)
    counts = {"dev": counts_of(data.dev, model), "test": counts_of(data.test, model)}
    return {"counts": counts, "iterations": model.about["iterations"]}


@lru_cache(maxsize=4)
def _clusters(raw: Sequence[str]) -> str:
    """The file of word clusters of texts."""
    path = Path(tempfile.mkdtemp(prefix="tagweave-clusters-")) / "clusters"
    tw.harvest_clusters_files([str(corpora_folder() / name) for name in raw], path, classes=CLASSES)
    return str(path)


PARAMETERS = {"c1": 0.1, "c2": 0.1, "max_iterations": 100, "feature.possible_transitions": True}
"""Those of the tutorial of sklearn-crfsuite, which give higher scores than those of python-crfsuite's own."""


def _by_crfsuite(data: Data) -> Corpus:
    """What python-crfsuite finds, with the features of its tutorial; it takes what is unknown for `O`."""
    trainer, guideline = pycrfsuite.Trainer(verbose=False), data.train.guideline
    for sentence in data.train:
        labels = [each[0] if each else "O" for each in sentence.layers[guideline]]
        trainer.append(_features(sentence), labels)
    trainer.set_params(PARAMETERS)
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder) / "model")
        trainer.train(model)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        return data.test.with_sentences(
            replace(each, layers={data.test.guideline: tuple((label,) for label in tagger.tag(_features(each)))})
            for each in data.test
        )


def _features(sentence: Sentence) -> list[list[str]]:
    """The features of each word: its form, endings, case and part of speech if there is one, those of neighbours."""
    names = []
    for at, word in enumerate(sentence.forms):
        own = [
            "bias",
            *_of_word(sentence, at, ""),
            f"end3={word[-3:]}",
            f"end2={word[-2:]}",
            f"digits={word.isdigit()}",
        ]
        own += _of_word(sentence, at - 1, "-1:") if at else ["first"]
        own += _of_word(sentence, at + 1, "+1:") if at + 1 < len(sentence) else ["last"]
        names.append(own)
    return names


def _of_word(sentence: Sentence, at: int, place: str) -> list[str]:
    word = sentence.forms[at]
    names = [f"{place}lower={word.lower()}", f"{place}title={word.istitle()}", f"{place}upper={word.isupper()}"]
    if "column2" in sentence.columns:
        pos = sentence.columns["column2"][at]
        names += [f"{place}pos={pos}", f"{place}pos2={pos[:2]}"]
    return names


HEAD = ("way", "options", "F, test", "P", "R", "F, dev", "iterations", "CPU s", "difference", "p")


def lines(numbers: Numbers) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from page.opening("Entities from some of the entities", numbers["command"])
    yield "F, precision and recall of exact spans on test, in percent: the mean over seeds, in brackets each seed. The"
    yield "entity ratio is that of the development data, which also choose the iteration."
    yield "Margin and weight of the ratio, and how far spans are believed, were chosen on the development data of these"
    yield "corpora, one value for all."
    yield "CPU seconds are those of a training and the tagging of the test set.\n"
    yield "Every training: `--set batch=16 --patience 3`, a third of the time of the defaults.\n"
    yield from [page.significance(numbers["trials"]), "  Differences are to the first row of each table.", ""]
    for setting in numbers["settings"]:
        yield f"## {setting['title']}\n"
        yield f"`{setting['folder']}`, `{setting['train']}`.\n"
        methods = setting["methods"]
        yield from page.table(HEAD, (_row(way, own, next(iter(methods))) for way, own in methods.items()))


def _row(way: str, own: Numbers, first: str) -> Sequence[str]:
    words = [
        f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}") for name, value in MISSING[way].items()
    ]
    words += ["--clusters FILE"] if CLUSTERS in way else []
    test, beside = own["scores"]["test"], own["against"].get(first, {}).get("test")
    return [
        way,
        f"`{' '.join(words)}`" if words else "",
        page.score(test),
        f"{test['precision']:.2f}",
        f"{test['recall']:.2f}",
        f"{own['scores']['dev']['mean']:.2f}" if "dev" in own["scores"] else "-",
        f"{np.mean(own['iterations']):.0f}" if "iterations" in own else "-",
        f"{np.mean(own['seconds']):.0f}",
        f"{beside['difference']:+.2f}" if beside else "",
        f"{beside['p_all']:.4f}" if beside else "",
    ]


STUDIES = [Study("entities-missing", 2, settings, train, lines, (next(iter(MISSING)),))]
