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
INT8 = option(False, "Run networks on the CPU, by ONNX Runtime with weights in int8: faster, almost the same labels.")


def choices(kind: Any) -> tuple[str, ...]:
    """The values of a `Literal` type, also within a union; () for other types."""
    return next(
        (get_args(alternative) for alternative in _alternatives(kind) if get_origin(alternative) is Literal), ()
    )


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
    is_several = any(get_origin(alternative) is tuple for alternative in _alternatives(kind))
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
    return all(alternative is type(None) or get_origin(alternative) is Literal for alternative in _alternatives(kind))


def _expected(kind: Any, least: float | None, most: float | None) -> str:
    """Describe the values of a type."""
    limits = "" if least is None else f" from {least:g}" if most is None else f" from {least:g} to {most:g}"
    nouns = []
    for alternative in _alternatives(kind):
        if get_origin(alternative) is tuple:
            nouns.append("numbers" if get_args(alternative)[0] in (int, float) else "texts")
        elif alternative is bool:
            nouns.append("true or false")
        elif alternative in (int, float):
            nouns.append(f"a {'whole ' if alternative is int else ''}number{limits}")
        elif alternative is str:
            nouns.append("text")
        elif get_origin(alternative) is Literal:
            nouns.append(", ".join(map(str, get_args(alternative))))
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
    plain = [entry for entry in declared({"": kind}) if all(map(_is_plain, _alternatives(entry.kind)))]
    return tuple(_Check(entry.name, entry.kind, entry.about["least"], entry.about["most"]) for entry in plain)


def _is_plain(kind: Any) -> bool:
    if get_origin(kind) is tuple:
        return all(argument is Ellipsis or _is_plain(argument) for argument in get_args(kind))
    return get_origin(kind) is Literal or kind in (int, float, str, bool, type(None))


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
        descriptions = [declaration.metadata for declaration in self.fields.values()]
        least, most = ([metadata[name] for metadata in descriptions] for name in ("least", "most"))
        limits = {"least": None if None in least else min(least), "most": None if None in most else max(most)}
        return {**descriptions[0], **limits}

    @property
    def default(self) -> Any:
        """Its default; `None` where classes have different ones."""
        defaults = [
            declaration.default if declaration.default_factory is MISSING else declaration.default_factory()
            for declaration in self.fields.values()
        ]
        return defaults[0] if all(default == defaults[0] for default in defaults) else None

    @property
    def has_flag(self) -> bool:
        """Whether `tagweave train` has a flag for it."""
        return bool(self.about["flag"])

    @property
    def help(self) -> str:
        """Its purpose and its default, for each class if they differ."""
        texts = {name: _with_default(declaration) for name, declaration in self.fields.items()}
        if len(set(texts.values())) == 1:
            return next(iter(texts.values()))
        return " ".join(f"{name.capitalize()}: {text}" for name, text in texts.items())


def declared(kinds: Mapping[str, type], leave_out: Collection[str] = ()) -> list[Declared]:
    """Return the options of classes, which are given by owner; an option that several classes share is listed once."""
    by_name: dict[str, dict[str, Field[Any]]] = {}
    types: dict[str, Any] = {}
    for owner, kind in kinds.items():
        declarations = {
            declaration.name: declaration
            for declaration in fields(kind)
            if declaration.name not in leave_out and "help" in declaration.metadata
        }
        for base in reversed(kind.__mro__):  # one by one: annotations of other names may not be imported
            texts = {name: text for name, text in vars(base).get("__annotations__", {}).items() if name in declarations}
            types |= get_type_hints(type("", (), {"__annotations__": texts, "__module__": base.__module__}))
        for name, declaration in declarations.items():
            by_name.setdefault(name, {})[owner] = declaration
    return [Declared(name, types[name], fields_by_owner) for name, fields_by_owner in by_name.items()]


def _with_default(declaration: Field[Any]) -> str:
    text = str(declaration.metadata["help"])
    default = declaration.default
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

    def decorated(function: Callable[..., T]) -> Callable[..., T]:
        about: Any = function
        parameters = [
            parameter
            for parameter in signature(function).parameters.values()
            if parameter.kind is not Parameter.VAR_KEYWORD
        ]
        more = [Parameter(d.name, Parameter.KEYWORD_ONLY, default=d.default, annotation=d.kind) for d in options]
        about.__signature__ = signature(function).replace(parameters=[*parameters, *more])
        about.__doc__ = _document(function.__doc__, options)
        return function

    return decorated


def _document(text: str | None, options: Collection[Declared]) -> str:
    return "\n".join(
        [cleandoc(text or ""), "", "Options:", *(f"    {entry.name}: {entry.help}" for entry in options), ""]
    )
