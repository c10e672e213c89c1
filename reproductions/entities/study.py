"""Entities from what there is: `python -m reproductions entities`.

See README.md in the folder above.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tagweave as tw
from reproductions.entities.cell import Cell, Data
from reproductions.entities.leaks import leaks
from reproductions.entities.page import lines
from reproductions.entities.rival import POS
from reproductions.entities.rows import SETTINGS, Setting, Way
from reproductions.lab.cache import Cache, Result
from reproductions.lab.comparison import TRIALS, Measured, compare
from reproductions.lab.corpora import all_corpora
from reproductions.lab.options import study_parser
from reproductions.lab.page import write_page
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import f_of_counts
from tagweave.evaluation.spans import SpanScores, span_scores

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
    if setting.lists:
        about |= {"lists": setting.lists, "leaks": leaks(setting, data.test, all_corpora() / setting.folder)}
    return {**about, "rows": rows}


def _row(setting: Setting, way: Way, seeds: int, data: Data, results: Cache) -> tuple[Result, Measured]:
    def clusters() -> str:
        return word_clusters(setting, results.folder)

    folder, drawn = all_corpora() / setting.folder, way.learns and not (way.rival or way.same_features)
    cells = [Cell(setting, way, seed, data, folder, clusters) for seed in range(seeds if drawn else 1)]
    found = [cell.result(results) for cell in cells] * (1 if drawn else seeds)
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
    if way.dictionary:
        words.append(f"harvest --else {way.dictionary['elsewhere']}" + " --fold" * way.dictionary["fold"])
    return " ".join([*words, *(["--clusters FILE"] if way.clusters else [])])


def _option(name: str, value: Any) -> str:
    if name == "templates":
        return f"--template 'user:{POS}[0]' ..."
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
