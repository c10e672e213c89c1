"""`tagweave tag`: labels text by a model."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.outputs import check_outputs
from tagweave.cli.shards import check_alone, through_shards


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
