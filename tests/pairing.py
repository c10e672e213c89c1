"""Which feature number of an encoded corpus belongs to which feature text of the naive twin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import naive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tagweave.corpus.sentence import Sentence
    from tagweave.features.encoded import Encoded
    from tagweave.features.encoder import TemplateEncoder
    from tagweave.features.templates import Template
    from tagweave.models.linear_scorer import Layout


class Feature(NamedTuple):
    """A feature as a token sees it: the number of its gram, and the place of the token in the gram's window."""

    number: int
    place: int


def token_features(encoder: TemplateEncoder, encoded: Encoded, sentence: int, t: int) -> list[tuple[Template, Feature]]:
    """What the arrays say: the features of token t, those of families first, each with its template.

    The number is -1 where the gram is absent or not in the index; features of the form alone are never absent.
    """
    found: list[tuple[Template, Feature]] = []
    extra = (len(encoded.grams) - encoded.tokens) // max(1, len(encoded))
    row = int(encoded.sentence_ptr[sentence]) + sentence * extra + encoded.lead + t
    for k, family in enumerate(encoder.templates.families):
        for template in encoder.templates.parsed:
            if template.shape == family.terms and family.low <= template.shift <= family.high:
                number = int(encoded.grams[row + template.shift, k])
                found.append((template, Feature(number, family.high - template.shift)))
    return found


def form_features(encoded: Encoded, sentence: int, t: int) -> list[Feature]:
    """The features of the form of token t alone, in the order of the arrays."""
    kind = encoded.word_types[encoded.sentence_ptr[sentence] + t]
    numbers = encoded.type_features[encoded.type_ptr[kind] : encoded.type_ptr[kind + 1]]
    return [Feature(int(number), 0) for number in numbers]


def pair(encoder: TemplateEncoder, encoded: Encoded, sentences: Sequence[Sentence]) -> dict[str, Feature]:
    """The feature of every feature text that occurs.

    Raises:
        AssertionError: a text has two features, two texts share one, or one side has a feature that the other has not.
    """
    features: dict[str, Feature] = {}
    for s, sentence in enumerate(sentences):
        for t in range(len(sentence)):
            for text, feature in _paired_token(encoder, encoded, sentence, s, t):
                assert features.setdefault(text, feature) == feature, text
    known = [feature for feature in features.values() if feature.number >= 0]
    assert len(set(known)) == len(known), "two texts share a feature"
    return features


def _paired_token(
    encoder: TemplateEncoder, encoded: Encoded, sentence: Sentence, s: int, t: int
) -> list[tuple[str, Feature]]:
    pairs = []
    for template, feature in token_features(encoder, encoded, s, t):
        texts = naive.token_features(str(template), sentence.forms, t, sentence.columns)
        assert len(texts) <= 1
        assert texts or feature.number < 0, f"{template} is absent at {t}"
        pairs += [(text, feature) for text in texts]
    of_form = [
        text
        for template in encoder.templates.inside
        for text in naive.token_features(str(template), sentence.forms, t, sentence.columns)
    ]
    return pairs + list(zip(of_form, form_features(encoded, s, t), strict=True))


def weight_numbers(layout: Layout, features: dict[str, Feature], labels: int) -> dict[tuple[str, int], int]:
    """Which entry of a view's emission weights belongs to (feature text, label); pairs without one are left out."""
    numbers: dict[tuple[str, int], int] = {}
    for text, (number, place) in features.items():
        if number < 0:
            continue
        start, stop = int(layout.ptr[number]), int(layout.ptr[number + 1])
        cells = layout.cell[start:stop].tolist() if len(layout.cell) else list(range(stop - start))
        for q, cell in enumerate(cells):
            if cell // labels == place:
                numbers[text, cell % labels] = start + q
    return numbers


def named(vector: NDArray[Any], numbers: dict[tuple[str, int], int]) -> dict[tuple[str, int], float]:
    """The entries of a weight vector by (feature text, label)."""
    return {key: float(vector[number]) for key, number in numbers.items()}
