"""Encoders of sentences, and the usual one: templates over columns, whose grams a feature index numbers.

The index maps gram codes to consecutive feature ids. It grows while training data is read, then freezes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.evidence.sequences import Evidence, pointers
from tagweave.features.columns import LIST_COLUMNS, FormColumns, value_numbers
from tagweave.features.encoded import Encoded
from tagweave.features.lookups import (
    GAZETTEER_COLUMNS,
    LEXICON_COLUMNS,
    NOTHING,
    GazetteerColumns,
    LexiconColumns,
    Lookups,
    rules_of,
)
from tagweave.features.rules import CODES, ArrayRule, Arrays, Schema
from tagweave.features.subwords import Subwords
from tagweave.features.templates import MOST_TEMPLATES, Family, Reach, Templates, seed_of
from tagweave.features.word_vectors import WordVectors
from tagweave.kernels import hashing
from tagweave.labels.space import LabelSpace

_CHUNK = 1 << 18  # codes between checks of the table's size
_FARTHEST = 512  # longest probe accepted in a table at most half full; with 10 million codes the longest is 90
Codes = NDArray[np.uint64]
_BLOCK = 4096  # sentences hashed at a time, so that all codes (8 bytes) are never in memory along with ids (4 bytes)
INDEX = "index.codes"
"""The array of a model with the codes of its features."""
GRAMS = ArrayRule(CODES, (None,), least=1 << 40, most=(1 << 44) - 1)


class EncoderDescription(Schema):
    """What a model file says of an encoder."""

    kind: str


class Encoder(ABC):
    """Turns sentences into features; `models.assembly.ENCODERS` has every class that a model file may name."""

    kind: ClassVar[str]  # its name in model files
    schema: ClassVar[type[EncoderDescription]] = EncoderDescription  # of `to_json`
    has_values: bool = False  # whether features are multiplied with values, not only present or absent

    of_documents: bool = False  # whether features look at the whole document, so that it has to be in one batch
    lookups: Lookups = NOTHING  # what features look up
    can_grow: ClassVar[bool] = False  # whether `growing` adds features
    subwords: Subwords | None = None  # the pieces that a network reads beside features
    parts: Mapping[str, Any] = MappingProxyType({})  # the chain models inside it, by their names in files
    segmenter: Any = None  # the chain model of characters that cuts text into the words that are labelled

    @property
    def windows(self) -> NDArray[np.int64]:
        """How many tokens see each of F features, int64[F]; a linear scorer lays out its weights by them."""
        return np.zeros(0, np.int64)

    def tokens(self, sentences: Sequence[Sentence], threads: int = 1, layer: str | None = None) -> Sequence[Sentence]:
        """The sentences whose tokens are labelled; their `layer`, if named, is evidence and is kept."""
        return sentences

    def plain(self, sentences: Sequence[Sentence], threads: int = 1) -> tuple[Encoder, Sequence[Sentence]]:
        """Return the encoder without the models inside it, and the sentences with the columns that these fill."""
        return self, sentences

    @abstractmethod
    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        """The features of sentences, without evidence; slow parts use several threads."""

    def freeze(self, encoded: Encoded, minimum_count: int = 1) -> NDArray[np.int64]:
        """Stop growing; drop features that occurred less often than `minimum_count`, from `encoded` too.

        Returns how often each of the F features occurred that stay, int64[F]: in `encoded`, if it did not grow; none
        without an index.
        """
        return np.zeros(0, np.int64)

    def growing(self, counts: NDArray[np.int64]) -> Self:
        """Return an encoder that begins with the features of this one, in their order, and grows.

        `counts`: int64[F], how often each feature occurred already.
        """
        raise NotImplementedError(self.kind)

    def to_json(self) -> dict[str, Any]:
        """Return the description in a model file."""
        return {"kind": self.kind}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays of a model file, by name."""
        return {}

    @classmethod
    def models_in(cls, description: Any) -> dict[str, Any]:
        """Return the descriptions of the models inside it, by the prefix of their arrays."""
        return {}

    @classmethod
    def array_rules(cls, arrays: Arrays) -> dict[str, ArrayRule]:
        """The rules for `arrays`; models inside it have their own."""
        return {}

    @classmethod
    @abstractmethod
    def of_parts(cls, description: Any, space: LabelSpace, arrays: Arrays, models: Sequence[Any]) -> Self:
        """The encoder whose `to_json` and `arrays`, which follow the rules, these are, with the models inside it."""


