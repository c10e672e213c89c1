"""Options that are declared once: fields of dataclasses with a default, a help text and a range.

Flags of the command line, JSON, keywords of Python with their documentation, and tables are made from these fields.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import cache
from inspect import Parameter, cleandoc, signature
from math import isfinite
from types import UnionType
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from tagweave.errors import PlanError, one_of

T = TypeVar("T")


def option(
    default: Any,
    text: str,
    metavar: str = "",
    least: float | None = None,
    most: float | None = None,
    structure: str = "",
    panel: str = "",
    flag: bool = False,
) -> Any:
    """A field of options.

    Args:
        default: its default value, or a function without arguments that makes it.
        text: its purpose, in a sentence; other options stand in backquotes.
        metavar: the name of its value in help texts.
        least, most: the range of a number.
        structure: the only structure it applies to; "" for all.
        panel: the heading under which the command line lists its flag.
        flag: whether `tagweave train` has a flag for it; all others are given by `--set NAME=VALUE`.
    """
    about = {
        "help": text,
        "metavar": metavar,
        "least": least,
        "most": most,
        "structure": structure,
        "panel": panel,
        "flag": flag,
    }
    return (
        field(default_factory=default, metadata=about) if callable(default) else field(default=default, metadata=about)
    )


SEED = option(0, "The seed of everything random.", "N", 0, flag=True)
THREADS = option(1, "How many threads share the work.", "N", 1, flag=True)
"""Of plans; commands without a plan have them, too."""


def choices(kind: Any) -> tuple[str, ...]:
    """The values of a `Literal` type, also within a union; () for other types."""
    return next((get_args(part) for part in _alternatives(kind) if get_origin(part) is Literal), ())


def _alternatives(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union; another type is the only one."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)


def value_of(
    name: str, value: Any, kind: Any, least: float | None = None, most: float | None = None, is_text: bool = False
) -> Any:
    """Return the value of an option, of its type and in its range.

    Args:
        name: the name of the option, for the message.
        value: the value, as data.
        kind: the type of the option: numbers, texts, `Literal`, `bool`, tuples of these, or a union with `None`.
        least, most: the range of a number, or of each of several.
        is_text: whether the value is text of the command line, in which several values stand between commas.

    Raises:
        PlanError: any other value.
    """
    import msgspec  # which most commands do without

    names = choices(kind)
    if names and isinstance(value, str) and value not in names and _is_choice(kind):
        raise PlanError(f"unknown {name} {value!r}, expected {one_of(value, names)}")
    is_several = any(get_origin(part) is tuple for part in _alternatives(kind))
    try:
        data = value.split(",") if is_text and is_several else value
        converted = msgspec.convert(data, kind, strict=not is_text)
    except msgspec.ValidationError:
        converted = None
        fits = False
    else:
        numbers = converted if isinstance(converted, tuple) else (converted,)
        fits = all(
            isfinite(number) and (least is None or number >= least) and (most is None or number <= most)
            for number in numbers
            if isinstance(number, int | float) and not isinstance(number, bool)
        )
    if not fits:
        raise PlanError(f"found `{name}={value}`, expected {_expected(kind, least, most)}")
    return converted


def _is_choice(kind: Any) -> bool:
    """Return whether the only values of a type are names, or `None`."""
    return all(part is type(None) or get_origin(part) is Literal for part in _alternatives(kind))


def _expected(kind: Any, least: float | None, most: float | None) -> str:
    """Describe the values of a type."""
    limits = "" if least is None else f" from {least:g}" if most is None else f" from {least:g} to {most:g}"
    nouns = []
    for part in _alternatives(kind):
        if get_origin(part) is tuple:
            nouns.append("numbers" if get_args(part)[0] in (int, float) else "texts")
        elif part is bool:
            nouns.append("true or false")
        elif part in (int, float):
            nouns.append(f"a {'whole ' if part is int else ''}number{limits}")
        elif part is str:
            nouns.append("text")
        elif get_origin(part) is Literal:
            nouns.append(", ".join(map(str, get_args(part))))
    return " or ".join(nouns)


class _Check(NamedTuple):
    """What a value of an option must be."""

    name: str
    kind: Any
    least: float | None
    most: float | None


@cache
def _checks(kind: type) -> tuple[_Check, ...]:
    """Return the checks of the options of a class that plain values make: those of other classes check themselves."""
    plain = [each for each in declared({"": kind}) if all(map(_is_plain, _alternatives(each.kind)))]
    return tuple(_Check(each.name, each.kind, each.about["least"], each.about["most"]) for each in plain)


def _is_plain(part: Any) -> bool:
    if get_origin(part) is tuple:
        return all(each is Ellipsis or _is_plain(each) for each in get_args(part))
    return get_origin(part) is Literal or part in (int, float, str, bool, type(None))


class Validated:
    """A base of dataclasses of options: each value is of the type of its option, and in its range."""

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for check in _checks(kind):
            value = value_of(check.name, getattr(self, check.name), check.kind, check.least, check.most)
            object.__setattr__(self, check.name, value)


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
    def has_flag(self) -> bool:
        """Whether `tagweave train` has a flag for it."""
        return bool(self.about["flag"])

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
