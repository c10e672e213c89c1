"""Posteriors as soft labels of sentences, in files and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_tasks import CANDIDATES, GUIDELINE, JJ, NN, VV, hire, make_tasks

from tagweave.annotate.export import probable, write_soft
from tagweave.annotate.reliability import Confusions, GivenAnswer, confusions, posterior
from tagweave.annotate.store import Store
from tagweave.annotate.task import NOT_A_WORD
from tagweave.corpus.candidates import Soft
from tagweave.corpus.load import load


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Four tasks: two who agree, two who differ, one that a curator decides, one that is no word; and one unasked."""
    store = Store.open(f"sqlite:///{tmp_path}/answers.db", seed=0)
    store.add_labels(GUIDELINE, {"NN": "", "VV": "", "JJ": ""})
    store.add_tasks(make_tasks(range(4)))
    ada, bob = hire(store, 2)
    said = {1: (NN, NN), 2: (NN, VV), 3: (NN, VV), 4: (NOT_A_WORD, NOT_A_WORD)}
    for who, at in ((ada, 0), (bob, 1)):
        while (lease := store.claim(who)) is not None:
            store.answer(who, lease.task_id, said[lease.task.sentence.location.line][at])
    store.add_tasks(make_tasks([4]))
    return store


@pytest.mark.parametrize("form", ["columns", "conllu"])
def test_every_label_that_is_probable_has_its_probability(store: Store, tmp_path: Path, form: str) -> None:
    curator = store.add_annotator("cur", "curator").id
    store.adjudicate(curator, 3, JJ)
    found = {sentence.location.line: sentence.layers[GUIDELINE][0] for sentence in probable(store, GUIDELINE)}
    assert sorted(found) == [1, 2, 3]
    assert found[3] == ("JJ",)
    people: Confusions = confusions(store.answered())[GUIDELINE]
    for line, answers in ((1, (NN, NN)), (2, (NN, VV))):
        expected = posterior(CANDIDATES, [GivenAnswer(k, answer) for k, answer in enumerate(answers, 1)], people)
        soft = found[line]
        assert isinstance(soft, Soft)
        numbers = {str(a.label): round(p, 4) for a, p in expected.ranked() if round(p, 4)}
        assert dict(zip(soft, soft.numbers, strict=True)) == numbers
        assert soft[0] == "NN"
    path = tmp_path / f"soft.{form}"
    assert write_soft(store, str(path), form, GUIDELINE) == 3
    corpus = load(f"{path}#{GUIDELINE}" if form == "columns" else str(path), form)
    again = [sentence.layers[GUIDELINE][0] for sentence in corpus]
    assert again == [found[1], found[2], found[3]]
