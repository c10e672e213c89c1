"""Finds the guideline of an input and the requested guideline among those of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tagweave.streams.errors import StreamError

if TYPE_CHECKING:
    from tagweave.models.chain import ChainModel


def check_guideline(model: ChainModel, guideline: str, name: str) -> None:
    """Raise unless the model knows the guideline.

    Raises:
        StreamError: it does not; `name` is the name of the model.
    """
    known = model.space.guidelines
    if guideline not in known:
        expected = f"{known[0]}, the guideline" if len(known) == 1 else f"one of {', '.join(known)}, the guidelines"
        raise StreamError(f"found `to={guideline}`, expected {expected} of {name}")


def guideline_in(model: ChainModel, layer: str) -> str:
    """Return the guideline that a layer of a file has in a model; without one, or with several, the layer's name."""
    known = model.space.guidelines
    trained = [name for name in known if layer in model.layers(name)]
    return layer if layer in known or len(trained) != 1 else trained[0]


def other_side(model: ChainModel, guideline: str, name: str) -> str:
    """The only other guideline of a model beside that of a corpus.

    Raises:
        StreamError: there is none, or there are several; `name` is the name of the model.
    """
    others = [view.guideline for view in model.space.sides if view.guideline != guideline]
    if len(others) != 1:
        expected = " or ".join(f"`to={other}`" for other in others) or "a model of another guideline, too"
        raise StreamError(f"{name}: found a corpus of the guideline {guideline!r}, expected {expected}")
    return others[0]


def source_name(
    helpful: tuple[str, ...], guideline: str, to: str, name: str, is_named: bool, what: str = "labels"
) -> tuple[str, str]:
    """The name of a corpus's guideline in the model, and a note if that is an assumption, otherwise "".

    Args:
        helpful: the guidelines whose annotation helps the model to convert.
        guideline: the guideline of the corpus.
        to: the guideline to convert to.
        name: the name of the model, for messages.
        is_named: whether the user or the file named the guideline of the corpus.
        what: what is converted, for messages.

    Raises:
        StreamError: guidelines that do not fit.
    """
    if guideline == to:
        raise StreamError(f"found a corpus of the guideline {to} and `to={to}`, expected two guidelines")
    if guideline in helpful:
        return guideline, ""
    if not helpful:
        return guideline, f"{name} knows the guideline {to} only: the {what} of {guideline!r} do not guide it"
    if is_named or len(helpful) > 1:
        problem = f"found a corpus of the guideline {guideline!r}"
        raise StreamError(f"{problem}, expected {_one_of(helpful)}, guidelines of {name} (named GUIDELINE=FILE)")
    return helpful[0], f"the {what} of {guideline!r} are taken as {helpful[0]}"


def _one_of(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"one of {', '.join(names)}"
