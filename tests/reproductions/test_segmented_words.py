"""Words kept as their lengths, and what of them is right."""

from __future__ import annotations

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from reproductions.lab.corpora import of_sample
from reproductions.lab.words import segmented, unknown_counts, word_counts
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.learning.run import Run, Schedule
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe
from tagweave.training.task import Task

texts = st.text("甲乙丙丁", min_size=1, max_size=8)


@st.composite
def segmentations(draw: st.DrawFn) -> list[tuple[str, tuple[int, ...], tuple[int, ...]]]:
    """Texts, each with two sets of boundaries."""

    def ends(text: str) -> tuple[int, ...]:
        inner = draw(st.sets(st.integers(1, len(text) - 1))) if len(text) > 1 else set()
        return (0, *sorted(inner), len(text))

    return [(text, ends(text), ends(text)) for text in draw(st.lists(texts, min_size=1, max_size=5))]


def corpus(sentences: list[tuple[str, tuple[int, ...]]]) -> Corpus:
    return Corpus(tuple(Sentence(tuple(text[a:b] for a, b in pairwise(ends))) for text, ends in sentences))


def output(sentences: list[tuple[int, ...]]) -> list[str]:
    return [" ".join(str(b - a) for a, b in pairwise(ends)) for ends in sentences]


@given(segmentations(), st.frozensets(texts))
def test_counts_are_those_of_sets_of_spans(sentences: list, known: frozenset[str]) -> None:
    gold, found = corpus([(t, a) for t, a, _ in sentences]), output([b for _, _, b in sentences])
    words, unknown = word_counts(gold, found), unknown_counts(gold, found, known)
    for (text, ours, theirs), counts, new in zip(sentences, words, unknown, strict=True):
        spans, others = set(pairwise(ours)), set(pairwise(theirs))
        assert counts.tolist() == [len(spans & others), len(spans), len(others)]
        asked = {(a, b) for a, b in spans if text[a:b] not in known}
        assert new.tolist() == [len(asked & others), len(asked)]


def test_a_model_is_asked_for_text_alone() -> None:
    gold = of_sample("pd.txt", "pd")
    model = fit([gold], Recipe(Task("segment")), None, Run(Schedule(3))).model
    found = segmented(model, gold)
    lengths = [[*accumulate(map(int, line.split()))][-1] for line in found]
    assert lengths == [sum(map(len, s.forms)) for s in gold]
    right, words, _ = word_counts(gold, found).sum(axis=0)
    assert right > 0.9 * words
    other = gold.map(lambda s: Sentence(tuple("".join(s.forms)), location=s.location))
    assert segmented(model, other) == found, "its words are not seen"
