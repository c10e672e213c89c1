"""Word codings: words as labels of their characters, and back.

A coding gives each character of a word a letter by its position; with tags, the label is `LETTER-TAG`. BMES
distinguishes everything that any coding does, so the other codings are coarser spellings of it. A piece is a run of
characters inside one word, labelled by the same letters: of the word B M M E, the first three characters are a piece B,
the last one is a piece E; the whole word is a piece S.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from sys import intern
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.candidates import Soft
from tagweave.corpus.chunk_schemes import SCHEMES
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.errors import CorpusError
from tagweave.labels import SPANS
from tagweave.labels.transition_scheme import split_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SPELLING = {
    "BMES": {"B": "B", "M": "M", "E": "E", "S": "S"},
    "BI": {"B": "B", "M": "I", "E": "I", "S": "B"},
    "boundary": {"B": "-", "M": "-", "E": "|", "S": "|"},
}
CODINGS = tuple(_SPELLING)
"""The names of the codings: BMES, BI (begin, inside), boundary (`|`: a word ends after the character, `-`: not)."""
LETTERS = {coding: "".join(dict.fromkeys(spelling.values())) for coding, spelling in _SPELLING.items()}
"""The letters of every coding."""
CODINGS_OF: dict[str, tuple[str, ...]] = {"tag": ("",), "segment": CODINGS, "segtag": CODINGS, SPANS: SCHEMES[::-1]}
"""The codings of the labels of each task, the usual one first: of words, or of spans (`corpus.chunk_schemes`)."""
SEGMENTATION = "segmentation"
"""The layer of a corpus of characters that holds the sets over B, M, E, S."""


def letters(length: int) -> str:
    """Return the BMES letters of a word of `length` characters."""
    return "S" if length == 1 else "B" + "M" * (length - 2) + "E"


def to_characters(sentence: Sentence, layer: str, coding: str = "BMES", tag_layer: str | None = None) -> Sentence:
    """Return the sentence of words as a sentence of characters whose `layer` codes its words.

    With `tag_layer` the labels include the words' tags: candidates become candidates of the character (`B-NN|B-VV`),
    and an unknown tag becomes the wildcard `B-*`. Numbers of candidates stay with the first character of a word: on
    several they would count several times.
    """
    tags: Iterable[Candidates] = sentence.layers[tag_layer] if tag_layer else [()] * len(sentence)
    coded: list[Candidates] = []
    for form, candidates in zip(sentence.forms, tags, strict=True):
        coded += _word(len(form), candidates, coding)
    characters = tuple(map(intern, "".join(sentence.forms)))  # equal ones are one object
    return Sentence(characters, {layer: tuple(coded)}, weight=sentence.weight, location=sentence.location)


@lru_cache(maxsize=1 << 16)
def _word(length: int, tags: Candidates, coding: str) -> tuple[Candidates, ...]:
    """Return the labels of the characters of a word, cached because few are different."""
    spell = _SPELLING[coding]
    labels = [_label(spell[letter], tags) for letter in letters(length)]
    if isinstance(tags, Soft):
        labels[0] = tags.spelled(labels[0], tags)
    return tuple(labels)


def _label(letter: str, tags: Candidates) -> tuple[str, ...]:
    if tags is None:
        return (f"{letter}-*",)
    return tuple(f"{letter}-{tag}" for tag in tags) or (letter,)


def recode(sentence: Sentence, layer: str, coding: str = "BMES", tag_layer: str | None = None) -> Sentence:
    """Return a sentence of characters with its segmentation layer, sets over BMES, recoded as `layer`.

    With `tag_layer`, candidates include the tags that this layer gives the character (any tag where it is unknown),
    with their numbers where a word certainly begins.
    """
    spell = _SPELLING[coding]
    unknown: Layer = (None,) * len(sentence)
    tags: Layer = sentence.layers.get(tag_layer, unknown) if tag_layer else ((),) * len(sentence)
    coded: list[Candidates] = []
    for candidates, known_tags in zip(sentence.layers[SEGMENTATION], tags, strict=True):
        if isinstance(candidates, Soft):
            if tag_layer:
                raise CorpusError("numbers of letters of a segmentation", "numbers of tags", *sentence.location)
            letter_of = {spell[letter]: letter for letter in reversed(candidates)}
            respelled = candidates.spelled(letter_of.keys(), letter_of.values())
            if len(respelled.numbers) < len(candidates.numbers):
                problem = f"numbers of the letters {', '.join(candidates)}"
                raise CorpusError(problem, "a coding BMES", *sentence.location)
            coded.append(respelled)
            continue
        if candidates is None and not known_tags:
            coded.append(None)
            continue
        spelled = dict.fromkeys(spell[letter] for letter in candidates or "BMES")
        full = len(spelled) == len(set(spell.values())) and not known_tags
        labels = tuple(label for letter in spelled for label in _label(letter, known_tags))
        if isinstance(known_tags, Soft) and {*(candidates or "M")} <= {*"BS"}:
            labels = known_tags.spelled(labels, [tag for _ in spelled for tag in known_tags])
        coded.append(None if full else labels)
    return sentence.with_layer(layer, coded)


def letters_of(labels: Soft[str], coding: str) -> Soft[str]:
    """Return labels of a coding with numbers as letters of BMES; those that the coding spells alike share a number."""
    pairs = [(letter, label) for label in labels for letter, spelled in _SPELLING[coding].items() if spelled == label]
    return labels.spelled((letter for letter, _ in pairs), (label for _, label in pairs))


def to_words(characters: Sequence[str], labels: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of a label sequence in any coding, and their tags ("" if labels have none).

    A word begins at the start, at B and S, and after a label that ends a word (E, S, `|`); its tag is the tag of its
    first character. So every label sequence gives words, even one that violates its scheme.
    """
    words: list[str] = []
    tags: list[str] = []
    begins = True
    for character, label in zip(characters, labels, strict=True):
        letter, tag = split_label(label)
        if begins or letter in "BS":
            words.append(character)
            tags.append(tag)
        else:
            words[-1] += character
        begins = letter in "ES|"
    return tuple(words), tuple(tags)


