"""The comparison of defaults: what is trained on what, how it is scored, and the page that is written of it."""

from __future__ import annotations

import json

import numpy as np

from reproductions.defaults.cell import features
from reproductions.defaults.study import main
from reproductions.lab.cache import Cache
from tagweave.corpus.sentence import Sentence
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import Templates


def test_a_feature_is_a_column_for_every_place_in_its_window() -> None:
    encoder = TemplateEncoder(Templates(("form[-1]", "form[0]", "prefix_1[0]")))
    encoded = encoder.encode([Sentence(("a", "b")), Sentence(("b",))])
    encoder.freeze(encoded)
    matrix = features(encoded, encoder.windows).toarray()
    assert matrix.sum(axis=1).tolist() == [3, 3, 3]  # the prefix, the token, the token before it or the edge
    assert (matrix[0] * matrix[2]).sum() == 1  # the edge
    assert (matrix[1] * matrix[2]).sum() == 2  # the token and its prefix
    assert set(np.unique(matrix)) == {0, 1}


def test_the_command_writes_a_page_and_keeps_its_results(tmp_path, capsys) -> None:
    words = ["--cache", str(tmp_path / "cache"), "--quick", "--out", str(tmp_path)]
    main(words)
    page, told = ((tmp_path / name).read_text("utf-8") for name in ("defaults.md", "data/defaults.json"))
    assert "python -m reproductions defaults" in page
    assert [row["task"] for row in json.loads(told)["rows"]] == ["tag", "segment"]
    assert "| tag | the sample corpus |" in page
    assert len(list((tmp_path / "cache").iterdir())) == 6
    main(words)
    assert json.loads(told) == json.loads((tmp_path / "data" / "defaults.json").read_text("utf-8"))
    assert Cache(tmp_path / "cache")
