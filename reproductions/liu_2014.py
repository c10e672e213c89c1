"""Liu et al. (2014): a segmenter for a novel from words and raw text that cost nothing (Figure 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tagweave as tw
from reproductions.lab import page
from reproductions.lab.comparison import Finding, counts_of, unknown_counts
from reproductions.lab.corpora import Parts, corpora_folder, of_sample, read_parts
from reproductions.lab.models import size, trained
from reproductions.lab.study import Numbers, Result, Setting, Study
from tagweave.corpus.corpus import Corpus
from tagweave.features.templates import PRESETS

PHRASE = 4
"""Characters from which an entry may be several words: names of people have two or three, of things often more."""
BASELINE, ALL = "baseline", "+ PA (lexicon, phrases)"
SHARES = {BASELINE: 0.0, **{f"{ALL}, 1/{part}": 1 / part for part in (16, 8, 4, 2)}, ALL: 1.0}
"""Of the raw sentences, by method."""
ITERATIONS = 3
"""Chosen on development data of Zhuxian: a fixed number, and no development data in training."""
SETTINGS = {"rate": 0.05, "batch": 16, "initial": 1e-8}


class Domain(NamedTuple):
    """Full annotation of news; gold words, raw text and a lexicon of a novel."""

    news: Corpus
    novel: Parts
    lexicon: Sequence[str]

    def about(self) -> Numbers:
        """Return what the page tells of them."""
        sizes = {"train": [len(self.news), self.news.tokens()]}
        sizes |= {name: own for name, own in self.novel.sizes().items() if name != "train"}
        return {"sizes": sizes, "raw": len(self.novel.train), "lexicon": len(self.lexicon)}


def settings(quick: bool) -> list[Setting]:
    """Zhuxian for a segmenter of the People's Daily, with a list of its names; or the bundled sample."""
    if quick:
        (news,), novel = of_sample("pd.txt", "pd", 40), Parts(*of_sample("ctb.txt", "pd", 40, 60, 80))
        lexicon = sorted({form for each in novel.train for form in each.forms if len(form) > 1})
    else:
        news, novel = read_parts("zh/pd199801", "pd").train, read_parts("zh/zx", "pd")
        lexicon = (corpora_folder() / "zh/lexicons/zhuxian-names.txt").read_text(encoding="utf-8").splitlines()
    domain = Domain(news, novel, lexicon)
    return [Setting("raw-text", "Raw sentences of Zhuxian", lambda _: domain, list(SHARES), Domain.about)]


def train(domain: Domain, method: str, seed: int) -> Result:
    """Train on news and on a share of the raw sentences, in which words of the lexicon are marked."""
    raw = ["".join(sentence.forms) for sentence in domain.novel.train]
    order = np.random.default_rng(seed).permutation(len(raw))
    lines = [raw[at] for at in sorted(order[: round(SHARES[method] * len(raw))].tolist())]
    harvest = tw.harvest_lexicon(lines, domain.lexicon, guideline="pd", phrases=PHRASE) if lines else ()
    corpora = [domain.news, *([harvest] if len(harvest) else [])]
    options = {"task": "segment", "method": "single", "templates": PRESETS["liu-2014"].texts, "settings": SETTINGS}
    model = trained(corpora, seed=seed, iterations=ITERATIONS, average_seeds=1, **options)
    known = frozenset(form for sentence in domain.news for form in sentence.forms)
    counts = {}
    for name, gold in (("dev", domain.novel.dev), ("test", domain.novel.test)):
        answer = model.relabelled(gold)
        counts[name], counts[f"{name} OOV"] = counts_of(gold, answer, "F"), unknown_counts(gold, answer, known)
    return {"counts": counts, "sentences": len(harvest), **size(model)}


MEASURES = {"dev": "dev F", "dev OOV": "dev OOV", "test": "test F", "test OOV": "test OOV"}


def lines(numbers: Numbers) -> Iterator[str]:
    """Yield the lines of the page."""
    yield from page.opening("Liu et al. (2014): Figure 3", numbers["command"])
    yield (
        "`+ PA (lexicon)`: the words of a lexicon of the target domain, found in raw sentences of that domain by"
        " forward and backward maximum matching, both (2.1); the rest of these sentences is left open.\n"
    )
    yield (
        "`phrases`: entries of four characters and more may be several words, so their inside is left open, too; this"
        " is no part of the paper.\n"
    )
    yield "A seed also draws the share of the raw sentences. The paper has 1,000 to 32,000 of them; here are fewer.\n"
    yield f"- Every training: AdaGrad (rate 0.05, batch 16), {ITERATIONS} iterations; the last one is kept."
    yield (
        "- F of words and OOV, the recall of words that the source corpus lacks, x 100, means over the seeds; in"
        " brackets each seed."
    )
    yield "- Sentences: partially annotated ones."
    yield page.significance(numbers["trials"])
    (setting,) = numbers["settings"]
    yield f"- Fully annotated: {page.sizes(setting['sizes'])}."
    yield f"- Raw sentences of the target domain: {setting['raw']:,}; words of its lexicon: {setting['lexicon']:,}.\n"
    yield "### Figure 3: how many raw sentences\n"
    methods = setting["methods"]
    yield from page.table(
        ["method", "sentences", *MEASURES.values()],
        (
            [name, page.number_range(own["sentences"]), *(page.score(own["scores"][each]) for each in MEASURES)]
            for name, own in methods.items()
        ),
    )
    rows = [
        [name, reference, *(cell for each in MEASURES for cell in page.difference(tests[each]))]
        for name, own in methods.items()
        for reference, tests in own["against"].items()
        if name != BASELINE
    ]
    yield from page.table(["method", "beside", *(cell for name in MEASURES.values() for cell in (name, "p"))], rows)
    yield from page.findings(setting["findings"])
    yield from page.cost(methods)
    yield f"![F by the number of raw sentences](pictures/{PICTURE})\n"


PICTURE = "liu-2014-raw-text.png"


def draw(numbers: Numbers, folder: Path) -> None:
    """Draw F and recall of unknown words on development data over the number of sentences."""
    methods = numbers["settings"][0]["methods"].values()
    series = {title: [own["scores"][key]["mean"] for own in methods] for key, title in MEASURES.items() if "dev" in key}
    positions = [float(np.mean(own["sentences"])) for own in methods]
    path = folder / "pictures" / PICTURE
    page.curve(path, positions, series, score="percent", axis="partially annotated sentences", title="Figure 3")


FINDINGS = (
    Finding(
        "More raw sentences are better, up to 16,000 (Figure 3): all than a sixteenth of them.",
        ALL,
        f"{ALL}, 1/16",
        1,
        measure="dev",
    ),
    Finding(
        "Beyond that the number makes no difference (Figure 3): all are like half of them.",
        ALL,
        f"{ALL}, 1/2",
        0,
        measure="dev",
    ),
)
STUDIES = [Study("liu-2014-raw-text", 3, settings, train, lines, (BASELINE,), FINDINGS, draw)]
