"""Li et al. (2015): coupled models and their rivals, on open corpora (Tables 3, 4 and 6), also narrowed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from reproductions.lab import page
from reproductions.lab.comparison import Finding, counts_of
from reproductions.lab.corpora import Parts, of_sample, read_parts
from reproductions.lab.models import size, trained
from reproductions.lab.study import Numbers, Result, Setting, Study
from tagweave.corpus.corpus import Corpus
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Schedule

BATCH = {"batch": 16, "initial": 1e-8}
COUPLED = {"method": "coupled", "narrow": 0, "guided": 0, "settings": {"initial": 1e-8}}
NARROWED = {**COUPLED, "narrow": 0.01}
METHODS: dict[str, dict[str, Any]] = {
    "baseline": {"method": "single", "settings": BATCH},
    "merged": {"method": "merged", "settings": BATCH},
    "two-stage": {"method": "stacked", "settings": BATCH},
    "coupled": COUPLED,
    "coupled, separate features only": {**COUPLED, "views": "separate"},
    "coupled, joint features only": {**COUPLED, "views": "joint"},
    "coupled, narrowed": NARROWED,
    "coupled, narrowed, two-stage shared": {**NARROWED, "guided": None},
}
"""Options of `tw.train`, by the names of the tables."""
CONVERTED = {
    "baseline + converted": "coupled",
    "baseline + converted, narrowed": "coupled, narrowed",
}
"""Target corpus and source corpus, as a coupled model converts it: each tag is believed as far as that is sure."""

REFERENCES = ("baseline", "two-stage")
"""The methods that every other one is tested against."""
Tables = dict[str, dict[str, Sequence[str]]]
"""Of each table the cells of the paper (labels, dev, test), by method."""
_BASELINE, _PRINTED, _NONE = ("33", "94.28", "94.10"), ("179", "95.10", "95.00"), ("-", "-", "-")
TAGGING: Tables = {
    "Table 3: the coupled model and its rivals": {
        "baseline": _BASELINE,
        "merged": _NONE,
        "two-stage": ("-", "-", "94.81"),
        "coupled": _PRINTED,
    },
    "Table 4: separate and joint features": {
        "baseline": _BASELINE,
        "coupled, separate features only": ("179", "94.36", "94.43"),
        "coupled, joint features only": ("179", "92.92", "92.90"),
        "coupled": _PRINTED,
    },
    "Table 6: the source corpus converted": {
        "baseline": _BASELINE,
        "coupled": _PRINTED,
        "baseline + converted": ("33", "95.01", "94.81"),
    },
}
NARROWING: Tables = {
    "Tables 3 and 6, narrowed": dict.fromkeys(
        (
            "baseline",
            "two-stage",
            "coupled, narrowed",
            "coupled, narrowed, two-stage shared",
            "baseline + converted, narrowed",
        ),
        (),
    )
}

FINDINGS = {
    "li-2015-tagging": (
        Finding("The coupled model is better than the baseline (Table 3).", "coupled", "baseline", 1, 0.90),
        Finding("It is better than the two-stage model (Table 3).", "coupled", "two-stage", 1, 0.19),
        Finding("The two-stage model is better than the baseline (Table 3).", "two-stage", "baseline", 1, 0.71),
        Finding(
            "With the converted corpus, the baseline is better than without (Table 6).",
            "baseline + converted",
            "baseline",
            1,
            0.71,
        ),
        Finding(
            "It is then slightly worse than the coupled model (Table 6).", "baseline + converted", "coupled", -1, -0.19
        ),
        Finding(
            "Separate features alone are slightly better than the baseline (Table 4).",
            "coupled, separate features only",
            "baseline",
            1,
            0.33,
        ),
        Finding(
            "Joint features alone are worse than the baseline (Table 4).",
            "coupled, joint features only",
            "baseline",
            -1,
            -1.20,
        ),
    ),
    "li-2015-narrowing": (
        Finding("The coupled model is better than the baseline (Table 3).", "coupled, narrowed", "baseline", 1, 0.90),
        Finding("It is better than the two-stage model (Table 3).", "coupled, narrowed", "two-stage", 1, 0.19),
        Finding(
            "Sharing its weights with the two-stage model, it is better than that (not in the paper).",
            "coupled, narrowed, two-stage shared",
            "two-stage",
            1,
        ),
    ),
}


class Pair:
    """Corpora of two guidelines, and how long models are trained on them."""

    def __init__(self, target: Parts, source: Corpus, schedule: Schedule) -> None:
        self.target, self.source, self.schedule = target, source, schedule

    def sizes(self) -> Numbers:
        """Return what the page tells of them."""
        sizes = {"target": self.target.sizes(), "source": {"train": [len(self.source), self.source.tokens()]}}
        return {"sizes": sizes, "budget": [self.schedule.iterations, self.schedule.patience]}


def settings(name: str, tables: Tables, quick: bool) -> list[Setting]:
    """CTB tags for Zhuxian, from PD tags for the People's Daily; or the bundled sample."""
    if quick:
        (source,) = of_sample("pd.txt", "pd", 40)
        pair = Pair(Parts(*of_sample("ctb.txt", "ctb", 40, 60, 80)), source, Schedule(2, 1))
    else:
        source = read_parts("zh/pd199801", "pd").train
        pair = Pair(read_parts("zh/zx", "ctb"), source, Schedule(20, 4))
    methods = list(dict.fromkeys(method for rows in tables.values() for method in rows))
    return [Setting(name, "zh/pd199801 to zh/zx", lambda _: pair, methods, Pair.sizes)]


