"""The given columns of a parser: layers of tags and columns of the corpus (`user:NAME`), which plain text may lack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from random import Random

from tagweave.corpus.sentence import Sentence
from tagweave.features.arc_templates import GUIDE, is_form_column

_USER = "user:"
_BLANK = "_"  # an unknown value of a column, as in CoNLL-U
_KEPT = "upos"
_KEEP_SHARE = 1 / 3  # of copies: UAS with UPOS alone gained 0.4 to 4.6 points, that of words alone lost 0.9 to 1.5


def given_columns(columns: Iterable[str]) -> tuple[str, ...]:
    """The columns of templates that come neither from forms nor from a guide tree."""
    return tuple(name for name in columns if not is_form_column(name) and not name.startswith(GUIDE))


def with_columns(sentence: Sentence, names: Sequence[str]) -> Sentence:
    """The sentence with all of these columns; those that it lacks have unknown values."""
    return _blanked(sentence, [name for name in names if _column(sentence, name) is None])


def without_columns(sentence: Sentence, names: Sequence[str]) -> Sentence:
    """The sentence with all values of these columns unknown."""
    return _blanked(sentence, names)


def lacking(sentences: Sequence[Sentence], names: Sequence[str]) -> list[str]:
    """The columns without a known value in any sentence, by their names in the corpus."""
    return [
        name.removeprefix(_USER)
        for name in names
        if not any(value not in (None, _BLANK) for s in sentences for value in _column(s, name) or ())
    ]


def with_copies(sentences: Sequence[Sentence], names: Sequence[str], share: float) -> list[Sentence]:
    """The sentences, followed by copies of a random share of them with these columns unknown.

    A parser trained on both does not depend on the columns alone. A third of the copies keep UPOS, as in text labelled
    by another tagger. When sentences lost their columns instead of being copied, or lost each column separately, UAS
    with all columns was 0.3 to 0.8 lower (share 0.2; dev of four treebanks), and UAS of words alone rose less.

    Args:
        sentences: the sentences; their order decides which are copied.
        names: columns as templates name them (`given_columns`).
        share: 0..1.
    """
    if not names:
        return list(sentences)
    draw, finer = Random(0), [name for name in names if name != _KEPT]
    copies = []
    for sentence in sentences:
        if draw.random() < share:
            copies.append(without_columns(sentence, finer if finer and draw.random() < _KEEP_SHARE else names))
    return [*sentences, *copies]


def _column(sentence: Sentence, name: str) -> Sequence[object] | None:
    if name.startswith(_USER):
        return sentence.columns.get(name.removeprefix(_USER))
    return sentence.layers.get(name)


def _blanked(sentence: Sentence, names: Iterable[str]) -> Sentence:
    layers, columns = dict(sentence.layers), dict(sentence.columns)
    for name in names:
        if name.startswith(_USER):
            columns[name.removeprefix(_USER)] = (_BLANK,) * len(sentence)
        else:
            layers[name] = (None,) * len(sentence)
    return replace(sentence, layers=layers, columns=columns)
