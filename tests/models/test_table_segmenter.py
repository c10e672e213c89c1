"""Raw text by tables of pairs gives the words of `ChainPredictor`, for every coding, layout and set of templates."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tagweave.corpus.characters import RAW_BLANKS
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.evidence.layers import allowed_sets
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import PRESETS, Templates
from tagweave.harvest.runs import joined, without_blanks
from tagweave.labels.coding import CODINGS
from tagweave.labels.sets import LabelSets
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import pair_tables
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.linear_scorer import ChainParameters, Layout
from tagweave.models.pair_tables import PairTables, TableSegmenter, UnfitModelError
from tagweave.training.fit.task import Task

WORDS = (
    "今天 天气 好",
    "好 好 学习 ， 天天 向上 。",
    "１９９８ 年 1 月 ABC 公司",
    "ＡＢ ab ， , ア ｱ ｱ １1 ｡",
    "一",
    "𠀀𠀁 é 𠀀",
    "",
)
TEMPLATES = {
    "characters": PRESETS["characters"].texts,
    "liu-2014": PRESETS["liu-2014"].texts,
    "one character": ("form[0]", "type[-1]"),
    "backwards": ("form[1]", "form[0]", "form[1]==form[0]", "form[2]==form[0]", "script[1] type[0]"),
    "far": ("form[0]", "form[2] punctuation[2]", "form[-3] form[-1]", "date_class[1] date_class[3]"),
    "folded and far": ("folded[0]", "folded[0] folded[2]", "folded[1]==folded[2]", "folded[0]==folded[2]", "script[0]"),
    "nothing here": ("form[0]", "form[1]", "form[-4]", "form[3] form[4]"),
}
COMPILED = ("characters", "liu-2014", "folded and far")
"""Those that segment: a kernel is compiled for the windows of each; rows of weights are compared for all."""
LETTERS = {"BMES": "BMES", "BI": "BI", "boundary": "-|"}


@cache
def model(templates: str, coding: str, observed: bool = False, seed: int = 0) -> ChainModel:
    """A model with all features of the words, and random weights."""
    sentences = [Sentence(tuple(line.split())) for line in WORDS]
    coded = Task("segment", coding).prepare(Corpus(tuple(sentences), "seg"))
    space = LabelSpace.plain("seg", tuple(sorted(LETTERS[coding])))
    encoder = TemplateEncoder(Templates(TEMPLATES[templates]))
    encoded = encoder.encode(coded.sentences)
    encoder.freeze(encoded)
    sets, scheme = LabelSets(space), TransitionScheme.of(coding, space.names)
    encoded = encoded.with_evidence(allowed_sets(coded.sentences, sets, scheme, None))
    layout = Layout.dense(encoder.windows, len(space))
    if observed:
        layout = Layout.observed(encoded, encoder.windows, sets.masks)
    parameters = ChainParameters(space, (layout,), scheme)
    weights = np.random.default_rng(seed).normal(size=parameters.size).astype(np.float32)
    return ChainModel(parameters, encoder, weights, "segment", coding)


def expected(whole: ChainModel, lines: list[str], whole_runs: bool = True) -> list[str]:
    """The lines by `ChainPredictor`, blanks and runs being evidence."""
    task, tagger = Task("segment", whole.coding), ChainPredictor(whole)
    given_lines = Corpus(
        tuple(without_blanks(Sentence(tuple(line)), whole_runs) for line in lines), "segmentation", "character"
    )
    evidence = [s.layers["segmentation"] for s in task.prepare(given_lines)]
    pairs = zip(given_lines, evidence, strict=True)
    corpus = Corpus(tuple(replace(s, layers={"seg": layer}) for s, layer in pairs), "seg", "character")
    return [" ".join(tagger.words(sentence).forms) for sentence in tagger.complete(corpus)]


CHARACTERS = st.sampled_from(
    "今天气好学，。１1ABé,ＡＢaｱアﾊハＱQ｡Ｚ𠀀𠀁年一二鱻龘ぁァ \t\u3000\u00a0\u2028\ufeff\U0010ffff"
) | st.characters(exclude_characters="\n\r\0", exclude_categories=("Cs",))
RUNS = st.sampled_from(
    ["http://a.cn/b", "www.a.cn", "a.b@c.cn", "1,234", "don't", "１２．５％", "A－1", "12:30", "'a-"]
)
LINES = st.lists(st.lists(st.text(CHARACTERS, max_size=8) | RUNS, max_size=4).map("".join), max_size=6)


@settings(max_examples=25)
@given(st.sampled_from(COMPILED), st.sampled_from(CODINGS), st.booleans(), st.booleans(), LINES)
def test_words_are_those_of_the_tagger(
    templates: str, coding: str, observed: bool, whole_runs: bool, lines: list[str]
) -> None:
    whole = model(templates, coding, observed)
    tool = copy(segmenter(templates, coding, observed))  # of the same tables, which take longest to make
    tool.whole_runs = whole_runs
    for found, best in zip(tool.segment(lines), expected(whole, lines, whole_runs), strict=True):
        if found != best:  # where a line repeats itself, two segmentations may have one score
            assert score(whole, found) == pytest.approx(score(whole, best), abs=1e-4)
            assert found.replace(" ", "") == best.replace(" ", "")


def score(whole: ChainModel, line: str) -> float:
    """The score of a segmented line."""
    coded = Task("segment", whole.coding).prepare(Corpus((Sentence(tuple(line.split(" "))),), "seg"))[0]
    labels = [whole.parameters.space.names.index(each[0]) for each in coded.layers["seg"] if each]
    return whole.sequence_scores(whole.encoder.encode([coded]), np.array(labels, np.int32))[0]


@cache
def segmenter(templates: str, coding: str, observed: bool = False, seed: int = 0) -> TableSegmenter:
    return TableSegmenter(model(templates, coding, observed, seed))


@settings(max_examples=15)
@given(st.sampled_from(CODINGS), st.integers(0, 1), LINES)
def test_text_stays_and_no_word_begins_inside_a_run(coding: str, seed: int, lines: list[str]) -> None:
    found = list(segmenter("liu-2014", coding, seed=seed).segment(lines))
    for line, words in zip(lines, found, strict=True):
        kept = [at for at, character in enumerate(line) if character not in RAW_BLANKS]
        assert words.replace(" ", "") == "".join(line[at] for at in kept)
        inside = joined(line)
        starts = np.cumsum([0, *map(len, words.split(" "))])[:-1] if words else []
        assert not any(inside[kept[start]] for start in starts)


@settings(max_examples=10)
@given(st.sampled_from(CODINGS), LINES)
def test_the_tagger_has_the_same_switch(coding: str, lines: list[str]) -> None:
    whole = model("liu-2014", coding)
    sentences = [Sentence(tuple(c for c in line if c not in RAW_BLANKS)) for line in lines]
    tagger = ChainPredictor(whole)
    for whole_runs in (False, True):
        found = [" ".join(tagger.words(each).forms) for each in tagger.tag(sentences, whole_runs)]
        assert found == expected(whole, ["".join(each.forms) for each in sentences], whole_runs)


@pytest.mark.parametrize(
    "change",
    [
        lambda whole: replace(whole, task="segtag"),
        lambda whole: replace(whole, parameters=replace(whole.parameters, scheme=TransitionScheme.free(4))),
        lambda whole: replace(whole, weights=np.full_like(whole.weights, np.nan)),
    ],
)
def test_models_that_tables_cannot_hold(change: Callable[[ChainModel], ChainModel]) -> None:
    with pytest.raises(UnfitModelError):
        TableSegmenter(change(model("one character", "BMES")))


@pytest.mark.parametrize(
    "texts",
    [
        PRESETS["jiang-2015"].texts,
        ("form[0]", "form[0] form[3]"),
        ("form[0]", "form[0] type[1]"),
        ("form[0]", "lower[0]"),
        ("form[0]", "folded[1]"),
        ("folded[0]", "has_period[0]"),
        ("form[0]", "inner[0]"),
        ("form[0]", "final[0]"),
        ("form[0] form[1]",),
    ],
)
def test_templates_that_tables_cannot_hold(texts: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TEMPLATES, "unfit", texts)
    model.cache_clear()
    with pytest.raises(UnfitModelError, match="found"):
        TableSegmenter(model("unfit", "BMES"))
    model.cache_clear()


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_come_in_order_on_any_number_of_threads(threads: int) -> None:
    tool = TableSegmenter(model("liu-2014", "BMES"), threads)
    texts = [f"{'今天' * number}\n好{number}\n" for number in range(40)]
    blocks = list(tool.blocks(iter(texts)))
    assert [block.decode().replace(" ", "") for block in blocks] == texts
    assert blocks == list(segmenter("liu-2014", "BMES").blocks(texts))


def test_few_texts_are_held_at_a_time() -> None:
    taken = []

    def texts() -> Iterator[str]:
        for number in range(50):
            taken.append(number)
            yield "今天\n"

    blocks = TableSegmenter(model("liu-2014", "BMES"), 2).blocks(texts())
    next(blocks)
    assert len(taken) <= 4
    assert len(list(blocks)) == 49


def test_text_that_is_not_a_line_is_an_error() -> None:
    tool = segmenter("liu-2014", "BMES")
    with pytest.raises(ValueError, match="a line break in 'a"):
        list(tool.segment(["今", "a\nb"]))
    with pytest.raises(ValueError, match="without a line break at its end"):
        list(tool.blocks(["今"]))
    with pytest.raises(ValueError, match="surrogate"):
        list(tool.segment(["\ud800"]))
    assert list(tool.segment([])) == [] == list(tool.blocks([]))


def test_long_lines_and_many_lines() -> None:
    lines = ["今天 天气好" * 4000, *[""] * 3000, "好", *["学习今天"] * 2000]
    assert list(segmenter("liu-2014", "BMES").segment(lines)) == expected(model("liu-2014", "BMES"), lines)


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_every_row_is_a_sum_of_feature_weights(name: str) -> None:
    whole = model(name, "BMES", seed=7)
    tables = PairTables(whole).tables
    text = "今天天好好鱻𠀀"
    e, (alone, near, far) = tables.entries, tables.slots
    numbers = np.concatenate([e.pads[: e.lead], e.number[[ord(c) for c in text]], e.pads[e.lead :]])
    assert (alone.reach, near.reach, far.reach) == (0, 1, 2)
    scores = np.zeros((len(text), 4))
    rows = alone.weights.reshape(-1, alone.width)[:, : 4 * len(alone.window)].reshape(-1, len(alone.window), 4)
    for t in range(len(text)):
        for j in alone.window:
            scores[t] += rows[numbers[e.lead + t + alone.high - j], j]
    families = whole.encoder.templates.families
    seen = [{at for term in each.terms for at in (term.offset, term.offset + term.reach)} for each in families]
    encoded = whole.encoder.encode([Sentence(tuple(text))])
    others = [k for k, offsets in enumerate(seen) if len(offsets) > 1]
    encoded.grams[:, others] = -1
    np.testing.assert_allclose(scores, whole.scoring.scores(encoded, 0, 1).emission, atol=1e-5)


def test_kept_tables_are_made_once_for_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ["今天天好好鱻𠀀 a1"]
    own, other = model("liu-2014", "BMES"), model("liu-2014", "BMES", seed=7)
    segmented = [list(TableSegmenter(each, folder=tmp_path).segment(text)) for each in (own, other)]
    assert segmented == [expected(own, text), expected(other, text)]
    monkeypatch.setattr(pair_tables, "PairTables", None)
    assert [list(TableSegmenter(each, folder=tmp_path).segment(text)) for each in (own, other)] == segmented


def test_where_nothing_can_be_kept_tables_are_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    own, text = model("liu-2014", "BMES"), ["今天天好好"]
    assert list(TableSegmenter(own, folder=tmp_path / "file").segment(text)) == expected(own, text)
