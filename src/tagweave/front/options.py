"""Errors that users can fix: their messages in one line, and misspelt options.

Options for labelling and converting files, named as on the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar

from tagweave.corpus.characters import printable
from tagweave.errors import StreamError, is_for_users, one_of, shortened

if TYPE_CHECKING:
    from tagweave.streams.stream import First, Pipeline, Progress, Successor

Options = TypeVar("Options")
_LONGEST = 2000  # characters, also of errors of the system


def message(error: BaseException) -> str | None:
    """The line to show for an error in the input, the options or the file system; `None` for a bug of this package."""
    if not is_for_users(error):
        return None
    if isinstance(error, OSError) and error.filename and error.strerror:
        return _one_line(f"{error.filename}: {error.strerror}")
    return _one_line(str(error))


def _one_line(text: str) -> str:
    return printable(" ".join(shortened(text, _LONGEST).split("\n")))


def check_names(function: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise unless a function has all the options that it was given.

    Raises:
        TypeError: it has not; the message names the nearest option.
    """
    names = list(known)
    for name in given:
        if name not in names:
            raise TypeError(f"{function}() has no option {name!r}, expected {one_of(name, names)}")


def options_of(kind: type[Options], function: str, given: Mapping[str, Any]) -> Options:
    """Return the options of a function, which are the fields of a dataclass. Raises as `check_names`, and the class."""
    check_names(function, given, [each.name for each in fields(kind)])  # type: ignore[arg-type]
    return kind(**given)


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """How to label a file.

    Attributes:
        format: the format of the input; by default recognised by its name or its first lines.
        output_format: by default the format that the name of the output implies, or that of the input if it can hold
            labels; a parser and a chain of models write CoNLL-U.
        to: the guidelines of the output labels, which are predicted together; by default the model's target.
        retag: ignore the labels in the input.
        probabilities: write rows of token, label and marginal probability instead of text.
        best: write JSON lines with this many best sequences and their probabilities.
        split_runs: let a segmenter split Latin words, numbers, URLs and e-mail addresses in raw text.
        non_projective: let a parser of projective trees choose among all trees, including those with crossing arcs.
        tokens: how a tagger of words cuts raw text: at `blanks`, into `words`, `characters`, or by `spacy:LANGUAGE`.
        then: models to apply next, in order: taggers of words, or parsers.
        completes: fill in partial annotation and keep its format.

    Raises:
        StreamError: options that exclude one another.
    """

    format: str | None = None
    output_format: str | None = None
    to: Sequence[str] = ()
    retag: bool = False
    probabilities: bool = False
    best: int | None = None
    split_runs: bool = False
    non_projective: bool = False
    tokens: str | None = None
    then: Sequence[Successor] = ()
    completes: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.to, str):
            object.__setattr__(self, "to", (self.to,))
        has_rows = self.probabilities or self.best
        if self.probabilities and self.best:
            raise StreamError("found `probabilities` and `best`, expected one of them")
        if has_rows and self.output_format:
            raise StreamError("found `output_format` with `probabilities` or `best`, expected it without")
        if has_rows and len(self.to) > 1:
            raise StreamError("found `probabilities` or `best` with several `to`, expected one")
        if self.then and (has_rows or self.to):
            raise StreamError("found `then` with `probabilities`, `best` or `to`, expected it without")

    def in_turn(self, first: First) -> Pipeline:
        """A stream followed by the models of `then`."""
        from tagweave.streams.stream import Pipeline

        return Pipeline(first, [model.stage(self.retag, self.non_projective) for model in self.then])


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """How to convert a file.

    Attributes:
        format: the format of the input; by default recognised by its name or its first lines.
        output_format: by default the format that the name of the output implies, or that of the input.
        best: write JSON lines with this many best sequences and their probabilities instead.
        confidence: also write the probability of every label (columns, CoNLL-U).
        soft: write all labels with their probabilities, the best first (`NN:0.7|VV:0.3`).
        review: how many of the least certain tokens to list.
        retag: ignore annotation that the corpus already has under the new guideline.
        progress: passes sentences on, and shows how many have passed.

    Raises:
        StreamError: options that exclude one another.
    """

    format: str | None = None
    output_format: str | None = None
    best: int | None = None
    confidence: bool = False
    soft: bool = False
    review: int = 0
    retag: bool = False
    progress: Progress = iter

    def __post_init__(self) -> None:
        if self.best and (self.confidence or self.soft or self.review or self.output_format):
            raise StreamError(
                "found `best` with `confidence`, `soft`, `review` or `output_format`, expected it without"
            )
        if self.soft and (self.confidence or self.review):
            raise StreamError("found `soft` with `confidence` or `review`, expected it without")


def check_for_labels(**options: object) -> None:
    """Raise if an option is set that parsers do not take.

    Raises:
        StreamError: one is set.
    """
    for name, value in options.items():
        if value:
            raise StreamError(f"found `{name}` with a parser, expected it without: it is for models of labels")
