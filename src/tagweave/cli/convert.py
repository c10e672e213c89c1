"""`tagweave convert`: a corpus of one guideline to another guideline."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say


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
    review: Annotated[
        int, typer.Option(min=0, metavar="N", help="List the N least certain tokens, on standard error.")
    ] = 0,
    review_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="Where the list of --review goes instead.")
    ] = None,
    retag: Annotated[
        bool, typer.Option("--retag", help="Put aside what the corpus already has under the new guideline.")
    ] = False,
    threads: options.Threads = 1,
) -> None:
    """Convert the labels of a corpus to another guideline.

    A model of both guidelines lets the labels of the corpus constrain those that come out; one with a guide of the
    corpus's guideline takes them in place of the guide's; a model of one guideline ignores them.

    Column files get a further column, and CoNLL-U the field of XPOS or UPOS that is empty; formats with one label a
    word get the new labels. Those that the corpus already has under the new guideline stay, unless
    --retag replaces them: so a conversion of text that is annotated under both can be evaluated.

    A parser with a guide converts the trees of CoNLL-U.
    """
    from tagweave.cli.conversion import Conversion, conversion
    from tagweave.cli.converted import review_lines, write
    from tagweave.cli.input import Input
    from tagweave.cli.parsing import check_parser_options, is_parser
    from tagweave.cli.tag import best_lines, write_lines
    from tagweave.cli.tree_conversion import TreeConversion, tree_conversion
    from tagweave.models.chain import ChainModel
    from tagweave.models.storage import load_model
    from tagweave.models.tree import TreeModel

    if best and (confidence or review or output_format):
        raise OptionError("found --best with --confidence, --review or --output-format, expected it without")
    if review_file and not review:
        raise OptionError("found --review-file without --review, expected --review N as well")
    check_outputs([output, review_file], [model, input])
    given = Input(input, format)
    work: Conversion | TreeConversion
    if is_parser(model):
        check_parser_options({"best": best, "retag": retag})
        work, said = tree_conversion(load_model(model, TreeModel), model, given, to, threads)
    else:
        work, said = conversion(load_model(model, ChainModel), model, given, to, threads, retag)
    if said:
        say(said)
    if best and isinstance(work, Conversion):
        write_lines(output, best_lines(work, best))
    doubtful = [] if best else write(work, output, output_format, confidence, review)
    for note in work.notes():
        say(note)
    if review_file:
        write_lines(review_file, review_lines(doubtful))
    elif review:
        for line in review_lines(doubtful):
            say(line)
