"""Taggers of a language model's quotations, by what is believed of them: `python -m benchmarks.answers`.

The labels that a language model gave the training text of NoiseBench (Merdjanovska et al. 2024) become answers in JSON
Lines that quote, with mistakes as language models make them. Beside them are sentences that somebody has checked: all
of the clean development data, fifty of them, or none.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import tagweave as tw
from benchmarks.characters import corpora_folder
from benchmarks.processes import by_seeds
from benchmarks.scores import score
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import OUTSIDE, spans_of
from tagweave.learning.run import Silence
from tagweave.training.cascades.incomplete import ratio_of

SETTINGS = {"1,027 checked": 1027, "50 checked": 50, "none checked": 0}
"""How many sentences of the clean development data there are."""
RATIO, UNKNOWN = "the ratio of `--dev` alone", "what is not marked is unknown"
WAYS: dict[str, dict[str, Any]] = {
    "believed: what is not marked is O": {"span_confidence": 1.0},
    "`--set span_confidence=0.9`": {"span_confidence": 0.9},
    RATIO: {},
    UNKNOWN: {},
    "the default": {},
}
"""How answers are trained on, with the checked sentences as development data."""
OFFSETS, CLEAN = "the default, of labels by offsets", "the default, of clean labels"
GUIDELINES, ALONE = "checked sentences as TRAIN, answers as `--source`", "checked sentences as TRAIN, no answers"
MISSPELT, TWICE, INNER, INVENTED, CUT = 0.15, 0.05, 0.05, 0.02, 0.01
"""How often a quotation is misspelt, is given twice, comes with its last word as another one, or comes with one that is
not in the text; how often an answer is cut off."""


def misspelt(name: str, chance: random.Random) -> str:
    """Return a name with other capitals, signs or blanks, or another letter."""
    at = chance.randrange(len(name))
    ways = [
        name.title() if name.isupper() else name.lower(),
        name.replace("-", " ") if "-" in name else name.replace(" ", "-"),
        name.replace(" ", "") if " " in name else f'"{name}"',
        name[:at] + chance.choice("aeinrst") + name[at + 1 :],
        name[:at] + name[at + 1 :],
    ]
    return chance.choice(ways)


def names_in(sentence: Sentence, layer: str) -> Iterator[tuple[str, str]]:
    """Yield the words and the type of each span."""
    for (span,) in spans_of(sentence.layers[layer], sentence.location):
        if span.label not in (None, OUTSIDE):
            yield " ".join(sentence.forms[span.start : span.stop]), str(span.label)


def answer(sentence: Sentence, layer: str, chance: random.Random) -> str:
    """Return the line in which a language model quotes the spans of a sentence."""
    quoted: list[tuple[str, str]] = []
    for name, label in dict.fromkeys(names_in(sentence, layer)):
        quoted.append((misspelt(name, chance) if chance.random() < MISSPELT else name, label))
        if chance.random() < TWICE:
            quoted.append((name, label))
        if " " in name and chance.random() < INNER:
            quoted.append((name.rpartition(" ")[2], label))
        if chance.random() < INVENTED:
            quoted.append((f"{name} {chance.choice(sentence.forms)}", label))
    spans = [{"text": name, "label": label} for name, label in quoted]
    line = json.dumps({"text": " ".join(sentence.forms), "spans": spans}, ensure_ascii=False)
    return line[: chance.randrange(len(line))] if chance.random() < CUT else line


def as_corpora(noisy: Corpus, chance: random.Random, folder: Path) -> dict[str, Corpus]:
    """Return answers to a text as corpora, by what is taken of tokens that are not marked."""
    path = folder / "answers.jsonl"
    path.write_text("".join(f"{answer(each, noisy.guideline, chance)}\n" for each in noisy), "utf-8")
    ways: dict[str, Any] = {"tokens": "blanks", "misaligned": "widen", "tell": lambda line: None}
    return {name: tw.read_documents("answers", path, unmarked=name, **ways) for name in ("outside", "unknown")}


def runs(seed: int, count: int, folder: Path) -> Iterator[tuple[str, dict[str, Any], Corpus | None]]:
    """Yield each way, the arguments of its training, and the clean sentences, if any are left, that judge it beside the
    test set."""
    noisy, clean, whole = (read(f"{each}.txt") for each in ("noise_llm.train", "clean.train", "clean.dev"))
    chance = random.Random(seed)
    corpora = as_corpora(noisy, chance, folder)
    numbers = {*chance.sample(range(len(whole)), count)}
    checked = whole.with_sentences(each for at, each in enumerate(whole) if at in numbers)
    rest = whole.with_sentences(each for at, each in enumerate(whole) if at not in numbers)
    dev = checked if count else None
    judge = rest if len(rest) else None  # checked sentences may become training text
    for way, options in WAYS.items():
        own = {"entity_ratio": ratio_of(dev)} if dev and way in (RATIO, UNKNOWN) else {}
        if dev or way not in (RATIO, UNKNOWN):
            corpus = corpora["unknown" if way == UNKNOWN else "outside"]
            yield way, {"target": corpus, "dev": dev, **options, **own}, judge
    yield OFFSETS, {"target": noisy, "dev": dev}, judge
    yield CLEAN, {"target": clean, "dev": dev}, judge
    if dev:
        tw.save(dev, str(folder / "checked.col"))
        yield ALONE, {"target": dev}, judge
        files = {"target": f"checked={folder / 'checked.col'}", "sources": f"llm={folder / 'answers.jsonl'}"}
        yield GUIDELINES, files, judge


def read(name: str) -> Corpus:
    found: Corpus = tw.load(str(corpora_folder() / "en" / "noisebench" / name))
    return found


Scores = dict[str, dict[str, list[float]]]
"""F on development and test data of each way, a number for each seed."""


def measured(name: str, seeds: int) -> Scores:
    """Train and judge each way."""
    found: Scores = {}
    test = read("clean.test.txt")
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            for way, arguments, judge in runs(seed, SETTINGS[name], Path(folder)):
                model = tw.train(task="spans", seed=seed, callback=Silence(), **arguments)
                row = found.setdefault(way, {"dev": [], "test": []})
                row["dev"] += [] if judge is None else [score(model, judge)]
                row["test"].append(score(model, test))
                last = {part: round(each[-1], 2) for part, each in row.items() if each}
                print(name, seed, way, last, file=sys.stderr, flush=True)
    return found


def page(found: dict[str, Scores], command: str, seeds: int) -> list[str]:
    """Return the lines of the page."""
    ways = list(dict.fromkeys(way for each in found.values() for way in each))
    columns = [
        (name, part)
        for name, scores in found.items()
        for part in ("dev", "test")
        if any(of_way[part] for of_way in scores.values())
    ]
    return [
        "# Answers of a language model",
        "",
        "Written by",
        "",
        f"    {command}",
        "",
        "The labels `noise_llm` of the training text of NoiseBench, as",
        "[answers](../exchange.md#answers-of-a-language-model)",
        f"that quote: {100 * MISSPELT:.0f} % of the quotations are misspelt, {100 * TWICE:.0f} % are given twice,"
        f" {100 * INNER:.0f} % of those of several words",
        f"come with their last word as another one, {100 * INVENTED:.0f} % with one that is not in the text, and"
        f" {100 * CUT:.0f} % of the lines are cut off.",
        f"F of exact spans in percent, the mean of {seeds} seeds, which draw these mistakes, the checked sentences and",
        "the order of training. The columns *dev* are the clean development sentences that are not among the checked"
        " ones;",
        "*test* is the clean test set.",
        "",
        f"| trained on the answers | {' | '.join(f'{name}: {part}' for name, part in columns)} |",
        "|---|" + "---|" * len(columns),
        *(f"| {way} | {' | '.join(_mean(found[name], way, part) for name, part in columns)} |" for way in ways),
        "",
    ]


def _mean(scores: Scores, way: str, part: str) -> str:
    values = scores.get(way, {}).get(part)
    return f"{mean(values):.2f}" if values else ""


def main(words: Sequence[str] | None = None) -> None:
    """The command."""
    by_seeds("answers", __doc__, SETTINGS, measured, page, words, seeds=2)


if __name__ == "__main__":
    main()
