"""Tables of sources: what each says, and how far others say the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tagweave.corpus.printable import printable

if TYPE_CHECKING:
    from rich.table import Table

_SHOWN = 8  # labels of a source, or sources of a label
_COUNTS = ("coverage", "overlap", "conflict")
_RATES = ("alpha", "accuracy", "precision", "recall")


def coverage_table(what: str, rows: Mapping[str, Mapping[str, Any]], tokens: int, listed: str = "") -> Table:
    """A table with a row for each source or label.

    Args:
        what: the heading of the first column.
        rows: numbers by name: how many tokens (`coverage`, `overlap`, `conflict`), and rates, of which some may be
            absent; and counts by name.
        tokens: how many there are in all.
        listed: the key of those counts.
    """
    from rich.table import Table
    from rich.text import Text

    rates = [name for name in _RATES if any(name in row for row in rows.values())]
    table = Table(what, *(name for name in (*_COUNTS, *rates)))
    if listed:
        table.add_column(listed, overflow="fold")
    for name, row in rows.items():
        cells = [*(_share(row[each], tokens) for each in _COUNTS), *(_rate(row.get(each)) for each in rates)]
        table.add_row(
            *(
                Text(printable(each))
                for each in (name, *cells, *([_most(row[listed])] if listed and listed in row else []))
            )
        )
    return table


def _share(count: int, total: int) -> str:
    return f"{count:,} ({100 * count / total:.1f} %)" if total else "0"


def _rate(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _most(counts: Mapping[str, float]) -> str:
    shown = [f"{name} {count:,.10g}" for name, count in list(counts.items())[:_SHOWN]]
    return " ".join(shown) + (" ..." if len(counts) > _SHOWN else "")
