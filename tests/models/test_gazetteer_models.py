"""Models that look phrases of a gazetteer up: entries on disk are checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_parts import parts, rewrite

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.gazetteer import parse
from tagweave.corpus.sentence import Sentence
from tagweave.features.lookups import Lookups
from tagweave.features.templates import PRESETS
from tagweave.learning.run import Run, Schedule
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.storage import ModelFileError, load_model, save_model
from tagweave.training.fit import fit
from tagweave.training.recipe import Recipe

SENTENCE = Sentence(("in", "New", "York"), {"tag": (("O",), ("B-X",), ("I-X",))})


def saved(path: Path, entries: Any) -> Path:
    """A model whose stored entries are replaced by these."""
    lookups = Lookups(gazetteer=parse(["X\tNew York"]))
    model = fit([Corpus((SENTENCE,))], Recipe(templates=PRESETS["gazetteer"]), run=Run(Schedule(1)), lookups=lookups)
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
