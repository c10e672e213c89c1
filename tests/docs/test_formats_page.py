"""The worked examples of docs/formats.md: each is what its section says, and survives being written again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pages import blocks, section, text_of

from tagweave.corpus.formats import FORMATS, format_of_name, recognise
from tagweave.corpus.load import load, save

if TYPE_CHECKING:
    from pathlib import Path

_EXAMPLES = [
    pytest.param(name, block.file, block.text, id=block.file)
    for name in FORMATS
    for block in blocks(section(text_of("docs/formats.md"), f"`{name}`"))
    if block.file
]


def test_every_format_has_an_example() -> None:
    assert {str(example.values[0]) for example in _EXAMPLES} == {*FORMATS}


@pytest.mark.parametrize(("name", "file", "text"), _EXAMPLES)
def test_an_example_is_told_from_its_name_or_its_lines(name: str, file: str, text: str) -> None:
    assert (format_of_name(file) or recognise(text.splitlines()).format.name) == name


@pytest.mark.parametrize(("name", "file", "text"), _EXAMPLES)
def test_an_example_survives_being_written(name: str, file: str, text: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(text, encoding="utf-8")
    corpus = load(str(tmp_path / file))
    assert corpus.tokens()
    save(corpus, str(tmp_path / f"again-{file}"), name)
    again = load(str(tmp_path / f"again-{file}"), name)
    assert [(one.forms, one.layers, one.heads, one.columns) for one in again] == [
        (one.forms, one.layers, one.heads, one.columns) for one in corpus
    ]
