"""Spans by the commands: questions from a corpus or a model, answers, evidence, and the next model."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from model_files import write

from reproductions.lab.simulated_annotators import Simulated, StoreDesk, even, work_all
from tagweave.annotate import retraining
from tagweave.annotate.export import evidence
from tagweave.annotate.serving import retraining_of
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Answer, Asks, Purpose, Status, marked
from tagweave.corpus.load import load
from tagweave.front.loading import load_model

Run = Any
KNOWN = ("Ada|B-PER saw|O London|B-LOC", "Alan|B-PER met|O Ada|B-PER Lovelace|I-PER", "in|O Paris|B-LOC it|O rains|O")
NEW = ("Grace|B-PER saw|O Paris|B-LOC", "Ada|B-PER met|O Grace|B-PER Hopper|I-PER", "in|O Rome|B-LOC it|O rains|O")


def rows(sentences: tuple[str, ...], known: bool = True) -> list[str]:
    """Sentences in columns: form, class, tag."""
    found = []
    for sentence in sentences:
        for token in sentence.split():
            form, tag = token.split("|")
            found.append(f"{form}\t{'upper' if form.istitle() else 'lower'}\t{tag if known else '_'}")
        found.append("")
    return found


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write(tmp_path / "known.conll", rows(KNOWN * 3))
    write(tmp_path / "new.conll", rows(NEW))
    write(tmp_path / "open.conll", rows(NEW, known=False))
    return tmp_path


def people(store: Store, gold: Path) -> int:
    """Two people answer everything right; how many answers."""
    right = {each.location.line: each.spans("tag") for each in load(str(gold))}

    def answer(task: AnnotationTask) -> Answer:
        return marked(group[0] for group in right[task.sentence.location.line])

    hired = [store.add_annotator(name).id for name in ("bo", "cy")]
    return work_all([Simulated(StoreDesk(store, each), answer, even(1.0), each) for each in hired])


def test_a_model_asks_and_the_next_one_learns(run: Run, files: Path) -> None:
    url, first = f"sqlite:///{files}/answers.db", files / "first.model"
    run("train", f"ner={files / 'known.conll'}", "--task", "spans", "-o", first, "--iterations", 3)
    told = run("annotate", "import", files / "open.conll", "--store", url, "--model", first, "--share", 1)
    assert told.stderr == "3 new tasks from 3 sentences\n"
    store = Store.open(url)
    assert store.labels("ner") == {"LOC": "", "PER": ""}
    assert {each.task.asks for each in store.tasks(Status.OPEN)} == {Asks.SPANS}
    assert people(store, files / "new.conll") == 6
    tagger = load_model(str(first), 1).under(())
    plan = retraining_of(url, str(first), tagger, [str(files / "known.conll")], str(files / "models"), print)
    plan = replace(plan, dev=str(files / "new.conll"), corpus=str(files / "more.conll"), share=1.0)
    write(files / "more.conll", rows(("Grace|B-PER sings|O", "Hopper|B-PER rains|O"), known=False))
    model = retraining.retrain(store, plan)
    assert model is not None
    assert model.accuracy == 1.0  # F of spans, of sentences that were answered
    assert len(store.tasks(Status.OPEN)) == 2
    learned = evidence(store, "ner", "spans")[0]
    assert (learned.forms, learned.columns) == (("Grace", "saw", "Paris"), {"column2": ("upper", "lower", "upper")})
    assert learned.layers == {"ner": (("B-PER",), ("O",), ("B-LOC",))}
    run("tag", "--retag", model.path, files / "new.conll", "-o", files / "out.conll")
    store.close()


def test_a_model_lists_what_to_ask_for_other_tools(run: Run, files: Path) -> None:
    model, text = files / "first.model", files / "raw.txt"
    write(files / "train.conll", [row.replace("upper\t", "").replace("lower\t", "") for row in rows(KNOWN * 3)])
    run("train", f"ner={files / 'train.conll'}", "--task", "spans", "-o", model, "--iterations", 3)
    write(text, ["Grace Hopper saw Paris.", "It rains in Paris, Ada."])
    words = ("annotate", "rank", text, "--model", model, "--share", 1)
    told = run(*words)
    titles, *listed = [line.split("\t") for line in told.stdout.splitlines()]
    assert titles == ["score", "line", "first", "last", "candidates", "sentence"]
    assert told.stderr.endswith("2 tasks from 2 sentences\n")
    assert [float(row[0]) for row in listed] == sorted((float(row[0]) for row in listed), reverse=True)
    assert {row[5] for row in listed} == {"Grace Hopper saw Paris .", "It rains in Paris , Ada ."}  # cut into words
    assert all(re.search(r"Paris/LOC [01]\.\d+", row[4]) for row in listed)
    run(*words, "-o", files / "tasks.jsonl", "--output-format", "doccano")
    tasks = [json.loads(line) for line in (files / "tasks.jsonl").read_text("utf-8").splitlines()]
    assert [str(task["id"]) for task in tasks] == [row[1] for row in listed]
    run(*words, "-o", files / "tasks.json", "--output-format", "label-studio")
    proposed = json.loads((files / "tasks.json").read_text("utf-8"))
    assert [task["data"]["text"] for task in proposed] == [task["text"] for task in tasks]  # as it was written
    spans = [[each["score"] for each in task["predictions"][0]["result"]] for task in proposed]
    assert [len(row[4].split("; ")) for row in listed] == [*map(len, spans)] == [len(each["label"]) for each in tasks]
    assert all(f" {score}" in row[4] for row, scores in zip(listed, spans, strict=True) for score in scores)
    assert run(*words, "--share", 0, "-o", files / "none.tsv", code=2).stderr.endswith("none.tsv is not written\n")
    assert not (files / "none.tsv").exists()
    assert "expected one of tsv, label-studio" in run(*words, "--output-format", "brat", code=2).stderr


def test_a_corpus_asks_and_its_answers_are_exported(run: Run, files: Path) -> None:
    url = f"sqlite:///{files}/answers.db"
    some = [row.replace("\tI-PER", "\t_").replace("\tO", "\t_") for row in rows(NEW)]
    write(files / "some.conll", some)
    told = run("annotate", "import", f"ner={files / 'some.conll'}", "--store", url, "--spans")
    assert told.stderr == "3 new tasks from 3 sentences\n"
    store = Store.open(url)
    assert [each.task.candidates[0].label for each in store.tasks(Status.OPEN)] == ["PER", "PER", "LOC"]
    people(store, files / "new.conll")
    store.close()
    run("annotate", "export", "--store", url, "--guideline", "ner", "-o", files / "answers.iob")
    answers, gold = load(f"{files / 'answers.iob'}#ner"), load(str(files / "new.conll"))
    assert [each.layers["ner"] for each in answers] == [each.layers["tag"] for each in gold]


@pytest.mark.parametrize("purpose", ["gold", "training"])
def test_known_sentences_are_gold(run: Run, files: Path, purpose: str) -> None:
    url = f"sqlite:///{files}/answers.db"
    words = ("--store", url, "--spans", "--as", purpose, "--number", 2)
    run("annotate", "import", f"ner={files / 'new.conll'}", *words)
    found = Store.open(url).tasks(Status.OPEN, Purpose(purpose))
    assert len(found) == 2
    assert all(each.task.gold and each.task.gold.is_complete for each in found)


def test_a_model_says_itself_what_to_ask(run: Run, files: Path) -> None:
    words = ("--store", f"sqlite:///{files}/a.db", "--spans", "--model", "any")
    assert "found --spans and --model" in run("annotate", "import", files / "new.conll", *words, code=2).stderr
