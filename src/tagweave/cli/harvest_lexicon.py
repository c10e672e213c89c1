"""`tagweave harvest lexicon`: marks words of lexicons in raw text, as partial annotation."""

from __future__ import annotations

from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.harvest_options import Like, Sample, selection_note
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say
from tagweave.cli.shards import check_alone, through_shards
from tagweave.harvest.options import LexiconOptions


def lexicon(
    raw: Annotated[
        list[str], typer.Argument(metavar="RAW", help="Raw text, one sentence per line; - is standard input.")
    ],
    lexicons: Annotated[
        list[str],
        typer.Option("--lexicon", metavar="FILE", help="Words, one per line, optionally with tags (repeatable)."),
    ],
    output: options.Output,
    matching: Annotated[
        str,
        typer.Option(metavar="agreement|forward|backward", help="Which maximum matching must find a word."),
    ] = LexiconOptions.matching,
    minimum: Annotated[int, typer.Option(min=1, metavar="N", help="Ignore shorter entries.")] = LexiconOptions.minimum,
    phrases: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="Entries of N or more characters may be several words."),
    ] = LexiconOptions.phrases,
    agree: Annotated[
        str, typer.Option(metavar="all|any", help="Whether all lexicons must find a word, or any.")
    ] = LexiconOptions.agree,
    every: Annotated[
        bool, typer.Option("--all", help="Also write sentences without a word of the lexicons.")
    ] = LexiconOptions.every,
    like: Like = None,
    sample: Sample = LexiconOptions.sample,
    seed: options.Seed = LexiconOptions.seed,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    on_error: options.OnError = "fail",
) -> None:
    """Mark the words of lexicons in raw text, and leave all else unknown: partial annotation to train on.

    A word counts where both forward and backward maximum matching find it, in all lexicons. Sentences are written in
    KyTea's format; sentences without a word are left out, and so are blanks, which are boundaries.
    """
    own = {
        "matching": matching,
        "minimum": minimum,
        "phrases": phrases,
        "agree": agree,
        "every": every,
        "like": like or (),
        "sample": sample,
        "seed": seed,
    }
    if cluster is not None:
        from tagweave.front.shards import harvest_lexicon_shards

        through_shards(
            harvest_lexicon_shards,
            raw,
            lexicons,
            output=output,
            on_error=on_error,
            cluster=cluster,
            workers=workers,
            **own,
        )
        return
    check_alone(workers, on_error)
    from tagweave.cli.progress import counted
    from tagweave.front.harvest import harvest_lexicon_files

    check_outputs([output], [*raw, *lexicons, *(like or ())])
    counts = harvest_lexicon_files(raw, lexicons, output, counted, **own)
    found = f"{output}: {counts.kept:,} of {counts.sentences:,} sentences, {counts.words:,} words found"
    say(found + selection_note(like, sample, counts.written))
