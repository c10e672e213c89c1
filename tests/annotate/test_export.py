"""What annotators said, written and read again."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from fixture_types import OpenStore
from made_tasks import CANDIDATES, GUIDELINE, JJ, NN, VV, Clock, hire, undo

from tagweave.annotate.aggregation import Admission, Settings, Status
from tagweave.annotate.export import FORMATS, judgements, labelled, segmented, write
from tagweave.annotate.store import Store
from tagweave.annotate.task import CANNOT_TELL, NOT_A_WORD, WORD, AnnotationTask, Answer, Purpose
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


def decided(store: Store, answers: Sequence[tuple[AnnotationTask, Answer]]) -> None:
    """A curator decides on tasks."""
    curator = store.add_annotator("curator", "curator").id
    store.add_labels(GUIDELINE, {"NN": "", "VV": "", "JJ": "", "a/b|c": ""})
    store.add_tasks([task for task, _ in answers])
    for number, (_, answer) in enumerate(answers, 1):
        store.adjudicate(curator, number, answer)


def disputed(store: Store, answers: Sequence[Answer], task: AnnotationTask) -> None:
    """Annotators answer one after the other."""
    store.add_labels(GUIDELINE, {"NN": "", "VV": "", "JJ": ""})
    store.add_tasks([task])
    for annotator, answer in zip(hire(store, len(answers)), answers, strict=True):
        assert store.claim(annotator) is not None
        store.answer(annotator, 1, answer)


class TestLabels:
    def test_what_was_decided_is_known_and_the_rest_is_not(self, open_store: OpenStore) -> None:
        store = open_store()
        decided(store, [(asked(WORDS, 2), VV), (asked(OTHER, 0), NN), (asked(WORDS, 0), JJ)])
        corpus = labelled(store, GUIDELINE)
        assert [(each.forms, each.layers) for each in corpus] == [
            (OTHER.forms, {GUIDELINE: (("NN",), None)}),
            (WORDS.forms, {GUIDELINE: (("JJ",), None, ("VV",))}),
        ]
        assert (corpus.guideline, corpus.unit) == (GUIDELINE, "word")

    @pytest.mark.parametrize("answer", [CANNOT_TELL, NOT_A_WORD])
    def test_other_answers_tell_nothing_of_labels(self, open_store: OpenStore, answer: Answer) -> None:
        store = open_store()
        decided(store, [(asked(WORDS, 0), answer)])
        assert len(labelled(store, GUIDELINE)) == 0

    def test_what_the_sentence_told_before_stays_and_may_be_overruled(self, open_store: OpenStore) -> None:
        store = open_store()
        exported = WORDS.with_layer(GUIDELINE, [("P",), ("NN", "VV"), None])
        decided(store, [(asked(exported, 1), NN)])
        assert labelled(store, GUIDELINE)[0].layers == {GUIDELINE: (("P",), ("NN",), None)}

    def test_other_layers_and_columns_stay(self, open_store: OpenStore) -> None:
        store = open_store()
        sentence = WORDS.with_layer("pd", [("n",), None, None]).with_column("lemma", "xyz")
        decided(store, [(asked(sentence, 1), NN)])
        found = labelled(store, GUIDELINE)[0]
        assert found.layers == {"pd": (("n",), None, None), GUIDELINE: (None, ("NN",), None)}
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
        store = open_store()
        disputed(store, answers, asked(WORDS, 1))
        assert store.task(1).status is Status.DROPPED  # type: ignore[union-attr]
        assert len(labelled(store, GUIDELINE)) == 0
        found = [each.layers[GUIDELINE] for each in labelled(store, GUIDELINE, ambiguous=True)]
        assert found == ([(None, labels, None)] if labels else [])

    def test_a_decision_ends_the_dispute(self, open_store: OpenStore) -> None:
        store = open_store()
        disputed(store, [NN, VV, NN, VV], asked(WORDS, 1))
        store.adjudicate(store.add_annotator("curator", "curator").id, 1, JJ)
        assert labelled(store, GUIDELINE, ambiguous=True)[0].layers[GUIDELINE] == (None, ("JJ",), None)


class TestWords:
    def test_a_marked_word_settles_its_boundaries(self, open_store: OpenStore) -> None:
        store = open_store()
        decided(store, [(asked(CHARACTERS, 1, 3, Purpose.CONCORDANCE), WORD)])
        text = io.StringIO()
        kytea.write(segmented(store, GUIDELINE), text)
        assert text.getvalue() == "a|b-c|d e\n"

    def test_not_a_word_says_nothing_of_any_place(self, open_store: OpenStore) -> None:
        store = open_store()
        decided(store, [(asked(CHARACTERS, 1, 3, Purpose.CONCORDANCE), NOT_A_WORD)])
        assert len(segmented(store, GUIDELINE)) == 0

    def test_of_words_that_overlap_none_is_believed(self, open_store: OpenStore) -> None:
        store = open_store()
        spans = [(0, 2), (1, 3), (4, 5)]
        decided(store, [(asked(CHARACTERS, *span, Purpose.CONCORDANCE), WORD) for span in spans])
        segmentation = segmented(store, GUIDELINE)[0].layers["segmentation"]
        assert segmentation == (("B", "S"), None, None, ("E", "S"), ("S",))

    def test_a_label_of_a_span_is_the_tag_of_a_word(self, open_store: OpenStore, tmp_path: Path) -> None:
        store = open_store()
        decided(store, [(asked(CHARACTERS, 1, 3), NN), (asked(CHARACTERS, 3, 4, Purpose.CONCORDANCE), WORD)])
        sentence = segmented(store, GUIDELINE)[0]
        assert sentence.layers["tag"] == (None, ("NN",), ("NN",), None, None)
        write(store, str(tmp_path / "out.kytea"), "kytea", GUIDELINE)
        assert load(str(tmp_path / "out.kytea"))[0].layers == sentence.layers


class TestFiles:
    def test_conllu_is_read_as_it_was(self, open_store: OpenStore, tmp_path: Path) -> None:
        store = open_store()
        disputed(store, [NN, VV, NN, VV], asked(WORDS, 1))
        store.add_tasks([asked(WORDS, 2)])
        store.adjudicate(store.add_annotator("curator", "curator").id, 2, VV)
        path = str(tmp_path / "out.conllu")
        assert write(store, path, "conllu", GUIDELINE, ambiguous=True) == 1
        assert "AltXpos=NN/VV" in Path(path).read_text(encoding="utf-8")
        corpus = load(path)
        assert corpus.guideline == GUIDELINE
        assert corpus[0].layers[GUIDELINE] == (None, ("NN", "VV"), ("VV",))

    def test_beside_upos(self, open_store: OpenStore, tmp_path: Path) -> None:
        store = open_store()
        decided(store, [(asked(WORDS.with_layer("upos", [("X",), None, None]), 1), NN)])
        path = str(tmp_path / "out.conllu")
        write(store, path, "conllu", GUIDELINE)
        corpus = load(f"{GUIDELINE}={path}#xpos")
        assert corpus[0].layers == {"upos": (("X",), None, None), GUIDELINE: (None, ("NN",), None)}

    @pytest.mark.parametrize("guideline", ["upos", "xpos"])
    def test_guidelines_that_conllu_has_a_place_for(
        self, open_store: OpenStore, tmp_path: Path, guideline: str
    ) -> None:
        store = open_store()
        store.add_tasks([AnnotationTask(WORDS, 0, 1, guideline, CANDIDATES)])
        store.adjudicate(store.add_annotator("curator", "curator").id, 1, NN)
        path = str(tmp_path / "out.conllu")
        write(store, path, "conllu", guideline)
        corpus = load(path)
        assert (corpus.guideline, corpus[0].layers[guideline]) == (guideline, (("NN",), None, None))

    def test_a_label_that_conllu_has_another_use_for_stops_nothing(self, open_store: OpenStore, tmp_path: Path) -> None:
        store = open_store()
        store.add_labels(GUIDELINE, {"_": ""})
        decided(store, [(asked(WORDS, 0), Answer(NN.kind, "_")), (asked(OTHER, 1), VV)])
        path = str(tmp_path / "out.conllu")
        assert write(store, path, "conllu", GUIDELINE) == 2
        found = [each.layers[GUIDELINE] for each in load(path)]
        assert found == [(None, ("VV",)), (("_",), None, None)]

    def test_awkward_labels(self, open_store: OpenStore, tmp_path: Path) -> None:
        store = open_store()
        decided(store, [(asked(CHARACTERS, 1, 3), Answer(NN.kind, "a/b|c"))])
        path = str(tmp_path / "out.kytea")
        write(store, path, "kytea", GUIDELINE)
        assert load(path)[0].layers["tag"][1] == ("a/b|c",)

    def test_words_are_no_characters(self, open_store: OpenStore, tmp_path: Path) -> None:
        store = open_store()
        decided(store, [(asked(WORDS, 1), NN)])
        with pytest.raises(CorpusError, match="forms of one character"):
            write(store, str(tmp_path / "out"), "kytea", GUIDELINE)
        assert not list(tmp_path.glob("out*"))

    def test_an_unknown_format(self, open_store: OpenStore, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="unknown format 'xml', expected one of conllu, columns, kytea, jsonl"):
            write(open_store(), str(tmp_path / "out"), "xml", GUIDELINE)

    @pytest.mark.parametrize("form", FORMATS)
    def test_an_empty_store_is_no_file(self, open_store: OpenStore, tmp_path: Path, form: str) -> None:
        assert write(open_store(), str(tmp_path / "out"), form, GUIDELINE) == 0
        assert not list(tmp_path.glob("out*"))


class TestJudgements:
    def test_every_judgement_is_a_line(self, open_store: OpenStore, tmp_path: Path) -> None:
        clock = Clock()
        store = open_store(clock=clock)
        disputed(store, [NN, VV], asked(WORDS, 1))
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
        store = open_store()
        disputed(store, [NN, VV, NN, VV], asked(WORDS, 1))
        exported = [json.loads(line) for line in judgements(store.judgements())]
        assert [(line["status"], line["outcome"]) for line in exported] == [("dropped", None)] * 4
        store.adjudicate(store.add_annotator("c", "curator").id, 1, NOT_A_WORD)
        exported = [json.loads(line) for line in judgements(store.judgements())]
        assert {line["status"] for line in exported} == {"adjudicated"}
        assert exported[0]["outcome"] == {"kind": "not a word", "label": None}

    def test_gold_is_told(self, open_store: OpenStore) -> None:
        store = open_store(Settings(admission=Admission()))
        store.add_tasks([AnnotationTask(WORDS, 0, 1, GUIDELINE, CANDIDATES, purpose=Purpose.TRAINING, gold=VV)])
        (annotator,) = hire(store, 1)
        assert store.claim(annotator) is not None
        store.answer(annotator, 1, NN)
        line = json.loads(next(judgements(store.judgements())))
        assert (line["purpose"], line["gold"]) == ("training", {"kind": "label", "label": "VV"})
