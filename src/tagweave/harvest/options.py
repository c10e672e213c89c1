"""Options of harvests, named as on the command line: what a harvest keeps, and how evidence is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from tagweave.errors import TagweaveError

File = str | PathLike[str]

MATCHINGS = ("agreement", "forward", "backward")
"""Which maximum matching must find a word; `agreement`: both."""
AGREEMENTS = ("all", "any")
"""How many of the lexicons must find a word."""
MARKUP_FORMATS = ("markdown", "html", "mediawiki")


class HarvestError(TagweaveError):
    """An option of a harvest with a wrong value."""


@dataclass(frozen=True, kw_only=True)
class HarvestOptions:
    """Which sentences a harvest keeps.

    Attributes:
        every: also keep sentences without evidence.
        like: raw text, one or several files; of the sentences, keep those that mark a span which occurs in it.
        sample: how many of these to draw at random; by default all are kept.
        seed: the seed of the sample.
    """

    every: bool = False
    like: File | Sequence[File] = ()
    sample: int | None = None
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class LexiconOptions(HarvestOptions):
    """How words of lexicons are found.

    Attributes:
        matching: one of `MATCHINGS`.
        minimum: entries of fewer characters are ignored.
        phrases: entries of at least so many characters may be several words; by default every entry is one word.
        agree: one of `AGREEMENTS`. With `any`, overlapping words of different lexicons are left out.

    Raises:
        HarvestError: an unknown matching or agreement.
    """

    matching: str = "agreement"
    minimum: int = 2
    phrases: int | None = None
    agree: str = "all"

    def __post_init__(self) -> None:
        check_matching(self.matching, self.agree)


@dataclass(frozen=True, kw_only=True)
class MarkupOptions(HarvestOptions):
    """How the markup of pages is read.

    Attributes:
        format: one of `MARKUP_FORMATS`; by default the names of the files imply it.
        simplified: convert traditional Chinese characters to simplified ones.
        free_pairs: do not treat two marked Chinese characters as one word.
        words: mark links and bold text among words, as spans of unknown type, in place of words among characters.

    Raises:
        HarvestError: an unknown format, or an option of characters with `words`.
    """

    format: str | None = None
    simplified: bool = False
    free_pairs: bool = False
    words: bool = False

    def __post_init__(self) -> None:
        if self.format not in (None, *MARKUP_FORMATS):
            raise HarvestError(f"found `format={self.format}`, expected one of {', '.join(MARKUP_FORMATS)}")
        if self.words and (self.free_pairs or self.like):
            found = "free_pairs" if self.free_pairs else "like"
            raise HarvestError(f"found `{found}` with `words`, expected it without")


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """How words are clustered.

    Attributes:
        classes: how many clusters.
        minimum_count: less frequent words get no cluster.

    Raises:
        HarvestError: fewer than two clusters, or a count below 1.
    """

    classes: int = 256
    minimum_count: int = 1

    def __post_init__(self) -> None:
        for name, value, least in (("classes", self.classes, 2), ("minimum_count", self.minimum_count, 1)):
            if value < least:
                raise HarvestError(f"found `{name}={value}`, expected {least} or more")


def check_matching(matching: str, agree: str) -> None:
    """Raise HarvestError for a matching or an agreement that does not exist."""
    if matching not in MATCHINGS:
        raise HarvestError(f"unknown matching {matching!r}, expected one of {', '.join(MATCHINGS)}")
    if agree not in AGREEMENTS:
        raise HarvestError(f"unknown agreement {agree!r}, expected one of {', '.join(AGREEMENTS)}")


ELSEWHERE = ("unknown", "O", "O-for-others")
"""What is known of tokens in no phrase: nothing; that they are in no entity; that they are in none of a type that was
found."""


@dataclass(frozen=True, kw_only=True)
class GazetteerOptions:
    """How phrases of gazetteers are found, and what they say about other tokens.

    Attributes:
        format: the format of the text; `raw` is text that is still to be cut into tokens. By default a file of rows or
            labels is read as what it looks like, and any other as raw text.
        stop: phrases that are not looked for, one or several files with one phrase a line.
        fold: whether upper and lower case are alike, and all digits.
        elsewhere: one of `ELSEWHERE`.
        every: also keep sentences without evidence.

    Raises:
        HarvestError: an unknown value of `elsewhere`.
    """

    format: str | None = None
    stop: File | Sequence[File] = ()
    fold: bool = False
    elsewhere: str = "unknown"
    every: bool = False

    def __post_init__(self) -> None:
        if self.elsewhere not in ELSEWHERE:
            raise HarvestError(f"found `elsewhere={self.elsewhere}`, expected one of {', '.join(ELSEWHERE)}")
