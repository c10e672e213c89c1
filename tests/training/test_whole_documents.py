"""Models that look at whole documents: names that one sentence explains, and another only repeats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tagweave as tw
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Iteration, Silence
from tagweave.models.cascades import DocumentEncoder
from tagweave.streams import inputs
from tagweave.training.cascades.jackknife import members

NAMES = ("Kim", "Ray", "Lee", "Day", "Fox", "Gil", "Ona", "Bly")


def document(name: str, kind: str) -> list[Sentence]:
    """Two sentences; the first one tells what the name of the second is."""
    before = "Mr." if kind == "PER" else "in"
    texts = [("we", "met", before, name, "."), ("then", name, "won", ".")]
    sentences = [
        Sentence(forms, {"tag": tuple((f"B-{kind}" if form == name else "O",) for form in forms)}) for forms in texts
    ]
    return [replace(sentences[0], comments=("-DOCSTART- O",)), sentences[1]]


def corpus(names: tuple[str, ...]) -> Corpus:
    kinds = ("PER", "LOC")
    documents = [document(name, kinds[(at + again) % 2]) for again in range(4) for at, name in enumerate(names)]
    return Corpus(tuple(sentence for pair in documents for sentence in pair), "tag")


TRAIN, DEV = corpus(NAMES[:5]), corpus(NAMES[5:])
BARE = [sentence.with_layers_of([]) for sentence in DEV]


def train(**options: object) -> tw.Model:
    return tw.train(TRAIN, dev=DEV, task="spans", iterations=12, average_seeds=1, callback=Silence(), **options)


def labels(model: tw.Model, sentences: list[Sentence]) -> list[tuple[object, ...]]:
    return [tagged.layers["tag"] for tagged in model.under().tag(sentences)]


def test_a_name_is_what_it_is_elsewhere_in_the_document(tmp_path: Path) -> None:
    gold = [sentence.layers["tag"] for sentence in DEV]
    assert labels(train(documents=False), BARE) != gold
    model = train()
    assert isinstance(model.trained.encoder, DocumentEncoder)
    assert labels(model, BARE) == gold
    model.save(tmp_path / "m.model")
    loaded = tw.load_model(tmp_path / "m.model")
    assert labels(loaded, BARE) == gold
    assert labels(loaded, BARE[:1] + BARE[3:4]) != [gold[0], gold[3]]  # of another document


def test_gold_labels_do_not_leak_into_the_first_pass() -> None:
    model = train(documents=True)
    wrong = [sentence.with_layer("tag", [("B-LOC",)] * len(sentence)) for sentence in BARE]
    encoder = model.trained.encoder
    assert (encoder.encode(wrong).grams == encoder.encode(BARE).grams).all()


def test_folds_have_whole_documents() -> None:
    folds = members([TRAIN, DEV], 3, 0, whole_documents=True)
    assert sorted(member for fold in folds for member in fold) == sorted(
        member for fold in members([TRAIN, DEV], 3, 0) for member in fold
    )
    for fold in folds:
        assert all((member.sentence % 2 == 0) == ((member.corpus, member.sentence + 1) in fold) for member in fold[::2])


def test_running_text_without_documents_is_left_alone() -> None:
    bare = TRAIN.with_sentences(replace(sentence, comments=()) for sentence in TRAIN)
    model = tw.train(bare, task="spans", iterations=2, average_seeds=1, callback=Silence())
    assert not isinstance(model.trained.encoder, DocumentEncoder)


class WithoutDocuments(Silence):
    """Presses Ctrl-C in the second pass."""

    def iteration(self, iteration: Iteration, limit: int) -> None:
        if iteration.phase == "documents":
            raise KeyboardInterrupt


def test_stopped_in_the_second_pass() -> None:
    stopped = tw.train(TRAIN, dev=DEV, task="spans", iterations=12, average_seeds=1, callback=WithoutDocuments())
    assert not isinstance(stopped.trained.encoder, DocumentEncoder)
    assert labels(stopped, BARE) == labels(train(documents=False), BARE)


def test_a_file_is_labelled_by_whole_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many sentences are read at a time."""
    monkeypatch.setattr(inputs, "_BLOCK", 3)
    rows = ["".join(f"{form}\n" for form in sentence.forms) for sentence in BARE]
    marks = ["-DOCSTART-\n\n" if sentence.comments else "" for sentence in BARE]
    (tmp_path / "t.col").write_text("\n".join(map("".join, zip(marks, rows, strict=True))), encoding="utf-8")
    train().label_file(tmp_path / "t.col", tmp_path / "out.col", format="columns")
    labelled = tw.load(tmp_path / "out.col")
    assert [sentence.layers["tag"] for sentence in labelled] == [sentence.layers["tag"] for sentence in DEV]
