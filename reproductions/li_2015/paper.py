"""The numbers of Li et al. (2015), to be printed beside ours: on CTB 5.1, with the People's Daily of half a year."""

from __future__ import annotations

from typing import NamedTuple

from reproductions.lab.comparison import Finding
from reproductions.li_2015.methods import (
    BASELINE,
    COMPLETE,
    CONVERTED,
    COUPLED,
    FEW_SOURCES,
    JOINT,
    MANY_SOURCES,
    MERGED,
    PRUNED,
    PRUNED_COMPLETE,
    RELAXED,
    SEPARATE,
    TIGHT,
    TWO_STAGE,
    Method,
)
from reproductions.li_2015.scores import HARD


class Printed(NamedTuple):
    """A row of the paper: accuracy on dev and test, and the number of bundled tags."""

    dev: float | None = None
    test: float | None = None
    labels: int | None = None


class Table(NamedTuple):
    """A table of our page.

    Attributes:
        title: what it corresponds to.
        methods: its rows.
        printed: per method the paper's row; a method that is not there is not in the paper's table.
    """

    title: str
    methods: tuple[Method, ...]
    printed: dict[str, Printed]


_BASELINE = Printed(94.28, 94.10, 33)
_COUPLED = Printed(95.10, 95.00, 179)

TABLES: dict[str, tuple[Table, ...]] = {
    "tagging": (
        Table(
            "Table 3: the coupled model and its rivals",
            (BASELINE, MERGED, TWO_STAGE, COUPLED),
            {BASELINE.name: _BASELINE, TWO_STAGE.name: Printed(test=94.81), COUPLED.name: _COUPLED},
        ),
        Table(
            "Table 4: separate and joint features",
            (BASELINE, SEPARATE, JOINT, COUPLED),
            {
                BASELINE.name: _BASELINE,
                SEPARATE.name: Printed(94.36, 94.43, 179),
                JOINT.name: Printed(92.92, 92.90, 179),
                COUPLED.name: _COUPLED,
            },
        ),
        Table(
            "Table 6: the source corpus converted",
            (BASELINE, COUPLED, CONVERTED),
            {BASELINE.name: _BASELINE, COUPLED.name: _COUPLED, CONVERTED.name: Printed(95.01, 94.81, 33)},
        ),
        Table(
            "Two of the mapping functions of Figure 3",
            (TIGHT, RELAXED, COUPLED),
            {TIGHT.name: Printed(labels=145), RELAXED.name: Printed(labels=179), COUPLED.name: Printed(labels=346)},
        ),
    ),
    "mappings": (
        Table(
            "Figure 3: mapping functions",
            (BASELINE, TIGHT, RELAXED, COUPLED, COMPLETE),
            {
                TIGHT.name: Printed(labels=145),
                RELAXED.name: Printed(labels=179),
                COUPLED.name: Printed(labels=346),
                COMPLETE.name: Printed(labels=1254),
            },
        ),
        Table("Context-aware pruning, of a later paper", (COUPLED, PRUNED, COMPLETE, PRUNED_COMPLETE), {}),
    ),
    "weighting": (Table("Figure 4: N' and M'", (BASELINE, FEW_SOURCES, COUPLED, MANY_SOURCES), {}),),
    "english": (Table("As Tables 3 and 6", (BASELINE, MERGED, TWO_STAGE, COUPLED, CONVERTED), {}),),
    "conversion": (
        Table(
            "Table 5: conversion",
            (BASELINE, TWO_STAGE, COUPLED, COMPLETE),
            {
                BASELINE.name: Printed(test=90.59),
                TWO_STAGE.name: Printed(test=93.22),
                COUPLED.name: Printed(test=93.90),
            },
        ),
    ),
}
"""Per part its tables. In the paper's Tables 3, 4 and 6 the coupled model has the relaxed mapping (5.1)."""

_RIVALS = (
    Finding("The coupled model is better than the baseline (Table 3).", COUPLED, BASELINE, +1, 0.90),
    Finding("It is better than the two-stage model (Table 3).", COUPLED, TWO_STAGE, +1, 0.19),
    Finding("The two-stage model is better than the baseline (Table 3).", TWO_STAGE, BASELINE, +1, 0.71),
    Finding("With the converted corpus, the baseline is better than without (Table 6).", CONVERTED, BASELINE, +1, 0.71),
    Finding("It is then slightly worse than the coupled model (Table 6).", CONVERTED, COUPLED, -1, -0.19),
)

FINDINGS: dict[str, tuple[Finding, ...]] = {
    "tagging": (
        *_RIVALS,
        Finding(
            "Separate features alone are slightly better than the baseline (Table 4).", SEPARATE, BASELINE, +1, 0.33
        ),
        Finding("Joint features alone are worse than the baseline (Table 4).", JOINT, BASELINE, -1, -1.20),
    ),
    "mappings": (
        Finding("The tight mapping is worse than the baseline (Figure 3).", TIGHT, BASELINE, -1, measure="dev"),
        Finding("The relaxed mapping is better than the tight one (Figure 3).", RELAXED, TIGHT, +1, measure="dev"),
        Finding(
            "The automatic one is slightly better than the relaxed one (Figure 3).", COUPLED, RELAXED, +1, measure="dev"
        ),
        Finding("The complete one is like the automatic one (Figure 3).", COMPLETE, COUPLED, 0, measure="dev"),
    ),
    "weighting": (
        Finding(
            "About as much of the source as of the target is better than a fifth of that (Figure 4).",
            COUPLED,
            FEW_SOURCES,
            +1,
            measure="dev",
        ),
        Finding("It is slightly better than four times as much (Figure 4).", COUPLED, MANY_SOURCES, +1, measure="dev"),
    ),
    "english": _RIVALS,
    "conversion": (
        Finding("The coupled model is better than the baseline (Table 5).", COUPLED, BASELINE, +1, 3.31, HARD),
        Finding("It is better than the two-stage model (Table 5).", COUPLED, TWO_STAGE, +1, 0.68, HARD),
        Finding("The two-stage model is better than the baseline (Table 5).", TWO_STAGE, BASELINE, +1, 2.63, HARD),
    ),
}
"""What the paper finds, per part."""
