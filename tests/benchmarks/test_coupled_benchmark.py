"""The benchmark of coupled training: what it measures, and the table that it writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import coupled_measure
from benchmarks.coupled import page, table
from benchmarks.coupled_measure import PLAIN, most_frequent, passes, with_all_tags
from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.labels.mapping import TagMapping, write_mapping


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


@given(
    st.dictionaries(st.tuples(st.sampled_from("ABCD"), st.sampled_from("wxyz")), st.integers(1, 50), min_size=1),
    st.integers(1, 16),
)
def test_the_most_frequent_pairs_name_every_tag(counts: dict[tuple[str, str], int], size: int) -> None:
    kept = most_frequent(TagMapping("a", "b", counts), size).counts
    for side in (0, 1):
        assert {pair[side] for pair in kept} == {pair[side] for pair in counts}
    assert len(kept) <= max(size, 8)
    assert len(kept) >= min(size, len(counts))
    assert all(kept[pair] == counts[pair] for pair in kept)


@pytest.fixture
def _sample(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_the_sample(guideline: str, tokens: int) -> Corpus:
        return with_all_tags(load(f"{guideline}={sample.path(f'{guideline}.txt')}"), tokens)

    monkeypatch.setattr(coupled_measure, "training", of_the_sample)


@pytest.mark.usefixtures("_sample")
def test_measurements_of_the_sample(tmp_path: Path) -> None:
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


def test_the_table_has_a_row_for_every_number_of_labels() -> None:
    def found(labels: int, speed: float) -> dict[str, Any]:
        return {
            "labels": labels,
            "batch": 4,
            "in_scope": labels / 4,
            "weights": 1_500_000,
            "tokens": 20_000,
            "tokens_per_second": speed,
            "peak_megabytes": 99,
        }

    rows = [
        {"size": size, "pruned": size == "0", "threads": {"1": found(labels, speed), "2": found(labels, 2 * speed)}}
        for size, labels, speed in ((PLAIN, 44, 200_000), ("0", 1408, 5000))
    ]
    lines = table(rows)
    assert len({line.count("|") for line in lines}) == 1
    assert lines[2].startswith("| 44 (PD tags, the plain CRF) | all | 4 | 1.5 | 200,000 | 0.005 | 3.0 | 99 | 400,000 |")
    assert lines[3].startswith(
        "| 1,408 | 352.0, pruned | 4 | 1.5 | 5,000 | 0.200 | 120.0 | 99 | 10,000 | 0.100 | 60.0 |"
    )
    assert "Training data are 20,000 tokens" in "\n".join(page(rows, 3))
