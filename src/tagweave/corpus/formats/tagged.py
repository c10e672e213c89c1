"""Tagged text: `word/TAG` or `word_TAG`, tokens between blanks, one sentence a line.

A token is split at its last separator that is not escaped: `1\\/2/CD` and `1/2/CD` are the form `1/2` with the tag
`CD`. Alternatives are separated by bars: `targeting/VBG|NN`. A token without a separator is a form with an unknown tag.
Blanks are only the space and the tab: full-width spaces may be tokens. A blank line is an empty sentence.
"""

from __future__ import annotations

from functools import partial
from sys import intern
from typing import IO, TYPE_CHECKING

from tagweave.corpus.alternatives import format_candidates, interned, parse_candidates
from tagweave.corpus.blanks import split_blanks
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.escapes import escape, last_unescaped, unescape
from tagweave.corpus.formats.format import Format, Look, Sign
from tagweave.corpus.formats.tails import Tails
from tagweave.corpus.formats.writing import checked, layer_to_write, refuse_blanks
from tagweave.corpus.sentence import Candidates, Location, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from tagweave.corpus.formats.first_lines import FirstLines

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
        token = self[text] = self._parse(text)
        return token

    def _parse(self, text: str) -> Token:
        position = last_unescaped(text, self.separator)
        if position >= 0 and self.is_label and not self.is_label(text[position + 1 :]):
            position = -1
        if position <= 0 and (position < 0 or self.is_label):
            return intern(unescape(text, self.separator)), None
        form, field = text[:position], text[position + 1 :]
        if not form or not field:
            where = "before" if not form else "after"
            found = f"nothing {where} the {self.separator!r} of {text!r}"
            raise CorpusError(found, f"form{self.separator}TAG, or \\{self.separator} for the character itself")
        if field not in self.fields:
            self.fields[field] = interned(parse_candidates(field, self.separator))
        return intern(unescape(form, self.separator)), self.fields[field]


def read(
    lines: Iterable[str],
    path: str = "",
    separator: str = "/",
    layer: str = "tag",
    is_label: Callable[[str], bool] | None = None,
) -> Iterator[Sentence]:
    """The sentences of tagged text, one a line, with their tags in `layer`; constant memory.

    `is_label` decides which fields are labels; a token with anything else after its separator is a form.

    Raises:
        CorpusError: a token with nothing before or after its separator, or a repeated alternative.
    """
    known = _Tokens(separator, is_label)
    for number, line in enumerate(lines, 1):
        try:
            tokens = [known[token] for token in split_blanks(line)]
        except CorpusError as error:
            raise CorpusError(error.found, error.expected, path, number) from None
        forms, tags = zip(*tokens, strict=True) if tokens else ((), ())
        yield Sentence(forms, {layer: tags}, location=Location(path, number))


def write(sentences: Iterable[Sentence], stream: IO[str], separator: str = "/", layer: str = "tag") -> None:
    """Each sentence as one line; a form with an unknown tag has no separator.

    Raises:
        CorpusError: an empty form or label, or one with blanks or line breaks; a sentence that has only other layers.
    """
    known: dict[Token, str] = {}
    for sentence in sentences:
        texts = []
        for token in zip(sentence.forms, layer_to_write(sentence, layer), strict=True):
            if token not in known:
                known[token] = _text(token, separator, sentence)
            texts.append(known[token])
        stream.write(" ".join(texts) + "\n")


def _text(token: Token, separator: str, sentence: Sentence) -> str:
    form, candidates = token
    refuse_blanks([form], "form", _BLANKS, sentence)
    text = escape(form, separator)
    if candidates is not None:
        refuse_blanks(candidates, "label", _BLANKS, sentence)
        text += separator + format_candidates(candidates, separator)
    return checked(text, sentence)


def _look(text: FirstLines, name: str, separator: str) -> Look | None:
    """Labels after words, if more words have this separator than the other one."""
    tails = [Tails.of(text.tokens, each) for each in _SEPARATORS]
    most = max(tails, key=lambda each: each.count)
    if most.separator != separator:
        return None
    if most.are_labels_of_all:
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
