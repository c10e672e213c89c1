"""Pages: files of markup, single ones or those of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tagweave.corpus.errors import CorpusError
from tagweave.corpus.text_file import STANDARD_STREAM, read_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tagweave.harvest.block import Block

_SUFFIXES = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".wiki": "mediawiki",
    ".mediawiki": "mediawiki",
    ".wikitext": "mediawiki",
}
_MAXIMUM = 4_000_000
"""Characters; a page of Wikipedia has at most 2 MB."""


def find(path: str, format: str | None = None) -> list[tuple[str, str]]:  # noqa: A002
    """The files of pages and their formats: `path` itself, or all files below it with a known suffix, sorted.

    Args:
        path: a file, a folder, or `-` for standard input.
        format: the format of all files; in a folder, all files that are not hidden are then taken, whatever their
            suffix.

    Raises:
        CorpusError: a file with an unknown format, or a folder without pages.
        FileNotFoundError: there is no such file.
    """
    if path == STANDARD_STREAM or not Path(path).is_dir():
        if (name := format or _format_of_name(path)) is None:
            suffixes = ", ".join(_SUFFIXES)
            raise CorpusError("a page whose name does not tell its format", f"`format`, or one of {suffixes}", path)
        return [(path, name)]
    files = sorted(file for file in Path(path).rglob("*") if _is_page(file, Path(path)))
    pages = [(str(file), name) for file in files if (name := format or _format_of_name(file.name))]
    if not pages:
        raise CorpusError("a folder without pages", f"files with the suffixes {', '.join(_SUFFIXES)}", path)
    return pages


def _is_page(file: Path, folder: Path) -> bool:
    return file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)


def _format_of_name(name: str) -> str | None:
    return _SUFFIXES.get(Path(name.removesuffix(".gz")).suffix.lower())


def read(path: str, format: str, of_words: bool = False) -> Iterator[Block]:  # noqa: A002
    """The blocks of a page in one of the `MARKUP_FORMATS`; `of_words` as in `tagweave.harvest.block.blocks`.

    Raises:
        CorpusError: text that is not UTF-8, too long or nested too deeply, or a parser that is not installed.
        OSError: the file cannot be read.
    """
    text = _text(path)
    try:
        return _parse(text, format, of_words)
    except ModuleNotFoundError as error:
        found = f"no package {error.name!r}"
        raise CorpusError(found, "it installed: pip install '.[markup]' in a checkout of tagweave", path) from error
    except CorpusError as error:
        raise CorpusError(error.found, error.expected, path) from error


def _text(path: str) -> str:
    lines, length = [], 0
    for line in read_lines(path):
        length += len(line) + 1
        if length > _MAXIMUM:
            raise CorpusError(f"more than {_MAXIMUM:,} characters", "one page in a file", path)
        lines.append(line)
    return "\n".join(lines)


def _parse(text: str, format: str, of_words: bool) -> Iterator[Block]:  # noqa: A002
    from tagweave.harvest import html, markdown, mediawiki

    return {"markdown": markdown.read, "html": html.read, "mediawiki": mediawiki.read}[format](text, of_words)
