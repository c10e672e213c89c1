"""`tagweave harvest`: partial annotation and word clusters for free, with a command for each source.

Each command is a file in this folder and is registered here.

What all harvests have in common: options on which sentences to keep, and how many were kept.

`tagweave harvest lexicon --gazetteer`: marks phrases with types among words, as evidence for spans.

`tagweave harvest lexicon`: marks words of lexicons, or phrases of gazetteers, as partial annotation.

`tagweave harvest markup`: turns the markup of pages into partial annotation.

`tagweave harvest clusters`: clusters of words from raw text, for features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from tagweave.cli import options
from tagweave.cli.commands import Commands
from tagweave.cli.console import OptionError, check_outputs
from tagweave.cli.shards import check_alone, through_shards
from tagweave.harvest.options import ClusterOptions, GazetteerOptions, LexiconOptions, MarkupOptions
from tagweave.streams.notes import say

Like = Annotated[
    list[str] | None,
    typer.Option(
        "--like", metavar="RAW", help="Keep sentences that mark a span that occurs in this raw text (repeatable)."
    ),
]
Sample = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Keep this many sentences, drawn at random from the rest.")
]


def selection_note(like: list[str] | None, sample: int | None, count: int) -> str:
    """How many sentences were kept, to be added to the last line, if these options left out any."""
    return "" if not like and sample is None else f"; {count:,} sentences kept"


def mark_phrases(inputs: Sequence[str], gazetteers: Sequence[str], output: str, **options: Any) -> None:
    """Harvest with fields of `GazetteerOptions`, and tell how each input was read, and what was found."""
    from tagweave.cli.console import counted
    from tagweave.front.harvest import RAW, harvest_gazetteer_files

    check_outputs([output], [*inputs, *gazetteers, *options["stop"]])
    counts = harvest_gazetteer_files(inputs, gazetteers, output, counted, **options)
    for path, name in zip(inputs, counts.formats, strict=True):
        say(f"{path} is read as {'raw text, cut into tokens' if name == RAW else name}")
    if not counts.phrases:
        say("no phrase was found: entries are TYPE TAB phrase, with a tab, and case counts without --fold")
    say(f"{output}: {counts.kept:,} of {counts.sentences:,} sentences, {counts.phrases:,} phrases found")


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
    from tagweave.cli.console import counted
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
    from tagweave.cli.console import counted
    from tagweave.front.harvest import harvest_markup_files, page_files

    check_outputs([output], [*(file for file, _ in page_files(pages, format)), *(like or ())])
    counts = harvest_markup_files(pages, output, counted, **own)
    of_two = "" if words else f" ({counts.spans_of_two:,} of two characters)"
    say(
        f"{output}: {counts.pages:,} pages, {counts.sentences:,} sentences, {counts.spans:,} marked spans{of_two},"
        f" {counts.known:,} {'tokens in them' if words else 'places between characters known'}"
        f"{selection_note(like, sample, counts.written)}"
    )


def clusters(
    raw: Annotated[
        list[str], typer.Argument(metavar="RAW", help="Words, in any format; their labels are not looked at.")
    ],
    output: options.Output,
    classes: Annotated[int, typer.Option(min=2, metavar="N", help="How many clusters.")] = ClusterOptions.classes,
    minimum_count: Annotated[
        int, typer.Option(min=1, metavar="N", help="Words that occur less often get no cluster.")
    ] = ClusterOptions.minimum_count,
    format: options.InputFormat = None,  # noqa: A002
) -> None:
    """Cluster words by their neighbours in raw text (Brown et al. 1992): features for `train --clusters`.

    Each line is a bit string, a word and its count. Words whose bit strings begin alike are alike.
    """
    from tagweave.cli.console import counted
    from tagweave.front.harvest import harvest_clusters_files

    check_outputs([output], raw)
    own = {"classes": classes, "minimum_count": minimum_count}
    made = harvest_clusters_files(raw, output, format, counted, **own)
    say(f"{output}: {len(made):,} words in {made.classes:,} clusters")


harvest = typer.Typer(
    name="harvest",
    cls=Commands,
    help="Partial annotation for free, from lexicons and from markup; word clusters from raw text.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)
harvest.command(no_args_is_help=True)(lexicon)
harvest.command(no_args_is_help=True)(markup)
harvest.command(no_args_is_help=True)(clusters)
