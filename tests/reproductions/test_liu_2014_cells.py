"""The domains and cells of the reproduction of liu-2014: how partial annotation is made, and what is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reproductions.lab.cache import Cache
from reproductions.liu_2014 import own_words
from reproductions.liu_2014.cells import Cell
from reproductions.liu_2014.domain import Domain
from reproductions.liu_2014.markup_evidence import of_markup
from reproductions.liu_2014.methods import (
    ALL,
    BASELINE,
    BELIEVED,
    BOTH,
    COLUMNS,
    COMBINED,
    EDGES,
    LEXICON,
    PHRASES,
    RANDOM,
    SELECTED,
    Method,
    Source,
    posterior,
)
from reproductions.liu_2014.pages import Pages, harvested, raw_text
from reproductions.liu_2014.partial import Partial, partial
from reproductions.liu_2014.settings import PARTS, RECIPE
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.harvest.lexicon import Lexicon
from tagweave.harvest.selection import marked_spans
from tagweave.learning.run import Schedule

METHODS = (BASELINE, COLUMNS, LEXICON, PHRASES, BOTH, ALL, RANDOM, SELECTED, COMBINED, EDGES, BELIEVED, posterior(ALL))


@pytest.fixture(scope="module")
def sample() -> Domain:
    """The sample, with a lexicon and with pages."""
    return PARTS["natural"](None)[-1].draw(0)


def of(domain: Domain, kind: str, share: float = 1.0, seed: int = 0) -> Partial:
    return partial(domain, Source(kind, share), seed)


# partial annotation


def test_words_of_the_lexicon_are_marked_in_raw_text(sample: Domain) -> None:
    corpus, marked = of(sample, "lexicon")
    spans = [span for sentence in corpus for span in marked_spans(sentence, "segmentation")]
    found = [span for span in spans if span in sample.lexicon.words]  # the others stand between two of these
    assert 0.8 * marked < len(found) <= marked
    texts = {"".join(sentence.forms) for sentence in corpus}
    assert texts <= set(sample.raw)
    without = set(sample.raw) - texts
    assert len(without) < len(sample.raw) / 10


def test_long_entries_as_phrases_leave_their_inside_open() -> None:
    words = ("高兴", "图书馆里")
    domain = replace(
        PARTS["lexicon"](None)[0].draw(0), raw=("他在图书馆里高兴",), lexicon=Lexicon(words, (None,) * len(words))
    )
    (whole,), (open_,) = (partial(domain, *each.partial, 0).corpus for each in (LEXICON, PHRASES))
    for sentence in (whole, open_):
        assert marked_spans(sentence, "segmentation") == ["图书馆里", "高兴"]
    assert whole.layers["segmentation"][3:5] == (("M",), ("M",))
    assert open_.layers["segmentation"][3:5] == (None, None)


def test_selected_sentences_mark_a_word_of_the_target(sample: Domain) -> None:
    raw, chosen = "\n".join(sample.raw), of(sample, "selected").corpus
    for sentence in sample.natural.corpus:
        has = any(word in raw for word in marked_spans(sentence, "segmentation"))
        assert has == (sentence.forms in {s.forms for s in chosen})


# what they tell


def test_what_the_markup_tells_that_the_baseline_does_not_know(tmp_path: Path, sample: Domain) -> None:
    """The pages mark 京|看, which the baseline has wrong, and 在|北, which it has right."""
    (tmp_path / "a.md").write_text("我在**北京**看。\n", "utf-8")
    words = ("我", "在", "北京", "看", "书"), ("上", "京", "看", "的")
    gold = Corpus(tuple(map(Sentence, words)), "pd")
    domain = replace(sample, natural=harvested(tmp_path), gold={"test": gold})
    found = of_markup(domain, [{"marked pages": ["1 1 3 1"], "test": ["1 1 3 1", "1 2 1"]}] * 2)
    assert (found["known"], found["wrong"]) == ([2, 1], [1, 0])
    test = found["gold"]["test"]
    assert (test["mistakes"], test["alike"], test["edges"]) == (2, [2, 100], [1, pytest.approx(100 * 14 / 17)])
    assert test["F"] == pytest.approx(100 * 2 * 5 / (9 + 7))


# pages


def test_pages_are_harvested_with_their_spans(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 标题\n\n我在**北京**看[电影](x)。没有别的。\n", "utf-8")
    (tmp_path / "b.md").write_text("我在北京看电影。他在**上海**。\n", "utf-8")
    found = harvested(tmp_path)
    assert found.spans == {"标题": 1, "我在北京看电影。": 2, "他在上海。": 1}
    assert found.spans_of(found.corpus) == 4
    assert [word for s in found.corpus for word in marked_spans(s, "segmentation")] == ["标题", "北京", "电影", "上海"]
    assert raw_text(tmp_path) == ("标题", "我在北京看电影。", "没有别的。", "他在上海。")
    assert raw_text(tmp_path, {*found.spans}) == ("没有别的。",)


# domains


@pytest.mark.parametrize("part", PARTS)
def test_the_sample_serves_every_part(part: str) -> None:
    for setting in PARTS[part](None):
        domain = setting.draw(0)
        assert domain.digests == setting.draw(1).digests
        assert "test" in domain.gold
        texts = [{"".join(s.forms) for s in corpus} for corpus in (domain.train, *domain.gold.values())]
        assert not any(texts[0] & other for other in texts[1:])
        assert not texts[-1] & {"".join(s.forms) for s in domain.natural.corpus}
        if setting.name != "pages":
            assert not {"".join(s.forms) for s in domain.gold["test"]} & set(domain.raw)
        assert domain.recipe == (own_words.RECIPE if part == "own-words" else RECIPE)


# cells


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_learns_and_keeps_its_words(method: Method, sample: Domain, cache: Cache) -> None:
    result = Cell(sample, method, 0, cache).result()
    for part, gold in sample.gold.items():
        lengths = [sum(map(int, line.split())) for line in result[part]]
        assert lengths == [sum(map(len, sentence.forms)) for sentence in gold]
    assert len(result["history"]) == sample.schedule.iterations
    assert result["history"][-1] < result["history"][0]
    assert bool(method.partial) == (result["sentences"] > 0) == (result["marked"] > 0)
    assert result["labels"] == 4


def test_what_a_result_depends_on(sample: Domain, cache: Cache) -> None:
    fewer = replace(sample, train=sample.train.with_sentences(sample.train.sentences[:9]))
    words = replace(sample, lexicon=Lexicon(sample.lexicon.words[:9], (None,) * 9))
    changed = [
        *(Cell(sample, method, 0, cache) for method in METHODS),
        *(Cell(domain, COLUMNS, 0, cache) for domain in (fewer, words)),
        Cell(sample, COLUMNS, 1, cache),
        Cell(words, LEXICON, 0, cache),
        Cell(replace(sample, raw=sample.raw[:20]), LEXICON, 0, cache),
        Cell(replace(sample, schedule=Schedule(4)), COLUMNS, 0, cache),
        Cell(replace(sample, recipe=replace(RECIPE, settings={"rate": 0.1})), COLUMNS, 0, cache),
        Cell(replace(sample, recipe=replace(RECIPE, features="all")), COLUMNS, 0, cache),
        Cell(replace(sample, gold={"test": sample.gold["test"]}), COLUMNS, 0, cache),
    ]
    assert len({cache.path("x", cell.description()) for cell in changed}) == len(changed)
    assert Cell(words, BASELINE, 0, cache).description() == Cell(sample, BASELINE, 0, cache).description()
    no_pages = replace(sample, natural=Pages())
    assert Cell(no_pages, LEXICON, 0, cache).description() == Cell(sample, LEXICON, 0, cache).description()
