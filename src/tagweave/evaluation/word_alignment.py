"""Alignment of the words of two sentences over the same text, as in the evaluation of CoNLL 2018 (Zeman et al. 2018).

Words are aligned if they are the same stretch of text. The words of a multiword token (`2-3 du`: `de le`) have no
stretches of their own: all words inside such a token, or inside several overlapping ones of both sides, are aligned by
the longest common subsequence of their forms, ignoring case. Blanks inside words are ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus.sentence import Location
from tagweave.evaluation.alignment import check_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Sentence


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


class _Surface(NamedTuple):
    forms: tuple[str, ...]
    location: Location


def check_surfaces(gold: Corpus, system: Corpus) -> None:
    """Check that both hold the same sentences, with the same words or at least the same text.

    Raises:
        CorpusError: different texts or numbers of sentences.
    """
    if len(gold) == len(system) and all(one.forms == other.forms for one, other in zip(gold, system, strict=True)):
        return
    surfaces, others = ([_Surface(_texts(s), s.location) for s in corpus] for corpus in (gold, system))
    check_text(surfaces, others, gold.path, system.path)


def aligned_words(gold: Sentence, system: Sentence) -> list[int | None]:
    """The position of every gold word's counterpart, `None` if it has none."""
    if gold.forms == system.forms:
        return list(range(len(gold)))
    links: list[int | None] = [None] * len(gold)
    ours, theirs = _tokens(gold), _tokens(system)
    stretches = {(token.start, token.end): token.first for token in theirs if not token.is_multiword}
    for token in ours:
        if not token.is_multiword:
            links[token.first] = stretches.get((token.start, token.end))
    for start, end in _spans([token for token in (*ours, *theirs) if token.is_multiword]):
        words, others = _inside(ours, start, end), _inside(theirs, start, end)
        for at in words:
            links[at] = None
        pairs = _common([gold.forms[at].lower() for at in words], [system.forms[at].lower() for at in others])
        for one, other in pairs:
            links[words[one]] = others[other]
    return links


def _texts(sentence: Sentence) -> tuple[str, ...]:
    return tuple(token.text for token in _tokens(sentence))


def _tokens(sentence: Sentence) -> list[_Token]:
    multiword = {}
    for before, row in sentence.extra_rows:
        number, form = row.split("\t")[:2]
        if "-" in number:
            multiword[before] = form, int(number.partition("-")[2])
    tokens, at, start = [], 0, 0
    while at < len(sentence):
        form, last = multiword.get(at, (sentence.forms[at], at + 1))
        tokens.append(_Token(_text(form), start, at, last, at in multiword))
        at, start = last, tokens[-1].end
    return tokens


def _text(form: str) -> str:
    return "".join(form.split())


def _spans(tokens: Sequence[_Token]) -> list[tuple[int, int]]:
    """The stretches that tokens cover; overlapping ones are merged."""
    spans: list[tuple[int, int]] = []
    for start, end in sorted((token.start, token.end) for token in tokens):
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(spans[-1][1], end)
        else:
            spans.append((start, end))
    return spans


def _inside(tokens: Sequence[_Token], start: int, end: int) -> list[int]:
    """The words of the tokens in a stretch."""
    own = (token for token in tokens if start <= token.start and token.end <= end)
    return [at for token in own for at in range(token.first, token.last)]


def _common(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The longest common subsequence, as pairs of positions."""
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
