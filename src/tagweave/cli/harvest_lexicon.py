"""`tagweave harvest lexicon`: marks words of lexicons in raw text, as partial annotation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli import options
from tagweave.cli.errors import as_option_error
from tagweave.cli.harvest_options import Like, Sample
from tagweave.cli.outputs import check_outputs
from tagweave.cli.printing import say

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Sentence
    from tagweave.harvest.annotation import Annotated as Match
    from tagweave.harvest.matching import LexiconMatcher


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
    ] = "agreement",
    minimum: Annotated[int, typer.Option(min=1, metavar="N", help="Ignore shorter entries.")] = 2,
    phrases: Annotated[
        int | None,
        typer.Option(min=2, metavar="N", help="Entries of N or more characters may be several words."),
    ] = None,
    agree: Annotated[
        str, typer.Option(metavar="all|any", help="Whether all lexicons must find a word, or any.")
    ] = "all",
    every: Annotated[bool, typer.Option("--all", help="Also write sentences without a word of the lexicons.")] = False,
    like: Like = None,
    sample: Sample = None,
    seed: options.Seed = 0,
) -> None:
    """Mark the words of lexicons in raw text, and leave all else unknown: partial annotation to train on.

    A word counts where both forward and backward maximum matching find it, in all lexicons. Sentences are written in
    KyTea's format; sentences without a word are left out, and so are blanks, which are boundaries.
    """
    from tagweave.corpus.formats import kytea
    from tagweave.corpus.text_file import written
    from tagweave.harvest.lexicon import read
    from tagweave.harvest.matching import LexiconMatcher
    from tagweave.harvest.selection import Selection

    check_outputs([output], [*raw, *lexicons, *(like or ())])
    with as_option_error():
        selection = Selection(tuple(like or ()), sample, seed, (*raw, *lexicons))
    with as_option_error():
        matcher = LexiconMatcher((), matching, minimum, agree, phrases)
    matcher = LexiconMatcher(tuple(read(path) for path in lexicons), matching, minimum, agree, phrases)
    count = _Count()
    with written(output) as stream:
        kytea.write(selection.of(count.keep(_annotated(raw, matcher), every)), stream)
    say(count.line(output) + selection.line)


def _annotated(paths: Iterable[str], matcher: LexiconMatcher) -> Iterator[Match]:
    from tagweave.cli.progress import counted
    from tagweave.corpus.text_file import read_lines
    from tagweave.harvest.annotation import annotated

    for path in paths:
        yield from counted(annotated(read_lines(path), matcher, path), f"sentences of {path}")


class _Count:
    """Counts of sentences read, sentences kept, and words."""

    read = kept = words = 0

    def keep(self, matches: Iterable[Match], every: bool) -> Iterator[Sentence]:
        """The sentences with words in them, or all."""
        for sentence, words in matches:
            self.read += 1
            self.words += words
            if words or every:
                self.kept += 1
                yield sentence

    def line(self, output: str) -> str:
        """The line to print at the end."""
        return f"{output}: {self.kept:,} of {self.read:,} sentences, {self.words:,} words found"
