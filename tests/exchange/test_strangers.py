"""Files as they are in bug reports of other tools: read rightly, counted and told, or refused with file and place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from tagweave.corpus.candidates import Soft
from tagweave.corpus.spans import Span
from tagweave.errors import CorpusError
from tagweave.exchange.load import load, recognized

TEXT = "Vela left Brun ."
PER, LOC = {"start": 0, "end": 4, "text": "Vela"}, {"start": 10, "end": 14, "text": "Brun"}
SMILE = "\U0001f600"


def written(path: Path, content: object, lines: bool = False) -> Path:
    several = content if lines and isinstance(content, list) else [content]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in several), "utf-8")
    return path


def read(path: Path, tool: str) -> tuple[list[dict[str, str]], str]:
    """Return the layers of each sentence, and what was told."""
    told: list[str] = []
    corpus = tw.read_documents(tool, path, tell=told.append)
    layers = [
        {name: " ".join(each[0] if each else "_" for each in layer) for name, layer in sentence.layers.items()}
        for sentence in corpus
    ]
    return layers, "; ".join(told)


def result(place: dict[str, Any], label: str = "PER", kind: str = "labels") -> dict[str, Any]:
    return {"from_name": "label", "to_name": "text", "type": kind, "value": {**place, kind: [label]}}


def task(*annotations: list[Any], text: str = TEXT, **more: object) -> dict[str, Any]:
    given = [{"completed_by": 1, "result": each} for each in annotations]
    return {"id": 1, "data": {"text": text}, "annotations": given, **more}


FIRST, LAST, NONE, UNKNOWN = "B-PER O O O", "O O B-LOC O", "O O O O", "_ _ _ _"
XPATH = {"start": "/div[1]/text()[1]", "end": "/div[1]/text()[1]", "startOffset": 0, "endOffset": 4, "text": "Vela"}
MINIMAL = {"text": TEXT, "id": 1, "annotator": 1, "label": [{**PER, "labels": ["PER"]}]}
COLLAPSED = result({"start": 0, "end": 11, "text": "Vela, Brun"})
AFTER_BREAK = result({"start": 5, "end": 9, "text": "Brun"})
LABEL_STUDIO: dict[str, tuple[object, dict[str, str], str]] = {
    "two annotations by one person": (
        task([result(PER)], [result(LOC, "LOC")]),
        {"annotator1": FIRST, "annotator1-2": LAST},
        "",
    ),
    "an empty second one": (task([result(PER)], []), {"annotator1": FIRST, "annotator1-2": NONE}, ""),
    "two predictions without a version": (
        task(predictions=[{"result": [result(PER)]}, {"result": [result(LOC, "LOC")]}]),
        {"model": FIRST, "model-2": LAST},
        "",
    ),
    "a version with blanks": (
        task([result(PER)], predictions=[{"model_version": "a b", "result": []}]),
        {"annotator1": FIRST, "a_b": NONE},
        "",
    ),
    "other labels with plain offsets": (task([result(PER, kind="hypertextlabels")]), {"tag": FIRST}, ""),
    "global offsets": (
        task([result({**XPATH, "globalOffsets": {"start": 0, "end": 4}}, kind="hypertextlabels")]),
        {"tag": FIRST},
        "",
    ),
    "offsets of HTML": (
        task([result(XPATH, kind="hypertextlabels")]),
        {"tag": UNKNOWN},
        "not kept: 1 results of type hypertextlabels",
    ),
    "offsets of paragraphs": (
        task([result({**XPATH, "start": "0", "end": "0"}, kind="paragraphlabels")]),
        {"tag": UNKNOWN},
        "1 results of type paragraphlabels",
    ),
    "choices and relations": (
        task([result(PER), {"type": "choices", "value": {"choices": ["x"]}}, {"type": "relation", "from_id": "a"}]),
        {"tag": FIRST},
        "not kept: 1 results of type choices, 1 results of type relation",
    ),
    "a span without a label": (
        task([result(PER), {"type": "labels", "value": LOC}]),
        {"tag": FIRST},
        "1 spans without a label",
    ),
    "two labels of a span": (
        task([{**result(PER), "value": {**PER, "labels": ["PER", "ORG"]}}]),
        {"PER": FIRST, "ORG": FIRST.replace("PER", "ORG")},
        "spans of different types overlap, so each type has a layer: PER, ORG",
    ),
    "collapsed blanks": (task([COLLAPSED], text="Vela,  Brun ."), {"tag": "B-PER I-PER I-PER O"}, ""),
    "a line break of two characters": (task([AFTER_BREAK], text="Vela\r\nBrun"), {"tag": "B-PER"}, ""),
    "completions": ({"id": 1, "data": {"text": TEXT}, "completions": [{"result": [result(PER)]}]}, {"tag": FIRST}, ""),
    "drafts": (task([result(PER)], drafts=[{"result": []}]), {"tag": FIRST}, "not kept: 1 drafts"),
    "skipped": (
        task([result(PER)]) | {"completions": [{"was_cancelled": True, "result": []}]},
        {"tag": FIRST},
        "not kept: 1 skipped annotations",
    ),
    "JSON-MIN": (MINIMAL, {"tag": FIRST}, ""),
    "JSON-MIN with choices": ({**MINIMAL, "topic": {"choices": ["x"]}}, {"tag": FIRST}, "1 results of type topic"),
    "a storage": ({"result": [result(PER)], "task": {"id": 1, "data": {"text": TEXT}}}, {"tag": FIRST}, ""),
}


def test_label_studio(tmp_path: Path) -> None:
    for name, (content, layers, told) in LABEL_STUDIO.items():
        for file in (written(tmp_path / "a.json", [content]), written(tmp_path / "a.jsonl", [content], lines=True)):
            assert recognized(str(file)) == "label-studio", name
            found, lines = read(file, "label-studio")
            assert found[-1] == layers and told in lines and bool(told) is bool(lines), (name, found, lines)


def spans(*answers: str, **more: object) -> dict[str, Any]:
    given = [
        {**place, "label": "PER", **({"answer": answer} if answer else {})}
        for place, answer in zip((PER, LOC), answers, strict=False)
    ]
    return {"text": TEXT, "spans": given, "answer": "accept", **more}


PRODIGY: dict[str, tuple[list[object], str, tuple[Span, ...], str]] = {
    "a rejected span": (
        [spans("accept", "reject")],
        "B-PER _ _ _",
        (Span(2, 3, "PER"),),
        "1 of 1 documents have accepted and rejected spans: their tokens outside of accepted ones are unknown",
    ),
    "rejected spans": ([spans("reject", "reject")], UNKNOWN, (Span(0, 1, "PER"), Span(2, 3, "PER")), ""),
    "an ignored span": ([spans("accept", "ignore")], UNKNOWN, (), "1 answers with ignored spans"),
    "an ignored task": ([spans(""), spans("", answer="ignore")], FIRST, (), "not kept: 1 ignored answers"),
    "no answer yet": ([spans("", answer=None)], FIRST, (), ""),
    "a category": ([{"text": TEXT, "label": "X", "answer": "accept"}], UNKNOWN, (), "1 labels of whole texts"),
    "options": ([{"text": TEXT, "options": [], "accept": ["x"], "answer": "accept"}], UNKNOWN, (), "labels of whole"),
    "relations": ([spans("", relations=[{}])], FIRST, (), "not kept: 1 relations"),
}


def test_prodigy(tmp_path: Path) -> None:
    for name, (content, layer, rejected, told) in PRODIGY.items():
        for file in (written(tmp_path / "a.jsonl", content, lines=True), written(tmp_path / "a.json", content)):
            found, lines = read(file, "prodigy")
            assert found == [{"tag": layer}] and told in lines and bool(told) is bool(lines), (name, found, lines)
            (sentence,) = tw.read_documents("prodigy", file, tell=lambda _: None)
            assert sentence.rejected.get("tag", ()) == rejected, name
    assert len(load(str(written(tmp_path / "b.jsonl", PRODIGY["an ignored task"][0], lines=True)))) == 1


def test_doccano(tmp_path: Path) -> None:
    by_user = [
        {"label": kind, "start_offset": each["start"], "end_offset": each["end"], "user": user}
        for kind, each, user in (("PER", PER, 1), ("LOC", LOC, 2))
    ]
    both, nested = ({"PER": FIRST, "ORG": layer} for layer in (FIRST.replace("PER", "ORG"), "B-ORG I-ORG O O"))
    cases: list[tuple[dict[str, Any], dict[str, str], str]] = [
        ({"data": TEXT, "label": [[0, 4, "PER"]]}, {"tag": FIRST}, ""),
        ({"text": TEXT, "label": [[0.0, 4.0, "PER"]]}, {"tag": FIRST}, ""),
        ({"text": TEXT, "annotations": by_user, "meta": {}}, {"annotator1": FIRST, "annotator2": LAST}, ""),
        ({"text": TEXT, "label": [[0, 4, "PER"], [0, 4, "PER"]], "relations": [{}]}, {"tag": FIRST}, "1 relations"),
        ({"text": TEXT, "label": [[0, 4, "PER"], [0, 4, "ORG"]]}, both, "each type has a layer: PER, ORG"),
        ({"text": TEXT, "label": [[0, 4, "PER"], [0, 9, "ORG"]]}, nested, "each type has a layer: PER, ORG"),
        ({"text": TEXT, "label": [[0, 4, "ORG"], [0, 9, "ORG"]]}, {"tag": nested["ORG"]}, "overlap longer ones"),
    ]
    for content, layers, told in cases:
        for file in (written(tmp_path / "a.jsonl", content), written(tmp_path / "a.json", [content])):
            assert recognized(str(file)) == "doccano"
            found, lines = read(file, "doccano")
            assert found == [layers] and told in lines and bool(told) is bool(lines), (content, found, lines)
    found, lines = read(written(tmp_path / "unknown.jsonl", {"text": TEXT, "label": []}), "doccano")
    assert found == [{}] and "no usable annotation" in lines


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("doccano", {"text": f"{SMILE} Vela left", "label": [[3, 7, "PER"]]}, "if they count units of UTF-16"),
    ("doccano", {"text": f"{SMILE}{SMILE} Vela", "label": [[5, 9, "PER"]]}, "if they count units of UTF-16"),
    ("doccano", {"text": "é é Vela left", "label": [[6, 10, "PER"]]}, "if they count bytes of UTF-8"),
    ("doccano", {"text": "Vela\r\nBrun", "label": [[5, 9, "PER"]]}, "(CRLF) as one)"),
    ("doccano", {"text": TEXT, "label": [[0, 4, "P\nR"]]}, r"found the character '\n' in the label"),
    ("doccano", {"text": TEXT, "label": [[0, 4, "\ud800"]]}, r"found the character '\ud800' in the label"),
    ("doccano", {"text": "a\0", "label": []}, r"found the character '\x00' in a text"),
    ("doccano", {"text": TEXT, "annotations": [{"label": 7, "start_offset": 0, "end_offset": 4}]}, "label 7, a number"),
    ("label-studio", task([result({**PER, "text": "Brun"})]), "found 'Brun' marked from 0 to 4, expected 'Vela'"),
    ("label-studio", {"id": 1, "data": {"a": "x", "b": "y"}}, "whose texts are a, b"),
    ("prodigy", spans("perhaps"), 'found the answer "perhaps"'),
    ("prodigy", spans("", answer="ignore"), "found 1 ignored answers, and nothing else"),
    (
        "prodigy",
        {"text": f"{SMILE} Vela", "spans": [], "tokens": [{"text": "Vela", "start": 3, "end": 7}]},
        "units of UTF-16",
    ),
]


def test_what_cannot_be_read_is_refused_with_its_cause(tmp_path: Path) -> None:
    for tool, content, told in REFUSED:
        for lines in (True, False):
            file = written(tmp_path / "a.json", [content], lines)
            with pytest.raises(CorpusError) as error:
                read(file, tool)
            assert told in str(error.value) and "a.json" in str(error.value), error.value


def test_offsets_of_brat_that_count_otherwise_name_the_cause(tmp_path: Path) -> None:
    def told(text: bytes, marked: str) -> str:
        (tmp_path / "a.txt").write_bytes(text)
        (tmp_path / "a.ann").write_text(marked, "utf-8")
        with pytest.raises(CorpusError) as error:
            read(tmp_path, "brat")
        return str(error.value)

    assert "as one)" in told(b"Vela\r\nleft Brun", "T1\tPER 10 14\tBrun\n")
    assert "as the two characters \\r\\n (CRLF))" in told(b"Vela\nleft Brun", "T1\tPER 11 15\tBrun\n")
    assert "byte order mark (BOM)" in told(b"\xef\xbb\xbfVela left", "T1\tPER 1 5\tVela\n")
    assert "units of UTF-16" in told(f"{SMILE} Vela".encode(), "T1\tPER 3 7\tVela\n")
    assert "the offsets" not in told(b"Vela left", "T1\tPER 0 4\tBrun\n")


def test_one_answer_that_no_corpus_can_hold_is_left_out(tmp_path: Path) -> None:
    """Of three hundred good ones, none is lost."""
    good = {"text": TEXT, "spans": [{"text": "Vela", "label": "PER"}]}
    for label in ("P\ud800", "P\0", "P\nR", "P\rR", "P\tR", "P\u2028R", " "):
        file = written(tmp_path / "a.jsonl", [good, {**good, "spans": [{"text": "Vela", "label": label}]}, good], True)
        found, told = read(file, "answers")
        assert found == [{"tag": FIRST}] * 2 and "not kept: 1 lines that are no answers" in told, label
        tw.save(load(str(file)), tmp_path / "a.col")
    for text in ("Vela \ud800", "Vela \0"):
        found, told = read(written(tmp_path / "a.jsonl", [good, {**good, "text": text}], True), "answers")
        assert len(found) == 1 and "not kept: 1 lines" in told


def test_forms_of_answers(tmp_path: Path) -> None:
    """With tokens, offsets may be of tokens: such a span is no quotation. A list of labels beside tokens is a table."""
    tokens = TEXT.split()
    for answer in (
        {"tokens": tokens, "entities": {"PER": ["Vela"], "LOC": []}},
        {"tokens": tokens, "entities": {"PER": "Vela", "LOC": None}},
        {"tokens": tokens, "spans": [{"text": "Vela", "label": "PER"}]},
        {"text": TEXT, "entities": [{"start": 0, "end": 4, "label": "PER"}]},
    ):
        for file in (written(tmp_path / "a.jsonl", answer), written(tmp_path / "a.json", [answer])):
            assert recognized(str(file)) == "answers", answer
            assert read(file, "answers")[0] == [{"tag": FIRST}]
    others = {"tokens": tokens, "spans": [{"start": 0, "end": 1, "label": "PER"}]}
    file = written(tmp_path / "a.jsonl", [{"tokens": tokens, "entities": {"PER": ["Vela"]}}, others], True)
    found, told = read(file, "answers")
    assert len(found) == 1 and "a span from 0 to 1 beside tokens" in told
    assert recognized(str(written(file, {"tokens": tokens, "ner": ["O"] * 4, "entities": {"A": []}}))) == "datasets"


def test_whole_numbers_of_labels_may_be_floats(tmp_path: Path) -> None:
    names = {"features": {"ner": {"feature": {"names": ["O", "B-PER"], "_type": "ClassLabel"}}}}
    written(tmp_path / "dataset_info.json", names)
    file = written(tmp_path / "a.jsonl", {"tokens": TEXT.split(), "ner": [1.0, 0.0, float("nan"), -100.0]})
    assert read(file, "datasets")[0] == [{"ner": "B-PER O _ _"}]
    with pytest.raises(CorpusError, match=r"a.jsonl:1: found 1 in ner_tags, expected texts, or their names"):
        read(written(file, {"tokens": ["Vela"], "ner_tags": [1.0]}), "datasets")


def test_the_score_of_a_prediction_is_the_least_probability_over_tokens(tmp_path: Path) -> None:
    """A text without spans is as certain as the least certain of its tokens; without numbers nobody knows."""

    def score(*labels: object) -> object:
        sentence = tw.Sentence(tuple("ab"), {"tag": labels})
        tw.write_documents("label-studio", tw.Corpus((sentence,), "tag"), tmp_path / "a.json")
        (written,) = json.loads((tmp_path / "a.json").read_text())[0]["predictions"]
        return written.get("score")

    unsure = Soft(("O", "B-X"), (0.5625, 0.4375))
    span = Soft(("B-X", "O"), (0.875, 0.125))
    assert score(Soft(("O", "B-X"), (0.75, 0.25)), unsure) == 0.5625
    assert (score(span, unsure), score(span, ("O",)), score(("O",), ("B-X",)), score(None, None)) == (
        0.5625,
        0.875,
        None,
        None,
    )


def test_labels_and_tokens_that_no_file_can_hold_are_refused_where_they_are_read(tmp_path: Path) -> None:
    for row, told in (
        ({"tokens": ["Vela"], "ner": ["B-\ud800"]}, r"a.jsonl:1: found the character '\ud800' in the label 'B-\ud800'"),
        ({"tokens": ["Vela"], "ner": ["B\nX"]}, r"a.jsonl:1: found the character '\n' in the label 'B\nX'"),
        ({"tokens": ["a\0"], "ner": ["O"]}, r"a.jsonl:1: found the character '\x00' in a token"),
    ):
        with pytest.raises(CorpusError) as error:
            load(str(written(tmp_path / "a.jsonl", row)))
        assert told in str(error.value)


def test_links_of_spacy_are_counted(tmp_path: Path) -> None:
    spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
    from spacy.tokens import DocBin
    from spacy.tokens import Span as Marked

    text = spacy.blank("en")("Ann left")
    text.ents = [Marked(text, 0, 1, "PER", kb_id="Q1")]
    DocBin(docs=[text]).to_disk(tmp_path / "a.spacy")
    assert read(tmp_path / "a.spacy", "spacy") == (
        [{"entities": "B-PER O"}],
        "not kept: 1 documents with links of entities",
    )
