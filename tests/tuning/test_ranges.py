"""Ranges are read from texts and from JSON, and say what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from tagweave.errors import PlanError
from tagweave.tuning.space import Range

READ: list[tuple[str, Any, Any]] = [
    ("log:0.01:1", {"log": [0.01, 1]}, 0.5),
    ("float:0:0.5", {"float": [0, 0.5]}, 0),
    ("int:1:5", {"int": [1, 5]}, 5),
    ("int-log:1:64", {"int-log": [1, 64]}, 64),
    ("choice:all,observed", {"choice": ["all", "observed"]}, "all"),
    ("choice:null,true,2", {"choice": [None, True, 2]}, None),
]


@pytest.mark.parametrize(("text", "values", "inside"), READ)
def test_a_range_is_read_from_text_and_from_json(text: str, values: Any, inside: Any) -> None:
    found = Range.of(text)
    assert found == Range.of(values) == Range.of(found.to_json())
    assert found.text() == text
    assert inside in found
    assert found.value(found.parameter(inside)) == inside


@pytest.mark.parametrize(
    ("text", "outside"),
    [("log:0.01:1", 1.5), ("int:1:5", 2.0), ("int:0:5", True), ("choice:1", True), ("float:0:1", None)],
)
def test_what_a_range_does_not_have(text: str, outside: Any) -> None:
    assert outside not in Range.of(text)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("0.1", "found the range '0.1', expected log:LOW:HIGH"),
        ("lag:1:2", "found a range 'lag', expected log:LOW:HIGH"),
        ("log:0:1", "expected the lower number first above 0"),
        ("int:5:1", "expected the lower number first"),
        ("int:0.5:1", "expected two whole numbers"),
        ("float:1", "expected two numbers"),
        ("float:0:Infinity", "expected two numbers"),
        ("choice:a,a", "expected different values"),
        ({"choice": []}, "expected different values"),
        ({"log": [0.1, 1], "int": [1, 2]}, "expected log:LOW:HIGH"),
        ({"log": "0.1:1"}, "expected log:LOW:HIGH"),
        (7, "found the range 7"),
    ],
)
def test_what_is_no_range_is_refused(value: object, problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        Range.of(value)


def test_numbers_have_three_digits_and_stay_inside() -> None:
    found = Range.of("float:0.12345:0.5")
    assert found.value(0.123456) == 0.12345
    assert found.value(0.234567) == 0.235
