"""The page of a part, drawn from its numbers alone, and beside them those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from reproductions.lab import page as lab
from reproductions.lab.paper import Table, paper
from reproductions.sun_wan_2012.methods import TIMES

_TITLES = {
    "stacking": "Tables 2 and 6: stacking",
    "learning-curve": "Table 3: learning curves",
    "gold": "Table 4: the source annotation given",
    "retraining": "Tables 5 and 6: re-training",
    "likeness": "re-training on sentences like the target",
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
    "learning-curve": (
        _LEVELS,
        "A seed also draws the share of a corpus; a smaller share is part of a larger one. The paper's last row has"
        " half of both corpora; here half, or a quarter, of the target has all of the source beside it.",
        _CORPORA,
    ),
    "gold": (
        _LEVELS,
        "`source given`: the same models, with the source annotation of the test data in place of the source tagger's"
        " (6.4). The paper has 3,561 words of Chinese that were annotated by hand under both guidelines. Here it is"
        " Japanese (UD GSD, UPOS) in short and in long unit words (suw, luw): the development data train, each"
        " guideline on its own half, which the seed draws. Sentences whose text is not the same in both are left out.",
    ),
    "retraining": (
        _LEVELS,
        "D: the target corpus. D': the source corpus as feature stacking relabels it, given its own annotation. D'': as"
        " sub-word tagging does (section 5). What a level above learns from is always what taggers say that have not"
        " seen the text, of D, D' and D'' alike.",
        f"`sampled`: every iteration visits all of the target, and of D' and D'' a sample of {TIMES:g} times as many"
        " words, another one each time. The source here is fifteen times as large as the target, in the paper twice.",
        _CORPORA,
    ),
    "likeness": (
        _LEVELS,
        "D: the target corpus. D': the source corpus as feature stacking relabels it, given its own annotation (section"
        " 5). Not in the paper: of D' a quarter or a half of the sentences is kept. `random`: any. `alike`: those whose"
        " text is likeliest by a bigram model of the target's characters, in comparison with one of the source's own"
        " (Moore and Lewis 2010). `likely`: those whose new words and tags the character tagger of the target finds"
        " likeliest, for a character.",
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
    yield "- Folds of the jackknife: {} of the target corpus, {} where the source is trained on, too.".format(
        *setting["folds"]
    )
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
