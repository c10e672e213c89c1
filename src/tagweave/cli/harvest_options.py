"""Options of all harvests: which sentences to keep."""

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
