"""Sentences become questions, and lines of a file become labels with notes."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_tasks import GUIDELINE, OpenStore

from tagweave.annotate.intake import put_ambiguous, put_known, put_notes, put_uncertain, read_notes
from tagweave.annotate.selection import least_certain
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Candidate, Purpose, Status, label
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError
from tagweave.models.chain_predictor import ChainPredictor

CTB = load(str(sample.path("ctb.txt")), unnamed="ctb")
GOLD = CTB.with_sentences(CTB.sentences[80:100])
RAW = GOLD.map(lambda sentence: Sentence(sentence.forms, location=sentence.location))


def asked(store: Store, purpose: Purpose = Purpose.REAL) -> list[AnnotationTask]:
    return [each.task for each in store.tasks(Status.OPEN, purpose, limit=10_000)]


def gold(task: AnnotationTask) -> str | None:
    """The label of a task's focus in the sample."""
    sentence = next(each for each in GOLD if each.location == task.sentence.location)
    candidates = sentence.layers["ctb"][task.start]
    return candidates[0] if candidates else None


class TestUncertain:
    def test_the_least_certain_fifth_is_asked(self, store: Store, tagger: ChainPredictor) -> None:
        version = store.add_model("m", 0, 0)
        assert put_uncertain(store, RAW, tagger, model=version) == round(0.2 * RAW.tokens())
        found = least_certain(tagger, RAW.sentences)
        best = sorted(task.candidates[0].probability for task in asked(store))
        assert best == pytest.approx((1 - found.uncertainty).tolist(), abs=1e-4)
        assert {task.model for task in asked(store)} == {version}
        assert store.labels("ctb") == dict.fromkeys(tagger.labels, "")

    def test_nothing_is_asked_twice(self, store: Store, tagger: ChainPredictor) -> None:
        first = put_uncertain(store, RAW, tagger, 0.1)
        assert put_uncertain(store, RAW, tagger, 0.1) == 0
        assert put_uncertain(store, RAW, tagger, 0.3) == round(0.3 * RAW.tokens()) - first

    def test_what_is_known_is_not_asked(self, open_store: OpenStore, tagger: ChainPredictor) -> None:
        assert put_uncertain(open_store(), GOLD, tagger, 1.0) == 0


class TestAmbiguous:
    def test_candidates_are_what_is_allowed(self, store: Store) -> None:
        sentence = Sentence(("a", "b", "c"), {"ctb": (("NN", "VV", "JJ", "P"), ("NN",), None)})
        assert put_ambiguous(store, Corpus((sentence, Sentence(("d",))), "ctb")) == 1
        (task,) = asked(store)
        assert (task.start, task.candidates) == (0, tuple(Candidate(name, 0.25) for name in ("NN", "VV", "JJ", "P")))
        assert list(store.labels("ctb")) == ["JJ", "NN", "P", "VV"]


class TestKnown:
    @pytest.mark.parametrize("purpose", [Purpose.GOLD, Purpose.TRAINING])
    def test_gold_is_planted_and_hidden(self, store: Store, tagger: ChainPredictor, purpose: Purpose) -> None:
        assert put_known(store, GOLD, purpose, 30, tagger) == 30
        tasks = asked(store, purpose)
        assert [task.gold for task in tasks] == [label(str(gold(task))) for task in tasks]
        assert all("ctb" not in task.sentence.layers and len(task.candidates) > 1 for task in tasks)

    def test_drawn_among_the_least_certain(self, store: Store, tagger: ChainPredictor) -> None:
        put_known(store, GOLD, Purpose.GOLD, 20, tagger, share=0.2)
        found = least_certain(tagger, RAW.sentences, 0.2)
        hard = {(RAW[s].location, t) for s, t in zip(found.sentence.tolist(), found.position.tolist(), strict=True)}
        places = {(task.sentence.location, task.start) for task in asked(store, Purpose.GOLD)}
        assert len(places) == 20
        assert places <= hard

    def test_without_a_model_there_are_no_candidates(self, store: Store) -> None:
        assert put_known(store, GOLD, Purpose.GOLD, 25) == 25
        tasks = asked(store, Purpose.GOLD)
        assert [task.gold for task in tasks] == [label(str(gold(task))) for task in tasks]
        assert {task.candidates for task in tasks} == {()}

    def test_the_seed_decides(self, store: Store) -> None:
        drawn = []
        for seed in (0, 0, 1):
            put_known(store, GOLD, Purpose.GOLD, 10, seed=seed)
            drawn.append({(task.sentence.location, task.start) for task in asked(store, Purpose.GOLD)})
        assert drawn[0] == drawn[1] != drawn[2]

    def test_unknown_and_ambiguous_tokens_are_no_gold(self, store: Store) -> None:
        sentence = Sentence(("a", "b", "c"), {"ctb": (("NN", "VV"), ("P",), None)})
        assert put_known(store, Corpus((sentence,), "ctb"), Purpose.GOLD, 10) == 1
        assert [task.gold for task in asked(store, Purpose.GOLD)] == [label("P")]

    def test_of_a_part_that_is_known_with_a_model(self, store: Store, tagger: ChainPredictor) -> None:
        part = GOLD.map(lambda s: s.with_layer("ctb", [c if t % 3 else None for t, c in enumerate(s.layers["ctb"])]))
        put_known(store, part, Purpose.GOLD, 40, tagger)
        tasks = asked(store, Purpose.GOLD)
        assert len(tasks) == 40
        assert all(task.start % 3 for task in tasks)
        assert [task.gold for task in tasks] == [label(str(gold(task))) for task in tasks]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "notes.tsv"
    path.write_text("NN\ta thing\n\nVV\n«X»\t <b>odd</b>\ttab \n", "utf-8")
    return path


def test_labels_and_notes_in_order(file: Path) -> None:
    assert list(read_notes(str(file)).items()) == [("NN", "a thing"), ("VV", ""), ("«X»", "<b>odd</b>\ttab")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NN\ta\n\tb\n", "2: found the label '', expected one without blanks"),
        ("a thing\n", "1: found the label 'a thing'"),
        ("NN\na\nNN\tb\n", "3: found the label 'NN' twice"),
        ("\n", "found no labels"),
    ],
)
def test_what_is_no_list_of_labels(file: Path, text: str, message: str) -> None:
    file.write_text(text, "utf-8")
    with pytest.raises(CorpusError, match=message):
        read_notes(str(file))


def test_old_labels_keep_their_place_and_get_the_new_note(store: Store, file: Path) -> None:
    store.add_labels(GUIDELINE, {"VV": "old", "AD": "stays"})
    assert put_notes(store, GUIDELINE, read_notes(str(file))) == 2
    assert list(store.labels(GUIDELINE)) == ["VV", "AD", "NN", "«X»"]
    assert store.labels(GUIDELINE) == {"VV": "", "AD": "stays", "NN": "a thing", "«X»": "<b>odd</b>\ttab"}
    assert put_notes(store, GUIDELINE, read_notes(str(file))) == 0
    assert store.labels("other") == {}
