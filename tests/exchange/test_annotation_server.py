"""From a tool to the annotation server, and from its answers back into the documents of any tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tagweave.cli.main import application
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError
from tagweave.exchange.document import Mark
from tagweave.exchange.exports import tool
from tagweave.exchange.sentences import placed

pytest.importorskip("sqlalchemy", reason="the extra annotate is not installed")

TEXTS = ["Ann left Graz. Bob stays.\nYes.\n\nCal left Graz.", "Eve left."]


def run(*arguments: object) -> str:
    names = ["import", "export", "annotate"]
    done = CliRunner().invoke(application(names), [str(each) for each in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_there_and_back(tmp_path: Path) -> None:
    from tagweave.annotate.store import Store
    from tagweave.annotate.task import marked

    todo, corpus, answers = tmp_path / "todo.jsonl", tmp_path / "todo.col", tmp_path / "answers.col"
    store = f"sqlite:///{tmp_path / 'answers.db'}"
    lines = [json.dumps({"id": number, "text": text, "label": []}) for number, text in enumerate(TEXTS, 1)]
    todo.write_text("\n".join(lines), "utf-8")
    run("import", "doccano", todo, "--unmarked", "unknown", "-o", corpus)
    run("annotate", "import", corpus, "--spans", "--store", store)
    opened = Store.open(store)
    curator = opened.add_annotator("curator", "curator").id
    opened.add_labels("tag", {"PER": "", "LOC": ""})
    for number, span in ((1, Span(0, 1, "PER")), (3, Span(2, 3, "LOC"))):
        opened.adjudicate(curator, number, marked([span]))
    opened.close()
    run("annotate", "export", "--store", store, "--guideline", "tag", "-o", answers)
    run("export", "brat", answers, "--texts", corpus, "-o", tmp_path / "back.zip")
    first, second = tool("brat").read(str(tmp_path / "back.zip"))
    assert (first.text, second.text) == (TEXTS[0], TEXTS[1])
    assert first.marks == {"back": (Mark(0, 3, "PER"), Mark(41, 45, "LOC"))} and second.marks == {"back": ()}


def test_sentences_of_the_same_tokens_are_placed_in_order() -> None:
    same = [Sentence(("a",), {"x": ((label,),)}) for label in ("X", "Y")]
    texts = [Sentence(("a",), comments=(f"# start = {at}",)) for at in range(3)]
    found = list(placed(same, texts))
    assert [each.layers.get("x") for each in found] == [(("X",),), (("Y",),), None]
    assert [each.comments for each in found] == [each.comments for each in texts]
    with pytest.raises(CorpusError, match="found the sentence 'a b', expected one of the texts"):
        list(placed([Sentence(("a", "b"))], []))
