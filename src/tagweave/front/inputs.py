"""Reads what models are given: words, texts, sentences, corpora and data frames, one or several."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any, Literal

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.given import is_frame, kind_of, tokens_of
from tagweave.corpus.sentence import Sentence
from tagweave.front.tokenised import Tokenised

_ACCEPTED = "words, a text, a tw.Sentence, a tw.Corpus, a (tokens, labels) pair, a data frame, or several of these"
_PAIR = 2

Kind = Literal["text", "words", "sentence", "corpus", "frame"]
Cut = Callable[[str], Tokenised]
"""From a text to its sentences of words."""


@dataclass(frozen=True)
class Given:
    """Sentences, and the form in which they were given and are given back."""

    kind: Kind
    text: Tokenised
    corpus: Corpus | None = None

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The sentences."""
        return self.text.sentences


def read(data: Any, cut: Cut) -> tuple[list[Given], bool]:
    """Return what was given, and whether it was several things.

    Raises:
        TypeError: something else, such as a dict; the message says what is accepted.
    """
    one = _one(data, cut)
    if one is not None:
        return [one], False
    if isinstance(data, (bytes, Mapping, Set)) or not isinstance(data, Iterable):
        raise TypeError(f"found {kind_of(data)}, expected {_ACCEPTED}")
    several = list(data)
    if several and all(isinstance(each, str) and not re.search(r"\s", each) for each in several):
        return [_words(several)], False
    return [_one(each, cut) or _words(each) for each in several], True


def sentence_of(data: Any, cut: Cut) -> Sentence:
    """Return the one sentence that was given. Raises as `read`, and TypeError if there are several."""
    given, _ = read(data, cut)
    found = [sentence for each in given for sentence in each.sentences]
    if len(found) != 1:
        raise TypeError(f"found {len(found)} sentences, expected one")
    return found[0]


def _one(data: Any, cut: Cut) -> Given | None:
    """Return a single thing, or `None` for words and for several things."""
    if isinstance(data, Corpus):
        return Given("corpus", Tokenised(data.sentences), data)
    if isinstance(data, Sentence):
        return Given("sentence", Tokenised((data,)))
    if isinstance(data, str):
        return Given("text", cut(data))
    if is_frame(data):
        return Given("frame", Tokenised(Corpus(data).sentences))
    is_pair = isinstance(data, tuple) and len(data) == _PAIR and not any(isinstance(each, str) for each in data)
    return _words(data[0]) if is_pair else None


def _words(data: Any) -> Given:
    return Given("words", Tokenised((Sentence(tokens_of(data)),)))
