"""Models: what they are, what they learned from, and their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tagweave.display.bundles import label_space
from tagweave.display.markup import Html, element, joined

if TYPE_CHECKING:
    from tagweave.labels.space import LabelSpace


def model_picture(
    what: str, name: str, guidelines: Sequence[str], space: LabelSpace | None, about: Mapping[str, Any]
) -> Html:
    """A model: its labels are those of `space` if it has one, and `about` is what it remembers of its training."""
    title = element("div", element("b", name), f": {what}, guidelines {', '.join(guidelines)}")
    facts = element("div", "; ".join(_facts(about)), class_="quiet")
    labels = element("details", element("summary", "labels"), label_space(space)) if space is not None else Html()
    return joined([title, facts, labels])


def _facts(about: Mapping[str, Any]) -> list[str]:
    """What there is to say; a file may lack any of it, or have something else in its place."""
    plan, score = about.get("plan"), about.get("dev_score")
    facts = [f"{about['iterations']} iterations"] if "iterations" in about else []
    facts += [f"method {plan['method']}"] if isinstance(plan, Mapping) and plan.get("method") else []
    return facts + ([f"dev score {score:.4f}"] if isinstance(score, float) else [])
