"""`tagweave evaluate` with models: how far their probabilities are to be believed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TEXT = "Ann NN\nsings VB\n\nBo NN\nwalks VB\n\n"


def test_models_are_evaluated_with_their_reliability(run: Any, tmp_path: Path) -> None:
    gold, model, plot = tmp_path / "gold.col", tmp_path / "model", tmp_path / "plot.png"
    gold.write_text(TEXT * 10)
    run("train", gold, "--iterations", "2", "-o", model)
    shown = run("evaluate", gold, model, "--reliability", plot).stdout
    assert "reliability of tokens, expected calibration error 0." in shown and "100.00" in shown
    assert plot.read_bytes().startswith(b"\x89PNG")
    found = json.loads(run("evaluate", gold, model, gold, "--json").stdout)
    (kind,) = found["calibrations"][str(model)]
    assert kind["of"] == "tokens" and kind["count"] == 40 and len(kind["bins"]) == 10
    assert "without a model" in run("evaluate", gold, gold, "--reliability", plot, code=2).stderr
