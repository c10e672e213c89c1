"""Fast segmentation of raw text: the weights of a segmentation model by character and pair of characters.

A template of liu-2014 sees one character, two neighbours, or two characters with one between. All features of a text
are functions of these three, so a row of weights for each, summed beforehand, replaces a dozen features. The tables are
kept in a file, which processes map into memory, so that a segmenter starts without making them.
"""

from __future__ import annotations

import hashlib
import json
import sys
import unicodedata
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.characters import RAW_BLANKS, folded_points, public_points
from tagweave.corpus.files import line_blocks
from tagweave.corpus.sentence import Sentence
from tagweave.errors import TagweaveError
from tagweave.features.columns import SCALAR_COLUMNS, FormColumns
from tagweave.features.encoder import TemplateEncoder, joined_codes
from tagweave.features.templates import Term, seed_of
from tagweave.harvest.runs import joined
from tagweave.kernels import hashing, weight_vectors
from tagweave.kernels import raw_text as kernels
from tagweave.kernels.compiled_code import EDITION
from tagweave.kernels.hashing import OUTSIDE
from tagweave.kernels.raw_text import BLANK, LANES
from tagweave.labels.coding import SEGMENTATION, recode
from tagweave.labels.transition_scheme import TransitionScheme, split_label
from tagweave.models.chain import ChainModel
from tagweave.models.linear_scorer import ChainParameters
from tagweave.models.packing import Arrays, aligned_zeros, shared_arrays
from tagweave.version import __version__

Floats = NDArray[np.float32]
Column = Callable[[str, int], NDArray[Any]]
"""The codes of a column at an offset."""

_PAIRS_AT_ONCE = 1 << 24
_MOST_PAIRS = 1 << 32  # looked up for one slot: ten seconds
_FAR = 2  # the largest distance of two characters
_LINE = 16  # floats of a cache line
_CHARACTERS = 1 << 18  # segmented at a time, in whole lines
POINTS = sys.maxunicode + 1
_FOREIGN = int(OUTSIDE) + (1 << 32)  # first code of characters without features
_MOST_CLASSES = 64
IDENTITIES = ("form", "folded")
"""The columns that distinguish characters; the first one if templates look at neither."""
_WITHOUT_CLASS = ("Cn", "Co", "Cs")  # unassigned, private, surrogates: no column distinguishes them


class UnfitModelError(TagweaveError):
    """A model that cannot segment by tables of pairs; `ChainPredictor` runs every model."""


