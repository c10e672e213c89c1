"""Evidence for spans from phrases of gazetteers: as a corpus of words, or from files to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from os import fspath
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TextIO, cast

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.given import lines_of
from tagweave.front.errors import options_of
from tagweave.front.harvest import Progress, paths, silently
from tagweave.harvest.options import File, GazetteerOptions, HarvestError

if TYPE_CHECKING:
    from tagweave.corpus.gazetteer import Gazetteer
    from tagweave.harvest.phrases import PhraseHarvest

RAW = "raw"
"""The format of text that is cut into tokens here."""


class GazetteerCounts(NamedTuple):
    """Of a harvest by gazetteers: sentences read, sentences written, phrases found; and the format of each input."""

    sentences: int
    kept: int
    phrases: int
    formats: tuple[str, ...]


def harvest_gazetteer(
    text: Corpus | Iterable[str], *entries: Iterable[str], guideline: str = "tag", **options: Any
) -> Corpus:
    """Mark phrases of gazetteers in text: evidence for spans, to train on.

    Args:
        text: a corpus of words, whose own labels are left out; or lines of raw text, which are cut into tokens.
        entries: the entries of each gazetteer, as lines of its file: `TYPE TAB phrase`, or `phrase`.
        guideline: the guideline of the labels: that of the corpus to train on beside them.
        options: fields of `GazetteerOptions` but `format`: `stop`, `fold`, `elsewhere`, `every`.

    Returns:
        a corpus of words with the sentences that have evidence.

    Raises:
        ValueError: no gazetteer, a corpus of characters, or a wrong option.
        CorpusError: an entry that cannot be read.
        OSError: a file of `stop` cannot be read.
        TypeError: an unknown option.
    """
    from tagweave.corpus.gazetteer import joined, parse
    from tagweave.harvest.phrases import tokenised

    if not entries or any(isinstance(each, str) for each in entries):
        raise ValueError("found no list of entries, expected one or several: harvest_gazetteer(text, entries)")
    if isinstance(text, Corpus) and text.unit == "character":
        raise ValueError("found a corpus of characters, expected words: phrases are of words")
    settings = options_of(GazetteerOptions, "tw.harvest_gazetteer", options)
    harvest = _harvest(joined([parse(lines_of(each)) for each in entries]), settings, guideline)
    sentences = text.sentences if isinstance(text, Corpus) else tokenised(lines_of(text))
    found = tuple(harvest.of(sentences))
    return Corpus(found, guideline, "word", harvest.covered)


def harvest_gazetteer_files(
    inputs: File | Iterable[File],
    gazetteers: File | Iterable[File],
    output: File = "-",
    progress: Progress | None = None,
    **options: Any,
) -> GazetteerCounts:
    """Mark phrases of gazetteers in files of any length, as `tagweave harvest lexicon --gazetteer` does.

    Args:
        inputs: files of raw text, or of tokens in any format of words; `-` is standard input.
        gazetteers: files of phrases with types, one per line.
        output: the file, in the format `columns`, which appears whole or not at all; `-` is standard output.
        progress: shows how many blocks of text, or sentences, have been read.
        options: fields of `GazetteerOptions`.

    Raises:
        HarvestError: a wrong option, files of raw text and of tokens, or standard input named twice.
        CorpusError, OSError: a file cannot be read or written.
        TypeError: an unknown option.
    """
    from tagweave.corpus.formats import columns
    from tagweave.corpus.gazetteer import joined, read
    from tagweave.corpus.load import iterate
    from tagweave.corpus.text_blocks import read_blocks
    from tagweave.corpus.text_file import STANDARD_STREAM, written
    from tagweave.harvest.phrases import LAYER

    settings = options_of(GazetteerOptions, "tw.harvest_gazetteer_files", options)
    texts, lists = paths(inputs), paths(gazetteers)
    if (*texts, *lists, *paths(settings.stop)).count(STANDARD_STREAM) > 1:
        raise HarvestError("found - several times, expected it once: standard input is read once")
    formats = tuple(format_of(path, settings.format) for path in texts)
    if RAW in formats and set(formats) != {RAW}:
        raise HarvestError(f"found raw text and {max({*formats} - {RAW})}, expected one of them in a run")
    harvest = _harvest(joined([read(path) for path in lists]), settings)
    show = progress or silently

    def write(stream: IO[str]) -> None:
        if RAW in formats:
            for path in texts:
                for block in harvest.rows(show(read_blocks(path), f"blocks of {path}")):
                    cast("TextIO", stream).buffer.write(block)
        else:
            read_texts = (show(iterate(path, settings.format), f"sentences of {path}") for path in texts)
            columns.write((found for each in read_texts for found in harvest.of(each)), stream, LAYER)

    with written(fspath(output)) as stream:
        if settings.elsewhere == "O-for-others":
            _below_covered(harvest, write, stream)
        else:
            write(stream)
    return GazetteerCounts(harvest.sentences, harvest.kept, harvest.phrases, formats)


def _below_covered(harvest: PhraseHarvest, write: Callable[[IO[str]], None], stream: IO[str]) -> None:
    """Write a comment with the covered types, which are known after all rows, and then the rows."""
    with TemporaryFile("w+", encoding="utf-8", newline="\n") as rows:
        write(rows)
        rows.seek(0)
        stream.write(f"# labels_covered = {' '.join(harvest.covered or ())}\n")
        copyfileobj(rows, stream)


def format_of(path: str, given: str | None = None) -> str:
    """The format of an input: as given, or by its name; a file of rows or labels as it looks, all else raw text.

    Raises:
        HarvestError: a format of characters other than raw text.
        CorpusError, OSError: a file that cannot be read, or an unknown format.
    """
    from tagweave.corpus.formats.registry import chosen_format
    from tagweave.corpus.load import stream
    from tagweave.corpus.text_file import STANDARD_STREAM

    form = chosen_format(given, path)
    if form is None:
        form = None if path == STANDARD_STREAM else stream(path).format
        if form is None or not form.layers:  # words between blanks may be raw text as well
            return RAW
    if form.unit == "character" and form.name != RAW:
        raise HarvestError(f"{path}: found {form.name}, a format of characters, expected words or raw text")
    return form.name


def _harvest(gazetteer: Gazetteer, options: GazetteerOptions, layer: str | None = None) -> PhraseHarvest:
    from tagweave.corpus.text_file import read_lines
    from tagweave.harvest.phrases import LAYER, PhraseHarvest, PhraseMatcher

    stop = tuple(line for path in paths(options.stop) for line in read_lines(path) if line.strip())
    matcher = PhraseMatcher(gazetteer, stop, options.fold, options.elsewhere)
    return PhraseHarvest(matcher, options.every, layer or LAYER)
