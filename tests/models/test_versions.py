"""Versions of a model in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tagweave.models import versions


def test_a_correction_that_another_process_has_just_replaced_is_not_outdated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, newer = tmp_path / "ner.model", tmp_path / "ner-0.8.model"
    for path in (first, newer):
        path.touch()
    monkeypatch.setattr(versions, "_versions", lambda *_: {(0, 7): str(tmp_path / "ner-0.7.model")})
    versions.remove_outdated(tmp_path, "ner", str(first))
    assert newer.exists()
