"""What two corpora with different types are worth together: `python -m benchmarks.covers`.

A corpus of entities is cut in two. The first half is marked for two of its four types, the second for the others, as
when two teams annotated for different purposes. A model of both, by `covers`, is compared with one that takes them for
complete, and with one of the first half with all types.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from statistics import mean

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_seeds
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.front.label_model import LabelModel
from tagweave.learning.run import Silence

SETTINGS = {"CoNLL-2003, English": "en/conll2003", "CoNLL-2002, Spanish": "es/conll2002"}
"""Folders of corpora."""
TYPES = (("PER", "LOC"), ("ORG", "MISC"))
"""What was marked in each half."""
BELIEVED = {"span_confidence": 1.0}
"""As if complete, many labels are wrong: by default, training would learn from development data, too."""


def marked(corpus: Corpus, types: Sequence[str]) -> Corpus:
    """Return a corpus without the spans of other types: their words are `O`."""
    name = corpus.guideline
    labels = {f"{letter}-{each}" for letter in "BI" for each in types}

    def step(sentence: Sentence) -> Sentence:
        own = (each[0] if each else OUTSIDE for each in sentence.layers[name])
        return sentence.with_layer(name, [(label,) if label in labels else (OUTSIDE,) for label in own])

    return corpus.map(step)


def halves(corpus: Corpus) -> list[Corpus]:
    """Return the first half of the sentences of a corpus, and the second."""
    middle = len(corpus) // 2
    return [corpus.with_sentences(each) for each in (corpus.sentences[:middle], corpus.sentences[middle:])]


def ways(train: Corpus) -> dict[str, Callable[..., LabelModel]]:
    """Return how models are trained, by name; each takes the rest of what `tw.train` does."""
    first, second = halves(train)
    parts = [marked(half, types) for half, types in zip((first, second), TYPES, strict=True)]
    return {
        "as if complete": lambda **rest: tw.train(parts, **rest),
        "covers": lambda **rest: tw.train(parts, covers=TYPES, **rest),
        "first half, all types": lambda **rest: tw.train(first, **rest),
    }


def measured(name: str, seeds: int) -> dict[str, list[dict[str, float]]]:
    """Return F, precision and recall on test and F on dev of each way, for each seed, in percent."""
    folder = corpora_folder() / SETTINGS[name]
    train, dev, test = (tw.load(str(folder / f"{part}.txt")) for part in ("train", "dev", "test"))
    found: dict[str, list[dict[str, float]]] = {}
    for seed in range(seeds):
        for way, trained in ways(train).items():
            model = trained(dev=dev, task="spans", seed=seed, callback=Silence(), **BELIEVED)
            (scores,) = model.evaluate(test).systems.values()
            spans = scores.spans
            values = {"F": spans.f, "P": spans.precision, "R": spans.recall, "dev": model.score}
            found.setdefault(way, []).append({key: 100 * float(value) for key, value in values.items()})
            print(name, seed, way, found[way][-1], file=sys.stderr, flush=True)
    return found


def page(found: dict[str, dict[str, list[dict[str, float]]]], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    lines = [
        "# Two corpora with different types",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        "The training corpus is cut in two. In the first half",
        f"{' and '.join(TYPES[0])} are marked, in the second {' and '.join(TYPES[1])}; all other words are `O`.",
        "All else is by defaults, but labels are believed (`--set span_confidence=1`), and complete development data",
        "choose the iteration alone. F, precision and recall of",
        f"spans on test, in percent: the mean of {seeds} seeds, in brackets F of each.",
        "",
        "- *as if complete*: the `O` of each half says that a word is in no span.",
        f"- *covers*: with `--covers {','.join(TYPES[0])} --covers {','.join(TYPES[1])}`.",
        "- *first half, all types*: the first half alone, marked for all four types.",
        "",
    ]
    for name, by_way in found.items():
        lines += [f"## {name}", "", "| way | F | P | R | F, dev |", "|---|---|---|---|---|"]
        for way, scores in by_way.items():
            f, p, r, dev = (mean(each[key] for each in scores) for key in ("F", "P", "R", "dev"))
            each = ", ".join(f"{one['F']:.2f}" for one in scores)
            lines.append(f"| {way} | **{f:.2f}** ({each}) | {p:.2f} | {r:.2f} | {dev:.2f} |")
        lines.append("")
    return lines


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("covers", __doc__, SETTINGS, measured, page, words)


if __name__ == "__main__":
    main()
