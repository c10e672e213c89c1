"""The columns of a gazetteer against all spans of tokens, and the features of templates over them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tagweave.corpus.gazetteer import parse
from tagweave.corpus.sentence import Sentence
from tagweave.features.columns import FormColumns
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.lookups import GazetteerColumns
from tagweave.features.templates import Templates

FORMS = st.sampled_from(["a", "A", "b1", "B2", "c"])
PHRASES = st.lists(FORMS, min_size=1, max_size=3).map(" ".join)
ENTRIES = st.lists(st.tuples(PHRASES, st.sampled_from(["X\t", "Y\t", "X|Z\t", ""])), min_size=1, max_size=8)
SENTENCES = st.lists(st.lists(FORMS, max_size=6), max_size=4)


def fold(text: str, column: str) -> str:
    return text if column == "gazetteer" else text.lower().replace("1", "0").replace("2", "0")


def by_hand(entries: list[tuple[str, str]], forms: list[str], column: str) -> list[str]:
    """The value at each token, by trying every span."""
    types: dict[str, set[str]] = {}
    for phrase, field in entries:
        types.setdefault(fold(phrase, column), set()).update(field.strip().split("|") if field else ())
    values, lengths = [""] * len(forms), [0] * len(forms)
    for i in range(len(forms)):
        for j in range(i + 1, len(forms) + 1):
            names = types.get(fold(" ".join(forms[i:j]), column))
            for t in range(i, j) if names is not None else ():
                if j - i > lengths[t]:
                    place = "S" if j - i == 1 else "B" if t == i else "E" if t == j - 1 else "I"
                    values[t], lengths[t] = f"{place}-{'|'.join(sorted(names or ())) or '*'}", j - i
    return values


@given(ENTRIES, SENTENCES, st.sampled_from(["gazetteer", "gazetteer_folded"]))
def test_the_longest_phrases_agree_with_those_found_by_hand(
    entries: list[tuple[str, str]], sentences: list[list[str]], column: str
) -> None:
    columns = GazetteerColumns(parse(field + phrase for phrase, field in entries))
    numbers = columns.numbers([Sentence(tuple(forms)) for forms in sentences], column)
    expected = [value for forms in sentences for value in by_hand(entries, forms, column)]
    assert columns.codes(column)[numbers].tolist() == FormColumns(expected).form().tolist()


def test_values_are_features() -> None:
    templates = Templates(("gazetteer[0]", "gazetteer_folded[-1]"))
    encoder = TemplateEncoder(templates, gazetteer=GazetteerColumns(parse(["X\theart failure", "Y\tfailure"])))
    encoded = encoder.encode([Sentence(("Heart", "failure", "of", "heart", "failure"))])
    # `Heart failure` is folded; feature 0 is the place before the sentence
    assert encoded.grams.tolist() == [[-1, 0], [-1, 1], [2, 3], [-1, -1], [4, 1], [5, -1]]


def test_a_model_keeps_the_entries() -> None:
    columns = GazetteerColumns(parse(["X\tb c", "a", "Y|X\td"]))
    stored = GazetteerColumns.of_arrays(columns.arrays())
    assert sorted(stored.gazetteer.lines()) == sorted(columns.gazetteer.lines())
    assert GazetteerColumns().arrays() == {}
    assert len(GazetteerColumns.of_arrays({}).gazetteer) == 0
