"""`tagweave compare`: where two guidelines diverge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from unicodedata import normalize

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError
from tagweave.cli.outputs import check_outputs
from tagweave.cli.parsing import are_trees
from tagweave.cli.printing import say

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.evaluation.divergence import Divergence
    from tagweave.evaluation.tree_divergence import TreeDivergence


def compare(
    first: Annotated[str, typer.Argument(metavar="[G=]A[#LAYER]", help="A corpus under one guideline.")],
    second: Annotated[str, typer.Argument(metavar="[G=]B[#LAYER]", help="A corpus under the other.")],
    html: Annotated[str | None, typer.Option(metavar="FILE", help="Write a page with more examples, too.")] = None,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="A model of both guidelines, for corpora of different text.")
    ] = None,
    format: options.InputFormat = None,  # noqa: A002
    threads: options.Threads = 1,
) -> None:
    """Show which tags of two guidelines stand beside each other, how often, and on which words.

    Pairs of tags are counted where both corpora have the same sentences. For different text a model of both guidelines
    (--model) tells how probable each missing tag is, and pairs are counted by their probability.

    Of head layers, as A#head and B#head name them, it is relations, and where the head of a token is in the other tree.
    Sentences that have other tokens in the other corpus are left out.
    """
    from tagweave.corpus.load import load
    from tagweave.corpus.text_file import written
    from tagweave.evaluation.console import table_console
    from tagweave.evaluation.divergence_page import page
    from tagweave.evaluation.divergence_tables import tables

    check_outputs([html], [first, second, model])
    divergence = _divergence(load(first, format), load(second, format), model, threads)
    console = table_console()
    for table in tables(divergence):
        console.print(table)
    if html:
        with written(html) as stream:
            stream.write(page(divergence))


def _divergence(first: Corpus, second: Corpus, model: str | None, threads: int) -> Divergence | TreeDivergence:
    from tagweave.evaluation.divergence import counted, expected, same_sentences
    from tagweave.evaluation.tree_divergence import counted_trees
    from tagweave.models.chain import ChainModel
    from tagweave.models.storage import load_model

    if are_trees(first) or are_trees(second):
        if model:
            raise OptionError("found --model with head layers, expected it without: they are compared in the same text")
        return counted_trees(first, second)
    if same_sentences(first, second):
        if model:
            say("both corpora have the same sentences: pairs are counted, without the model")
        return counted(first, second)
    if model is None:
        raise OptionError(
            f"found different sentences in {first.path} and {second.path}, expected the same ones under two guidelines,"
            " or --model MODEL with a model of both (tagweave train --method coupled)"
            f"{_first_difference(first, second)}"
        )
    loaded = load_model(model, ChainModel)
    known = [view.guideline for view in loaded.structure.space.sides]
    for corpus in (first, second):
        if corpus.guideline not in known:
            found = f"{corpus.path}: found the guideline {corpus.guideline!r}"
            raise OptionError(f"{found}, expected one of {model}: {', '.join(known)} (named GUIDELINE=FILE)")
    return expected(loaded, first, second, threads)


def _first_difference(first: Corpus, second: Corpus) -> str:
    """Where sentences differ first, if it is by their Unicode normal forms alone."""
    from tagweave.corpus.errors import CorpusError
    from tagweave.evaluation.alignment import check_tokens

    texts = ([normalize("NFC", " ".join(sentence.forms)) for sentence in corpus] for corpus in (first, second))
    if next(texts) == next(texts):
        try:
            check_tokens(first.sentences, second.sentences, first.path, second.path)
        except CorpusError as error:
            return f"; {error}"
    return ""
