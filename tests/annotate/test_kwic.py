"""The concordance against a search of every sentence."""

import shutil
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.annotate.kwic import LONGEST, Concordance, build
from tagweave.annotate.selection import occurrences
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError

TEXT = ("我们爱北京天安门", "北京，北京！", "", "北", "the cat and the category", "شهر و شهرها")
CHARACTERS = st.sampled_from("aab北京 3é́\U00020000ش")


@pytest.fixture(scope="module")
def concordance(tmp_path_factory):
    return build(TEXT, tmp_path_factory.mktemp("kwic") / "index")


def spans(page):
    return [(each.sentence, each.start, each.stop) for each in page.occurrences]


def by_search(lines, word):
    """The spans that every sentence is searched for by `adapt.strategy`, in the order of the text."""
    found = occurrences([Sentence(tuple(line)) for line in lines], [word])
    begins = np.cumsum([0, *map(len, lines)])[found.sentence]
    bounds = (found.start - begins).tolist(), (found.stop - begins).tolist()
    return list(zip(found.sentence.tolist(), *bounds, strict=True))


def test_a_word_is_shown_between_its_context(concordance):
    found = concordance.page("北京", "text", context=2).occurrences
    assert [(each.before, each.after) for each in found] == [("们爱", "天安"), ("", "，北"), ("京，", "！")]


def test_pages_go_through_all(concordance):
    whole = spans(concordance.page("北", "preceding"))
    pages = [spans(concordance.page("北", "preceding", first, 3)) for first in (0, 3, 6)]
    assert pages == [whole[:3], whole[3:], []]
    assert concordance.page("北", size=0).total == 4


def test_sentences(concordance):
    assert len(concordance) == len(TEXT)
    assert tuple(map(concordance.sentence, range(len(TEXT)))) == TEXT


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text(CHARACTERS, max_size=12), min_size=1, max_size=8), st.text(CHARACTERS, min_size=1, max_size=3))
def test_a_concordance_is_a_search_that_is_sorted(tmp_path_factory, lines, word):
    folder = tmp_path_factory.mktemp("kwic") / "index"
    concordance = build(lines, folder)
    expected = by_search(lines, word)
    after = {span: lines[span[0]][span[2] :] for span in expected}
    before = {span: lines[span[0]][: span[1]][::-1] for span in expected}
    assert spans(concordance.page(word, "text", size=1000)) == expected
    for each in concordance.page(word, "text", size=1000, context=1000).occurrences:
        assert each.before + word + each.after == lines[each.sentence]
    assert concordance.counts([word])[0] == len(expected)
    assert spans(concordance.page(word, "following", size=1000)) == sorted(expected, key=lambda s: (after[s], s))
    assert spans(concordance.page(word, "preceding", size=1000)) == sorted(expected, key=lambda s: (before[s], s))
    shutil.rmtree(folder)


def test_long_runs_of_one_character_take_no_longer(tmp_path):
    concordance = build(["。" * 30_000, "。" * 5], tmp_path / "index")
    assert concordance.counts(["。", "。" * LONGEST]).tolist() == [30_005, 30_001 - LONGEST]
    assert spans(concordance.page("。" * 5, "text", first=29_996)) == [(1, 0, 5)]


def test_large_runs_are_sorted(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["".join(rng.choice(list("北京天"), 30)) for _ in range(400)] * 2
    concordance = build(lines, tmp_path / "index")
    found = concordance.page("北", "following", size=10_000, context=30).occurrences
    assert [each.after for each in found] == sorted(each.after for each in found)
    assert len(found) == sum(line.count("北") for line in lines)


@pytest.mark.parametrize("lines", [[], [""], ["", ""]])
def test_a_text_without_characters(lines, tmp_path):
    concordance = build(lines, tmp_path / "index")
    assert len(concordance) == len(lines)
    assert concordance.page("a") == (0, ())


def test_any_code_point(tmp_path):
    strange = "\x01\n\u2028\ufeff\U0010ffff\ud800"
    concordance = build([strange], tmp_path / "index")
    assert concordance.sentence(0) == strange
    assert concordance.counts(list(strange)).tolist() == [1] * len(strange)


@pytest.mark.parametrize("word", ["", "a" * (LONGEST + 1), "\0"])
def test_words_that_cannot_be_looked_for(concordance, word):
    with pytest.raises(ValueError, match=f"found a word of {len(word)} characters, expected 1 to {LONGEST}"):
        concordance.page(word)


def test_an_index_of_the_same_text_is_kept_and_another_one_replaced(tmp_path):
    build(["a b"], tmp_path / "index")
    first = (tmp_path / "index" / "text.npy").stat()
    build(["a b"], tmp_path / "index")
    assert (tmp_path / "index" / "text.npy").stat().st_ino == first.st_ino
    assert build(["b b"], tmp_path / "index").counts(["a", "b"]).tolist() == [0, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "notes").write_text("mine")
    for place in (tmp_path, tmp_path / "notes"):
        with pytest.raises(CorpusError, match="found something else than an index"):
            build(["a"], place)
    assert (tmp_path / "notes").read_text() == "mine"


def test_a_failed_build_leaves_the_old_index(tmp_path, monkeypatch):
    build(["a"], tmp_path / "index")
    monkeypatch.setattr(np, "save", lambda *_, **__: sys.exit("full"))
    with pytest.raises(SystemExit):
        build(["b"], tmp_path / "index")
    assert Concordance(tmp_path / "index").counts(["a", "b"]).tolist() == [1, 0]
    assert [path.name for path in tmp_path.iterdir()] == ["index"]


def test_nul_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="2: found a NUL character"):
        build(["a", "b\0"], tmp_path / "index")
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize("name", ["text", "begins", "following", "preceding"])
@pytest.mark.parametrize("damage", ["missing", "cut", "shorter", "other"])
def test_a_damaged_index_is_told(tmp_path, name, damage):
    folder = tmp_path / "index"
    build(TEXT, folder)
    path = folder / f"{name}.npy"
    if damage == "missing":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-3])
    else:
        array = np.load(path)
        np.save(path, array[:-1] if damage == "shorter" else array.astype(np.float64))
    with pytest.raises(CorpusError, match="damaged index"):
        Concordance(folder)


@pytest.mark.parametrize("text", ["", "[]", '{"format": 0}'])
def test_another_folder_is_no_index(tmp_path, text):
    if text:
        (tmp_path / "index.json").write_text(text)
    with pytest.raises(CorpusError, match="no index of format 1"):
        Concordance(tmp_path)
