"""The rows of every table: corpora, and ways to train on them.

An option `DEV` stands for the file of development data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from reproductions.entities.rival import POS
from tagweave.features.templates import PRESETS

DEV = "DEV"
CRFSUITE = "python-crfsuite"
_RATIO = {"entity_ratio": DEV}
_FOLDS = {"incomplete": "folds"}
QUICK = {"settings": {"batch": 16}, "patience": 3, "span_confidence": 1.0}
"""Of every training, since there are many; no second model learns from development data how far labels are wrong."""
Unmarked = Literal["", "unknown"]


@dataclass(frozen=True)
class Way:
    """A way to train.

    Attributes:
        name: in the table.
        options: of `tw.train`.
        unmarked: what becomes of `O` in the training data.
        clusters: whether it gets word clusters of raw text.
        rival: whether it is python-crfsuite, with the features of its tutorial; it takes what is unknown for `O`.
        same_features: whether it is `ChainCRF` with the features and parameters of the rival.
        dictionary: options of `tw.harvest_gazetteer`, by which dictionaries mark the training data.
        learns: whether a model is trained at all; otherwise the dictionaries mark the test data.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    unmarked: Unmarked = ""
    clusters: bool = False
    rival: bool = False
    same_features: bool = False
    dictionary: Mapping[str, Any] = field(default_factory=dict)
    learns: bool = True


@dataclass(frozen=True)
class Setting:
    """Training data, and what is compared on them; the first way is the one that others are tested against.

    Attributes:
        title: in the page.
        folder, train, dev: the corpora; without development data, training takes its usual number of iterations.
        ways: the rivals.
        lists: the dictionaries of the folder, as a pattern of file names.
        held_out: whether sentences of the development and test data are left out of the training data.
    """

    title: str
    folder: str
    train: str
    ways: tuple[Way, ...]
    dev: str = "dev.txt"
    lists: str = ""
    held_out: bool = False


_SLOWER = {"settings": {"batch": 16, "rate": 0.1}}
_RIVAL = Way(CRFSUITE, rival=True)
_SAME = Way("ChainCRF, the same features", same_features=True)
_FULL = (
    _RIVAL,
    _SAME,
    Way("spans"),
    Way("spans, word clusters", clusters=True),
    Way("spans, word clusters, slower", _SLOWER, clusters=True),
)
_OF_POS = (
    *(f"user:{POS}[{at}]" for at in range(-2, 3)),
    *(f"user:{POS}[{at}] user:{POS}[{at + 1}]" for at in range(-2, 2)),
    *(f"user:{POS}[{at}] user:{POS}[{at + 1}] user:{POS}[{at + 2}]" for at in range(-2, 1)),
    *(f"normal[{at}] user:{POS}[{at}]" for at in (-1, 0, 1)),
)
_POS = {"templates": (*PRESETS["spans"].texts, *_OF_POS)}
_FEW_TEMPLATES = (
    *(f"form[{at}]" for at in range(-2, 3)),
    *("form[-1] form[0]", "form[0] form[1]", "suffix_2[0]", "suffix_3[0]", "shape[0]"),
)
_LEAN = {"templates": (*_FEW_TEMPLATES, *_OF_POS), **_SLOWER}
_CHUNKS = (
    _RIVAL,
    _SAME,
    Way("spans, parts of speech", _POS),
    Way("few templates, parts of speech, slower", _LEAN),
    Way("spans, words alone"),
)
_MISSING = (
    Way("default"),
    Way(f"{CRFSUITE}, unknown as O", rival=True),
    Way("unknown as O", {"incomplete": "outside"}),
    Way("unknown as O, believed 0.1", {"incomplete": "outside", "outside_confidence": 0.1}),
    Way("entity ratio", _RATIO),
    Way("entity ratio, spans believed 0.9", {**_RATIO, "span_confidence": 0.9}),
    Way("folds", _FOLDS),
    Way("folds, soft", {**_FOLDS, "soft": True}),
    Way("entity ratio, then folds", {**_RATIO, **_FOLDS}),
    Way("entity ratio, then folds, soft", {**_RATIO, **_FOLDS, "soft": True}),
    Way("entity ratio, spans believed 0.9, word clusters", {**_RATIO, "span_confidence": 0.9}, clusters=True),
)
_DOUBT = {"span_confidence": 0.7, "outside_confidence": 0.1}
_DISTANT = (
    Way("what is not marked as O"),
    _RIVAL,
    Way("O believed 0.1, spans 0.7", _DOUBT),
    Way("unknown, entity ratio", _RATIO, "unknown"),
    Way("O believed 0.1, spans 0.7, entity ratio", {**_DOUBT, **_RATIO}),
    Way("word clusters", clusters=True),
    Way("O believed 0.1, spans 0.7, entity ratio, word clusters", {**_DOUBT, **_RATIO}, clusters=True),
)
_SHORT = tuple(way for way in _MISSING if "folds" not in way.name and not way.rival)
_FOLDED = {"fold": True, "elsewhere": "O", "every": True}
_WITHOUT_DEV = (
    Way("dictionaries, folded", dictionary=_FOLDED, learns=False),
    Way("dictionaries, exact", dictionary={**_FOLDED, "fold": False}, learns=False),
    Way("trained, O elsewhere", dictionary=_FOLDED),
    Way("trained, O believed 0.5", {"outside_confidence": 0.5}, dictionary=_FOLDED),
    Way("trained, O believed 0.1", {"outside_confidence": 0.1}, dictionary=_FOLDED),
)
_DICTIONARY = (
    *_WITHOUT_DEV,
    Way("trained, O elsewhere, spans believed 0.9", {"span_confidence": 0.9}, dictionary=_FOLDED),
    Way("trained, unknown elsewhere, entity ratio", _RATIO, dictionary={**_FOLDED, "elsewhere": "unknown"}),
    Way("trained, O believed 0.5, entity ratio", {**_RATIO, "outside_confidence": 0.5}, dictionary=_FOLDED),
)
_BC5CDR = "en/bc5cdr", "raw.txt"
_CORE, _ALL = "dictionary-core.tsv", "dictionary-*.tsv"
_EN, _ES = "en/conll2003", "es/conll2002"
_HALF, _FEW = "partial-r0.5-p0.9.txt", "partial-1000.txt"

SETTINGS: dict[str, tuple[Setting, ...]] = {
    "full": (
        Setting("CoNLL-2003, English", _EN, "train.txt", _FULL),
        Setting("CoNLL-2002, Spanish", _ES, "train.txt", _FULL),
        Setting("CoNLL-2000, chunks", "en/conll2000", "train.txt", _CHUNKS, dev=""),
    ),
    "missing": (
        Setting("English, half of the entities, a tenth of them wrong", _EN, _HALF, _MISSING),
        Setting("English, the first 1,000 entities", _EN, _FEW, _MISSING),
        Setting("Spanish, half of the entities, a tenth of them wrong", _ES, _HALF, _SHORT),
        Setting("Spanish, the first 1,000 entities", _ES, _FEW, _SHORT),
    ),
    "gazetteer": (
        Setting("A dictionary of names, no development data", *_BC5CDR, _WITHOUT_DEV, "", _CORE, held_out=True),
        Setting("A dictionary of names, with development data", *_BC5CDR, _DICTIONARY, lists=_CORE, held_out=True),
        Setting("A list that has the answers", *_BC5CDR, _DICTIONARY, lists=_ALL),
    ),
    "distant": (Setting("Wikigold, marked by a knowledge base", "en/wikigold", "distant.txt", _DISTANT),),
}
"""The settings of every part."""
