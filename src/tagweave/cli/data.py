"""`tagweave data`: public corpora by name. Commands that read corpora take these names, and fetch the files."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli.commands import Commands

data = typer.Typer(
    name="data",
    cls=Commands,
    help="Public corpora by name: which there are, their terms, their files.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="FAMILY:CORPUS[@VERSION][/SPLIT], as ud:English-EWT@2.7.")]


@data.command("list")
def list_() -> None:
    """List corpora that have names."""
    from tagweave.front.named import known_corpora

    for name, each in known_corpora().items():
        typer.echo(f"{name:22}{each['about']} ({each['licence']})")
    typer.echo("ud:LANGUAGE-TREEBANK  any other treebank of Universal Dependencies, from release 2.2 on")


@data.command(no_args_is_help=True)
def get(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="FAMILY:CORPUS[@VERSION][/SPLIT]; without SPLIT, all."),
    ],
) -> None:
    """Fetch the files of corpora that are not there, and check all. Their paths are written, one a line."""
    from tagweave.front.named import fetch_corpus

    for name in names:
        for path in fetch_corpus(name).values():
            typer.echo(path)


@data.command(no_args_is_help=True)
def info(
    name: _Name,
) -> None:
    """Show the terms of a corpus, where its files are, and who vouches for them. Nothing is fetched."""
    from tagweave.front.named import describe_corpus

    known = describe_corpus(name)
    typer.echo(f"{name}: {known['about'] or 'nothing more is known of it here'}")
    typer.echo(f"  licence: {known['licence'] or 'as this page says'}")
    typer.echo(f"  page: {known['page']}")
    for split, file in known["files"].items():
        typer.echo(f"  {split}: {file['url']}")
        typer.echo(f"    {file['path']}{'' if file['kept'] else ' (not fetched)'}")
        typer.echo(f"    {_VOUCHED[file['vouches']].format(**file)}")


_VOUCHED = {
    "registry": "sha256 {sha256}",
    "first use": "sha256 {sha256}, as it was fetched for the first time",
    None: "sha256 unknown: what is fetched for the first time is believed, and checked from then on",
}
