"""The page of a part, drawn from its numbers alone, and beside them those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from reproductions.lab import page as lab
from reproductions.lab.paper import Table, paper

_TITLES = {
    "stacking": "Tables 2 and 6: stacking",
}
_LEVELS = (
    "`CTag`: characters, labelled with their place in a word and its tag (4.2). `feature stacking`: the same, with"
    " features of the labels that a tagger of the source guideline gives (4.3). `sub-word`: pieces that end where"
    " either tagger ends a word, joined to words by a model that sees their text and the labels of both (4.4)."
)
_CORPORA = (
    "The paper adapts from the People's Daily of 1998 (here PD: one month of it) to CTB 5, news both. Here the target"
    " is the novel Zhuxian in CTB style: another domain than the source, and a seventh of the sentences."
)
_NOTES = {
    "stacking": (
        _LEVELS,
        "`boundaries only`: the model of pieces sees where the source tagger's words begin, and not their tags (6.2).",
        _CORPORA,
    ),
}


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    title = f"Sun and Wan (2012): {_TITLES[summary['part']]}"
    yield from lab.of_paper(title, summary, _NOTES[summary["part"]], (), partial(_of_setting, summary))
    yield from lab.plots_below(plots, lab.FARTHEST)


def _of_setting(summary: dict[str, Any], setting: dict[str, Any]) -> Iterator[str]:
    yield from _setup(setting, summary["trials"])
    for each in paper("sun_wan_2012").tables[summary["part"]]:
        if each.gold in setting["sizes"]:
            yield from _scores(each, setting)
            yield from _differences(each, setting)
    yield from lab.findings(setting["findings"])
    yield from lab.cost(setting["methods"])
    yield "The last training of each row alone; the taggers below it are shared between rows.\n"


def _setup(setting: dict[str, Any], trials: int) -> Iterator[str]:
    yield f"- {lab.sizes(setting['sizes'])}."
    yield lab.training(setting["recipe"])
    yield f"- Folds of the jackknife of the target corpus: {setting['folds']}."
    yield (
        "- P, R and F of words, x 100; a word is right with its tag only. Means over the seeds; in brackets each seed."
        " A seed draws the order of sentences and the folds."
    )
    yield f"{lab.significance(trials)}\n"


def _scores(each: Table, setting: dict[str, Any]) -> Iterator[str]:
    yield f"### {each.title}\n"
    rows = []
    for method in each.methods:
        found = setting["methods"][method.name]["scores"][each.gold]
        row = [method.name, f"{found['precision']:.2f}", f"{found['recall']:.2f}", lab.score(found)]
        rows.append([*row, *each.printed.get(method.name, ("-",) * 3)])
    yield from lab.table(["method", "P", "R", "F", "paper: P", "paper: R", "paper: F"], rows)


def _differences(each: Table, setting: dict[str, Any]) -> Iterator[str]:
    """Every row compared with the character tagger, and with its neighbour above."""
    shown, rows = {method.name for method in each.methods}, []
    for method in each.methods:
        for reference, tests in setting["methods"][method.name]["against"].items():
            if reference in shown:
                rows.append([method.name, reference, *lab.test(tests[each.gold])])
    yield from lab.table(["method", "beside", f"F on {each.gold}", "p"], rows)
