"""`tagweave info`: describes corpora and models."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tagweave.cli import options
from tagweave.cli.printing import show
from tagweave.corpus.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 10  # labels of a layer
_WIDTH = 60  # characters of the column that lists them


def info(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Corpora ([G=]FILE[#LAYER]) and models.")],
    format: options.InputFormat = None,  # noqa: A002
    sources: options.Sources = None,
    as_json: options.AsJson = False,
) -> None:
    """Describe files: corpora (how much of each layer is known, ambiguous, unknown) and models.

    With --sources, describe who says what in them: how many tokens each source labels (coverage), how many of these
    others label too (overlap) or contradict (conflict), and how far they agree beyond chance (Krippendorff's alpha).
    All files are one corpus then, or with --sources files each is a source of the same text.

    --json writes one object per line for each file, or with --sources one.
    """
    from tagweave.evaluation.console import table_console
    from tagweave.front.description import describe, describe_sources, model_lines

    console = table_console()
    if sources:
        description = describe_sources(files, sources, format)
        if as_json:
            typer.echo(json.dumps(description, ensure_ascii=False))
        else:
            _show_sources(description, console)
        return
    for file in files:
        description = describe(file, format)
        if as_json:
            typer.echo(json.dumps(description, ensure_ascii=False))
        elif description["kind"] == "model":
            for line in model_lines(description):
                show(line)
        else:
            _show_corpus(description, console)


def _show_corpus(corpus: dict[str, Any], console: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    numbers = (f"{corpus[key]:,} {key}" for key in ("sentences", "tokens", "forms"))
    unit = "characters" if corpus["unit"] == "character" else "words"
    show(f"{corpus['file']}: corpus of {unit}, {', '.join(numbers)}")
    for line in filter(None, (corpus["reading"], *corpus["warnings"])):
        show(f"  {line}")
    layers = {**corpus["layers"], **corpus["heads"]}
    if not layers:
        show("  no layers: nothing is annotated but the words")
        return
    table = Table("layer", "one label", "ambiguous", "unknown")
    table.add_column("most frequent", max_width=_WIDTH, overflow="fold")
    for name, layer in layers.items():
        frequent = " ".join(f"{label} {count:,}" for label, count in list(layer["labels"].items())[:_SHOWN])
        shares = (_share(layer[key], corpus["tokens"]) for key in ("full", "ambiguous", "unknown"))
        table.add_row(*(Text(printable(cell)) for cell in (name, *shares, frequent)))
    console.print(table)
    for name, layer in corpus["layers"].items():
        if "spans" in layer:
            show(f"  {printable(name)}: {_spans(layer, corpus['tokens'])}")
        if "rejected" in layer:
            show(f"  {printable(name)}: {layer['rejected']:,} rejected spans")


def _show_sources(description: dict[str, Any], console: Console) -> None:
    from tagweave.cli.source_table import coverage_table

    unit = "characters" if description["unit"] == "character" else "words"
    numbers = f"{description['sentences']:,} sentences, {description['tokens']:,} tokens"
    tokens = description["tokens"]
    show(f"{', '.join(description['files'])}: {len(description['sources'])} sources on a corpus of {unit}, {numbers}")
    by_source = {"all": description["all"], **description["sources"]}
    console.print(coverage_table("source", by_source, tokens, "labels"))
    console.print(coverage_table("label", description["labels"], tokens, "sources"))


def _spans(layer: dict[str, Any], tokens: int) -> str:
    """How many spans there are, by type, and the share of tokens inside them if every token has one label."""
    by_type = " ".join(f"{printable(label)} {count:,}" for label, count in layer["spans"].items())
    line = f"{sum(layer['spans'].values()):,} spans: {by_type}"
    if layer["full"] < tokens:
        return line
    return f"{line}; {100 * (1 - layer['labels'].get('O', 0) / tokens):.1f} % of the tokens are inside spans"


def _share(count: int, total: int) -> str:
    return f"{count:,} ({100 * count / total:.1f} %)" if total else "0"
