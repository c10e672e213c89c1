"""`tagweave complete`: what annotation leaves open, filled in by a model."""

from __future__ import annotations

from typing import Annotated

import typer


def complete(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model of `tagweave train`.")],
    input: Annotated[str, typer.Argument(metavar="INPUT[#LAYER]", help="A corpus; - is standard input.")],  # noqa: A002
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="- is standard output.")] = "-",
    to: Annotated[str | None, typer.Option(metavar="G", help="The guideline to label under.")] = None,
    format: Annotated[str | None, typer.Option(help="The format of the input.")] = None,  # noqa: A002
    output_format: Annotated[str | None, typer.Option(help="The format of the output; default: the input's.")] = None,
    threads: Annotated[int, typer.Option(min=1, help="How many threads share the work.")] = 1,
) -> None:
    """Fill in what a corpus leaves unknown or ambiguous, and never change what it says.

    The labels are those of the most probable sequence that the annotation allows. The format stays; text without labels
    becomes tagged or segmented text.
    """
    from tagweave.cli.filled import write
    from tagweave.cli.labelling import Labelling
    from tagweave.cli.tag import open_tagger

    write(Labelling(open_tagger(model, to, threads), input, format), output, output_format, partial=True)
