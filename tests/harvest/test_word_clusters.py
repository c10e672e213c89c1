"""Word clusters: bit strings, files, and what is refused."""

from __future__ import annotations

import gzip
import io
import random
from itertools import pairwise

import pytest

import tagweave as tw
from tagweave.errors import CorpusError
from tagweave.harvest import clusters
from tagweave.harvest.options import HarvestError

_KINDS = (("the", "a", "this"), ("dog", "cat", "bird", "fish"), ("runs", "sleeps", "eats"), ("here", "there"))


def sentences(count=300):
    draw = random.Random(1)
    return [[draw.choice(words) for words in _KINDS * 3] for _ in range(count)]


def test_words_with_the_same_neighbours_share_a_cluster():
    found = tw.harvest_clusters(sentences(), classes=4)
    paths = dict(zip(found.words, found.paths, strict=True))
    assert [{paths[word] for word in words} for words in _KINDS] == [{paths[words[0]]} for words in _KINDS]
    assert found.classes == 4 and found.counts == tuple(sorted(found.counts, reverse=True))


def test_no_bit_string_begins_another():
    paths = sorted(set(tw.harvest_clusters(sentences(), classes=9).paths))
    assert len(paths) == 9
    assert not any(after.startswith(before) for before, after in pairwise(paths))
    assert sum(2 ** -len(path) for path in paths) == 1


def test_neither_the_order_of_sentences_matters_nor_what_follows_them():
    draw = random.Random(2)
    text = [draw.choices("abcdefghijklmnopqrst", k=2) for _ in range(200)]
    assert tw.harvest_clusters(text, classes=5) == tw.harvest_clusters(map(" ".join, sorted(text)), classes=5)


def test_rare_words_have_no_cluster():
    assert set(tw.harvest_clusters([*sentences(), ["the", "unicorn"]], minimum_count=2).words) == set(sum(_KINDS, ()))
    with pytest.raises(CorpusError, match="1 words of 3 or more"):
        tw.harvest_clusters(["a b", "a c", "a"], minimum_count=3)


def test_fewer_words_than_clusters():
    found = tw.harvest_clusters(["a b", "b a c"], classes=99)
    assert found.classes == 3


def test_a_file_and_back(tmp_path):
    lines = "\n".join(" ".join(f"{word}/X" for word in sentence) for sentence in sentences())
    raw, output = tmp_path / "text.txt.gz", tmp_path / "words.paths"
    raw.write_bytes(gzip.compress(lines.encode()))
    made = tw.harvest_clusters_files([raw, raw], output, classes=5)
    read = clusters.read(str(output))
    assert set(zip(read.words, read.paths, read.counts, strict=True)) == set(
        zip(made.words, made.paths, made.counts, strict=True)
    )
    assert list(read.paths) == sorted(read.paths) and set(read.words) == set(sum(_KINDS, ()))
    again = io.StringIO()
    clusters.write(read, again)
    assert again.getvalue() == output.read_text("utf-8")


@pytest.mark.parametrize(
    ("line", "found"),
    [("012\ta\t1", "the line"), ("01 a 1", "the line"), ("01\t\t1", "the line"), ("1\tb\t2", "again")],
)
def test_what_is_no_file_of_clusters(tmp_path, line, found):
    path = tmp_path / "bad.paths"
    path.write_text(f"01\tb\t3\n{line}\n", "utf-8")
    with pytest.raises(CorpusError, match=f"2: found {found}|{found}"):
        clusters.read(str(path))


def test_what_is_refused(tmp_path):
    with pytest.raises(HarvestError, match="`classes=1`"):
        tw.harvest_clusters(["a b"], classes=1)
    with pytest.raises(CorpusError, match="without tabs"):
        tw.harvest_clusters([["a\tb", "c"]])
    (tmp_path / "text.raw").write_text("图书馆\n", "utf-8")
    with pytest.raises(CorpusError, match="characters"):
        tw.harvest_clusters_files(tmp_path / "text.raw", tmp_path / "out.paths")
    assert not (tmp_path / "out.paths").exists()
