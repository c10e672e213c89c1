"""Options that are declared once: fields of dataclasses with a default, a help text and a range.

Flags of the command line, JSON, keywords of Python with their documentation, and tables are made from these fields.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from inspect import Parameter, cleandoc, signature
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def option(
    default: Any,
    text: str,
    metavar: str = "",
    least: float | None = None,
    most: float | None = None,
    structure: str = "",
    panel: str = "",
) -> Any:
    """A field of options.

    Args:
        default: its default value, or a function without arguments that makes it.
        text: its purpose, in a sentence; other options stand in backquotes.
        metavar: the name of its value in help texts.
        least, most: the range of a number.
        structure: the only structure it applies to; "" for all.
        panel: the heading under which the command line lists it.
    """
    about = {"help": text, "metavar": metavar, "least": least, "most": most, "structure": structure, "panel": panel}
    return (
        field(default_factory=default, metadata=about) if callable(default) else field(default=default, metadata=about)
    )


SEED = option(0, "The seed of everything random.", "N", 0)
THREADS = option(1, "How many threads share the work.", "N", 1)
"""Of plans; commands without a plan have them, too."""


def choices(kind: Any) -> tuple[str, ...]:
    """The values of a `Literal` type, also within a union; () for other types."""
    return next((get_args(part) for part in (kind, *get_args(kind)) if get_origin(part) is Literal), ())


def check_ranges(options: Any) -> None:
    """Raise ValueError unless every number of a dataclass is in the range of its field."""
    for name, each in type(options).__dataclass_fields__.items():
        value, least, most = getattr(options, name), each.metadata.get("least"), each.metadata.get("most")
        if value is None or (least is None and most is None):
            continue
        if (least is not None and not value >= least) or (most is not None and not value <= most):
            expected = f"{least:g} or more" if most is None else f"{least:g} to {most:g}"
            raise ValueError(f"found {name} {value:g}, expected {expected}")


@dataclass(frozen=True)
class Declared:
    """An option as users see it: its type, and its field in each class that has it, by the class's owner."""

    name: str
    kind: Any
    fields: Mapping[str, Field[Any]]

    @property
    def about(self) -> Mapping[str, Any]:
        """What its first field tells: `metavar`, `least`, `most`, `structure`, `panel`; the range covers all."""
        every = [each.metadata for each in self.fields.values()]
        least, most = ([each[name] for each in every] for name in ("least", "most"))
        limits = {"least": None if None in least else min(least), "most": None if None in most else max(most)}
        return {**every[0], **limits}

    @property
    def default(self) -> Any:
        """Its default; `None` where classes have different ones."""
        found = [
            each.default if each.default_factory is MISSING else each.default_factory() for each in self.fields.values()
        ]
        return found[0] if all(each == found[0] for each in found) else None

    @property
    def help(self) -> str:
        """Its purpose and its default, for each class if they differ."""
        texts = {name: _with_default(each) for name, each in self.fields.items()}
        if len(set(texts.values())) == 1:
            return next(iter(texts.values()))
        return " ".join(f"{name.capitalize()}: {text}" for name, text in texts.items())


def declared(kinds: Mapping[str, type], leave_out: Collection[str] = ()) -> list[Declared]:
    """The options of classes by the name of what has them; one that several classes have is one option."""
    found: dict[str, dict[str, Field[Any]]] = {}
    types: dict[str, Any] = {}
    for owner, kind in kinds.items():
        own = {each.name: each for each in fields(kind) if each.name not in leave_out and "help" in each.metadata}
        for base in reversed(kind.__mro__):  # one by one: annotations of other names may not be imported
            texts = {name: text for name, text in vars(base).get("__annotations__", {}).items() if name in own}
            types |= get_type_hints(type("", (), {"__annotations__": texts, "__module__": base.__module__}))
        for name, each in own.items():
            found.setdefault(name, {})[owner] = each
    return [Declared(name, types[name], own) for name, own in found.items()]


def _with_default(each: Field[Any]) -> str:
    text, default = str(each.metadata["help"]), each.default
    if default is None or default is MISSING or isinstance(default, bool) or default in ((), "") or "efault" in text:
        return text
    shown = ",".join(f"{value:g}" for value in default) if isinstance(default, tuple) else default
    return f"{text} Default: {shown}."


def described(kind: type[T]) -> type[T]:
    """Add the options of a dataclass to its docstring."""
    kind.__doc__ = _document(kind.__doc__, declared({"": kind}))
    return kind


def taking(options: Collection[Declared]) -> Callable[[Callable[..., T]], Callable[..., T]]:
    """Show options, which a function takes as `**options`, in its signature and its docstring."""

    def shown(function: Callable[..., T]) -> Callable[..., T]:
        about: Any = function
        own = [each for each in signature(function).parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
        more = [Parameter(d.name, Parameter.KEYWORD_ONLY, default=d.default, annotation=d.kind) for d in options]
        about.__signature__ = signature(function).replace(parameters=[*own, *more])
        about.__doc__ = _document(function.__doc__, options)
        return function

    return shown


def _document(text: str | None, options: Collection[Declared]) -> str:
    return "\n".join([cleandoc(text or ""), "", "Options:", *(f"    {each.name}: {each.help}" for each in options), ""])
