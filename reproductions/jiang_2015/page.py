"""The page of a part, drawn from its numbers alone, and beside them those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from reproductions.jiang_2015.methods import BASELINE, MODEL_1, MODEL_3, PROBABILITIES, SOURCE
from reproductions.jiang_2015.wording import WORDINGS, Wording
from reproductions.lab import page as lab

_TITLES = {
    "models": "Tables 6, 8 and 12",
    "parsing-models": "Tables 7, 9 and 13",
}
_PAIR = (
    "The paper adapts from 20,000 sentences of the People's Daily to the CTB, which is about as large, and newspaper as"
    " well. Here the target is a novel under the guideline of the CTB, an eighth as large: the two differ in their"
    " guideline and in their domain."
)
_MODELS = (
    "Model 1 is guided by the source model, which annotates every text first. Model 2 is an ordinary model of the"
    " target corpus and the source corpus, transformed once. Model 3 is the same after iterative training with"
    " predict-self re-estimation: lambda is what is best on dev after one transformation, and then the number of rounds"
    " is."
)
_TREES = (
    "The paper adapts from syntactic dependencies of Chinese newspaper text to semantic ones of the same newspaper, of"
    " 244,000 words. Here the source has content heads, of English web text; the target has function heads, of English"
    " newspaper text. Trees are unlabelled, and features look at forms and XPOS alone."
)
_PROBABILITIES = (
    "Not in the paper, but the method `transform` of the package: in `Model 2, probabilities` the transformed source"
    " has the transfer model's probabilities of all heads in place of its best trees. `two rounds, probabilities`, its"
    " default, in addition guides that transfer model by trees which a first one, in the opposite direction, has made"
    " of the target's own. Both end in an ordinary model, which takes the time of Model 2."
)
_LESS = (
    "To keep the cost down, the source is a random sample, and there are fewer iterations, values of lambda and rounds"
    " than in the paper (steps of 0.05, 10 rounds)."
)
_NOTES = {
    "models": (
        _PAIR,
        _MODELS,
        "Beside the paper's learner and features stand others, which are better here; there lambda is 0 or 0.3.",
    ),
    "parsing-models": (_TREES, _MODELS, _PROBABILITIES, _LESS),
}


def lines(summary: dict[str, Any], plots: Sequence[str]) -> Iterator[str]:
    """The page, line by line."""
    part, words = summary["part"], WORDINGS[summary["structure"]]
    title = f"Jiang et al. (2015): {_TITLES[part]}"

    def of_setting(setting: dict[str, Any]) -> Iterator[str]:
        yield from _sizes(setting)
        yield from _opposite(setting["methods"], words)
        yield from _models(setting, words)
        yield from _quicker(setting, words)
        yield from _kinds(setting["by tag"], words)
        yield from lab.findings(setting["findings"])

    yield from lab.of_paper(title, summary, _NOTES[part], _setup(summary, words), of_setting)
    yield from lab.plots_below(plots, lab.FARTHEST)


def _setup(summary: dict[str, Any], words: Wording) -> Iterator[str]:
    yield lab.early_stopping(summary["settings"][0]["schedule"])
    yield f"- Scores are {words.score}, x 100, means over the seeds; in brackets each seed. {words.seed}"
    yield lab.significance(summary["trials"])


def _sizes(setting: dict[str, Any]) -> Iterator[str]:
    for side, parts in setting["sizes"].items():
        yield f"- {side.capitalize()}: {lab.sizes(parts)}."
    recipe = dict(setting["recipe"])
    learner, more = recipe.pop("learner"), {key: recipe.pop(key) for key in ("guide features",) if key in recipe}
    settings = "".join(f", {name} {value}" for name, value in recipe.items())
    yield f"- Learner: {learner}{settings}{''.join(f'; {name}: {value}' for name, value in more.items())}."
    yield ""


def _opposite(methods: dict[str, Any], words: Wording) -> Iterator[str]:
    yield f"### {words.opposite}\n"
    rows = []
    for method in (BASELINE, SOURCE):
        scores, printed = methods[method.name]["scores"], words.opposite_paper.get(method.name, ())
        rows.append([method.name, lab.score(scores["test"]), lab.score(scores["source test"]), *printed])
    yield from lab.table(["model", "target test", "source test", *words.opposite_heads], rows)


def _models(setting: dict[str, Any], words: Wording) -> Iterator[str]:
    yield f"### {words.models}\n"
    rows, decoding = [], setting["decoding"]
    printed = {**words.models_paper, **{each.name: ("-",) * len(words.models_heads) for each in PROBABILITIES}}
    for name in (name for name in printed if name in setting["methods"]):
        found = setting["methods"][name]
        scores = [lab.score(found["scores"][part]) for part in ("dev", "test")]
        tests = [_test(found["against"].get(each.name, {}).get("test")) for each in (BASELINE, MODEL_1)]
        times = _times(decoding["seconds"].get(name), decoding["length"])
        rows.append([name, _way(found), *scores, *tests, *times, *printed[name]])
    head = ["method", "rounds, lambda", "dev", "test", "to baseline, p", "to Model 1, p", "seconds"]
    yield from lab.table([*head, f"{decoding['unit']}/s", *words.models_heads], rows)
    yield (
        f"Seconds: of the {decoding['length']:,} {decoding['unit']} of the test data, {words.decoding}; one thread, the"
        " models in turn in one process, the best of several; means over the seeds.\n"
    )


def _times(seconds: Sequence[float] | None, length: int) -> tuple[str, str]:
    """The mean of the seconds, and how much is decoded in one."""
    if seconds is None:
        return "-", "-"
    return f"{np.mean(seconds):.3f}", f"{length / np.mean(seconds):,.0f}"


def _quicker(setting: dict[str, Any], words: Wording) -> Iterator[str]:
    """What a user asks: is the ordinary model as good as the cascade, and how much quicker?"""
    model_1, model_3 = (np.mean(setting["decoding"]["seconds"][each.name]) for each in (MODEL_1, MODEL_3))
    test, (time, gain) = setting["methods"][MODEL_3.name]["against"][MODEL_1.name]["test"], words.quicker
    yield (
        f"Model 3 takes {100 * model_3 / model_1:.0f} % of the time of Model 1 (paper: {time}), and its {words.score}"
        f" on test is {test['difference']:+.2f} points from that of Model 1, p {test['p_all']:.4f} (paper: {gain}).\n"
    )


def _kinds(found: Mapping[str, Any], words: Wording) -> Iterator[str]:
    yield f"### {words.kinds}\n"
    rows = []
    for each in found["rows"]:
        numbers = [f"{each[name]:.2f}" for name in ("share", "first", "second")]
        trend = "↑" if each["second"] > each["first"] else "↓"
        printed = words.kinds_paper.get(each["tag"], ("-",) * len(words.kinds_heads))
        rows.append([each["tag"], *numbers, trend, *printed])
    yield from lab.table([words.kind, "share", "baseline", "Model 3", "trend", *words.kinds_heads], rows)
    least, change = found["least share"], found["least change"]
    yield (
        f"{words.kind.capitalize()}s of more than {least:g} % of the {words.item} whose recall changes by more than"
        f" {change:g} points, on test.{words.kinds_note and ' '}{words.kinds_note}\n"
    )


def _way(found: Mapping[str, Any]) -> str:
    """How often a method transforms, and with which lambda, for every seed."""
    if "round" not in found:
        return "-"
    ways = zip(found["round"], found["way back"], strict=True)
    return "; ".join(dict.fromkeys(f"{number}, {share:g}" for number, share in ways))


def _test(test: Mapping[str, Any] | None) -> str:
    return "-" if test is None else f"{test['difference']:+.2f}, {test['p_all']:.4f}"
