"""Explanations of a sentence: in the terminal, in notebooks and as a page, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from tagweave.corpus.characters import printable
from tagweave.corpus.files import written
from tagweave.display.markup import Html, element, in_context, joined, page, picture
from tagweave.evaluation.tables import Printed, add_row
from tagweave.version import __version__

if TYPE_CHECKING:
    from tagweave.explanation.contrast import Contribution, Difference
    from tagweave.explanation.training_text import Example

_FOR, _AGAINST = 6, 4  # contributions shown
_OCCLUDED = 5  # tokens


@dataclass(frozen=True)
class Explanation:
    """Why tokens start .. stop - 1 of a sentence have an answer, and not the best other one.

    Attributes:
        forms: the tokens of the sentence.
        start, stop: the tokens that are explained.
        answer: what the model says of them, and how probable that is.
        other: what the runner-up says, wherever it differs: `Paris/B-ORG`.
        difference: the contributions to score(answer) - score(other), and their sums by guideline.
        occlusions: how much of the part of a network each token takes away with it, the most first.
        examples: similar training sentences.
    """

    forms: tuple[str, ...]
    start: int
    stop: int
    answer: str
    probability: float | None
    other: str
    difference: Difference
    occlusions: Sequence[tuple[int, float]] = ()
    examples: Sequence[Example] = ()

    @property
    def title(self) -> str:
        """The answer and the runner-up in one line."""
        sure = "" if self.probability is None else f" ({self.probability:.3f})"
        what = " ".join(self.forms[self.start : self.stop])
        return f"{what}: {self.answer}{sure}, not {self.other}: {self.difference.score:+.2f}"

    def named(self, contribution: Contribution) -> str:
        """Return the name of a contribution, after its token where the answers differ in several."""
        is_one = len(self.difference.tokens) == 1
        return contribution.name if is_one else f"{self.forms[contribution.token]}: {contribution.name}"

    def rows(self, most: int = _FOR, least: int = _AGAINST) -> Iterator[tuple[float, str]]:
        """Yield the strongest contributions for the answer, the sum of others, and the strongest ones against it."""
        every = [one for one in self.difference.contributions if one.score]
        above = [one for one in every if one.score > 0][:most]
        below = [one for one in every if one.score < 0][-least:]
        yield from ((one.score, self.named(one)) for one in above)
        if rest := every[len(above) : len(every) - len(below)]:
            yield sum(one.score for one in rest), f"{len(rest):,} more"
        yield from ((one.score, self.named(one)) for one in below)

    def notes(self) -> Iterator[tuple[str, str]]:
        """Yield lines on views, occlusion and training sentences, each with what it is about."""
        for guideline, score in self.difference.by_guideline.items():
            yield "guideline", f"{guideline} {score:+.2f}"
        for token, score in self.occlusions[:_OCCLUDED]:
            yield "the network without", f"{self.forms[token]} {-score:+.2f}"
        for example in self.examples:
            text = f"{example.before} [{example.token}/{example.label}] {example.after}".strip()
            yield "training", f"{example.place}  {text}"

    def short(self) -> str:
        """Return the three strongest contributions for the answer and against it."""
        return "; ".join(f"{score:+.2f} {name}" for score, name in self.rows(3, 3) if not name.endswith(" more"))

    def to_json(self) -> dict[str, Any]:
        """Return plain data; tokens count from 0."""
        return {
            "start": self.start,
            "stop": self.stop,
            "text": " ".join(self.forms[self.start : self.stop]),
            "answer": self.answer,
            "probability": self.probability,
            "other": self.other,
            "difference": self.difference.score,
            "contributions": [
                {"name": one.name, "token": one.token, "score": one.score} for one in self.difference.contributions
            ],
            "by_guideline": self.difference.by_guideline,
            "occlusion": [{"token": token, "score": score} for token, score in self.occlusions],
            "training": [vars(example) for example in self.examples],
        }

    def html(self) -> Html:
        """Return the explanation as a part of a page."""
        texts = (" ".join(part) for part in self._parts())
        rows = [
            element("tr", element("td", f"{score:+.2f}", class_="number"), element("td", name))
            for score, name in self.rows()
        ]
        head = element("tr", *(element("th", name, scope="col") for name in ("score", "feature")))
        notes = [
            element("p", element("span", f"{what}: ", class_="quiet"), joined((line for _, line in lines), "; "))
            for what, lines in groupby(self.notes(), key=lambda note: note[0])
        ]
        sentence = element("p", in_context(texts, " "))
        return joined([element("h3", self.title), sentence, element("table", head, *rows), *notes])

    def _parts(self) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        return self.forms[: self.start], self.forms[self.start : self.stop], self.forms[self.stop :]


@dataclass(frozen=True)
class Explanations(Printed):
    """The explanations of a sentence; in a notebook pictures."""

    explanations: tuple[Explanation, ...]

    def __len__(self) -> int:
        return len(self.explanations)

    def __iter__(self) -> Iterator[Explanation]:
        return iter(self.explanations)

    def content(self) -> Iterator[Text | Table]:
        for explanation in self:
            yield Text(printable(explanation.title))
            table = Table()
            table.add_column("score", justify="right")
            table.add_column("feature")
            for score, name in explanation.rows():
                add_row(table, f"{score:+.2f}", name)
            yield table
            for what, line in explanation.notes():
                yield Text(printable(f"{what}: {line}"))

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain data."""
        return [explanation.to_json() for explanation in self]

    def html(self) -> Html:
        """Return the explanations as a part of a page."""
        return joined(explanation.html() for explanation in self)

    def _repr_html_(self) -> str:
        return picture(self.html())

    def write(self, path: str) -> None:
        """Write a page of its own. Raises OSError."""
        with written(path) as stream:
            stream.write(page("Why", self.html(), __version__))