@dataclass(frozen=True)
class Characters:
    """Entries: known characters and pads, then one for each class of unknown characters.

    Characters of a class have the same values in all columns other than the identity. Every pad has its own class. If
    the identity is `folded`, full-width and half-width forms share an entry.
    """

    identity: str  # one of `IDENTITIES`, the column that distinguishes characters
    # [0x110000 + pads]; equal for characters with the same identity, unique for every pad
    same: NDArray[np.uint32]
    number: NDArray[np.uint16]  # [0x110000], the entry of every code point, or BLANK
    # per column uint64[entries], its codes; the identity of a class is a code of no real character
    values: dict[str, Codes]
    classes: NDArray[np.uint16]  # [entries], the class of each
    known_count: int  # how many entries are known characters or pads
    pads: NDArray[np.uint16]  # uint16, the entries outside a sentence: those before it, in order, then those after it
    class_count: int  # how many classes there are

    @classmethod
    def of(cls, columns: Collection[str], known: NDArray[np.int64], lead: int, trail: int) -> Characters:
        """Return the entries for templates over `columns`, with features for rising, canonical code points `known`."""
        identity = identity_of(columns)
        points = _plain_points()
        columns_of = FormColumns([chr(point) for point in points])
        codes = {name: columns_of.scalar(_of_one_character(name)) for name in sorted(set(columns) - {identity})}
        class_of, first = _classes(codes, len(points))
        distances = [*range(lead, 0, -1), *range(1000, 1000 + trail)]
        outside = np.array([int(OUTSIDE) + distance for distance in distances], np.uint64)
        size, class_count = len(known) + len(outside), len(first)
        if size + class_count > BLANK:
            raise UnfitModelError(f"found {len(known)} characters in the model, expected fewer than 65,000")
        foreign = np.arange(class_count, dtype=np.uint64) + np.uint64(_FOREIGN)
        of_known = FormColumns([chr(point) for point in known])
        values = {identity: np.concatenate([of_known.scalar(identity), outside, foreign])}
        for name in codes:
            values[name] = np.concatenate([of_known.scalar(name), outside, codes[name][first]])
        number = np.full(POINTS, size + class_of[-1], np.uint16)
        number[points] = size + class_of
        variants = canonical(identity)
        if not np.array_equal(number, number[variants]):
            raise UnfitModelError("found a column that tells full-width from half-width forms, expected none")
        pad_classes = class_count + np.arange(len(outside))
        classes = np.concatenate([number[known] - size, pad_classes, np.arange(class_count)]).astype(np.uint16)
        number[known] = np.arange(len(known))
        number = number[variants]
        number[[ord(blank) for blank in RAW_BLANKS]] = BLANK
        pads = len(known) + np.arange(len(outside), dtype=np.uint16)
        same = np.concatenate([variants, POINTS + np.arange(len(outside), dtype=np.uint32)])
        return cls(identity, same, number, values, classes, size, pads.astype(np.uint16), class_count + len(outside))

    def representatives(self) -> tuple[NDArray[np.int64], dict[str, Codes]]:
        """Return an entry of every class, and the columns of another character of each; a pad stands for both."""
        pads = len(self.pads)
        foreign = np.arange(self.known_count, len(self.classes))
        entries = np.concatenate([foreign, np.arange(self.known_count - pads, self.known_count)])
        second_values = {name: codes[entries].copy() for name, codes in self.values.items()}
        second_values[self.identity][: len(foreign)] += np.uint64(1 << 32)
        return entries, second_values


def identity_of(columns: Collection[str]) -> str:
    """Return the column among these that distinguishes characters."""
    identities = [name for name in IDENTITIES if name in columns]
    if len(identities) > 1:
        raise UnfitModelError(f"found templates over {' and '.join(identities)}, expected one of them")
    return identities[0] if identities else IDENTITIES[0]


def canonical(identity: str) -> NDArray[np.uint32]:
    """Return uint32[0x110000]: for every code point, the one that represents all with the same value of `identity`."""
    return folded_points() if identity == "folded" else np.arange(POINTS, dtype=np.uint32)


@cache
def _plain_points() -> NDArray[np.int64]:
    """Return the code points that columns can distinguish, followed by one that represents all others."""
    plain = [point for point in public_points() if unicodedata.category(chr(point)) not in _WITHOUT_CLASS]
    return np.array([*plain, POINTS - 1])  # never assigned


def _of_one_character(column: str) -> str:
    if column not in SCALAR_COLUMNS or column == "final":
        raise UnfitModelError(f"found a template over {column!r}, expected columns of single characters")
    return column


