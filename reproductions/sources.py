"""Many sources of annotation as training data: what 47 people marked, and what four noises say of one text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

import tagweave as tw
from reproductions.lab import page
from reproductions.lab.comparison import counts_of
from reproductions.lab.corpora import corpora_folder
from reproductions.lab.models import trained
from reproductions.lab.study import Numbers, Result, Setting, Study
from tagweave.corpus.corpus import Corpus
from tagweave.evaluation.score import f_of_counts
from tagweave.sources.layers import load_sources
from tagweave.sources.options import DEFAULT

BEST, PROBABILITIES = "best labels", "probabilities"
AGGREGATIONS = {
    "majority": "majority",
    "Dawid-Skene": "dawid-skene",
    "BSC-seq": "bsc",
    DEFAULT: DEFAULT,
}
BY_TURNS, GOLD, USUAL = "sources, by turns", "gold", f"{DEFAULT}, {PROBABILITIES}"
WAYS = (*(f"{name}, {what}" for what in (BEST, PROBABILITIES) for name in AGGREGATIONS), BY_TURNS, GOLD)
"""What is trained on; `gold`, the limit, sees the gold standard of the training text, and no other row does."""
ROUNDS = 3
NOISES = ("crowd", "distant", "weak", "llm")
SCHEDULE = {"iterations": 30, "patience": 5}


@dataclass(frozen=True, eq=False)
class Texts:
    """The files of the text with answers and their columns, its gold standard, and text to choose by and to score."""

    title: str
    files: tuple[str, ...]
    columns: str
    gold: Corpus
    dev: Corpus
    test: Corpus


def settings(quick: bool) -> list[Setting]:
    """The crowd's and the noises' text; a quick run takes the first sentences of each file."""
    count = 60 if quick else None
    people = "`en/crowd-ner/val.txt`, 47 people"
    noises = f"`en/noisebench`, the noises {', '.join(NOISES)}"

    @lru_cache(maxsize=1)
    def data(title: str, _seed: int) -> Texts:
        folder = corpora_folder() / "en"
        if title == people:
            files, columns = [_first(folder / "crowd-ner/val.txt", count)], "3:"
            gold, rest = _gold_of(files[0]), ("conll2003/dev.txt", "conll2003/test.txt")
        else:
            files = [_first(folder / f"noisebench/noise_{name}.train.txt", count) for name in NOISES]
            columns, rest = "files", ("noisebench/clean.dev.txt", "noisebench/clean.test.txt")
            gold = tw.load(_first(folder / "noisebench/clean.train.txt", count))
        dev, test = (tw.load(_first(folder / name, count)) for name in rest)
        return Texts(title, tuple(files), columns, gold, dev, test)

    return [
        Setting(f"texts {at}", title, partial(data, title), WAYS, lambda own: {"sentences": len(own.gold)})
        for at, title in enumerate((people, noises))
    ]


def _first(path: Path, sentences: int | None) -> str:
    """Return a file, or a copy of its first sentences."""
    if sentences is None:
        return str(path)
    copy = Path(mkdtemp(prefix="tagweave-sources-")) / path.name
    copy.write_text("\n\n".join(path.read_text(encoding="utf-8").split("\n\n")[:sentences]) + "\n", encoding="utf-8")
    return str(copy)


def _gold_of(path: str) -> Corpus:
    """Return the gold standard beside the answers of the crowd."""
    crowd = load_sources([path], "3:", gold="2")
    assert crowd.gold is not None
    layer = crowd.gold
    return replace(crowd.corpus, guideline=layer).map(lambda sentence: sentence.with_layers_of([layer]))


def train(texts: Texts, way: str, seed: int) -> Result:
    """Train a tagger, and score its spans; `labels` is the F of the labels of the training text."""
    labels: float | None = None
    options: dict[str, Any] = {"dev": texts.dev, "task": "spans", "seed": seed, "average_seeds": 1, **SCHEDULE}
    certain = {**options, "span_confidence": 1.0}  # no second model learns from dev how far labels are wrong
    if way == BY_TURNS:
        files = list(texts.files)
        model = trained(files, method="sources", source_columns=texts.columns, rounds=ROUNDS, **options)
    elif way == GOLD:
        model = trained(texts.gold, **certain)
    else:
        name, what = way.split(", ")
        best = _aggregated(texts, name, True)
        labels = 100 * float(f_of_counts(np.sum(counts_of(texts.gold, _under(best, texts.gold)), axis=0)))
        model = trained(best if what == BEST else _aggregated(texts, name, False), **certain)
    counts = {"dev": counts_of(texts.dev, model), "test": counts_of(texts.test, model)}
    return {"counts": counts, "labels": labels}


@lru_cache(maxsize=2)
def _aggregated(texts: Texts, name: str, hard: bool) -> Corpus:
    aggregated = tw.aggregate(list(texts.files), texts.columns, AGGREGATIONS[name], hard=hard, tell=lambda _: None)
    corpus: Corpus = aggregated.corpus
    return corpus


def _under(corpus: Corpus, gold: Corpus) -> Corpus:
    """A corpus with its layer under the guideline of the gold standard."""
    layers = ({gold.guideline: each.layers[corpus.guideline]} for each in corpus)
    return gold.with_sentences(replace(each, layers=own) for each, own in zip(gold, layers, strict=True))


def lines(numbers: Numbers) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from page.opening("Taggers of what 47 people marked, and of four noisy sources", numbers["command"])
    yield f"`best labels` are certain, `probabilities` are posteriors: `{USUAL}` is what `aggregate` and `train` do"
    yield f"by default. `{BY_TURNS}` is `train --method sources` with {ROUNDS} rounds at most. `gold` is the limit:"
    yield "no other row sees it. The iteration is the best on dev data.\n"
    yield "F of exact spans, in percent; in brackets each seed. The F of labels is that of the most probable labels of"
    yield "the training text.\n"
    yield from [page.significance(numbers["trials"]), ""]
    head = ["trained on", "F of labels", "dev", "test", "P", "R", "CPU s", f"against {USUAL}", "p"]
    for setting in numbers["settings"]:
        yield f"{setting['title']}: {setting['sentences']:,} sentences.\n"
        yield from page.table(head, (_row(way, own) for way, own in setting["methods"].items()))


def _row(way: str, own: dict[str, Any]) -> list[str]:
    test, beside = own["scores"]["test"], own["against"].get(USUAL, {}).get("test")
    labels = "" if own["labels"][0] is None else f"{np.mean(own['labels']):.2f}"
    row = [way, labels, f"{own['scores']['dev']['mean']:.2f}", page.score(test), f"{test['precision']:.2f}"]
    row += [f"{test['recall']:.2f}", f"{np.mean(own['seconds']):.0f}"]
    return [*row, *([f"{beside['difference']:+.2f}", f"{beside['p_all']:.4f}"] if beside else ["", ""])]


STUDIES = [Study("sources-training", 2, settings, train, lines, (USUAL,))]