class FeatureIndex:
    """An open-addressing table from gram codes (40 bits each) to ids in order of first occurrence.

    This order keeps the weights of grams that occur together close in memory.
    """

    def __init__(self) -> None:
        self.frozen = False
        self._keys = np.zeros(1 << 12, np.uint64)
        self._values = np.zeros(1 << 12, np.int32)
        self._size = 0
        self._codes: NDArray[np.uint64] | None = None  # of a frozen index
        self.counts = np.zeros(1 << 11, np.int64)

    def __len__(self) -> int:
        return self._size

    @classmethod
    def of_codes(cls, codes: NDArray[np.uint64]) -> FeatureIndex:
        """Return the frozen index in which codes[i] has id i."""
        index = cls()
        if (placed := index._build(codes, _FARTHEST)) < len(codes):
            raise ValueError(f"feature {placed} has a code that is 0, that of another one, or like too many others")
        index._freeze(codes)
        return index

    def ids(self, codes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the ids of codes, -1 for code 0; a growing index gives new codes ids in order, a frozen one -1."""
        flat = np.ascontiguousarray(codes).reshape(-1)
        out = np.empty(len(flat), np.int32)
        for low in range(0, len(flat), _CHUNK):
            block = slice(low, low + _CHUNK)
            if self.frozen:
                hashing.find(self._keys, self._values, flat[block], out[block])
            else:
                if (size := self._size + len(flat[block])) * 2 > len(self._keys):
                    # at most half full after one more chunk of new codes
                    self._build(self.codes(), size=size)
                    counts = np.zeros(len(self._keys) // 2, np.int64)
                    counts[: len(self.counts)] = self.counts[: len(counts)]
                    self.counts = counts
                self._size = hashing.insert(self._keys, self._values, flat[block], self._size, out[block], self.counts)
        return out.reshape(codes.shape)

    def count(self, ids: NDArray[np.int32], times: NDArray[np.int64]) -> None:
        """Count further occurrences of features that `ids` counted once for several tokens."""
        np.add.at(self.counts, ids, times)

    def add(self, codes: NDArray[np.uint64], times: NDArray[np.int64]) -> None:
        """Add the codes of another index, in their order, with the times that it has counted each."""
        self.count(self.ids(codes), times - 1)

    def growing(self, counts: NDArray[np.int64]) -> FeatureIndex:
        """Return an index that begins with these codes, counted so often, and grows."""
        index = FeatureIndex()
        index.add(self.codes(), counts)
        return index

    def codes(self) -> NDArray[np.uint64]:
        if self._codes is not None:
            return self._codes
        codes = np.zeros(self._size, np.uint64)
        filled = self._keys != 0
        codes[self._values[filled]] = self._keys[filled]
        return codes

    def freeze(self, minimum_count: int = 1) -> NDArray[np.int32]:
        """Stop growing; drop features that occurred less often. Returns the new id of every old one, -1 if dropped."""
        codes = self.codes()
        kept = self.counts[: self._size] >= minimum_count
        new = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        self._build(codes[kept])
        self._freeze(codes[kept])
        return new

    def _freeze(self, codes: NDArray[np.uint64]) -> None:
        self._codes, self._size = codes, len(codes)
        self.counts = np.zeros(0, np.int64)
        self.frozen = True

    def _build(self, codes: NDArray[np.uint64], farthest: int | None = None, size: int | None = None) -> int:
        """Build a table for `size` codes (default: these); return how many were placed by probes up to `farthest`."""
        slots = 1 << max(12, (2 * (len(codes) if size is None else size) - 1).bit_length())
        self._keys, self._values = np.zeros(slots, np.uint64), np.zeros(slots, np.int32)
        ids = np.arange(len(codes), dtype=np.int32)
        return int(hashing.place(self._keys, self._values, codes, ids, farthest or slots))


@dataclass(frozen=True)
class _Tokens:
    """The tokens of a corpus as numbers: of their distinct forms, and of the distinct values of each user column."""

    sentence_ptr: NDArray[np.int64]
    forms: list[str]
    columns: FormColumns
    ids: NDArray[np.int32]
    values: list[list[str]]


class TemplateDescription(EncoderDescription):
    """What a model file says of templates."""

    templates: Annotated[list[str], Meta(max_length=MOST_TEMPLATES)]


class TemplateEncoder(Encoder):
    """Templates and their feature index (None: a growing one), and what the templates look up."""

    kind = "templates"
    schema = TemplateDescription
    can_grow = True

    def __init__(
        self,
        templates: Templates,
        index: FeatureIndex | None = None,
        lookups: Lookups = NOTHING,
    ) -> None:
        self.templates, self.lookups = templates, lookups
        self.lexicon, self.gazetteer = LexiconColumns(lookups.words), GazetteerColumns(lookups.gazetteer)
        templates.check_lookups(bool(self.lexicon.words), len(lookups.gazetteer) > 0, lookups.has_clusters)
        self.subwords = lookups.subwords
        self.has_values = lookups.subwords is not None or lookups.vectors is not None
        self.index = FeatureIndex() if index is None else index
        self.reach = Reach.of(templates.families)

    @property
    def windows(self) -> NDArray[np.int64]:
        return hashing.windows_of(self.index.codes())

    def encode(self, sentences: Sequence[Sentence], threads: int = 1) -> Encoded:
        """Return the features of sentences, without evidence: every token allows every label. Uses one thread."""
        tokens = self._tokens(sentences)
        grams = self._grams(tokens, self.index)
        type_ptr, features, values = self._type_features(tokens, self.index)
        weights = np.array([sentence.weight for sentence in sentences], np.float64)
        encoded = Encoded(
            evidence=Evidence.unknown(tokens.sentence_ptr, weights),
            word_types=tokens.ids[0],
            type_ptr=type_ptr,
            type_features=features,
            type_values=values,
            grams=grams,
            lead=self.reach.lead,
            low=self.reach.low,
            high=self.reach.high,
        )
        if self.lookups.subwords is None:
            return encoded
        piece_ptr, pieces = self.lookups.subwords.pieces(tokens.forms)
        return replace(encoded, piece_ptr=piece_ptr, pieces=pieces)

    def grow(self, sentences: Sequence[Sentence], grams: FeatureIndex, of_types: FeatureIndex) -> None:
        """Add the features of sentences to growing indices: grams, and features of word types.

        A text in parts has the same features as the whole, in the same order, if the grams of all parts are taken
        one after the other, and then the features of word types of all parts.
        """
        tokens = self._tokens(sentences)
        self._grams(tokens, grams)
        self._type_features(tokens, of_types)

    def _type_features(
        self, tokens: _Tokens, index: FeatureIndex
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Pointers int64[V + 1], the features of every word type and, with vectors, their values."""
        ptr, codes, values = self.of_forms(tokens.forms, tokens.columns)
        features = index.ids(codes)
        if not index.frozen:
            # the index counted the features of a form once, but they occur at each of its tokens
            times = np.bincount(tokens.ids[0], minlength=len(tokens.forms))
            index.count(features, np.repeat(times - 1, np.diff(ptr)))
        return ptr, features, values

    def growing(self, counts: NDArray[np.int64]) -> Self:
        return type(self)(self.templates, self.index.growing(counts), self.lookups)

    def freeze(self, encoded: Encoded, minimum_count: int = 1) -> NDArray[np.int64]:
        if self.index.frozen:
            return encoded.occurrences(len(self.index))
        counts = self.index.counts[: len(self.index)]
        new = self.index.freeze(minimum_count)
        if (new < 0).any():
            hashing.renumber(encoded.grams.reshape(-1), new)
            hashing.renumber(encoded.type_features, new)
        return counts[new >= 0]

    def _tokens(self, sentences: Sequence[Sentence]) -> _Tokens:
        ptr = pointers(np.fromiter(map(len, sentences), np.int64, len(sentences)))
        form_ids, forms = value_numbers(chain.from_iterable(sentence.forms for sentence in sentences), int(ptr[-1]))
        sources, values = [form_ids, final_forms(form_ids, ptr)], []
        for name in self.templates.user_columns:
            column_ids, distinct = value_numbers(_column(sentences, name), int(ptr[-1]))
            sources.append(column_ids)
            values.append(distinct)
        columns = FormColumns(forms, self.lookups.bits)
        if self.templates.lexicon_columns:
            if (columns.length != 1).any():
                sentence, form = next(
                    (candidate, form) for candidate in sentences for form in candidate.forms if len(form) != 1
                )
                expected = "characters, in which templates look for words of a lexicon"
                raise CorpusError(f"the token {form!r}", expected, *sentence.location)
            lengths = self.lexicon.lengths(columns.points[form_ids], ptr)
            sources += [lengths[LEXICON_COLUMNS.index(name)] for name in self.templates.lexicon_columns]
        sources += [self.gazetteer.numbers(sentences, name) for name in self.templates.gazetteer_columns]
        return _Tokens(ptr, forms, columns, np.stack(sources), values)

    def _grams(self, tokens: _Tokens, index: FeatureIndex) -> NDArray[np.int32]:
        names = sorted({term.column for family in self.reach.families for term in family.terms})
        tables = [self._table(name, tokens) for name in names]
        table_ptr = pointers(np.array([len(table) for table in tables], np.int64))
        terms = term_numbers(self.reach.families, names, self._source)
        table = np.concatenate([np.zeros(0, np.uint64), *tables])
        return hashed_grams(tokens.ids, tokens.sentence_ptr, table, table_ptr, terms, self.reach, index)

    def _source(self, column: str) -> int:
        if column.startswith("user:"):
            return 2 + self.templates.user_columns.index(column.removeprefix("user:"))
        looked_up = (*self.templates.lexicon_columns, *self.templates.gazetteer_columns)
        if column in looked_up:
            return 2 + len(self.templates.user_columns) + looked_up.index(column)
        return 1 if column == "final" else 0

    def _table(self, column: str, tokens: _Tokens) -> Codes:
        if column.startswith("user:"):
            return FormColumns(tokens.values[self._source(column) - 2]).form()
        if column in LEXICON_COLUMNS:
            return self.lexicon.codes()
        if column in GAZETTEER_COLUMNS:
            return self.gazetteer.codes(column)
        return tokens.columns.scalar(column)

    def of_forms(
        self, forms: Sequence[str], columns: FormColumns
    ) -> tuple[NDArray[np.int64], Codes, NDArray[np.float64]]:
        """Return the codes of all features that depend on the form alone, ptr int64[V + 1] and codes, none 0, and their
        values; no values without vectors."""
        ptr, codes = self.inside(columns)
        vectors = self.lookups.vectors
        return (ptr, codes, np.zeros(0)) if vectors is None else with_vectors(vectors, forms, ptr, codes)

    def inside(self, columns: FormColumns) -> tuple[NDArray[np.int64], Codes]:
        """Return the codes of the templates that look at the form alone: ptr int64[V + 1] and codes, none 0."""
        rows, codes = [], []
        for template in self.templates.inside:
            of_row, parts = np.arange(len(columns.length)), list[Codes]()
            if lists := [term.column for term in template.terms if term.column in LIST_COLUMNS]:
                list_ptr, of_list = columns.listed(lists[0])
                of_row = np.repeat(of_row, np.diff(list_ptr))
                parts.append(of_list)
            scalars = [term.column for term in template.terms if term.column not in LIST_COLUMNS]
            parts += [columns.scalar(column)[of_row] for column in scalars]
            of_code = joined_codes(np.uint64(seed_of(str(template))), parts)
            rows.append(of_row[of_code != 0])
            codes.append(of_code[of_code != 0])
        forms = len(columns.length)
        if not rows:
            return np.zeros(forms + 1, np.int64), np.zeros(0, np.uint64)
        all_rows, all_codes = np.concatenate(rows), np.concatenate(codes)
        order = np.argsort(all_rows, kind="stable")
        return pointers(np.bincount(all_rows, minlength=forms)), all_codes[order]

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "templates": list(self.templates.texts)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        return {INDEX: self.index.codes(), **self.lookups.arrays()}

    @classmethod
    def array_rules(cls, arrays: Arrays) -> dict[str, ArrayRule]:
        return {INDEX: GRAMS, **rules_of(arrays)}

    @classmethod
    def of_parts(
        cls, description: TemplateDescription, space: LabelSpace, arrays: Arrays, models: Sequence[Any]
    ) -> Self:
        templates, index = Templates(tuple(description.templates)), FeatureIndex.of_codes(arrays[INDEX])
        return cls(templates, index, Lookups.of_arrays(arrays))


def with_vectors(
    vectors: WordVectors, forms: Sequence[str], ptr: NDArray[np.int64], codes: Codes
) -> tuple[NDArray[np.int64], Codes, NDArray[np.float64]]:
    """Return pointers, codes and values of the features of V forms, with the numbers of their vectors in front."""
    numbers, of_forms = vectors.of_forms(forms)
    places = ptr[numbers]  # a vector goes before the first feature of its form
    at = np.repeat(places, vectors.width)
    sizes = np.zeros(len(forms), np.int64)
    sizes[numbers] = vectors.width
    all_codes = np.insert(codes, at, np.tile(vector_codes(vectors.width), len(numbers)))
    values = np.insert(np.ones(len(codes)), at, of_forms.reshape(-1))
    return ptr + pointers(sizes), all_codes, values


def vector_codes(width: int) -> Codes:
    """Return the codes of the features that the numbers of a vector are."""
    return joined_codes(np.uint64(seed_of("vector")), [np.arange(1, width + 1, dtype=np.uint64)])


def term_numbers(families: Sequence[Family], names: Sequence[str], source: Callable[[str], int]) -> NDArray[np.int64]:
    """Return int64[K, J, 4]: column among `names`, source, offset and reach of every term; -1 after the last."""
    terms = np.full((len(families), max([1, *(len(family.terms) for family in families)]), 4), -1, np.int64)
    for k, family in enumerate(families):
        for j, term in enumerate(family.terms):
            terms[k, j] = names.index(term.column), source(term.column), term.offset, term.reach
    return terms


def hashed_grams(
    ids: NDArray[np.int32],
    sentence_ptr: NDArray[np.int64],
    table: Codes,
    table_ptr: NDArray[np.int64],
    terms: NDArray[np.int64],
    reach: Reach,
    index: FeatureIndex,
) -> NDArray[np.int32]:
    """Return int32[M, K], the gram of every family at every anchor; arguments as `hashing.hash_grams`."""
    extra, total = reach.lead + reach.trail, len(sentence_ptr) - 1
    grams = np.empty((int(sentence_ptr[-1]) + total * extra, len(reach.families)), np.int32)
    if not reach.families:
        return grams
    seeds = np.array([family.seed for family in reach.families], np.uint64)
    window, edge = np.stack([reach.low, reach.high], axis=1), np.array([reach.lead, reach.trail], np.int64)
    for low in range(0, total, _BLOCK):
        ptr = sentence_ptr[low : low + _BLOCK + 1]
        first = ptr[0] + low * extra
        codes = np.empty((ptr[-1] - ptr[0] + (len(ptr) - 1) * extra, len(seeds)), np.uint64)
        hashing.hash_grams(ids, ptr, table, table_ptr, terms, seeds, window, edge, codes)
        grams[first : first + len(codes)] = index.ids(codes)
    return grams


def final_forms(form_ids: NDArray[np.int32], ptr: NDArray[np.int64]) -> NDArray[np.int32]:
    """For every token, the form of the last token of its sentence."""
    lengths = np.diff(ptr)
    filled = lengths > 0
    return np.repeat(form_ids[ptr[1:][filled] - 1], lengths[filled])


def _column(sentences: Sequence[Sentence], name: str) -> Iterable[str]:
    for sentence in sentences:
        if name not in sentence.columns:
            there = ", ".join(sorted(sentence.columns)) or "none"
            raise CorpusError(f"columns {there}", f"a column {name!r}, which a template asks for", *sentence.location)
        yield from sentence.columns[name]


def joined_codes(seed: np.uint64, parts: Sequence[Codes], window: int = 1) -> Codes:
    """Return the gram codes, seen by so many tokens, of a seed and the codes of the terms; 0 if any of them is 0."""
    joined = np.empty(len(parts[0]), np.uint64)
    points = np.stack(parts, axis=1)
    starts = np.arange(len(points), dtype=np.int64) * len(parts)
    hashing.hash_codes(points.reshape(-1), starts, len(parts), seed, window, joined)
    return joined
