"""The numbers of Jiang et al. (2015), to be printed beside ours.

Words: 20,000 sentences of the People's Daily to the CTB. Trees: syntactic dependencies of the CTB to semantic ones.
"""

from __future__ import annotations

from reproductions.jiang_2015.methods import (
    BASELINE,
    CONVERSION,
    DEFAULT,
    FILTERED,
    MERGING,
    MODEL_1,
    MODEL_2,
    MODEL_3,
    ONE_ROUND,
    ROUNDS,
    SOURCE,
    TREE_ROUNDS,
    in_rounds,
)
from reproductions.lab.comparison import Finding

TABLE_6 = {BASELINE.name: ("97.35", "86.65"), SOURCE.name: ("91.23", "94.25")}
"""F on the target's and on the source's test data."""

TABLE_8 = {
    BASELINE.name: ("97.35", "1.21"),
    MERGING.name: ("93.79", "1.33"),
    MODEL_1.name: ("97.67", "4.39"),
    MODEL_2.name: ("97.69", "1.33"),
    MODEL_3.name: ("97.97", "1.33"),
}
"""F on test data, and seconds of decoding them."""

TABLE_9 = {
    BASELINE.name: ("77.51", "6.67"),
    MERGING.name: ("65.95", "7.38"),
    MODEL_1.name: ("78.69", "15.43"),
    MODEL_2.name: ("78.73", "7.38"),
    MODEL_3.name: ("79.34", "7.38"),
}
"""Unlabelled attachment on test data, and minutes of decoding them."""

TABLE_12 = {
    "AD": ("3.99", "98.75", "96.87"),
    "CD": ("2.07", "98.79", "99.39"),
    "JJ": ("3.25", "95.01", "95.40"),
    "LC": ("1.36", "98.16", "99.08"),
    "NN": ("29.95", "97.79", "98.83"),
    "NR": ("9.81", "97.32", "98.98"),
    "VA": ("1.58", "95.27", "97.63"),
    "VV": ("13.52", "98.33", "98.61"),
}
"""By the tag of gold words: their share, and the recall of the baseline and of Model 3."""

_RE_ESTIMATED = in_rounds(1, True)


def _opposite(table: str, source: float | None = None, target: float | None = None) -> tuple[Finding, ...]:
    """Either model on the other guideline's test data."""
    worse_source = f"Under the target guideline the source model is worse ({table})."
    worse_target = f"Under the source guideline the target model is worse ({table})."
    return (
        Finding(worse_source, SOURCE, BASELINE, -1, source),
        Finding(worse_target, BASELINE, SOURCE, -1, target, "source test"),
    )


def _models(table: str, merging: float, model_1: float, model_2: float, model_3: float) -> tuple[Finding, ...]:
    """The differences to the baseline in a table of the models."""
    return (
        Finding(f"Merging is worse than the baseline ({table}).", MERGING, BASELINE, -1, merging),
        Finding(f"Model 1 is better than the baseline ({table}).", MODEL_1, BASELINE, +1, model_1),
        Finding(f"Model 2 is about as good as Model 1 ({table}).", MODEL_2, MODEL_1, 0, round(model_2 - model_1, 2)),
        Finding(f"Model 3 is better than the baseline ({table}).", MODEL_3, BASELINE, +1, model_3),
        Finding(f"Model 3 is better than Model 1 ({table}).", MODEL_3, MODEL_1, +1, round(model_3 - model_1, 2)),
    )


def _predict_self(figures: tuple[int, int, int], rounds: int, filtering: Finding, gain: float) -> tuple[Finding, ...]:
    """The figures of rounds, of lambda, and of both."""
    more, share, both = (f"(Figure {figure})" for figure in figures)
    first, last = in_rounds(1, False), in_rounds(rounds, False)
    return (
        filtering,
        Finding(f"Re-estimation is better than Model 2 {share}.", _RE_ESTIMATED, MODEL_2, +1, gain, "dev"),
        Finding(f"Re-estimation is better than filtering {share}.", _RE_ESTIMATED, FILTERED, +1, measure="dev"),
        Finding(f"More rounds are better {more}: {rounds} than one.", last, first, +1, measure="dev"),
        *(
            Finding(
                f"Re-estimation is better in every round {both}: in round {number}.",
                in_rounds(number, True),
                in_rounds(number, False),
                +1,
                measure="dev",
            )
            for number in range(2, rounds + 1)
        ),
    )


def _sizes(figure: int, table: str, gain: float) -> tuple[Finding, ...]:
    return (
        Finding(f"Annotation adaptation is better than the baseline (Figure {figure}).", ONE_ROUND, BASELINE, +1),
        Finding(f"It is better than Model 1 ({table}).", ONE_ROUND, MODEL_1, +1, gain),
    )


_FILTERED_WORDS = Finding("Filtering is slightly better than Model 2 (Figure 9).", FILTERED, MODEL_2, +1, measure="dev")
_FILTERED_TREES = Finding("Filtering is worse than Model 2 (Figure 10).", FILTERED, MODEL_2, -1, measure="dev")
_OF_TREES = _models("Table 9", -11.56, 1.18, 1.22, 1.83)
_PROBABILITIES = tuple(
    Finding(f"Two rounds with probabilities are better than {name} (not in the paper).", DEFAULT, each, +1)
    for name, each in (("the baseline", BASELINE), ("Model 2", MODEL_2))
)
_CONVERSIONS = tuple(
    Finding(f"With the gold tree of the source guideline: better than {name} (not in the paper).", CONVERSION, each, +1)
    for name, each in (("the baseline", BASELINE), ("Model 1", MODEL_1))
)

FINDINGS: dict[str, tuple[Finding, ...]] = {
    "models": (*_opposite("Table 6", -6.12, -7.60), *_models("Table 8", -3.56, 0.32, 0.34, 0.62)),
    "predict-self": _predict_self((7, 9, 11), ROUNDS, _FILTERED_WORDS, 0.3),
    "sizes": _sizes(13, "Table 8", 0.30),
    "parsing-models": (*_opposite("Table 7"), *_OF_TREES, *_PROBABILITIES),
    "parsing-perceptron": (*_opposite("Table 7"), *_OF_TREES),
    "parsing-predict-self": _predict_self((8, 10, 12), TREE_ROUNDS, _FILTERED_TREES, 0.6),
    "parsing-sizes": (*_sizes(14, "Table 9", 0.65), *_PROBABILITIES),
    "parsing-french": (*_opposite("Table 7"), *_OF_TREES, *_PROBABILITIES, *_CONVERSIONS),
}
"""What the paper finds, per part."""
