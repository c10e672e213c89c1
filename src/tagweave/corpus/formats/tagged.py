r"""Tagged text: `word/TAG` or `word_TAG`, tokens between blanks, one sentence a line.

A token is split at its last separator that is not escaped: `1\/2/CD` and `1/2/CD` are the form `1/2` with the tag
`CD`. Alternatives are separated by bars: `targeting/VBG|NN`. A token without a separator is a form with an unknown tag.
Blanks are only the space and the tab: full-width spaces may be tokens. A blank line is an empty sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from sys import intern
from typing import IO

from tagweave.corpus.candidates import format_candidates, interned, parse_candidates
from tagweave.corpus.characters import escape, last_unescaped, split_blanks, unescape
from tagweave.corpus.formats.format import (
    FEW,
    FirstLines,
    Format,
    Look,
    ModelLabels,
    Sign,
    checked,
    layer_to_write,
    refuse_blanks,
)
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.errors import CorpusError

_MANY, _MOST = 0.5, 0.9  # shares of words with a tail
_WORDS = 10  # enough to recognise a corpus
_UPPER = re.compile(r"[^a-z]*[A-Z][^a-z]*")


class _Tails:
    """The tails of words: the text after a separator inside a word, in pairs with the text before it.

    If nine of ten words have a tail, tails are labels. Otherwise they have to look like labels: one of ten words has a
    tail and most are in capitals, or every second word has one and few of them are different.

    In text for a model, tails are labels if most are labels of the model and enough words have one, or if all are and
    look like labels; or if nearly all words have one and few of them are different.
    """

    def __init__(self, tokens: Sequence[str], separator: str) -> None:
        split = [token.rpartition(separator) for token in tokens if separator in token[1:-1]]
        self.separator, self.words, self.tails = separator, len(tokens), [tail for _, _, tail in split]
        self.count, self.share = len(split), len(split) / max(len(tokens), 1)
        self.are_few = 2 * len(set(self.tails)) <= len(set(split))

    def known(self, labels: ModelLabels) -> int:
        return sum(map(labels.among, self.tails))

    def are_labels_of_all(self) -> bool:
        """Return whether this is a fully labelled corpus, whatever model it is for."""
        return self.words >= _WORDS and self.share >= _MOST and self.are_few

    def are_labels(self, labels: ModelLabels | None) -> bool:
        if labels is None:
            return self.count > 0 and self._look_like_labels()
        of_model = self.known(labels)
        if of_model == self.count > 0 and self._look_like_labels():
            return True
        return of_model > 0 and of_model >= labels.share * self.words and 2 * of_model >= self.count

    def _look_like_labels(self) -> bool:
        capitals = sum(_UPPER.fullmatch(tail) is not None for tail in self.tails)
        some_in_capitals = self.share >= FEW and 2 * capitals >= self.count
        return self.share >= _MOST or some_in_capitals or (self.share >= _MANY and self.are_few)

    def note_on_labels(self, labels: ModelLabels | None) -> str:
        """Return a note if tails count as labels, but not all are labels or not all words have one."""
        if labels is None and self.share < _MOST:
            return f"read as words with labels, which {self.count} of its first {self.words} words have"
        if labels is None or not (strange := self.count - self.known(labels)):
            return ""
        of_all = f"{strange} of {self.count} words with a {self.separator}"
        return f"read with labels: {of_all} keep it, since no label of the model is behind it"

    def note_on_words(self, format_name: str, labels: ModelLabels | None) -> str:
        """Return a note if tails do not count as labels, but many words have one."""
        if self.share < FEW and not (labels and self.known(labels)):
            return ""
        what = f"read as words: {self.count} of its first {self.words} have a {self.separator} in them"
        return f"{what}, and what is behind it is not taken for labels (`format={format_name}` does)"


_BLANKS = " \t"
_SEPARATORS = "/_"
_CACHE_SIZE = 1_000_000

Token = tuple[str, Candidates]


class _Tokens(dict[str, Token]):
    """The form and candidates of each distinct token, parsed once, so that equal tokens share them."""

    def __init__(self, separator: str, is_label: Callable[[str], bool] | None = None) -> None:
        self.separator, self.is_label = separator, is_label
        self.fields: dict[str, tuple[str, ...]] = {}

    def __missing__(self, text: str) -> Token:
        if len(self) >= _CACHE_SIZE:  # memory stays bounded on endless input
            self.clear()
            self.fields.clear()
        position = last_unescaped(text, self.separator)
        if position >= 0 and self.is_label and not self.is_label(text[position + 1 :]):
            position = -1
        if position <= 0 and (position < 0 or self.is_label):
            self[text] = intern(unescape(text, self.separator)), None
            return self[text]
        form, field = text[:position], text[position + 1 :]
        if not form or not field:
            where = "before" if not form else "after"
            problem = f"nothing {where} the {self.separator!r} of {text!r}"
            raise CorpusError(problem, f"form{self.separator}TAG, or \\{self.separator} for the character itself")
        if field not in self.fields:
            self.fields[field] = interned(parse_candidates(field, self.separator))
        self[text] = intern(unescape(form, self.separator)), self.fields[field]
        return self[text]


def read(
    lines: Iterable[str], path: str = "", separator: str = "/", is_label: Callable[[str], bool] | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of tagged text; `is_label` decides which fields are labels, tokens with others are forms."""
    tokens_of = _Tokens(separator, is_label)
    for number, line in enumerate(lines, 1):
        try:
            tokens = [tokens_of[token] for token in split_blanks(line)]
        except CorpusError as error:
            raise error.at(path, number) from None
        forms, tags = zip(*tokens, strict=True) if tokens else ((), ())
        yield Sentence(forms, {"tag": tags}, location=Location(path, number))


