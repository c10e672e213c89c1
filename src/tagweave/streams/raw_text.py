"""Segments raw text in blocks of lines, if tables can replace the weights of the model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from tagweave.corpus.text_blocks import read_blocks
from tagweave.corpus.text_file import STANDARD_STREAM, written

if TYPE_CHECKING:
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.models.table_segmenter import TableSegmenter


def by_tables(tagger: ChainPredictor, whole_runs: bool = True, folder: Path | None = None) -> TableSegmenter | None:
    """The fast path from raw text to words; `None` if the model has none. `folder`: as `TableSegmenter`."""
    from tagweave.models.characters import UnfitModelError
    from tagweave.models.table_segmenter import TableSegmenter

    try:
        return TableSegmenter(tagger.model, tagger.threads, whole_runs, folder)
    except UnfitModelError:
        return None


def write_segmented(segmenter: TableSegmenter, path: str, output: str) -> None:
    """Segment a file of raw text.

    Raises:
        CorpusError, OSError: as `Stream.write`.
    """
    with written(output) as stream:
        binary = cast("TextIO", stream).buffer
        for block in segmenter.blocks(read_blocks(path)):
            binary.write(block)
            if output == STANDARD_STREAM:
                binary.flush()  # the reader of a pipe should not wait for more
