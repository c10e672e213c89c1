"""Fields of options that document themselves, and checks of their values.

Help texts, JSON and tables of documentation come from these fields.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, get_args, get_origin


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


def check_ranges(options: Any) -> None:
    """Raise unless every number is in the range of its field.

    Args:
        options: a dataclass whose numbers are fields of `option`.

    Raises:
        ValueError: one is not.
    """
    for name, each in type(options).__dataclass_fields__.items():
        value, least, most = getattr(options, name), each.metadata.get("least"), each.metadata.get("most")
        if value is None or (least is None and most is None):
            continue
        if (least is not None and not value >= least) or (most is not None and not value <= most):
            expected = f"{least:g} or more" if most is None else f"{least:g} to {most:g}"
            raise ValueError(f"found {name} {value:g}, expected {expected}")
