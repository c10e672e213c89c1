"""Whether `tag --precision` and `--recall` hold what they promise: `python -m benchmarks.selective`.

A model learns from TRAIN alone. Documents, or sentences where there are none, of dev and test together are then drawn
into halves, again and again: thresholds come from one half, and what they promise is looked for in the other. Only the
temperature of the model, and the line of its spans, come from all of dev. NoiseBench tells how probabilities of spans
are calibrated where labels of TRAIN are wrong, by default and with clean development data.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import mean
from typing import Any

import numpy as np

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_seeds
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.spans import OUTSIDE
from tagweave.evaluation.calibration import calibrations
from tagweave.evaluation.selective import Answers, answers, covering, precise, reach
from tagweave.learning.run import Silence
from tagweave.training.fit.calibration import calibrated
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

LEVELS = (0.9, 0.95)
SPLITS = 100
NOISES = ("expert", "crowdbest", "llm", "crowd", "distant", "weak")
Numbers = dict[str, Any]


def errors(model: Any, test: Corpus) -> dict[str, list[float]]:
    """Return expected calibration errors by kind of answer, without and with what development data taught."""
    raw = replace(model.trained, about={})
    output = model.relabelled(test)
    kinds = [calibrations(trained, test, output) for trained in (raw, model.trained)]
    return {before.of: [before.error, after.error] for before, after in zip(*kinds, strict=True)}


def joined(first: Answers, second: Answers) -> Answers:
    """Return answers to two corpora as those to one."""
    second = second._replace(unit=second.unit + 1 + first.unit.max())
    return Answers(*map(np.concatenate, zip(first, second, strict=True)))


def split(judged: Answers, level: float, seed: int) -> dict[str, float]:
    """Return what thresholds of one half say of the other: precision, recall, and how much is said for either."""
    units = np.random.default_rng(seed).permutation(np.unique(judged.unit))
    is_seen = np.isin(judged.unit, units[: len(units) // 2])
    seen, rest = judged.of(is_seen), judged.of(~is_seen)
    rest = rest.of(rest.label != OUTSIDE)
    sure = rest.is_best & reach(rest, precise(seen, level))
    least = covering(seen, level)
    wide = rest.is_best | reach(rest, least)
    return {
        "precision": float(rest.is_right[sure].mean()) if sure.any() else 1.0,
        "said": float(sure.sum() / rest.is_best.sum()),
        "recall": float(wide[rest.is_right].mean()),
        "cost": float(wide.sum() / rest.is_right.sum()),
        "promised": float(None not in least.values()),
    }


def summary(rows: Sequence[dict[str, float]], level: float) -> dict[str, float]:
    """Return means over splits, and the shares of them in which a level holds; of recall where it is promised."""
    promised = [row for row in rows if row["promised"]]
    numbers = {name: mean(row[name] for row in rows) for name in ("precision", "said", "promised")}
    numbers["precision holds"] = mean(row["precision"] >= level for row in rows)
    if promised:
        numbers |= {name: mean(row[name] for row in promised) for name in ("recall", "cost")}
        numbers["recall holds"] = mean(row["recall"] >= level for row in promised)
    return numbers


def of_corpus(task: str, argument: str) -> Numbers:
    """Measure a model of a corpus, `[GUIDELINE=]FOLDER/NAME[#LAYER]`."""
    guideline, equals, path = argument.rpartition("=")
    argument = f"{guideline}{equals}{corpora_folder()}/{path}"
    train, dev, test = (tw.load(argument.replace("NAME", name)) for name in ("train", "dev", "test"))
    model = tw.train(train, task=task, callback=Silence())
    best = (model.relabelled(corpus) for corpus in (dev, test))
    recipe = Recipe(task=Task(task, getattr(model.trained, "coding", "")))
    model.trained = calibrated(model.trained, [(model.trained, dev)], recipe)
    judged = joined(*(answers(model.trained, *pair) for pair in zip((dev, test), best, strict=True)))
    counted = judged.is_best & (judged.label != OUTSIDE)
    levels = {f"{level:g}": summary([split(judged, level, seed) for seed in range(SPLITS)], level) for level in LEVELS}
    right = float(judged.is_right[counted].mean())
    return {"right": right, "units": len(np.unique(judged.unit)), "levels": levels, "errors": errors(model, test)}


def of_noise(noise: str) -> Numbers:
    """Measure a model of noisy labels."""
    folder = corpora_folder() / "en" / "noisebench"
    train, dev, test = (
        tw.load(str(folder / f"{name}.txt")) for name in (f"noise_{noise}.train", "clean.dev", "clean.test")
    )
    return {"errors": errors(tw.train(train, dev=dev, task="spans", callback=Silence()), test)}


SETTINGS: dict[str, Callable[[], Numbers]] = {
    "CoNLL-2003, entities": partial(of_corpus, "spans", "en/conllpp/NAME.txt"),
    "CoNLL-2002, Spanish entities": partial(of_corpus, "spans", "es/conll2002/NAME.txt"),
    "NCBI, diseases": partial(of_corpus, "spans", "en/bio/ncbi-disease/NAME.txt"),
    "WNUT-17, entities": partial(of_corpus, "spans", "en/wnut17/NAME.txt"),
    "CrossNER politics, entities": partial(of_corpus, "spans", "en/crossner/politics/NAME.txt"),
    "CrossNER science, entities": partial(of_corpus, "spans", "en/crossner/science/NAME.txt"),
    "EWT, XPOS": partial(of_corpus, "tag", "xpos=en/ewt/NAME.conllu#xpos"),
    "ZX, words": partial(of_corpus, "segment", "segmentation=zh/zx/NAME.txt"),
    **{f"NoiseBench {noise}": partial(of_noise, noise) for noise in NOISES},
}


def measured(name: str, seeds: int) -> Numbers:
    """Return the numbers of a setting."""
    begin = time.process_time()
    numbers = SETTINGS[name]()
    numbers["seconds"] = time.process_time() - begin
    print(name, numbers["errors"], round(numbers["seconds"]), file=sys.stderr, flush=True)
    return numbers


def page(numbers: dict[str, Numbers], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    seconds = sum(values["seconds"] for values in numbers.values())
    lines = [
        "# How sure",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        f"in {seconds / 60:.0f} minutes of a processor. A model learns from TRAIN, by default. Documents of dev and",
        f"test, or sentences where there are none, are drawn into two halves, {SPLITS} times: thresholds come from one",
        "half, and are tried on the other. The temperature, and the line of spans, are of dev. Numbers are",
        "percentages.",
        "",
        "## `--precision`",
        "",
        "*Right*: of all that the model says. *Precision* of what is said, *said* of all: means. *Holds*: the share of",
        "halves in which precision reaches the level; where nothing is said, it does.",
        "",
        "| corpus | halves | right | level | precision | holds | said |",
        "|---|---|---|---|---|---|---|",
    ]
    of_corpora = {name: values for name, values in numbers.items() if "levels" in values}
    for name, values in of_corpora.items():
        for level, row in values["levels"].items():
            cells = [f"{100 * row['precision']:.1f}", f"{100 * row['precision holds']:.0f}", f"{100 * row['said']:.1f}"]
            head = [name, f"{values['units'] // 2:,}", f"{100 * values['right']:.1f}", f"{100 * float(level):g}"]
            lines.append(f"| {' | '.join(head + cells)} |")
    lines += [
        "",
        "## `--recall`",
        "",
        "Of tags and spans, where the first half promises the level. *Takes*: how many are said for one that is right,",
        "as a number.",
        "",
        "| corpus | level | promised | recall | holds | takes |",
        "|---|---|---|---|---|---|",
    ]
    for name, values in of_corpora.items():
        for level, row in values["levels"].items() if "words" not in values["errors"] else ():
            cells = [name, f"{100 * float(level):g}", f"{100 * row['promised']:.0f}"]
            if "recall" in row:
                cells += [f"{100 * row['recall']:.1f}", f"{100 * row['recall holds']:.0f}", f"{row['cost']:.2f}"]
            else:
                cells += [""] * 3
            lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "## Expected calibration error on test", ""]
    lines += ["| corpus | of | before | after |", "|---|---|---|---|"]
    for name, values in numbers.items():
        for of, (before, after) in values["errors"].items():
            lines.append(f"| {name} | {of} | {100 * before:.1f} | {100 * after:.1f} |")
    return [*lines, ""]


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("selective", __doc__, SETTINGS, measured, page, words, seeds=1)


if __name__ == "__main__":
    main()
