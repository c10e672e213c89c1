"""Rules for a `tokenizer.json` from a stranger, checked before the library `tokenizers` sees it.

A tokenizer of this format is a program: its normalizers rewrite text, its pre-tokenizers cut it by regular expressions.
Three replacements can turn one letter into a million, and an expression can search for hours. So only the steps of
published tokenizers are accepted, no step may enlarge text by much, and expressions may not backtrack for long.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tagweave.features.rules import refuse

_MODELS = ("WordPiece", "BPE", "Unigram", "WordLevel")
_NORMALIZERS = (
    *("BertNormalizer", "ByteLevel", "Lowercase", "NFC", "NFD", "NFKC", "NFKD", "Nmt", "Precompiled", "Prepend"),
    *("Replace", "Sequence", "Strip", "StripAccents"),
)
_PRE_TOKENIZERS = (
    *("BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength", "Metaspace", "Punctuation"),
    *("Sequence", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit"),
)
_POST_PROCESSORS = ("BertProcessing", "ByteLevel", "RobertaProcessing", "Sequence", "TemplateProcessing")
_PARTS = {"normalizer": _NORMALIZERS, "pre_tokenizer": _PRE_TOKENIZERS, "post_processor": _POST_PROCESSORS}
_INNER = ("normalizers", "pretokenizers", "processors")
_REPEATABLE = ("Replace", "Split", "Sequence", "Strip", "Digits", "Punctuation")
_MOST_STEPS = 24
_LONGEST_TEXT = 64  # characters that a step inserts, and of prefixes and suffixes of pieces
_LONGEST_PATTERN = 2000
_LONGEST_MAPPED = 128  # bytes that `Precompiled` makes of a character; those of SentencePiece make 33 at most
_USUAL_MAPPED = 48
_MOST_REPETITIONS = 2  # without an end, in an alternative of a regular expression

_ATOMS = re.compile(
    r"\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\.|\[(?:\\.|\[:\^?\w+:\]|\[(?:\\.|[^\]\\])*\]|[^\]\\])*\]", re.DOTALL
)
_ENDLESS = re.compile(r"[*+]|\{\d*,\}")
_COUNTED = re.compile(r"\{(\d+)(?:,(\d*))?\}|\{,(\d+)\}")
_OPTIONAL = re.compile(r"(?<![*+?}(])\?|\{(\d*),(\d+)\}")
_FIXED_GROUP = re.compile(r"\((?:\?:)?[^()|*+?{}]+(?:\{\d+\})?\)(?=[*+])")
_REPEATED_GROUP = re.compile(r"\)(?:[*+]|\{(?!0?,?1\}))")
_REFERENCE = re.compile(r"\\(?:[1-9]|[kg][<'{])|\(\?(?:[R&(]|P[>=]|\d)")
_HIGHEST_COUNT = 100
_MOST_CHOICES = 64  # ways to read the optional parts of an alternative


def check_tokenizer(described: Any) -> dict[str, Any]:
    """Return a tokenizer without what is not used here: decoder, padding, truncation, dropout.

    Raises:
        ValueError: a step of an unknown type, one that enlarges text, or an expression that may search for long.
    """
    if not isinstance(described, dict) or not isinstance(described.get("model"), dict):
        refuse(type(described).__name__, "tokenizer.json", "an object with a model")
    model = described["model"]
    if model.get("type", _MODELS[0]) not in _MODELS:
        refuse(model["type"], "tokenizer.json model.type", f"one of {', '.join(_MODELS)}")
    for name, value in model.items():
        if isinstance(value, str) and len(value) > _LONGEST_TEXT:
            refuse(value, f"tokenizer.json model.{name}", f"at most {_LONGEST_TEXT} characters")
    steps = []
    for section, types in _PARTS.items():
        of_section = list(steps_of(described.get(section), section))
        for step in of_section:
            if step.get("type") not in types:
                refuse(step.get("type"), f"tokenizer.json {section}", f"one of {', '.join(types)}")
        names = [step["type"] for step in of_section if step["type"] not in _REPEATABLE]
        if len(of_section) > _MOST_STEPS or len(set(names)) < len(names):
            refuse(names, f"tokenizer.json {section}", f"each step once, and {_MOST_STEPS} steps at most")
        steps += of_section if section != "post_processor" else []
    if sum(step["type"] == "ByteLevel" for step in steps) > 1:
        refuse("ByteLevel", "tokenizer.json", "one step of this type, since each doubles text that is not ASCII")
    for step in steps:
        _check_step(step)
    unused = {"decoder": None, "padding": None, "truncation": None}
    return {**described, **unused, "model": {**model, "dropout": None} if "dropout" in model else model}


def steps_of(described: Any, where: str, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield a part of a tokenizer and the steps inside it."""
    if described is None and not depth:
        return
    if not isinstance(described, dict) or depth > _MOST_STEPS:
        refuse(described, f"tokenizer.json {where}", "a step with a type")
    yield described
    for name in _INNER:
        inner = described.get(name, [])
        if not isinstance(inner, list) or len(inner) > _MOST_STEPS:
            refuse(inner, f"tokenizer.json {where}", f"at most {_MOST_STEPS} steps")
        for step in inner:
            yield from steps_of(step, where, depth + 1)


