"""Model files taken apart and reassembled with parts that no command would write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.numpy import save_file

from tagweave.features.rules import digest_of
from tagweave.models.packing import FORMS, pack, unpack


def parts(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    with safe_open(path, "numpy") as file:
        packed = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dict
        description = json.loads(file.metadata()["tagweave"])
    return description, unpack(description.pop(FORMS), packed)


def rewrite(path: Path, description: dict[str, Any], arrays: dict[str, Any]) -> None:
    """The file with other content and a digest that fits it."""
    header = {key: value for key, value in description.items() if key != "digest"}
    header[FORMS], packed = pack(arrays)
    header["digest"] = digest_of(json.loads(json.dumps(header)), packed)
    save_file(packed, path, {"tagweave": json.dumps(header)})
