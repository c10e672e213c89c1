"""`tagweave tag`: labels text by a model.

`tagweave complete`: fills in missing annotation by a model.

`tagweave convert`: converts a corpus to another guideline.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.console import OptionError, check_outputs
from tagweave.cli.shards import check_alone, through_shards
from tagweave.streams.notes import say


def tag(
    model: options.Model,
    input: Annotated[  # noqa: A002
        str,
        typer.Argument(
            metavar="INPUT[#LAYER]", help="Text; - is standard input. With --cluster: a file, a folder or a pattern."
        ),
    ] = "-",
    output: options.Output = "-",
    to: options.Guidelines = None,
    format: options.InputFormat = None,  # noqa: A002
    output_format: options.OutputFormat = None,
    retag: Annotated[bool, typer.Option("--retag", help="Ignore the labels in the input.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Rows of token, label and its marginal probability instead of text.")
    ] = False,
    tokens: Annotated[
        str | None,
        typer.Option(
            metavar="blanks|words|characters|spacy:LANGUAGE",
            help="Cut raw text into tokens for a tagger of words, as serve does; words: punctuation stands alone.",
        ),
    ] = None,
    split_runs: options.SplitRuns = False,
    best: Annotated[
        int | None, typer.Option(min=1, metavar="K", help="JSON lines of the K best sequences and their probabilities.")
    ] = None,
    then: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="A tagger of words or a parser to apply next (repeatable)."),
    ] = None,
    non_projective: options.NonProjective = False,
    threads: options.Threads = 1,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    on_error: options.OnError = "fail",
    text_column: options.TextColumn = "text",
) -> None:
    """Label text: a stream of any length in constant memory.

    A model of words reads words in any format; a token with a label keeps it, and one with several gets one of them. A
    segmenter reads raw text, one sentence per line, and writes words. Blanks in raw text are boundaries; Latin words,
    numbers, URLs and e-mail addresses stay whole. Labels of several --to are predicted together; columns and CoNLL-U
    can hold them. A parser writes CoNLL-U, and so does a chain of models: `tag TAGGER TEXT --then PARSER`.

    --probabilities writes rows `token TAB label TAB probability` and an empty line after each sentence. Tokens of a
    segmenter are characters, or the pieces of words that its taggers cut. --best writes a JSON object per sequence:
    sentence, rank, probability, tokens, labels.

    With --cluster, many workers label many files: `tag MODEL 'in/*.txt.gz' -o OUT/ --cluster local`. Every file becomes
    one of the same name in OUT; if the command is interrupted, the same command continues.
    """
    own = {
        "format": format,
        "output_format": output_format,
        "to": to or (),
        "retag": retag,
        "probabilities": probabilities,
        "best": best,
        "tokens": tokens,
        "split_runs": split_runs,
        "non_projective": non_projective,
    }
    if cluster is not None:
        from tagweave.front.shards import label_files

        through_shards(
            label_files,
            model,
            input,
            output=output,
            on_error=on_error,
            then=then or (),
            cluster=cluster,
            workers=workers,
            threads=threads,
            text_column=text_column,
            **own,
        )
        return
    check_alone(workers, on_error, text_column)
    from tagweave.front.loading import load_model

    check_outputs([output], [model, input, *(then or ())])
    then_models = [load_model(each, threads) for each in then or ()]
    load_model(model, threads).label_file(input, output, then=then_models, **own)


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
    from tagweave.cli.console import counted
    from tagweave.front.loading import load_model
    from tagweave.streams.inputs import write_lines

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
