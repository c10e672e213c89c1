"""Evidence for spans from phrases: against matching by hand, and the same from raw text and from tokens."""

from __future__ import annotations

import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import columns
from tagweave.corpus.gazetteer import parse
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.corpus.spans import Span, span_labels
from tagweave.harvest.options import ELSEWHERE, HarvestError
from tagweave.harvest.phrases import PhraseHarvest, PhraseMatcher, tokenised

FORMS = st.sampled_from(["a", "b", "c", "-", "Äß", "A"])
PHRASES = st.lists(FORMS, min_size=1, max_size=3).map(" ".join)
ENTRIES = st.lists(st.tuples(PHRASES, st.sampled_from(["X\t", "Y|X\t", ""])), min_size=1, max_size=6)
SENTENCES = st.lists(st.lists(FORMS, max_size=7), max_size=4)


def by_hand(types: dict[str, set[str]], forms: list[str], elsewhere: str) -> list[Candidates]:
    """The labels of a sentence, by trying every span."""
    texts = {(i, j): " ".join(forms[i:j]) for i in range(len(forms)) for j in range(i + 1, len(forms) + 1)}
    found = {span for span, text in texts.items() if text in types}
    groups, touched, t = [], set(), 0
    while t < len(forms):
        stop = max((j for i, j in found if i == t), default=None)
        if stop is not None:
            names = sorted(types[texts[t, stop]]) or [None]
            groups.append(tuple(Span(t, stop, name) for name in names))
        t = t + 1 if stop is None else stop
    for i, j in found:
        touched.update(range(i, j))
    labels = span_labels(groups, len(forms), None if elsewhere == "unknown" else ("O",))
    return [None if t in touched and each == ("O",) else each for t, each in enumerate(labels)]


@given(ENTRIES, SENTENCES, st.sampled_from(ELSEWHERE))
@example([("a b", "X\t"), ("b c", "")], [["a", "b", "c", "c"]], "O")
def test_labels_agree_with_those_found_by_hand(
    entries: list[tuple[str, str]], sentences: list[list[str]], elsewhere: str
) -> None:
    gazetteer = parse(field + phrase for phrase, field in entries)
    types = {phrase: set(names or ()) for phrase, names in zip(gazetteer.phrases, gazetteer.types, strict=True)}
    harvest = PhraseHarvest(PhraseMatcher(gazetteer, elsewhere=elsewhere), everything=True)
    found = list(harvest.of(Sentence(tuple(forms)) for forms in sentences))
    kept = [forms for forms in sentences if forms]
    assert [list(each.layers["tag"]) for each in found] == [by_hand(types, forms, elsewhere) for forms in kept]


@given(ENTRIES, SENTENCES, st.sampled_from(ELSEWHERE), st.booleans(), st.booleans())
def test_rows_of_raw_text_are_those_of_its_tokens(
    entries: list[tuple[str, str]], sentences: list[list[str]], elsewhere: str, fold: bool, everything: bool
) -> None:
    lines = [" ".join(forms).replace(" -", "-") for forms in sentences]
    matcher = PhraseMatcher(parse(field + phrase for phrase, field in entries), (), fold, elsewhere)
    of_rows, of_tokens = PhraseHarvest(matcher, everything), PhraseHarvest(matcher, everything)
    written = io.StringIO()
    columns.write(of_tokens.of(tokenised(lines)), written, "tag")
    blocks = ["".join(f"{line}\n" for line in part) for part in (lines[:2], lines[2:])]
    assert b"".join(of_rows.rows(blocks)).decode() == written.getvalue()
    assert (of_rows.sentences, of_rows.kept, of_rows.phrases) == (
        of_tokens.sentences,
        of_tokens.kept,
        of_tokens.phrases,
    )


def test_what_a_corpus_keeps() -> None:
    """Labels of the corpus, and columns that show them, do not stand beside the evidence."""
    columns_ = {"pos": ("N", "N"), "old": ("B-Z", "O")}
    sentence = Sentence(("Heart", "failure"), {"old": (("B-Z",), ("O",))}, columns_, comments=("# x = 1",))
    found = tw.harvest_gazetteer(Corpus((sentence, Sentence(("b",)))), ["X\theart failure"], guideline="g", fold=True)
    assert found.sentences == (Sentence(("Heart", "failure"), {"g": (("B-X",), ("I-X",))}, {"pos": ("N", "N")}),)
    assert (found.guideline, found.unit, found.covered) == ("g", "word", None)


def test_raw_lines_stop_lists_and_covered_types(tmp_path) -> None:
    stop = tmp_path / "stop.txt"
    stop.write_text("It\n\n")
    entries = ["PER\tIT", "PER|LOC\tJordan", "St. John's"]
    found = tw.harvest_gazetteer(["it is St.John's, Jordan"], entries, fold=True, stop=stop, elsewhere="O-for-others")
    assert found.covered == ("LOC", "PER")
    assert found[0].forms == ("it", "is", "St", ".", "John", "'", "s", ",", "Jordan")
    inside = [("I-*",)] * 4
    assert list(found[0].layers["tag"]) == [("O",), ("O",), ("B-*",), *inside, ("O",), ("B-LOC", "B-PER")]


def test_wrong_options() -> None:
    with pytest.raises(HarvestError, match="found `elsewhere=o`, expected one of unknown, O, O-for-others"):
        tw.harvest_gazetteer(["a"], ["a"], elsewhere="o")
    with pytest.raises(ValueError, match="found no list of entries"):
        tw.harvest_gazetteer(["a"], "a")
    with pytest.raises(ValueError, match="found a corpus of characters"):
        tw.harvest_gazetteer(Corpus((), unit="character"), ["a"])
