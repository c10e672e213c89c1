"""How a file is labelled or converted: options that bear the names of those of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tagweave.streams.errors import StreamError

if TYPE_CHECKING:
    from tagweave.streams.pipeline import First, Pipeline, Successor
    from tagweave.streams.stream import Progress


@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """How a file is labelled.

    Attributes:
        format: of the input; by default its name or its first lines tell it.
        output_format: by default told by the name of the output, or that of the input, where it can hold labels; a
            parser writes CoNLL-U, and so do several models in turn.
        to: the guidelines of the labels that come out, which belong together; by default the model's target.
        retag: put aside the labels that the input already has.
        probabilities: write rows of token, label and its marginal probability instead of text.
        best: write JSON lines of so many best sequences and their probabilities.
        split_runs: let a segmenter split Latin words, numbers, URLs and e-mail addresses of raw text.
        non_projective: let a parser choose among all trees, also those whose arcs cross.
        then: models that go on from there, in order: taggers of words, or parsers.
        completes: keep the format of partial annotation, which is completed.

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
    then: Sequence[Successor] = ()
    completes: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.to, str):
            object.__setattr__(self, "to", (self.to,))
        has_rows = self.probabilities or self.best
        if self.probabilities and self.best:
            raise StreamError("found --probabilities and --best, expected one of them")
        if has_rows and self.output_format:
            raise StreamError("found --output-format with --probabilities or --best, expected it without")
        if has_rows and len(self.to) > 1:
            raise StreamError("found --probabilities or --best with several --to, expected one")
        if self.then and (has_rows or self.to):
            raise StreamError("found --then with --probabilities, --best or --to, expected it without")

    def in_turn(self, first: First) -> Pipeline:
        """A stream and the models that go on from there."""
        from tagweave.streams.pipeline import Pipeline

        return Pipeline(first, [model.stage(self.retag, self.non_projective) for model in self.then])


@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """How a file is converted.

    Attributes:
        format: of the input; by default its name or its first lines tell it.
        output_format: by default told by the name of the output, or that of the input.
        best: write JSON lines of so many best sequences and their probabilities instead.
        confidence: write the probability of every label, too (columns, CoNLL-U).
        review: how many of the least certain tokens are listed.
        retag: put aside what the corpus already has under the new guideline.
        progress: passes sentences on, and shows how many have passed.

    Raises:
        StreamError: options that exclude one another.
    """

    format: str | None = None
    output_format: str | None = None
    best: int | None = None
    confidence: bool = False
    review: int = 0
    retag: bool = False
    progress: Progress = iter

    def __post_init__(self) -> None:
        if self.best and (self.confidence or self.review or self.output_format):
            raise StreamError("found --best with --confidence, --review or --output-format, expected it without")


def check_for_labels(**options: object) -> None:
    """Raise for options that a parser does not take.

    Raises:
        StreamError: one of them is given.
    """
    for name, value in options.items():
        if value:
            option = name.replace("_", "-")
            raise StreamError(f"found --{option} with a parser, expected it without: it is for models of labels")
