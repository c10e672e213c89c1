"""Transition schemes by brute force: a label sequence is allowed if and only if it codes some sequence of words."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from tagweave.labels.transition_scheme import SCHEMES, TransitionScheme, type_of

LONGEST = 4
TYPES = ("", "X", "Y")


def _chunk(scheme: str, length: int, kind: str) -> list[str]:
    """The labels of one word (or chunk) of `length` tokens, from the definition of the coding."""
    begin, middle, end, single = {
        "BMES": "BMES",
        "BI": "BIIB",
        "boundary": "--||",
        "IOB1": "IIII",
        "IOB2": "BIIB",
        "BIOES": "BIES",
    }[scheme]
    letters = single if length == 1 else begin + middle * (length - 2) + end
    return [f"{letter}-{kind}" if kind else letter for letter in letters]


def _codings(scheme: str, length: int, kinds: tuple[str, ...], last: str | None = None) -> set[tuple[str, ...]]:
    """Every label sequence of `length` that codes words of these kinds, after a word of the kind `last`."""
    if length == 0:
        return {()}
    first: list[tuple[int, str | None, list[str]]] = []
    for size, kind in product(range(1, length + 1), kinds):
        labels = _chunk(scheme, size, kind)
        if scheme == "IOB1" and kind == last:
            labels[0] = "B" + labels[0][1:]
        first.append((size, kind, labels))
    if scheme in ("IOB1", "IOB2", "BIOES"):
        first.append((1, None, ["O"]))
    return {(*labels, *rest) for size, kind, labels in first for rest in _codings(scheme, length - size, kinds, kind)}


def _alphabet(scheme: str, kinds: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(
        sorted({label for length in range(1, LONGEST + 1) for row in _codings(scheme, length, kinds) for label in row})
    )


def allows(scheme: TransitionScheme, labels: tuple[int, ...]) -> bool:
    inside = all(scheme.transition[i, j] for i, j in pairwise(labels))
    return bool(scheme.start[labels[0]] and scheme.end[labels[-1]] and inside)


@pytest.mark.parametrize("kinds", [("",), ("X",), ("X", "Y"), ("", "X")])
@pytest.mark.parametrize("name", SCHEMES)
def test_a_sequence_is_allowed_exactly_if_it_codes_words(name: str, kinds: tuple[str, ...]) -> None:
    labels = _alphabet(name, kinds)
    scheme = TransitionScheme.of(name, labels)
    for length in range(1, LONGEST if len(labels) > 5 else LONGEST + 1):
        coded = _codings(name, length, kinds)
        for sequence in product(range(len(labels)), repeat=length):
            spelled = tuple(labels[y] for y in sequence)
            assert allows(scheme, sequence) == (spelled in coded), spelled


def test_a_scheme_is_free_if_nothing_is_excluded() -> None:
    assert TransitionScheme.free(2).is_free
    for mask in ("transition", "start", "end"):
        scheme = TransitionScheme.free(2)
        getattr(scheme, mask)[-1] = False
        assert not scheme.is_free


def test_tags_with_hyphens_are_one_tag() -> None:
    scheme = TransitionScheme.of("BMES", ("B--NONE-", "E--NONE-", "E-NONE-"))
    assert scheme.transition[0].tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("name", "label"), [("BMES", "I"), ("BI", "S-NN"), ("boundary", "B"), ("IOB2", "NN"), ("BMES", ""), ("BILOU", "B")]
)
def test_a_label_outside_the_scheme_or_an_unknown_scheme_raises(name: str, label: str) -> None:
    with pytest.raises(ValueError, match=f"do not belong to the scheme {name}|unknown scheme 'BILOU', expected one of"):
        TransitionScheme.of(name, [label])


def test_the_type_of_outside_is_its_own() -> None:
    assert [*map(type_of, ("O", "B-X", "B", "--NN", "-", "B-NP-SBJ"))] == ["O", "X", "", "NN", "", "NP-SBJ"]
