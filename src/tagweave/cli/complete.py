"""`tagweave complete`: what annotation leaves open, filled in by a model."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.outputs import check_outputs


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
) -> None:
    """Fill in what a corpus leaves unknown or ambiguous, and never change what it says.

    The labels are those of the most probable sequence that the annotation allows. The format stays; text without labels
    becomes tagged or segmented text.
    """
    from tagweave.cli.filled import write
    from tagweave.cli.labelling import Labelling
    from tagweave.cli.parsing import check_no_trees, check_parser_options, is_parser, write_parsed
    from tagweave.cli.pipeline import parsed
    from tagweave.cli.tag import open_tagger

    check_outputs([output], [model, input])
    if is_parser(model):
        check_parser_options({"to": to, "split-runs": split_runs})
        sentences = parsed(model, input, format, threads=threads, projective=not non_projective)
        write_parsed(sentences, output, output_format)
        return
    check_no_trees(model, non_projective)
    tagger = open_tagger(model, [to] if to else (), threads)
    write(Labelling(tagger, input, format, whole_runs=not split_runs), output, output_format, partial=True)
