"""The page of a part, drawn from its numbers alone, and beside them those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from reproductions.lab import page as lab
from reproductions.lab.paper import Table, paper
from reproductions.liu_2014.summary import OOV

_TITLES = {
    "raw-text": "Figure 3",
}
_LEXICON = (
    "`+ PA (lexicon)`: the words of a lexicon of the target domain, found in raw sentences of that domain by forward"
    " and backward maximum matching, both (2.1); the rest of these sentences is left open."
)
_PHRASES = (
    "`phrases`: entries of four characters and more may be several words, so their inside is left open, too; this is no"
    " part of the paper."
)
_NOTES = {
    "raw-text": (
        _LEXICON,
        _PHRASES,
        "A seed also draws the share of the raw sentences. The paper has 1,000 to 32,000 of them; here are fewer.",
    ),
}


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    part = summary["part"]
    title = f"Liu et al. (2014): {_TITLES[part]}"
    yield from lab.of_paper(title, summary, _NOTES[part], _setup(summary), partial(_of_setting, part))
    yield from lab.plots_below(plots, lab.FARTHEST)


def _of_setting(part: str, setting: dict[str, Any]) -> Iterator[str]:
    yield from _sizes(setting)
    for each in paper("liu_2014").tables[part]:
        if not each.settings or setting["name"] in each.settings:
            yield from _scores(each, setting)
            yield from _differences(each, setting)
    yield from lab.findings(setting["findings"])
    yield from lab.cost(setting["methods"])


def _setup(summary: dict[str, Any]) -> Iterator[str]:
    yield lab.training(summary["settings"][0]["recipe"])
    yield (
        "- F of words and OOV, the recall of words that the source corpus lacks, x 100, means over the seeds; in"
        " brackets each seed. A seed draws the order of sentences, and what is drawn of them."
    )
    yield "- Sentences: partially annotated ones; marked: words of the lexicon found in them, or spans of markup."
    yield lab.significance(summary["trials"])


def _sizes(setting: dict[str, Any]) -> Iterator[str]:
    yield f"- Fully annotated: {lab.sizes(setting['sizes'])}."
    yield f"- Raw sentences of the target domain: {setting['raw']:,}; words of its lexicon: {setting['lexicon']:,}."
    yield ""


def _scores(each: Table, setting: dict[str, Any]) -> Iterator[str]:
    yield f"### {each.title}\n"
    measures = list(next(iter(setting["methods"].values()))["scores"])
    head = ["method", "sentences", "marked", *(_measure(name) for name in measures)]
    rows = []
    for method in each.methods:
        found = setting["methods"][method.name]
        row = [method.name, lab.number_range(found["sentences"]), lab.number_range(found["marked"])]
        row += [lab.score(found["scores"][name]) for name in measures]
        rows.append([*row, *each.printed.get(method.name, ("-",) * len(each.head))])
    yield from lab.table([*head, *(f"paper: {name}" for name in each.head)], rows)


def _measure(name: str) -> str:
    return name if name.endswith(OOV) else f"{name} F"


def _differences(each: Table, setting: dict[str, Any]) -> Iterator[str]:
    """Every row compared with the methods above it that are references."""
    rows = []
    for number, method in enumerate(each.methods):
        above = {other.name for other in each.methods[:number]}
        for reference, tests in setting["methods"][method.name]["against"].items():
            if reference in above:
                rows.append([method.name, reference, *(cell for each in tests.values() for cell in lab.test(each))])
    tests = next(iter(setting["methods"][each.methods[1].name]["against"].values()))
    measures = [_measure(name) for name in tests]
    yield from lab.table(["method", "beside", *(cell for name in measures for cell in (name, "p"))], rows)
