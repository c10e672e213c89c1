"""`tagweave harvest`: partial annotation for free, a command for each source of it.

Each command is a file beside this one; it is entered here.
"""

from __future__ import annotations

import typer

from tagweave.cli.commands import Commands
from tagweave.cli.harvest_lexicon import lexicon
from tagweave.cli.harvest_markup import markup

harvest = typer.Typer(
    name="harvest",
    cls=Commands,
    help="Partial annotation for free, in KyTea's format: from lexicons, from markup.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)
harvest.command(no_args_is_help=True)(lexicon)
harvest.command(no_args_is_help=True)(markup)
