"""Files of other tools, written, read again, and changed at random."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.exchange_formats import LABELS, Kind, kept, kinds, outcomes, table

KINDS = {each.name: each for each in kinds()}
NEEDS = {"inception": "cassis", "datasets": "pyarrow", "spacy": "spacy"}
BY_OFFSETS = {"doccano", "label-studio", "prodigy", "brat", "inception", "inception, CAS JSON", "webanno-tsv"}
SCORED = {"label-studio", "inception", "inception, CAS JSON", "conllu", "conllu-plus", "columns"}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    extra = NEEDS.get(request.param.partition(",")[0])
    if extra is not None:
        pytest.importorskip(extra, reason=f"{extra} is not installed")
    return KINDS[request.param]


def test_every_file_is_read_or_refused(kind: Kind, tmp_path: Path) -> None:
    """Bytes, texts inside zips, and what is compressed: an error says what is wrong, whatever it is."""
    found = outcomes(kind, 100, tmp_path)
    assert {*found} == {"read", "refused"} and sum(found.values()) == 100


def test_what_is_kept(kind: Kind, tmp_path: Path) -> None:
    expected = {
        "labels": "yes",
        "unknown": "`--unmarked`" if kind.name in BY_OFFSETS else "yes",
        "scores": "yes" if kind.name in SCORED else "no" if kind.name in BY_OFFSETS else "refused",
    }
    assert {each: kept(kind, each, tmp_path) for each in expected} == expected


def test_the_table_names_what_went_wrong(tmp_path: Path) -> None:
    from collections import Counter

    cells = dict.fromkeys((*LABELS, "trees"), "yes")
    page = table([("x", cells, Counter(read=3, refused=5, KeyError=2))])
    assert "| x | yes | yes | yes | yes | yes | 3 | 5 | 2 |" in page
