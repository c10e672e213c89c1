"""The page of a part, drawn from its numbers alone, and beside them those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from reproductions.lab import page as lab
from reproductions.lab.paper import Table, paper
from reproductions.liu_2014.evidence_page import of_evidence
from reproductions.liu_2014.summary import ONES, OOV

_TITLES = {
    "lexicon": "Table 4",
    "raw-text": "Figure 3",
    "natural": "Tables 5 to 7 and Figure 4",
    "own-words": "a lexicon of the target's own words",
}
_LEXICON = (
    "`+ PA (lexicon)`: the words of a lexicon of the target domain, found in raw sentences of that domain by forward"
    " and backward maximum matching, both (2.1); the rest of these sentences is left open."
)
_PHRASES = (
    "`phrases`: entries of four characters and more may be several words, so their inside is left open, too; this is no"
    " part of the paper."
)
_SELECTED = (
    "`+ PA (selected)`: the sentences of pages that mark a span of two characters and more which occurs in raw text of"
    " the target domain (2.2)"
)
_POSTERIOR = (
    "`posterior`: what is left open has the probabilities that the model of the fully annotated sentences gives it, in"
    " place of marginal likelihood (`--incomplete posterior`)."
)
_NOTES = {
    "lexicon": (
        _LEXICON,
        "`+ lexicon features`: how long a word is that begins, goes on or ends at a character, of the lexicon or of"
        " the 8,000 most frequent words of the source corpus (5.1.3).",
        _PHRASES,
        "The paper adapts from CTB to Zhuxian, with 32,023 raw sentences of it and a lexicon of 159 names. Here the"
        " source is the People's Daily, the raw sentences are those of Zhuxian's training data, and the lexicon is"
        " another one.",
    ),
    "raw-text": (
        _LEXICON,
        _PHRASES,
        "A seed also draws the share of the raw sentences. The paper has 1,000 to 32,000 of them; here are fewer.",
    ),
    "natural": (
        f"`+ PA (all)`: all sentences of pages whose markup tells of a word. {_SELECTED}. `+ PA (random)`: as many,"
        " drawn by the seed.",
        "The pages are documentation of web frameworks in Markdown; the paper has the Chinese Wikipedia. As in the"
        " paper, Latin words and numbers are found before text is segmented, and not split (`tagweave.harvest.runs`).",
        "The sentences of the pages themselves that serve as test data are harvested for no target. The raw text of"
        " that target are the sentences of the pages of which no markup tells, without those of the test data.",
        "The model of Wikipedia is measured on these sentences, too (`pages`): only what is selected depends on the"
        " target. A small source are its first 500 sentences, with 12 iterations.",
        "For Table 7, the pages have no lexicon of their own that is free, so both sources are put together for"
        " Zhuxian: its names in its raw sentences, and the sentences of pages selected by its raw text.",
        f"{_POSTERIOR} `believed 0.5`: labels that the markup excludes keep half of their likelihood. `boundaries"
        " alone`: a span of two characters need not be one word. `titles and items of lists`: sentences that end"
        " without a full stop or the like.",
    ),
    "own-words": (
        "Not in the paper: the target itself has a few annotated sentences, and raw ones. `+ own words`: the words of"
        " two characters and more that the annotated sentences have, found in the raw ones by forward and backward"
        " maximum matching, as partial annotation by marginal likelihood; `weight`: how much such a sentence"
        " counts. `unambiguous`: without entries of which, in the annotated sentences, more than one occurrence in ten"
        " is no word.",
        f"{_POSTERIOR} `+ raw sentences, posterior`: the same without a list. `+ new words`: what a list could do that"
        " nobody has: the words of the raw sentences that the annotated ones lack.",
        "Annotated sentences are the first ones of the training data, raw ones the next (at most 2,000). The Japanese"
        " corpus has no training data here: its development data are cut in two.",
    ),
}


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    part = summary["part"]
    title = f"Liu et al. (2014): {_TITLES[part]}"
    setup = [*_setup(summary), *(_overview(summary) if part == "own-words" else ())]
    yield from lab.of_paper(title, summary, _NOTES[part], setup, partial(_of_setting, part))
    yield from lab.plots_below(plots, lab.FARTHEST)


def _of_setting(part: str, setting: dict[str, Any]) -> Iterator[str]:
    yield from _sizes(setting)
    for each in paper("liu_2014").tables[part]:
        if not each.settings or setting["name"] in each.settings:
            yield from _scores(each, setting)
            yield from _differences(each, setting)
    yield from of_evidence(setting)
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


def _overview(summary: dict[str, Any]) -> Iterator[str]:
    """F on test data of every method in every setting."""
    settings = summary["settings"]
    yield "\n### F of words on test data\n"
    methods = settings[0]["methods"]
    rows = [
        [name, *(f"{each['methods'][name]['scores']['test']['mean']:.2f}" for each in settings)] for name in methods
    ]
    yield from lab.table(["method", *(each["name"] for each in settings)], rows)


def _sizes(setting: dict[str, Any]) -> Iterator[str]:
    yield f"- Fully annotated: {lab.sizes(setting['sizes'])}."
    yield f"- Raw sentences of the target domain: {setting['raw']:,}; words of its lexicon: {setting['lexicon']:,}."
    if setting["natural"][0]:
        yield "- Pages: {:,} sentences with {:,} marked spans.".format(*setting["natural"])
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
    if name.endswith(ONES):
        return f"{name.removesuffix(ONES)}, words of one character found for 100"
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
