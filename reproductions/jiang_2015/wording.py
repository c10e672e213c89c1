"""What pages and plots call the scores and tables of a structure, and the numbers of the paper beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reproductions.jiang_2015.paper import TABLE_6, TABLE_8, TABLE_9, TABLE_12

Printed = Mapping[str, tuple[str, ...]]
"""Cells of the paper, by the first cell of their row."""


@dataclass(frozen=True)
class Wording:
    """The words for one structure.

    Attributes:
        score: the first measure.
        seed: what a seed draws.
        opposite: the title of the table of each guideline's model on both.
        opposite_paper, opposite_heads: the paper's cells of it, and their heads.
        models: the title of the table of methods.
        models_paper, models_heads: likewise.
        decoding: from what to what models decode.
        quicker: the time of Model 3 in that of Model 1, and its gain over it, in the paper.
        kinds: the title of the table of recall.
        kind, item: what its rows are of.
        kinds_paper, kinds_heads: likewise.
        kinds_note: what else there is to tell.
    """

    score: str
    seed: str
    opposite: str
    opposite_paper: Printed
    opposite_heads: tuple[str, ...]
    models: str
    models_paper: Printed
    models_heads: tuple[str, ...]
    decoding: str
    quicker: tuple[str, str]
    kinds: str
    kind: str
    item: str
    kinds_paper: Printed
    kinds_heads: tuple[str, ...]
    kinds_note: str = ""


WORDINGS = {
    "words": Wording(
        score="F of words",
        seed="A seed draws the sentences of the source corpus, and the order of sentences.",
        opposite="Table 6: each guideline's model on both",
        opposite_paper=TABLE_6,
        opposite_heads=("paper: CTB", "paper: SPD"),
        models="Table 8: the models, and the time of decoding",
        models_paper=TABLE_8,
        models_heads=("paper: test", "paper: seconds"),
        decoding="from raw sentences to labels",
        quicker=("30 %", "+0.30"),
        kinds="Table 12: recall by the tag of the gold word",
        kind="tag",
        item="words",
        kinds_paper=TABLE_12,
        kinds_heads=("paper: share", "paper: baseline", "paper: adapted"),
    ),
    "trees": Wording(
        score="UAS",
        seed="A seed draws the trees of both corpora where not all are taken, and the order of sentences.",
        opposite="Table 7: each guideline's parser on both",
        opposite_paper={},
        opposite_heads=(),
        models="Table 9: the models, and the time of decoding",
        models_paper=TABLE_9,
        models_heads=("paper: test", "paper: minutes"),
        decoding="from tagged sentences to trees",
        quicker=("48 %", "+0.65"),
        kinds="Table 13: recall of arcs by the tags of head and modifier",
        kind="arc",
        item="arcs",
        kinds_paper={},
        kinds_heads=(),
        kinds_note="The paper's tags are Chinese ones: of its 15 rows 13 have a greater recall after adaptation.",
    ),
}
"""By the name of the structure."""
