"""`tagweave harvest markup`: turns the markup of pages into partial annotation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError, as_option_error
from tagweave.cli.harvest_options import Like, Sample
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Sentence
    from tagweave.harvest.markup import Harvest


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
    ] = None,
    simplified: Annotated[
        bool, typer.Option("--simplified", help="Convert traditional Chinese characters to simplified ones.")
    ] = False,
    free_pairs: Annotated[
        bool, typer.Option("--free-pairs", help="Do not treat two marked Chinese characters as one word.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="Also write sentences without evidence.")] = False,
    like: Like = None,
    sample: Sample = None,
    seed: options.Seed = 0,
) -> None:
    """Turn links, emphasis and headings of pages into boundaries of words: partial annotation to train on.

    Sentences are written in KyTea's format, without repeats. Two marked Chinese characters are a word; marked text in
    other scripts is not evidence. Code blocks, tables, templates, references and scripts are dropped.
    """
    from tagweave.corpus.formats import kytea
    from tagweave.corpus.text_file import written
    from tagweave.harvest.markup import Harvest
    from tagweave.harvest.page import FORMATS, find
    from tagweave.harvest.selection import Selection

    if format is not None and format not in FORMATS:
        raise OptionError(f"found --format {format}, expected one of {', '.join(FORMATS)}")
    with as_option_error():
        selection = Selection(tuple(like or ()), sample, seed, tuple(pages))
    files = [file for page in pages for file in find(page, format)]
    check_outputs([output], [*(file for file, _ in files), *(like or ())])
    harvest = Harvest(words_of_two=not free_pairs, everything=every)
    with written(output) as stream:
        kytea.write(selection.of(_sentences(files, harvest, simplified)), stream)
    say(
        f"{output}: {len(files):,} pages, {harvest.sentences:,} sentences, {harvest.spans:,} marked spans"
        f" ({harvest.spans_of_two:,} of two characters), {harvest.known:,} places between characters known"
        f"{selection.line}"
    )


def _sentences(files: Iterable[tuple[str, str]], harvest: Harvest, simplified: bool) -> Iterator[Sentence]:
    from tagweave.cli.progress import counted
    from tagweave.harvest.page import read
    from tagweave.harvest.simplified import Simplifier

    convert = Simplifier().blocks if simplified else iter
    for path, format in counted(files, "pages"):  # noqa: A001
        yield from harvest.of(convert(read(path, format)), path)
