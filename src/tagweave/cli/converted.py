"""Converted sentences as sentences of an output format, and those of their tokens that a person should look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nsmallest

from tagweave.cli.conversion import Conversion
from tagweave.cli.labelling import Block
from tagweave.cli.progress import counted
from tagweave.cli.tree_conversion import TreeConversion
from tagweave.conversion.labels import UncertainToken
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import tagged
from tagweave.corpus.formats.format import Format
from tagweave.corpus.formats.registry import chosen_format
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.text_file import written

_COLUMNS = ("probability", "word", "given", "chosen", "others", "context", "place", "token")


@dataclass
class Converted:
    """The sentences of an input under another guideline, for a format of output.

    Args:
        conversion: the input and its model.
        format: of the output.
        confidence: whether the probability of every label is written.
        review: how many of the least certain tokens are kept.
        doubtful: these, of the sentences that have passed.
    """

    conversion: Conversion | TreeConversion
    format: Format
    confidence: bool = False
    review: int = 0
    doubtful: list[UncertainToken] = field(default_factory=list)

    def __iter__(self) -> Iterator[Sentence]:
        work = self.conversion
        for block in work.blocks():
            converted = work.convert(block.evidence)
            if self.review:
                self._note_doubtful(block, converted)
            for given, sentence in zip(block.given, converted, strict=True):
                yield work.in_format(given, sentence, self.format, self.confidence)

    def _note_doubtful(self, block: Block, converted: Corpus) -> None:
        more = self.conversion.review(block.evidence, converted, self.review)
        self.doubtful = nsmallest(self.review, [*self.doubtful, *more], key=lambda each: each.probability)


def write(
    conversion: Conversion | TreeConversion,
    output: str,
    format: str | None,  # noqa: A002
    confidence: bool,
    review: int,
) -> list[UncertainToken]:
    """Convert the input and write it, as a whole file or not at all; the least certain tokens come back.

    Without a format the extension tells it, or it is the input's.

    Raises:
        OptionError: a format without a place for the labels, or for their probabilities.
        CorpusError, OSError: as `convert`, `save`.
    """
    given = conversion.input
    # nothing looks like raw text
    form = chosen_format(format, output) or (given.format if given.first else tagged.SLASH)
    conversion.check_format(form, confidence)
    converted = Converted(conversion, form, confidence, review)
    with written(output) as stream:
        form.write(counted(converted, "sentences"), stream, conversion.written_layer(form))
    return converted.doubtful


def review_lines(doubtful: list[UncertainToken]) -> Iterator[str]:
    """A header and a row of fields separated by tabs for each token."""
    yield "\t".join(_COLUMNS)
    for each in doubtful:
        others = " ".join(f"{tag} {probability:.4f}" for tag, probability in each.alternatives)
        context = each.context
        given = "|".join(each.given or ("_",))
        texts = (context.word, given, each.chosen, others, str(context), context.source, str(context.position))
        yield "\t".join((f"{each.probability:.4f}", *texts))
