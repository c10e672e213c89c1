"""The papers whose experiments there are: for each a package with the modules `settings` and `recipe`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from tagweave.learning.loop import Watcher
from tagweave.reproduce.run import Say, silent

PAPERS = ("li-2015",)
"""Their short names."""


class Reproduce(Protocol):
    """The function `reproduce` of a paper's module `recipe`."""

    def __call__(
        self,
        parts: Sequence[str],
        corpora: Path | None,
        seeds: int,
        cache: Path,
        out: Path,
        command: str,
        threads: int = 1,
        say: Say = silent,
        watcher: Watcher | None = None,
    ) -> Iterator[Path]:
        """Run parts of the experiments, and give the page of each when it is written.

        Beside the page `PAPER-PART.md` there is a file of its numbers, `PAPER-PART.json`, and plots where Matplotlib is
        installed.

        Args:
            parts: some of the paper's `PARTS`.
            corpora: the folder of all corpora; `None` takes the bundled sample, whose numbers mean nothing.
            seeds: how many.
            cache: the folder of finished trainings.
            out: the folder of pages.
            command: how to have the page again.
            threads: of every training.
            say: is told of every cell, before it runs.
            watcher: is told of every iteration.

        Raises:
            CorpusError: a corpus that is not there or not what it should be, or a damaged file in the cache.
            OSError: a file cannot be read or written.
            KeyboardInterrupt: the user stopped a training.
        """
        ...


@dataclass(frozen=True)
class Paper:
    """The experiments of a paper.

    Attributes:
        parts: `PARTS` of its module `settings`: what a command may ask for.
        reproduce: runs some of them.
    """

    parts: Mapping[str, Any]
    reproduce: Reproduce


def paper(name: str) -> Paper:
    """One of the `PAPERS`; only its own package is imported."""
    package = f"tagweave.reproduce.{name.replace('-', '_')}"
    return Paper(import_module(f"{package}.settings").PARTS, import_module(f"{package}.recipe").reproduce)