def write(sentences: Iterable[Sentence], stream: IO[str], separator: str = "/", layer: str = "tag") -> None:
    """Write each sentence as one line; a form with an unknown tag has no separator."""
    texts: dict[Token, str] = {}
    fields: dict[Candidates, str] = {None: ""}
    for sentence in sentences:
        tokens = list(zip(sentence.forms, layer_to_write(sentence, layer), strict=True))
        for form, candidates in tokens:
            if (form, candidates) in texts:
                continue
            text = form
            if not form.isalnum():  # which is neither blank nor escaped
                refuse_blanks([form], "form", _BLANKS, sentence)
                text = checked(escape(form, separator), sentence)
            if candidates not in fields:
                refuse_blanks(candidates or (), "label", _BLANKS, sentence)
                fields[candidates] = checked(separator + format_candidates(candidates, separator), sentence)
            texts[form, candidates] = text + fields[candidates]
        stream.write(" ".join(map(texts.__getitem__, tokens)) + "\n")


def _look(text: FirstLines, name: str, separator: str) -> Look | None:
    """Recognise labels after words, if more words have this separator than the other one."""
    tails = [_Tails(text.tokens, mark) for mark in _SEPARATORS]
    most = max(tails, key=lambda tail: tail.count)
    if most.separator != separator:
        return None
    if most.are_labels_of_all():
        return Look(Sign.LABELS)
    if not most.are_labels(text.labels):
        return Look(Sign.LABELS, is_format=False, note=most.note_on_words(name, text.labels))
    note = most.note_on_labels(text.labels)
    if text.labels is None:
        return Look(Sign.LABELS, note=note)
    return Look(Sign.LABELS, note=note, read=partial(read, separator=separator, is_label=text.labels.among))


def _format(name: str, separator: str) -> Format:
    return Format(
        name=name,
        read=partial(read, separator=separator),
        write=lambda sentences, stream, layer: write(sentences, stream, separator, layer),
        look=partial(_look, name=name, separator=separator),
    )


SLASH = _format("tagged", "/")
UNDERSCORE = _format("tagged-underscore", "_")
