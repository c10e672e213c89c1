"""`tagweave annotate notes`: the labels of a guideline, and what annotators read about each."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli.annotate_store import StoreUrl, opened
from tagweave.cli.printing import say


def notes(
    file: Annotated[str, typer.Argument(metavar="FILE", help="One label a line, a tab, and a note for annotators.")],
    store: StoreUrl,
    guideline: Annotated[str, typer.Option(metavar="G", help="Whose labels they are.")],
) -> None:
    """Put in the labels of a guideline with a note on each, also labels that no model knows yet."""
    with opened(store) as labels:
        from tagweave.annotate.notes import put, read

        found = read(file)
        added = put(labels, guideline, found)
    say(f"{guideline}: {len(found):,} labels, {added:,} of them new")