def enlarges(described: Mapping[str, Any]) -> bool:
    """Return whether steps of a checked tokenizer may make text much longer, when they are combined."""
    for step in steps_of(described.get("normalizer"), "normalizer"):
        if step["type"] == "Precompiled" and _longest_mapped(step) > _USUAL_MAPPED:
            return True
        if step["type"] == "Replace":
            pattern = step["pattern"]
            if len(step["content"]) > len(pattern.get("String", " ")):
                return True
    return False


def _check_step(step: Mapping[str, Any]) -> None:
    where = f"tokenizer.json {step['type']}"
    if step["type"] == "Precompiled" and (longest := _longest_mapped(step)) > _LONGEST_MAPPED:
        refuse(longest, where, f"at most {_LONGEST_MAPPED} bytes for a character")
    for name in ("content", "prepend", "replacement"):
        value = step.get(name, "")
        if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
            refuse(value, f"{where}.{name}", f"text of at most {_LONGEST_TEXT} characters")
    if step["type"] in ("Replace", "Split"):
        pattern = step.get("pattern")
        if not isinstance(pattern, dict) or len(pattern) != 1 or {*pattern} - {"String", "Regex"}:
            refuse(pattern, f"{where}.pattern", "a String or a Regex")
        (value,) = pattern.values()
        if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_PATTERN:
            refuse(value, f"{where}.pattern", f"text of 1 to {_LONGEST_PATTERN} characters")
        if "Regex" in pattern:
            check_expression(value, f"{where}.pattern")


def _longest_mapped(step: Mapping[str, Any]) -> int:
    """Return the most bytes that a map of characters makes of one: int32 size, a trie of that size, texts until NUL."""
    charsmap = step.get("precompiled_charsmap")
    try:
        data = base64.b64decode(charsmap if isinstance(charsmap, str) else "", validate=True)
        size = int.from_bytes(data[:4], "little")
        data[4 + size :].decode("utf-8")
    except ValueError:
        data, size = b"", 0
    if not size or size % 4 or 4 + size > len(data):
        refuse(str(charsmap)[:20], "tokenizer.json Precompiled", "a map of characters as SentencePiece makes it")
    return max(map(len, data[4 + size :].split(b"\0")))


def check_expression(expression: str, where: str) -> None:
    """Refuse a regular expression that may search for long.

    The effort grows with the length of the text to the power of the repetitions without an end that follow one another,
    and exponentially where a group with one is itself repeated.
    """
    plain = _FIXED_GROUP.sub("x", _ATOMS.sub("x", expression))
    counts = [int(count) for match in _COUNTED.finditer(plain) for count in match.groups() if count]
    if (
        _REFERENCE.search(re.sub(r"\\\\", "", expression))
        or _REPEATED_GROUP.search(plain)
        or max(counts, default=0) > _HIGHEST_COUNT
        or any(_is_slow(alternative) for alternative in _alternatives(plain))
    ):
        expected = "one that cannot search for long: no references or repeated groups, few repetitions in a row"
        refuse(expression, where, expected)


def _is_slow(alternative: str) -> bool:
    endless, choices = len(_ENDLESS.findall(alternative)), 1
    for match in _OPTIONAL.finditer(alternative):
        least, most = match.groups()
        choices *= 2 if most is None else max(1, int(most) - int(least or 0) + 1)
    return endless > _MOST_REPETITIONS or choices > _MOST_CHOICES


def _alternatives(expression: str) -> Sequence[str]:
    """Cut an expression at the bars outside of groups."""
    alternatives, depth = [""], 0
    for character in expression:
        depth += (character == "(") - (character == ")")
        if character == "|" and depth == 0:
            alternatives.append("")
        else:
            alternatives[-1] += character
    return alternatives
