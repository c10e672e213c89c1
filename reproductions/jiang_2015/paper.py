"""The numbers of Jiang et al. (2015), to be printed beside ours.

Words: 20,000 sentences of the People's Daily to the CTB. Trees: syntactic dependencies of the CTB to semantic ones.
"""

from __future__ import annotations

from reproductions.jiang_2015.methods import BASELINE, DEFAULT, MERGING, MODEL_1, MODEL_2, MODEL_3, SOURCE
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


_OF_TREES = _models("Table 9", -11.56, 1.18, 1.22, 1.83)
_PROBABILITIES = tuple(
    Finding(f"Two rounds with probabilities are better than {name} (not in the paper).", DEFAULT, each, +1)
    for name, each in (("the baseline", BASELINE), ("Model 2", MODEL_2))
)

FINDINGS: dict[str, tuple[Finding, ...]] = {
    "models": (*_opposite("Table 6", -6.12, -7.60), *_models("Table 8", -3.56, 0.32, 0.34, 0.62)),
    "parsing-models": (*_opposite("Table 7"), *_OF_TREES, *_PROBABILITIES),
}
"""What the paper finds, per part."""
