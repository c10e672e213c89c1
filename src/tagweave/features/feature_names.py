"""The names of features, `form[-1] form[0] = "of London"`, for people who read why a model says what it says.

Features are codes. What they stand for is computed anew from a sentence, so tagging handles no names.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise, product
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from tagweave.corpus.sentence import Sentence
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.columns import (
    CAPITAL,
    CHANGES,
    CLUSTER_COLUMNS,
    DIGIT,
    HAN,
    HIRAGANA,
    KATAKANA,
    LETTER,
    MAX_AFFIX,
    OTHER,
    PUNCTUATION,
    SCALAR_COLUMNS,
    FormColumns,
    shape_class,
)
from tagweave.features.encoder import Encoder, TemplateEncoder
from tagweave.features.lookups import GAZETTEER_COLUMNS, LEXICON_COLUMNS, Lookups
from tagweave.features.templates import TemplateError, Templates, Term

_CLASSES = {DIGIT: "digit", LETTER: "letter", PUNCTUATION: "punctuation", OTHER: "other", 99: "mixed"}
_CLASSES |= {HAN: "Han", HIRAGANA: "hiragana", KATAKANA: "katakana"}
_DATE_CLASSES = {1: "number", 2: "date", 3: "letter", 4: "other", 99: "mixed"}
_SHAPES = {**_CLASSES, CAPITAL: "X", LETTER: "x", DIGIT: "0"}


def _shape(form: str) -> str:
    """Return the classes of characters with runs collapsed, `Xx` for `Paris`; punctuation stands for itself."""
    return "".join(_SHAPES.get(number, chr(number)) for number, _ in groupby(map(shape_class, form)))


def _of_form(change: Callable[[str], str]) -> Callable[[str, int], str]:
    return lambda form, _: change(form)


VALUE_TEXTS: dict[str, Callable[[str, int], str]] = {
    **dict.fromkeys(SCALAR_COLUMNS, _of_form(lambda _: "yes")),
    **dict.fromkeys(("form", "single", "final"), _of_form(str)),
    **{name: _of_form(change) for name, change in CHANGES.items()},
    **{f"prefix_{n}": _of_form(itemgetter(slice(n))) for n in range(1, MAX_AFFIX + 1)},
    **{f"suffix_{n}": _of_form(itemgetter(slice(-n, None))) for n in range(1, MAX_AFFIX + 1)},
    "first": _of_form(itemgetter(0)),
    "last": _of_form(itemgetter(-1)),
    "length": lambda _, code: str(code),
    "shape": _of_form(_shape),
    "category": _of_form(lambda form: "".join(name for name, _ in groupby(map(unicodedata.category, form)))),
    "script": lambda _, code: _CLASSES[code],
    "type": lambda _, code: _CLASSES[code],
    "date_class": lambda _, code: _DATE_CLASSES[code],
}
"""The value of each column of forms as text, from a form and the code that is not 0: the same for the same code."""


class NamedFeature(NamedTuple):
    """A feature that a token has and the model knows."""

    name: str
    feature: int
    position: int  # which of the tokens that see it the token is
    value: float


class FeatureNames:
    """The features of a sentence by their names, under an encoder without models inside it (`Encoder.plain`).

    Raises TemplateError for an encoder that has neither templates nor attributes.
    """

    def __init__(self, encoder: Encoder, sentence: Sentence) -> None:
        if not isinstance(encoder, TemplateEncoder | AttributeEncoder):
            raise TemplateError(f"found features of the kind {encoder.kind!r}, expected templates or attributes")
        self._encoder, self.sentence = encoder, sentence
        self.encoded = encoder.encode([sentence])
        self._known: dict[int, list[NamedFeature]] = {}
        if isinstance(encoder, TemplateEncoder):
            self._values = ColumnValues(sentence, encoder)

    def at(self, token: int) -> list[NamedFeature]:
        """Return the features of a token."""
        if token not in self._known:
            self._known[token] = [*self._of_type(token), *self._of_grams(token)]
        return self._known[token]

    def _of_type(self, token: int) -> Iterator[NamedFeature]:
        """Yield the features of the token's own form, or its attributes."""
        encoded = self.encoded
        of_token = slice(*encoded.type_ptr[encoded.word_types[token] :][:2].tolist())
        features = encoded.type_features[of_token].tolist()
        values = encoded.type_values[of_token].tolist() if len(encoded.type_values) else [1.0] * len(features)
        if isinstance(self._encoder, AttributeEncoder):
            names = [self._encoder.names[feature] for feature in features]
        else:
            names = list(self._inside(token, self._encoder.templates))
            vector = f'vector = "{self.sentence.forms[token]}"'
            names = [vector] * (len(features) - len(names)) + names  # as `encoder.with_vectors` orders them
        for name, feature, value in zip(names, features, values, strict=True):
            if feature >= 0:
                yield NamedFeature(name, feature, 0, value)

    def _inside(self, token: int, templates: Templates) -> Iterator[str]:
        """Yield the names of templates over the token's own form that have a value."""
        for template in templates.inside:
            values = [self._values.of_form(term.column, token) for term in template.terms]
            yield from (_named(template.terms, texts) for texts in product(*values))

    def _of_grams(self, token: int) -> Iterator[NamedFeature]:
        """Yield the features that several tokens see."""
        encoded = self.encoded
        if not isinstance(self._encoder, TemplateEncoder):
            return
        for k, family in enumerate(self._encoder.reach.families):
            for offset in range(family.low, family.high + 1):
                if (feature := int(encoded.grams[encoded.lead + token + offset, k])) >= 0:
                    terms = [Term(term.column, term.offset + offset, term.reach) for term in family.terms]
                    name = _named(terms, [self._values.of_term(term, token) for term in terms])
                    yield NamedFeature(name, feature, family.high - offset, 1.0)


