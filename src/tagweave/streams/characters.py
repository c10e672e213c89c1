"""Labels raw text, partial annotation or words by a model of characters (tasks `segment` and `segtag`).

Blanks in raw text are boundaries and not part of words; no word begins inside a run: a Latin word, a number, a URL or
an e-mail address. If tables can replace the weights of the model, raw text is segmented in blocks of lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, TextIO, cast

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import STANDARD_STREAM, first_lines, read_blocks, written
from tagweave.corpus.formats import chosen_format, kytea, plain, recognise, tagged
from tagweave.corpus.formats.kytea import SEGMENTATION, TAG
from tagweave.corpus.load import parse_argument
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.errors import StreamError
from tagweave.harvest.runs import without_blanks
from tagweave.labels.coding import to_characters
from tagweave.streams.inputs import Input
from tagweave.streams.labelling import Labelling
from tagweave.streams.stream import Progress, check_can_hold
from tagweave.training.fit.task import Task

if TYPE_CHECKING:
    from tagweave.corpus.formats.format import Format
    from tagweave.models.chain_predictor import ChainPredictor
    from tagweave.models.pair_tables import TableSegmenter


_FIRST_LINES = 50


@dataclass(frozen=True)
class CharacterLabelling(Labelling):
    """A `Labelling` by a model that segments text and may tag the words.

    `whole_runs` keeps runs of raw text whole. `by_tables` makes the fast path for it, `None` if the model has none; its
    tables take a while, so who labels many files makes them once.
    """

    whole_runs: bool = True
    by_tables: Callable[[], TableSegmenter | None] = lambda: None

    @property
    def chosen_format(self) -> Format:
        """The format of the input by option or name, by default raw text."""
        return super().chosen_format or plain.RAW

    @cached_property
    def input(self) -> Input:
        return Input(self.argument, self.chosen_format.name)

    def evidence(self, originals: Sequence[Sentence]) -> Corpus:
        layer = self.input_layer
        form = self.input_format
        if not form.labels and form.unit == "character":
            return raw_evidence(self.tagger, originals, self.whole_runs)
        if form.unit == "word":
            originals = [s if layer in s.layers else s.with_layer(layer, (None,) * len(s)) for s in originals]
        evidence = in_characters(self.tagger, Corpus(tuple(originals), layer, form.unit))
        if self.retag:
            return evidence.map(lambda s: replace(s, layers={evidence.guideline: (None,) * len(s)}))
        return evidence

    @property
    def default_format(self) -> Format:
        """The format of the input if it can hold words; otherwise tagged or, without tags, segmented text."""
        form = self.input_format
        if form.labels == "word" or (form.labels == "character" and self.completes):
            return form
        if self.selected is not None:
            return kytea.FORMAT
        return plain.SEGMENTED if self.tagger.model.task == "segment" else tagged.SLASH

    def check_format(self, form: Format) -> None:
        """Raise StreamError for a format of characters without words, and for several guidelines: words may differ."""
        if self.selected is not None:
            check_can_hold(form, "words that may be unknown", lambda candidate: candidate.labels == "character")
        if form.unit == "character" and not form.labels:
            raise StreamError(f"found {form.name} as the format of the output, expected a format of words")
        if len(self.tagger.guidelines) > 1:
            raise StreamError("found several `to` and a model of characters, expected one: words may differ")

    def layer(self, form: Format) -> str:
        if form.labels == "character":
            return SEGMENTATION
        if self.input_format.unit != "character":
            return self.input_layer
        return self.tagger.layer_in(form.layers) or self.tagger.guideline

    @property
    def has_labels(self) -> bool:
        return self.tagger.model.task != "segment"

    def filled(self, original: Sentence, labelled: Sentence, form: Format) -> Sentence:
        if self.selected is not None:
            return Sentence(labelled.forms, {SEGMENTATION: labelled.layers[self.tagger.guideline]})
        words = self.tagger.words(labelled)
        tags = words.layers.get(self.tagger.guideline)
        if form.labels == "character":
            return _partial_sentence(words, tags, original)
        if self.input_format.unit == "character" or self.retag:
            return replace(words, layers={} if tags is None or form.labels is None else {self.layer(form): tags})
        return original if tags is None else original.with_layer(self.layer(form), tags)

    def write(self, output: str, format: str | None = None, progress: Progress = iter) -> None:  # noqa: A002
        if note := self._note_on_labels():
            self.tell(note)
        is_raw_to_segmented = (
            not self.completes
            and self.selected is None
            and self.chosen_format is plain.RAW
            and parse_argument(self.argument).layer is None
            and chosen_format(format, output) in (plain.SEGMENTED, None)
            and self.tagger.guidelines == (self.tagger.model.space.views[0].guideline,)
        )
        segmenter = self.by_tables() if is_raw_to_segmented else None
        if segmenter is None:
            super().write(output, format, progress)
            return
        with written(output) as stream:
            binary = cast("TextIO", stream).buffer
            for block in segmenter.blocks(read_blocks(self.input.path)):
                binary.write(block)
                if output == STANDARD_STREAM:
                    binary.flush()  # the reader of a pipe should not wait for more

    def _note_on_labels(self) -> str:
        """Return a note on a file that is read as raw text for want of a format, but looks labelled; or ""."""
        path = self.input.path
        if super().chosen_format is not None or not (lines := first_lines(path, _FIRST_LINES)):
            return ""
        form = recognise(lines).format
        if form.labels is None or form is plain.SEGMENTED:
            return ""
        line = next((number for number, text in enumerate(lines, 1) if recognise([text]).format is form), 1)
        name = "standard input" if path == STANDARD_STREAM else path
        problem = f"{name}:{line}: found what looks like the format {form.name}"
        return f"{problem}, and cuts it as raw text, labels included; `format={form.name}` reads it"


def in_characters(tagger: ChainPredictor, corpus: Corpus) -> Corpus:
    """Return a corpus in characters, with its annotation in the layer of the model's guideline."""
    prepared = Task(tagger.model.task, tagger.model.coding).prepare(corpus)
    guideline = tagger.guideline
    sentences = (replace(s, layers={guideline: s.layers[corpus.guideline]}) for s in prepared)
    return Corpus(tuple(sentences), guideline, "character")


def raw_evidence(tagger: ChainPredictor, lines: Iterable[Sentence], whole_runs: bool = True) -> Corpus:
    """Return raw text, with a character per token, as evidence: its blanks and runs determine some boundaries."""
    characters = tuple(without_blanks(line, whole_runs) for line in lines)
    return in_characters(tagger, Corpus(characters, SEGMENTATION, "character"))


def _partial_sentence(words: Sentence, tags: tuple[Candidates, ...] | None, original: Sentence) -> Sentence:
    """Return words as a sentence for KyTea's format, with the tags of the model or of the input."""
    characters = to_characters(replace(words, layers={}), SEGMENTATION)
    ends = [end - 1 for end in accumulate(map(len, words.forms))]
    layers = dict(characters.layers)
    if tags is not None:
        layers[TAG] = _spread(tags, words)
    if len(original) == len(characters):  # the input has characters too: keep the tags that are not the model's
        for name, layer in original.layers.items():
            if name not in layers and name.startswith(TAG):
                layers[name] = _spread([layer[end] for end in ends], words)
    return replace(characters, layers=layers)


def _spread(tags: tuple[Candidates, ...] | list[Candidates], words: Sentence) -> tuple[Candidates, ...]:
    return tuple(tag for tag, form in zip(tags, words.forms, strict=True) for _ in form)
