"""Options of training methods: typed, frozen fields that document themselves.

The options of the command line, their help, their JSON and the tables of the documentation come from these fields.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Self, get_args, get_origin


@dataclass(frozen=True)
class Options:
    """The options of a method; each method has a class of its own."""

    def for_task(self, task: str) -> Self:
        """The options with defaults that depend on the task filled in."""
        return self

    @property
    def why_incomparable(self) -> str:
        """Why a model with these options is not compared with a plain one; "" if it is."""
        return ""

    @property
    def has_folds(self) -> bool:
        """Whether models of folds of the training text are trained, which workers can share."""
        return False

    def identity(self) -> dict[str, Any]:
        """The options that influence which weights an iteration reaches."""
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
        default: its default value.
        text: its purpose, in a sentence.
        metavar: the name of its value in help texts.
        least, most: the range of a number.
        structure: the only structure it applies to; "" for all that the method supports.
    """
    about = {"help": text, "metavar": metavar, "least": least, "most": most, "structure": structure}
    return field(default=default, metadata=about)


def choices(kind: Any) -> tuple[str, ...]:
    """The values of a `Literal` type, also within a union; () for other types."""
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
