"""Quotations, found in the text that they are from: what a language model names, without saying where it stands.

A quotation is looked for as it is; then by its letters and digits alone, without case and accents; then with a letter
or two added, left out or changed, if it is long enough and its digits are the same. Longer ones come first, and no two
overlap. A quotation stands for all places where its text is found, unless it is given several labels: then they take
the places in their order.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from tagweave.errors import CorpusError, shortened

AS_IT_IS, MENDED, ABSENT, COVERED = "found as they are", "mended", "absent", "covered"
_GRAM = 3  # letters by which places are looked up
_SHORT = 4  # letters below which case and signs but dots count
_LONG = (6, 10)  # letters from which one other letter, and two others, are mended
_STEPS = (200_000, 64, 10_000_000)  # places that are looked at: in any text, for each character, and at most
_HIT = 20  # as many steps as a place takes where a quotation is
_SCAN = 1000  # letters that are searched in the time of such a step
_LABELS = 12  # shown
_BREAK = " "  # stands for a sign between letters
_LOOSE = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
"""Thai and Lao, Burmese, Khmer, kana, Han, and Hangul, whose particles are not set off: a name may end between any two
letters."""


class Quotation(NamedTuple):
    """The quoted text, its label, and the probability that the label is right."""

    text: str
    label: str
    probability: float = 1.0


class Found(NamedTuple):
    """A quotation in the characters start .. stop - 1 of a text."""

    start: int
    stop: int
    quotation: Quotation


@dataclass
class Tally:
    """How many quotations were found, and in which way; the first of each kind that may be wrong, and labels."""

    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    labels: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, quotation: Quotation, shown: str = "") -> None:
        self.counts[kind] += 1
        self.labels[quotation.label] += 1
        if kind != AS_IT_IS:
            self.first.setdefault(kind, shown or repr(shortened(quotation.text)))

    def update(self, other: Tally, place: str = "") -> None:
        self.counts.update(other.counts)
        self.labels.update(other.labels)
        for kind, shown in other.first.items():
            self.first.setdefault(kind, f"{place}{shown}")

    def lines(self) -> Iterator[str]:
        """Yield what became of the quotations, and their labels; nothing without quotations."""
        if not self.counts:
            return
        told = [f"{self.counts.total():,} quotations", f"{self.counts[AS_IT_IS]:,} {AS_IT_IS}"]
        ways = {MENDED: "after mending their spelling", ABSENT: "not found", COVERED: "left out as parts of others"}
        told += [f"{self.counts[kind]:,} {way} ({self.first[kind]})" for kind, way in ways.items() if self.counts[kind]]
        yield ", ".join(told)
        shown = [f"{label} {count:,}" for label, count in self.labels.most_common(_LABELS)]
        yield f"labels: {', '.join(shown)}{' ...' if len(self.labels) > _LABELS else ''}"


def located(text: str, quotations: Iterable[Quotation], tally: Tally) -> list[Found]:
    """Return the places of quotations in a text, in their order, and count them.

    Raises CorpusError without a place if they are too many for a text so long.
    """
    groups: defaultdict[str, list[Quotation]] = defaultdict(list)
    for quotation in quotations:
        groups[quotation.text.strip()].append(quotation)
    letters, marked = _Letters(text), _Marked(text)
    for quoted in sorted(groups, key=lambda quoted: -len(_folded(quoted))):
        places, how = letters.places(quoted)
        group = groups[quoted]
        free = list(marked.free(places))
        shown = f"{shortened(quoted)!r}, in the text {shortened(text[slice(*places[0])])!r}" if places else ""
        if len({quotation.label for quotation in group}) == 1:
            pairs = [(place, group[0]) for place in free]
        else:
            pairs = list(zip(free, group, strict=False))
        marked.add(pairs)
        there = marked.labels(places)
        for at, quotation in enumerate(group):
            is_there = at < len(pairs) or quotation.label in there
            tally.add(ABSENT if not places else how if is_there else COVERED, quotation, shown)
    return sorted(marked.found)


class _Marked:
    """The places of a text that are taken."""

    def __init__(self, text: str) -> None:
        self._taken, self._labels = bytearray(len(text)), dict[tuple[int, int], str]()
        self.found: list[Found] = []

    def free(self, places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """Yield places where nothing is taken, and which do not overlap each other."""
        end = 0
        for start, stop in places:
            if start >= end and self._taken.find(1, start, stop) < 0:
                yield start, stop
                end = stop

    def add(self, pairs: Iterable[tuple[tuple[int, int], Quotation]]) -> None:
        for (start, stop), quotation in pairs:
            self._taken[start:stop] = b"\1" * (stop - start)
            self._labels[start, stop] = quotation.label
            self.found.append(Found(start, stop, quotation))

    def labels(self, places: Iterable[tuple[int, int]]) -> set[str]:
        return {self._labels[place] for place in places if place in self._labels}


class _Letters:
    """The letters and digits of a text, in one case and without accents, and where they stand in it."""

    def __init__(self, text: str) -> None:
        least, rate, most = _STEPS
        self.text, self._left = text, min(least + rate * len(text), most)
        letters: list[str] = []
        self._places, self._begins = array("l"), bytearray()  # a word may begin, or one before it end, at this letter
        broken, before = True, ""
        for at, character in enumerate(text):
            folded = _fold(character)
            if folded == _BREAK:
                broken = True
                continue
            for number, letter in enumerate(folded):
                letters.append(letter)
                self._places.append(at)
                self._begins.append(broken or (not number and _is_loose(before, character)))
                broken = False
            before = character if folded else before
        self._letters = "".join(letters)
        self._begins.append(1)

    def places(self, quoted: str) -> tuple[list[tuple[int, int]], str]:
        needle = _folded(quoted)
        if not needle:
            return list(self._verbatim(quoted)) if quoted else [], AS_IT_IS
        length = len(needle)
        spans = [(at, at + length) for at in self._occurrences(needle) if self._are_words(at, at + length)]
        head, tail = _ends(quoted)
        places = [self._place(*span, head, tail) for span in spans]
        if exact := [place for place in places if self.text[slice(*place)] == quoted]:
            return exact, AS_IT_IS
        if length < _SHORT:
            places = [place for place in places if _signs(self.text[slice(*place)]) == _signs(quoted)]
        return places or [self._place(*span, head, tail) for span in self._near(needle)], MENDED

    def _verbatim(self, quoted: str) -> Iterator[tuple[int, int]]:
        self._take(len(self.text) // _SCAN)
        at = self.text.find(quoted)
        while at >= 0:
            self._take(_HIT)
            yield at, at + len(quoted)
            at = self.text.find(quoted, at + len(quoted))

    def _are_words(self, start: int, stop: int) -> bool:
        """Return whether letters begin and end where words do, in one line."""
        if not (self._begins[start] and self._begins[stop]):
            return False
        return "\n" not in self.text[self._places[start] : self._places[stop - 1]]

    def _place(self, start: int, stop: int, head: str, tail: str) -> tuple[int, int]:
        """Return the characters of letters, with their accents, and with the signs around them that are quoted, too."""
        first, last = self._places[start], self._places[stop - 1] + 1
        while last < len(self.text) and not _fold(self.text[last]):
            last += 1
        if first >= len(head) and self.text.startswith(head, first - len(head)):
            first -= len(head)
        return first, last + len(tail) * self.text.startswith(tail, last)

    @cached_property
    def _grams(self) -> dict[str, array[int]]:
        places: dict[str, array[int]] = {}
        for at in range(len(self._letters) - _GRAM + 1):
            places.setdefault(self._letters[at : at + _GRAM], array("l")).append(at)
        return places

    def _occurrences(self, needle: str) -> Iterator[int]:
        """Yield where letters begin, looking only where the rarest three of them are."""
        if len(needle) < _GRAM:
            self._take(len(self._letters) // _SCAN)
            at = self._letters.find(needle)
            while at >= 0:
                self._take(_HIT)
                yield at
                at = self._letters.find(needle, at + 1)
            return
        nowhere = array("l")
        grams = ((self._grams.get(needle[at : at + _GRAM], nowhere), at) for at in range(len(needle) - _GRAM + 1))
        places, offset = min(grams, key=lambda pair: len(pair[0]))
        self._take(len(places))
        for at in places:
            if self._letters.startswith(needle, max(at - offset, 0)) and at >= offset:
                self._take(_HIT + len(needle) // _GRAM)
                yield at - offset

    def _near(self, needle: str) -> list[tuple[int, int]]:
        """Return the words with the fewest other letters, if they are the same wherever they stand."""
        most = sum(len(needle) >= least for least in _LONG)
        distances: dict[tuple[int, int], int] = {}
        for start in sorted(self._starts(needle, most)) if most else ():
            for stop in range(start + len(needle) - most, min(start + len(needle) + most, len(self._letters)) + 1):
                if self._are_words(start, stop):
                    self._take(len(needle) // _GRAM)
                    distances[start, stop] = apart(needle, self._letters[start:stop], most)
        least = min(distances.values(), default=most + 1)
        best = [span for span, distance in distances.items() if distance == least <= most]
        spelt = {self._letters[slice(*span)] for span in best}
        return best if len(spelt) == 1 and _digits(next(iter(spelt))) == _digits(needle) else []

    def _starts(self, needle: str, most: int) -> set[int]:
        """Return where words begin that may be like it: one of `most + 1` parts of it is there unchanged."""
        borders = [len(needle) * number // (most + 1) for number in range(most + 2)]
        starts: set[int] = set()
        for begin, end in pairwise(borders):
            for at in self._occurrences(needle[begin:end]):
                around = range(max(at - begin - most, 0), at - begin + most + 1)
                starts.update(start for start in around if self._begins[start])
        return starts

    def _take(self, steps: int) -> None:
        self._left -= steps
        if self._left < 0:
            problem = f"so many quotations that are like other parts of a text of {len(self.text):,} characters"
            raise CorpusError(problem, "fewer, or shorter texts: cut it")


def apart(one: str, other: str, most: int) -> int:
    """Return how many letters are added, left out or changed from one text to another; `most + 1` if more."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    one, other = one[same:], other[same:]
    if not one or not other or not most:
        return min(max(len(one), len(other)), most + 1)
    ways = ((one[1:], other[1:]), (one[1:], other), (one, other[1:]))
    return 1 + min(apart(*pair, most - 1) for pair in ways)


@lru_cache(maxsize=1 << 14)
def _fold(character: str) -> str:
    """Return a letter or digit in one case, without accents; a blank for other signs, nothing for an accent."""
    if unicodedata.combining(character) or character == "\u00ad":
        return ""
    parts = unicodedata.normalize("NFKD", character)
    kept = (
        letter
        for letter in parts
        if letter.isalnum() or (unicodedata.category(letter)[0] == "M" and not unicodedata.combining(letter))
    )
    return unicodedata.normalize("NFC", "".join(kept)).casefold() or _BREAK


def _folded(text: str) -> str:
    return "".join(map(_fold, text)).replace(_BREAK, "")


def _is_loose(before: str, after: str) -> bool:
    """Return whether a word may end between two letters, since one is of a script that has no blanks between words."""
    return _LOOSE.search(before + after) is not None


def _ends(quoted: str) -> tuple[str, str]:
    """Return the signs before the first letter, and after the last."""
    places = [at for at, sign in enumerate(quoted) if _fold(sign) != _BREAK]
    return quoted[: places[0]], quoted[places[-1] + 1 :]


def _signs(text: str) -> str:
    return "".join(sign for sign in text if sign != "." and not sign.isspace())


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))
