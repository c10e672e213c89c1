"""The page of a part, drawn from its numbers alone, and beside them those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from reproductions.lab import page as lab
from reproductions.lab.paper import Table, paper
from reproductions.li_2015.scores import HARD, SHARE

_TITLES = {
    "tagging": "Tables 3, 4 and 6",
    "mappings": "Figure 3",
    "weighting": "Figure 4",
    "narrowing": "narrowing by taggers",
    "english": "Brown and the Wall Street Journal",
    "conversion": "Table 5",
    "belief": "how far to believe a conversion",
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
    "mappings": (
        "`coupled` has the automatic mapping, unless its name says otherwise. `pruned`: only bundles come into question"
        " both of whose tags are likely by taggers of each guideline, which is no part of this paper.",
        _MAPPINGS,
    ),
    "weighting": (
        "M' is the number of sentences of the source corpus that an iteration visits, N' that of the target corpus. The"
        " paper has N' = 5,000, and M' = 1,000, 5,000 and 20,000; here, where a sentence of the source corpus is a"
        " paragraph of twice as many words, N' and M' of `coupled` stand below.",
    ),
    "narrowing": (
        "Of the tags that a corpus lacks, those come into question to which a tagger gives a probability of 1% or more:"
        " a tagger of the source guideline for the target corpus, and the two-stage model, which sees the given tags,"
        " for the source corpus. The latter also gives the automatic mapping. `three seeds in one`: the weights are the"
        " means of those of three trainings. None of this is in the paper.",
    ),
    "english": (
        "The rows are those of Tables 3 and 6, which the paper has for Chinese only; its differences stand below for"
        " orientation. `coupled, narrowed` is of the page of narrowing, not of the paper. Brown's tags are taken"
        " without the marks of titles, headlines, cited words and foreign words. A seed also draws the tenth of the"
        " target corpus.",
    ),
    "belief": (
        "The source corpus as the coupled model converts it, as more training data: its tags as if they were certain;"
        " the best tag believed as far as the model is sure of it; or all tags with their probabilities, read as a"
        " likelihood or as a posterior. The paper takes them for certain.",
    ),
    "conversion": (
        "Every sentence of the corpus has both layers. A random half of the training sentences, drawn by the seed,"
        " keeps the one layer only, the other half the other. Of dev and test the one layer is given, and the other is"
        " asked for. The baseline does not look at what is given; the two-stage model sees it in the place of its"
        " guide's tags; for the coupled model it is a hard constraint.",
    ),
}
_MEASURES = {"test": "all tokens", HARD: f"the {SHARE:.0%} of the tokens of which the baseline is least certain"}


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    part = summary["part"]
    title = f"Li et al. (2015): {_TITLES[part]}"
    yield from lab.of_paper(title, summary, _NOTES[part], _setup(summary), partial(_of_setting, part))
    yield from lab.plots_below(plots)


def _of_setting(part: str, setting: dict[str, Any]) -> Iterator[str]:
    yield from _sizes(setting)
    for each in paper("li_2015").tables[part]:
        for measure in _measures(setting):
            yield from _table(each, setting, measure)
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


def _measures(setting: dict[str, Any]) -> list[str]:
    """The measures of the test data."""
    first = next(iter(setting["methods"].values()))
    return [name for name in first["scores"] if name != "dev"]


def _table(each: Table, setting: dict[str, Any], measure: str) -> Iterator[str]:
    several = len(_measures(setting)) > 1
    yield f"### {each.title}{', ' + _MEASURES[measure] if several else ''}\n"
    references = [name for name in next(iter(reversed(setting["methods"].values())))["against"] if _has(each, name)]
    printed = {} if several and measure != HARD else each.printed
    head = ["method", "labels", "dev", measure, "seeds", *(f"difference to {name} | p" for name in references)]
    if printed:
        head += ["paper: labels", "paper: dev", "paper: test"]
    rows = []
    for method in each.methods:
        row = _row(method.name, setting["methods"][method.name], measure, references)
        rows.append([*row, *printed.get(method.name, ("-",) * 3)] if printed else row)
    yield from lab.table(" | ".join(head).split(" | "), rows)


def _has(each: Table, name: str) -> bool:
    return any(method.name == name for method in each.methods)


def _row(name: str, found: dict[str, Any], measure: str, references: Sequence[str]) -> list[str]:
    scores = found["scores"]
    ours = scores[measure]
    means = f"{scores['dev']['mean']:.2f}", f"**{ours['mean']:.2f}**"
    tests = [found["against"].get(reference, {}).get(measure) for reference in references]
    cells = [name, lab.number_range(found["labels"]), *means, f"({lab.values(ours['values'])})"]
    return [*cells, *(cell for each in tests for cell in lab.test(each))]