def _named(terms: Sequence[Term], values: Sequence[str]) -> str:
    return f'{" ".join(map(str, terms))} = "{" ".join(values)}"'


class FormValues:
    """The values of columns that depend on forms alone, as text."""

    def __init__(self, forms: Sequence[str], lookups: Lookups) -> None:
        self._forms, self._bits = forms, lookups.bits
        self._columns = FormColumns(forms, lookups.bits)

    def of_form(self, column: str, at: int) -> list[str]:
        """Return the values of a column at a form: one, several of a list column, none where it is absent."""
        form = self._forms[at]
        if column == "inner":
            return list(form[1:-1])
        if column == "repeat":
            return [one for one, two in pairwise(form) if one == two]
        if not (code := int(self._columns.scalar(column)[at])):
            return []
        if column in CLUSTER_COLUMNS:
            return [self._bits(form)[: CLUSTER_COLUMNS[column]]]
        return [VALUE_TEXTS[column](form, code)]


def outside(at: int, length: int) -> str:
    """Return what stands for a token beyond a sentence, "" for one inside it."""
    if at < 0:
        return f"(start{at + 1 or ''})"
    return "" if at < length else f"(end{f'+{at - length}' if at > length else ''})"


class ColumnValues(FormValues):
    """The values of all columns at the tokens of a sentence, as text."""

    def __init__(self, sentence: Sentence, encoder: TemplateEncoder) -> None:
        super().__init__(sentence.forms, encoder.lookups)
        self._sentence, self._encoder = sentence, encoder
        self._phrases: dict[str, list[str]] = {}  # what a gazetteer or a lexicon says of each token

    def of_term(self, term: Term, token: int) -> str:
        """Return the value of a term as a token sees it."""
        value = self._at(term.column, token + term.offset)
        if not term.reach:
            return value
        return "yes" if value == self._at(term.column, token + term.offset + term.reach) else "no"

    def _at(self, column: str, at: int) -> str:
        if text := outside(at, len(self._sentence)):
            return text
        if column.startswith("user:"):
            return self._sentence.columns[column.removeprefix("user:")][at]
        if column == "final":
            return self._sentence.forms[-1]
        if column in (*GAZETTEER_COLUMNS, *LEXICON_COLUMNS):
            if column not in self._phrases:
                self._phrases[column] = self._looked_up(column)
            return self._phrases[column][at]
        return "".join(self.of_form(column, at))

    def _looked_up(self, column: str) -> list[str]:
        """Return what a gazetteer or a lexicon says of each token."""
        if column in GAZETTEER_COLUMNS:
            texts = self._encoder.gazetteer.texts(column)
            return [texts[number] for number in self._encoder.gazetteer.numbers([self._sentence], column)]
        lengths = self._encoder.lexicon.lengths(self._columns.points, np.array([0, len(self._sentence)]))
        return [str(length) for length in lengths[LEXICON_COLUMNS.index(column)]]
