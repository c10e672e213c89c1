"""`tagweave convert`: converts a corpus to another guideline."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say
from tagweave.cli.shards import check_alone, through_shards


def convert(
    model: options.Model,
    input: Annotated[  # noqa: A002
        str, typer.Argument(metavar="[G=]INPUT[#LAYER]", help="A corpus with labels; - is standard input.")
    ],
    output: options.Output = "-",
    to: Annotated[
        str | None, typer.Option(metavar="G", help="The guideline to convert to; default: the model's other one.")
    ] = None,
    format: options.InputFormat = None,  # noqa: A002
    output_format: options.OutputFormat = None,
    best: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="JSON lines of the K best sequences and their probabilities.")
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Write the probability of every label too (columns, CoNLL-U).")
    ] = False,
    soft: Annotated[
        bool, typer.Option("--soft", help="Write all labels with their probabilities: NN:0.7|VV:0.3.")
    ] = False,
    review: Annotated[
        int, typer.Option(min=0, metavar="N", help="List the N least certain tokens, on standard error.")
    ] = 0,
    review_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the list of --review to this file instead.")
    ] = None,
    retag: Annotated[
        bool, typer.Option("--retag", help="Ignore labels that the corpus already has under the new guideline.")
    ] = False,
    threads: options.Threads = 1,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    on_error: options.OnError = "fail",
    text_column: options.TextColumn = "text",
) -> None:
    """Convert the labels of a corpus to another guideline.

    With a model of both guidelines, the labels of the corpus constrain the new ones; a model with a guide of the
    corpus's guideline uses them in place of the guide's; a model of one guideline ignores them.

    Column files get another column, and CoNLL-U uses the empty one of XPOS and UPOS; in formats with one label per
    word the new labels replace the old. Text of another format becomes CoNLL-U with the new labels in UPOS and the old
    ones in XPOS. Labels that the corpus already has under the new guideline stay, unless
    --retag replaces them, for example to evaluate a conversion of text annotated under both.

    A parser with a guide converts the trees of CoNLL-U.
    """
    own = {
        "format": format,
        "output_format": output_format,
        "best": best,
        "confidence": confidence,
        "soft": soft,
        "review": review,
        "retag": retag,
    }
    if review_file and not review:
        raise OptionError("found --review-file without --review, expected --review N as well")
    if cluster is not None:
        from tagweave.front.shards import convert_files

        through_shards(
            convert_files,
            model,
            input,
            output=output,
            on_error=on_error,
            cluster=cluster,
            workers=workers,
            threads=threads,
            text_column=text_column,
            to=to,
            **own,
        )
        return
    check_alone(workers, on_error, text_column)
    from tagweave.cli.progress import counted
    from tagweave.front.loading import load_model
    from tagweave.streams.blocks import write_lines

    check_outputs([output, review_file], [model, input])
    review_list = load_model(model, threads).convert_file(
        input,
        output,
        to,
        progress=partial(counted, what="sentences"),
        **own,
    )
    if review_file:
        write_lines(review_file, review_list.lines())
    elif review:
        for line in review_list.lines():
            say(line)
