"""Converted sentences as sentences of an output format, and those of their tokens that a person should look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from heapq import nsmallest

from tagweave.adapt.convert import Doubtful, convert, review
from tagweave.cli.conversion import Conversion
from tagweave.cli.errors import OptionError
from tagweave.cli.labelling import Block
from tagweave.cli.layers import SEVERAL, check_format, with_layers
from tagweave.cli.progress import counted
from tagweave.corpus.confidence import written_confidence
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats import format_named, format_of_name
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.text_file import written

_WITHOUT_LABELS = ("raw", "segmented", "kytea")
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

    conversion: Conversion
    format: str
    confidence: bool = False
    review: int = 0
    doubtful: list[Doubtful] = field(default_factory=list)

    def __iter__(self) -> Iterator[Sentence]:
        work = self.conversion
        for block in work.blocks():
            converted = convert(work.model, block.evidence, work.to, work.threads)
            if self.review:
                self._note_doubtful(block, converted)
            for given, sentence in zip(block.given, converted, strict=True):
                yield self._in_format(given, sentence)

    def _note_doubtful(self, block: Block, converted: Corpus) -> None:
        work = self.conversion
        more = review(work.model, block.evidence, converted, self.review, work.threads)
        self.doubtful = nsmallest(self.review, [*self.doubtful, *more], key=lambda each: each.probability)

    def _in_format(self, given: Sentence, converted: Sentence) -> Sentence:
        to = self.conversion.to
        layer = converted.layers[to]
        if self.format not in SEVERAL:
            return replace(given, layers={to: layer})
        if self.format == "columns":  # the last column is the new one, which such a comment would name
            given = replace(given, comments=tuple(c for c in given.comments if not _names_guideline(c)))
        sentence = with_layers(given, {to: layer}, self.format)
        return written_confidence(sentence, converted.confidence or (), self.format) if self.confidence else sentence


def write(conversion: Conversion, output: str, format: str | None, confidence: bool, review: int) -> list[Doubtful]:  # noqa: A002
    """Convert the input and write it, as a whole file or not at all; the least certain tokens come back.

    Without a format the extension tells it, or it is the input's.

    Raises:
        OptionError: a format without a place for the labels, or for their probabilities.
        CorpusError, OSError: as `convert`, `save`.
    """
    given = conversion.input
    name = (
        format or format_of_name(output) or (given.format if given.first else "tagged")
    )  # nothing looks like raw text
    form = format_named(name)
    if name in _WITHOUT_LABELS:
        raise OptionError(f"found {name} as the format of the output, expected a format of words with labels")
    if confidence:
        check_format(name, "--confidence")
    converted = Converted(conversion, name, confidence, review)
    with written(output) as stream:
        form.write(counted(converted, "sentences"), stream, conversion.layer if name == "conllu" else conversion.to)
    return converted.doubtful


def review_lines(doubtful: list[Doubtful]) -> Iterator[str]:
    """A header and a row of fields separated by tabs for each token."""
    yield "\t".join(_COLUMNS)
    for each in doubtful:
        others = " ".join(f"{tag} {probability:.4f}" for tag, probability in each.alternatives)
        context = each.context
        given = "|".join(each.given or ("_",))
        texts = (context.word, given, each.chosen, others, str(context), context.source, str(context.position))
        yield "\t".join((f"{each.probability:.4f}", *texts))


def _names_guideline(comment: str) -> bool:
    return comment.lstrip("# ").partition("=")[0].strip() == "guideline"