def train(pair: Pair, method: str, seed: int) -> Result:
    """Train a method, and score it on development and test data."""
    model = _converted(pair, CONVERTED[method], seed) if method in CONVERTED else _model(pair, method, seed)
    golds = {"dev": pair.target.dev, "test": pair.target.test}
    return {"counts": {name: counts_of(gold, model) for name, gold in golds.items()}, **size(model)}


@lru_cache(maxsize=3)
def _model(pair: Pair, method: str, seed: int) -> Any:
    sources = [] if method == "baseline" else [pair.source]
    return trained(pair.target.train, sources, **{**_options(pair, seed), **METHODS[method]})


def _converted(pair: Pair, converter: str, seed: int) -> Any:
    converted = _model(pair, converter, seed).convert(pair.source, "ctb")
    bare = converted.map(lambda sentence: sentence.with_layers_of(["ctb"]))
    target = pair.target.train
    sample = [len(target), round(len(bare) * min(1, target.tokens() / bare.tokens()))]  # as for coupled models
    return trained([target, bare], sample=sample, **{**_options(pair, seed), **METHODS["baseline"]})


def _options(pair: Pair, seed: int) -> dict[str, Any]:
    return {
        "dev": pair.target.dev,
        "task": "tag",
        "templates": (*PRESETS["li-2015"].texts, *PRESETS["types"].texts),
        "seed": seed,
        "average_seeds": 1,
        "iterations": pair.schedule.iterations,
        "patience": pair.schedule.patience,
    }


_TYPES = (
    "All systems have the features of Table 1 and, which the paper lacks, the types of words: script, length and"
    " categories of characters, shared by words that no training text has.\n"
)
_NOTES = {
    "li-2015-tagging": (
        "`merged` takes the tags of both corpora for tags of one guideline. `two-stage` has the tags of a tagger of the"
        " source guideline among its features. `coupled` has the automatic mapping: the pairs that meet once in 10,000"
        " tokens or more often when the baseline labels the source corpus, and of every tag the pair that meets most"
        " often; in the paper's tables it is the relaxed one, the pairs of Sun and Wan (2012), Table 1. `baseline +"
        " converted` is trained on the target corpus and the source corpus as the coupled model converts it, each tag"
        " believed as far as that is sure of it.\n",
        _TYPES,
    ),
    "li-2015-narrowing": (
        "Of the tags that a corpus lacks, those come into question to which a tagger gives a probability of 1% or more:"
        " a tagger of the source guideline for the target corpus, and the two-stage model, which sees the given tags,"
        " for the source corpus. The latter also gives the automatic mapping. `two-stage shared`: the two-stage"
        " model has the share in the weights that is best on dev. None of this is in the paper.\n",
        _TYPES,
    ),
}


def lines(name: str, title: str, tables: Tables, numbers: Numbers) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from page.opening(f"Li et al. (2015): {title}", numbers["command"])
    yield from _NOTES[name]
    (setting,) = numbers["settings"]
    iterations, patience = setting["budget"]
    yield (
        f"- Every training: AdaGrad, at most {iterations} iterations, the one that is best on dev, stopped after"
        f" {patience} without a better one. An iteration visits all of the target and about as many words of the"
        " source."
    )
    yield (
        "- Scores are accuracies x 100, means over the seeds; in brackets each seed. A seed draws the order of"
        " sentences and those of the source that an iteration visits."
    )
    yield page.significance(numbers["trials"])
    for side, sizes in setting["sizes"].items():
        yield f"- {side.capitalize()}: {page.sizes(sizes)}."
    yield ""
    for heading, rows in tables.items():
        yield f"### {heading}\n"
        yield from _table(rows, setting["methods"])
    yield from page.findings(setting["findings"])
    yield from page.cost(setting["methods"])


def _table(printed: dict[str, Sequence[str]], methods: Numbers) -> Iterator[str]:
    references = [name for name in REFERENCES if name in printed]
    head = ["method", "labels", "dev", "test", "seeds"]
    head += [cell for name in references for cell in (f"difference to {name}", "p")]
    head += ["paper: labels", "paper: dev", "paper: test"] if any(printed.values()) else []
    rows = []
    for name, cells in printed.items():
        own = methods[name]
        dev, test = own["scores"]["dev"], own["scores"]["test"]
        row = [name, page.number_range(own["labels"]), f"{dev['mean']:.2f}", f"**{test['mean']:.2f}**"]
        row.append(f"({page.values(test['values'])})")
        for reference in references:
            row += page.difference(own["against"].get(reference, {}).get("test"))
        rows.append([*row, *cells])
    yield from page.table(head, rows)


STUDIES = [
    Study(
        name,
        seeds,
        partial(settings, name, tables),
        train,
        partial(lines, name, title, tables),
        REFERENCES,
        FINDINGS[name],
    )
    for name, title, tables, seeds in (
        ("li-2015-tagging", "Tables 3, 4 and 6", TAGGING, 2),
        ("li-2015-narrowing", "narrowing by taggers", NARROWING, 2),
    )
]
