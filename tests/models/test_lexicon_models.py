"""Models that look at the words of a lexicon: kept on disk with their words, used without the lexicon's file."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_parts import parts, rewrite

from tagweave.corpus import sample
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.gazetteer import parse
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.features.lookups import Lookups
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.pair_tables import TableSegmenter, UnfitModelError
from tagweave.models.storage import ModelFileError, load_model, save_model
from tagweave.training.fit.fit import fit
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

SHORT = Schedule(3)
RECIPE = Recipe(Task("segment"), PRESETS["liu-2014-lexicon"], settings={"seed": 1})


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    whole = load(f"g={sample.path('pd.txt')}")
    return whole.with_sentences(whole.sentences[:40])


@pytest.fixture(scope="module")
def words(corpus: Corpus) -> tuple[str, ...]:
    counts = Counter(form for sentence in corpus for form in sentence.forms)
    return tuple(sorted(counts, key=lambda form: (-counts[form], form))[:60])


@pytest.fixture(scope="module")
def fitted(corpus: Corpus, words: tuple[str, ...]) -> Fitted:
    return fit([corpus], replace(RECIPE, lookups=Lookups(words=tuple(words))), run=Run(SHORT))


@pytest.fixture(scope="module")
def raw() -> list[Sentence]:
    whole = load(f"g={sample.path('ctb.txt')}")
    return [Sentence(s.forms) for s in Task("segment").prepare(whole.with_sentences(whole.sentences[40:80]))]


def test_order_and_repeats_of_the_words_change_nothing(
    corpus: Corpus, words: tuple[str, ...], fitted: Fitted, tmp_path: Path
) -> None:
    other = fit([corpus], replace(RECIPE, lookups=Lookups(words=(*reversed(words), *words, "一"))), run=Run(SHORT))
    save_model(fitted.model, tmp_path / "a")
    save_model(other.model, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_word_of_the_lexicon_is_found() -> None:
    """No character occurs twice, so nothing but the lexicon tells where the words of the last sentence are."""
    fresh = map(chr, range(0x4E00, 0x9FFF))
    sentences = [
        Sentence(tuple("".join(islice(fresh, length)) for length in shape))
        for shape in [*product((1, 2), repeat=4)] * 4 + [(1, 2, 2, 1, 2)]
    ]
    words = [form for sentence in sentences for form in sentence.forms]
    model = fit(
        [Corpus(tuple(sentences[:-1]), "g")], replace(RECIPE, lookups=Lookups(words=tuple(words))), run=Run(Schedule(5))
    ).model
    asked = Sentence(tuple("".join(sentences[-1].forms)))
    tagger = ChainPredictor(model)
    assert tagger.words(next(tagger.tag([asked]))).forms == sentences[-1].forms


def test_tables_refuse_such_a_model(fitted: Fitted) -> None:
    with pytest.raises(
        UnfitModelError, match="found a template over 'lexicon_begins', expected columns of single char"
    ):
        TableSegmenter(fitted.model)


def _json(value: Any) -> Any:
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


@pytest.mark.parametrize("stored", [None, _json({"甲乙": 1}), _json(["甲乙", 3]), _json(["甲乙"])[:-1]])
def test_invalid_words_are_refused(fitted: Fitted, stored: Any, tmp_path: Path) -> None:
    path = tmp_path / "m"
    save_model(fitted.model, path)
    description, arrays = parts(path)
    others = {name: array for name, array in arrays.items() if name != "lexicon.words"}
    rewrite(path, description, others if stored is None else others | {"lexicon.words": stored})
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(path)


def test_hostile_words_reach_no_kernel(fitted: Fitted, raw: list[Sentence], tmp_path: Path) -> None:
    """Empty, repeated and unsorted words, and halves of surrogate pairs, are no danger to the trie."""
    path = tmp_path / "m"
    save_model(fitted.model, path)
    description, arrays = parts(path)
    arrays["lexicon.words"] = _json(["", "乙甲", "甲乙", "甲乙", "\ud800\udc00", "甲", "\U0010ffff\U0010ffff"])
    rewrite(path, description, arrays)
    strange = Sentence(("\U0010ffff", "\U0010ffff", "\ud800"))
    assert len(list(ChainPredictor(load_model(path)).tag([*raw, strange]))) == len(raw) + 1


# Phrases of a gazetteer

SENTENCE = Sentence(("in", "New", "York"), {"tag": (("O",), ("B-X",), ("I-X",))})


def saved(path: Path, entries: Any) -> Path:
    """A model whose stored entries are replaced by these."""
    lookups = Lookups(gazetteer=parse(["X\tNew York"]))
    model = fit([Corpus((SENTENCE,))], Recipe(templates=PRESETS["gazetteer"], lookups=lookups), run=Run(Schedule(1)))
    save_model(model.model, path)
    description, arrays = parts(path)
    arrays["gazetteer.entries"] = np.frombuffer(json.dumps(entries).encode(), np.uint8)
    rewrite(path, description, arrays)
    return path


@pytest.mark.parametrize("entries", [["X\ta\tb"], ["a\nb"], "X\ta", [3], ["\ud800"], []])
def test_broken_entries_are_refused(entries: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(saved(tmp_path / "m", entries))


def test_hostile_entries_reach_no_kernel(tmp_path: Path) -> None:
    entries = ["a", "a", "X\ta  a", "\x00", "-", "\U0010ffff \U0010ffff", "New " * 3000]
    predictor = ChainPredictor(load_model(saved(tmp_path / "m", entries)))
    sentences = [SENTENCE, Sentence(()), Sentence(("\ud800\ud801", "\ud801", "", " ")), Sentence(("New",) * 3001)]
    assert [len(each) for each in predictor.tag(sentences)] == [3, 0, 4, 3001]
