"""Networks that were trained before, beside features or alone: `encoder=FOLDER`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import tagweave as tw
from benchmarks.fuzz_bases import save_network
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.sentence import Location, Sentence
from tagweave.errors import PlanError
from tagweave.features.lookups import Lookups
from tagweave.features.subwords import Subwords, windows_of
from tagweave.features.templates import Templates
from tagweave.learning.learners.adamw import AdamW
from tagweave.learning.run import Silence
from tagweave.models.frozen_layers import FrozenLayers
from tagweave.models.network import NetworkScoring, read
from tagweave.models.token_scorer import encoder_of, pooled
from tagweave.training.fit.chain_problem import ChainProblem
from tagweave.training.fit.fit import prepare
from tagweave.training.fit.recipe import Recipe

WORDS = ["Anna", "Berlin", "sings", "in", "the", "rainy", "harbour", "unbelievably", ".", "Kolya", "Oslo", "saw"]
QUICK: dict[str, Any] = {"iterations": 2, "callback": Silence(), "average_seeds": 1, "settings": {"rate": 1e-3}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a small network: BERT with two layers, and a vocabulary of pieces of words."""
    place = tmp_path_factory.mktemp("network")
    save_network(place, WORDS, 45)
    return str(place)


def corpus(count: int = 30, known: float = 1.0, seed: int = 0, guideline: str = "tag") -> Corpus:
    random = np.random.default_rng(seed)
    sentences = []
    for number in range(count):
        forms = tuple(random.choice(WORDS, int(random.integers(1, 7))).tolist())
        tags = ((f"{guideline}-{WORDS.index(form) % 3}",) for form in forms)
        layer = tuple(tag if random.random() < known else None for tag in tags)
        sentences.append(Sentence(forms, {guideline: layer}, location=Location("f", number + 1)))
    return Corpus(tuple(sentences), guideline, path="f")


