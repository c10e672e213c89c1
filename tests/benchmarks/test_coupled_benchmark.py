"""The benchmark of coupled training: what it measures, and the table that it writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import coupled_measure
from benchmarks.coupled_measure import PLAIN, passes, with_all_tags
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.labels.mapping import write_mapping


def corpus(*sentences: str) -> Corpus:
    return Corpus(tuple(Sentence(tuple(text), {"tag": tuple((tag,) for tag in text)}) for text in sentences))


@given(st.lists(st.text("ABC", min_size=1, max_size=4), min_size=1, max_size=8), st.integers(1, 20))
def test_training_data_have_all_tags_and_about_as_many_tokens(texts: list[str], tokens: int) -> None:
    whole = corpus(*texts)
    part = with_all_tags(whole, tokens)
    assert {tag for s in part for tag in s.forms} == {tag for s in whole for tag in s.forms}
    assert part.tokens() >= min(tokens, whole.tokens())
    assert part.tokens() < tokens + 4 + 3 * 4
    kept = iter(whole)
    assert all(any(sentence == other for other in kept) for sentence in part), "in their order"


def test_measurements_of_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_the_sample(guideline: str, tokens: int) -> Corpus:
        return with_all_tags(load(f"{guideline}={sample.path(f'{guideline}.txt')}"), tokens)

    monkeypatch.setattr(coupled_measure, "training", of_the_sample)
    pairs = tmp_path / "pairs.tsv"
    counted = coupled_measure.count_pairs(600)
    write_mapping(counted, pairs)
    found = {size: passes(coupled_measure.problem(size, str(pairs), 600, 1), 2) for size in (PLAIN, "60", "0")}
    assert found[PLAIN]["labels"] == 38
    assert found["60"]["labels"] < found["0"]["labels"] == 33 * 38
    for each in found.values():
        assert len(each["seconds"]) == 2
        assert each["tokens_per_second"] == pytest.approx(each["tokens"] / min(each["seconds"]))
        assert each["tokens"] >= 600
