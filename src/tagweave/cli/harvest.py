"""`tagweave harvest`: partial annotation and word clusters for free, with a command for each source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from tagweave.cli import options
from tagweave.cli.commands import InPanels, group
from tagweave.cli.console import FLAGS, OptionError, check_outputs, counted
from tagweave.cli.many_files import through_many_files
from tagweave.cli.options import argument, flag
from tagweave.harvest.options import ClusterOptions, GazetteerOptions, LexiconOptions, MarkupOptions
from tagweave.options import declared
from tagweave.streams import say


def selection_note(options: Mapping[str, Any], count: int) -> str:
    """How many sentences were kept, to be added to the last line, if options left out any."""
    return f"; {count:,} sentences kept" if "like" in options or "sample" in options else ""


def mark_phrases(inputs: Sequence[str], gazetteers: Sequence[str], output: str, **options: Any) -> None:
    """Harvest with fields of `GazetteerOptions`, and tell how each input was read, with counts."""
    from tagweave.front.harvest import RAW, harvest_gazetteer_files

    check_outputs([output], [*inputs, *gazetteers, *options.get("stop", ())])
    counts = harvest_gazetteer_files(inputs, gazetteers, output, counted, **options)
    for path, name in zip(inputs, counts.formats, strict=True):
        say(f"{path} is read as {'raw text, cut into tokens' if name == RAW else name}")
    if not counts.phrases:
        say("no phrase was found: entries are TYPE TAB phrase, with a tab, and case counts without --fold")
    say(f"{output}: {counts.kept:,} of {counts.sentences:,} sentences, {counts.phrases:,} phrases found")


_OF_LEXICONS = declared({"": LexiconOptions})
_OF_GAZETTEERS = declared({"": GazetteerOptions})
_ALIKE = ("every",)
"""Options of both."""
_FLAGS = {"every": "all"}
_OF_MARKUP = declared({"": MarkupOptions})
_OF_CLUSTERS = declared({"": ClusterOptions})


@options.taking(
    declared({"--lexicon": LexiconOptions, "--gazetteer": GazetteerOptions}),
    _FLAGS,
    lambda each: "Options" if each.name in _ALIKE else f"With {next(iter(each.fields))}",
)
@options.taking(options.MANY_FILES)
def lexicon(
    raw: Annotated[
        list[str],
        argument("RAW", "Raw text, one sentence per line, or with --gazetteer tokens; - is standard input."),
    ],
    output: options.Output,
    lexicons: Annotated[
        list[str] | None, flag("FILE", "Words, one per line, optionally with tags (repeatable).", "--lexicon")
    ] = None,
    gazetteers: Annotated[
        list[str] | None,
        flag("FILE", "Phrases, one per line, as TYPE TAB phrase or phrase (repeatable).", "--gazetteer"),
    ] = None,
    **others: Any,
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
    place = options.given(others, options.MANY_FILES)
    own, of_phrases = options.given(others, _OF_LEXICONS), options.given(others, _OF_GAZETTEERS)
    if gazetteers:
        _refuse({**own, **place}, "--gazetteer")
        mark_phrases(raw, gazetteers, output, **of_phrases)
        return
    _refuse(of_phrases, "--lexicon")
    assert lexicons  # noqa: S101 - as above
    if through_many_files("harvest_lexicon_folder", raw, lexicons, output=output, place=place, **own):
        return
    from tagweave.front.harvest import harvest_lexicon_files

    check_outputs([output], [*raw, *lexicons, *own.get("like", ())])
    counts = harvest_lexicon_files(raw, lexicons, output, counted, **own)
    found = f"{output}: {counts.kept:,} of {counts.sentences:,} sentences, {counts.words:,} words found"
    say(found + selection_note(own, counts.written))


def _refuse(values: Mapping[str, Any], beside: str) -> None:
    """Raise if an option is set that means nothing beside another one."""
    for name, value in values.items():
        if value is not None and name not in _ALIKE:
            raise OptionError(f"found --{FLAGS.get(name, name).replace('_', '-')} with {beside}, expected it without")


@options.taking(_OF_MARKUP, _FLAGS)
@options.taking(options.MANY_FILES)
def markup(
    pages: Annotated[list[str], argument("INPUT", "Pages, or folders of pages; - is standard input.")],
    output: options.Output,
    **others: Any,
) -> None:
    """Turn links, emphasis and headings of pages into boundaries of words: partial annotation to train on.

    Sentences are written in KyTea's format, without repeats. Two marked Chinese characters are a word; marked text in
    other scripts is not evidence. Code blocks, tables, templates, references and scripts are dropped.

    With --words, links and bold text are spans among words instead: a column file, with the labels B-* and I-* and all
    else unknown. Text is cut at blanks, and each punctuation character is a token.
    """
    place = options.given(others, options.MANY_FILES)
    own = options.given(others, _OF_MARKUP)
    if through_many_files("harvest_markup_folder", pages, output=output, place=place, **own):
        return
    from tagweave.front.harvest import harvest_markup_files, page_files

    check_outputs([output], [*(file for file, _ in page_files(pages, own.get("format"))), *own.get("like", ())])
    counts = harvest_markup_files(pages, output, counted, **own)
    words = own.get("words")
    of_two = "" if words else f" ({counts.spans_of_two:,} of two characters)"
    say(
        f"{output}: {counts.pages:,} pages, {counts.sentences:,} sentences, {counts.spans:,} marked spans{of_two},"
        f" {counts.known:,} {'tokens in them' if words else 'places between characters known'}"
        f"{selection_note(own, counts.written)}"
    )


@options.taking(_OF_CLUSTERS, {"minimum_count": "minimum-count"})
def clusters(
    raw: Annotated[list[str], argument("RAW", "Words, in any format; their labels are not looked at.")],
    output: options.Output,
    format: options.InputFormat = None,  # noqa: A002
    **others: Any,
) -> None:
    """Cluster words by their neighbours in raw text (Brown et al. 1992): features for `train --clusters`.

    Each line is a bit string, a word and its count. Words whose bit strings begin alike are alike.
    """
    from tagweave.front.harvest import harvest_clusters_files

    check_outputs([output], raw)
    made = harvest_clusters_files(raw, output, format, counted, **options.given(others, _OF_CLUSTERS))
    say(f"{output}: {len(made):,} words in {made.classes:,} clusters")


harvest = group("harvest", "Partial annotation for free, from lexicons and from markup; word clusters from raw text.")
for command in (lexicon, markup, clusters):
    harvest.command(no_args_is_help=True, cls=InPanels)(command)