def still(folder: str) -> Subwords:
    """The network without what it leaves out at random, whose gradient would differ from that of differences."""
    found = Subwords.of_folder(folder)
    settings = {**found.settings, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return replace(found, config=json.dumps(settings))


def problem(folder: str, known: float = 0.7, **options: Any) -> ChainProblem:
    recipe = Recipe(lookups=Lookups(subwords=still(folder)), precision="float64", learner="adamw", **options)
    found: ChainProblem = prepare([corpus(6, known)], recipe)
    return found


@pytest.mark.parametrize("pooling", ["first", "mean", "last"])
@pytest.mark.parametrize("templates", [None, Templates(())])
def test_the_gradient_is_that_of_differences(folder: str, pooling: str, templates: Templates | None) -> None:
    given = problem(folder, pooling=pooling, templates=templates)
    objective, random = given.objective, np.random.default_rng(1)
    weights = given.model.weights + random.normal(0, 0.1, objective.size)
    network = objective.network(weights)
    begin = objective.size - network.size
    of_features, of_network = np.zeros(begin), np.zeros(network.size)
    objective.add_batch(weights, 0, len(objective), of_features)
    for view, weight in zip(network.views(of_network), network.parameters(), strict=True):
        if weight.grad is not None:  # the pooler has no part in it
            view.copy_(weight.grad)
    gradient = np.concatenate([of_features, of_network])
    for at in (*random.choice(begin, 5), *random.choice(np.arange(begin, objective.size), 40)):
        step = np.zeros(objective.size)
        step[at] = 1e-5
        ends = [objective.add_batch(weights + sign * step, 0, len(objective), np.zeros(begin)) for sign in (1, -1)]
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(gradient[at], abs=1e-6)


@pytest.mark.parametrize("pooling", ["first", "mean", "last"])
def test_vectors_are_those_of_transformers(folder: str, pooling: str) -> None:
    from transformers import AutoModel, PreTrainedTokenizerFast

    given = problem(folder)
    encoded, subwords = given.objective.encoded, given.model.encoder.subwords
    network = AutoModel.from_pretrained(folder).eval()
    files = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json", pad_token="[PAD]")  # noqa: S106
    sentences = [sentence.forms for sentence in corpus(6, 0.7)]
    given_words = files(list(map(list, sentences)), is_split_into_words=True, return_tensors="pt", padding=True)
    with torch.no_grad():
        states = network(given_words.input_ids, given_words.attention_mask).last_hidden_state
    expected = []
    for row, forms in enumerate(sentences):
        for word in range(len(forms)):
            own = states[row, [at for at, each in enumerate(given_words.word_ids(row)) if each == word]]
            expected.append({"first": own[0], "last": own[-1], "mean": own.mean(0)}[pooling])
    reading = read(encoded, 0, len(encoded), subwords)
    with torch.no_grad():
        found = network(torch.from_numpy(reading.pieces), torch.from_numpy(reading.mask).long()).last_hidden_state
    found = pooled(found.reshape(-1, found.shape[-1]), reading, pooling)
    assert torch.allclose(found, torch.stack(expected), atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_windows_cover_a_sentence_once(seed: int) -> None:
    random = np.random.default_rng(seed)
    count, most = random.integers(1, 5, int(random.integers(1, 40))), int(random.integers(5, 20))
    windows = windows_of(count, most)
    taken = [token for _, _, begin, end in windows for token in range(begin, end)]
    assert taken == list(range(len(count)))
    assert all(low <= begin <= end <= high for low, high, begin, end in windows)
    assert all(count[low:high].sum() <= most for low, high, _, _ in windows)
    assert len(windows) == 1 or count.sum() > most


def test_devices(folder: str) -> None:
    assert tw.train(corpus(3), encoder=folder, device="cpu", **QUICK).trained.parameters.device == "cpu"
    with pytest.raises(PlanError, match="found no mps device"):
        tw.train(corpus(3), encoder=folder, device="mps", **QUICK)
    for name in ("device", "pooling"):
        with pytest.raises(PlanError, match=f"unknown {name} 'all', expected one of"):
            tw.train(corpus(3), encoder=folder, **{name: "all"}, **QUICK)


def test_a_sentence_longer_than_the_network_reads_is_tagged(folder: str) -> None:
    model = tw.train(corpus(), encoder=folder, **QUICK)
    long = ["Anna", "sings", "unbelievably"] * 30
    assert len(model.tag([long])[0]) == len(long)


def test_equal_trainings_are_equal_and_a_file_tags_alike(folder: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        tw.train(corpus(), encoder=folder, **QUICK).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert folder.encode() not in (tmp_path / "one").read_bytes()
    model = tw.train(corpus(), dev=corpus(seed=1), encoder=folder, **{**QUICK, "iterations": 8})
    model.save(tmp_path / "m")
    assert model.score is not None
    assert model.score > 0.9
    texts = [["Anna", "saw", "Zürich"], ["."]]
    assert tw.load_model(tmp_path / "m").tag(texts) == model.tag(texts)


@pytest.mark.parametrize(
    "method", ["coupled", "stacked", "transform", pytest.param("iterate", marks=pytest.mark.slow), "auto"]
)
def test_methods_for_two_guidelines_train_it(folder: str, method: str) -> None:
    source, dev = corpus(60, seed=2, guideline="other"), corpus(seed=1)
    model = tw.train(corpus(60, 0.5), source, dev=dev, method=method, encoder=folder, **QUICK)
    assert model.score is not None
    assert model.score > 0.5


def test_an_epoch_that_is_repeated_is_the_same(folder: str) -> None:
    recipe = Recipe(lookups=Lookups(subwords=Subwords.of_folder(folder)), learner="adamw", settings={"parts": 2})
    given: ChainProblem = prepare([corpus()], recipe)
    trainer = recipe.trainer()
    state = trainer.start(given.objective, given.model.weights)
    trainer.step(given.objective, state)
    again = replace(state, arrays={name: array.copy() for name, array in state.arrays.items()})
    for each in (state, again):
        trainer.step(given.objective, each)
    assert np.array_equal(state.weights, again.weights)


def test_frozen_layers_stay_and_are_read_once(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    reaching = FrozenLayers._reaching

    def counted(layers: FrozenLayers, inputs: dict[str, Any]) -> Any:
        calls.append(len(inputs["input_ids"]))
        return reaching(layers, inputs)

    monkeypatch.setattr(FrozenLayers, "_reaching", counted)
    results = []
    for is_kept in (True, False):
        given = problem(folder)
        if not is_kept:
            monkeypatch.setattr(FrozenLayers, "_works", lambda *_: False)
        trainer = AdamW(freeze=1, rate=0.01, batch=3)
        state = trainer.start(given.objective, given.model.weights)
        for _ in range(3):
            trainer.step(given.objective, state)
        results.append(state.weights)
        network = given.objective.network(state.weights)
        before = network.views(given.model.weights[-network.size :])
        changed = {
            name
            for (name, weight), old in zip(network.named_parameters(), before, strict=True)
            if not torch.equal(weight, old)
        }
        assert any("layer.1" in name for name in changed)
        assert not any("layer.0" in name or "embeddings" in name for name in changed)
    assert sum(calls) == 3 + 6  # a batch to see that it works, then each sentence once
    # attention does not change with biases of keys, so their gradients are rounding, for which AdamW takes steps, too
    compared = np.ones(len(state.weights), np.float32)
    names = [name for name, _ in network.named_parameters()]
    for (name, _), view in zip(network.named_parameters(), network.views(compared[-network.size :]), strict=True):
        if name.endswith("key.bias"):
            assert float(network.views(state.arrays["square"])[names.index(name)].max()) < 1e-12
            view.fill_(0)
    assert np.abs((results[0] - results[1]) * compared).max() < 1e-3


def test_spans_keep_to_a_share(folder: str) -> None:
    labels = (None, "B-PER", "B-LOC")
    known = corpus().map(
        lambda each: each.with_layer(
            "tag", [(name,) if (name := labels[WORDS.index(form) % 3]) else None for form in each.forms]
        )
    )
    settings = {"iterations": 12, "settings": {"rate": 3e-3, "batch": 4}}
    model = tw.train(known, task="spans", encoder=folder, entity_ratio=0.6, **{**QUICK, **settings})
    tags = [tag for tags in model.tag([list(each.forms) for each in corpus(60)]) for tag in tags]
    assert 0.5 < np.mean([tag != "O" for tag in tags]) < 0.8


def test_the_share_of_spans_is_counted_without_gradients(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is counted over thousands of tokens, whose gradients would take gigabytes."""
    labels = (None, "B-PER", "O")
    spans = corpus().map(
        lambda each: each.with_layer(
            "tag", [(name,) if (name := labels[WORDS.index(form) % 3]) else None for form in each.forms]
        )
    )
    sizes: list[int] = []
    write = NetworkScoring.write

    def watched(scoring: NetworkScoring, encoded: Any, first: int, last: int, scores: Any) -> None:
        write(scoring, encoded, first, last, scores)
        sizes.append(last - first if scoring._scored else 0)

    monkeypatch.setattr(NetworkScoring, "write", watched)
    options = {**QUICK, "iterations": 1, "settings": {"batch": 4}}
    tw.train(spans, task="spans", encoder=folder, entity_ratio=0.6, **options)
    assert max(sizes) == 4


def test_what_cannot_be_is_refused(folder: str, tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="found no such folder"):
        tw.train(corpus(), encoder="nowhere", **QUICK)
    with pytest.raises(PlanError, match=r"found no config\.json"):
        tw.train(corpus(), encoder=str(tmp_path), **QUICK)
    with pytest.raises(PlanError, match="found a network with the learner lbfgs, expected adamw"):
        tw.train(corpus(), encoder=folder, learner="lbfgs", iterations=1, callback=Silence())
    with pytest.raises(PlanError, match="found the learner adamw without a network"):
        tw.train(corpus(), learner="adamw", iterations=1, callback=Silence())
    given = Subwords.of_folder(folder)
    for settings, message in (
        ({"model_type": "unheard"}, "found a network of the type 'unheard'"),
        ({}, "found a network without `model_type`"),
        ({**given.settings, "num_hidden_layers": 10**9}, "found 1000000000 at config.json num_hidden_layers"),
        ({**given.settings, "hidden_size": 10**9}, "found 1000000000"),
        ({**given.settings, "hidden_size": 10**6}, "found a network"),
    ):
        with pytest.raises(ValueError, match=message):
            encoder_of(replace(given, config=json.dumps(settings)), 10_000)


def test_a_configuration_names_no_code(folder: str) -> None:
    given = Subwords.of_folder(folder)
    named = replace(given, config=json.dumps({**given.settings, "auto_map": {"AutoModel": "evil.Model"}}))
    assert "auto_map" not in named.settings
    assert encoder_of(named, 10_000)[1].shapes == encoder_of(given, 10_000)[1].shapes


def test_layers_have_rates(folder: str) -> None:
    given = problem(folder)
    layers = dict(given.objective.network(given.model.weights).layers())
    assert set(layers) == {-1, 0, 1, 2}
    assert [tuple(weight.shape) for weight in layers[-1]] == [(3, 8), (3,)]
    assert sum(map(len, layers.values())) == len(list(given.objective.network(given.model.weights).parameters()))


def test_scores_of_a_text_are_read_once_until_the_network_learns(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem(folder)
    objective, weights = given.objective, given.model.weights
    network = objective.network(weights)
    calls: list[int] = []
    forward = type(network).forward
    monkeypatch.setattr(type(network), "forward", lambda *args: calls.append(1) or forward(*args))

    def scores() -> np.ndarray:
        return given.model.scoring.scores(objective.encoded, 0, len(objective)).emission

    first = scores()
    assert np.array_equal(first, scores()) and len(calls) == 1
    objective.add_batch(weights, 0, len(objective), np.zeros(objective.size))
    with torch.no_grad():
        next(network.parameters()).add_(1)
    assert not np.array_equal(first, scores()) and len(calls) == 3


def test_methods_race_without_the_network(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = corpus(60, seed=2, guideline="other")
    model = tw.train(corpus(60, 0.5), source, dev=corpus(seed=1), encoder=folder, **{**QUICK, "callback": None})
    said = capsys.readouterr().err
    assert "judged by the development data, without the network" in said and model.about["race"]


@pytest.mark.parametrize("encoder", ["alone:{}", "{}"])
def test_a_network_teaches_a_model_of_features(folder: str, encoder: str) -> None:
    teacher = tw.train(corpus(), task="tag", encoder=encoder.format(folder), **QUICK)
    text, rest = corpus(100, known=0, seed=1), {"tell": lambda line: None, "callback": Silence()}
    student = tw.distill(teacher, text, **rest)
    assert student.plan.encoder == "features"
    ours, theirs = (np.concatenate(each.under().probabilities(text.sentences)) for each in (student, teacher))
    assert np.abs(ours - theirs).mean() < 0.05
    assert theirs.std(axis=0).max() > 0.01  # so the student learned more than one distribution for all tokens


def test_where_labels_err_a_network_learns_from_development_data_too(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """TRAIN never marks half of the names. Models of features alone tell that development data teach these."""

    def spans(count: int, names: list[str], seed: int) -> Corpus:
        def marked(sentence: Sentence) -> Sentence:
            return replace(sentence, layers={"tag": tuple(("B-X" if f in names else "O",) for f in sentence.forms)})

        return corpus(count, seed=seed).map(marked)

    train, dev = spans(60, ["Anna", "Oslo"], 0), spans(20, ["Anna", "Oslo", "Kolya", "Berlin"], 1)
    model = tw.train(train, dev=dev, task="spans", encoder=folder, **{**QUICK, "callback": None})
    said = capsys.readouterr().err
    assert "judged by models of features alone, on parts" in said and "so a model learns from f, too" in said
    assert "development data as TRAIN" not in said and "a second model" not in said
    assert model.about["dev_score"] is None and "calibration" not in model.about


def test_an_iteration_visits_a_sample_of_a_large_source(folder: str) -> None:
    source = corpus(90, seed=2, guideline="other")
    model = tw.train(corpus(20), source, method="coupled", encoder=folder, **QUICK)
    assert sum(model.about["recipe"]["sample"]) < 60
    assert model.tag(["Anna", "sings"])
