"""`tagweave harvest lexicon`: marks words of lexicons, or phrases of gazetteers, as partial annotation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError
from tagweave.cli.harvest_gazetteer import mark_phrases
from tagweave.cli.harvest_options import Like, Sample, selection_note
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say
from tagweave.cli.shards import check_alone, through_shards
from tagweave.harvest.options import GazetteerOptions, LexiconOptions

_USUAL = {**vars(LexiconOptions()), **vars(GazetteerOptions()), "like": None, "stop": None}


def lexicon(
    raw: Annotated[
        list[str],
        typer.Argument(
            metavar="RAW", help="Raw text, one sentence per line, or with --gazetteer tokens; - is standard input."
        ),
    ],
    output: options.Output,
    lexicons: Annotated[
        list[str] | None,
        typer.Option("--lexicon", metavar="FILE", help="Words, one per line, optionally with tags (repeatable)."),
    ] = None,
    gazetteers: Annotated[
        list[str] | None,
        typer.Option(
            "--gazetteer", metavar="FILE", help="Phrases, one per line, as TYPE TAB phrase or phrase (repeatable)."
        ),
    ] = None,
    matching: Annotated[
        str,
        typer.Option(
            metavar="agreement|forward|backward", help="With --lexicon: which maximum matching must find a word."
        ),
    ] = LexiconOptions.matching,
    minimum: Annotated[
        int, typer.Option(min=1, metavar="N", help="With --lexicon: ignore shorter entries.")
    ] = LexiconOptions.minimum,
    phrases: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="With --lexicon: entries of N or more characters may be several words."),
    ] = LexiconOptions.phrases,
    agree: Annotated[
        str,
        typer.Option(metavar="all|any", help="With --lexicon: whether all lexicons must find a word, or any."),
    ] = LexiconOptions.agree,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            metavar="NAME",
            help="With --gazetteer: the format of RAW; raw is text to cut into tokens. Default: a file of rows or"
            " labels as it looks, all else raw.",
        ),
    ] = GazetteerOptions.format,
    stop: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="With --gazetteer: phrases not to look for, one per line (repeatable)."),
    ] = None,
    fold: Annotated[
        bool, typer.Option("--fold", help="With --gazetteer: ignore case, and take all digits as one.")
    ] = GazetteerOptions.fold,
    elsewhere: Annotated[
        str,
        typer.Option(
            "--else",
            metavar="unknown|O|O-for-others",
            help="With --gazetteer: what tokens in no phrase are: unknown, in no entity, or in none of a type that"
            " was found.",
        ),
    ] = GazetteerOptions.elsewhere,
    every: Annotated[bool, typer.Option("--all", help="Also write sentences without evidence.")] = LexiconOptions.every,
    like: Like = None,
    sample: Sample = LexiconOptions.sample,
    seed: options.Seed = LexiconOptions.seed,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    on_error: options.OnError = "fail",
) -> None:
    """Mark the words of lexicons, or the phrases of gazetteers, and leave all else unknown: evidence to train on.

    With --lexicon, words are marked in characters. A word counts where both forward and backward maximum matching find
    it, in all lexicons. Sentences are written in KyTea's format; sentences without a word are left out, and so are
    blanks, which are boundaries.

    With --gazetteer, phrases with types are marked among words, from left to right the longest, as spans: a column file
    of tokens and the labels that they may have. Raw text is cut at blanks, and each punctuation character is a token.
    """
    if bool(lexicons) == bool(gazetteers):
        raise OptionError("found no --lexicon and no --gazetteer, or both, expected one of them")
    of_words = {"format": format, "stop": stop, "fold": fold, "elsewhere": elsewhere}
    own = {
        "matching": matching,
        "minimum": minimum,
        "phrases": phrases,
        "agree": agree,
        "like": like,
        "sample": sample,
        "seed": seed,
    }
    if gazetteers:
        _refuse({**own, "cluster": cluster}, "--gazetteer")
        check_alone(workers, on_error)
        mark_phrases(raw, gazetteers, output, **{**of_words, "stop": stop or (), "every": every})
        return
    _refuse(of_words, "--lexicon")
    assert lexicons  # noqa: S101 - as above
    own |= {"every": every, "like": like or ()}
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


def _refuse(values: Mapping[str, Any], beside: str) -> None:
    """Raise if an option is set that means nothing beside another one."""
    for name, value in values.items():
        if value != _USUAL.get(name):
            option = {"elsewhere": "else"}.get(name, name)
            raise OptionError(f"found --{option} with {beside}, expected it without")
