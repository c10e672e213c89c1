"""The mean of a coupled model and of a tagger that looks at a guide's labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tagweave.corpus import sample
from tagweave.corpus.load import load
from tagweave.corpus.sentence import Sentence
from tagweave.learning.loop import FitOutcome
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.pool import Pool
from tagweave.models.storage import load_model, save_model
from tagweave.training.cascades.coupled import Coupling, fit_coupled, with_share
from tagweave.training.cascades.guided import fit_stages
from tagweave.training.fit.problem import Fitted
from tagweave.training.fit.recipe import Recipe

TARGET, SOURCE = (
    corpus.with_sentences(corpus.sentences[:30])
    for corpus in (load(f"{name}={sample.path(f'{name}.txt')}") for name in ("ctb", "pd"))
)
NEW = [Sentence(each.forms) for each in load(f"{sample.path('both.tsv')}#pd")]
RUN = Run(Schedule(2))


@pytest.fixture(scope="module", params=["all", "observed", "joint"])
def models(request: pytest.FixtureRequest) -> tuple[ChainModel, ChainModel]:
    recipe = Recipe(features="observed" if request.param == "observed" else "all", precision="float64")
    coupled = fit_coupled([TARGET, SOURCE], recipe, Coupling(separate=request.param != "joint"), run=RUN).model
    return coupled, fit_stages([TARGET], [SOURCE], recipe, run=RUN).model


def test_scores_of_sequences_are_the_mean_of_those_of_both_models(models: tuple[ChainModel, ChainModel]) -> None:
    coupled, guided = models
    pool = Pool.of(coupled, guided)
    labels = np.random.default_rng(0).integers(0, len(coupled.space), sum(map(len, NEW))).astype(np.int32)
    tags = coupled.space.views[0].projection[labels]

    def scores(model: ChainModel, path: np.ndarray) -> np.ndarray:
        return model.sequence_scores(model.encoder.encode(NEW), path)

    for share in (0.0, 0.25, 1.0):
        model = replace(pool.model, weights=pool.weights(share))
        expected = (1 - share) * scores(coupled, labels) + share * scores(guided, tags)
        assert scores(model, labels) == pytest.approx(expected, abs=1e-9)


def test_a_pool_is_saved_and_loaded(models: tuple[ChainModel, ChainModel], tmp_path: Path) -> None:
    pool = Pool.of(*models)
    model = replace(pool.model, weights=pool.weights(0.5))
    save_model(model, tmp_path / "model")
    for guideline in ("ctb", "pd"):
        taggers = (ChainPredictor(each, guideline=guideline) for each in (model, load_model(tmp_path / "model")))
        before, after = ([each.layers[guideline] for each in tagger.tag(NEW)] for tagger in taggers)
        assert before == after


def test_labels_of_the_source_in_development_data_change_no_score_of_a_share(
    models: tuple[ChainModel, ChainModel],
) -> None:
    """Text to label has none."""
    coupled, guided = models
    fitted = Fitted(coupled, FitOutcome(coupled.weights))
    with_both = load(f"{sample.path('both.tsv')}#ctb")
    alone = with_both.map(lambda each: each.with_layers_of(["ctb"]))
    assert all("pd" in each.layers for each in with_both)
    scores = [with_share(fitted, guided, Recipe(precision="float64"), dev)[1] for dev in (with_both, alone)]
    assert scores[0] == scores[1] and len({*scores[0].values()}) > 1


def test_models_of_other_labels_are_refused(models: tuple[ChainModel, ChainModel]) -> None:
    with pytest.raises(ValueError, match="other labels"):
        Pool.of(models[0], fit_stages([SOURCE], [TARGET], Recipe(), run=RUN).model)
