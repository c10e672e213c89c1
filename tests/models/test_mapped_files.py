"""The private folder of files that processes map into their memory."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tagweave.models.packing import private_folder


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such permissions")
def test_a_folder_of_others_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = private_folder("models")
    assert folder.is_dir()
    base = folder.parent
    assert base.stat().st_mode & 0o777 == 0o700
    base.chmod(0o770)
    with pytest.raises(PermissionError, match="found a folder that others can write"):
        private_folder("models")
    base.chmod(0o700)
    base.rename(tmp_path / "elsewhere")
    base.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(PermissionError, match="found a folder that others can write"):
        private_folder("models")
