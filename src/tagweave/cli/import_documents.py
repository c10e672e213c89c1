"""`tagweave import`: a corpus of spans from the files of an annotation tool."""

from __future__ import annotations

from typing import Annotated, Literal, cast

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say
from tagweave.exchange.registry import TOOLS

Tool = Annotated[str, typer.Argument(metavar="|".join(TOOLS), help="The tool that exported, or will import.")]
_MISALIGNED = ("error", "widen", "unknown")
_UNMARKED = ("outside", "unknown")
TASKS = ("spans", "tags")
"""What marks can be."""


def import_documents(
    tool: Tool,
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="What it exported.")],
    output: options.Output,
    tokens: Annotated[
        str,
        typer.Option(
            metavar="blanks|words|characters|spacy:LANGUAGE|MODEL",
            help="How text is cut where the tool has no tokens: at blanks; at these and around punctuation; between"
            " characters; by spaCy; by a segmenter.",
        ),
    ] = "words",
    misaligned: Annotated[
        str,
        typer.Option(
            metavar="|".join(_MISALIGNED),
            help="What becomes of a span that is not whole tokens of a line: it is refused, widened to them, or they"
            " are unknown.",
        ),
    ] = "error",
    unmarked: Annotated[
        str, typer.Option(metavar="|".join(_UNMARKED), help="What tokens are that nobody marked.")
    ] = "outside",
    task: Annotated[
        str, typer.Option(metavar="|".join(TASKS), help="What marks are: spans, or labels of each of their tokens.")
    ] = "spans",
    output_format: options.OutputFormat = None,
) -> None:
    """Make a corpus of texts in which people or models have marked spans.

    A sentence is a line of a text. Every annotator has a layer, of candidates with numbers where spans have scores; of
    a single one it is called tag. Files with the same texts are joined.
    """
    from tagweave.corpus.load import save
    from tagweave.front.exchange import read_documents

    for name, value, known in (
        ("misaligned", misaligned, _MISALIGNED),
        ("unmarked", unmarked, _UNMARKED),
        ("task", task, TASKS),
    ):
        if value not in known:
            raise OptionError(f"found --{name} {value}, expected {', '.join(known)}")
    check_outputs([output], files)
    corpus = read_documents(
        tool,
        *files,
        tokens=tokens,
        misaligned=cast("Literal['error', 'widen', 'unknown']", misaligned),
        unmarked=cast("Literal['outside', 'unknown']", unmarked),
        task=cast("Literal['spans', 'tags']", task),
        tell=say,
    )
    save(corpus, output, output_format or (None if "." in output else "columns"))
    names = ", ".join(corpus[0].layers) if len(corpus) else "none"
    say(f"{output}: {len(corpus):,} sentences, {corpus.tokens():,} tokens, annotators: {names}")
