"""Models of pieces: cutting by taggers, evidence of pieces, and model files with taggers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_parts import parts, rewrite

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Candidates, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import PRESETS, Templates
from tagweave.labels.coding import CODINGS, LETTERS, to_words
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.cascades import PieceEncoder, guide_column, piece_column, piece_lengths, piece_templates
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.linear_scorer import ChainParameters, Layout
from tagweave.models.storage import ModelFileError, load_model, save_model

TEXTS = st.lists(st.text("abcd", max_size=7), min_size=1, max_size=4)
LONG = Sentence(tuple("abcdabdcba"), location=Location("text", 7))


def names(coding: str, tags: str) -> tuple[str, ...]:
    return tuple(sorted(f"{letter}-{tag}" for letter in LETTERS[coding] for tag in tags))


def model(encoder: Any, guideline: str, coding: str, tags: str, seed: int) -> ChainModel:
    """With random weights; `encoder` has seen nothing yet."""
    encoder.freeze(encoder.encode([LONG, *(Sentence((each,)) for each in "abcd")]))
    own = names(coding, tags)
    layout = Layout.dense(encoder.windows, len(own))
    parameters = ChainParameters(LabelSpace.plain(guideline, own), (layout,), TransitionScheme.of(coding, own))
    weights = np.random.default_rng(seed).normal(size=parameters.size)
    return ChainModel(parameters, encoder, weights, "segtag", coding)


def tagger(guideline: str, coding: str = "BMES", seed: int = 0, tags: str = "NV") -> ChainModel:
    encoder = TemplateEncoder(Templates(("form[0]", "form[-1] form[0]", "form[0] form[1]")))
    return model(encoder, guideline, coding, tags, seed)


def stacked(coding: str = "BMES", seed: int = 0, others: tuple[str, ...] = ("pd",)) -> ChainModel:
    taggers = [tagger("ctb", coding, seed)]
    taggers += [tagger(name, coding, seed + 10 * i, "xyz") for i, name in enumerate(others, 1)]
    texts = [text for name in ("ctb", *others) for text in piece_templates(name)]
    encoder = PieceEncoder(TemplateEncoder(Templates(("form[0]", "prefix_1[0]", *texts))), taggers)
    return model(encoder, "ctb", coding, "NV", seed + 1)


def encoder_of(of: ChainModel) -> PieceEncoder:
    assert isinstance(of.encoder, PieceEncoder)
    return of.encoder


def ends(words: tuple[str, ...]) -> set[int]:
    return set(np.cumsum([len(word) for word in words]).tolist())


def told(of: ChainModel, sentence: Sentence) -> tuple[str, ...]:
    (tagged,) = ChainPredictor(of).tag([sentence])
    return tuple(each[0] for each in tagged.layers[ChainPredictor(of).guideline] if each)


# Where a text is cut


@settings(deadline=None, max_examples=25)
@given(TEXTS, st.sampled_from(CODINGS), st.integers(0, 20))
def test_pieces_end_where_a_tagger_ends_a_word_and_nowhere_else(texts: list[str], coding: str, seed: int) -> None:
    of = stacked(coding, seed, ("pd", "ud"))
    sentences = [Sentence(tuple(text)) for text in texts]
    pieces = encoder_of(of).tokens(sentences)
    for sentence, cut in zip(sentences, pieces, strict=True):
        words = [to_words(sentence.forms, told(each, sentence))[0] for each in encoder_of(of).taggers]
        assert "".join(cut.forms) == "".join(sentence.forms)
        assert ends(cut.forms) == set().union(*map(ends, words))
    assert piece_lengths(pieces).tolist() == [len(form) for cut in pieces for form in cut.forms]


@settings(deadline=None, max_examples=25)
@given(TEXTS, st.sampled_from(CODINGS), st.integers(0, 20))
def test_columns_give_back_the_words_of_every_tagger(texts: list[str], coding: str, seed: int) -> None:
    of = stacked(coding, seed)
    for text in texts:
        sentence = Sentence(tuple(text))
        (cut,) = encoder_of(of).tokens([sentence])
        for each, name in zip(encoder_of(of).taggers, ("ctb", "pd"), strict=True):
            assert to_words(cut.forms, cut.columns[piece_column(name)]) == to_words(
                sentence.forms, told(each, sentence)
            )


def test_a_piece_may_be_part_of_the_word_of_one_tagger_and_all_of_that_of_the_other() -> None:
    columns = {guide_column("ctb"): tuple("BEBMES"), guide_column("pd"): tuple("SSBMME")}
    (cut,) = encoder_of(stacked()).tokens([Sentence(tuple("abcdab"), columns=columns)])
    assert cut.forms == ("a", "b", "cda", "b")
    assert cut.columns == {"piece:ctb": ("B", "E", "S", "S"), "piece:pd": ("S", "S", "B", "E")}


def test_pieces_are_not_cut_again() -> None:
    encoder = encoder_of(stacked())
    once = encoder.tokens([LONG, Sentence(())])
    assert encoder.tokens(once) == once
    assert all(encoder.is_cut(each) for each in once)
    assert not encoder.is_cut(LONG)
    assert (encoder.encode(once).grams == encoder.encode([LONG, Sentence(())]).grams).all()


def test_a_layer_of_another_guideline_replaces_its_tagger() -> None:
    of = stacked()
    gold = tuple((label,) for label in ("B-x", "M-x", "E-x", "S-q", "B-y", "E-y", "S-z", "B-x", "M-x", "E-x"))
    (cut,) = encoder_of(of).tokens([LONG.with_layer("pd", gold)])
    own = to_words(LONG.forms, told(encoder_of(of).taggers[0], LONG))[0]
    assert ends(cut.forms) == ends(("abc", "d", "ab", "d", "cba")) | ends(own)
    assert to_words(cut.forms, cut.columns["piece:pd"])[1] == ("x", "q", "y", "z", "x")


def test_taggers_do_not_see_the_answer() -> None:
    of = stacked()
    gold = tuple((label,) for label in ("B-N", *["M-N"] * 8, "E-N"))
    assert encoder_of(of).tokens([LONG.with_layer("ctb", gold)]) == encoder_of(of).tokens([LONG])
    assert told(of, LONG) == told(of, LONG.with_layer("ctb", gold))


def test_weight_location_and_the_least_confidence_are_kept() -> None:
    given = replace(LONG, weight=0.5, confidence=tuple(i / 10 for i in range(10)), columns={"lemma": LONG.forms})
    (cut,) = encoder_of(stacked()).tokens([given])
    at = [0, *np.cumsum([len(form) for form in cut.forms]).tolist()[:-1]]
    assert (cut.weight, cut.location) == (0.5, Location("text", 7))
    assert cut.confidence == tuple(i / 10 for i in at)
    assert set(cut.columns) == {"piece:ctb", "piece:pd"}


def test_templates_look_at_the_column_in_a_window_of_one() -> None:
    templates = Templates((*PRESETS["sun-wan-2012-subword"].texts, *piece_templates("pd")))
    assert templates.user_columns == ("piece:pd",)
    assert len(templates.parsed) == 18
    assert {term.offset for template in templates.parsed for term in template.terms} == {-1, 0, 1}


# Evidence


@st.composite
def evidence(draw: st.DrawFn, coding: str) -> tuple[Sentence, tuple[Candidates, ...]]:
    """A text and what is known of it: candidates with, at each character, one of a sequence of the coding."""
    text = draw(st.text("abcd", min_size=1, max_size=5))
    own, scheme = names(coding, "NV"), TransitionScheme.of(coding, names(coding, "NV"))
    true: list[int] = []
    for at in range(len(text)):
        fits = scheme.start if not true else scheme.transition[true[-1]]
        after = scheme.end if at == len(text) - 1 else scheme.transition.any(axis=1)
        choice = np.flatnonzero(fits & after).tolist()
        if at < len(text) - 1:  # it must be possible to go on
            last = scheme.end if at == len(text) - 2 else np.ones(len(own), bool)
            choice = [
                label
                for label in choice
                if (scheme.transition[label] & _can_end(scheme, last, len(text) - 2 - at)).any()
            ]
        true.append(draw(st.sampled_from(choice)))
    more = st.lists(st.sampled_from(own), max_size=4)
    layer = [None if draw(st.booleans()) else tuple(dict.fromkeys([own[label], *draw(more)])) for label in true]
    return Sentence(tuple(text), {"ctb": tuple(layer)}), tuple(layer)


def _can_end(scheme: TransitionScheme, last: Any, left: int) -> Any:
    """Labels from which a sequence can end after so many more labels."""
    possible = scheme.end
    for _ in range(left):
        possible = (scheme.transition & possible).any(axis=1)
    return possible & last


def sequences(layer: tuple[Candidates, ...], coding: str) -> set[tuple[str, ...]]:
    """All label sequences of the coding that a layer allows."""
    own = names(coding, "NV")
    scheme, number = TransitionScheme.of(coding, own), {name: i for i, name in enumerate(own)}
    return {
        sequence
        for sequence in product(*(own if known is None else known for known in layer))
        if scheme.start[number[sequence[0]]]
        and scheme.end[number[sequence[-1]]]
        and all(scheme.transition[number[a], number[b]] for a, b in pairwise(sequence))
    }


@settings(deadline=None, max_examples=40)
@given(st.data(), st.sampled_from(CODINGS), st.integers(0, 9))
def test_pieces_allow_the_segmentations_that_characters_allow(data: st.DataObject, coding: str, seed: int) -> None:
    """Exactly those, of all that have no boundary within a piece."""
    sentence, layer = data.draw(evidence(coding))
    (cut,) = encoder_of(stacked(coding, seed)).tokens([sentence], layer="ctb")
    found = {to_words(cut.forms, labels) for labels in sequences(cut.layers["ctb"], coding)}
    expected = {to_words(sentence.forms, labels) for labels in sequences(layer, coding)}
    assert found == {(words, tags) for words, tags in expected if ends(words) <= ends(cut.forms)}


@settings(deadline=None, max_examples=25)
@given(st.data(), st.sampled_from(CODINGS), st.integers(0, 9))
def test_full_annotation_comes_out_as_it_went_in(data: st.DataObject, coding: str, seed: int) -> None:
    sentence, layer = data.draw(evidence(coding))
    labels = sorted(sequences(layer, coding))[0]
    full = sentence.with_layer("ctb", [(label,) for label in labels])
    of = ChainPredictor(stacked(coding, seed))
    done = of.complete(Corpus((full,), "ctb", "character"))
    assert of.words(done[0]).forms == to_words(sentence.forms, labels)[0]
    assert of.words(done[0]).layers["ctb"] == tuple((tag,) for tag in to_words(sentence.forms, labels)[1])


def test_evidence_that_fits_no_text_is_an_error_with_a_location() -> None:
    impossible = LONG.with_layer("ctb", [("B-N",), ("B-V",), *[None] * 8])
    with pytest.raises(CorpusError, match=r"text:7.*labels that exclude one another"):
        ChainPredictor(stacked()).complete(Corpus((impossible,), "ctb", "character"))


def test_probabilities_and_the_best_sequences_are_those_of_the_pieces() -> None:
    of = ChainPredictor(stacked())
    layer = (None, ("E-N", "E-V"), *[None] * 8)
    given = LONG.with_layer("ctb", layer)
    (cut,) = of.tokens([given], "ctb")
    (table,) = of.probabilities([given], "ctb")
    assert len(table) == len(cut) and cut.forms[0] in ("a", "ab")
    np.testing.assert_allclose(table.sum(axis=1), 1)
    best = of.k_best(given, 3, "ctb")
    (done,) = of.complete(Corpus((given,), "ctb", "character"))
    assert best[0].labels == tuple(each[0] for each in done.layers["ctb"] if each)
    assert len(best[0].labels) == len(cut)


def test_another_name_of_the_evidence_changes_nothing() -> None:
    of = ChainPredictor(stacked())
    layer = (None, ("E-N",), *[None] * 8)
    mine = of.complete(Corpus((LONG.with_layer("mine", layer),), "mine", "character"))
    own = of.complete(Corpus((LONG.with_layer("ctb", layer),), "ctb", "character"))
    assert mine[0].layers["mine"] == own[0].layers["ctb"]
    assert mine[0].forms == own[0].forms


# Training text


def cut_for_training(labels: list[str], taggers: list[str], text: str = "abcdabcd") -> tuple[tuple[str, ...], Any]:
    text = text[: len(labels)]
    sentence = Sentence(tuple(text), {"ctb": tuple((label,) for label in labels)})
    cut = encoder_of(stacked()).cut_for_training(sentence, taggers, "ctb")
    return cut.forms, [each and each[0] for each in cut.layers["ctb"]]


@pytest.mark.parametrize(
    ("gold", "taggers", "forms", "labels"),
    [
        ("SBEBES", ["SSBESS", "SSBESS"], ("a", "b", "cd", "a", "b"), ["S", None, None, None, "S"]),  # ends within one
        ("BMESBE", ["BMESBE", "SBESBE"], ("a", "bc", "d", "ab"), ["B", "E", "S", "S"]),
    ],
)
def test_only_pieces_within_words_have_labels(
    gold: str, taggers: list[str], forms: tuple[str, ...], labels: list[str | None]
) -> None:
    assert cut_for_training(list(gold), taggers) == (forms, labels)


def test_nothing_known_stays_so_in_training() -> None:
    cut = encoder_of(stacked()).cut_for_training(LONG, ["BMMMMMMMME", "BMMMESSSSS"], "ctb")
    assert cut.layers["ctb"] == (None,) * len(cut)
    assert cut.forms == ("abcda", "b", "d", "c", "b", "a")


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_training_never_contradicts_the_annotation(data: st.DataObject) -> None:
    """What a piece is said to be is true of the gold words, and gold words without a clash say what they are."""
    lengths = st.lists(st.integers(1, 3), min_size=1, max_size=5)
    gold = [letter for length in data.draw(lengths) for letter in {1: "S", 2: "BE", 3: "BME"}[length]]
    other = [letter for length in data.draw(lengths) for letter in {1: "S", 2: "BE", 3: "BME"}[length]]
    other = (other + ["S"] * len(gold))[: len(gold)]
    forms, labels = cut_for_training(gold, ["".join(other), "".join(other)], "abcdefghijklmno")
    at, true_ends = 0, ends(to_words(["x"] * len(gold), gold)[0])
    for form, label in zip(forms, labels, strict=True):
        inside = {end for end in true_ends if at < end < at + len(form)}
        if inside:
            assert label is None
        elif label is not None:
            assert (label in "ES") == (at + len(form) in true_ends)
            assert (label in "BS") == (at == 0 or at in true_ends)
        at += len(form)


# Files


DAMAGE: dict[str, Any] = {
    "another guideline": lambda taggers: taggers[0]["space"]["views"][0].update(guideline="other"),
    "one tagger": lambda taggers: taggers.pop(),
    "twice the same": lambda taggers: taggers.__setitem__(1, taggers[0]),
    "another coding": lambda taggers: taggers[1].update(coding="BI"),
    "of words": lambda taggers: [each.update(coding="") for each in taggers],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_parts_that_do_not_fit_are_refused(damage: str, tmp_path: Path) -> None:
    save_model(stacked(), tmp_path / "m")
    description, arrays = parts(tmp_path / "m")
    DAMAGE[damage](description["encoder"]["taggers"])
    rewrite(tmp_path / "m", description, arrays)
    with pytest.raises(ModelFileError, match="whose parts do not fit"):
        load_model(tmp_path / "m")


def test_taggers_of_pieces_are_refused() -> None:
    with pytest.raises(ValueError, match="taggers of words, of pieces"):
        PieceEncoder(TemplateEncoder(Templates(("form[0]",))), [stacked(), tagger("pd")])


@pytest.mark.parametrize("guidelines", [(), ("ctb", "ctb")])
def test_taggers_are_each_of_their_own_guideline(guidelines: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="expected one or more, each of its own guideline"):
        PieceEncoder(TemplateEncoder(Templates(("form[0]",))), [tagger(name) for name in guidelines])
