"""Options of training methods: typed, frozen fields that say what they are for.

The command line, its help, JSON and the table of the documentation are made of these fields alone.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, get_args, get_origin


@dataclass(frozen=True)
class Options:
    """What a method can be told beside the corpora; each method has a class of its own."""

    def for_task(self, task: str) -> Self:
        """The options with what they leave open decided, as far as the task decides it."""
        return self

    @property
    def why_incomparable(self) -> str:
        """Why a model with these options is not held against a plain one; "" where it is."""
        return ""

    def identity(self) -> dict[str, Any]:
        """What of the options decides which weights an iteration reaches."""
        return asdict(self)


def option(
    default: Any,
    text: str,
    metavar: str = "",
    least: float | None = None,
    most: float | None = None,
    structure: str = "",
) -> Any:
    """A field of options.

    Args:
        default: its value where nothing else is said.
        text: what it is for, in a sentence.
        metavar: how its value is called in a help text.
        least, most: the range of a number.
        structure: the only one for which it is; "" for all that the method serves.
    """
    about = {"help": text, "metavar": metavar, "least": least, "most": most, "structure": structure}
    return field(default=default, metadata=about)


def choices(kind: Any) -> tuple[str, ...]:
    """The values of a type that is a choice among some; () of others."""
    return next((get_args(part) for part in (kind, *get_args(kind)) if get_origin(part) is Literal), ())


def check_ranges(options: Options) -> None:
    """Raise unless every number is in the range of its field.

    Raises:
        ValueError: one is not.
    """
    for name, each in type(options).__dataclass_fields__.items():
        value, least, most = getattr(options, name), each.metadata.get("least"), each.metadata.get("most")
        if value is None or (least is None and most is None):
            continue
        if (least is not None and not value >= least) or (most is not None and not value <= most):
            expected = f"{least:g} or more" if most is None else f"{least:g} to {most:g}"
            raise ValueError(f"found {name.replace('_', '-')} {value:g}, expected {expected}")
