"""`tagweave pull`: downloads a model from the Hugging Face hub."""

from __future__ import annotations

from typing import Annotated

import typer


def pull(
    name: Annotated[str, typer.Argument(metavar="OWNER/NAME[@REVISION]", help="The repository.")],
    output: Annotated[str, typer.Option("--output", "-o", metavar="MODEL", help="Write the model here.")],
) -> None:
    """Download a model from the Hugging Face hub. Other commands take hf:OWNER/NAME in place of a model's file."""
    from tagweave.front.hub import pull as download

    download(name, output)
