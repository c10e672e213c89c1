from __future__ import annotations

from pathlib import Path

import pytest

from tagweave.corpus.load import load
from tagweave.training.task import guessed_task

CHUNKS = "Anna\tB-PER\nBell\tI-PER\nsat\tO\n\n"


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (CHUNKS, "spans"),
        (CHUNKS.replace("\tO", "\t_"), "spans"),
        (CHUNKS.replace("\tO", "\tVB"), "tag"),
        ("a\tDT\nman\tNN\n\n", "tag"),
        ("a\tO\nman\tO\n\n", "tag"),
        ("Anna\tS-PER\nsat\tO\n\n", "spans"),
    ],
)
def test_labels_that_code_chunks_mean_spans(text: str, task: str, tmp_path: Path) -> None:
    path, lines = tmp_path / "a.conll", []
    path.write_text(text, encoding="utf-8")
    for corpus in (f"{path}", load(str(path))):
        assert guessed_task(corpus, None, lines.append) == task
    assert len(lines) == (2 if task == "spans" else 0)
