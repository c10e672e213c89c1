"""Labels that tell where their span began, so that sets of labels can reject whole spans.

"Tokens 1 to 3 are not an X" is no set of labels for each token, since B-X, I-X and E-X may each be right. So states are
split, as in a product of automata: a span that begins where a rejected one does has copies of its labels, to its end.

    token          0     1                   2     3           4
    rejected             B-X                 I-X   E-X
    allowed here   all   B-X' for B-X,       all   all but     all
                         S-X' for S-X              E-X'

Sequences of split labels and sequences of labels correspond one to one, except that rejected spans are excluded. Copies
are in BIOES whatever the coding of the labels, which is BIOES or IOB2; labels of IOB1 do not tell where spans begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tagweave.labels.span_rules import Booleans, ends_are_marked
from tagweave.labels.transition_scheme import split_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_BIOES = "BIES"
_IOB2 = "BIIB"


def span_types(names: Sequence[str]) -> tuple[str, ...]:
    """Return the types of spans that labels code, in the order in which rejected spans number them."""
    return tuple(dict.fromkeys(kind for letter, kind in map(split_label, names) if letter != "O"))


class SplitLabels:
    """The Y labels of a coding of spans, followed by four copies for each beginning of a rejected span: W in all.

    Args:
        names: the Y labels.
        rejected: int32[R, 5], as `Encoded.rejected`.

    Attributes:
        projection: int64[W], the label that each split label stands for.
        follows: bool[W, W], whether the second may follow the first, if the coding allows it for what they stand for.
        ends: bool[W], whether it may be the last of a sentence, likewise; the first are those of the coding.
    """

    def __init__(self, names: Sequence[str], rejected: NDArray[np.integer]) -> None:
        number, letters = {name: at for at, name in enumerate(names)}, _BIOES if ends_are_marked(names) else _IOB2
        suffixes = [f"-{kind}" if kind else "" for kind in span_types(names)]
        of_type = np.array([[number[letter + suffix] for letter in letters] for suffix in suffixes], np.int64)
        beginnings, beginning = np.unique(rejected[:, 3] + len(suffixes) * rejected[:, 4], return_inverse=True)
        self._rejected, self._size, self._copy = rejected, len(names), len(names) + 4 * beginning
        self._copied = of_type[rejected[:, 3]]
        self.projection: NDArray[np.int64] = np.append(np.arange(len(names)), of_type[beginnings % len(suffixes)])
        copy_of = np.repeat([-1, *range(len(beginnings))], [len(names), *[4] * len(beginnings)])
        kind = np.array([split_label(name)[1] for name in names])[self.projection]
        letter = np.array([*(name[0] for name in names), *_BIOES * len(beginnings)])
        is_copy, is_inner, is_open = copy_of >= 0, np.isin(letter, ["I", "E"]), np.isin(letter, ["B", "I"])
        within = is_copy & is_inner & (copy_of[:, None] == copy_of)
        goes_on = ~is_copy & is_inner & (kind[:, None] == kind)  # a copy that ends a span ends it also in IOB2
        after = (is_copy & ~is_inner) | (~is_copy & ~(is_copy[:, None] & goes_on))
        self.follows: Booleans = np.where((is_copy & is_open)[:, None], within, after)
        self.ends: Booleans = ~(is_copy & is_open)

    def allowed(self, sentence_ptr: NDArray[np.int64]) -> Booleans:
        """Return bool[N, W]: the split labels that each token may have; int64[S + 1], where its sentences begin."""
        allowed = np.ones((int(sentence_ptr[-1]), len(self.projection)), np.bool_)
        allowed[:, self._size :: 4] = allowed[:, self._size + 3 :: 4] = False
        first = sentence_ptr[self._rejected[:, 0]]
        start, last = first + self._rejected[:, 1], first + self._rejected[:, 2] - 1
        for letter in (0, 3):
            allowed[start, self._copied[:, letter]] = False
            allowed[start, self._copy + letter] = True
        allowed[last, self._copy + np.where(start == last, 3, 2)] = False
        return allowed
