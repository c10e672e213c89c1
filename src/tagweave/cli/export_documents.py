"""`tagweave export`: spans for an annotation tool to import, as suggestions to look over."""

from __future__ import annotations

from typing import Annotated, Literal, cast

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError
from tagweave.cli.import_documents import TASKS, Tool
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say


def export_documents(
    tool: Tool,
    corpus: Annotated[str, typer.Argument(metavar="[G=]CORPUS[#LAYER]", help="Labels of spans.")],
    output: options.Output,
    layers: Annotated[
        list[str] | None,
        typer.Option("--layer", metavar="LAYER", help="Whose spans; by default those of CORPUS (repeatable)."),
    ] = None,
    task: Annotated[
        str, typer.Option(metavar="|".join(TASKS), help="What is marked: spans, or every token that has one label.")
    ] = "spans",
    texts: Annotated[
        str | None,
        typer.Option(metavar="CORPUS", help="What `tagweave import` made, if CORPUS lost where its sentences stood."),
    ] = None,
    format: options.InputFormat = None,  # noqa: A002
) -> None:
    """Write spans for an annotation tool to import, with their probabilities where labels have numbers.

    What `tagweave import` made becomes the documents that it was, also after `tagweave tag`; of any other corpus, every
    sentence is a document.
    """
    from tagweave.corpus.load import load
    from tagweave.front.exchange import write_documents

    if task not in TASKS:
        raise OptionError(f"found --task {task}, expected {', '.join(TASKS)}")
    check_outputs([output], [corpus, *([texts] if texts else [])])
    kind = cast("Literal['spans', 'tags']", task)
    places = load(texts) if texts else None
    count = write_documents(tool, load(corpus, format), output, layers or (), kind, places)
    say(f"{output}: {count:,} documents")
