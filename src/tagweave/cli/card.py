"""`tagweave card`: writes the card of a model."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.card_options import Languages, Licence, Tests, Title, Use


def card(
    model: options.Model,
    tests: Tests = None,
    licence: Licence = None,
    languages: Languages = None,
    use: Use = None,
    title: Title = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write here; - is standard output.")
    ] = "-",
    threads: options.Threads = 1,
) -> None:
    """Write a model card: Markdown with the front matter of the Hugging Face hub.

    It has what the model says of itself (data, plan, sizes), and with --test scores with intervals, and speed. What
    nobody says, such as the licence, is said not to be given.
    """
    from tagweave.cli.outputs import check_outputs
    from tagweave.corpus.text_file import written
    from tagweave.front.card import model_card

    check_outputs([output], [model, *(tests or ())])
    text = model_card(model, tests or (), licence, languages or (), use, title, threads=threads)
    with written(output) as stream:
        stream.write(text)
