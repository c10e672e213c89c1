"""Models that go on learning: from new text, with new types, without the text of before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tagweave as tw
from benchmarks.fuzz_bases import save_network
from tagweave.corpus.candidates import Soft
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Sentence
from tagweave.errors import CorpusError, PlanError
from tagweave.learning.run import Silence
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.training.cascades.update import count_silent, updated, with_beliefs
from tagweave.training.fit.chain_problem import prepare_coded, prepare_corpora
from tagweave.training.fit.recipe import Recipe
from tagweave.training.fit.task import Task

PEOPLE, PLACES, FIRMS = (
    ("Ada", "Bo", "Cy", "Di"),
    ("Rome", "Oslo", "Bonn", "Kiel"),
    ("Acme", "Initech", "Umbra", "Volta"),
)
OUTSIDE = ("in", "the", "saw", "of", "went", "at", "near", "and")


def text(seed: int, sentences: int, types: tuple[str, ...]) -> Corpus:
    """Return sentences about people, places and firms, of which only these types are marked."""
    rng = np.random.default_rng(seed)
    words = {"PER": PEOPLE, "LOC": PLACES, "ORG": FIRMS}
    made = []
    for _ in range(sentences):
        kinds = rng.choice(["PER", "LOC", "ORG", "", "", ""], 7).tolist()
        forms = [str(rng.choice(words.get(kind, OUTSIDE))) for kind in kinds]
        labels = [f"B-{kind}" if kind in types else "O" for kind in kinds]
        made.append(Sentence(tuple(forms), {"tag": tuple((label,) for label in labels)}))
    return Corpus(tuple(made), "tag")


def first_model(**options: Any) -> Any:
    return tw.train(text(0, 60, ("PER", "LOC")), task="spans", callback=Silence(), average_seeds=1, **options)


def types_of(model: Any, *words: str) -> list[str]:
    (sentence,) = ChainPredictor(model.chain).tag([Sentence(words)])
    return [candidates[0] for candidates in sentence.layers["tag"]]


@pytest.mark.parametrize("weights", ["all", "observed"])
def test_a_new_type_is_learned_and_the_others_are_kept(weights: str) -> None:
    model = first_model(feature_weights=weights)
    model.update(text(1, 60, ("ORG",)), covers=["ORG"], callback=Silence())
    assert types_of(model, "Ada", "saw", "Acme", "in", "Rome") == ["B-PER", "O", "B-ORG", "O", "B-LOC"]
    assert model.labels == ("B-LOC", "B-ORG", "B-PER", "I-LOC", "I-ORG", "I-PER", "O")


def test_the_weights_of_before_begin() -> None:
    model = first_model().chain
    recipe = Recipe(Task("spans"))
    new = text(1, 20, ("ORG",)).map(lambda s: replace(s, forms=tuple(f"{form}x" for form in s.forms)))
    problem = prepare_coded(prepare_corpora([new], recipe), recipe, start=model)
    begun = problem.model
    assert set(begun.space.names) > set(model.space.names)
    codes = model.encoder.index.codes()
    assert np.array_equal(begun.encoder.index.codes()[: len(codes)], codes)
    old_text = text(2, 5, ())
    before = model.scoring.scores(encoded := model.encoder.encode(old_text.sentences), 0, 5)
    after = begun.scoring.scores(begun.encoder.encode(old_text.sentences), 0, 5)
    columns = [begun.space.names.index(name) for name in model.space.names]
    assert np.allclose(after.emission[:, columns], before.emission, atol=1e-5) and encoded.tokens == 35
    assert np.allclose(after.transitions.score[np.ix_(columns, columns)], before.transitions.score)
    others = [at for at in range(len(begun.space)) if at not in columns]
    assert not after.emission[:, others].any()


def test_frequent_features_move_less() -> None:
    model = first_model().chain
    recipe = Recipe(Task("spans"))
    new = text(1, 20, ("ORG",))
    problem = prepare_coded(prepare_corpora([new], recipe), recipe, start=model)
    assert problem.before is not None
    state = problem.trainer(recipe).start(problem.objective, problem.model.weights)
    plain = recipe.trainer().start(problem.objective, problem.model.weights)
    added = state.arrays["squares"] - plain.arrays["squares"]
    assert np.allclose(added, 0.1 * problem.before.occurrences, rtol=1e-3)
    features = len(model.linear.counts)
    (_, layout), *_ = problem.model.linear.weighted
    assert not added[layout.ptr[features] : layout.size].any() and (added[: layout.ptr[features]] > 0).all()


def coded(layer: list[Any], covered: tuple[str, ...] | None = None) -> Corpus:
    corpus = Corpus((Sentence(("Ada", "saw", "Acme", "in", "Rome"), {"tag": tuple(layer)}),), "tag")
    return prepare_corpora([corpus.covering(covered)], Recipe(Task("spans")))[0]


def test_beliefs_stand_where_annotation_is_silent() -> None:
    model = first_model().chain
    names = Task("spans").labels(sorted({*model.space.names, "S-ORG"}))
    silent = coded([("O",), ("O",), ("B-ORG",), ("O",), ("O",)], ("ORG",))
    assert count_silent(silent) == 4
    believed = with_beliefs(model, silent, names)
    first, second, third, _, last = believed[0].layers["tag"]
    assert first is not None and "S-PER" in first and last is not None and "S-LOC" in last
    assert second is not None and second[0] == "O" and third == ("S-ORG",)
    assert not any("ORG" in label for label in first) and believed.covered is None


def test_new_labels_join_where_nothing_is_said_of_them() -> None:
    model = first_model().chain
    names = Task("spans").labels(sorted({*model.space.names, "S-ORG"}))
    partly = coded([("B-PER",), None, ("B-ORG",), None, None])
    layer = with_beliefs(model, partly, names)[0].layers["tag"]
    assert layer[1] is not None and {"O", "S-ORG", "B-ORG"} <= set(layer[1]) and not isinstance(layer[1], Soft)
    assert layer[4] is not None and "S-LOC" in layer[4]


def test_probabilities_are_those_of_the_model_under_the_annotation() -> None:
    model = first_model(iterations=1).chain
    partly = coded([("B-PER",), None, None, None, ("O",)])
    layer = with_beliefs(model, partly, model.space.names)[0].layers["tag"]
    predictor = ChainPredictor(model, in_coding=True)
    (table,) = predictor.probabilities(partly.sentences, "tag")
    for row, candidates in zip(table[1:4], layer[1:4], strict=True):
        assert isinstance(candidates, Soft)
        kept = {name: p for name, p in zip(predictor.labels, row.tolist(), strict=True) if p >= 1e-3}
        sum_of_kept = sum(kept.values())
        expected = {name: p / sum_of_kept for name, p in kept.items()}
        assert dict(zip(candidates, candidates.numbers, strict=True)) == pytest.approx(expected)
    sets = with_beliefs(model, partly, model.space.names, in_numbers=False)[0].layers["tag"]
    assert all(not isinstance(candidates, Soft) for candidates in sets)


def test_unknown_sentences_change_nothing() -> None:
    model = first_model().chain
    new = text(1, 20, ("PER", "LOC"))
    unknown = Corpus(tuple(Sentence(s.forms, {"tag": (None,) * len(s)}) for s in new), "tag")
    assert with_beliefs(model, prepare_corpora([unknown], Recipe(Task("spans")))[0], model.space.names)[0] == unknown[0]
    both = [updated(model, corpora, Recipe(Task("spans"))).model for corpora in ([new], [new, unknown])]
    assert np.array_equal(both[0].weights, both[1].weights)


def test_models_that_look_at_documents_go_on() -> None:
    documents = [replace(text(seed, 6, ("PER", "LOC")), path="").sentences for seed in range(12)]
    marked = Corpus(
        tuple(
            replace(sentence, comments=("# newdoc",) if at == 0 else ())
            for document in documents
            for at, sentence in enumerate(document)
        ),
        "tag",
    )
    model = tw.train(marked, task="spans", callback=Silence(), average_seeds=1, documents=True)
    assert model.chain.encoder.of_documents
    model.update(text(1, 60, ("ORG",)), covers=["ORG"], callback=Silence())
    assert types_of(model, "Ada", "saw", "Acme", "in", "Rome") == ["B-PER", "O", "B-ORG", "O", "B-LOC"]
    assert model.chain.encoder.of_documents and "B-ORG" in str(model.chain.encoder.parts["guide"].space.names)


def test_networks_go_on(tmp_path: Path) -> None:
    save_network(tmp_path, [*PEOPLE, *PLACES, *FIRMS, *OUTSIDE])
    first = first_model(encoder=str(tmp_path), iterations=3)
    first.save(tmp_path / "first")
    model = tw.load_model(tmp_path / "first")  # which needs the folder no more
    for file in tmp_path.glob("*.json"):
        file.unlink()
    before = model.chain
    recipe = replace(Recipe(Task("spans"), learner="adamw"), lookups=before.encoder.lookups)
    begun = prepare_coded(prepare_corpora([text(1, 5, ("ORG",))], recipe), recipe, start=before).model
    old_text = text(2, 5, ("PER",)).sentences
    columns = [begun.space.names.index(name) for name in before.space.names]
    scores, old_scores = (m.scoring.scores(m.encoder.encode(old_text), 0, 5).emission for m in (begun, before))
    assert np.allclose(scores[:, columns], old_scores, atol=1e-5)
    model.update(text(1, 60, ("ORG",)), covers=["ORG"], iterations=3, callback=Silence())
    assert types_of(model, "Ada", "saw", "Acme", "in", "Rome") == ["B-PER", "O", "B-ORG", "O", "B-LOC"]
    assert model.chain.parameters.has_network and not np.array_equal(
        model.chain.weights[-1000:], before.weights[-1000:]
    )


def test_tags_and_words_go_on() -> None:
    words = Corpus([(["the", "dog", "runs"], ["D", "N", "V"]), (["a", "cat"], ["D", "N"])] * 10)
    tagger = tw.train(words, task="tag", callback=Silence())
    tagger.update(Corpus([(["oh", "the", "cat"], ["I", None, None])] * 5), callback=Silence())
    assert tagger.tag(["oh", "the", "dog"]) == ["I", "D", "N"]
    cut = [(["天地", "人"], [None, None]), (["人", "天地"], [None, None])]
    cutter = tw.train(Corpus(cut * 10), task="segment", callback=Silence())
    cutter.update(Corpus([(["山水", "天地"], [None, None])] * 10), callback=Silence())
    assert cutter.cut("天地山水") == ["天地", "山水"] and cutter.cut("人天地") == ["人", "天地"]


def test_development_data_select_and_calibrate() -> None:
    model = first_model()
    model.update(text(1, 40, ("PER", "LOC")), text(2, 40, ("PER", "LOC")), callback=Silence())
    assert model.score is not None and "calibration" in model.about


def test_the_record_has_all_corpora_and_the_updates(tmp_path: Path) -> None:
    model = first_model()
    model.update(text(1, 30, ("ORG",)), covers=["ORG"], callback=Silence())
    model.update(text(2, 30, ("PER", "ORG", "LOC")), sources=text(0, 60, ("PER", "LOC")), callback=Silence())
    model.save(tmp_path / "model")
    plan = tw.load_model(tmp_path / "model").plan
    assert [source.covers for source in plan.target] == [("LOC", "PER"), ("ORG",), None]
    first, second = model.about["updates"]
    assert first["start"]["sha256"] != second["start"]["sha256"] and second["sources"][0]["size"] == 60
    assert plan.method == "single" and plan.start is None


def test_the_same_seed_gives_the_same_model() -> None:
    models = [first_model() for _ in range(2)]
    for model in models:
        model.update(
            text(1, 30, ("ORG",)), covers=["ORG", "PER"], sources=text(0, 60, ("PER",)), seed=3, callback=Silence()
        )
    assert np.array_equal(models[0].chain.weights, models[1].chain.weights)


def test_what_the_model_determines_is_refused() -> None:
    model = first_model()
    new = text(1, 10, ("ORG",))
    for options, message in (
        ({"templates": ["form[0]"]}, "found `templates` with `start`, expected it without"),
        ({"learner": "lbfgs"}, "found `learner` with `start`"),
        ({"task": "tag"}, "found `task=tag` with `start`, expected spans"),
        ({"method": "single"}, "found `method=single` with `start`"),
    ):
        with pytest.raises(PlanError, match=message):
            tw.train(new, start=model, callback=Silence(), **options)
    with pytest.raises(PlanError, match="`method=update` without a model"):
        tw.train(new, task="spans", method="update", callback=Silence())
    named = Corpus(tuple(s.renamed({"tag": "other"}) for s in new), "other")
    coupled = tw.train(new, sources=named, method="coupled", task="spans", callback=Silence())
    with pytest.raises(PlanError, match="a model of the guidelines"):
        tw.train(new, start=coupled, callback=Silence())
    words = Corpus([(["ab", "c"], ["N", "V"])] * 60, unit="word")
    pipeline: Any = tw.train(words, task="segtag", method="pipeline", callback=Silence())
    with pytest.raises(PlanError, match="cuts text into pieces first"):
        tw.train(words, start=pipeline, callback=Silence())
    with pytest.raises(PlanError, match="cuts text into pieces first"):
        pipeline.correct(["ab", "c"], ["V", "V"])


def test_minutes_leave_out_what_there_is_no_time_for(capsys: pytest.CaptureFixture[str]) -> None:
    model = tw.train(text(0, 300, ("PER", "LOC")), dev=text(1, 60, ("PER", "LOC", "ORG")), task="spans", minutes=0.001)
    assert "time is over after iteration 1" in capsys.readouterr().err
    assert types_of(model, "Ada") in (["B-PER"], ["O"])


def test_weights_of_the_same_labels_are_merged_with_those_of_before() -> None:
    model, recipe = first_model().chain, Recipe(Task("spans"))
    problem = prepare_coded(prepare_corpora([text(1, 20, ("PER", "LOC"))], recipe), recipe, start=model)
    assert problem.before is not None and (problem.before.share <= 0.5).all()
    begun = problem.model.weights
    moved = problem.before.merged(begun + 1) - begun
    assert np.allclose(moved, 1 - problem.before.share, atol=1e-5) and moved.min() < 0.8
    new = prepare_coded(prepare_corpora([text(1, 20, ("ORG",))], recipe), recipe, start=model)
    assert new.before is not None and not new.before.share.any()


def test_the_model_of_before_is_what_an_update_is_compared_with(capsys: pytest.CaptureFixture[str]) -> None:
    dev, known = text(2, 40, ("PER", "LOC")), text(0, 60, ("PER", "LOC"))
    model = first_model()
    model.update(text(1, 40, ("PER", "LOC")), dev, sources=known)
    told = capsys.readouterr().err
    assert "on the development data: before 1.0000, now 1.0000" in told
    assert "plain" not in told and "the sources" not in told
    model.update(text(1, 40, ("PER", "LOC")), sources=known)
    assert "the sources" not in capsys.readouterr().err
    model.update(text(1, 40, ()), dev)  # names are O
    assert "warning: on the development data, the model was better before: 1.0000, now 0." in capsys.readouterr().err


@pytest.mark.parametrize("name", ["", "ptb="])
def test_the_layer_that_the_model_has_learned_is_read(tmp_path: Path, name: str) -> None:
    rows = [("the", "DET", "DT"), ("dogs", "NOUN", "NNS"), ("bark", "VERB", "VBP")]
    lines = [f"{at}\t{form}\t_\t{upos}\t{xpos}\t_\t_\t_\t_\t_\n" for at, (form, upos, xpos) in enumerate(rows, 1)]
    file = tmp_path / "a.conllu"
    file.write_text("".join([*lines, "\n"] * 3))
    model = tw.train(f"{name}{file}#xpos", callback=Silence(), iterations=2)
    for new in (str(file), tw.load(str(file))):
        model.update(new, callback=Silence())
    assert model.labels == ("DT", "NNS", "VBP")
    [first, update, _] = model.plan.target
    assert first.guideline == update.guideline == (name.removesuffix("=") or "xpos") and update.layer == "xpos"


def test_another_layer_than_the_learned_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.conllu"
    file.write_text("1\tdogs\t_\tNOUN\tNNS\t_\t_\t_\t_\t_\n\n1\tbark\t_\tVERB\tVBP\t_\t_\t_\t_\t_\n\n")
    model = tw.train(f"{file}#xpos", callback=Silence(), iterations=2)
    with pytest.raises(PlanError, match=r"a.conllu: found the layer 'upos', expected 'xpos'"):
        model.update(f"{file}#upos", callback=Silence())


def test_text_that_covers_all_types_is_not_silent(capsys: pytest.CaptureFixture[str]) -> None:
    model, known = first_model(), text(0, 60, ("PER", "LOC"))
    model.update(text(1, 40, ("PER", "LOC")), sources=known)
    assert "not annotated" not in capsys.readouterr().err
    model.update(text(1, 40, ("ORG",)), sources=known, covers=["ORG"])
    assert "not annotated" in capsys.readouterr().err


def test_options_of_updates() -> None:
    model, new = first_model(), text(1, 20, ("PER", "LOC"))
    model.update(new, threads=2, minutes=1, callback=Silence())
    with pytest.raises(TypeError, match=r"found `start` with model.update"):
        model.update(new, start=model, callback=Silence())
    with pytest.raises(CorpusError, match=r"found the covered type 'PRE', expected one of .* PER"):
        model.update(new, covers=["LOC,PRE"], callback=Silence())
    for minutes in (-1, float("nan"), "1"):
        with pytest.raises(PlanError, match="found `minutes="):
            model.update(new, minutes=minutes, callback=Silence())


def test_beliefs_of_many_labels_sum_to_one() -> None:
    """Each negligible probability is left out, and thirty types have many of them."""
    rng = np.random.default_rng(0)
    names = [f"B-T{number}" for number in range(30)]
    pairs = [
        ([f"w{word}" for word in rng.integers(50, size=5)], rng.choice([*names, "O"], 5).tolist()) for _ in range(60)
    ]
    model = tw.train(pairs, task="spans", iterations=1, callback=Silence(), average_seeds=1)
    model.update([(["w1", "w2", "new"], ["O", "O", "B-NEW"])] * 5, covers=["NEW"], callback=Silence())
    assert "B-NEW" in model.labels


@pytest.mark.parametrize("header", ["", "# rejected = ner 1-1 PER\n"])
def test_rejected_spans_and_confidences_go_on(tmp_path: Path, header: str) -> None:
    model = first_model()
    rows = "\n".join(
        f"{form}\t{label}\t0.8" for form, label in zip(("Acme", "saw", "Bo"), ("_", "O", "B-PER"), strict=True)
    )
    file = tmp_path / "new.col"
    file.write_text(f"# columns = form ner confidence\n{header}{rows}\n\n")
    model.update(str(file), callback=Silence())
    assert types_of(model, "Ada", "saw", "Bo") == ["B-PER", "O", "B-PER"]
