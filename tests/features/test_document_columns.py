"""What the rest of a document says of a token, by a twin that looks at one token after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.documents import documents
from tagweave.corpus.sentence import Sentence
from tagweave.features.document_columns import COLUMNS, document_templates, with_document_columns
from tagweave.features.templates import Templates


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[Sentence], list[tuple[str, ...]]]:
    sentences, labels = [], []
    for _ in range(draw(st.integers(1, 6))):
        length = draw(st.integers(0, 5))
        forms = tuple(draw(st.sampled_from(["Rome", "rome", "A", "a", "of"])) for _ in range(length))
        sentences.append(Sentence(forms, comments=("-DOCSTART-",) if draw(st.booleans()) else ()))
        labels.append(tuple(draw(st.sampled_from(["O", "S-LOC", "B-PER", "I-PER", "E-PER"])) for _ in range(length)))
    return sentences, labels


def spans(labels: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    start = None
    for at, label in enumerate(labels):
        if label == "O":
            continue
        goes_on = at > 0 and labels[at - 1][0] in "BI" and labels[at - 1][2:] == label[2:] and label[0] in "IE"
        start = start if goes_on else at
        stays = at + 1 < len(labels) and label[0] in "BI" and labels[at + 1][0] in "IE"
        if not (stays and labels[at + 1][2:] == label[2:]):
            assert start is not None
            yield start, at + 1, label[2:]


def majority(types: Sequence[str], order: Sequence[str]) -> str:
    if not types:
        return ""
    counts = Counter(types)
    best = max(order, key=lambda kind: (counts[kind], -order.index(kind)))
    return best if counts[best] == len(types) else f"{best}?"


@given(texts())
def test_columns(text: tuple[list[Sentence], list[tuple[str, ...]]]) -> None:
    sentences, labels = text
    seen = dict.fromkeys(label[2:] for layer in labels for label in layer if label != "O")
    order = ["O", *seen]
    result = iter(zip(with_document_columns(sentences, labels), labels, strict=True))
    for document in documents(sentences):
        pairs = [next(result) for _ in document]
        tokens = [(s, t) for s, (sentence, _) in enumerate(pairs) for t in range(len(sentence))]
        named = [(s, *span) for s, (_, layer) in enumerate(pairs) for span in spans(layer)]

        def form(place: tuple[int, int], pairs: list = pairs) -> str:
            return pairs[place[0]][0].forms[place[1]]

        for s, t in tokens:
            sentence, _ = pairs[s]
            columns = {name: sentence.columns[name][t] for name in COLUMNS}
            same = [place for place in tokens if place != (s, t) and form(place) == form((s, t))]
            types = [pairs[i][1][j][2:] or "O" for i, j in same]
            assert columns["document:token"] == majority(types, order)
            here = next((span for span in named if span[0] == s and span[1] <= t < span[2]), None)
            of_text = []
            if here:
                text_of = {span: pairs[span[0]][0].forms[span[1] : span[2]] for span in named}
                of_text = [span[3] for span in named if span != here and text_of[span] == text_of[here]]
            assert columns["document:entity"] == majority(of_text, order)
            longer = [
                kind for i, low, high, kind in named if high - low > 1 for j in range(low, high) if (i, j) in same
            ]
            assert columns["document:longer"] == majority(longer, order)
            expected = ""
            if form((s, t))[0].isupper():
                inner = "c" if any(j > 0 for _, j in same) else ""
                lower = "l" if any(form(place) == form((s, t)).lower() for place in tokens) else ""
                expected = inner + lower or "-"
            assert columns["document:case"] == expected
            beside = ["", ""]
            if same:
                i, j = same[0]
                forms = ("\0", *pairs[i][0].forms, "\0")
                beside = [forms[j], forms[j + 2]]
            assert [columns["document:before"], columns["document:after"]] == beside


def test_templates_are_over_the_columns() -> None:
    assert {f"document:{name}" for name in ("token", "case")} <= set(Templates(document_templates()).user_columns)


@pytest.mark.parametrize("sentences", [[], [Sentence(())]])
def test_no_tokens(sentences: list[Sentence]) -> None:
    assert [s.forms for s in with_document_columns(sentences, [()] * len(sentences))] == [s.forms for s in sentences]
