"""`tagweave annotate notes`: stores the labels of a guideline with notes for annotators."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli.annotate_store import StoreUrl, opened
from tagweave.cli.printing import say


def notes(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A label per line, a tab, and a note for annotators.")],
    store: StoreUrl,
    guideline: Annotated[str, typer.Option(metavar="G", help="The guideline of the labels.")],
) -> None:
    """Store the labels of a guideline with a note on each, including labels that no model knows yet."""
    with opened(store) as labels:
        from tagweave.annotate.notes import put, read

        entries = read(file)
        added = put(labels, guideline, entries)
    say(f"{guideline}: {len(entries):,} labels, {added:,} of them new")
