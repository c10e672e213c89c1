"""Sun and Wan (2012): words and tags from features of another tagger, and from pieces (Tables 2 and 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from reproductions.lab import page
from reproductions.lab.comparison import Finding, counts_of
from reproductions.lab.corpora import Parts, of_sample, read_parts
from reproductions.lab.models import size, trained
from reproductions.lab.study import Numbers, Result, Setting, Study
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.features.templates import PRESETS

CTAG, GUIDED, BOUNDARIES, PIECES = "CTag", "feature stacking", "sub-word, boundaries only", "sub-word"
METHODS = {CTAG: "single", GUIDED: "stacked", BOUNDARIES: "subword", PIECES: "subword"}
"""The methods of `tw.train`, by the names of the tables."""
SETTINGS = {"batch": 16, "initial": 1e-8}
Cells = dict[str, Sequence[str]]
_NONE = ("-", "-", "-")
DEV: Cells = {
    CTAG: ("93.28", "92.58", "92.93"),
    GUIDED: ("93.89", "93.46", "93.67"),
    BOUNDARIES: ("-", "-", "93.73"),
    PIECES: ("94.07", "93.99", "94.03"),
}
TEST: Cells = {
    CTAG: ("93.31", "93.51", "93.41"),
    GUIDED: _NONE,
    BOUNDARIES: _NONE,
    PIECES: ("94.10", "94.62", "94.36"),
}
"""P, R and F of the paper's Tables 2 and 6."""
FINDINGS = (
    Finding("Feature stacking is better than the character tagger (Table 2).", GUIDED, CTAG, 1, 0.74, "dev"),
    Finding("Sub-word tagging is better than feature stacking (Table 2).", PIECES, GUIDED, 1, 0.36, "dev"),
    Finding("Boundaries alone bring something (6.2).", BOUNDARIES, CTAG, 1, 0.80, "dev"),
    Finding("Tags of the source bring something beside boundaries (6.2).", PIECES, BOUNDARIES, 1, 0.30, "dev"),
    Finding("Sub-word tagging is better than the character tagger (Table 6).", PIECES, CTAG, 1, 0.95),
    Finding("(Not in the paper) It is better than feature stacking on test data.", PIECES, GUIDED, 1),
)


class Pair(NamedTuple):
    """Words with tags of two guidelines, and how models of them are trained."""

    target: Parts
    source: Corpus
    iterations: int
    folds: int

    def about(self) -> Numbers:
        """Return what the page tells of them."""
        sizes = {"source": [len(self.source), self.source.tokens()], **self.target.sizes()}
        return {"sizes": sizes, "iterations": self.iterations, "folds": self.folds}


def settings(quick: bool) -> list[Setting]:
    """Zhuxian under the CTB guideline, with the People's Daily as the source; or the bundled sample."""
    if quick:
        (source,) = of_sample("pd.txt", "pd", 40)
        pair = Pair(Parts(*of_sample("ctb.txt", "ctb", 40, 60, 80)), source, 2, 2)
    else:
        pair = Pair(read_parts("zh/zx", "ctb"), read_parts("zh/pd199801", "pd").train, 6, 10)
    return [Setting("zx", "PD to CTB", lambda _: pair, list(METHODS), Pair.about)]


def train(pair: Pair, method: str, seed: int) -> Result:
    """Train a method without development data, and score words with tags."""
    source = pair.source.map(_untagged) if method == BOUNDARIES else pair.source
    options: dict[str, Any] = {"folds": pair.folds} if METHODS[method] == "subword" else {}
    model = trained(
        pair.target.train,
        [] if method == CTAG else [source],
        task="segtag",
        method=METHODS[method],
        coding="BI",
        templates=PRESETS["sun-wan-2012"].texts,
        settings=SETTINGS,
        iterations=pair.iterations,
        average_seeds=1,
        seed=seed,
        **options,
    )
    golds = {"dev": pair.target.dev, "test": pair.target.test}
    return {"counts": {name: counts_of(gold, model, "tagged F") for name, gold in golds.items()}, **size(model)}


def _untagged(sentence: Sentence) -> Sentence:
    """A sentence whose words all have the same tag: a tagger of these finds boundaries alone."""
    return replace(sentence, layers={name: (("W",),) * len(sentence) for name in sentence.layers})


def lines(numbers: Numbers) -> Iterator[str]:
    """Yield the lines of the page."""
    (setting,) = numbers["settings"]
    yield from page.opening("Sun and Wan (2012): Tables 2 and 6: stacking", numbers["command"])
    yield (
        "`CTag`: characters, labelled with their place in a word and its tag (4.2). `feature stacking`: the same, with"
        " features of the labels that a tagger of the source guideline gives (4.3). `sub-word`: pieces that end where"
        " either tagger ends a word, joined to words by a model that sees their text and the labels of both (4.4)."
        " `boundaries only`: the words of the source have no tags (6.2).\n"
    )
    yield (
        "The paper adapts from the People's Daily of 1998 (here PD: one month of it) to CTB 5, news both. Here the"
        " target is the novel Zhuxian in CTB style: another domain than the source, and a seventh of the sentences.\n"
    )
    yield f"- {page.sizes(setting['sizes'])}."
    yield f"- Every training: AdaGrad (batch 16), {setting['iterations']} iterations; the last one is kept."
    yield f"- Folds of the jackknife of the target corpus: {setting['folds']}."
    yield (
        "- P, R and F of words, x 100; a word is right with its tag only. Means over the seeds; in brackets each seed."
        " A seed draws the order of sentences and the folds."
    )
    yield f"{page.significance(numbers['trials'])}\n"
    methods = setting["methods"]
    for title, part, printed in (
        ("Table 2: stacking, development data", "dev", DEV),
        ("Table 6: stacking, test data", "test", TEST),
    ):
        yield f"### {title}\n"
        rows = []
        for name, cells in printed.items():
            own = methods[name]["scores"][part]
            rows.append([name, f"{own['precision']:.2f}", f"{own['recall']:.2f}", page.score(own), *cells])
        yield from page.table(["method", "P", "R", "F", "paper: P", "paper: R", "paper: F"], rows)
        tests = [
            [name, reference, *page.difference(test[part])]
            for name, own in methods.items()
            for reference, test in own["against"].items()
        ]
        yield from page.table(["method", "beside", f"F on {part}", "p"], tests)
    yield from page.findings(setting["findings"])
    yield from page.cost(methods)


STUDIES = [Study("sun-wan-2012-stacking", 2, settings, train, lines, (CTAG, GUIDED), FINDINGS)]
