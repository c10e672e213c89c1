"""The numbers of Jiang et al. (2015), to be printed beside ours: 20,000 sentences of the People's Daily to the CTB."""

from __future__ import annotations

from tagweave.reproduce.comparison import Finding
from tagweave.reproduce.jiang_2015.methods import (
    BASELINE,
    FILTERED,
    MERGING,
    MODEL_1,
    MODEL_2,
    MODEL_3,
    ONE_ROUND,
    ROUNDS,
    SOURCE,
    in_rounds,
)

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

FINDINGS: dict[str, tuple[Finding, ...]] = {
    "models": (
        Finding("Under the target guideline the source model is worse (Table 6).", SOURCE, BASELINE, -1, -6.12),
        Finding(
            "Under the source guideline the target model is worse (Table 6).",
            BASELINE,
            SOURCE,
            -1,
            -7.60,
            "source test",
        ),
        Finding("Merging is worse than the baseline (Table 8).", MERGING, BASELINE, -1, -3.56),
        Finding("Model 1 is better than the baseline (Table 8).", MODEL_1, BASELINE, +1, 0.32),
        Finding("Model 2 is about as good as Model 1 (Table 8).", MODEL_2, MODEL_1, 0, 0.02),
        Finding("Model 3 is better than the baseline (Table 8).", MODEL_3, BASELINE, +1, 0.62),
        Finding("Model 3 is better than Model 1 (Table 8).", MODEL_3, MODEL_1, +1, 0.30),
    ),
    "predict-self": (
        Finding("Filtering is slightly better than Model 2 (Figure 9).", FILTERED, MODEL_2, +1, measure="dev"),
        Finding("Re-estimation is better than Model 2 (Figure 9).", _RE_ESTIMATED, MODEL_2, +1, 0.3, "dev"),
        Finding("Re-estimation is better than filtering (Figure 9).", _RE_ESTIMATED, FILTERED, +1, measure="dev"),
        Finding(
            f"More rounds are better (Figure 7): {ROUNDS} than one.",
            in_rounds(ROUNDS, False),
            in_rounds(1, False),
            +1,
            measure="dev",
        ),
        *(
            Finding(
                f"Re-estimation is better in every round (Figure 11): in round {number}.",
                in_rounds(number, True),
                in_rounds(number, False),
                +1,
                measure="dev",
            )
            for number in range(2, ROUNDS + 1)
        ),
    ),
    "sizes": (
        Finding("Annotation adaptation is better than the baseline (Figure 13).", ONE_ROUND, BASELINE, +1),
        Finding("It is better than Model 1 (Table 8).", ONE_ROUND, MODEL_1, +1, 0.30),
    ),
}
"""What the paper finds, per part."""
