"""The page of a part, drawn from its numbers alone, and beside them those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from reproductions.lab import page as lab
from reproductions.lab.paper import Table, paper

_TITLES = {
    "tagging": "Tables 3, 4 and 6",
    "narrowing": "narrowing by taggers",
}
_MAPPINGS = (
    "Mappings: automatic are the pairs that meet once in 10,000 tokens or more often when the baseline labels the"
    " source corpus, and of every tag the pair that meets most often. Relaxed are the pairs of Sun and Wan (2012),"
    " Table 1, tight those of them that make up 90% of one of their tags; tags that do not stand in that table have"
    " the partners of the automatic mapping. All systems have the features of Table 1 and, which the paper lacks, the"
    " types of words: script, length and categories of characters, shared by words that no training text has."
)
_NOTES = {
    "tagging": (
        "`merged` takes the tags of both corpora for tags of one guideline. `two-stage` has the tags of a tagger of the"
        " source guideline among its features. `coupled` has the automatic mapping, unless its name says otherwise; in"
        " the paper's Tables 3, 4 and 6 it has the relaxed one. `baseline + converted` is trained on the target corpus"
        " and the source corpus as the coupled model converts it, each tag believed as far as that is sure of it.",
        _MAPPINGS,
    ),
    "narrowing": (
        "Of the tags that a corpus lacks, those come into question to which a tagger gives a probability of 1% or more:"
        " a tagger of the source guideline for the target corpus, and the two-stage model, which sees the given tags,"
        " for the source corpus. The latter also gives the automatic mapping. `three seeds in one`: the weights are the"
        " means of those of three trainings. None of this is in the paper.",
    ),
}


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    part = summary["part"]
    title = f"Li et al. (2015): {_TITLES[part]}"
    yield from lab.of_paper(title, summary, _NOTES[part], _setup(summary), partial(_of_setting, part))
    yield from lab.plots_below(plots)


def _of_setting(part: str, setting: dict[str, Any]) -> Iterator[str]:
    yield from _sizes(setting)
    for each in paper("li_2015").tables[part]:
        yield from _table(each, setting)
    yield from lab.findings(setting["findings"])
    yield from lab.cost(setting["methods"])


def _setup(summary: dict[str, Any]) -> Iterator[str]:
    yield lab.early_stopping(summary["settings"][0]["budget"], "dev", "AdaGrad, ")
    yield (
        "- Scores are accuracies x 100, means over the seeds; in brackets each seed. A seed draws the order of"
        " sentences and what Algorithm 1 draws."
    )
    yield lab.significance(summary["trials"])


def _sizes(setting: dict[str, Any]) -> Iterator[str]:
    for side, parts in setting["sizes"].items():
        yield f"- {side.capitalize()}: {lab.sizes(parts)}."
    if setting["sample"]:
        yield "- An iteration visits N' = {:,} sentences of the target and M' = {:,} of the source.".format(
            *setting["sample"]
        )
    yield ""


def _table(each: Table, setting: dict[str, Any]) -> Iterator[str]:
    yield f"### {each.title}\n"
    references = [name for name in next(iter(reversed(setting["methods"].values())))["against"] if _has(each, name)]
    printed = each.printed
    head = ["method", "labels", "dev", "test", "seeds", *(f"difference to {name} | p" for name in references)]
    if printed:
        head += ["paper: labels", "paper: dev", "paper: test"]
    rows = []
    for method in each.methods:
        row = _row(method.name, setting["methods"][method.name], references)
        rows.append([*row, *printed.get(method.name, ("-",) * 3)] if printed else row)
    yield from lab.table(" | ".join(head).split(" | "), rows)


def _has(each: Table, name: str) -> bool:
    return any(method.name == name for method in each.methods)


def _row(name: str, found: dict[str, Any], references: Sequence[str]) -> list[str]:
    scores = found["scores"]
    ours = scores["test"]
    means = f"{scores['dev']['mean']:.2f}", f"**{ours['mean']:.2f}**"
    tests = [found["against"].get(reference, {}).get("test") for reference in references]
    cells = [name, lab.number_range(found["labels"]), *means, f"({lab.values(ours['values'])})"]
    return [*cells, *(cell for each in tests for cell in lab.test(each))]
