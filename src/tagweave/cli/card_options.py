"""Options of commands that write the card of a model."""

from __future__ import annotations

from typing import Annotated

import typer

Tests = Annotated[
    list[str] | None,
    typer.Option("--test", metavar="[G=]TEST", help="Measure the model on this corpus: scores, speed (repeatable)."),
]
Licence = Annotated[
    str | None, typer.Option("--licence", metavar="ID", help="Of the model, as the hub names it: mit, cc-by-sa-4.0.")
]
Languages = Annotated[
    list[str] | None, typer.Option("--language", metavar="CODE", help="A language of the model, as zh (repeatable).")
]
Use = Annotated[str | None, typer.Option("--use", metavar="TEXT", help="What the model is for.")]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="By default the name of the file.")]
