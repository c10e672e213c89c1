"""The corpora, mappings and parts of the reproduction of li-2015."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproductions.lab.corpora import share_of
from reproductions.li_2015.pair import halves
from reproductions.li_2015.settings import PARTS, settings
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence


def both(count: int) -> Corpus:
    """Sentences of one token, with two layers."""
    return Corpus(
        tuple(Sentence((str(i),), {"a": ((f"A{i % 3}",),), "b": ((f"B{i % 2}",),)}) for i in range(count)), "a"
    )


# steps


@given(st.integers(2, 30), st.integers(0, 50))
def test_halves_part_the_sentences_and_their_layers(count: int, seed: int) -> None:
    corpus = both(count)
    first, second = halves(corpus, "b", "a", seed)
    assert (first.guideline, second.guideline) == ("b", "a")
    assert {tuple(s.layers) for s in first} == {("b",)}
    assert {tuple(s.layers) for s in second} == {("a",)}
    assert abs(len(first) - len(second)) <= 1
    forms = [s.forms for s in first] + [s.forms for s in second]
    assert sorted(forms) == sorted(s.forms for s in corpus)
    assert [s.forms for s in halves(corpus, "b", "a", seed)[0]] == [s.forms for s in first]


@given(st.integers(1, 40), st.sampled_from([0.1, 0.5, 1.0]), st.integers(0, 9))
def test_a_share_is_that_many_sentences_in_their_order(count: int, share: float, seed: int) -> None:
    corpus = both(count)
    part = share_of(corpus, share, seed)
    assert len(part) == round(share * count)
    numbers = [int(s.forms[0]) for s in part]
    assert numbers == sorted(set(numbers))


# parts


@pytest.mark.parametrize("part", PARTS)
def test_the_sample_serves_every_part(part: str) -> None:
    chosen = settings(part, None)
    assert len({setting.name for setting in chosen}) == len(chosen)
    for setting in chosen:
        first, again, other = (setting.draw(seed) for seed in (0, 0, 1))
        assert first.digests == again.digests
        assert first.target.test == other.target.test
        assert (first.target.train != other.target.train) == (
            setting.name not in ("tagging", "mappings", "weighting", "belief", "narrowing", "english-100")
        )
        guidelines = first.target.train.guideline, first.source.train.guideline
        assert len(set(guidelines)) == 2
        assert len(first.sample) in (0, 2)
        texts = [{s.forms for s in corpus} for corpus in (first.target.train, first.target.dev, first.target.test)]
        assert not texts[0] & texts[2]
        assert not texts[1] & texts[2]
        for layer, corpus in zip(guidelines, (first.target.train, first.source.train), strict=True):
            assert all(tuple(s.layers) == (layer,) for s in corpus)
