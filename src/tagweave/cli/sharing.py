"""`tagweave card`, `push`, `pull`: models to share."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.console import OptionError
from tagweave.cli.options import Languages, Licence, Tests, Title, Use, argument, flag, switch


def card(
    model: options.Model,
    tests: Tests = None,
    licence: Licence = None,
    languages: Languages = None,
    use: Use = None,
    title: Title = None,
    output: Annotated[str, flag("FILE", "Write here; - is standard output.", "--output", "-o")] = "-",
    threads: options.Threads = 1,
) -> None:
    """Write a model card: Markdown with the front matter of the Hugging Face hub.

    It has what the model says of itself (data, plan, sizes), and with --test scores with intervals, and speed. What
    nobody says, such as the licence, is said not to be given.
    """
    from tagweave.cli.console import check_outputs
    from tagweave.corpus.files import written
    from tagweave.front.card import model_card

    check_outputs([output], [model, *(tests or ())])
    text = model_card(model, tests or (), licence, languages or (), use, title, threads=threads)
    with written(output) as stream:
        stream.write(text)


def push(
    model: options.Model,
    name: Annotated[str, argument("OWNER/NAME", "The repository; it is made unless it is there.")],
    card: Annotated[str | None, flag("FILE", "The card; by default one is written, as by card.", "--card")] = None,
    private: Annotated[bool, switch("Make a new repository private.", "--private")] = False,
    tests: Tests = None,
    licence: Licence = None,
    languages: Languages = None,
    use: Use = None,
    title: Title = None,
    threads: options.Threads = 1,
) -> None:
    """Upload a model and its card to the Hugging Face hub, as one commit.

    The token comes from `hf auth login`, or from the environment variable HF_TOKEN.
    """
    from tagweave.corpus.files import read_lines
    from tagweave.front.card import model_card
    from tagweave.front.card import push as upload
    from tagweave.models.hub import hub_name

    repository = hub_name(name).repository
    if card is not None and any((tests, licence, languages, use, title)):
        raise OptionError("found --card with options of a card that is written, expected one or the other")
    if card is None:
        text = model_card(model, tests or (), licence, languages or (), use, title or repository, repository, threads)
    else:
        text = "\n".join(read_lines(card)) + "\n"
    typer.echo(upload(model, name, text, private))


def pull(
    name: Annotated[str, argument("OWNER/NAME[@REVISION]", "The repository.")],
    output: Annotated[str, flag("MODEL", "Write the model here.", "--output", "-o")],
) -> None:
    """Download a model from the Hugging Face hub. Other commands take hf:OWNER/NAME in place of a model's file."""
    from tagweave.front.card import pull as download

    download(name, output)
