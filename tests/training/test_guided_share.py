"""The share that a tagger which looks at labels of the source has in a coupled model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tagweave as tw
from tagweave.corpus import sample
from tagweave.errors import PlanError
from tagweave.front.description import describe_model, model_lines
from tagweave.learning.run import Silence
from tagweave.models.cascades import GuidedEncoder

CTB, PD = (tw.load(f"{name}={sample.path(f'{name}.txt')}") for name in ("ctb", "pd"))
FEW = PD.with_sentences(PD.sentences[:30])
TRAIN, DEV = CTB.with_sentences(CTB.sentences[:20]), CTB.with_sentences(CTB.sentences[20:40])


def trained(**options: Any) -> Any:
    options = {"task": "tag", "iterations": 3, "average_seeds": 1, **options}
    return tw.train(
        options.pop("target", TRAIN), options.pop("sources", [FEW]), method="coupled", callback=Silence(), **options
    )


def test_the_share_is_the_best_on_development_data() -> None:
    scores = {share: trained(dev=DEV, guided=share).about["dev_score"] for share in (0.0, 0.33, 0.5)}
    model = trained(dev=DEV)
    assert model.about["dev_score"] == max(scores.values()) > scores[0.0]
    assert scores[model.about["guided"]] == max(scores.values())
    assert isinstance(model.chain.encoder, GuidedEncoder)


def test_a_third_without_development_data(tmp_path: Path) -> None:
    model = trained()
    model.save(tmp_path / "model")
    assert "share of the guided tagger 0.33" in [*model_lines(describe_model(tmp_path / "model"))][-1]
    assert (model.about["guided"], model.about["dev_score"]) == (0.33, None)


def test_words_have_a_share_but_tagged_characters_have_none() -> None:
    whole = {"target": CTB, "sources": [PD], "iterations": 1}
    assert trained(**whole, task="segment").about["guided"] == 0.33
    assert "guided" not in trained(**whole, task="segtag").about


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"sources": [PD, f"other={sample.path('pd.txt')}"]}, "found `guided` with three guidelines"),
    ],
    ids=["three"],
)
def test_where_a_share_is_refused(options: dict[str, Any], found: str) -> None:
    with pytest.raises(PlanError, match=found):
        trained(guided=0.5, **options)
