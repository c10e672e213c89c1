"""Options for labelling and converting files, checks of their names, and messages in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tagweave.corpus.characters import printable
from tagweave.errors import ExchangeError, StreamError, is_for_users, one_of, shortened
from tagweave.options import choices, declared, described, option

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Sentence
    from tagweave.streams.stream import Pipeline

Options = TypeVar("Options")
_LONGEST = 2000  # characters, also of errors of the system


def message(error: BaseException) -> str | None:
    """Return the line to show for an error that users can fix; `None` for a bug of this package."""
    if not is_for_users(error):
        return None
    if isinstance(error, OSError) and error.filename and error.strerror:
        return _one_line(f"{error.filename}: {error.strerror}")
    return _one_line(str(error))


def _one_line(text: str) -> str:
    return printable(" ".join(shortened(text, _LONGEST).split("\n")))


def check_names(function: str, passed: Iterable[str], options: Iterable[str]) -> None:
    """Raise TypeError, with the nearest option, unless a function has all the options that it was given."""
    option_names = list(options)
    for name in passed:
        if name not in option_names:
            raise TypeError(f"{function}() has no option {name!r}, expected {one_of(name, option_names)}")


def options_of(kind: type[Options], function: str, values: Mapping[str, Any]) -> Options:
    """Return the options of a function, which are the fields of a dataclass. Raises as `check_names`, and the class."""
    check_names(function, values, [field.name for field in fields(kind)])  # type: ignore[arg-type]
    return kind(**values)


_FORMAT = "The format of the input, if its name or first lines do not imply it."
_BEST = "JSON lines of the K best sequences and their probabilities."


@described
@dataclass(frozen=True, kw_only=True)
class LabelOptions:
    """How to label a file. Options that exclude one another raise a StreamError."""

    format: str | None = option(None, _FORMAT, "FORMAT")
    output_format: str | None = option(
        None,
        "The format of the output. Default: by its name, or the input's if it can hold labels; CoNLL-U for parsers and"
        " chains of models.",
        "FORMAT",
    )
    to: Sequence[str] = option((), "The guideline to label under; several are predicted together (repeatable).", "G")
    retag: bool = option(False, "Ignore the labels in the input.")
    probabilities: bool = option(False, "Rows of token, label and its marginal probability instead of text.")
    tokens: str | None = option(
        None,
        "Cut raw text into tokens for a tagger of words, as serve does; words: punctuation stands alone.",
        "blanks|words|characters|spacy:LANGUAGE",
    )
    split_runs: bool = option(False, "Let the model split Latin words, numbers, URLs and e-mail addresses in raw text.")
    best: int | None = option(None, _BEST, "K", 1)
    precision: float | None = option(
        None, "Write only what is right with this probability; the rest stays unknown.", "LEVEL", 0, 1
    )
    recall: float | None = option(
        None, "Write candidates too, until this share of what is right is among them.", "LEVEL", 0, 1
    )
    then: Sequence[Any] = option((), "A tagger of words or a parser to apply next (repeatable).", "MODEL")
    non_projective: bool = option(
        False, "Parsers of projective trees: choose among all trees, including those with crossing arcs."
    )
    completes: bool = False  # fill in partial annotation and keep its format

    def __post_init__(self) -> None:
        if isinstance(self.to, str):
            object.__setattr__(self, "to", (self.to,))
        has_rows = self.probabilities or self.best
        if self.probabilities and self.best:
            raise StreamError("found `probabilities` and `best`, expected one of them")
        if has_rows and self.output_format and not (self.probabilities and self.output_format == "columns"):
            expected = "it without; rows of `probabilities` are in the format columns"
            raise StreamError(f"found `output_format` with `probabilities` or `best`, expected {expected}")
        if has_rows and len(self.to) > 1:
            raise StreamError("found `probabilities` or `best` with several `to`, expected one")
        if (self.precision or self.recall) and (has_rows or self.to or self.then):
            problem = "found `precision` or `recall` with `probabilities`, `best`, `to` or `then`"
            raise StreamError(f"{problem}, expected it without")
        if self.then and (has_rows or self.to):
            raise StreamError("found `then` with `probabilities`, `best` or `to`, expected it without")

    def in_turn(self, sentences: Iterator[Sentence]) -> Pipeline:
        """Take sentences through the models of `then`."""
        from tagweave.streams.stream import Pipeline

        for model in self.then:
            sentences = model.stage(self.retag, self.non_projective)(sentences)
        return Pipeline(sentences)


@described
@dataclass(frozen=True, kw_only=True)
class ConvertOptions:
    """How to convert a file. Options that exclude one another raise a StreamError."""

    format: str | None = option(None, _FORMAT, "FORMAT")
    output_format: str | None = option(
        None, "The format of the output. Default: by its name, or the input's.", "FORMAT"
    )
    best: int | None = option(None, _BEST, "K", 1)
    confidence: bool = option(False, "Write the probability of every label too (columns, CoNLL-U).")
    soft: bool = option(False, "Write all labels with their probabilities, the best first: NN:0.7|VV:0.3.")
    review: int = option(0, "List the N least certain tokens, on standard error.", "N", 0)
    retag: bool = option(False, "Ignore labels that the corpus already has under the new guideline.")
    progress: Callable[[Iterable[Any]], Iterable[Any]] = iter  # passes sentences on, and shows how many have passed

    def __post_init__(self) -> None:
        if self.best and (self.confidence or self.soft or self.review or self.output_format):
            raise StreamError(
                "found `best` with `confidence`, `soft`, `review` or `output_format`, expected it without"
            )
        if self.soft and (self.confidence or self.review):
            raise StreamError("found `soft` with `confidence` or `review`, expected it without")


@dataclass(frozen=True)
class ManyFilesOptions:
    """Where many files are worked on."""

    processes: int = option(
        1,
        "Read many files (several, folders, patterns in quotes), on N processes: each becomes a file of its name in the"
        " folder OUTPUT. Those that are there are left out.",
        "N",
        1,
        panel="Many files",
    )
    ray: str | None = option(
        None,
        "The same on Ray: at RAY_ADDRESS, on a cluster that runs, or one started here (auto), or at an address.",
        "auto|ADDRESS",
        panel="Many files",
    )
    threads: int = 1
    int8: bool = False
    progress: Callable[[int, int], Any] = lambda done, total: None
    tell: Callable[[str], None] = lambda line: None


@described
@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """How spans of texts become labels of tokens. A value that does not exist raises an ExchangeError."""

    tokens: str | Callable[[str], list[str]] = option(
        "words",
        "How text is cut where the tool has no tokens: at blanks; at these and around punctuation; between characters;"
        " by spaCy; by a segmenter. In Python also a function from a line to its words.",
        "blanks|words|characters|spacy:LANGUAGE|MODEL",
    )
    misaligned: Literal["error", "widen", "unknown"] = option(
        "error",
        "What becomes of a span that is not whole tokens of a line: it is refused, widened to them, or they are"
        " unknown.",
    )
    unmarked: Literal["outside", "unknown", "empty-unknown"] = option(
        "outside",
        "What tokens are that nobody marked: outside of spans; unknown; or unknown only in documents without any span,"
        " as where nobody has begun yet.",
    )
    task: Literal["spans", "tags"] = option("spans", "What marks are: spans, or labels of each of their tokens.")

    def __post_init__(self) -> None:
        for declaration in DOCUMENT_OPTIONS:
            if (allowed := choices(declaration.kind)) and (value := getattr(self, declaration.name)) not in allowed:
                raise ExchangeError(f"found `{declaration.name}={value}`, expected {', '.join(allowed)}")


DOCUMENT_OPTIONS = declared({"": DocumentOptions})
TO_LABEL, TO_CONVERT = declared({"": LabelOptions}), declared({"": ConvertOptions})
"""The options of functions that label or convert files."""


def check_for_labels(**options: object) -> None:
    """Raise StreamError if an option is set that parsers do not take."""
    for name, value in options.items():
        if value:
            raise StreamError(f"found `{name}` with a parser, expected it without: it is for models of labels")
