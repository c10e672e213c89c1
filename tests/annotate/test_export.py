"""What annotators said, written and read again: decided, by annotator, as single judgements."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_tasks import CANDIDATES, GUIDELINE, JJ, NN, VV, Clock, OpenStore, hire, make_task, undo

from tagweave.annotate.export import FORMATS, judgements, labelled, said_by_each, segmented, write
from tagweave.annotate.rules import Admission, Settings
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, WORD, AnnotationTask, Answer, Purpose, Status
from tagweave.corpus.formats import kytea
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import CorpusError

WORDS = Sentence(("a", "bb", "c"), location=Location("raw.txt", 2))
OTHER = Sentence(("dd", "e"), location=Location("raw.txt", 1))
CHARACTERS = Sentence(tuple("abcde"), location=Location("raw.txt", 1))


def asked(sentence: Sentence, start: int, stop: int | None = None, purpose: Purpose = Purpose.REAL) -> AnnotationTask:
    candidates = () if purpose is Purpose.CONCORDANCE else CANDIDATES
    return AnnotationTask(sentence, start, stop or start + 1, GUIDELINE, candidates, purpose=purpose)


def word(*span: int) -> AnnotationTask:
    return asked(CHARACTERS, *span, Purpose.CONCORDANCE)


def decided(store: Store, *answers: tuple[AnnotationTask, Answer]) -> Store:
    """A curator decides on tasks."""
    curator = store.add_annotator("curator", "curator").id
    store.add_labels(GUIDELINE, {"NN": "", "VV": "", "JJ": "", "a/b|c": "", "_": ""})
    store.add_tasks([task for task, _ in answers])
    for number, (_, answer) in enumerate(answers, 1):
        store.adjudicate(curator, number, answer)
    return store


def disputed(store: Store, answers: Sequence[Answer], task: AnnotationTask) -> Store:
    """Annotators answer one after the other."""
    store.add_labels(GUIDELINE, {"NN": "", "VV": "", "JJ": ""})
    store.add_tasks([task])
    for annotator, answer in zip(hire(store, len(answers)), answers, strict=True):
        assert store.claim(annotator) is not None
        store.answer(annotator, 1, answer)
    return store


class TestLabels:
    def test_what_was_decided_is_known_and_the_rest_is_not(self, open_store: OpenStore) -> None:
        store = decided(open_store(), (asked(WORDS, 2), VV), (asked(OTHER, 0), NN), (asked(WORDS, 0), JJ))
        corpus = labelled(store, GUIDELINE)
        assert [(each.forms, each.layers) for each in corpus] == [
            (OTHER.forms, {GUIDELINE: (("NN",), None)}),
            (WORDS.forms, {GUIDELINE: (("JJ",), None, ("VV",))}),
        ]
        assert (corpus.guideline, corpus.unit) == (GUIDELINE, "word")
        assert len(labelled(store, "pd")) == 0

    @pytest.mark.parametrize("answer", [CANNOT_TELL, NOT_A_WORD])
    def test_other_answers_tell_nothing_of_labels(self, open_store: OpenStore, answer: Answer) -> None:
        assert len(labelled(decided(open_store(), (asked(WORDS, 0), answer)), GUIDELINE)) == 0

    def test_what_the_sentence_told_before_stays_and_may_be_overruled(self, open_store: OpenStore) -> None:
        before = WORDS.with_layer(GUIDELINE, [("P",), ("NN", "VV"), None]).with_layer("pd", [("n",), None, None])
        store = decided(open_store(), (asked(before.with_column("lemma", "xyz"), 1), NN))
        (found,) = labelled(store, GUIDELINE)
        assert found.layers == {"pd": (("n",), None, None), GUIDELINE: (("P",), ("NN",), None)}
        assert found.columns == {"lemma": ("x", "y", "z")}

    @pytest.mark.parametrize(
        ("answers", "labels"),
        [
            ([NN, VV, NN, VV], ("NN", "VV")),
            ([NN, VV, JJ, VV], ("NN", "VV", "JJ")),
            ([NN, VV, CANNOT_TELL, VV], None),
            ([NN, NOT_A_WORD, VV, VV], None),
            ([CANNOT_TELL, CANNOT_TELL], None),
        ],
    )
    def test_who_differs_to_the_end_leaves_candidates(
        self, open_store: OpenStore, answers: list[Answer], labels: tuple[str, ...] | None
    ) -> None:
        store = disputed(open_store(), answers, asked(WORDS, 1))
        assert store.task(1).status is Status.DROPPED
        assert len(labelled(store, GUIDELINE)) == 0
        found = [each.layers[GUIDELINE] for each in labelled(store, GUIDELINE, ambiguous=True)]
        assert found == ([(None, labels, None)] if labels else [])
        store.adjudicate(store.add_annotator("curator", "curator").id, 1, JJ)
        assert labelled(store, GUIDELINE, ambiguous=True)[0].layers[GUIDELINE] == (None, ("JJ",), None)


class TestWords:
    def test_a_marked_word_settles_its_boundaries(self, open_store: OpenStore) -> None:
        text = io.StringIO()
        kytea.write(segmented(decided(open_store(), (word(1, 3), WORD)), GUIDELINE), text)
        assert text.getvalue() == "a|b-c|d e\n"
        assert len(segmented(decided(open_store(), (word(1, 3), NOT_A_WORD)), GUIDELINE)) == 0

    def test_of_words_that_overlap_none_is_believed(self, open_store: OpenStore) -> None:
        store = decided(open_store(), *((word(*span), WORD) for span in ((0, 2), (1, 3), (4, 5))))
        segmentation = segmented(store, GUIDELINE)[0].layers["segmentation"]
        assert segmentation == (("B", "S"), None, None, ("E", "S"), ("S",))

    @pytest.mark.parametrize("name", ["NN", "a/b|c"])
    def test_a_label_of_a_span_is_the_tag_of_a_word(self, open_store: OpenStore, tmp_path: Path, name: str) -> None:
        store = decided(open_store(), (asked(CHARACTERS, 1, 3), Answer(NN.kind, name)), (word(3, 4), WORD))
        (sentence,) = segmented(store, GUIDELINE)
        assert sentence.layers["tag"] == (None, (name,), (name,), None, None)
        write(store, str(tmp_path / "out.kytea"), "kytea", GUIDELINE)
        assert load(str(tmp_path / "out.kytea"))[0].layers == sentence.layers


class TestFiles:
    def test_conllu_is_read_as_it_was(self, open_store: OpenStore, tmp_path: Path) -> None:
        store, path = disputed(open_store(), [NN, VV, NN, VV], asked(WORDS, 1)), tmp_path / "out.conllu"
        store.add_tasks([asked(WORDS, 2)])
        store.adjudicate(store.add_annotator("curator", "curator").id, 2, VV)
        assert write(store, str(path), "conllu", GUIDELINE, ambiguous=True) == 1
        assert "AltXpos=NN/VV" in path.read_text(encoding="utf-8")
        corpus = load(str(path))
        assert corpus.guideline == GUIDELINE
        assert corpus[0].layers[GUIDELINE] == (None, ("NN", "VV"), ("VV",))

    def test_beside_upos(self, open_store: OpenStore, tmp_path: Path) -> None:
        path = str(tmp_path / "out.conllu")
        store = decided(open_store(), (asked(WORDS.with_layer("upos", [("X",), None, None]), 1), NN))
        write(store, path, "conllu", GUIDELINE)
        corpus = load(f"{GUIDELINE}={path}#xpos")
        assert corpus[0].layers == {"upos": (("X",), None, None), GUIDELINE: (None, ("NN",), None)}

    @pytest.mark.parametrize("guideline", ["upos", "xpos"])
    def test_guidelines_that_conllu_has_a_place_for(
        self, open_store: OpenStore, tmp_path: Path, guideline: str
    ) -> None:
        path = str(tmp_path / "out.conllu")
        write(
            decided(open_store(), (AnnotationTask(WORDS, 0, 1, guideline, CANDIDATES), NN)), path, "conllu", guideline
        )
        corpus = load(path)
        assert (corpus.guideline, corpus[0].layers[guideline]) == (guideline, (("NN",), None, None))

    def test_a_label_that_conllu_has_another_use_for_stops_nothing(self, open_store: OpenStore, tmp_path: Path) -> None:
        store = decided(open_store(), (asked(WORDS, 0), Answer(NN.kind, "_")), (asked(OTHER, 1), VV))
        path = str(tmp_path / "out.conllu")
        assert write(store, path, "conllu", GUIDELINE) == 2
        assert [each.layers[GUIDELINE] for each in load(path)] == [(None, ("VV",)), (("_",), None, None)]

    @pytest.mark.parametrize(
        ("form", "error"),
        [("kytea", "forms of one character"), ("xml", "expected one of conllu, columns, kytea, jsonl")],
    )
    def test_formats_that_cannot_be(self, open_store: OpenStore, tmp_path: Path, form: str, error: str) -> None:
        store = decided(open_store(), (asked(WORDS, 1), NN))
        with pytest.raises((CorpusError, ValueError), match=error):
            write(store, str(tmp_path / "out"), form, GUIDELINE)
        assert not list(tmp_path.glob("out*"))

    @pytest.mark.parametrize("form", FORMATS)
    def test_an_empty_store_is_no_file(self, open_store: OpenStore, tmp_path: Path, form: str) -> None:
        assert write(open_store(), str(tmp_path / "out"), form, GUIDELINE) == 0
        assert not list(tmp_path.glob("out*"))


class TestJudgements:
    def test_every_judgement_is_a_line(self, open_store: OpenStore, tmp_path: Path) -> None:
        clock = Clock()
        store = disputed(open_store(clock=clock), [NN, VV], asked(WORDS, 1))
        clock.now += 1.5
        undo(store, 1)
        assert write(store, str(tmp_path / "out"), "jsonl", GUIDELINE) == 3
        lines = [json.loads(line) for line in (tmp_path / "out").read_text(encoding="utf-8").splitlines()]
        assert [(line["annotator"], line["label"], line["withdrawn"], line["revision"]) for line in lines] == [
            ("annotator 0", "NN", False, 0),
            ("annotator 1", "VV", False, 0),
            ("annotator 0", "NN", True, 1),
        ]
        first = lines[0]
        assert (first["forms"], first["start"], first["stop"]) == (["a", "bb", "c"], 1, 2)
        assert (first["path"], first["line"], first["guideline"], first["purpose"]) == ("raw.txt", 2, "ctb", "real")
        assert first["candidates"][0] == {"label": "NN", "probability": 0.5}
        assert (first["kind"], first["slot"], first["model"], first["gold"]) == ("label", 0, None, None)
        assert lines[2]["ended"] == "1970-01-01T00:16:41.500+00:00"

    def test_what_became_of_the_task_is_told(self, open_store: OpenStore) -> None:
        store = disputed(open_store(), [NN, VV, NN, VV], asked(WORDS, 1))
        exported = [json.loads(line) for line in judgements(store.judgements())]
        assert [(line["status"], line["outcome"]) for line in exported] == [("dropped", None)] * 4
        store.adjudicate(store.add_annotator("c", "curator").id, 1, NOT_A_WORD)
        line = json.loads(next(judgements(store.judgements())))
        assert (line["status"], line["outcome"]) == ("adjudicated", {"kind": "not a word", "label": None})

    def test_gold_is_told(self, open_store: OpenStore) -> None:
        task = AnnotationTask(WORDS, 0, 1, GUIDELINE, CANDIDATES, purpose=Purpose.TRAINING, gold=VV)
        store = disputed(open_store(Settings(admission=Admission())), [NN], task)
        line = json.loads(next(judgements(store.judgements())))
        assert (line["purpose"], line["gold"]) == ("training", {"kind": "label", "label": "VV"})


class TestByAnnotator:
    def test_everybody_has_a_layer_whether_they_agree_or_not(self, open_store: OpenStore) -> None:
        store = disputed(open_store(), [NN, VV, CANNOT_TELL], make_task(1))
        (sentence,) = said_by_each(store.judgements(), GUIDELINE)
        assert sentence.layers == {
            "annotator_0": (("NN",), None),
            "annotator_1": (("VV",), None),
            "annotator_2": (None, None),
        }
        assert not len(said_by_each(store.judgements(), "pd"))

    def test_only_the_answer_that_stands_counts(self, open_store: OpenStore) -> None:
        store = disputed(open_store(), [NN], make_task(1))
        undo(store, 1)
        assert not len(said_by_each(store.judgements(), GUIDELINE))
        store.answer(1, 1, JJ)
        assert said_by_each(store.judgements(), GUIDELINE)[0].layers["annotator_0"] == (("JJ",), None)

    def test_planted_gold_is_a_layer(self, open_store: OpenStore) -> None:
        store = disputed(open_store(Settings(gold_share=1.0)), [NN], make_task(1, Purpose.GOLD, VV))
        layers = said_by_each(store.judgements(), GUIDELINE)[0].layers
        assert layers == {"annotator_0": (("NN",), None), "gold": (("VV",), None)}

    def test_names_that_would_be_one_are_refused(self, store: Store) -> None:
        store.add_tasks([make_task(1)])
        for name in ("Ann Bell", "Ann_Bell"):
            annotator = store.add_annotator(name).id
            assert store.claim(annotator)
            store.answer(annotator, 1, NN)
        with pytest.raises(CorpusError, match="found an annotator 'Ann_Bell'"):
            said_by_each(store.judgements(), GUIDELINE)
