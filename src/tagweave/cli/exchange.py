"""`tagweave import`, `export`, `card`, `push` and `pull`: corpora and models from and for others."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from tagweave.cli import options
from tagweave.cli.console import check_outputs
from tagweave.cli.options import argument, flag, switch
from tagweave.exchange import TOOL_NAMES
from tagweave.front.options import DOCUMENT_OPTIONS
from tagweave.streams import say

Tool = Annotated[str, argument("|".join(TOOL_NAMES), "The tool that exported, or will import.")]


@options.taking(DOCUMENT_OPTIONS)
def import_documents(
    tool: Tool,
    files: Annotated[list[str], argument("FILE", "What it exported.")],
    output: options.Output,
    output_format: options.OutputFormat = None,
    **settings: Any,
) -> None:
    """Make a corpus of texts in which people or models have marked spans.

    A sentence is a line of a text. Every annotator has a layer, of candidates with numbers where spans have scores; of
    a single one it is called tag. Files with the same texts are joined.
    """
    from tagweave.front.exchange import import_files

    check_outputs([output], files)
    documents = options.chosen(settings, DOCUMENT_OPTIONS)
    say(import_files(tool, files, output, output_format or (None if "." in output else "columns"), **documents))


def export_documents(
    tool: Tool,
    corpus: Annotated[str, argument("[G=]CORPUS[#LAYER]", "Labels of spans.")],
    output: options.Output,
    layers: Annotated[
        list[str] | None, flag("LAYER", "Whose spans; by default those of CORPUS (repeatable).", "--layer")
    ] = None,
    task: Annotated[str, flag("spans|tags", "What is marked: spans, or every token that has one label.")] = "spans",
    texts: Annotated[
        str | None, flag("CORPUS", "What `tagweave import` made, if CORPUS lost where its sentences stood.")
    ] = None,
    format: options.InputFormat = None,  # noqa: A002
) -> None:
    """Write spans for an annotation tool to import, with their probabilities where labels have numbers.

    What `tagweave import` made becomes the documents that it was, also after `tagweave tag`; of any other corpus, every
    sentence is a document.
    """
    from tagweave.front.corpora import load
    from tagweave.front.exchange import write_documents

    check_outputs([output], [corpus, *([texts] if texts else [])])
    places = load(texts) if texts else None
    count = write_documents(tool, load(corpus, format), output, layers or (), task, places)
    say(f"{output}: {count:,} documents")


def card(
    model: options.Model,
    tests: Annotated[
        list[str] | None, flag("[G=]TEST", "Measure the model on this corpus: scores, speed (repeatable).", "--test")
    ] = None,
    licence: Annotated[str | None, flag("ID", "Of the model, as the hub names it: mit, cc-by-sa-4.0.")] = None,
    languages: Annotated[
        list[str] | None, flag("CODE", "A language of the model, as zh (repeatable).", "--language")
    ] = None,
    use: Annotated[str | None, flag("TEXT", "What the model is for.")] = None,
    title: Annotated[str | None, flag("TEXT", "By default the name of the file.")] = None,
    output: Annotated[str, flag("FILE", "Write here; - is standard output.", "--output", "-o")] = "-",
    threads: options.Threads = 1,
) -> None:
    """Write a model card: Markdown with the front matter of the Hugging Face hub.

    It has what the model says of itself (data, plan, sizes), and with --test scores with intervals, and speed. What
    nobody says, such as the licence, is said not to be given.
    """
    from tagweave.front.card import write_card

    check_outputs([output], [model, *(tests or ())])
    write_card(output, model, tests or (), licence, languages or (), use, title, threads=threads)


def push(
    model: options.Model,
    name: Annotated[str, argument("OWNER/NAME", "The repository; it is made unless it is there.")],
    card: Annotated[
        str | None, flag("FILE", "The card, as by card; by default one without options is written.", "--card")
    ] = None,
    private: Annotated[bool, switch("Make a new repository private.", "--private")] = False,
) -> None:
    """Upload a model and its card to the Hugging Face hub, as one commit.

    The token comes from `hf auth login`, or from the environment variable HF_TOKEN.
    """
    from tagweave.front.card import push_with_card

    typer.echo(push_with_card(model, name, card, private))


def pull(
    name: Annotated[str, argument("OWNER/NAME[@REVISION]", "The repository.")],
    output: Annotated[str, flag("MODEL", "Write the model here.", "--output", "-o")],
) -> None:
    """Download a model from the Hugging Face hub. Other commands take hf:OWNER/NAME in place of a model's file."""
    from tagweave.front.card import pull as download

    download(name, output)
