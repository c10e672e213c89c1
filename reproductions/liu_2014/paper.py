"""The numbers of Liu et al. (2014), to be printed beside ours: People's Daily or CTB to other domains."""

from __future__ import annotations

from typing import NamedTuple

from reproductions.lab.comparison import Finding
from reproductions.lab.run import Named
from reproductions.liu_2014.methods import (
    ALL,
    BASELINE,
    BOTH,
    COLUMNS,
    COMBINED,
    LEXICON,
    PHRASES,
    RANDOM,
    SELECTED,
    SHARES,
    lexicon_share,
    natural_share,
)


class Table(NamedTuple):
    """A table of our page.

    Attributes:
        title: what it corresponds to.
        settings: where it is shown.
        methods: its rows.
        head: the columns of the paper.
        printed: per method the paper's cells; a method that is not there is not in the paper's table.
    """

    title: str
    settings: tuple[str, ...]
    methods: tuple[Named, ...]
    head: tuple[str, ...] = ()
    printed: dict[str, tuple[str, ...]] = {}  # noqa: RUF012  the default of a tuple


TABLES: dict[str, tuple[Table, ...]] = {
    "lexicon": (
        Table(
            "Table 4: a lexicon as features, and as partial annotation",
            ("lexicon",),
            (BASELINE, COLUMNS, LEXICON, PHRASES),
            ("ZX F", "ZX OOV", "medicine F", "medicine OOV", "computer F", "computer OOV"),
            {
                BASELINE.name: ("87.50", "73.65", "91.36", "72.95", "93.16", "84.02"),
                COLUMNS.name: ("90.36", "80.69", "91.60", "74.39", "93.14", "84.27"),
                LEXICON.name: ("90.63", "84.88", "91.68", "74.99", "93.47", "85.63"),
            },
        ),
        Table("Both ways together", ("lexicon",), (BASELINE, COLUMNS, PHRASES, BOTH)),
    ),
    "raw-text": (
        Table(
            "Figure 3: how many raw sentences",
            ("raw-text",),
            (BASELINE, *map(lexicon_share, SHARES)),
        ),
    ),
    "natural": (
        Table(
            "Tables 5 and 6: sentences of pages",
            ("udc", "pages"),
            (BASELINE, ALL, RANDOM, SELECTED),
            ("computer dev F", "computer dev OOV", "computer test F", "computer test OOV", "average test F"),
            {
                BASELINE.name: ("93.56", "83.75", "93.16", "83.48", "93.00"),
                RANDOM.name: ("94.29", "86.58", "93.91", "83.48", "93.41"),
                SELECTED.name: ("95.00", "88.28", "93.93", "87.53", "93.61"),
            },
        ),
        Table(
            "Figure 4: how many sentences of pages",
            ("udc", "pages"),
            (BASELINE, *map(natural_share, SHARES)),
        ),
        Table(
            "Table 7: both sources",
            ("zx",),
            (BASELINE, PHRASES, SELECTED, COMBINED),
            ("medicine F", "computer F"),
            {
                BASELINE.name: ("91.36", "93.16"),
                PHRASES.name: ("91.68", "93.47"),
                SELECTED.name: ("92.47", "93.93"),
                COMBINED.name: ("92.63", "94.07"),
            },
        ),
    ),
}
"""Per part its tables."""

FINDINGS: dict[str, tuple[Finding, ...]] = {
    "lexicon": (
        Finding("Partial annotation is better than the baseline (Table 4).", LEXICON, BASELINE, +1, 3.13),
        Finding("It finds more unknown words (Table 4).", LEXICON, BASELINE, +1, 11.23, "test OOV"),
        Finding("Lexicon features are better than the baseline (Table 4).", COLUMNS, BASELINE, +1, 2.86),
        Finding("Partial annotation is better than lexicon features (Table 4).", LEXICON, COLUMNS, +1, 0.27),
        Finding("It finds more unknown words than these do (Table 4).", LEXICON, COLUMNS, +1, 4.19, "test OOV"),
        Finding(
            "(Not in the paper) Where long entries are phrases, it is better than lexicon features.",
            PHRASES,
            COLUMNS,
            +1,
        ),
        Finding(
            "(Not in the paper) It then finds more unknown words than these do.",
            PHRASES,
            COLUMNS,
            +1,
            measure="test OOV",
        ),
    ),
    "raw-text": (
        Finding(
            "More raw sentences are better, up to 16,000 (Figure 3): all than a sixteenth of them.",
            lexicon_share(SHARES[-1]),
            lexicon_share(SHARES[0]),
            +1,
            measure="dev",
        ),
        Finding(
            "Beyond that the number makes no difference (Figure 3): all are like half of them.",
            lexicon_share(SHARES[-1]),
            lexicon_share(SHARES[-2]),
            0,
            measure="dev",
        ),
    ),
    "natural": (
        Finding("Selected sentences are better than the baseline (Table 6, average).", SELECTED, BASELINE, +1, 0.61),
        Finding("Random ones are better than the baseline (Table 6, average).", RANDOM, BASELINE, +1, 0.41),
        Finding("Selected ones are better than random ones (Table 6, average).", SELECTED, RANDOM, +1, 0.20),
        Finding(
            "Selected ones find more unknown words than the baseline (Table 6, computer).",
            SELECTED,
            BASELINE,
            +1,
            4.05,
            "test OOV",
        ),
        Finding(
            "More sentences are better where many words are unknown (Figure 4): all than a sixteenth.",
            ALL,
            natural_share(SHARES[0]),
            +1,
        ),
        Finding("A lexicon is better than the baseline (Table 7, computer).", PHRASES, BASELINE, +1, 0.31),
        Finding("Both sources are better than the lexicon alone (Table 7, computer).", COMBINED, PHRASES, +1, 0.60),
        Finding("They are better than the pages alone (Table 7, computer).", COMBINED, SELECTED, +1, 0.14),
    ),
}
"""What the paper finds, per part."""
