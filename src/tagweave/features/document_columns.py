"""What the rest of a document says of a token, as columns of features.

Names are repeated in a document, and are of one type there (Krishnan and Manning 2006, section 3; Ratinov and Roth
2009, section 6). A first model labels the document; then

| column | value at a token |
| --- | --- |
| `document:token` | the type that most other tokens with this form have; `?` behind it if they disagree |
| `document:entity` | the same of other spans with the text of the span that the token is in |
| `document:longer` | the same of other, longer spans that contain the form |
| `document:case` | of a form with a capital: `c` if it stands elsewhere inside a sentence, `l` in lower case |
| `document:before`, `document:after` | the forms beside the first other token with this form |

Values are "", which is no feature, where a form does not occur elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.documents import documents
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.evidence.sequences import pointers
from tagweave.features.columns import value_numbers
from tagweave.labels.spans import SpanArrays, SpanRules, sentence_begins

COLUMNS = tuple(f"document:{name}" for name in ("token", "entity", "longer", "case", "before", "after"))
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
_EDGE = "\0"  # beside the first and the last token of a sentence


def document_templates() -> tuple[str, ...]:
    """Return templates over the columns."""
    token, entity, longer, case, before, after = (f"user:{column}" for column in COLUMNS)
    window = [f"{column}[{offset}]" for column in (token, longer) for offset in (-1, 0, 1)]
    pairs = [f"{token}[-1] {token}[0]", f"{token}[0] {token}[1]", f"{token}[0] {entity}[0] {longer}[0]"]
    return (*window, *pairs, f"{entity}[0]", f"{case}[0]", f"{token}[0] {case}[0]", f"{before}[0]", f"{after}[0]")


def with_document_columns(sentences: Sequence[Sentence], labels: Sequence[Sequence[str]]) -> list[Sentence]:
    """Return the sentences with the columns.

    Args:
        labels: what a first model says of each sentence, in a coding of spans.
    """
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    ptr = pointers(lengths)
    count = int(ptr[-1])
    sizes = [len(document) for document in documents(sentences)]
    document = np.repeat(np.repeat(np.arange(len(sizes)), sizes), lengths)
    form_of_token, forms = value_numbers(chain.from_iterable(sentence.forms for sentence in sentences), count)
    label_of_token, names = value_numbers(chain.from_iterable(labels), count)
    begins = sentence_begins(ptr)
    rules = SpanRules(names)
    tokens = _Tokens(document, form_of_token.astype(np.int64), forms, begins[:-1], begins[1:])
    spans = rules.spans(label_of_token, begins)
    types = _of_spans(tokens, rules.type[label_of_token] + 1, spans, 1 + len(rules.types))
    shown = np.array(["", OUTSIDE, *rules.types, f"{OUTSIDE}?", *(f"{kind}?" for kind in rules.types)], object)
    columns = [*(shown[numbers] for numbers in types), _case(tokens), *_beside_first(tokens)]
    texts = dict(zip(COLUMNS, [values.tolist() for values in columns], strict=True))
    parts = pairwise(ptr.tolist())
    return [
        replace(sentence, columns={**sentence.columns, **{name: tuple(texts[name][low:high]) for name in COLUMNS}})
        for sentence, (low, high) in zip(sentences, parts, strict=True)
    ]


@dataclass(frozen=True)
class _Tokens:
    """N tokens: the document, the form, and whether a sentence begins and ends at each."""

    document: Ints
    form: Ints
    forms: Sequence[str]
    begins: Flags
    ends: Flags

    @cached_property
    def key(self) -> Ints:
        """The same number for the same form in the same document."""
        return _keys(self.document, self.form)


def _keys(document: Ints, text: Ints) -> Ints:
    numbers: Ints = np.unique(document * (text.max(initial=0) + 1) + text, return_inverse=True)[1]
    return numbers


def _of_spans(tokens: _Tokens, types: Ints, spans: SpanArrays, count: int) -> tuple[Ints, Ints, Ints]:
    """Return the majorities of `token`, `entity` and `longer` at each token, given its type of so many."""
    lengths = spans.stops - spans.starts
    span = np.repeat(np.arange(len(lengths)), lengths)  # of the tokens in spans, which are these
    inside = np.arange(len(span)) + (spans.starts - pointers(lengths)[:-1])[span]
    token = _majority(_counts(tokens.key, types, count), tokens.key, types)
    parts = zip(spans.starts.tolist(), spans.stops.tolist(), strict=True)
    words = [tokens.forms[number] for number in tokens.form]
    texts, _ = value_numbers((" ".join(words[low:high]) for low, high in parts), len(lengths))
    entity = np.zeros(len(types), np.int64)
    of_text = _keys(tokens.document[spans.starts], texts.astype(np.int64))
    of_span = spans.types + 1
    entity[inside] = _majority(_counts(of_text, of_span, count), of_text, of_span)[span]
    is_longer = np.zeros(len(types), bool)
    is_longer[inside[lengths[span] > 1]] = True
    longer_counts = _counts(tokens.key, types, count, is_longer)
    return token, entity, _majority(longer_counts, tokens.key, types, is_longer)


def _counts(keys: Ints, types: Ints, count: int, counted: Flags | None = None) -> Ints:
    """Return int64[keys, types], how many items of each key have each type, of those that are counted."""
    counts = np.zeros((keys.max(initial=-1) + 1, count), np.int64)
    np.add.at(counts, (keys, types), 1 if counted is None else counted)
    return counts


def _majority(counts: Ints, keys: Ints, types: Ints, counted: Flags | None = None) -> Ints:
    """Return the majority of the counts of each item's key without the item itself.

    It is 0 if nothing is left, else 1 + the type, and further on by the number of types if others disagree.
    """
    counts_of_others = counts[keys]
    items = np.arange(len(keys))
    counts_of_others[items, types] -= 1 if counted is None else counted
    total, best = counts_of_others.sum(axis=1), counts_of_others.argmax(axis=1)
    disagree = counts_of_others[items, best] < total
    majority: Ints = np.where(total > 0, 1 + best + disagree * counts.shape[1], 0)
    return majority


def _case(tokens: _Tokens) -> NDArray[np.object_]:
    number = {form: at for at, form in enumerate(tokens.forms)}
    lower = np.array([number.get(form.lower(), -1) for form in tokens.forms], np.int64)[tokens.form]
    has_capital = np.array([form[:1].isupper() for form in tokens.forms], bool)[tokens.form]
    inner = np.bincount(tokens.key, weights=~tokens.begins)
    is_elsewhere = inner[tokens.key] - ~tokens.begins > 0
    size = len(tokens.forms)
    is_lower = np.isin(tokens.document * size + lower, tokens.document * size + tokens.form) & (lower >= 0)
    values: NDArray[np.object_] = np.array(["", "-", "c", "l", "cl"], object)[
        np.where(has_capital, 1 + is_elsewhere + 2 * is_lower, 0)
    ]
    return values


def _beside_first(tokens: _Tokens) -> Iterator[NDArray[np.object_]]:
    """Yield the forms before and after the first other token with the form of each token."""
    key, count = tokens.key, len(tokens.key)
    order = np.argsort(key, kind="stable")
    sizes = np.bincount(key)
    places = pointers(sizes)[:-1]
    first = order[places]
    second = np.where(sizes > 1, order[np.minimum(places + 1, max(0, count - 1))], -1)
    other = np.where(first[key] == np.arange(count), second[key], first[key])
    texts = np.array([*tokens.forms, _EDGE, ""], object)
    edge, nothing = len(tokens.forms), len(tokens.forms) + 1
    for is_edge, step in ((tokens.begins, 1), (tokens.ends, -1)):
        beside = np.where(is_edge, edge, np.roll(tokens.form, step))
        yield texts[np.where(other >= 0, beside[other], nothing)]
