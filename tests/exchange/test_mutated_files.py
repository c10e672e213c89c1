"""Files of other tools, written, read again, and changed at random."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks import ATTACKS, made

from benchmarks.exchange_child import Child, Taken, child
from benchmarks.exchange_formats import LABELS, MEGABYTES, SECONDS, Kind, Outcomes, kept, kinds, outcomes, table

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


@pytest.fixture(scope="module")
def process() -> Iterator[Child]:
    with child() as found:
        yield found


def test_every_file_is_read_or_refused(kind: Kind, tmp_path: Path, process: Child) -> None:
    """Bytes, values and sizes, inside zips and what is compressed: an error says what is wrong, whatever it is."""
    found = outcomes(kind, 40, tmp_path, process)
    assert not found.faults and found.counts.total() == 40


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_take_little_or_are_refused(name: str, tmp_path: Path, process: Child) -> None:
    tool, path = made(name, tmp_path)
    taken = process.read(tool, str(path))
    assert taken.result in ("read", "refused"), taken
    assert taken.megabytes <= MEGABYTES and taken.seconds <= SECONDS, taken
    assert len(taken.said) <= 1000


def test_what_is_kept(kind: Kind, tmp_path: Path) -> None:
    expected = {
        "labels": "yes",
        "unknown": "`--unmarked`" if kind.name in BY_OFFSETS else "yes",
        "scores": "yes" if kind.name in SCORED else "no" if kind.name in BY_OFFSETS else "refused",
    }
    assert {each: kept(kind, each, tmp_path) for each in expected} == expected


def test_the_table_names_what_went_wrong() -> None:
    cells, found = dict.fromkeys((*LABELS, "trees"), "yes"), Outcomes()
    for taken in (("read", "", 99, 1), ("refused", "", 2000, 20), ("KeyError", "a", 1, 1), ("read", "b", 2000, 1)):
        found.add(Taken(*taken))
    assert "| x | yes | yes | yes | yes | yes | 1 | 1 | 2 | 2000 | 20.0 |" in table([("x", cells, found)], 4)
    assert found.faults == ["KeyError: a (1 MB, 1.0 s)", "too much: b (2000 MB, 1.0 s)"]
