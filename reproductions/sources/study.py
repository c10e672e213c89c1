"""Many sources of annotation as training data: `python -m reproductions sources`.

Taggers trained on what 47 people of Mechanical Turk marked, and on what four of the noises of NoiseBench say of one
text, scored on text that none saw. The gold standard of the training text trains one row, the limit; no other row sees
it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproductions.lab.cache import Cache, Result
from reproductions.lab.comparison import TRIALS, Measured, compare
from reproductions.lab.corpora import all_corpora
from reproductions.lab.options import study_parser
from reproductions.lab.page import opening, significance, table, write_page
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.evaluation.score import f_of_counts
from tagweave.evaluation.spans import span_scores
from tagweave.learning.run import Run, Schedule
from tagweave.models.cascades import labels_of
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.sources.answers import Answers
from tagweave.sources.layers import SourceCorpus, load_sources, with_aggregate
from tagweave.sources.methods import aggregate
from tagweave.sources.options import DEFAULT
from tagweave.training.cascades.source_rounds import SourceRounds
from tagweave.training.fit.fit import fit
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

METHODS = {
    "majority": "majority",
    "Dawid-Skene": "dawid-skene",
    "MACE": "mace",
    "HMM": "hmm",
    "BSC-seq": "bsc",
    "blend": DEFAULT,
}
BY_TURNS, GOLD, USUAL = "sources, by turns", "gold", f"{DEFAULT}, probabilities"
ROUNDS = 3
_SCHEDULE = Schedule(iterations=30, patience=5)


class Texts(NamedTuple):
    """The text with answers, its gold standard, and other text to choose iterations by and to score."""

    answers: Answers
    gold: Corpus
    dev: Corpus
    test: Corpus


@dataclass(frozen=True)
class Way:
    """A row: how labels are made of answers, and whether a model sees the best ones or their probabilities."""

    name: str
    method: str = ""
    soft: bool = False


WAYS = (
    *(Way(f"{name}, best labels", method) for name, method in METHODS.items()),
    *(Way(f"{name}, probabilities", method, soft=True) for name, method in METHODS.items()),
    Way(BY_TURNS),
    Way(GOLD),
)


def scored_rows(
    texts: Texts, seeds: int, cache: Cache, trials: int, say: Callable[[str], None], description: Result
) -> Iterator[dict[str, Any]]:
    """The rows of the table, compared with `USUAL`; `description` says what texts these are."""
    measures: dict[str, Measured] = {}
    results: dict[str, list[Result]] = {}
    for way in WAYS:
        for seed in range(seeds):
            about = {**description, "way": way.name, "seed": seed}
            results.setdefault(way.name, []).append(
                own := cache.result(f"{way.name} {seed}", about, partial(_result, way, texts, seed))
            )
            say(f"{way.name}, seed {seed}: dev {100 * own['dev']:.2f}")
        counts = [span_scores(texts.test, _read(texts.test, each["test"])).counts for each in results[way.name]]
        measures[way.name] = Measured(np.stack(counts), f_of_counts)
    for name, found in results.items():
        scores = [span_scores(texts.test, _read(texts.test, each["test"])).spans for each in found]
        yield {
            "name": name,
            "dev": [100 * each["dev"] for each in found],
            "f": [100 * each.f for each in scores],
            "precision": float(np.mean([100 * each.precision for each in scores])),
            "recall": float(np.mean([100 * each.recall for each in scores])),
            "labels": None if found[0]["labels"] is None else float(np.mean([100 * each["labels"] for each in found])),
            "seconds": float(np.mean([each["seconds"] for each in found])),
            "against": None if name == USUAL else compare(measures[name], measures[USUAL], trials),
        }


def _result(way: Way, texts: Texts, seed: int) -> Result:
    begin = time.process_time()
    recipe, run = Recipe(Task("spans"), settings={"seed": seed}), Run(_SCHEDULE)
    train, labels = _training(way, texts, recipe, seed, run)
    fitted = fit([train], recipe, texts.dev, run)
    tagger = ChainPredictor(fitted.model)
    text = texts.test.with_sentences(replace(each, layers={}) for each in texts.test)
    test = [" ".join(labels_of(sentence, tagger.guideline)) for sentence in tagger.tag(text)]
    seconds = time.process_time() - begin
    return {"dev": fitted.outcome.score, "test": test, "labels": labels, "seconds": seconds}


def _training(way: Way, texts: Texts, recipe: Recipe, seed: int, run: Run) -> tuple[Corpus, float | None]:
    """The training text, and the F of its labels."""
    answers, bare = texts.answers, _without(texts.gold)
    if way.name == GOLD:
        return replace(texts.gold, guideline=bare.guideline).map(_renamed(texts.gold.guideline, bare.guideline)), None
    if way.name == BY_TURNS:
        rounds = SourceRounds(bare, answers, recipe, {}, seed=seed, dev=texts.dev, run=run)
        believed = rounds.best(ROUNDS)
        return rounds.evidence(believed), _f(texts, believed.labels.argmax(axis=1))
    found = aggregate(answers, way.method)
    train = bare.with_sentences(with_aggregate(bare, answers, found, bare.guideline, hard=not way.soft))
    return train, _f(texts, found.best)


def _f(texts: Texts, best: Any) -> float:
    return span_scores(texts.gold, labelled(texts.gold, texts.answers.labels, best)).spans.f


def labelled(gold: Corpus, labels: tuple[str, ...], best: NDArray[np.integer]) -> Corpus:
    """The corpus with these labels instead of its own."""
    rest = iter(labels[y] for y in best.tolist())
    return gold.with_sentences(each.with_layer(gold.guideline, [(next(rest),) for _ in each.forms]) for each in gold)


def _without(gold: Corpus) -> Corpus:
    """The text alone, with the guideline of the other corpora."""
    return replace(gold, guideline="tag", layer="").map(lambda each: replace(each, layers={}))


def _renamed(old: str, new: str) -> Callable[[Any], Any]:
    return lambda each: replace(each, layers={new: each.layers[old]})


def _read(test: Corpus, lines: list[str]) -> Corpus:
    pairs = zip(test, lines, strict=True)
    return test.with_sentences(
        each.with_layer(test.guideline, [(label,) for label in line.split()]) for each, line in pairs
    )


def training_lines(found: dict[str, Any], trials: int) -> Iterator[str]:
    """The page of taggers trained on what real people marked."""
    yield from opening("Taggers of what 47 people marked, and of four noisy sources", found["command"])
    yield f"`best labels` are certain, `probabilities` are posteriors: `{USUAL}` is what `aggregate` and `train` do"
    yield f"by default. `{BY_TURNS}` is `train --method sources` with {ROUNDS} rounds at most. `gold` is the limit:"
    yield "no other row sees it. The iteration is the best on dev data.\n"
    yield "F of exact spans, in percent; in brackets each seed. The F of labels is that of the most probable labels of"
    yield "the training text.\n"
    yield from [significance(trials), ""]
    head = ["trained on", "F of labels", "dev", "test", "seeds", "P", "R", "CPU s", f"against {USUAL}", "p"]
    for each in found["texts"]:
        yield f"{each['what']}: {each['sentences']:,} sentences.\n"
        yield from [*table(head, map(_of_training, each["rows"])), ""]


def _of_training(row: dict[str, Any]) -> list[str]:
    labels, against = row["labels"], row["against"]
    means = [
        f"{np.mean(row['dev']):.2f}",
        f"**{np.mean(row['f']):.2f}**",
        f"({', '.join(f'{f:.2f}' for f in row['f'])})",
    ]
    numbers = [f"{row['precision']:.2f}", f"{row['recall']:.2f}", f"{row['seconds']:.0f}"]
    test = ["", ""] if against is None else [f"{against['difference']:+.2f}", f"{against['p_all']:.4f}"]
    return [row["name"], "" if labels is None else f"{labels:.2f}", *means, *numbers, *test]


NOISES = ("crowd", "distant", "weak", "llm")


def main(words: Sequence[str]) -> None:
    """The command."""
    parser = study_parser("sources", __doc__)
    parser.add_argument("--seeds", type=int, default=2, help="of trainings")
    parser.add_argument("--sentences", type=int, help="of every corpus, to see that it works")
    options = parser.parse_args(words)
    folder, sentences = all_corpora() / "en", options.sentences
    crowd = load_sources([str(folder / "crowd-ner/val.txt")], "3:", gold="2")
    numbers: dict[str, Any] = {"command": f"python -m reproductions sources --seeds {options.seeds}", "texts": []}
    for text, name, (answers, gold) in (
        ("`en/crowd-ner/val.txt`, 47 people", "conll2003/", answers_of_crowd(crowd, sentences)),
        (f"`en/noisebench`, the noises {', '.join(NOISES)}", "noisebench/clean.", answers_of_noises(sentences)),
    ):
        dev, test = (load(str(folder / f"{name}{part}.txt")) for part in ("dev", "test"))
        kept = (corpus.with_sentences(corpus.sentences[:sentences]) for corpus in (dev, test))
        about = {"sentences": sentences, "text": text}
        texts = Texts(answers, gold, *kept)
        rows = list(scored_rows(texts, options.seeds, Cache(options.cache), TRIALS, _say, about))
        numbers["texts"].append({"what": text, "sentences": len(gold), "rows": rows})
    write_page(options.out, "sources-training", numbers, training_lines(numbers, TRIALS))


def answers_of_crowd(crowd: SourceCorpus, sentences: int | None = None) -> tuple[Answers, Corpus]:
    """The answers of a crowd, and its gold standard beside them."""
    assert crowd.gold is not None
    kept = crowd.corpus.sentences[:sentences]
    gold = replace(crowd.corpus, guideline=crowd.gold)
    return Answers.of_sentences(kept, crowd.sources), gold.with_sentences(
        sentence.with_layers_of([crowd.gold]) for sentence in kept
    )


def answers_of_noises(sentences: int | None) -> tuple[Answers, Corpus]:
    """What the noises say, and clean labels."""
    folder = all_corpora() / "en/noisebench"
    gold = load(str(folder / "clean.train.txt"))
    texts = {name: load(str(folder / f"noise_{name}.train.txt")) for name in NOISES}
    many = []
    for aligned in zip(*(text.sentences[:sentences] for text in texts.values()), strict=True):
        layers = {name: each.layers[texts[name].guideline] for name, each in zip(texts, aligned, strict=True)}
        many.append(Sentence(aligned[0].forms, layers))
    return Answers.of_sentences(many, NOISES), gold.with_sentences(gold.sentences[:sentences])


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
