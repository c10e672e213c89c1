"""Samples of tables of choices in which every two choices meet, where the full product would say no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations, product
from typing import Any


def pairwise(*choices: Iterable[Any], where: Callable[..., bool] = lambda *_: True) -> list[tuple[Any, ...]]:
    """Rows of the product, few, in which every two choices of different columns meet that do so in any row.

    Rows for which `where` is false are left out. The sample depends on the choices alone.
    """
    columns = [list(column) for column in choices]
    rows = [row for row in product(*(enumerate(column) for column in columns)) if where(*(value for _, value in row))]
    pairs = [{*combinations(enumerate(number for number, _ in row), 2)} for row in rows]
    missing, sample = set().union(*pairs), []
    while missing:
        best = max(range(len(rows)), key=lambda row: len(missing & pairs[row]))
        missing -= pairs[best]
        sample.append(tuple(value for _, value in rows[best]))
    return sample
