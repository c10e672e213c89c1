"""The tables of what free annotation tells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reproductions.lab import page as lab


def of_evidence(setting: dict[str, Any]) -> Iterator[str]:
    """Those that a setting has."""
    evidence = setting["evidence"]
    if markup := evidence["markup"]:
        yield from _markup(markup)
    if lists := evidence["lists"]:
        yield from _lists(lists)
    if chosen := evidence["chosen"]:
        yield f"Chosen on development data, seed by seed: {', '.join(chosen)}.\n"


def _markup(found: dict[str, Any]) -> Iterator[str]:
    yield "### What the markup tells that the baseline does not know\n"
    yield (
        "Places between two Chinese characters of which the markup of all pages tells something, and how many of them"
        " the baseline has wrong before it has seen a page; means over the seeds.\n"
    )
    kinds = enumerate(("a word ends", "no word ends (spans of two characters)"))
    rows = [[name, *(_number(found[each][at]) for each in ("known", "wrong"))] for at, name in kinds]
    yield from lab.table(["markup tells", "places", "baseline wrong"], rows)
    yield (
        "Mistakes of the baseline on target data, at places. `alike`: of these, between the same two characters as a"
        " place that is marked and wrong in the pages. `edges`: where a span that pages mark occurs and begins or ends,"
        " whether the baseline has it right in the pages or not. Beside each, F of words if these were right.\n"
    )
    rows = []
    for part, each in found["gold"].items():
        bounds = [cell for name in ("alike", "edges") for cell in (_number(each[name][0]), f"{each[name][1]:.2f}")]
        rows.append([part, f"{each['F']:.2f}", _number(each["mistakes"]), *bounds])
    yield from lab.table(["data", "F", "mistakes", "alike", "F without", "edges", "F without"], rows)


def _lists(found: dict[str, Any]) -> Iterator[str]:
    yield "### What the lists mark in the raw sentences\n"
    rows = []
    for name, each in found.items():
        shares = (each["right"], each["share"], *each["ones"])
        rows.append([name, f"{each['marked']:,}", *(f"{share:.1f}" for share in shares)])
    head = ["list", "words marked", "of these right, %", "of all words, %"]
    yield from lab.table([*head, "words of one character, % of all", "% of those left open"], rows)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.1f}"
