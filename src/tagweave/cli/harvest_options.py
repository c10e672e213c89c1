"""Options of all harvests: which sentences are kept."""

from __future__ import annotations

from typing import Annotated

import typer

Like = Annotated[
    list[str] | None,
    typer.Option(
        "--like", metavar="RAW", help="Keep the sentences that mark a span which occurs in this raw text (repeatable)."
    ),
]
Sample = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Keep so many sentences, drawn at random among those left.")
]
