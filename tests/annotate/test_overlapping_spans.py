"""Spans that overlap: asked for by a model of layers or a corpus, drawn in one another, agreed on, and exported."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import Browser, signed_in
from typer.testing import CliRunner

import tagweave as tw
from tagweave.annotate import export
from tagweave.annotate.assignment import RefusedError
from tagweave.annotate.draft import Draft, Piece, SpanStep
from tagweave.annotate.intake import put_known_spans, put_spans, put_uncertain
from tagweave.annotate.rules import Rule, Settings
from tagweave.annotate.selection import ranked, write_tasks
from tagweave.annotate.store import Store
from tagweave.annotate.task import AnnotationTask, Asks, Candidate, Purpose, Status, marked
from tagweave.cli.main import application
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.corpus.spans import Span
from tagweave.learning.run import Silence

DISEASE, GENE, CHEMICAL = Span(1, 3, "Disease"), Span(1, 2, "Gene"), Span(4, 5, "Chemical")
FORMS = ("the", "myc", "gout", "needs", "iron", ".")
GUIDELINE = "Gene+Disease+Chemical"


def text(path: Path, size: int, seed: int) -> Path:
    """Texts in which a gene is a part of a disease."""
    draw = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(size):
            gene, disease, chemical = map(draw.choice, (("p53", "myc"), ("gout", "cancer"), ("zinc", "iron")))
            words = f"the {gene} {disease} needs {chemical}."
            marks = [(gene, "Gene"), (f"{gene} {disease}", "Disease"), (chemical, "Chemical")]
            label = [[words.index(part), words.index(part) + len(part), kind] for part, kind in marks]
            file.write(json.dumps({"text": words, "label": label}) + "\n")
    return path


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("layers")
    options: dict[str, Any] = {"iterations": 4, "average_seeds": 1, "callback": Silence()}
    tw.train(text(folder / "train.jsonl", 40, 0), **options).save(folder / "first.model")
    return tw.load_model(folder / "first.model")


def raw(count: int = 1) -> Corpus:
    return Corpus(tuple(Sentence(FORMS, location=Location("raw.txt", n + 1)) for n in range(count)))


@pytest.fixture
def store(tmp_path: Path, model: Any) -> Any:
    opened = Store.open(f"sqlite:///{tmp_path / 'answers.db'}", Settings(Rule(1, 0, 1), gold_share=0))
    assert put_uncertain(opened, raw(), model.under(), 1.0, opened.add_model(model.name, 0, 0.0)) == 1
    yield opened
    opened.close()


def task_of(asks: Asks = Asks.LAYERS) -> AnnotationTask:
    proposed = (Candidate("Disease", 0.9, 1, 3), Candidate("Gene", 0.8, 1, 2), Candidate("Chemical", 0.3, 2, 5))
    return AnnotationTask(raw()[0], 0, 6, GUIDELINE, proposed, asks=asks)


def shown(pieces: list[Piece]) -> str:
    """The pieces, spans in brackets."""
    parts = []
    for piece in pieces:
        inside = f"[{shown([*piece.pieces])}]{piece.row.type}" if piece.row else piece.token[1]
        parts.append(inside)
    return " ".join(parts)


def test_spans_of_other_types_stand_in_one_another() -> None:
    draft = Draft(task_of())
    assert shown(draft.pieces) == "the [[myc]Gene gout]Disease needs iron ."  # what crosses is in the list alone
    draft = draft.then(SpanStep("mark", Span(1, 2, "Chemical"))).then(SpanStep("mark", Span(2, 5, "Gene")))
    assert {row.state.value for row in draft.rows[:2]} == {"proposed"}, "nothing is covered"
    assert shown(draft.pieces) == "the [[myc]Gene]Chemical [[gout needs iron]Chemical]Gene ."
    with pytest.raises(RefusedError, match="“gout” overlaps “gout needs iron”, which is marked"):
        draft.then(SpanStep("mark", Span(2, 3, "Gene")))
    with pytest.raises(RefusedError, match="overlaps"):
        Draft(task_of(Asks.SPANS), steps=(SpanStep("mark", DISEASE),)).then(SpanStep("mark", GENE))
    answer = Draft(task_of(), steps=(SpanStep("mark", DISEASE), SpanStep("reject", GENE))).answer(is_complete=False)
    assert answer == marked([DISEASE], False, [GENE])


def test_from_a_model_to_a_corpus_of_layers(store: Store, tmp_path: Path) -> None:
    assert store.labels(GUIDELINE) == {"Chemical": "", "Disease": "", "Gene": ""}
    browser: Browser = signed_in(store, "ada")
    page = browser.look("/task")
    values = set(re.findall(r'name="step" value="mark ([^"]*)"', page))
    assert {"1 3 Disease", "1 2 Gene", "4 5 Chemical"} <= values
    assert re.search(r'<span class="span proposed hue2"><span class="span proposed hue3"><span data-token="1">', page)
    steps = "mark 1 3 Disease\nmark 1 2 Gene"
    page = browser.fill("/task", task=browser.task(), steps=steps, type="Chemical", first=4, last=4)
    assert "Marked: iron, Chemical." in page
    browser.fill("/task", task=1, steps=f"{steps}\nmark 4 5 Chemical", answer="all marked")
    (done,) = store.tasks(Status.AGREED)
    assert done.outcome == marked([DISEASE, GENE, CHEMICAL])
    assert export.write(store, str(tmp_path / "answers.conll"), "columns", GUIDELINE) == 1
    (sentence,) = tw.load(str(tmp_path / "answers.conll"))
    spans = {name: [group[0] for group in sentence.spans(name)] for name in sentence.layers}
    assert {name: [one for one in some if one.label != "O"] for name, some in spans.items()} == {
        "Disease": [DISEASE],
        "Gene": [GENE],
        "Chemical": [CHEMICAL],
    }
    again = tw.train(str(tmp_path / "answers.conll"), iterations=1, average_seeds=1, callback=Silence())
    assert again.trained.kind == "layers", "the next model is one of layers, too"
    assert export.write_by_annotator(store, str(tmp_path / "all.conll"), GUIDELINE) == 1
    assert [*tw.load(str(tmp_path / "all.conll"))[0].layers] == ["ada:Chemical", "ada:Disease", "ada:Gene"]
    with pytest.raises(ValueError, match="found spans that may overlap, in the layers Chemical, Disease, Gene"):
        export.write(store, str(tmp_path / "answers.conllu"), "conllu", GUIDELINE)


def test_what_is_open_is_unknown_in_its_layer(store: Store) -> None:
    person = store.add_annotator("ada").id
    lease = store.claim(person)
    assert lease is not None
    store.answer(person, lease.task_id, marked([DISEASE], False, [GENE]))
    (sentence,) = export.labelled(store, GUIDELINE)
    unknown = (None,) * 6
    assert sentence.layers == {"Chemical": unknown, "Disease": (None, ("B-Disease",), ("I-Disease",), *unknown[3:])} | {
        "Gene": unknown
    }
    assert {layer: spans for layer, spans in sentence.rejected.items() if spans} == {"Gene": (GENE,)}


def test_from_a_corpus_whose_spans_overlap(tmp_path: Path, model: Any) -> None:
    """Gold is asked for in all layers; sentences with something open are tasks, with the spans that they have."""
    corpus = tw.load(str(text(tmp_path / "gold.jsonl", 3, 1)))
    first, *rest = corpus.sentences
    layer = (None, *first.layers["Gene"][1:])
    part = corpus.with_sentences([first.with_layer("Gene", layer), *rest])
    store = Store.open(f"sqlite:///{tmp_path / 'alone.db'}")
    assert put_known_spans(store, replace(part, guideline="Gene"), Purpose.GOLD, 9, model.under(["Gene"])) == 2
    assert {asked.task.guideline for asked in store.tasks(Status.OPEN, Purpose.GOLD)} == {"Gene"}
    store.close()
    for number, tagger in enumerate((None, model.under())):
        store = Store.open(f"sqlite:///{tmp_path / str(number)}.db")
        assert put_known_spans(store, part, Purpose.GOLD, 9, tagger) == 2
        gold = [asked.task for asked in store.tasks(Status.OPEN, Purpose.GOLD)]
        assert {(task.guideline, task.asks) for task in gold} == {(GUIDELINE, Asks.LAYERS)}
        assert all(task.gold and [s.label for s in task.gold.spans] == ["Gene", "Disease", "Chemical"] for task in gold)
        if tagger is None:
            assert put_spans(store, part) == 1
            (asked,) = store.tasks(Status.OPEN)
            assert {candidate.label for candidate in asked.task.candidates} == {"Gene", "Disease", "Chemical"}
        store.close()


def test_tasks_for_other_tools_have_all_layers(tmp_path: Path, model: Any) -> None:
    tasks = ranked(model.under(), raw(2), 1.0)
    write_tasks(tasks, str(tmp_path / "tasks.jsonl"), "doccano")
    lines = [json.loads(line) for line in (tmp_path / "tasks.jsonl").read_text("utf-8").splitlines()]
    expected = [[4, 7, "Gene"], [4, 12, "Disease"], [19, 23, "Chemical"]]
    assert [sorted(line["label"]) for line in lines] == [expected] * 2
    [task] = ranked(model.under(["Disease"]), raw(), 1.0)  # of the chain of Disease and Chemical
    assert (task.guideline, task.asks, [one.label for one in task.candidates]) == ("Disease", Asks.SPANS, ["Disease"])


def test_layers_of_several_types_are_asked_for_one_by_one(tmp_path: Path) -> None:
    layers = {"A": (("B-X",), ("I-X",), ("B-Y",)), "B": (("O",), ("B-X",), ("O",))}
    options: dict[str, Any] = {"iterations": 1, "average_seeds": 1, "callback": Silence()}
    model = tw.train(Corpus((Sentence(("a", "b", "c"), layers),) * 3, "A"), overlap=True, **options)
    with pytest.raises(ValueError, match="found the layers A of X, Y; B of X, expected a layer for each type"):
        ranked(model.under(), raw(), 1.0)
    assert {task.guideline for task in ranked(model.under(["A"]), raw(), 1.0)} == {"A"}


@pytest.mark.parametrize("layer", [(), ("--guideline", "Disease"), ("--guideline", "Gene")])
@pytest.mark.parametrize("option", ["--train", "--dev"])
def test_layers_are_not_trained_beside_the_server(model: Any, layer: tuple[str, ...], option: str) -> None:
    options = ["--store", "sqlite:///none.db", "--model", model.name, "--corpus", "raw.txt"]
    refused = CliRunner().invoke(application(), ["annotate", "serve", *options, *layer, option, "some.conll"])
    assert refused.exit_code == 2
    assert f"found {model.name}, a model of layers of spans, and {option}" in refused.stderr.replace("\n", "")
