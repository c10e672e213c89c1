"""Real files come back byte for byte; none of their text is in this file."""

from __future__ import annotations

import io
import time

import pytest

from tagweave.corpus.formats import FORMATS
from tagweave.corpus.load import load

TAGGED = ["en/brown/dev.txt", "zh/zx/test.txt"]
CONLLU = ["fr/gsd-ud/test", "zh/udc/test"]
MORE_TAGGED = ["en/wsj/test.txt", "zh/pd199801/test.txt"]
MORE_CONLLU = ["en/ewt/test", "en/wsj-dep/test", "fr/gsd-sud/test", "ja/gsd-luw/test"]


def and_slow(names, more):
    return [*names, *(pytest.param(name, marks=pytest.mark.slow) for name in more)]


def rewritten(path, name, **options):
    lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    stream = io.StringIO()
    FORMATS[name].write(FORMATS[name].read(lines, str(path)), stream, options.get("layer", "tag"))
    return stream.getvalue()


@pytest.mark.parametrize("name", and_slow(TAGGED, MORE_TAGGED))
def test_tagged(real_corpora, name):
    path = real_corpora / name
    found = rewritten(path, "tagged-underscore" if "zx" in name else "tagged")
    # the one corpus that leaves slashes in words unescaped; `tagged` always escapes them
    assert (found.replace("\\/", "/") if "brown" in name else found) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", and_slow(CONLLU, MORE_CONLLU))
def test_conllu(real_corpora, name):
    path = real_corpora / f"{name}.conllu"
    assert rewritten(path, "conllu", layer="upos") == path.read_text(encoding="utf-8")


def test_raw_keeps_pages(real_corpora):
    for path in sorted((real_corpora / "zh/markdown").rglob("*.md"))[:20]:
        text = path.read_text(encoding="utf-8")
        assert rewritten(path, "raw").removesuffix("\n") == text.removesuffix("\n")


@pytest.mark.parametrize(
    ("name", "guideline", "sentences", "tags"),
    [
        ("zh/zx/test.txt", "tag", 1394, 34355),
        ("zh/pd199801/dev.txt", "tag", 1000, None),
        ("en/wsj-dep/test.conllu", "xpos", None, None),
        ("zh/udc/dev.conllu", "upos", 500, None),
    ],
)
def test_load_finds_format_and_layer(real_corpora, name, guideline, sentences, tags):
    corpus = load(str(real_corpora / name))
    assert corpus.guideline == guideline
    assert len(corpus) == (sentences or len(corpus))
    assert corpus.tokens() == (tags or corpus.tokens())
    assert all(candidates is not None for sentence in corpus for candidates in sentence.layers[guideline])


def test_ambiguous_tags_are_kept(real_corpora):
    ambiguous = {
        candidates
        for name in ("train", "dev", "test")
        for sentence in load(str(real_corpora / f"en/wsj/{name}.txt"))
        for candidates in sentence.layers["tag"]
        if candidates is not None and len(candidates) > 1
    }
    assert ("VBG", "NN") in ambiguous


@pytest.mark.slow
def test_reading_is_fast(real_corpora):
    """1.1 million tokens in about a second; four times that is allowed, since other work may share the machine."""
    start = time.process_time()
    tokens = load(str(real_corpora / "zh/pd199801/train.txt")).tokens()
    assert tokens == 1_015_340
    assert time.process_time() - start < 4.0
