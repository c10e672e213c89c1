"""Guides: the column that another model fills, the source of each label, and model files with guides."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from model_parts import parts, rewrite
from safetensors.numpy import save_file

import naive
from problems import Problem, bundles, plain
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.errors import CorpusError
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import PRESETS, Template, Templates
from tagweave.labels.space import LabelSpace
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models import cascades as guide_module
from tagweave.models.cascades import GuidedEncoder, guide_templates, one_label_each
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.linear_scorer import ChainParameters, Layout
from tagweave.models.storage import ModelFileError, describe_model, load_model, save_model

TEXTS = [["a", "B", "Aa"], ["abbc"], ["a", "a"]]
SENTENCES = [Sentence(tuple(text)) for text in TEXTS]
SPACES = {"plain": plain(), "bundles": bundles(), "segments": LabelSpace.plain("seg", "BMES")}


def source(kind: str = "plain", seed: int = 1) -> tuple[ChainModel, Problem]:
    """A model with random weights, to be a guide."""
    scheme = TransitionScheme.of("BMES", "BMES") if kind == "segments" else None
    problem = Problem(TEXTS, SPACES[kind], seed, scheme=scheme)
    return ChainModel(problem.parameters, problem.encoder, problem.weights), problem


def guided_by(guide: ChainModel, guideline: str = "target", seed: int = 2, names: str = "PQ") -> ChainModel:
    """A model with random weights that a guide guides."""
    guides = guide.space.views[0].guideline
    encoder = GuidedEncoder(TemplateEncoder(Templates(("form[0]", *guide_templates(guides)))), guide)
    encoder.freeze(encoder.encode(SENTENCES))
    space = LabelSpace.plain(guideline, names)
    parameters = ChainParameters(space, (Layout.dense(encoder.windows, len(space)),), TransitionScheme.free(len(space)))
    return ChainModel(parameters, encoder, np.random.default_rng(seed).normal(size=parameters.size))


def columns(encoder: GuidedEncoder, *sentences: Sentence, threads: int = 1) -> list[tuple[str, ...]]:
    return [sentence.columns[encoder.column] for sentence in encoder.filled(sentences, threads)]


def tags(model: ChainModel, *sentences: Sentence) -> list[tuple[str, ...]]:
    tagger = ChainPredictor(model)
    return [tuple(str(c[0]) for c in each.layers[tagger.guideline] if c) for each in tagger.tag(sentences)]


def encoder_of(kind: str = "plain", seed: int = 1) -> GuidedEncoder:
    encoder = guided_by(source(kind, seed)[0]).encoder
    assert isinstance(encoder, GuidedEncoder)
    return encoder


# Templates


def test_templates_use_the_column_alone_and_with_the_form() -> None:
    templates = Templates(guide_templates("pd"))
    assert templates.user_columns == ("guide:pd",)
    assert [str(template) for template in templates.parsed] == list(guide_templates("pd"))
    names = [[term.column for term in template.terms] for template in templates.parsed]
    assert names == [["user:guide:pd"]] * 3 + [["user:guide:pd"] * 2] * 3 + [["form", "user:guide:pd"]] * 3
    assert {term.offset for template in templates.parsed for term in template.terms} == {-1, 0, 1}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_label_is_joined_to_every_template_of_one_value(preset: str) -> None:
    """jiang-2015, Table 3."""
    base = PRESETS[preset]
    alone, *joined = guide_templates("g", base)
    assert alone == "user:guide:g[0]"
    lists = [t for t in base.parsed if {term.column for term in t.terms} & {"inner", "repeat"}]
    assert len(joined) == len(base.parsed) - len(lists)
    assert len(lists) == (4 if preset == "li-2015" else 0)
    parsed = Templates((*base.texts, alone, *joined)).parsed
    assert len(parsed) == len(base.parsed) + 1 + len(joined)
    assert [template.terms[:-1] for template in map(Template.parse, joined)] == [
        template.terms for template in base.parsed if template not in lists
    ]


# Where a label of the column comes from


@pytest.mark.parametrize("kind", SPACES)
@pytest.mark.parametrize("threads", [1, 2])
def test_the_guide_labels_sentences_without_labels(kind: str, threads: int) -> None:
    encoder = encoder_of(kind)
    found = columns(encoder, *SENTENCES, Sentence(()), Sentence(("new", "a")), threads=threads)
    alone = [columns(encoder, sentence)[0] for sentence in (*SENTENCES, Sentence(()), Sentence(("new", "a")))]
    assert found == alone == tags(encoder.guide, *SENTENCES, Sentence(()), Sentence(("new", "a")))


def test_an_existing_column_is_kept() -> None:
    encoder = encoder_of()
    given = Sentence(("a", "B"), {"tag": (("W",), ("X",))}, {"guide:tag": ("any", "thing")})
    assert columns(encoder, given) == [("any", "thing")]


def test_a_string_column_of_the_guideline_is_ignored() -> None:
    """Column files give every layer a string column of its name: in training it would tell the gold labels."""
    encoder = encoder_of()
    with_column = Sentence(("a", "B", "Aa"), columns={"tag": ("Z", "Z", "Z")})
    assert columns(encoder, with_column) == columns(encoder, SENTENCES[0])


def test_a_layer_with_one_label_everywhere_replaces_the_guide() -> None:
    encoder = encoder_of()
    layer: Layer = (("Z",), ("unheard-of",), ("Z",))
    assert columns(encoder, Sentence(("a", "B", "Aa"), {"tag": layer})) == [("Z", "unheard-of", "Z")]


@pytest.mark.parametrize("layer", [(("Z",), None), (("Z",), ("W", "X")), (("Z",), ("!W",)), (("Z",), ("!X",))])
def test_a_partial_layer_is_completed(layer: Layer) -> None:
    encoder = encoder_of()
    sentence = Sentence(("a", "B"), {"tag": layer})
    assert one_label_each(layer, encoder.guide.space.names) is None
    (completed,) = ChainPredictor(encoder.guide).complete(Corpus((sentence,), "tag"))
    expected = tuple(str(candidates[0]) for candidates in completed.layers["tag"] if candidates)
    assert columns(encoder, sentence) == [expected]
    assert expected[0] == "Z"
    assert layer[1] is None or layer[1][0][0] == "!" or expected[1] in layer[1]


def test_a_wildcard_is_one_label_only_where_it_is_the_name_of_one() -> None:
    assert one_label_each((("!W",), ("X",)), ("W", "X")) is None
    assert one_label_each((("!W",), ("X",)), ("!W", "X")) == ("!W", "X")
    assert one_label_each((), ()) == ()
    assert one_label_each(None, ("X",)) is None


POSITION = st.none() | st.lists(st.sampled_from("WXYZ"), min_size=1, max_size=4, unique=True).map(tuple)


@settings(max_examples=40)
@given(seed=st.integers(0, 5), layer=st.lists(POSITION, min_size=3, max_size=3).map(tuple))
def test_the_column_is_the_best_sequence_that_the_layer_allows(seed: int, layer: Layer) -> None:
    _, problem = source(seed=seed)
    chain, names = problem.chains(False)[0], problem.parameters.space.names
    assert chain is not None
    allowed = {
        labels: weight
        for labels, weight in naive.log_weights(chain).items()
        if all(c is None or names[y] in c for y, c in zip(labels, layer, strict=True))
    }
    best = max(allowed, key=lambda labels: allowed[labels])
    found = columns(encoder_of(seed=seed), replace(SENTENCES[0], layers={"tag": layer}))
    assert found == [tuple(names[y] for y in best)]


def test_the_guide_sees_no_other_layer() -> None:
    """A guide of bundles would use the layers of all its views, and so see the answer."""
    encoder = encoder_of("bundles")
    (best,) = columns(encoder, SENTENCES[0])
    heeded = set()
    for name in ("ctb", "pd"):
        for tag in encoder.guide.space.view(name).names:
            given = replace(SENTENCES[0], layers={name: ((tag,),) * 3})
            assert columns(encoder, given) == [best]
            (completed,) = ChainPredictor(encoder.guide).complete(Corpus((given,), "joint"))
            heeded.add(completed.layers["joint"])
    assert len(heeded) == 6  # what a guide that saw these layers would have said


@pytest.mark.parametrize(
    ("layer", "found"),
    [((("Q",), None), "f:7: found label 'Q' is not one of the 4 of tag"), ((("!Q",), None), "f:7: found label '!Q'")],
)
def test_a_label_that_the_guide_does_not_know(layer: Layer, found: str) -> None:
    with pytest.raises(CorpusError, match=found):
        encoder_of().filled([Sentence(("a", "b"), {"tag": layer}, location=Location("f", 7))])


def test_labels_that_exclude_one_another() -> None:
    broken = Sentence(("a", "b", "a"), {"seg": (("B",), ("S",), None)}, location=Location("f", 7))
    with pytest.raises(CorpusError, match="f:7: found labels that exclude one another"):
        encoder_of("segments").filled([broken])


def test_all_sentences_are_labelled_together_on_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []

    class Counted(ChainPredictor):
        def complete(self, corpus: Corpus) -> Corpus:
            calls.append((len(corpus), self.threads))
            return super().complete(corpus)

    monkeypatch.setattr(guide_module, "ChainPredictor", Counted)
    model = guided_by(source()[0])
    known = replace(SENTENCES[1], layers={"tag": (("W",),)})
    calls.clear()
    assert len(list(ChainPredictor(model, 2).tag([*SENTENCES, known, *SENTENCES]))) == 7
    assert calls == [(6, 2)]


# Features


def test_features_are_those_of_templates_over_the_column() -> None:
    encoder = encoder_of()
    written = [
        sentence.with_column("guide:tag", column)
        for sentence, column in zip(SENTENCES, tags(encoder.guide, *SENTENCES), strict=True)
    ]
    ours, theirs = encoder.encode(SENTENCES), encoder.encoder.encode(written)
    features = {name: array for name, array in vars(ours).items() if name != "evidence"}
    for name, array in features.items():
        np.testing.assert_array_equal(array, getattr(theirs, name), err_msg=name)
    for name, array in vars(ours.evidence).items():
        np.testing.assert_array_equal(array, getattr(theirs.evidence, name), err_msg=name)


def test_rare_features_are_dropped_and_windows_fit() -> None:
    encoder = GuidedEncoder(TemplateEncoder(Templates(guide_templates("tag"))), source()[0])
    encoded = encoder.encode(SENTENCES)
    before = len(encoder.windows)
    encoder.freeze(encoded, 2)
    assert 0 < len(encoder.windows) < before
    assert max(encoded.grams.max(), encoded.type_features.max(initial=-1)) == len(encoder.windows) - 1
    assert set(encoder.windows.tolist()) <= {1, 2, 3}


def test_evidence_under_another_name_leaves_the_guides_layer_alone() -> None:
    """`complete` renames the evidence; the guide sees the layers that the sentence came with."""
    model, found = guided_by(source()[0], seed=5), set()
    for a, b in product("WXYZ", repeat=2):
        gold = replace(SENTENCES[0], layers={"tag": ((a,), (b,), ("W",)), "mine": (None, None, None)})
        (completed,) = ChainPredictor(model).complete(Corpus((gold,), "mine"))
        (tagged,) = ChainPredictor(model).tag([gold])
        assert completed.layers["mine"] == tagged.layers["target"]
        found.add(completed.layers["mine"])
    assert len(found) > 1


# Files


def chain_of(depth: int) -> ChainModel:
    """A model whose guide has a guide, and so on."""
    model = source()[0]
    for level in range(depth):
        model = guided_by(model, f"level{level}", level)
    return replace(model, about={"depth": depth})


@pytest.mark.parametrize(
    "changes",
    [
        {"space": None},
        {"space": {"names": ["A"], "views": [{"guideline": "g", "names": ["A"], "projection": [0]}]}},
        {"weighted": [True, True]},
        {"encoder": {"kind": "templates", "templates": ["nonsense["]}},
        {"encoder": {"kind": "guided", "templates": ["form[0]"], "guide": {}}},
        {"encoder": {"kind": "unheard of"}},
    ],
)
def test_descriptions_of_guides_that_do_not_fit(changes: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "m"
    save_model(chain_of(1), path)
    description, arrays = parts(path)
    description["encoder"]["guide"] |= changes
    rewrite(path, description, arrays)
    with pytest.raises(ModelFileError, match="parts do not fit"):
        load_model(path)


def guides_in_guides(path: Path, depth: int) -> None:
    """A whole model whose guides are copies of one another, so many deep."""
    save_model(chain_of(0), path)
    bottom, arrays = parts(path)
    bottom.pop("digest", None)
    nested, held = bottom, {"guide." * depth + name: array for name, array in arrays.items()}
    for level in range(depth):
        nested = {**bottom, "encoder": {**bottom["encoder"], "kind": "guided", "guide": nested}}
        held |= {"guide." * level + name: array for name, array in arrays.items()}
    rewrite(path, nested, held)


@contextmanager
def few_calls(depth: int) -> Iterator[None]:
    """Python gives up after so many nested calls more."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + depth)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def test_endlessly_nested_guides_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "m"
    endless = '{"format": 1, "encoder": ' + '{"guide": ' * 100_000 + "{}" + "}" * 100_001
    save_file({"weights": np.zeros(3)}, path, {"tagweave": endless})
    for read in (load_model, describe_model):
        with pytest.raises(ModelFileError, match="damaged"):
            read(path)


def test_more_guides_than_python_can_follow_are_refused(tmp_path: Path) -> None:
    path, few, many, found = tmp_path / "m", 1, 100, ""
    while many - few > 1:
        depth = (few + many) // 2
        guides_in_guides(path, depth)
        try:
            with few_calls(150):
                load_model(path)
            few = depth
        except ModelFileError as error:
            many, found = depth, str(error)
    assert few > 10
    assert "RecursionError" in found


def test_a_view_without_weights_has_none_on_disk(tmp_path: Path) -> None:
    problem = Problem(TEXTS, bundles(), 2, observed=True, observed_transitions=True)
    s = problem.parameters
    masks = s.observed_transitions or ()
    parameters = replace(s, layouts=(None, *s.layouts[1:]), observed_transitions=masks[1:])
    model = ChainModel(parameters, problem.encoder, np.random.default_rng(0).normal(size=parameters.size))
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.parameters.layouts[0] is None
    assert "layout.0.ptr" not in parts(tmp_path / "m")[1]
    assert tags(loaded, *SENTENCES) == tags(model, *SENTENCES)
