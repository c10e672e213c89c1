"""Model files taken apart and put together again, with what no command would write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import safe_open
from safetensors.numpy import save_file

from tagweave.encoding.digest import digest_of


def parts(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    with safe_open(path, "numpy") as file:
        names = list(file.keys())
        return json.loads(file.metadata()["tagweave"]), {name: file.get_tensor(name) for name in names}


def rewrite(path: Path, description: dict[str, Any], arrays: dict[str, Any]) -> None:
    """The file with other content and a digest that fits it."""
    told = {key: value for key, value in description.items() if key != "digest"}
    told["digest"] = digest_of(told, arrays)
    save_file(arrays, path, {"tagweave": json.dumps(told)})
