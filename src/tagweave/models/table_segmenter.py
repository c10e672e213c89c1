"""Fast segmentation of raw text, with tables derived from a segmentation model and several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np

from tagweave.corpus.text_blocks import line_blocks
from tagweave.harvest.runs import joined
from tagweave.kernels import raw_text
from tagweave.models.chain import ChainModel
from tagweave.models.kept_tables import kept_tables

_CHARACTERS = 1 << 18  # segmented at a time, in whole lines


class TableSegmenter:
    """Segments lines of raw text as `ChainPredictor` does, many times faster, on arrays of code points.

    Blanks (space, tab, U+3000) are boundaries of words, and no word begins inside a run: a Latin word, a number, a URL
    or an e-mail address (`tagweave.harvest.runs`). Weights are float32, and summed in another order than in
    `ChainPredictor`, so the two may differ where the scores of two segmentations differ only by rounding.

    Args:
        model: a model of the task `segment`. Making its tables takes a second.
        threads: how many threads share the work.
        whole_runs: whether runs are kept whole; else the model may split them.
        folder: where its tables are kept, a folder that nobody else can write; `None`: they are not.

    Raises:
        UnfitModelError: a model of another task, with a guide, with bundled labels, or with templates over anything but
            one character, two neighbours, or two characters with one between. `ChainPredictor` can run it.
    """

    def __init__(
        self, model: ChainModel, threads: int = 1, whole_runs: bool = True, folder: Path | None = None
    ) -> None:
        self.threads, self.whole_runs = threads, whole_runs
        self._tables = kept_tables(model, folder)

    def segment(self, lines: Iterable[str]) -> Iterator[str]:
        """Every line, its words separated by one space; a stream of any length in constant memory.

        Raises:
            ValueError: a line break inside a line, or half of a surrogate pair.
        """
        for block in self.blocks(_joined(lines)):
            yield from block.decode("utf-8").split("\n")[:-1]

    def blocks(self, texts: Iterable[str]) -> Iterator[bytes]:
        """Every text, which consists of whole lines, as segmented lines in UTF-8, in order.

        At most one text more than there are threads is in memory.

        Raises:
            ValueError: a text that does not end in a line break, or half of a surrogate pair.
        """
        if self.threads == 1:
            yield from map(self._segmented, texts)
            return
        with ThreadPoolExecutor(self.threads) as pool:
            waiting: deque[Future[bytes]] = deque()
            for text in texts:
                waiting.append(pool.submit(self._segmented, text))
                if len(waiting) > self.threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _segmented(self, text: str) -> bytes:
        if not text.endswith("\n"):  # the kernel searches for it without a bound
            raise ValueError("found text without a line break at its end, expected whole lines")
        encoded, tables = text.encode("utf-32-le"), self._tables
        points = np.frombuffer(encoded, np.uint32)
        inside = joined(text, points) if self.whole_runs else np.zeros(len(points), np.bool_)
        out = np.empty(5 * len(points), np.uint8)  # at most four bytes per character, and a blank
        written = raw_text.segment(points, inside, tables.entries, tables.slots, tables.labels, out)
        return out[:written].tobytes()


def _joined(lines: Iterable[str]) -> Iterator[str]:
    """Lines in blocks."""
    return ("\n".join([*block, ""]) for block in line_blocks(map(_checked, lines), _CHARACTERS))


def _checked(line: str) -> str:
    if "\n" in line:
        raise ValueError(f"found a line break in {line[:40]!r}, expected lines without")
    return line
