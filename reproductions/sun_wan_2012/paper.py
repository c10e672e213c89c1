"""The numbers of Sun and Wan (2012), to be printed beside ours: People's Daily to CTB 5."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from reproductions.lab.comparison import Finding
from reproductions.sun_wan_2012.methods import (
    AGAIN,
    BOTH_AGAIN,
    CHARACTERS,
    CHARACTERS_AGAIN,
    GUIDED,
    GUIDED_GIVEN,
    PIECES,
    PIECES_AGAIN,
    PIECES_GIVEN,
    PIECES_ON_AGAIN,
    SOURCE_SHARES,
    TARGET_SHARES,
    UNTAGGED,
    Method,
    sampled,
    with_source,
    with_target,
)


class Table(NamedTuple):
    """A table of our page.

    Attributes:
        title: what it corresponds to.
        gold: the data that it is of; where a setting lacks these, it has no such table.
        methods: its rows.
        printed: per method the paper's P, R and F; "-" for what it does not have.
    """

    title: str
    gold: str
    methods: tuple[Method, ...]
    printed: dict[str, tuple[str, str, str]]


def _f_alone(found: dict[str, str]) -> dict[str, tuple[str, str, str]]:
    return {name: ("-", "-", f) for name, f in found.items()}


_STACKED = (CHARACTERS, GUIDED, UNTAGGED, PIECES)
_RETRAINED = (CHARACTERS, PIECES, *AGAIN, *map(sampled, AGAIN))
_SMALLEST, _LARGEST = SOURCE_SHARES[0], SOURCE_SHARES[-1]
_HALF = TARGET_SHARES[-1]
_CURVE = {
    # #PPD of Table 3: 7,381, 14,545, 21,745, 28,767 and 35,996 sentences
    with_source(method, share).name: f
    for (method, share), f in zip(
        product((GUIDED, PIECES), SOURCE_SHARES),
        ("92.21", "93.22", "93.58", "93.55", "93.67", "93.26", "93.82", "93.96", "93.87", "94.03"),
        strict=True,
    )
}

TABLES: dict[str, tuple[Table, ...]] = {
    "stacking": (
        Table(
            "Table 2: stacking, development data",
            "dev",
            _STACKED,
            {
                CHARACTERS.name: ("93.28", "92.58", "92.93"),
                GUIDED.name: ("93.89", "93.46", "93.67"),
                UNTAGGED.name: ("-", "-", "93.73"),
                PIECES.name: ("94.07", "93.99", "94.03"),
            },
        ),
        Table(
            "Table 6: stacking, test data",
            "test",
            _STACKED,
            {CHARACTERS.name: ("93.31", "93.51", "93.41"), PIECES.name: ("94.10", "94.62", "94.36")},
        ),
    ),
    "learning-curve": (
        Table(
            "Table 3: sizes of the source corpus",
            "dev",
            (CHARACTERS, *(with_source(method, share) for method, share in product((GUIDED, PIECES), SOURCE_SHARES))),
            _f_alone({CHARACTERS.name: "92.93", **_CURVE}),
        ),
        Table(
            "Table 3: sizes of the target corpus",
            "dev",
            tuple(with_target(each, share) for share, each in product(TARGET_SHARES, (CHARACTERS, GUIDED, PIECES))),
            _f_alone({with_target(GUIDED, _HALF).name: "92.10", with_target(PIECES, _HALF).name: "92.40"}),
        ),
    ),
    "gold": (
        Table(
            "Table 4: the source annotation predicted, and given",
            "test",
            (CHARACTERS, GUIDED, PIECES, GUIDED_GIVEN, PIECES_GIVEN),
            _f_alone(
                {GUIDED.name: "93.69", PIECES.name: "94.14", GUIDED_GIVEN.name: "95.19", PIECES_GIVEN.name: "94.70"}
            ),
        ),
    ),
    "retraining": (
        Table(
            "Table 5: re-training, development data",
            "dev",
            _RETRAINED,
            {
                CHARACTERS.name: ("93.28", "92.58", "92.93"),
                PIECES.name: ("94.07", "93.99", "94.03"),
                CHARACTERS_AGAIN.name: ("94.46", "94.06", "94.26"),
                PIECES_ON_AGAIN.name: ("94.61", "94.43", "94.52"),
                PIECES_AGAIN.name: ("94.05", "94.08", "94.06"),
                BOTH_AGAIN.name: ("94.71", "94.53", "94.62"),
            },
        ),
        Table(
            "Table 6: re-training, test data",
            "test",
            _RETRAINED,
            {
                CHARACTERS.name: ("93.31", "93.51", "93.41"),
                CHARACTERS_AGAIN.name: ("93.93", "94.29", "94.11"),
                PIECES.name: ("94.10", "94.62", "94.36"),
                BOTH_AGAIN.name: ("94.42", "94.93", "94.68"),
            },
        ),
    ),
}
"""Per part its tables."""

_FEW_GUIDED, _FEW_PIECES = (with_source(method, _SMALLEST) for method in (GUIDED, PIECES))
_HALF_CHARACTERS, _HALF_GUIDED, _HALF_PIECES = (with_target(each, _HALF) for each in (CHARACTERS, GUIDED, PIECES))
_LEAST_GUIDED, _LEAST_PIECES = (with_target(each, TARGET_SHARES[0]) for each in (GUIDED, PIECES))

FINDINGS: dict[str, tuple[Finding, ...]] = {
    "stacking": (
        Finding("Feature stacking is better than the character tagger (Table 2).", GUIDED, CHARACTERS, +1, 0.74, "dev"),
        Finding("Sub-word tagging is better than feature stacking (Table 2).", PIECES, GUIDED, +1, 0.36, "dev"),
        Finding("Boundaries alone bring something (6.2).", UNTAGGED, CHARACTERS, +1, 0.80, "dev"),
        Finding("Tags of the source bring something beside boundaries (6.2).", PIECES, UNTAGGED, +1, 0.30, "dev"),
        Finding("Sub-word tagging is better than the character tagger (Table 6).", PIECES, CHARACTERS, +1, 0.95),
        Finding("(Not in the paper) It is better than feature stacking on test data.", PIECES, GUIDED, +1),
    ),
    "learning-curve": (
        Finding(
            "With little source data feature stacking is worse than the character tagger (Table 3).",
            _FEW_GUIDED,
            CHARACTERS,
            -1,
            -0.72,
            "dev",
        ),
        Finding("Sub-word tagging then is better (Table 3).", _FEW_PIECES, CHARACTERS, +1, 0.33, "dev"),
        Finding("It is better than feature stacking there (Table 3).", _FEW_PIECES, _FEW_GUIDED, +1, 1.05, "dev"),
        Finding("More source data make feature stacking better (Table 3).", GUIDED, _FEW_GUIDED, +1, 1.46, "dev"),
        Finding("More source data make sub-word tagging better (Table 3).", PIECES, _FEW_PIECES, +1, 0.77, "dev"),
        Finding(
            "With half of the target, sub-word tagging is better than feature stacking (Table 3; half of both there).",
            _HALF_PIECES,
            _HALF_GUIDED,
            +1,
            0.30,
            "dev",
        ),
        Finding(
            "(Not in the paper) With half of the target, sub-word tagging is better than the character tagger.",
            _HALF_PIECES,
            _HALF_CHARACTERS,
            +1,
            None,
            "dev",
        ),
        Finding(
            "(Not in the paper) With a quarter of the target, sub-word tagging is better than feature stacking.",
            _LEAST_PIECES,
            _LEAST_GUIDED,
            +1,
            None,
            "dev",
        ),
    ),
    "gold": (
        Finding("Feature stacking gains from given source annotation (Table 4).", GUIDED_GIVEN, GUIDED, +1, 1.50),
        Finding("Sub-word tagging does (Table 4).", PIECES_GIVEN, PIECES, +1, 0.56),
        Finding("Feature stacking then is the better one (Table 4).", GUIDED_GIVEN, PIECES_GIVEN, +1, 0.49),
        Finding("With predicted annotation it is the worse one (Table 4).", GUIDED, PIECES, -1, -0.45),
    ),
    "retraining": (
        Finding("D' makes the character tagger better (Table 5).", CHARACTERS_AGAIN, CHARACTERS, +1, 1.33, "dev"),
        Finding(
            "It is then better than sub-word tagging without D' (Table 5).", CHARACTERS_AGAIN, PIECES, +1, 0.23, "dev"
        ),
        Finding(
            "A character tagger of D' makes sub-word tagging better (Table 5).",
            PIECES_ON_AGAIN,
            PIECES,
            +1,
            0.49,
            "dev",
        ),
        Finding("D'' hardly makes a difference to sub-word tagging (Table 5).", PIECES_AGAIN, PIECES, 0, 0.03, "dev"),
        Finding("Nor does it beside D' (Table 5).", BOTH_AGAIN, PIECES_ON_AGAIN, 0, 0.10, "dev"),
        Finding("Re-training makes the character tagger better (Table 6).", CHARACTERS_AGAIN, CHARACTERS, +1, 0.70),
        Finding("Re-training makes sub-word tagging better (Table 6).", BOTH_AGAIN, PIECES, +1, 0.32),
        Finding(
            "Sub-word tagging is better than the character tagger when both are re-trained (Table 6).",
            BOTH_AGAIN,
            CHARACTERS_AGAIN,
            +1,
            0.57,
        ),
        Finding(
            "The character tagger re-trained does not reach sub-word tagging (Table 6).",
            CHARACTERS_AGAIN,
            PIECES,
            -1,
            -0.25,
        ),
        Finding(
            "(Not in the paper) Samples of D' are better than all of it.",
            sampled(PIECES_ON_AGAIN),
            PIECES_ON_AGAIN,
            +1,
            measure="dev",
        ),
        Finding(
            "(Not in the paper) Sub-word tagging gains from re-training with samples on test data.",
            sampled(PIECES_ON_AGAIN),
            PIECES,
            +1,
        ),
        Finding(
            "(Not in the paper) Re-trained so it is better than the plain character tagger on test data.",
            sampled(PIECES_ON_AGAIN),
            CHARACTERS,
            +1,
        ),
    ),
}
"""What the paper finds, per part."""
