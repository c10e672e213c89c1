"""Mutated models and checkpoints are used or refused: a few of what `python -m benchmarks.fuzz` tries."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzz import FAULTS, KINDS
from benchmarks.fuzz_bases import BASES
from benchmarks.fuzz_child import build, results, used

MUTATIONS = range(1, 9)


def test_every_kind_is_covered() -> None:
    assert tuple(BASES) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files_are_used_or_refused(kind: str, tmp_path: Path) -> None:
    build(kind, tmp_path)
    lines = list(results(kind, tmp_path, MUTATIONS, 7, used))
    found = [(what, *result) for (_, what), result in zip(lines[::2], lines[1::2], strict=True)]
    assert [each for each in found if each[1] in FAULTS] == []
    assert "refusals" in {result for _, result, _ in found}
