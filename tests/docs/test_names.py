"""What the documentation names exists: modules, functions, files, make targets, formats, learners, their settings."""

from __future__ import annotations

import dataclasses
import importlib
import re
from typing import Any, get_args

from pages import PAGES, ROOT, prose, section, table, text_of

from tagweave.corpus.formats import FORMATS
from tagweave.corpus.formats.format import Format
from tagweave.features.columns import LIST_COLUMNS, SCALAR_COLUMNS
from tagweave.features.lookups import GAZETTEER_COLUMNS, LEXICON_COLUMNS
from tagweave.features.templates import PRESETS
from tagweave.training.methods.single import Strategy

_DOTTED = re.compile(r"`((?:tagweave|reproductions)(?:\.\w+)+)`")
_FILE = re.compile(r"`((?:src|tests|docs|reproductions|benchmarks)/[\w./-]+)`")
_MAKE = re.compile(r"\bmake ([a-z-]+)\b")


def resolve(name: str) -> Any:
    """The module, class, function, attribute or field of a dotted name."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            fields = getattr(found, "__dataclass_fields__", {})
            found = fields[part] if part in fields else getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


def test_dotted_names_resolve() -> None:
    for name in {name for page in PAGES for name in _DOTTED.findall(text_of(page))}:
        resolve(name)


def test_files_named_exist() -> None:
    named = {path for page in PAGES for path in _FILE.findall(prose(text_of(page)))}
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_make_targets_named_exist() -> None:
    phony = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None
    texts = (re.sub("```.*?```", "", text_of(page), flags=re.DOTALL) for page in PAGES)
    named = {target for text in texts for target in _MAKE.findall(" ".join(re.findall("`[^`]+`", text)))}
    assert named
    assert named <= set(phony[1].split())


def test_every_strategy_is_described() -> None:
    described = [row[0].strip("`") for row in table(section(text_of("docs/evidence.md"), "Strategies"))]
    assert sorted(described) == sorted(get_args(Strategy))


def test_every_format_has_a_section_and_a_row() -> None:
    text = text_of("docs/formats.md")
    rows = table(text)
    assert sorted(row[0].strip("`") for row in rows) == sorted(FORMATS)
    for row in rows:
        form = FORMATS[row[0].strip("`")]
        assert set(re.findall(r"`(\.\w+)`", row[1])) == set(form.extensions)
        assert row[2] == form.unit
        assert set(form.layers) <= set(re.findall(r"`(\w+)`", row[3]))
        assert ("heads" in row[3]) == bool(form.heads)
        assert [cell != "-" for cell in row[4:6]] == [form.partial] * 2
        assert section(text, row[0])


def test_everything_that_a_format_can_say_is_described() -> None:
    rows = table(section(text_of("docs/extending.md").replace("\n### ", "\n## "), "What a format can declare"))
    needed = {"name", "read", "write", "look", "extensions"}
    assert {row[0].strip("`") for row in rows} == {each.name for each in dataclasses.fields(Format)} - needed


def test_every_column_and_preset_is_described() -> None:
    text = text_of("docs/features.md")
    named = {name for row in table(section(text, "Columns")) for name in re.findall(r"`([\w]+)`", row[0])}
    numbered = {f"{kind}_{n}" for kind in ("prefix", "suffix") for n in range(1, 100)} & {*SCALAR_COLUMNS}
    assert (
        named - {"prefix_N", "suffix_N", "cluster", "cluster_N"}
        == {*SCALAR_COLUMNS, *LIST_COLUMNS, *LEXICON_COLUMNS, *GAZETTEER_COLUMNS} - numbered
    )
    assert [row[0].strip("`") for row in table(section(text, "Presets"))] == list(PRESETS)
