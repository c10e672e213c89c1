"""Aligns sentences of a system and of the gold standard, in order and over the same text.

Words of two sentences over the same text are aligned as in the evaluation of CoNLL 2018 (Zeman et al. 2018): if they
are the same stretch of text. The words of a multiword token (`2-3 du`: `de le`) have no stretches of their own: all
words inside such a token, or inside several overlapping ones of both sides, are aligned by the longest common
subsequence of their forms, ignoring case. Blanks inside words are ignored.
"""

from __future__ import annotations

from collections import defaultdict, deque
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple, Protocol
from unicodedata import category, combining, name, normalize

from tagweave.corpus.formats import conllu
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tagweave.corpus.corpus import Corpus

SHOWN = 12
"""How many characters or tokens a message shows from the first difference on."""
_SHOWN_POINTS = 4


class Text(Protocol):
    """The words of a sentence, and its place for messages."""

    @property
    def forms(self) -> tuple[str, ...]: ...
    @property
    def location(self) -> Location: ...


def check_text(gold: Sequence[Text], system: Sequence[Text], gold_path: str = "", system_path: str = "") -> None:
    """Check that both hold the same sentences, character by character; their words may differ.

    The paths of the corpora are used for sentences that do not know their own location.
    """
    for index, (expected, actual) in enumerate(zip_longest(gold, system)):
        if expected is None or actual is None:
            raise _other_number(gold, system, gold_path, system_path)
        if expected.forms == actual.forms:
            continue
        wanted, text = "".join(expected.forms), "".join(actual.forms)
        if wanted != text:
            at = _first_difference(wanted, text)
            raise CorpusError(
                f"{_show(text, at)} from character {at + 1} of sentence {index + 1} on",
                f"{_show(wanted, at)} as in {_name(expected.location, index, gold_path)}{_lookalike(text, wanted, at)}",
                actual.location.path or system_path,
                actual.location.line,
            )


def check_tokens(gold: Sequence[Text], system: Sequence[Text], gold_path: str = "", system_path: str = "") -> None:
    """Check that both hold the same sentences with the same tokens."""
    check_text(gold, system, gold_path, system_path)
    for index, (expected, actual) in enumerate(zip(gold, system, strict=True)):
        if expected.forms != actual.forms:
            at = _first_difference(expected.forms, actual.forms)
            raise CorpusError(
                f"the tokens {_show(actual.forms, at)} from token {at + 1} of sentence {index + 1} on",
                f"{_show(expected.forms, at)} as in {_name(expected.location, index, gold_path)}",
                actual.location.path or system_path,
                actual.location.line,
            )


def paired(first: Iterable[Sentence], second: Iterable[Sentence]) -> list[tuple[Sentence, Sentence]]:
    """Pair sentences with the same tokens, in the order of the first corpus; repeated ones in the order of both."""
    waiting: dict[tuple[str, ...], deque[Sentence]] = defaultdict(deque)
    for sentence in second:
        waiting[sentence.forms].append(sentence)
    return [(sentence, waiting[sentence.forms].popleft()) for sentence in first if waiting[sentence.forms]]


def _first_difference(one: Sequence[str], other: Sequence[str]) -> int:
    return next(at for at, (item, twin) in enumerate(zip_longest(one, other)) if item != twin)


def _lookalike(found: str, expected: str, at: int) -> str:
    """Name the code points of different characters that look alike, as in texts of different normal forms; or ""."""
    while at and any(at < len(text) and combining(text[at]) for text in (found, expected)):
        at -= 1  # both are the same before it
    clusters = _cluster(found, at), _cluster(expected, at)
    if not _look_alike(*clusters):
        return ""
    same = any(normalize(form, clusters[0]) == normalize(form, clusters[1]) for form in ("NFC", "NFKC"))
    why = ": one character in two Unicode normal forms, which one of the files has to change" if same else ""
    return f"; {_code_points(clusters[0])} is found where {_code_points(clusters[1])} is expected{why}"


def _cluster(text: str, at: int) -> str:
    """Return the character at a position with its combining marks; "" at the end."""
    end = at + 1
    while end < len(text) and combining(text[end]):
        end += 1
    return text[at:end]


