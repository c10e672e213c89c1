"""Options of harvests, named as on the command line: which sentences are kept, and how evidence is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any

from tagweave.errors import TagweaveError
from tagweave.options import described, option

File = str | PathLike[str]

MATCHINGS = ("agreement", "forward", "backward")
"""Which maximum matching must find a word; `agreement`: both."""
AGREEMENTS = ("all", "any")
"""How many of the lexicons must find a word."""
ELSEWHERE = ("unknown", "O", "O-for-others")
"""What is known of tokens in no phrase: nothing; that they are in no entity; that they are in none of a type that was
found."""
MARKUP_FORMATS = ("markdown", "html", "mediawiki")


class HarvestError(TagweaveError):
    """An option of a harvest with a wrong value."""


def _check_choice(options: Any, name: str, choices: Sequence[str | None]) -> None:
    if (value := getattr(options, name)) not in choices:
        raise HarvestError(f"found `{name}={value}`, expected one of {', '.join(filter(None, choices))}")


@described
@dataclass(frozen=True, kw_only=True)
class HarvestOptions:
    """Which sentences a harvest keeps."""

    every: bool = option(False, "Also write sentences without evidence.")
    like: File | Sequence[File] = option(
        (), "Keep sentences that mark a span that occurs in this raw text (repeatable).", "RAW"
    )
    sample: int | None = option(None, "Keep this many sentences, drawn at random from the rest.", "N", 1)
    seed: int = option(0, "The seed of the sample.", "N", 0)


@described
@dataclass(frozen=True, kw_only=True)
class LexiconOptions(HarvestOptions):
    """How words of lexicons are found. An unknown matching or agreement raises a HarvestError."""

    matching: str = option("agreement", "Which maximum matching must find a word.", "|".join(MATCHINGS))
    minimum: int = option(2, "Ignore entries of fewer characters.", "N", 1)
    phrases: int | None = option(None, "Entries of N or more characters may be several words.", "N", 2)
    agree: str = option(
        "all",
        "Whether all lexicons must find a word, or any; then overlapping words of different ones are left out.",
        "|".join(AGREEMENTS),
    )

    def __post_init__(self) -> None:
        _check_choice(self, "matching", MATCHINGS)
        _check_choice(self, "agree", AGREEMENTS)


@described
@dataclass(frozen=True, kw_only=True)
class MarkupOptions(HarvestOptions):
    """How the markup of pages is read. Options that exclude one another raise a HarvestError."""

    format: str | None = option(
        None, "The format of the pages, if their names do not imply it.", "|".join(MARKUP_FORMATS)
    )
    simplified: bool = option(False, "Convert traditional Chinese characters to simplified ones.")
    free_pairs: bool = option(False, "Do not treat two marked Chinese characters as one word.")
    words: bool = option(False, "Mark links and bold text among words, as entities of unknown type.")

    def __post_init__(self) -> None:
        _check_choice(self, "format", (None, *MARKUP_FORMATS))
        if self.words and (self.free_pairs or self.like):
            option_name = "free_pairs" if self.free_pairs else "like"
            raise HarvestError(f"found `{option_name}` with `words`, expected it without")


@described
@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """How words are clustered. A number out of its range raises a HarvestError."""

    classes: int = option(256, "How many clusters.", "N", 2)
    minimum_count: int = option(1, "Words that occur less often get no cluster.", "N", 1)

    def __post_init__(self) -> None:
        for number in fields(self):
            if (value := getattr(self, number.name)) < (least := number.metadata["least"]):
                raise HarvestError(f"found `{number.name}={value}`, expected {least} or more")


@described
@dataclass(frozen=True, kw_only=True)
class GazetteerOptions:
    """How phrases of gazetteers are found, and what they say about other tokens."""

    format: str | None = option(
        None,
        "The format of the text; raw is text to cut into tokens. Default: a file of rows or labels as it looks, all"
        " else raw.",
        "NAME",
    )
    stop: File | Sequence[File] = option((), "Phrases not to look for, one per line (repeatable).", "FILE")
    fold: bool = option(False, "Ignore case, and take all digits as one.")
    elsewhere: str = option(
        "unknown",
        "What tokens in no phrase are: unknown, in no entity, or in none of a type that was found.",
        "|".join(ELSEWHERE),
    )
    every: bool = option(False, "Also write sentences without evidence.")

    def __post_init__(self) -> None:
        _check_choice(self, "elsewhere", ELSEWHERE)
