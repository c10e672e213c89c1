"""`tagweave push`: uploads a model and its card to the Hugging Face hub."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.card_options import Languages, Licence, Tests, Title, Use
from tagweave.cli.errors import OptionError


def push(
    model: options.Model,
    name: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="The repository; it is made unless it is there.")],
    card: Annotated[
        str | None, typer.Option("--card", metavar="FILE", help="The card; by default one is written, as by card.")
    ] = None,
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
    tests: Tests = None,
    licence: Licence = None,
    languages: Languages = None,
    use: Use = None,
    title: Title = None,
    threads: options.Threads = 1,
) -> None:
    """Upload a model and its card to the Hugging Face hub, as one commit.

    The token is that of `hf auth login`, or of the environment variable HF_TOKEN.
    """
    from tagweave.corpus.text_file import read_lines
    from tagweave.front.card import model_card
    from tagweave.front.hub import push as upload
    from tagweave.models.hub import hub_name

    repository = hub_name(name).repository
    if card is not None and any((tests, licence, languages, use, title)):
        raise OptionError("found --card with options of a card that is written, expected one or the other")
    if card is None:
        text = model_card(model, tests or (), licence, languages or (), use, title or repository, repository, threads)
    else:
        text = "\n".join(read_lines(card)) + "\n"
    typer.echo(upload(model, name, text, private))
