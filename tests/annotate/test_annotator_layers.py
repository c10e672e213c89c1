"""What each annotator said, as a layer for each."""

from __future__ import annotations

import pytest
from fixture_types import OpenStore
from made_spans import ADA, LONDON, all_of, answered, furnished, some
from made_spans import GUIDELINE as SPANS
from made_tasks import GUIDELINE, JJ, NN, VV, hire, make_task, undo

from tagweave.annotate.aggregation import Settings
from tagweave.annotate.export import said_by_each
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, Purpose
from tagweave.errors import CorpusError


def _labels_in(store: Store) -> None:
    store.add_labels(GUIDELINE, {"NN": "", "VV": "", "JJ": ""})


def test_everybody_has_a_layer_whether_they_agree_or_not(open_store: OpenStore) -> None:
    store = open_store()
    _labels_in(store)
    store.add_tasks([make_task(1)])
    for annotator, answer in zip(hire(store, 3), (NN, VV, CANNOT_TELL), strict=True):
        assert store.claim(annotator)
        store.answer(annotator, 1, answer)
    (sentence,) = said_by_each(store.judgements(), GUIDELINE)
    assert sentence.layers == {
        "annotator_0": (("NN",), None),
        "annotator_1": (("VV",), None),
        "annotator_2": (None, None),
    }
    assert not len(said_by_each(store.judgements(), "pd"))


def test_only_the_answer_that_stands_counts(open_store: OpenStore) -> None:
    store = open_store()
    _labels_in(store)
    store.add_tasks([make_task(1)])
    (annotator,) = hire(store, 1)
    assert store.claim(annotator)
    store.answer(annotator, 1, NN)
    undo(store, annotator)
    assert not len(said_by_each(store.judgements(), GUIDELINE))
    store.answer(annotator, 1, JJ)
    assert said_by_each(store.judgements(), GUIDELINE)[0].layers["annotator_0"] == (("JJ",), None)


def test_planted_gold_is_a_layer(open_store: OpenStore) -> None:
    store = open_store(settings=Settings(gold_share=1.0))
    _labels_in(store)
    store.add_tasks([make_task(1, Purpose.GOLD, VV)])
    (annotator,) = hire(store, 1)
    assert store.claim(annotator)
    store.answer(annotator, 1, NN)
    layers = said_by_each(store.judgements(), GUIDELINE)[0].layers
    assert layers == {"annotator_0": (("NN",), None), "gold": (("VV",), None)}


def test_spans_are_labels_in_iob2_and_what_was_left_open_is_unknown(open_store: OpenStore) -> None:
    store = answered(furnished(open_store()), all_of(ADA), some(LONDON))
    (sentence,) = said_by_each(store.judgements(), SPANS)
    outside, unknown = ("O",), None
    assert sentence.layers["annotator_0"] == (("B-PER",), ("I-PER",), *[outside] * 5)
    assert sentence.layers["annotator_1"] == (*[unknown] * 5, ("B-LOC",), unknown)


def test_names_that_would_be_one_are_refused(open_store: OpenStore) -> None:
    store = open_store()
    _labels_in(store)
    store.add_tasks([make_task(1)])
    for name in ("Ann Bell", "Ann_Bell"):
        annotator = store.add_annotator(name).id
        assert store.claim(annotator)
        store.answer(annotator, 1, NN)
    with pytest.raises(CorpusError, match="found an annotator 'Ann_Bell'"):
        said_by_each(store.judgements(), GUIDELINE)
