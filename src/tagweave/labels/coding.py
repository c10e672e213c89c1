"""Word codings: words as labels of their characters, and back.

A coding gives each character of a word a letter by its position in the word; with tags, the label is `LETTER-TAG`. The
four letters of BMES distinguish all that any coding does, so the other codings are coarser spellings of it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tagweave.corpus.chunk_labels import SCHEMES
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Candidates, Layer, Sentence
from tagweave.corpus.soft import Soft
from tagweave.labels.tasks import SPANS
from tagweave.labels.transition_scheme import split_label

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SPELLING = {
    "BMES": {"B": "B", "M": "M", "E": "E", "S": "S"},
    "BI": {"B": "B", "M": "I", "E": "I", "S": "B"},
    "boundary": {"B": "-", "M": "-", "E": "|", "S": "|"},
}
CODINGS = tuple(_SPELLING)
"""The names of the codings: BMES, BI (begin, inside), boundary (`|`: a word ends after the character, `-`: not)."""

LETTERS = {coding: "".join(dict.fromkeys(spelling.values())) for coding, spelling in _SPELLING.items()}
"""The letters of every coding."""

CODINGS_OF: dict[str, tuple[str, ...]] = {
    "tag": ("",),
    "segment": CODINGS,
    "segtag": CODINGS,
    SPANS: SCHEMES[::-1],
}
"""The codings of the labels of each task, the usual one first: of words, or of spans (`corpus.chunk_schemes`)."""

SEGMENTATION = "segmentation"
"""The layer of a corpus of characters that holds the sets over B, M, E, S."""


def letters(length: int) -> str:
    """The BMES letters of a word of `length` characters."""
    return "S" if length == 1 else "B" + "M" * (length - 2) + "E"


def to_characters(sentence: Sentence, layer: str, coding: str = "BMES", tag_layer: str | None = None) -> Sentence:
    """The sentence of words as a sentence of characters whose `layer` codes its words.

    With `tag_layer` the labels include the words' tags: candidates become candidates of the character (`B-NN|B-VV`),
    and an unknown tag becomes the wildcard `B-*`. Numbers of candidates stay with the first character of a word: on
    several they would count several times.
    """
    tags: Iterable[Candidates] = sentence.layers[tag_layer] if tag_layer else [()] * len(sentence)
    coded: list[Candidates] = []
    for form, candidates in zip(sentence.forms, tags, strict=True):
        coded += _word(len(form), candidates, coding)
    characters = tuple("".join(sentence.forms))
    return Sentence(characters, {layer: tuple(coded)}, weight=sentence.weight, location=sentence.location)


@lru_cache(maxsize=1 << 16)
def _word(length: int, tags: Candidates, coding: str) -> tuple[Candidates, ...]:
    """The labels of the characters of a word, cached because few are different."""
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
    """A sentence of characters with its segmentation layer, sets over BMES, recoded as `layer`.

    With `tag_layer`, candidates include the tags that this layer gives the character (any tag where it is unknown),
    with their numbers where a word certainly begins.

    Raises:
        CorpusError: numbers of letters beside tags, or different ones of letters that the coding does not tell apart.
    """
    spell = _SPELLING[coding]
    tags: Sequence[Candidates] = sentence.layers.get(tag_layer, (None,) * len(sentence)) if tag_layer else ()
    coded: list[Candidates] = []
    for i, candidates in enumerate(sentence.layers[SEGMENTATION]):
        known_tags = tags[i] if tag_layer else ()
        if isinstance(candidates, Soft):
            if tag_layer:
                raise CorpusError("numbers of letters of a segmentation", "numbers of tags", *sentence.location)
            coded.append(_respelled(candidates, spell, sentence))
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
    """Labels of a coding with numbers as letters of BMES; those that the coding does not tell apart share a number."""
    pairs = [(letter, own) for own in labels for letter, spelled in _SPELLING[coding].items() if spelled == own]
    return labels.spelled((letter for letter, _ in pairs), (own for _, own in pairs))


def _respelled(letters: Soft[str], spell: dict[str, str], sentence: Sentence) -> Soft[str]:
    """Letters with numbers in another coding. Raises CorpusError where it has one letter for several numbers."""
    own = {spell[letter]: letter for letter in reversed(letters)}
    respelled = letters.spelled(own.keys(), own.values())
    if len(respelled.numbers) < len(letters.numbers):
        raise CorpusError(f"numbers of the letters {', '.join(letters)}", "a coding BMES", *sentence.location)
    return respelled


def to_words(characters: Sequence[str], labels: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words and their tags ("" if labels have none) of a label sequence in any coding.

    A word begins at the start, at B and S, and after a label that ends a word (E, S, `|`); its tag is that of its first
    character. So every label sequence gives words, even one that violates its scheme.
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
    """Labels as positions of one candidate each."""
    return tuple((label,) for label in labels)
