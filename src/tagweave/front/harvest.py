"""Partial annotation for free, from lexicons and from the markup of pages: as a corpus, or from files to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, NamedTuple

from tagweave.corpus.corpus import Corpus, Unit
from tagweave.corpus.formats.kytea import SEGMENTATION
from tagweave.corpus.formats.kytea import TAG as TAGS
from tagweave.corpus.given import lines_of
from tagweave.front.errors import options_of
from tagweave.harvest.options import File, LexiconOptions, MarkupOptions

if TYPE_CHECKING:
    from tagweave.corpus.sentence import Sentence
    from tagweave.harvest.annotation import LexiconHarvest
    from tagweave.harvest.markup import MarkupHarvest
    from tagweave.harvest.matching import LexiconMatcher
    from tagweave.harvest.options import HarvestOptions
    from tagweave.harvest.selection import Selection
    from tagweave.harvest.word_markup import WordMarkupHarvest

Progress = Callable[[Iterable[Any], str], Iterable[Any]]
"""Passes items on, and shows how many of them, described by the text, have passed."""


class LexiconCounts(NamedTuple):
    """Of a harvest by lexicons: sentences read, sentences with words (or all), words found, sentences written."""

    sentences: int
    kept: int
    words: int
    written: int


class MarkupCounts(NamedTuple):
    """Of a harvest of pages: pages, sentences, marked spans, those of two characters, and known places between
    characters in all of these (of words: known tokens); sentences written."""

    pages: int
    sentences: int
    spans: int
    spans_of_two: int
    known: int
    written: int


def harvest_lexicon(
    lines: Iterable[str], *words: Iterable[str], guideline: str = SEGMENTATION, **options: Any
) -> Corpus:
    """Mark words of lexicons in raw text: partial annotation to train on (liu-2014, section 2.1).

    Args:
        lines: lines of raw text.
        words: the entries of each lexicon, as lines of its file; a word counts where all lexicons find it.
        guideline: the guideline of the words: that of the corpus to train on beside them.
        options: fields of `LexiconOptions`: `matching`, `minimum`, `phrases`, `agree`, `every`, `like`, `sample`,
            `seed`.

    Returns:
        a corpus of characters with the sentences that contain words of the lexicons; all else in them is unknown. Tags
        of the lexicons are in the layer `tag`.

    Raises:
        ValueError: no lexicon, or a wrong option.
        TypeError: an unknown option.
    """
    from tagweave.harvest.lexicon import parse

    if not words or any(isinstance(each, str) for each in words):
        raise ValueError("found no list of words, expected one or several: harvest_lexicon(lines, words)")
    settings = options_of(LexiconOptions, "tw.harvest_lexicon", options)
    harvest = _lexicon_harvest(map(parse, words), settings)
    return _corpus(_selection(settings).of(harvest.of(lines_of(lines))), guideline)


def harvest_lexicon_files(
    raw: File | Iterable[File],
    lexicons: File | Iterable[File],
    output: File = "-",
    progress: Progress | None = None,
    **options: Any,
) -> LexiconCounts:
    """Mark words of lexicons in files of any length, as `tagweave harvest lexicon` does.

    Args:
        raw: files of raw text, one sentence per line; `-` is standard input.
        lexicons: files of words, one per line.
        output: the file, in KyTea's format, which appears whole or not at all; `-` is standard output.
        progress: shows how many sentences have been read.
        options: as for `harvest_lexicon`. With `like` or `sample` all sentences are held in memory.

    Raises:
        HarvestError: a wrong option, or standard input named twice.
        CorpusError, OSError: a file cannot be read or written.
        TypeError: an unknown option.
    """
    from tagweave.corpus.text_file import read_lines
    from tagweave.harvest.lexicon import read

    settings = options_of(LexiconOptions, "tw.harvest_lexicon_files", options)
    texts, lists = paths(raw), paths(lexicons)
    selection = _selection(settings, (*texts, *lists))
    harvest, show = _lexicon_harvest(map(read, lists), settings), progress or silently

    def sentences() -> Iterator[Sentence]:
        for path in texts:
            yield from harvest.of(show(read_lines(path), f"sentences of {path}"), path)

    written = write_partial(selection.of(sentences()), output)
    return LexiconCounts(harvest.sentences, harvest.kept, harvest.words, written)


def harvest_markup(pages: File | Iterable[File], guideline: str | None = None, **options: Any) -> Corpus:
    """Turn links, emphasis and headings of pages into boundaries of words (liu-2014, section 2.2).

    With `words`, turn links and bold text into spans of words whose type is unknown.

    Args:
        pages: files or folders of pages in Markdown, HTML or MediaWiki's markup.
        guideline: the guideline of the evidence: that of the corpus to train on beside it. By default `segmentation`,
            with `words` it is `tag`.
        options: fields of `MarkupOptions`: `format`, `simplified`, `free_pairs`, `words`, `every`, `like`, `sample`,
            `seed`.

    Returns:
        a corpus of characters, or words, with the sentences that have evidence, each text once; all else in them is
        unknown.

    Raises:
        HarvestError: a wrong option.
        CorpusError: a page in an unknown format, or one that cannot be read, or a parser that is not installed.
        OSError: a file cannot be read.
        TypeError: an unknown option.
    """
    settings = options_of(MarkupOptions, "tw.harvest_markup", options)
    files = page_files(pages, settings.format)
    found = _selection(settings).of(_marked(_markup_harvest(settings), settings, files))
    if settings.words:
        return _corpus(found, TAGS if guideline is None else guideline, TAGS, "word")
    return _corpus(found, SEGMENTATION if guideline is None else guideline)


def harvest_markup_files(
    pages: File | Iterable[File], output: File = "-", progress: Progress | None = None, **options: Any
) -> MarkupCounts:
    """Turn the markup of pages into partial annotation, as `tagweave harvest markup` does.

    Args:
        pages: files or folders of pages; `-` is standard input.
        output: the file, in KyTea's format or with `words` in the format `columns`, which appears whole or not at all;
            `-` is standard output.
        progress: shows how many pages have been read.
        options: as for `harvest_markup`. With `like` or `sample` all sentences are held in memory.

    Raises:
        As `harvest_markup`.
    """
    from tagweave.harvest.word_markup import WordMarkupHarvest

    settings = options_of(MarkupOptions, "tw.harvest_markup_files", options)
    selection = _selection(settings, paths(pages))
    files, harvest = page_files(pages, settings.format), _markup_harvest(settings)
    shown = (progress or silently)(files, "pages")
    written = write_partial(selection.of(_marked(harvest, settings, shown)), output, settings.words)
    of_two = 0 if isinstance(harvest, WordMarkupHarvest) else harvest.spans_of_two
    return MarkupCounts(len(files), harvest.sentences, harvest.spans, of_two, harvest.known, written)


def page_files(pages: File | Iterable[File], format: str | None = None) -> list[tuple[str, str]]:  # noqa: A002
    """The files of pages, also those in folders, each with its format. Raises as `tagweave.harvest.page.find`."""
    from tagweave.harvest.page import find

    return [file for page in paths(pages) for file in find(page, format)]


def lexicon_matcher(lexicons: Iterable[Any], options: LexiconOptions) -> LexiconMatcher:
    """What finds the words of lexicons in text."""
    from tagweave.harvest.matching import LexiconMatcher

    return LexiconMatcher(tuple(lexicons), options.matching, options.minimum, options.agree, options.phrases)


def _lexicon_harvest(lexicons: Iterable[Any], options: LexiconOptions) -> LexiconHarvest:
    from tagweave.harvest.annotation import LexiconHarvest

    return LexiconHarvest(lexicon_matcher(lexicons, options), options.every)


def _markup_harvest(options: MarkupOptions) -> MarkupHarvest | WordMarkupHarvest:
    from tagweave.harvest.markup import MarkupHarvest
    from tagweave.harvest.word_markup import WordMarkupHarvest

    if options.words:
        return WordMarkupHarvest(options.every)
    return MarkupHarvest(words_of_two=not options.free_pairs, everything=options.every)


def _marked(
    harvest: MarkupHarvest | WordMarkupHarvest, options: MarkupOptions, files: Iterable[tuple[str, str]]
) -> Iterator[Sentence]:
    from tagweave.harvest.page import read
    from tagweave.harvest.simplified import Simplifier

    convert = Simplifier().blocks if options.simplified else iter
    for path, format in files:  # noqa: A001
        yield from harvest.of(convert(read(path, format, options.words)), path)


def _selection(options: HarvestOptions, inputs: tuple[str, ...] = ()) -> Selection:
    from tagweave.harvest.selection import Selection

    return Selection(paths(options.like), options.sample, options.seed, inputs)


def _corpus(
    sentences: Iterable[Sentence], guideline: str, layer: str = SEGMENTATION, unit: Unit = "character"
) -> Corpus:
    """The sentences under a guideline, which their layer gets as name, as they would be loaded from a file."""
    return Corpus(tuple(each.renamed({layer: guideline}) for each in sentences), guideline, unit)


def write_partial(sentences: Iterable[Sentence], output: File, words: bool = False) -> int:
    """Write sentences in KyTea's format, or words as columns, and return their number."""
    from tagweave.corpus.formats import columns, kytea
    from tagweave.corpus.text_file import written

    count = 0

    def counted() -> Iterator[Sentence]:
        nonlocal count
        for sentence in sentences:
            count += 1
            yield sentence

    with written(fspath(output)) as stream:
        (columns if words else kytea).write(counted(), stream)
    return count


def paths(files: File | Iterable[File]) -> tuple[str, ...]:
    """The paths of one file or several."""
    return (fspath(files),) if isinstance(files, (str, PathLike)) else tuple(fspath(each) for each in files)


def silently(items: Iterable[Any], _: str) -> Iterable[Any]:
    """Shows nothing."""
    return items
