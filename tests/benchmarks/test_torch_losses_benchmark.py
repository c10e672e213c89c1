"""The benchmark of losses in PyTorch: both modules have the same loss, and the page has a row for each size."""

from __future__ import annotations

import pytest

from benchmarks import torch_losses

pytestmark = pytest.mark.slow


def test_both_modules_have_the_same_loss_and_the_page_their_times(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_losses, "_SECONDS", 0.0)
    row = torch_losses.chains(5, 3)
    assert row["difference"] < 1e-5
    assert min(row["crf"], row["tagweave"], row["partial"], row["crf_decode"], row["tagweave_decode"]) > 0
    of_trees = {"words": 10, "sentences": 32, "torch_struct": 0.02, "tagweave": 0.005, "difference": 0.0}
    memory = {"crf": {"step": 1000.0, "peak": 1.0}, "tagweave": {"step": 50.0, "peak": 1.0}}
    monkeypatch.setattr(torch_losses, "version", lambda name: "1")
    found = {"chains": {"1": [row], "2": [row]}, "memory": memory, "trees": {"1": [of_trees]}}
    text = "\n".join(torch_losses.page(found))
    assert text.count("| 5 | 3 |") == 2
    assert "| 1 | 10 | 20.0 | 5.00 | 4.0x |" in text
    assert "50 MB with tagweave: 20 times less." in text
