"""Notes the modules that a process imports, and the corpora that it opens, where `RESULTS_RECORD` says.

Python runs this file before any other if its folder is on the path, in every process that a command starts.
"""

from __future__ import annotations

import os
import sys
from typing import Any

_PACKAGES = ("tagweave.", "benchmarks.", "reproductions.")


def _watch(record: str, corpora: str) -> None:
    stream = os.open(record, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    seen: set[str] = set()

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "import" and arguments[0].startswith(_PACKAGES):
            line = f"module {arguments[0]}\n"
        elif event == "open" and isinstance(arguments[0], str) and arguments[0].startswith(corpora):
            line = f"file {arguments[0].removeprefix(corpora)}\n"
        else:
            return
        if line not in seen:
            seen.add(line)
            os.write(stream, line.encode())

    sys.addaudithook(hook)


if "RESULTS_RECORD" in os.environ:
    _watch(os.environ["RESULTS_RECORD"], os.environ["RESULTS_CORPORA"] + os.sep)
