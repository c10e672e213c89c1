"""What a file looks like that neither an option nor its name tells the format of: from its first lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus.alternatives import parse_candidates
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.formats import columns, kytea, segmented, tagged

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SEPARATORS = {"tagged": "/", "tagged-underscore": "_"}
"""The formats of tagged text, and what separates word and tag."""

_FEW, _MANY, _MOST = 0.1, 0.5, 0.9  # shares of the words that have a tail
_WORDS = 10  # in which a corpus shows
_ROWS = 10  # of equally many fields, that are no text by chance
_WORD = 4  # characters of a word in a script that writes no blanks
_NO_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_UPPER = re.compile(r"[^a-z]*[A-Z][^a-z]*")


@dataclass(frozen=True)
class Labels:
    """The labels of the model that text is for, which tell words with labels from words with a slash.

    Attributes:
        known: whether a candidate is one of them.
        share: of the words that have one, from which the text is taken for labelled.
    """

    known: Callable[[str], bool]
    share: float = _FEW

    def among(self, field: str) -> bool:
        """Whether a field holds nothing but these labels."""
        try:
            return bool(field) and all(map(self.known, parse_candidates(field)))
        except CorpusError:
            return False


class Guess(NamedTuple):
    """The format that a file looks like.

    Attributes:
        format: its name.
        note: what is to be told where the text might be of another one.
        labels: those that alone are labels in it, where its words do not tell.
    """

    format: str
    note: str = ""
    labels: Labels | None = None


def guess(lines: Sequence[str], labels: Labels | None = None) -> Guess:
    """The format that the first lines of a file look like.

    Rows of ten fields that begin with an ID are `conllu`; a header `# columns =` tells `columns`; other lines with tabs
    are `columns` if all rows have equally many fields and `attributes` if not. Lines of characters with boundary marks
    between them are `kytea`. Where nine words of ten have a tail, a slash or an underscore with something on either
    side, the text is `tagged` or `tagged-underscore`; where fewer have one, only if the tails look like labels: if one
    word of ten has one and most are in capitals, or every second one and few of them differ. Rows of equally many
    fields among blank lines are `columns`. What is left is `segmented` if it contains blanks, else `raw`; so raw text
    in a language that writes blanks reads as segmented into words.

    Text for a model is read in words, `segmented`, but for lines in a script without blanks. There a tail is a label
    only if it is one of the model's, and tails are if most are and enough words have one, or all are and look like
    labels; or if nearly all words have one, and few of them differ. So it is with fields of rows that may be text.

    Args:
        lines: the first ones.
        labels: those of a model of words that the text is for.
    """
    rows = [line for line in lines if line.strip(segmented.BLANKS)]
    of_tabs = _format_of_tabs(rows)
    if of_tabs and (labels is None or of_tabs == "conllu" or _are_labelled(rows, of_tabs, labels)):
        return Guess(of_tabs)
    if labels is None and _looks_partial(rows):
        return Guess("kytea")
    tokens = [token for row in rows for token in tagged.split_blanks(row)]
    tails = {name: _Tails.of(tokens, mark) for name, mark in SEPARATORS.items()}
    name, found = max(tails.items(), key=lambda item: item[1].count)
    if found.are_labels_of_all:
        return Guess(name)
    if found.are_labels(labels):
        return Guess(name, found.said_of_labels(labels), labels)
    if _looks_like_columns(lines) and (labels is None or _are_labelled(rows, "columns", labels)):
        return Guess("columns")
    has_blanks = any(" " in row or "\u3000" in row for row in rows)
    of_words = has_blanks or (labels is not None and bool(rows) and not any(map(_is_line_without_blanks, rows)))
    note = f"read as words: no labels of the model where {of_tabs} have them (--format {of_tabs})" if of_tabs else ""
    return Guess("segmented" if of_words else "raw", note or found.said_of_words(name, labels))


@dataclass(frozen=True)
class _Tails:
    """What stands behind a separator in words.

    Attributes:
        separator: the character.
        words: how many words there are.
        pairs: what is before and behind it, of every word that has it inside.
    """

    separator: str
    words: int
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, tokens: Sequence[str], separator: str) -> _Tails:
        """Those of the tokens."""
        split = (token.rpartition(separator) for token in tokens if separator in token[1:-1])
        return cls(separator, len(tokens), tuple((form, tail) for form, _, tail in split))

    @property
    def count(self) -> int:
        return len(self.pairs)

    @property
    def share(self) -> float:
        return self.count / max(self.words, 1)

    def known(self, labels: Labels) -> int:
        """How many are labels of a model."""
        return sum(labels.among(tail) for _, tail in self.pairs)

    @property
    def are_labels_of_all(self) -> bool:
        """Whether they are no text, whoever reads it: a corpus with all its labels."""
        return self.words >= _WORDS and self.share >= _MOST and self._are_few

    @property
    def _are_few(self) -> bool:
        return 2 * len({tail for _, tail in self.pairs}) <= len(set(self.pairs))

    def are_labels(self, labels: Labels | None) -> bool:
        """Whether they are taken for labels."""
        if labels is None:
            return self.count > 0 and self._look_like_labels()
        known = self.known(labels)
        if known == self.count > 0 and self._look_like_labels():
            return True
        return known > 0 and known >= labels.share * self.words and 2 * known >= self.count

    def _look_like_labels(self) -> bool:
        """Whether all words have them, or some have capitals, or many have few different ones."""
        capitals = sum(_UPPER.fullmatch(tail) is not None for _, tail in self.pairs)
        some_in_capitals = self.share >= _FEW and 2 * capitals >= self.count
        return self.share >= _MOST or some_in_capitals or (self.share >= _MANY and self._are_few)

    def said_of_labels(self, labels: Labels | None) -> str:
        """What is told where not all of them are labels, or not all words have one."""
        if labels is None:
            if self.share >= _MOST:
                return ""
            return f"read as words with labels, which {self.count} of its first {self.words} words have"
        strange = self.count - self.known(labels)
        kept = (
            f"{strange} of {self.count} words with a {self.separator} keep it, since no label of the model is behind it"
        )
        return f"read with labels: {kept}" if strange else ""

    def said_of_words(self, name: str, labels: Labels | None) -> str:
        """What is told where tails are not taken for labels, and many words have one."""
        if self.share < _FEW and not (labels and self.known(labels)):
            return ""
        what = f"read as words: {self.count} of its first {self.words} have a {self.separator} in them"
        return f"{what}, and what is behind it is not taken for labels (--format {name} does)"


def _format_of_tabs(rows: Sequence[str]) -> str | None:
    tabbed = [row.split("\t") for row in rows if "\t" in row]
    if any(len(row) == 10 and row[0][:1].isdigit() for row in tabbed):
        return "conllu"
    if any(columns.is_header(row) for row in rows):
        return "columns"
    if len(tabbed) * 2 > len(rows):
        return "columns" if len({len(row) for row in tabbed}) == 1 else "attributes"
    return None


def _are_labelled(rows: Sequence[str], name: str, labels: Labels) -> bool:
    """Whether rows are no lines of text: they have a header, are many, or end (begin) with labels of the model."""
    if any(columns.is_header(row) for row in rows):
        return True
    fields = [row.split("\t") if "\t" in row else tagged.split_blanks(row) for row in rows]
    if name == "columns" and len(fields) >= _ROWS:
        return True
    ends = [row[0 if name == "attributes" else -1] for row in fields]
    return 2 * sum(end in columns.UNKNOWN or labels.among(end) for end in ends) >= len(ends)


def _looks_like_columns(lines: Sequence[str]) -> bool:
    """Rows of equally many fields, two or more, and blank lines between blocks that are not all of one row."""
    counts = [len(tagged.split_blanks(line)) for line in lines]
    widths = {count for count in counts if count}
    blocks = sum(count > 0 and not before for before, count in pairwise([0, *counts]))
    return len(widths) == 1 and widths != {1} and 0 in counts and sum(map(bool, counts)) > blocks


def _looks_partial(rows: Iterable[str]) -> bool:
    """Rows that can be read as characters with marks between them, and some of the marks known."""
    try:
        sentences = list(kytea.read(rows))
    except CorpusError:
        return False
    unknown = (kytea.segmentation_layer([" "] * (len(sentence) - 1)) for sentence in sentences)
    return any(sentence.layers["segmentation"] != layer for sentence, layer in zip(sentences, unknown, strict=True))


def _is_line_without_blanks(row: str) -> bool:
    """Whether a row is more than one word, of a script that writes no blanks between words."""
    return len(_NO_BLANKS.findall(row)) > _WORD and not any(blank in row for blank in segmented.BLANKS)
