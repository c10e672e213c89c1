"""Explanations of a sentence: tables in the terminal, the same in a notebook and on a page, and plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.table import Column, Table
from rich.text import Text

from tagweave.corpus.characters import printable
from tagweave.corpus.files import written
from tagweave.display.markup import page
from tagweave.errors import TagweaveError
from tagweave.evaluation.tables import Printed, add_row, tables_as_html
from tagweave.version import __version__

_FOR, _AGAINST = 6, 4  # contributions shown
_OCCLUDED = 5  # tokens


class ExplanationError(TagweaveError):
    """Something that cannot be explained."""


@dataclass(frozen=True)
class Contribution:
    """What speaks for the answer at a token, and how much it adds to the difference of the scores."""

    name: str
    token: int
    score: float
    feature: int = -1  # its number and position (`NamedFeature`), if it is one feature
    position: int = 0


@dataclass(frozen=True)
class Example:
    """A training sentence: where it is, and its most similar token with its label between the tokens around it."""

    place: str
    before: str
    token: str
    label: str
    after: str


@dataclass(frozen=True)
class Explanation:
    """Why tokens start .. stop - 1 of a sentence have an answer, and not the best other one.

    Attributes:
        forms: the tokens of the sentence.
        answer, probability: what the model says, and how probable that is; `None` of several tokens at once.
        other: what the runner-up says wherever it differs: `Paris/B-ORG`.
        contributions: what sums to score(answer) - score(other), the highest first.
        by_guideline: the same sum for each guideline of a model of several.
        occlusions: how much of a network's part each token takes away with it, the most first.
        examples: similar training sentences.
    """

    forms: tuple[str, ...]
    start: int
    stop: int
    answer: str
    probability: float | None
    other: str
    contributions: Sequence[Contribution]
    by_guideline: dict[str, float] = field(default_factory=dict)
    occlusions: Sequence[tuple[int, float]] = ()
    examples: Sequence[Example] = ()

    @property
    def score(self) -> float:
        """The difference of the scores."""
        return sum(one.score for one in self.contributions)

    def strongest(self, most: int, least: int) -> tuple[list[Contribution], list[Contribution]]:
        """Return so many contributions for the answer and against it, the highest first."""
        above = [one for one in self.contributions if one.score > 0]
        below = [one for one in self.contributions if one.score < 0]
        return above[:most], below[-least:]

    def named(self, contribution: Contribution) -> str:
        """Return the name of a contribution, after its token where there are several."""
        is_one = len({one.token for one in self.contributions}) == 1
        return contribution.name if is_one else f"{self.forms[contribution.token]}: {contribution.name}"

    def short(self) -> str:
        """Return the three strongest contributions for the answer and against it in a line."""
        above, below = self.strongest(3, 3)
        return "; ".join(f"{one.score:+.2f} {self.named(one)}" for one in above + below)

    def content(self) -> Iterator[Text | Table]:
        """Yield a title, a table of contributions, and lines on guidelines, the network and training sentences."""
        sure = "" if self.probability is None else f" ({self.probability:.3f})"
        what = " ".join(self.forms[self.start : self.stop])
        yield Text(printable(f"{what}: {self.answer}{sure}, not {self.other}: {self.score:+.2f}"), "bold")
        above, below = self.strongest(_FOR, _AGAINST)
        rows = [(one.score, self.named(one)) for one in above + below]
        if count := sum(one.score != 0 for one in self.contributions) - len(rows):
            rest = self.score - sum(score for score, _ in rows)
            rows.insert(len(above), (rest, f"{count:,} more"))
        table = Table(Column("score", justify="right"), "feature")
        for score, name in rows:
            add_row(table, f"{score:+.2f}", name)
        yield table
        lines = [f"guideline {name}: {score:+.2f}" for name, score in self.by_guideline.items()]
        hidden = ((self.forms[token], -score) for token, score in self.occlusions[:_OCCLUDED])
        lines += [f"network without {form}: {score:+.2f}" for form, score in hidden]
        lines += [
            f"{example.place}: {example.before} [{example.token}/{example.label}] {example.after}"
            for example in self.examples
        ]
        yield from map(Text, map(printable, lines))


@dataclass(frozen=True)
class Explanations(Printed):
    """The explanations of a sentence: `print` them, or show them in a notebook."""

    explanations: tuple[Explanation, ...]

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    def content(self) -> Iterator[Text | Table]:
        for explanation in self:
            yield from explanation.content()

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain data; tokens count from 0."""
        return [{**asdict(explanation), "score": explanation.score} for explanation in self]

    def write(self, path: str) -> None:
        """Write a page of its own. Raises OSError."""
        with written(path) as stream:
            title = " ".join(self.explanations[0].forms) if self.explanations else "Nothing to explain"
            stream.write(page(title, tables_as_html(self.content()), __version__))
