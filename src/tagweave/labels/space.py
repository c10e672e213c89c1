"""Label spaces and their views.

A view projects the labels of a space to the tag set of one guideline. A plain tag set has one view, itself. A space of
bundled tags has one view per guideline, and a joint view. Scores are sums over views, and so are gradients.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import TagweaveError
from tagweave.labels.transition_scheme import codes_spans, type_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray


_WILDCARD = re.compile(r"(?P<prefix>[BIMELSU|-]-)\*|!(?P<excluded>.+)")


class UnknownLabelError(TagweaveError):
    """Evidence with a label that the space does not have."""


@dataclass(frozen=True)
class View:
    """The projection of a label space to the tag set of one guideline."""

    guideline: str
    names: tuple[str, ...]  # of the tags
    projection: NDArray[np.int32]  # [Y], the tag of every label of the space

    @cached_property
    def number(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def is_identity(self) -> bool:
        return bool(np.array_equal(self.projection, np.arange(len(self.names))))

    def numbers_of(self, names: Iterable[str]) -> NDArray[np.int64]:
        """Return the numbers of tags by their names, int64[names]. Raises KeyError for others."""
        return np.array([self.number[name] for name in names], np.int64)

    def knows(self, candidate: str) -> bool:
        """Return whether a candidate stands for a tag."""
        if candidate in self.number or not is_wildcard(candidate):
            return candidate in self.number
        try:
            return bool(self.tags(candidate))
        except UnknownLabelError:
            return False

    def tags(self, candidate: str) -> list[int]:
        """Return the tags that a candidate stands for: itself, or all tags of `B-*` (a prefix) or `!O` (all but one).

        Raises UnknownLabelError if it is neither a tag of the view nor a wildcard that matches one.
        """
        if candidate in self.number:
            return [self.number[candidate]]
        wildcard = _WILDCARD.fullmatch(candidate)
        if wildcard and wildcard["prefix"]:
            tags = [i for i, name in enumerate(self.names) if name.startswith(wildcard["prefix"])]
        elif wildcard and wildcard["excluded"] in self.number:
            tags = [i for i, name in enumerate(self.names) if name != wildcard["excluded"]]
        else:
            tags = []
        if not tags:
            raise self._unknown(candidate)
        return tags

    def _unknown(self, candidate: str) -> UnknownLabelError:
        """Return the error for a candidate that stands for no tag; of spans, it names types, whatever their coding."""
        what, name, names = "label", candidate, self.names
        if OUTSIDE in self.number and codes_spans(self.names) and (kind := type_of(candidate)):
            types = tuple(dict.fromkeys(type_of(tag) for tag in self.names if tag != OUTSIDE))
            if kind not in types:
                what, name, names = "type", kind, types
        shown = " ".join(names[:12]) + (" ..." if len(names) > 12 else "")
        return UnknownLabelError(f"{what} {name!r} is not one of the {len(names)} of {self.guideline}: {shown}")


@dataclass(frozen=True)
class LabelSpace:
    """The labels that a model chooses from."""

    names: tuple[str, ...]
    views: tuple[View, ...]  # at least one; a model has emission and transition weights per view

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def plain(cls, guideline: str, names: Iterable[str]) -> LabelSpace:
        """Return a space of one guideline: its labels are its tags."""
        tags = tuple(names)
        return cls(tags, (View(guideline, tags, np.arange(len(tags), dtype=np.int32)),))

    def view(self, guideline: str) -> View:
        for view in self.views:
            if view.guideline == guideline:
                return view
        raise KeyError(f"no guideline {guideline!r} in this label space, only {', '.join(self.guidelines)}")

    @property
    def sides(self) -> tuple[View, ...]:
        """The views of single guidelines: all except the joint one, which is the last if there are several."""
        return self.views[:-1] if len(self.views) > 1 else self.views

    @property
    def guidelines(self) -> tuple[str, ...]:
        return tuple(view.guideline for view in self.views)

    def allow(self, guideline: str, candidates: Iterable[str]) -> NDArray[np.int32]:
        """Return the labels that project to one of the candidate tags (wildcards included), rising."""
        view = self.view(guideline)
        tags = [tag for candidate in candidates for tag in view.tags(candidate)]
        return np.flatnonzero(np.isin(view.projection, tags)).astype(np.int32)

    def to_json(self) -> dict[str, Any]:
        """Return a plain description, for the model's metadata."""
        views = [
            {"guideline": view.guideline, "names": list(view.names), "projection": view.projection.tolist()}
            for view in self.views
        ]
        return {"names": list(self.names), "views": views}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> LabelSpace:
        """Return the space that `to_json` described."""
        views = (
            View(view["guideline"], tuple(view["names"]), np.array(view["projection"], np.int32))
            for view in data["views"]
        )
        return cls(tuple(data["names"]), tuple(views))


def is_wildcard(candidate: str) -> bool:
    """Return whether a candidate has the form of a wildcard (which a literal tag of a corpus may have, too)."""
    return _WILDCARD.fullmatch(candidate) is not None


def collect_names(layers: Iterable[Sequence[tuple[str, ...] | None]]) -> tuple[str, ...]:
    """Return the tags in layers, sorted, without wildcards."""
    seen = {candidates for layer in layers for candidates in set(layer) if candidates is not None}
    return tuple(sorted({name for candidates in seen for name in candidates if not is_wildcard(name)}))
