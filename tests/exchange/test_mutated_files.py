"""Files of other tools, written, read again, and changed at random."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks import ATTACKS, made

from benchmarks.exchange_formats import MEGABYTES, Child, Kind, child, kept, kinds, outcomes

KINDS = {each.name: each for each in kinds()}
NEEDS = {"spacy": "spacy"}
BY_OFFSETS = {"doccano", "label-studio", "prodigy", "answers", "brat"}
SCORED = {"label-studio", "answers", "conllu", "columns"}


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
    found = outcomes(kind, 3, tmp_path, process)
    assert not found.faults and found.counts.total() == 3


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_take_little_or_are_refused(name: str, tmp_path: Path, process: Child) -> None:
    tool, path = made(name, tmp_path)
    taken = process.read(tool, str(path))
    assert taken.result in ("read", "refused"), taken  # not the signal that ends what takes too long
    assert taken.megabytes <= MEGABYTES, taken
    assert len(taken.said) <= 1000


def test_what_is_kept(kind: Kind, tmp_path: Path) -> None:
    expected = {
        "labels": "yes",
        "unknown": "`--unmarked`" if kind.name in BY_OFFSETS else "yes",
        "scores": "yes" if kind.name in SCORED else "no" if kind.name in BY_OFFSETS else "refused",
    }
    assert {each: kept(kind, each, tmp_path) for each in expected} == expected
