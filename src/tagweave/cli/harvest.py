"""`tagweave harvest`: partial annotation and word clusters for free, with a command for each source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from tagweave.cli import options
from tagweave.cli.commands import InPanels, group
from tagweave.cli.console import FLAGS, OptionError, check_outputs
from tagweave.cli.options import argument, flag
from tagweave.cli.use import through_many_files
from tagweave.harvest.options import ClusterOptions, GazetteerOptions, LexiconOptions, MarkupOptions
from tagweave.options import declared
from tagweave.streams import say

_LEXICON_FIELDS = declared({"": LexiconOptions})
_GAZETTEER_FIELDS = declared({"": GazetteerOptions})
_SHARED = ("every",)
"""Options of both."""
_FLAGS = {"every": "all"}
_MARKUP_FIELDS = declared({"": MarkupOptions})
_CLUSTER_FIELDS = declared({"": ClusterOptions})


@options.taking(
    declared({"--lexicon": LexiconOptions, "--gazetteer": GazetteerOptions}),
    _FLAGS,
    lambda declaration: "Options" if declaration.name in _SHARED else f"With {next(iter(declaration.fields))}",
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
    **option_values: Any,
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
    settings = options.chosen(option_values, _LEXICON_FIELDS)
    phrase_settings = options.chosen(option_values, _GAZETTEER_FIELDS)
    if gazetteers:
        _refuse({**settings, **options.chosen(option_values, options.MANY_FILES)}, "--gazetteer")
        _mark_phrases(raw, gazetteers, output, phrase_settings)
        return
    _refuse(phrase_settings, "--lexicon")
    if through_many_files("harvest_lexicon_folder", raw, lexicons, output=output, values=option_values, **settings):
        return
    from tagweave.cli.terminal import counted
    from tagweave.front.harvest import harvest_lexicon_files

    words = lexicons or []
    check_outputs([output], [*raw, *words, *settings.get("like", ())])
    counts = harvest_lexicon_files(raw, words, output, counted, **settings)
    line = f"{output}: {counts.kept:,} of {counts.sentences:,} sentences, {counts.words:,} words found"
    say(line + _selection_note(settings, counts.written))


def _mark_phrases(raw: Sequence[str], gazetteers: Sequence[str], output: str, settings: Mapping[str, Any]) -> None:
    """Mark phrases, and tell how each input was read, with counts."""
    from tagweave.cli.terminal import counted
    from tagweave.front.harvest import RAW, harvest_gazetteer_files

    check_outputs([output], [*raw, *gazetteers, *settings.get("stop", ())])
    counts = harvest_gazetteer_files(raw, gazetteers, output, counted, **settings)
    for path, name in zip(raw, counts.formats, strict=True):
        say(f"{path} is read as {'raw text, cut into tokens' if name == RAW else name}")
    if not counts.phrases:
        say("no phrase was found: entries are TYPE TAB phrase, with a tab, and case counts without --fold")
    say(f"{output}: {counts.kept:,} of {counts.sentences:,} sentences, {counts.phrases:,} phrases found")


def _selection_note(settings: Mapping[str, Any], count: int) -> str:
    """Return how many sentences were kept, to be added to the last line, if options left out any."""
    return f"; {count:,} sentences kept" if "like" in settings or "sample" in settings else ""


def _refuse(values: Mapping[str, Any], beside: str) -> None:
    """Raise if an option is set that means nothing beside another one."""
    for name, value in values.items():
        if value is not None and name not in _SHARED:
            raise OptionError(f"found --{FLAGS.get(name, name).replace('_', '-')} with {beside}, expected it without")


@options.taking(_MARKUP_FIELDS, _FLAGS)
@options.taking(options.MANY_FILES)
def markup(
    pages: Annotated[list[str], argument("INPUT", "Pages, or folders of pages; - is standard input.")],
    output: options.Output,
    **option_values: Any,
) -> None:
    """Turn links, emphasis and headings of pages into boundaries of words: partial annotation to train on.

    Sentences are written in KyTea's format, without repeats. Two marked Chinese characters are a word; marked text in
    other scripts is not evidence. Code blocks, tables, templates, references and scripts are dropped.

    With --words, links and bold text are spans among words instead: a column file, with the labels B-* and I-* and all
    else unknown. Text is cut at blanks, and each punctuation character is a token.
    """
    settings = options.chosen(option_values, _MARKUP_FIELDS)
    if through_many_files("harvest_markup_folder", pages, output=output, values=option_values, **settings):
        return
    from tagweave.cli.terminal import counted
    from tagweave.front.harvest import harvest_markup_files, page_files

    read = [path for path, _ in page_files(pages, settings.get("format"))]
    check_outputs([output], [*read, *settings.get("like", ())])
    counts = harvest_markup_files(pages, output, counted, **settings)
    words = settings.get("words")
    pairs = "" if words else f" ({counts.spans_of_two:,} of two characters)"
    say(
        f"{output}: {counts.pages:,} pages, {counts.sentences:,} sentences, {counts.spans:,} marked spans{pairs},"
        f" {counts.known:,} {'tokens in them' if words else 'places between characters known'}"
        f"{_selection_note(settings, counts.written)}"
    )


@options.taking(_CLUSTER_FIELDS, {"minimum_count": "minimum-count"})
def clusters(
    raw: Annotated[list[str], argument("RAW", "Words, in any format; their labels are not looked at.")],
    output: options.Output,
    format: options.InputFormat = None,  # noqa: A002
    **option_values: Any,
) -> None:
    """Cluster words by their neighbours in raw text (Brown et al. 1992): features for `train --clusters`.

    Each line is a bit string, a word and its count. Words whose bit strings begin alike are alike.
    """
    from tagweave.cli.terminal import counted
    from tagweave.front.harvest import harvest_clusters_files

    check_outputs([output], raw)
    word_clusters = harvest_clusters_files(
        raw, output, format, counted, **options.chosen(option_values, _CLUSTER_FIELDS)
    )
    say(f"{output}: {len(word_clusters):,} words in {word_clusters.classes:,} clusters")


harvest = group("harvest", "Partial annotation for free, from lexicons and from markup; word clusters from raw text.")
for command in (lexicon, markup, clusters):
    harvest.command(no_args_is_help=True, cls=InPanels)(command)
