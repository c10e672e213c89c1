"""`tagweave harvest`: partial annotation and word clusters for free, with a command for each source.

Each command is a file in this folder and is registered here.
"""

from __future__ import annotations

import typer

from tagweave.cli.commands import Commands
from tagweave.cli.harvest_clusters import clusters
from tagweave.cli.harvest_lexicon import lexicon
from tagweave.cli.harvest_markup import markup

harvest = typer.Typer(
    name="harvest",
    cls=Commands,
    help="Partial annotation for free, from lexicons and from markup; word clusters from raw text.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)
harvest.command(no_args_is_help=True)(lexicon)
harvest.command(no_args_is_help=True)(markup)
harvest.command(no_args_is_help=True)(clusters)
