"""Counting brackets and tags of wikitext that do not nest: for each, the parser searches to the end of the page."""

from __future__ import annotations

import re
from collections import Counter

DEEPEST = 40
"""The depth to which the parser nests."""

_CLOSES = {"]]": "[[", "}}": "{{", "|}": "{|", "-->": "<!--", "]": "["}
# elements whose end the parser does not search for (`mwparserfromhell.definitions.SINGLE`)
_SINGLE = {"br", "hr", "wbr", "meta", "link", "img", "li", "dt", "dd", "td", "th", "tr"}
_BRACKET = re.compile(
    r"\[\[|\]\]|\{\{|\}\}|^[ :]*\{\||^[ ]*\|\}(?!\})|<!--|-->|\[(?=[\w+.-]*:|//)|\]|</?[a-z]+[^<>]*>?",
    re.MULTILINE | re.IGNORECASE,
)

_TAG = re.compile(r"</?([a-z]+).*", re.IGNORECASE | re.DOTALL)


def unclosed(text: str) -> int:
    """The number of brackets and tags that are not closed in order, or lie deeper than the parser nests."""
    stack: list[str] = []
    inside: Counter[str] = Counter()
    count = 0
    for match in _BRACKET.finditer(text):
        name, closes = _bracket(match.group().strip(" :"))
        if not closes:
            stack.append(name)
            inside[name] += 1
        elif inside[name]:
            count += len(stack) > DEEPEST
            while (top := stack.pop()) != name:
                inside[top] -= 1
                count += 1
            inside[name] -= 1
    return count + len(stack)


def _bracket(bracket: str) -> tuple[str, bool]:
    """The opening bracket or tag that a bracket belongs to, and whether it closes; an empty element closes nothing."""
    if bracket in _CLOSES:
        return _CLOSES[bracket], True
    if bracket[0] != "<" or bracket == "<!--":
        return bracket, False
    tag = _TAG.sub(r"\1", bracket).lower()
    if bracket.endswith("/>") or tag in _SINGLE:
        return "", True
    return f"<{tag}", bracket[1] == "/"
