"""Raw text through a model that segments: by blocks of lines, where tables of its weights can do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO, cast

from tagweave.corpus.formats import raw, segmented
from tagweave.corpus.formats.registry import chosen_format
from tagweave.corpus.load import parse_argument
from tagweave.corpus.text_blocks import read_blocks
from tagweave.corpus.text_file import STANDARD_STREAM, written

if TYPE_CHECKING:
    from tagweave.cli.labelling import Labelling


def write_segmented(labelling: Labelling, output: str, format: str | None) -> bool:  # noqa: A002
    """Segment raw text as `filled.write` does, or do nothing and return false where only that one can do it.

    Raises:
        CorpusError, OSError: as `filled.write`.
    """
    from tagweave.models.characters import UnfitModelError
    from tagweave.models.segmenter import Segmenter

    argument, tagger = parse_argument(labelling.argument), labelling.tagger
    if labelling.chosen_format is not raw.FORMAT or argument.layer is not None:
        return False
    if chosen_format(format, output) not in (segmented.FORMAT, None):
        return False
    if tagger.guidelines != (tagger.model.structure.space.views[0].guideline,):
        return False
    try:
        segmenter = Segmenter(tagger.model, tagger.threads, labelling.whole_runs)
    except UnfitModelError:
        return False
    with written(output) as stream:
        binary = cast("TextIO", stream).buffer
        for block in segmenter.blocks(read_blocks(argument.path)):
            binary.write(block)
            if output == STANDARD_STREAM:
                binary.flush()  # whoever reads a pipe need not wait for more
    return True