def _look_alike(one: str, other: str) -> bool:
    """Return whether a reader may mistake one for the other, or not see it."""
    if (
        one[:1] == other[:1]
        or normalize("NFKC", one) == normalize("NFKC", other)
        or any(category(character) in ("Cf", "Mn", "Zs", "Cc") for character in (*one[:1], *other[:1]))
    ):
        return True
    scripts = [name(character, "").partition(" ")[0] for character in (one[:1] or " ", other[:1] or " ")]
    return set(scripts) <= {"LATIN", "CYRILLIC", "GREEK"} and len(set(scripts)) > 1


def _code_points(text: str) -> str:
    return (
        ", ".join(f"U+{ord(character):04X} {name(character, '(no name)')}" for character in text[:_SHOWN_POINTS])
        or "nothing"
    )


def _show(items: Sequence[str], at: int) -> str:
    separator = "" if isinstance(items, str) else " "
    return repr(separator.join(items[at : at + SHOWN])) if at < len(items) else "the end of the sentence"


def _name(location: Location, index: int, path: str) -> str:
    file = location.path or path or "the gold standard"
    return f"{file}:{location.line}" if location.line else f"{file} (sentence {index + 1})"


def _other_number(gold: Sequence[Text], system: Sequence[Text], gold_path: str, system_path: str) -> CorpusError:
    """Return the error for a side that ends early; its location is the first sentence too many, or the last one."""
    common = min(len(gold), len(system))
    nearest = system[min(common, len(system) - 1)].location if system else Location()
    if len(system) > common:
        missing = f"sentence {common + 1} without a counterpart"
    else:
        missing = f"nothing for {_name(gold[common].location, common, gold_path)}"
    return CorpusError(
        f"{len(system)} sentences, {missing}",
        f"{len(gold)} as in {(gold[0].location.path if gold else '') or gold_path or 'the gold standard'}",
        nearest.path or system_path,
        nearest.line,
    )


class _Token(NamedTuple):
    """The text from `start` to `end` of the words first .. last - 1, one or several."""

    text: str
    start: int
    first: int
    last: int
    is_multiword: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def check_surfaces(gold: Corpus, system: Corpus) -> None:
    """Check that both hold the same sentences, with the same words or at least the same text."""
    if len(gold) == len(system) and all(one.forms == other.forms for one, other in zip(gold, system, strict=True)):
        return
    surfaces, their_surfaces = (
        [Sentence(tuple(token.text for token in _tokens(sentence)), location=sentence.location) for sentence in corpus]
        for corpus in (gold, system)
    )
    check_text(surfaces, their_surfaces, gold.path, system.path)


def aligned_words(gold: Sentence, system: Sentence) -> list[int | None]:
    """Return the position of every gold word's counterpart, `None` if it has none."""
    if gold.forms == system.forms:
        return list(range(len(gold)))
    links: list[int | None] = [None] * len(gold)
    ours, theirs = _tokens(gold), _tokens(system)
    stretches = {(token.start, token.end): token.first for token in theirs if not token.is_multiword}
    for token in ours:
        if not token.is_multiword:
            links[token.first] = stretches.get((token.start, token.end))
    for start, end in _spans([token for token in (*ours, *theirs) if token.is_multiword]):
        words, their_words = (
            [
                at
                for token in tokens
                if start <= token.start and token.end <= end
                for at in range(token.first, token.last)
            ]
            for tokens in (ours, theirs)
        )
        for at in words:
            links[at] = None
        pairs = _common([gold.forms[at].lower() for at in words], [system.forms[at].lower() for at in their_words])
        for one, other in pairs:
            links[words[one]] = their_words[other]
    return links


def _tokens(sentence: Sentence) -> list[_Token]:
    multiword = {start: (form, stop) for start, stop, form in conllu.multiword_tokens(sentence)}
    tokens, at, start = [], 0, 0
    while at < len(sentence):
        form, last = multiword.get(at, (sentence.forms[at], at + 1))
        tokens.append(_Token("".join(form.split()), start, at, last, at in multiword))
        at, start = last, tokens[-1].end
    return tokens


def _spans(tokens: Sequence[_Token]) -> list[tuple[int, int]]:
    """Return the stretches that tokens cover; overlapping ones are merged."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted((token.start, token.end) for token in tokens):
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((start, end))
    return spans


def _common(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the longest common subsequence, as pairs of positions."""
    longest = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in reversed(range(len(ours))):
        for j in reversed(range(len(theirs))):
            same = ours[i] == theirs[j]
            longest[i][j] = longest[i + 1][j + 1] + 1 if same else max(longest[i + 1][j], longest[i][j + 1])
    i = j = 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1
