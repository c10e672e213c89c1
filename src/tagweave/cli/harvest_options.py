"""What all harvests have in common: options on which sentences to keep, and how many were kept."""

from __future__ import annotations

from typing import Annotated

import typer

Like = Annotated[
    list[str] | None,
    typer.Option(
        "--like", metavar="RAW", help="Keep sentences that mark a span that occurs in this raw text (repeatable)."
    ),
]
Sample = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Keep this many sentences, drawn at random from the rest.")
]


def selection_note(like: list[str] | None, sample: int | None, count: int) -> str:
    """How many sentences were kept, to be added to the last line, if these options left out any."""
    return "" if not like and sample is None else f"; {count:,} sentences kept"
