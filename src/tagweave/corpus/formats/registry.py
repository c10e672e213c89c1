"""The formats by name and by file extension."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats import attributes, columns, conllu, conllu_plus, kytea, raw, segmented, tagged

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format

_ALL = (
    tagged.SLASH,
    tagged.UNDERSCORE,
    segmented.FORMAT,
    raw.FORMAT,
    kytea.FORMAT,
    conllu.FORMAT,
    conllu_plus.FORMAT,
    columns.FORMAT,
    attributes.FORMAT,
)
FORMATS: dict[str, Format] = {each.name: each for each in _ALL}


def formats() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(FORMATS)


def format_named(name: str) -> Format:
    """The format of this name.

    Raises:
        CorpusError: there is no such format.
    """
    if name not in FORMATS:
        raise CorpusError(f"the format {name!r}", f"one of {', '.join(FORMATS)}")
    return FORMATS[name]


def format_of_name(path: str) -> str | None:
    """The format of a file by its extension, ignoring `.gz`; `None` if no format has that extension."""
    suffix = PurePath(path.lower().removesuffix(".gz")).suffix
    return next((name for name, each in FORMATS.items() if suffix in each.extensions), None)


def chosen_format(name: str | None, path: str) -> Format | None:
    """The format of this name, or without a name that of a path's extension; `None` if no format has that extension.

    Raises:
        CorpusError: there is no format of this name.
    """
    name = name or format_of_name(path)
    return None if name is None else format_named(name)


def layer_names() -> frozenset[str]:
    """The names of layers in files that do not name their layers."""
    return frozenset(name for each in FORMATS.values() for name in (*each.layers, each.heads) if name is not None)