def _classes(columns: dict[str, Codes], points: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return int64[points], the class of every code point, and the first point of every class."""
    class_of = np.zeros(points, np.int64)
    for name, codes in columns.items():
        distinct, number = np.unique(codes, return_inverse=True)
        if len(distinct) > _MOST_CLASSES:
            raise UnfitModelError(f"found a template over {name!r}, expected form or columns with few values")
        _, class_of = np.unique(class_of * len(distinct) + number, return_inverse=True)
    _, first = np.unique(class_of, return_index=True)
    return class_of, first


@dataclass(frozen=True)
class _Grams:
    """One family, or one template over the form alone, anchored at its first character; low and high as in `Family`."""

    terms: tuple[Term, ...]
    low: int
    high: int
    seed: int

    @classmethod
    def of(cls, terms: tuple[Term, ...], low: int, high: int, seed: int) -> _Grams:
        first = min(min(term.offset, term.offset + term.reach) for term in terms)
        moved = tuple(Term(term.column, term.offset - first, term.reach) for term in terms)
        return cls(moved, low + first, high + first, seed)

    @property
    def window(self) -> int:
        return self.high - self.low + 1

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        return tuple(sorted({at for term in self.terms for at in (term.offset, term.offset + term.reach)}))

    def tells_apart(self, identity: str) -> bool:
        """Return whether the gram distinguishes characters by this column, not only classes of them."""
        return any(term.column == identity and not term.reach for term in self.terms)

    def codes(self, column: Column) -> Codes:
        """Return the gram code of every combination of characters whose codes `column` gives; 0 where absent."""
        parts = []
        for term in self.terms:
            value = column(term.column, term.offset)
            if term.reach:
                value = np.where(value == column(term.column, term.offset + term.reach), 2, 1).astype(np.uint64)
            parts.append(value)
        return joined_codes(np.uint64(self.seed), parts, self.window)


class PairTables:
    """The weights of a segmentation model, summed to rows for characters and pairs of characters, in float32."""

    def __init__(self, model: ChainModel) -> None:
        if model.task != "segment" or not isinstance(model.encoder, TemplateEncoder):
            raise UnfitModelError(f"found a model of the task {model.task}, expected segment without a guide")
        if model.encoder.has_values:
            raise UnfitModelError("found features with values, expected features that are present or absent")
        if not isinstance(model.parameters, ChainParameters):
            raise UnfitModelError(f"found {model.parameters.kind} scores, expected linear ones")
        if not np.isfinite(model.weights).all():
            raise UnfitModelError("found weights that are not numbers")
        if len(model.space) > LANES or len(model.space.views) > 1:
            raise UnfitModelError(f"found {len(model.space)} labels, expected {LANES} at most, of one guideline")
        self._index = model.encoder.index
        (self._emission,) = model.linear.emissions(model.weights)
        self._tags = len(model.space)
        self._seen = np.zeros(len(self._index), bool)
        self._grams = list(_grams(model.encoder))
        self._lead = max(0, *(-grams.low for grams in self._grams))
        self._trail = max(0, *(grams.high for grams in self._grams)) + _FAR
        columns = {term.column for grams in self._grams for term in grams.terms}
        self._identity = identity_of(columns)
        self._characters = Characters.of(columns, self._known_points(), self._lead, self._trail)
        slots = (self._alone(), self._pairs(1), self._pairs(2))
        if not self._seen.all():
            raise UnfitModelError(f"found {(~self._seen).sum()} features of other than known characters, expected none")
        c = self._characters
        entries = kernels.Entries(c.number, c.same, c.classes, c.class_count, c.known_count, c.pads, self._lead)
        self.tables = kernels.Tables(entries, slots, _labels(model))

    def _known_points(self) -> NDArray[np.int64]:
        """Return the code points with a feature of their own, rising; only the canonical one of several variants."""
        term = Term(self._identity, 0)
        is_known = np.zeros(POINTS, bool)
        forms = np.empty(POINTS, np.uint64)
        points, variants = np.arange(POINTS), canonical(self._identity)
        hashing.hash_spans(variants.copy(), points, points + 1, np.uint64(0), forms)
        for grams in self._grams:
            if grams.terms == (term,):
                is_known |= self._index.ids(grams.codes(lambda _column, _offset: forms)) >= 0
        return np.flatnonzero(is_known & (variants == points))

    def _of_reach(self, reach: int) -> list[_Grams]:
        offsets = (0, reach) if reach else (0,)
        return [grams for grams in self._grams if grams.offsets == offsets]

    def _alone(self) -> kernels.Slot:
        grams = self._of_reach(0)
        values = self._characters.values
        low, high = _bounds(grams)
        rows = self._rows(len(self._characters.classes), low, high)
        for gram in grams:
            self._add(rows, gram, high, gram.codes(lambda column, _offset: values[column]))
        nothing = np.zeros(0, np.uint64), np.uint32(0), np.zeros(0, np.int32)
        return kernels.Slot(0, high, tuple(range(high - low + 1)), *self._flat(rows), *nothing)

    def _pairs(self, reach: int) -> kernels.Slot:
        """Return the slot of pairs: the rows of pairs of classes, followed by the rows of pairs with features."""
        grams = self._of_reach(reach)
        values = self._characters.values
        low, high = _bounds(grams)
        pairs = self._known_pairs([gram for gram in grams if gram.tells_apart(self._identity)])
        by_class, of_class = self._class_pairs()
        rows = self._rows(len(of_class) + len(pairs), low, high)
        first, second = np.divmod(pairs, self._characters.known_count)
        for gram in grams:
            if not gram.tells_apart(self._identity):
                self._add(rows[: len(of_class)], gram, high, gram.codes(by_class))
            codes = gram.codes(lambda column, offset: values[column][second if offset else first])
            self._add(rows[len(of_class) :], gram, high, codes)
        size = max(4, (2 * len(pairs)).bit_length())
        table = np.full(1 << size, kernels.NOTHING, np.uint64)
        shift = np.uint32(32 - size)
        kernels.place_pairs(pairs.astype(np.uint32), shift, table, len(of_class))
        return kernels.Slot(reach, high, tuple(range(high - low + 1)), *self._flat(rows), table, shift, of_class)

    def _known_pairs(self, grams: list[_Grams]) -> NDArray[np.int64]:
        """Return a * known + b for every pair of entries with a feature, in the order of features."""
        known_count = self._characters.known_count
        if known_count * known_count * len(grams) > _MOST_PAIRS:
            raise UnfitModelError(f"found {known_count} characters in the model, too many to ask for all pairs of them")
        forms = self._characters.values[self._identity][:known_count]
        codes_of_index = self._index.codes()
        # a bit table with the lowest bits of every code marked; about one bit in eight is set
        bits = np.zeros(1 << max(4, len(codes_of_index).bit_length()), np.uint8)
        kernels.mark_codes(codes_of_index, bits)
        pairs, ids = [], []
        step = max(1, _PAIRS_AT_ONCE // known_count)
        for gram in grams:
            if [(term.column, term.offset) for term in gram.terms] != [(self._identity, at) for at in gram.offsets]:
                raise UnfitModelError("found a template of characters and classes, expected one or the other")
            for low in range(0, known_count, step):
                high = min(low + step, known_count)
                most = (high - low) * known_count
                marked, codes = np.empty(most, np.int64), np.empty(most, np.uint64)
                seed = np.uint64(gram.seed)
                count = kernels.marked_pairs(seed, gram.window, forms, bits, low, high, marked, codes)
                numbers = self._index.ids(codes[:count])
                pairs.append(marked[:count][numbers >= 0])
                ids.append(numbers[numbers >= 0])
        if not pairs:
            return np.zeros(0, np.int64)
        distinct, first = np.unique(np.concatenate(pairs), return_index=True)
        return distinct[np.argsort(np.concatenate(ids)[first], kind="stable")]

    def _class_pairs(self) -> tuple[Column, NDArray[np.int32]]:
        """Return the columns of all pairs of classes, for different characters and for the same one, and their rows."""
        entries, second_values = self._characters.representatives()
        count = self._characters.class_count
        first, second, same = (axis.reshape(-1) for axis in np.indices((count, count, 2)))
        values = {name: codes[entries] for name, codes in self._characters.values.items()}

        def column(name: str, offset: int) -> NDArray[Any]:
            if not offset:
                return np.asarray(values[name][first])
            return np.asarray(np.where(same == 1, values[name][second], second_values[name][second]))

        return column, np.arange(2 * count * count, dtype=np.int32)

    def _rows(self, count: int, low: int, high: int) -> NDArray[Any]:
        return np.zeros((count, (high - low + 1) * self._tags), self._emission.weights.dtype)

    def _add(self, rows: NDArray[Any], grams: _Grams, high: int, codes: Codes) -> None:
        """Add the weights of grams to rows [n, window * tags] of a slot whose first token is p - high."""
        ids = self._index.ids(codes)
        layout = self._emission.layout
        self._seen[ids[ids >= 0]] = True
        begin = (high - grams.high) * self._tags
        width = grams.window * self._tags
        ptr = np.arange(len(ids) + 1)
        weight_vectors.add_to_rows(self._emission.weights, layout.ptr, layout.cell, ptr, ids, begin, width, rows)

    def _flat(self, rows: NDArray[Any]) -> tuple[int, Floats]:
        """Return the width of a row in whole cache lines, and rows as one aligned array, four numbers a token."""
        count = len(rows)
        window = rows.shape[1] // self._tags
        width = -(-window * LANES // _LINE) * _LINE
        flat = aligned_zeros(count * width, np.float32)
        padded = np.zeros((count, window, LANES), np.float32)
        padded[:, :, : self._tags] = rows.reshape(count, window, self._tags)
        flat.reshape(count, width)[:, : window * LANES] = padded.reshape(count, -1)
        return width, flat


def _grams(encoder: TemplateEncoder) -> Iterator[_Grams]:
    all_grams = [_Grams.of(family.terms, family.low, family.high, family.seed) for family in encoder.templates.families]
    all_grams += [_Grams.of(template.terms, 0, 0, seed_of(str(template))) for template in encoder.templates.inside]
    for grams in all_grams:
        if grams.offsets not in {(0,), (0, 1), (0, 2)}:
            terms = " ".join(map(str, grams.terms))
            raise UnfitModelError(f"found the template {terms}, expected two characters, at most one between them")
        yield grams


def _bounds(grams: list[_Grams]) -> tuple[int, int]:
    """Return the smallest and the largest offset of the anchor from a token that sees any of the grams."""
    if not grams:
        return 0, 0
    return min(gram.low for gram in grams), max(gram.high for gram in grams)


def _labels(model: ChainModel) -> kernels.Labels:
    """Return transition scores, and the labels allowed around blanks and in runs, padded to four labels."""
    names = model.space.names
    scheme = model.parameters.scheme
    expected = TransitionScheme.of(model.coding, names)
    pairs = [(getattr(scheme, table), getattr(expected, table)) for table in ("transition", "start", "end")]
    if not all(np.array_equal(of_model, of_coding) for of_model, of_coding in pairs):
        raise UnfitModelError("found transitions of another scheme than the coding's")
    scores = model.scoring.transitions
    begin, end = np.full(LANES, -np.inf, np.float32), np.full(LANES, -np.inf, np.float32)
    begin[: len(names)], end[: len(names)] = scores.start_score, scores.end_score
    transition = np.full((LANES, LANES), -np.inf, np.float32)
    transition[: len(names), : len(names)] = scores.score
    letters = [split_label(name)[0] for name in names]
    begins = [letter in "BS" for letter in letters] + [False] * (LANES - len(names))
    ends = [letter in "ES|" for letter in letters] + [False] * (LANES - len(names))
    after, before = np.zeros((3, LANES), np.float32), np.zeros((3, LANES), np.float32)
    for place, sides in ((kernels.BOUNDARY, (("E", "S"), ("B", "S"))), (kernels.INSIDE, (("B", "M"), ("M", "E")))):
        layer = recode(Sentence(("a", "b"), {SEGMENTATION: sides}), "coded", model.coding).layers["coded"]
        before[place], after[place] = (_allowed(names, candidates) for candidates in layer)
    return kernels.Labels(transition.reshape(-1), begin, end, after, before, np.array(begins), np.array(ends))


def _allowed(names: tuple[str, ...], candidates: tuple[str, ...] | None) -> Floats:
    allowed = np.zeros(LANES, np.float32)
    allowed[: len(names)] = [0 if candidates is None or name in candidates else -np.inf for name in names]
    return allowed


def kept_tables(model: ChainModel, folder: Path | None) -> kernels.Tables:
    """Return the tables of a model; `folder`, which nobody else can write, keeps them."""
    if folder is not None:
        with suppress(OSError):
            return _tables(shared_arrays(folder, _key(model), lambda: _arrays(PairTables(model).tables)))
    return PairTables(model).tables


def _key(model: ChainModel) -> str:
    """Return a digest of the model, this program, and the characters that Python knows: the tables depend on these."""
    edition = [__version__, EDITION, unicodedata.unidata_version]
    digest = hashlib.sha256(json.dumps([edition, model.to_json()], sort_keys=True).encode())
    for name, array in sorted(model.arrays().items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _arrays(tables: kernels.Tables) -> Arrays:
    slots = {f"slot.{number}": slot for number, slot in enumerate(tables.slots)}
    records: dict[str, Any] = {"entries": tables.entries, "labels": tables.labels, **slots}
    return {
        f"{name}.{field}": np.asarray(value)
        for name, record in records.items()
        for field, value in record._asdict().items()
    }


def _tables(arrays: Arrays) -> kernels.Tables:
    def record(kind: Any, name: str) -> Any:
        values = (arrays[f"{name}.{field}"] for field in kind._fields)
        return kind(*(value if value.shape else value[()] for value in values))  # numbers have no axes

    def slot(number: int) -> kernels.Slot:
        stored: kernels.Slot = record(kernels.Slot, f"slot.{number}")
        return stored._replace(window=tuple(range(len(stored.window))))

    slots = (slot(0), slot(1), slot(2))
    return kernels.Tables(record(kernels.Entries, "entries"), slots, record(kernels.Labels, "labels"))


class TableSegmenter:
    """Segments lines of raw text as `ChainPredictor` does, many times faster, on arrays of code points.

    Blanks are boundaries of words, and with `whole_runs` no word begins inside a Latin word, a
    number, a URL or an e-mail address (`harvest.runs`). Weights are float32, and summed in another order than in
    `ChainPredictor`, so the two may differ where the scores of two segmentations differ only by rounding. Making the
    tables takes a second; `folder`, which nobody else may be able to write, keeps them.

    Raises:
        UnfitModelError: a model of another task, with a guide, with bundled labels, or with templates over anything but
            one character, two neighbours, or two characters with one between. `ChainPredictor` can run it.
    """

    def __init__(
        self, model: ChainModel, threads: int = 1, whole_runs: bool = True, folder: Path | None = None
    ) -> None:
        self.threads, self.whole_runs = threads, whole_runs
        self._tables = kept_tables(model, folder)

    def segment(self, lines: Iterable[str]) -> Iterator[str]:
        """Return every line, its words separated by one space; a stream of any length in constant memory."""
        texts = ("\n".join([*block, ""]) for block in line_blocks(map(_checked, lines), _CHARACTERS))
        for block in self.blocks(texts):
            yield from block.decode("utf-8").split("\n")[:-1]

    def blocks(self, texts: Iterable[str]) -> Iterator[bytes]:
        """Segment texts of whole lines into UTF-8, in order; one text more than threads is in memory at most."""
        if self.threads == 1:
            yield from map(self._segmented, texts)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[Future[bytes]] = deque()
            for text in texts:
                waiting.append(pool.submit(self._segmented, text))
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _segmented(self, text: str) -> bytes:
        if not text.endswith("\n"):  # the kernel searches for it without a bound
            raise ValueError("found text without a line break at its end, expected whole lines")
        points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        inside = joined(text, points) if self.whole_runs else np.zeros(len(points), np.bool_)
        out = np.empty(5 * len(points), np.uint8)  # at most four bytes per character, and a blank
        tables = self._tables
        written = kernels.segment(points, inside, tables.entries, tables.slots, tables.labels, out)
        return out[:written].tobytes()


def _checked(line: str) -> str:
    if "\n" in line:
        raise ValueError(f"found a line break in {line[:40]!r}, expected lines without")
    return line


Codes = NDArray[np.uint64]
