"""Observed pairs against sets: a token has the feature, and its label set the label."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.corpus.sentence import Sentence
from tagweave.features.encoded import Encoded
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import Templates
from tagweave.models.linear_scorer import Layout

MASKS = np.array([[1, 1, 1], [1, 0, 0], [0, 1, 1], [0, 0, 1]], np.uint8)
TEMPLATES = Templates(("form[-1]", "form[0]", "form[1]", "form[-2] form[-1]", "form[2]", "lower[0]", "inner[0]"))


def found_pairs(encoded: Encoded, encoder: TemplateEncoder, width: int) -> list[int]:
    """The same codes from the counts and cells of the package."""
    layout = Layout.observed(encoded, encoder.windows, MASKS)
    counts, cells = np.diff(layout.ptr), layout.cell
    assert len(counts) == len(encoder.windows)
    return (np.repeat(np.arange(len(counts)) * width, counts) + cells).tolist()


def naive_pairs(encoded: Encoded, masks: np.ndarray, width: int) -> set[int]:
    """The codes, found token by token: feature * width + position in the window * labels + label."""
    labels, pairs = masks.shape[1], set()
    extra = (len(encoded.grams) - encoded.tokens) // max(1, len(encoded))
    for s in range(len(encoded)):
        for t in range(encoded.sentence_ptr[s], encoded.sentence_ptr[s + 1]):
            allowed = [] if encoded.evidence.sets[t] == 0 else np.flatnonzero(masks[encoded.evidence.sets[t]]).tolist()
            seen = [(int(g), 0) for g in _of_form(encoded, int(encoded.word_types[t]))]
            for k in range(encoded.grams.shape[1]):
                for offset in range(encoded.low[k], encoded.high[k] + 1):
                    seen.append(
                        (int(encoded.grams[t + s * extra + encoded.lead + offset, k]), encoded.high[k] - offset)
                    )
            pairs |= {g * width + place * labels + y for g, place in seen if g >= 0 for y in allowed}
    return pairs


def _of_form(encoded: Encoded, kind: int) -> np.ndarray:
    return encoded.type_features[encoded.type_ptr[kind] : encoded.type_ptr[kind + 1]]


def encode(texts: list[str], seed: int, minimum_count: int = 1) -> tuple[Encoded, TemplateEncoder]:
    encoder = TemplateEncoder(TEMPLATES)
    encoded = encoder.encode([Sentence(tuple(text.split())) for text in texts])
    encoder.freeze(encoded, minimum_count)
    allow = np.random.default_rng(seed).integers(0, len(MASKS), encoded.tokens).astype(np.int32)
    return encoded.with_evidence(allow), encoder


@settings(max_examples=50)
@given(
    st.lists(st.lists(st.sampled_from(["a", "B", "abc", "Aa"]), max_size=5).map(" ".join), max_size=6),
    st.integers(0, 99),
    st.integers(1, 2),
)
def test_pairs(texts: list[str], seed: int, minimum_count: int) -> None:
    encoded, encoder = encode(texts, seed, minimum_count)
    width = int(encoder.windows.max(initial=1)) * 3
    assert found_pairs(encoded, encoder, width) == sorted(naive_pairs(encoded, MASKS, width))


def test_the_set_of_pairs_grows() -> None:
    texts = [" ".join(f"{n}{m}" for m in range(30)) for n in range(900)]
    encoded, encoder = encode(texts, 3)
    width = int(encoder.windows.max()) * 3
    found = found_pairs(encoded, encoder, width)
    assert len(found) > 1 << 16
    assert found == sorted(naive_pairs(encoded, MASKS, width))
