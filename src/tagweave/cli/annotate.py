"""`tagweave annotate`: people answer questions in a browser, and models learn from the answers.

Each command is a file in this folder and is registered here.
"""

from __future__ import annotations

import typer

from tagweave.cli.annotate_adduser import adduser
from tagweave.cli.annotate_export import export
from tagweave.cli.annotate_import import import_corpus
from tagweave.cli.annotate_notes import notes
from tagweave.cli.annotate_serve import serve
from tagweave.cli.commands import Commands

annotate = typer.Typer(
    name="annotate",
    cls=Commands,
    help="People answer what a model asks: put questions in, invite annotators, get the answers out.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)
annotate.command(no_args_is_help=True)(adduser)
annotate.command("import", no_args_is_help=True)(import_corpus)
annotate.command(no_args_is_help=True)(notes)
annotate.command(no_args_is_help=True)(export)
annotate.command(no_args_is_help=True)(serve)
