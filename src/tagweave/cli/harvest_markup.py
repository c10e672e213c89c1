"""`tagweave harvest markup`: turns the markup of pages into partial annotation."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.harvest_options import Like, Sample, selection_note
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say
from tagweave.cli.shards import check_alone, through_shards
from tagweave.harvest.options import MarkupOptions


def markup(
    pages: Annotated[
        list[str], typer.Argument(metavar="INPUT", help="Pages, or folders of pages; - is standard input.")
    ],
    output: options.Output,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            metavar="markdown|html|mediawiki", help="The format of the pages, if their names do not imply it."
        ),
    ] = MarkupOptions.format,
    simplified: Annotated[
        bool, typer.Option("--simplified", help="Convert traditional Chinese characters to simplified ones.")
    ] = MarkupOptions.simplified,
    free_pairs: Annotated[
        bool, typer.Option("--free-pairs", help="Do not treat two marked Chinese characters as one word.")
    ] = MarkupOptions.free_pairs,
    words: Annotated[
        bool, typer.Option("--words", help="Mark links and bold text among words, as entities of unknown type.")
    ] = MarkupOptions.words,
    every: Annotated[bool, typer.Option("--all", help="Also write sentences without evidence.")] = MarkupOptions.every,
    like: Like = None,
    sample: Sample = MarkupOptions.sample,
    seed: options.Seed = MarkupOptions.seed,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    on_error: options.OnError = "fail",
) -> None:
    """Turn links, emphasis and headings of pages into boundaries of words: partial annotation to train on.

    Sentences are written in KyTea's format, without repeats. Two marked Chinese characters are a word; marked text in
    other scripts is not evidence. Code blocks, tables, templates, references and scripts are dropped.

    With --words, links and bold text are spans among words instead: a column file, with the labels B-* and I-* and all
    else unknown. Text is cut at blanks, and each punctuation character is a token.
    """
    own = {
        "format": format,
        "simplified": simplified,
        "free_pairs": free_pairs,
        "words": words,
        "every": every,
        "like": like or (),
        "sample": sample,
        "seed": seed,
    }
    if cluster is not None:
        from tagweave.front.shards import harvest_markup_shards

        through_shards(
            harvest_markup_shards, pages, output=output, on_error=on_error, cluster=cluster, workers=workers, **own
        )
        return
    check_alone(workers, on_error)
    from tagweave.cli.progress import counted
    from tagweave.front.harvest import harvest_markup_files, page_files

    check_outputs([output], [*(file for file, _ in page_files(pages, format)), *(like or ())])
    counts = harvest_markup_files(pages, output, counted, **own)
    of_two = "" if words else f" ({counts.spans_of_two:,} of two characters)"
    say(
        f"{output}: {counts.pages:,} pages, {counts.sentences:,} sentences, {counts.spans:,} marked spans{of_two},"
        f" {counts.known:,} {'tokens in them' if words else 'places between characters known'}"
        f"{selection_note(like, sample, counts.written)}"
    )
