"""`tagweave import` and `export`: corpora from and for annotation tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from tagweave.cli import options
from tagweave.cli.console import OptionError, check_outputs
from tagweave.cli.options import argument, flag
from tagweave.exchange import TOOL_NAMES
from tagweave.front.options import OF_DOCUMENTS
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.formats.format import Format

Tool = Annotated[str, argument("|".join(TOOL_NAMES), "The tool that exported, or will import.")]
TASKS = ("spans", "tags")
"""What marks can be."""


@options.taking(OF_DOCUMENTS)
def import_documents(
    tool: Tool,
    files: Annotated[list[str], argument("FILE", "What it exported.")],
    output: options.Output,
    output_format: options.OutputFormat = None,
    **others: Any,
) -> None:
    """Make a corpus of texts in which people or models have marked spans.

    A sentence is a line of a text. Every annotator has a layer, of candidates with numbers where spans have scores; of
    a single one it is called tag. Files with the same texts are joined.
    """
    from tagweave.corpus.formats.registry import chosen_format
    from tagweave.corpus.load import save
    from tagweave.exchange.exports import TOKEN_TOOLS
    from tagweave.front.exchange import read_documents

    check_outputs([output], files)
    corpus = read_documents(tool, *files, tell=say, **options.given(others, OF_DOCUMENTS))
    output_format = output_format or (None if "." in output else "columns")
    if lost := _lost(corpus, chosen_format(output_format, output)):
        say(f"not kept in {output}: {', '.join(lost)} (conllu-plus, .conllup, holds all)")
    save(corpus, output, output_format)
    names = [name for sentence in corpus.sentences[:1] for name in (*sentence.layers, *sentence.heads)]
    what = "layers" if tool in TOKEN_TOOLS else "annotators"
    say(f"{output}: {len(corpus):,} sentences, {corpus.tokens():,} tokens, {what}: {', '.join(names) or 'none'}")


def _lost(corpus: Corpus, form: Format | None) -> list[str]:
    """Name the layers that a format has no place for."""
    if form is None:
        return []
    layers = dict.fromkeys(name for sentence in corpus for name in sentence.layers)
    lost = [] if form.names_layers else [name for name in layers if name not in (*form.layers, corpus.guideline)]
    return [*lost, *({"head"} & {name for each in corpus for name in each.heads} if form.heads is None else ())]


def export_documents(
    tool: Tool,
    corpus: Annotated[str, argument("[G=]CORPUS[#LAYER]", "Labels of spans.")],
    output: options.Output,
    layers: Annotated[
        list[str] | None, flag("LAYER", "Whose spans; by default those of CORPUS (repeatable).", "--layer")
    ] = None,
    task: Annotated[str, flag("|".join(TASKS), "What is marked: spans, or every token that has one label.")] = "spans",
    texts: Annotated[
        str | None, flag("CORPUS", "What `tagweave import` made, if CORPUS lost where its sentences stood.")
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