def as_layer(labels: Iterable[str]) -> Layer:
    """Return labels as positions of one candidate each."""
    return tuple((label,) for label in labels)


_CHARACTERS = {
    # coding: for each letter of a piece, the letters of its first, inner and last characters
    "BMES": {"B": "BMM", "M": "MMM", "E": "MME", "S": "BME"},
    "BI": {"B": "BII", "I": "III"},
    "boundary": {"-": "---", "|": "--|"},
}
_ANY = frozenset("*")


def starts(labels: Sequence[str]) -> list[bool]:
    """Return whether a word begins at each character, as `to_words` reads labels."""
    return certain_starts([(label,) for label in labels])


def certain_starts(layer: Sequence[Candidates]) -> list[bool]:
    """Return for each character whether all its candidates begin a word, or all of the character before end one."""
    return [bool(layer)][: len(layer)] + [_edges(after)[0] or _edges(before)[1] for before, after in pairwise(layer)]


@lru_cache(maxsize=1 << 12)
def _edges(candidates: Candidates) -> tuple[bool, bool]:
    """Return whether all candidates begin a word, and whether all end one."""
    letters = [split_label(candidate)[0] for candidate in candidates or ("",)]
    return all(letter in ("B", "S") for letter in letters), all(letter in ("E", "S", "|") for letter in letters)


