"""How far the brackets and tags of wikitext fail to nest: the parser looks to the end of the page for each such one."""

from __future__ import annotations

import re
from collections import Counter

DEEPEST = 40
"""How deep the parser nests."""

_CLOSES = {"]]": "[[", "}}": "{{", "|}": "{|", "-->": "<!--", "]": "["}
# which the parser does not look for the end of (`mwparserfromhell.definitions.SINGLE`)
_SINGLE = {"br", "hr", "wbr", "meta", "link", "img", "li", "dt", "dd", "td", "th", "tr"}
_BRACKET = re.compile(
    r"\[\[|\]\]|\{\{|\}\}|^[ :]*\{\||^[ ]*\|\}(?!\})|<!--|-->|\[(?=[\w+.-]*:|//)|\]|</?[a-z]+[^<>]*>?",
    re.MULTILINE | re.IGNORECASE,
)

_TAG = re.compile(r"</?([a-z]+).*", re.IGNORECASE | re.DOTALL)


def unclosed(text: str) -> int:
    """How many brackets and tags are open where they should not be, or lie deeper than the parser reads."""
    stack: list[str] = []
    inside: Counter[str] = Counter()
    count = 0
    for found in _BRACKET.finditer(text):
        name, closes = _kind(found.group().strip(" :"))
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


def _kind(bracket: str) -> tuple[str, bool]:
    """What kind of bracket it is, by its opening one, and whether it closes; an empty element closes nothing."""
    if bracket in _CLOSES:
        return _CLOSES[bracket], True
    if bracket[0] != "<" or bracket == "<!--":
        return bracket, False
    tag = _TAG.sub(r"\1", bracket).lower()
    if bracket.endswith("/>") or tag in _SINGLE:
        return "", True
    return f"<{tag}", bracket[1] == "/"
