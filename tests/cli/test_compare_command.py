"""`tagweave compare`: two corpora of the same text, or a model of both guidelines."""

from __future__ import annotations

import pytest
from model_files import write

from tagweave.corpus.load import load
from tagweave.corpus.sample import path
from tagweave.evaluation.divergence import summary
from tagweave.evaluation.divergence_counts import expected
from tagweave.models.storage import load_model

BOTH = path("both.tsv")


def test_the_same_sentences_are_counted(run):
    result = run("compare", f"{BOTH}#ctb", f"{BOTH}#pd")
    assert result.stdout.splitlines()[:1] == ["Tokens with tags of ctb and pd: 694, counted."]
    for title in ("ctb to pd", "pd to ctb"):
        assert f"{title}: the tags that diverge most come first" in result.stdout
    assert "│ u  │ DEG" in result.stdout and "[的]" in result.stdout
    assert result.stderr == ""


def test_names_and_formats_of_files(run, tmp_path):
    one = write(tmp_path / "one.txt", ["a/N b/V"])
    two = write(tmp_path / "two.col", ["a\tn", "b\tv", ""])
    text = run("compare", f"first={one}", f"second={two}").stdout
    assert text.startswith("Tokens with tags of first and second: 2, counted.\n")
    named = run("compare", f"first={one}", f"second={write(tmp_path / 'x', ['a/n b/v'])}", "--format", "tagged").stdout
    assert named == text


def test_different_text_is_compared_by_a_model(run, coupled, corpora):
    first, second = f"ctb={corpora / 'train.txt'}", f"pd={corpora / 'words.txt'}"
    text = run("compare", first, second, "--model", coupled, "--threads", 2).stdout
    found = expected(load_model(coupled), load(first), load(second))
    lines = text.splitlines()
    assert lines[0] == summary(found)[0]
    assert lines[0].endswith(f"{found.total:,.0f}, expected by a model.")
    assert lines[1:3] == summary(found)[1:]


def test_a_model_is_not_asked_where_pairs_can_be_counted(run, tmp_path):
    plain = run("compare", f"{BOTH}#ctb", f"{BOTH}#pd")
    result = run("compare", f"{BOTH}#ctb", f"{BOTH}#pd", "--model", tmp_path / "none")
    assert result.stdout == plain.stdout
    assert result.stderr == "both corpora have the same sentences: pairs are counted, without the model\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("ctb={c}/train.txt pd={c}/words.txt", "found different sentences in {c}/train.txt and {c}/words.txt,"),
        ("{c}/train.txt {c}/words.txt --model {m}", "{c}/train.txt: found the guideline 'tag', expected one of {m}:"),
        ("ctb={c}/train.txt pd={c}/words.txt --model {p}", "{c}/words.txt: found the guideline 'pd', expected one"),
        ("ctb={c}/train.txt pd={c}/dev.txt --model {m}", None),
        ("{c}/train.txt {c}/train.txt", "{c}/train.txt: found the guideline 'tag' in {c}/train.txt as well,"),
        ("a={c}/dev.raw b={c}/dev.raw", "{c}/dev.raw: found a corpus of characters, expected words with tags to"),
        ("a={c}/dev.seg b={c}/dev.seg", "{c}/dev.seg: found no token with labels of a and b, expected corpora to"),
        ("{c}/none.txt {c}/train.txt", "{c}/none.txt: No such file or directory"),
        ("ctb={c}/train.txt pd={c}/words.txt --model {c}/none", "{c}/none: no such model file"),
    ],
)
def test_one_clear_line(run, coupled, tagger, corpora, tmp_path, words, line):
    names = {"c": corpora, "m": coupled, "p": tagger, "t": tmp_path, "b": BOTH}
    result = run("compare", *words.format(**names).split(), code=2)
    last = result.stderr.splitlines()[-1]
    assert last.startswith("tagweave: ") and "Traceback" not in result.stderr
    assert last.startswith(f"tagweave: {(line or '').format(**names)}")
    assert list(tmp_path.iterdir()) == []


def test_texts_in_two_normal_forms_are_told_apart(run, tmp_path):
    one, other = (write(tmp_path / name, [f"a/N {word}/N"]) for name, word in (("one", "\u00e9"), ("two", "e\u0301")))
    told = run("compare", f"x={one}", f"y={other}", code=2).stderr
    assert f"; {other}:1: found " in told and "U+0301 COMBINING ACUTE ACCENT is found where U+00E9" in told
