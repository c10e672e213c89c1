"""`tagweave complete`: fills in missing annotation by a model."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.outputs import check_outputs
from tagweave.cli.shards import check_alone, through_shards


def complete(
    model: options.Model,
    input: Annotated[str, typer.Argument(metavar="INPUT[#LAYER]", help="A corpus; - is standard input.")],  # noqa: A002
    output: options.Output = "-",
    to: options.Guideline = None,
    format: options.InputFormat = None,  # noqa: A002
    output_format: options.OutputFormat = None,
    split_runs: options.SplitRuns = False,
    non_projective: options.NonProjective = False,
    threads: options.Threads = 1,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    on_error: options.OnError = "fail",
    text_column: options.TextColumn = "text",
) -> None:
    """Fill in unknown and ambiguous labels of a corpus; known ones never change.

    The new labels are those of the most probable sequence that the annotation allows. The format stays the same, but
    text without labels becomes tagged or segmented text.
    """
    own = {
        "format": format,
        "output_format": output_format,
        "to": (to,) if to else (),
        "split_runs": split_runs,
        "non_projective": non_projective,
    }
    if cluster is not None:
        from tagweave.front.shards import complete_files

        through_shards(
            complete_files,
            model,
            input,
            output=output,
            on_error=on_error,
            cluster=cluster,
            workers=workers,
            threads=threads,
            text_column=text_column,
            **own,
        )
        return
    check_alone(workers, on_error, text_column)
    from tagweave.front.loading import load_model

    check_outputs([output], [model, input])
    load_model(model, threads).complete_file(input, output, **own)