def spans(begins: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield start and end of every piece, given the characters at which pieces begin; the first one always does."""
    yield from pairwise([*(at for at, begin in enumerate(begins) if begin), len(begins)])


@lru_cache(maxsize=1 << 16)
def joined(characters: tuple[Candidates, ...], coding: str) -> Candidates:
    """Return the labels of a piece under which each of its characters has one of its candidates.

    `None` if nothing is known of any character, () if there is no such label. A piece of one character has its
    candidates. Candidates may be wildcards over tags (`B-*`), but not over all other labels (`!B-NN`).
    """
    if len(characters) == 1:
        return characters[0]
    if not any(characters):
        return None
    labels: list[str] = []
    for letter, letters in _CHARACTERS[coding].items():
        first, inner, last = tuple(letters)
        wanted = (first, *inner * (len(characters) - 2), last)
        tags = [_tags(candidates, sign) for candidates, sign in zip(characters, wanted, strict=True)]
        tag_sets = [tag_set for tag_set in tags if tag_set is not _ANY]
        common = frozenset.intersection(*tag_sets) if tag_sets else _ANY
        labels += [f"{letter}-{tag}" if tag else letter for tag in sorted(common)]
    return tuple(labels)


def _tags(candidates: Candidates, letter: str) -> frozenset[str]:
    """Return the tags that occur with a letter among candidates, "" for a label without tag, or `_ANY`."""
    if candidates is None:
        return _ANY
    parts = (split_label(candidate) for candidate in candidates)
    tags = frozenset(tag for sign, tag in parts if sign == letter)
    return _ANY if "*" in tags else tags


@lru_cache(maxsize=1 << 16)
def label_of(characters: tuple[str, ...], coding: str) -> str:
    """Return the label of a piece from one label of each character; the first of them if they violate the coding."""
    return (joined(tuple((label,) for label in characters), coding) or characters)[0]


def of_characters(label: str, coding: str) -> tuple[str, str, str]:
    """Return the labels of the first, the inner and the last characters of a piece of several characters."""
    letter, tag = split_label(label)
    first, inner, last = (f"{sign}-{tag}" if tag else sign for sign in _CHARACTERS[coding][letter])
    return first, inner, last


class Spread:
    """Turns labels of pieces, which have these names, into labels of their characters, by numbers.

    `numbers` has the number of each label of characters; missing labels are added. `lengths`, int64[N], has the
    characters of each piece.
    """

    def __init__(self, names: Sequence[str], coding: str, numbers: dict[str, int], lengths: NDArray[np.int64]) -> None:
        parts = [(name, *of_characters(name, coding)) for name in names]
        self._number = np.array([[numbers.setdefault(label, len(numbers)) for label in row] for row in parts], np.int32)
        self.begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        self._piece = np.repeat(np.arange(len(lengths)), lengths)
        # 0: the only character of a piece, 1: the first one, 2: an inner one, 3: the last one
        self._position = np.full(len(self._piece), 2)
        self._position[self.begins[1:] - 1] = 3
        self._position[self.begins[:-1]] = np.where(lengths == 1, 0, 1)

    def characters(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return int32, a label for every character, from int32[N], one for every piece."""
        return np.asarray(self._number[labels[self._piece], self._position], np.int32)


def names_of_pieces(names: Sequence[str], coding: str) -> tuple[str, ...]:
    """Return every letter with every tag of the labels: words too long for one piece have pieces with any letter."""
    tags = {split_label(name)[1] for name in names}
    return tuple(sorted(f"{letter}-{tag}" if tag else letter for letter in _CHARACTERS[coding] for tag in tags))


def whole_word(tag: str, coding: str) -> str:
    """Return the label of a word in one piece."""
    return f"{_SPELLING[coding]['S']}-{tag}"


def whole_words(candidates: Candidates, coding: str) -> Candidates:
    """Return the candidates of a piece that are labels of whole words."""
    if candidates is None:
        return None
    letter = _SPELLING[coding]["S"]
    kept = [label for label in candidates if split_label(label)[0] == letter]
    return candidates.spelled(kept, kept) if isinstance(candidates, Soft) and kept else tuple(kept)


def letters_in(sentences: Sequence[Sentence], layer: str | None, name: str) -> list[Sentence]:
    """Return sentences of characters with no layer but the letters of one, if any, under another name."""
    alone = []
    for sentence in sentences:
        labels = () if layer is None else sentence.layers.get(layer, (None,) * len(sentence))
        letters = tuple(
            candidates and tuple(dict.fromkeys(split_label(label)[0] for label in candidates)) for candidates in labels
        )
        layers = {} if layer is None else {name: letters}
        alone.append(Sentence(sentence.forms, layers, location=sentence.location))
    return alone


class WordCounter:
    """Counts the words that two label sequences (`LETTER` or `LETTER-TAG`) over the same characters have in common.

    sentence_ptr, int64[S + 1], has the first character of every sentence.
    """

    def __init__(self, names: Sequence[str], sentence_ptr: NDArray[np.int64]) -> None:
        letters, kinds = [split_label(name)[0] for name in names], [split_label(name)[1] for name in names]
        tags = {kind: i for i, kind in enumerate(dict.fromkeys(kinds))}
        self._begins = np.array([letter in "BS" for letter in letters] + [False])
        self._ends = np.array([letter in "ES|" for letter in letters] + [False])
        self._tag = np.array([tags[kind] for kind in kinds] + [-1])
        self._first = np.zeros(int(sentence_ptr[-1]) + 1, bool)
        self._first[sentence_ptr] = True

    def words(self, labels: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return a number for each word that identifies its start, end and tag, rising. Label -1 means no label."""
        starts = self._first[:-1] | self._begins[labels]
        starts[1:] |= self._ends[labels[:-1]]
        at = np.flatnonzero(starts)
        ends = np.append(at[1:], len(labels))
        numbers: NDArray[np.int64] = (at * (len(labels) + 1) + ends) * (len(self._tag) + 1) + self._tag[labels[at]]
        return numbers

    def f_score(self, gold: NDArray[np.int32], system: NDArray[np.int32]) -> float:
        """Return the F measure of the system's words, 0 to 1."""
        gold_words, system_words = self.words(gold), self.words(system)
        right = len(np.intersect1d(gold_words, system_words, assume_unique=True))
        return 2 * right / max(1, len(gold_words) + len(system_words))
