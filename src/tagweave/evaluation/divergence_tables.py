"""The divergence of two guidelines as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from tagweave.corpus.printable import printable, printable_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tagweave.evaluation.divergence import Divergence, Partner
    from tagweave.evaluation.tree_divergence import TreeDivergence

SHARE = 0.01
"""The share below which partners are left out: in expected counts, every tag has every partner to some degree."""
COUNT = 0.5
"""The expected count below which pairs are left out."""
_WORDS = 2


def tables(divergence: Divergence | TreeDivergence, pairs: int = 15) -> Iterator[Text | Table]:
    """A summary, and for each direction the partners of every tag and the most frequent unexpected `pairs`."""
    for line in summary(divergence):
        yield Text(printable(line))
    for direction in divergence.directions():
        yield _partners(direction)
        if unexpected := [pair for pair in direction.unexpected() if pair.count >= COUNT][:pairs]:
            yield _unexpected(direction, unexpected)


def summary(divergence: Divergence | TreeDivergence) -> list[str]:
    """Sentences that say what was compared, and how well one tag predicts the other."""
    lines = divergence.headlines()
    for each in divergence.directions():
        share = f"{100 * each.predictable:.1f} %"
        lines.append(
            f"From {each.first} to {each.second}: {share} of the tokens have their {each.what}'s usual partner."
        )
    return lines


def shown(partners: Iterable[Partner]) -> list[Partner]:
    """The most frequent partner, and the others that are not too rare to be shown."""
    return [each for each in partners if each.usual or (each.share >= SHARE and each.count >= COUNT)]


def _partners(divergence: Divergence) -> Table:
    title = f"{divergence.first} to {divergence.second}: the {divergence.what}s that diverge most come first"
    table = _table(title, (divergence.first, "tokens", "bits", f"{divergence.second}, %"), numbers=(1, 2))
    for tag in divergence.diverging():
        row = divergence.tags.index(tag)
        partners = "  ".join(f"{p.partner} {100 * p.share:.1f}" for p in shown(divergence.partners_of(tag)))
        _add(table, (tag, f"{divergence.counts[row].sum():,.0f}", f"{divergence.entropies[row]:.2f}", partners))
    return table


def _unexpected(divergence: Divergence, pairs: Iterable[Partner]) -> Table:
    title = f"{divergence.first} to {divergence.second}: other partners than the most frequent one"
    columns = (divergence.first, divergence.second, "tokens", "%", "for example")
    table = _table(title, columns, numbers=(2, 3))
    for pair in pairs:
        words = "\n".join(str(context) for context in pair.examples[:_WORDS])
        _add(table, (pair.tag, pair.partner, f"{pair.count:,.0f}", f"{100 * pair.share:.1f}", words))
    return table


def _table(title: str, columns: Iterable[str], numbers: tuple[int, ...]) -> Table:
    table = Table(title=Text(printable(title)), title_justify="left")
    for position, column in enumerate(columns):
        table.add_column(Text(printable(column)), justify="right" if position in numbers else "left")
    return table


def _add(table: Table, cells: Iterable[str]) -> None:
    table.add_row(*(Text(printable_lines(cell)) for cell in cells))  # Text: a tag in square brackets is not markup
