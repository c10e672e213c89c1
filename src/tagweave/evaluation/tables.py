"""Tables on a console: as wide as the terminal, or without one as wide as the tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from tagweave.corpus.characters import printable
from tagweave.display.markup import Html, element, joined, picture

_WIDE = 1000  # characters, wider than any table
_BLANKS = dict.fromkeys(map(ord, "\t\n\r"), " ")


class _Piped(Console):
    """A console that leaves the end of a broken pipe to the command: Rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def table_console(width: int = _WIDE, stderr: bool = False) -> Console:
    """Return standard output or error; in a pipe or a file, `width` characters wide."""
    console = _Piped(stderr=stderr)
    return console if console.is_terminal or "COLUMNS" in os.environ else _Piped(width=width, stderr=stderr)


def tables_as_text(render: Callable[[Console], None], width: int = _WIDE) -> str:
    """Return the output of a function that prints on a console."""
    stream = StringIO()
    render(Console(file=stream, width=width, force_jupyter=False, force_terminal=False, color_system=None))
    return stream.getvalue().rstrip("\n")


def show(content: Iterable[Text | Table], console: Console | None = None) -> None:
    """Print tables and the lines between them, by default on standard output."""
    console = console or table_console()
    for item in content:
        console.print(item)


def tables_as_html(content: Iterable[Text | Table]) -> Html:
    """Return tables and the lines between them as a part of a page."""
    parts = []
    for item in content:
        if isinstance(item, Text):
            parts.append(element("p", element("strong", item.plain) if item.style == "bold" else item.plain))
            continue
        columns = [[str(cell) for cell in column.cells] for column in item.columns]
        head = element("tr", *(element("th", str(column.header), scope="col") for column in item.columns))
        kinds = ["number" if column.justify == "right" else "" for column in item.columns]
        rows = (
            element("tr", *(element("td", cell, class_=kind) for cell, kind in zip(row, kinds, strict=True)))
            for row in zip(*columns, strict=True)
        )
        title = [element("caption", str(item.title))] if item.title else []
        parts.append(element("table", *title, head, *rows))
    return joined(parts)


class Printed:
    """A result that prints tables on a console, and shows them in a notebook."""

    __slots__ = ()

    def content(self) -> Iterator[Text | Table]:
        raise NotImplementedError

    def render(self, console: Console | None = None) -> None:
        """Print the tables, by default on standard output."""
        show(self.content(), console)

    def __str__(self) -> str:
        return tables_as_text(self.render)

    def _repr_html_(self) -> str:
        return picture(tables_as_html(self.content()))


def titled_table(title: str, columns: Sequence[str], numbers: Container[int]) -> Table:
    """Return an empty table; columns of numbers, given by position, are aligned right, the others left."""
    table = Table(title=Text(printable(title)), title_justify="left")
    for position, column in enumerate(columns):
        table.add_column(Text(printable(column)), justify="right" if position in numbers else "left")
    return table


def add_row(table: Table, *cells: str | Iterable[str]) -> None:
    """Add a row of texts, or of several lines each; a label in square brackets is not markup."""
    lines = ([cell] if isinstance(cell, str) else cell for cell in cells)
    table.add_row(*(Text("\n".join(map(printable, texts))) for texts in lines))


def tab_separated(cells: Iterable[object]) -> str:
    """Return a line of cells with tabs between; tabs and line breaks in a cell become blanks."""
    return "\t".join(str(cell).translate(_BLANKS) for cell in cells) + "\n"
