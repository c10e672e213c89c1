"""Tokens, labels and sentences as Python code gives them: lists, pairs and data frames.

What could mean two things is refused: a text in place of tokens has letters, a set has no order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import groupby
from math import isnan
from typing import TYPE_CHECKING, Any

from tagweave.corpus.errors import CorpusError

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Candidates

ACCEPTED = "sentences: (tokens, labels) pairs, tw.Sentence, or a data frame with the columns sentence, token and label"
_POSITIONS = {tuple, type(None)}
_ROWS = ("sentence", "token", "label")


def tokens_of(given: Any) -> tuple[str, ...]:
    """Return tokens as a tuple of text.

    Raises:
        TypeError: a text, a set, or anything else that is not a sequence of text.
        CorpusError: an empty token.
    """
    tokens = tuple(_token(each) for each in _in_order(given, "tokens, as in text.split()"))
    if "" in tokens:
        raise CorpusError(f"an empty token among {' '.join(tokens)!r}", "text in every token")
    return tokens


def lines_of(given: Any) -> Iterator[str]:
    """Yield lines of text, one by one.

    Raises:
        TypeError: one text, something that is not several, or a line that is not text.
    """
    for line in _in_order(given, "lines, as in text.splitlines()"):
        if not isinstance(line, str):
            raise TypeError(f"found {line!r} as a line, expected text")
        yield line


def labels_of(given: Any) -> tuple[Candidates, ...]:
    """Return labels as the positions of a layer.

    Text is one label, `None` and nan are unknown, and a tuple, a list or a set has several candidates.

    Raises:
        TypeError: a text in place of labels, a set of them, or a label that is not text.
    """
    return tuple(map(_candidates, _in_order(given, "labels, one for each token")))


def is_layer(given: Any) -> bool:
    """Return whether every position is a tuple or `None`: their types are few, so this is quick."""
    if type(given) is not tuple:
        return False
    others = set(map(type, given)) - _POSITIONS
    return not others or all(issubclass(each, tuple) for each in others)


def is_frame(given: Any) -> bool:
    """Return whether something is a data frame: it has named columns, and gives one by its name."""
    return hasattr(given, "columns") and hasattr(given, "__getitem__") and not isinstance(given, type)


def rows_of(frame: Any) -> Iterator[tuple[tuple[str, ...], tuple[Candidates, ...] | None, dict[str, tuple[str, ...]]]]:
    """Yield the tokens of each sentence of a data frame, its labels if there are any, and its other columns.

    Raises:
        TypeError: no columns `sentence` and `token`, or a token or label that is not text.
        CorpusError: the rows of a sentence do not stand together.
    """
    names = [str(name) for name in frame.columns]
    if missing := [name for name in _ROWS[:2] if name not in names]:
        found = f"a data frame with the columns {', '.join(names) or 'none'}"
        raise TypeError(f"found {found}, expected {missing[0]!r}, too: {ACCEPTED}")
    values = {name: list(frame[name]) for name in names}
    seen: set[Any] = set()
    for key, group in groupby(range(len(values["token"])), key=values["sentence"].__getitem__):
        rows = list(group)
        if _is_missing(key) or key in seen:
            raise CorpusError(
                f"the sentence {key} in row {rows[0]}", "a number or name for each, in rows that follow one another"
            )
        seen.add(key)
        own = {name: [values[name][row] for row in rows] for name in names}
        others = {name: tuple(map(str, column)) for name, column in own.items() if name not in _ROWS}
        try:
            labels = labels_of(own["label"]) if "label" in own else None
            yield tokens_of(own["token"]), labels, others
        except TypeError as error:
            raise TypeError(f"sentence {key}: {error}") from None


def kind_of(given: Any) -> str:
    """Return what something is, in a message: `dict`, `None`, `the text 'Jan'`."""
    if isinstance(given, str):
        return f"the text {given[:40]!r}"
    return "None" if given is None else type(given).__name__


def _in_order(given: Any, expected: str) -> Iterable[Any]:
    """Return something that has an order; raise a TypeError otherwise."""
    if isinstance(given, (str, bytes, Mapping, Set)) or not isinstance(given, Iterable):
        raise TypeError(f"found {kind_of(given)}, expected a list of {expected}")
    return given


def _is_missing(given: Any) -> bool:
    """Return whether something is `None`, also as pandas says it: nan or NA, which is neither equal nor unequal."""
    return given is None or type(given).__name__ == "NAType" or (isinstance(given, float) and isnan(given))


def _token(given: Any) -> str:
    if not isinstance(given, str):
        how = " (pandas.read_csv reads NA as nan: keep_default_na=False)" if _is_missing(given) else ""
        raise TypeError(f"found {given!r} as a token, expected text{how}")
    return str(given)


def _candidates(given: Any) -> Candidates:
    if _is_missing(given):
        return None
    several = (str(given),) if isinstance(given, str) else given
    if isinstance(given, Set):
        several = sorted(given, key=str)
    if not isinstance(several, (tuple, list)) or not all(isinstance(each, str) for each in several):
        raise TypeError(f"found {given!r} as a label, expected text, None for unknown, or a tuple of candidates")
    return several if isinstance(several, tuple) else tuple(several)
