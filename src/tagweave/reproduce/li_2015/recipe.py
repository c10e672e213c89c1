"""The reproduction of li-2015 from corpora to pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from tagweave.learning.loop import Watcher
from tagweave.reproduce.cache import Cache
from tagweave.reproduce.li_2015.page import lines
from tagweave.reproduce.li_2015.run import Say, run
from tagweave.reproduce.li_2015.settings import settings
from tagweave.reproduce.li_2015.summary import TRIALS, summary
from tagweave.reproduce.page import write_page


def reproduce(
    parts: Sequence[str],
    corpora: Path | None,
    seeds: int,
    cache: Path,
    out: Path,
    command: str,
    threads: int = 1,
    say: Say = lambda _: None,
    watcher: Watcher | None = None,
    trials: int = TRIALS,
) -> Iterator[Path]:
    """Run parts of the reproduction, and give the page of each when it is written.

    Beside the page `li-2015-PART.md` there is a file of its numbers, `li-2015-PART.json`, and plots where Matplotlib is
    installed.

    Args:
        parts: some of `PARTS`.
        corpora: the folder of all corpora; `None` takes the bundled sample, whose numbers mean nothing.
        seeds: how many.
        cache: the folder of finished trainings.
        out: the folder of pages.
        command: how to have the page again.
        threads: of every training.
        say: is told of every cell, before it runs.
        watcher: is told of every iteration.
        trials: of the significance tests.

    Raises:
        CorpusError: a corpus that is not there or not what it should be, or a damaged file in the cache.
        OSError: a file cannot be read or written.
        KeyboardInterrupt: the user stopped a training.
    """
    out.mkdir(parents=True, exist_ok=True)
    every = {part: settings(part, corpora) for part in parts}  # a corpus that is missing is told at once
    for part, chosen in every.items():
        found = summary(run(part, chosen, seeds, Cache(cache), threads, say, watcher), command, trials)
        plots = _drawn(found, out, say)
        write_page(out, f"li-2015-{part}", found, lines(found, plots))
        yield out / f"li-2015-{part}.md"


def _drawn(found: dict[str, object], out: Path, say: Say) -> list[str]:
    if find_spec("matplotlib") is None:
        say("no plots: Matplotlib is not installed (pip install 'tagweave[plots]')")
        return []
    from tagweave.reproduce.li_2015.figures import draw

    return draw(found, out)
