"""`tagweave import` and `tagweave export`: what a tool exported is trained on, and predictions go back to it."""

from __future__ import annotations

import json

import tagweave as tw

TEXTS = ["Ann left Graz.", "Bob stays in Graz.", "Ann met Bob."]
NAMES = {"Ann": "PER", "Bob": "PER", "Graz": "LOC"}


def task(number, text, skip=()):
    spans = [[text.index(name), text.index(name) + len(name), label] for name, label in NAMES.items() if name in text]
    return json.dumps({"id": number, "text": text, "label": [each for each in spans if each[2] not in skip]})


def test_from_an_export_to_suggestions(run, tmp_path):
    """Train on one annotator's work, tag the texts of another, and hand the probabilities back."""
    export, corpus, model = tmp_path / "ann.jsonl", tmp_path / "ann.col", tmp_path / "m"
    export.write_text("\n".join(task(number, text) for number, text in enumerate(TEXTS, 1)), "utf-8")
    told = run("import", "doccano", export, "-o", corpus).stderr
    assert f"{corpus}: 3 sentences, 13 tokens, annotators: tag" in told
    run("train", corpus, "--task", "spans", "--iterations", "30", "-o", model)
    run("tag", model, corpus, "--retag", "-o", tmp_path / "out.col")
    run("export", "label-studio", tmp_path / "out.col", "-o", tmp_path / "tasks.json")
    tasks = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    assert [each["data"]["text"] for each in tasks] == TEXTS
    found = [[each["value"]["text"] for each in one["predictions"][0]["result"]] for one in tasks]
    assert found == [[name for name in text[:-1].split() if name in NAMES] for text in TEXTS]


def test_files_of_two_annotators_are_sources(run, tmp_path):
    for name, skip in (("ann", ()), ("bob", ("LOC",))):
        (tmp_path / f"{name}.jsonl").write_text(task(1, TEXTS[0], skip), "utf-8")
    run("import", "doccano", tmp_path / "ann.jsonl", tmp_path / "bob.jsonl", "-o", tmp_path / "both.col")
    (sentence,) = tw.load(str(tmp_path / "both.col"))
    assert [name for name, layer in sentence.layers.items() if ("B-LOC",) in layer] == ["ann"]
    out = run("export", "doccano", tmp_path / "both.col", "--layer", "ann", "-o", "-").stdout
    assert json.loads(out) == json.loads(task(1, TEXTS[0])) | {"label": [[0, 3, "PER"], [9, 13, "LOC"]]}


def test_documents_without_spans_are_told(run, tmp_path):
    export, out = tmp_path / "ann.jsonl", tmp_path / "ann.col"
    export.write_text("\n".join([task(1, TEXTS[0]), task(2, TEXTS[1], NAMES.values())]), "utf-8")
    for how, taken, labels in (("outside", "outside of spans", {("O",)}), ("empty-unknown", "unknown", {None})):
        told = run("import", "doccano", export, "--unmarked", how, "-o", out).stderr
        assert f"1 of 2 documents have no span: their tokens were taken to be {taken} (--unmarked {how}" in told
        first, second = tw.load(str(out))
        assert ("O",) in first.layers["tag"] and {*second.layers["tag"]} == labels


def test_mistakes(run, tmp_path):
    export, out = tmp_path / "a.jsonl", tmp_path / "a.col"
    export.write_text(task(1, TEXTS[0]), "utf-8")
    for words, told in (
        (("import", "none", export), "found the tool 'none', expected one of doccano, label-studio, prodigy"),
        (("import", "doccano", export, "--tokens", "x"), "found the tokens 'x', expected one of blanks"),
        (("import", "doccano", export, "--tokens", "blanks"), f"{export}:1: found the span 'Graz' (9 to 13)"),
        (("import", "doccano", export, "--misaligned", "x"), "found --misaligned x, expected error, widen, unknown"),
        (
            ("import", "doccano", export, "--unmarked", "x"),
            "found --unmarked x, expected outside, unknown, empty-unknown",
        ),
    ):
        assert told in run(*words, "-o", out, code=2).stderr
        assert not out.exists()
    run("import", "doccano", export, "-o", out)
    assert (
        "found no layer 'x', expected one of tag"
        in run("export", "doccano", out, "--layer", "x", "-o", "-", code=2).stderr
    )


def test_a_segmenter_cuts_texts_into_tokens(run, tmp_path, segmenter, tagger):
    export, out = tmp_path / "a.jsonl", tmp_path / "a.col"
    text = tw.load_model(segmenter).cut("我们在学习")
    word = {"text": "".join(text), "label": [[0, len(text[0]), "X"]]}
    export.write_text(json.dumps(word), "utf-8")
    run("import", "doccano", export, "--tokens", segmenter, "-o", out)
    (sentence,) = tw.load(str(out))
    assert (list(sentence.forms), sentence.layers["tag"][0]) == (text, ("B-X",))
    told = run("import", "doccano", export, "--tokens", tagger, "-o", out, code=2).stderr
    assert f"found {tagger}, a model that does not segment, expected a segmenter" in told
