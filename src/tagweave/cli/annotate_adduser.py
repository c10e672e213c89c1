"""`tagweave annotate adduser`: adds a user who may sign in."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tagweave.cli.annotate_store import StoreUrl, opened
from tagweave.cli.errors import OptionError
from tagweave.cli.printing import say


def adduser(
    store: StoreUrl,
    name: Annotated[str, typer.Option(metavar="N", help="The name to sign in with.")],
    role: Annotated[
        str,
        typer.Option(metavar="annotator|curator", help="Annotators answer; curators also decide, and invite others."),
    ] = "annotator",
    password: Annotated[
        str | None, typer.Option(metavar="P", help="By default, asked for on the terminal, where nobody else sees it.")
    ] = None,
) -> None:
    """Add a user to the annotation server."""
    with opened(store) as people:
        from tagweave.annotate.passwords import hashed

        added = people.add_annotator(name, role, hashed(_prompted(name) if password is None else password))
    say(f"{added.name}: {added.role}")


def _prompted(name: str) -> str:
    if not sys.stdin.isatty():
        raise OptionError("found no terminal to ask for a password, expected one, or --password")
    return str(typer.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True))
