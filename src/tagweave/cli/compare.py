"""`tagweave compare`: where two guidelines diverge."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.outputs import check_outputs


def compare(
    first: Annotated[str, typer.Argument(metavar="[G=]A[#LAYER]", help="A corpus under one guideline.")],
    second: Annotated[str, typer.Argument(metavar="[G=]B[#LAYER]", help="A corpus under the other.")],
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Also write a page with more examples.")] = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="A model of both guidelines, for corpora of different text.")
    ] = None,
    format: options.InputFormat = None,  # noqa: A002
    threads: options.Threads = 1,
) -> None:
    """Show which tags of two guidelines occur at the same tokens, how often, and on which words.

    If both corpora have the same sentences, pairs of tags are counted. For different text, a model of both guidelines
    (--model) gives the probabilities of the missing tags, and pairs are counted by probability.

    For head layers, named as A#head and B#head, relations are compared, and the positions of each token's two heads.
    Sentences with different tokens in the two corpora are left out.
    """
    from tagweave.corpus.load import check_there

    check_there(first, second)
    from tagweave.corpus.text_file import written
    from tagweave.evaluation.console import table_console
    from tagweave.evaluation.divergence_page import page
    from tagweave.evaluation.divergence_tables import tables
    from tagweave.exchange.load import load
    from tagweave.front.evaluation import compare as divergence_of

    check_outputs([html], [first, second, model])
    divergence = divergence_of(load(first, format), load(second, format), model, threads)
    console = table_console()
    for table in tables(divergence):
        console.print(table)
    if html:
        with written(html) as stream:
            stream.write(page(divergence))
