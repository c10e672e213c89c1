"""Partial annotation from lexicons, gazetteers and markup, and word clusters: in memory, or from files to a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from os import fspath
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple, TextIO, cast

from tagweave.corpus import gazetteer, load
from tagweave.corpus.characters import split_blanks
from tagweave.corpus.corpus import Corpus, Unit
from tagweave.corpus.files import STANDARD_STREAM, read_blocks, read_lines, written
from tagweave.corpus.formats import chosen_format, columns, kytea
from tagweave.corpus.formats.kytea import SEGMENTATION
from tagweave.corpus.formats.kytea import TAG as TAGS
from tagweave.corpus.gazetteer import Gazetteer
from tagweave.corpus.sentence import Sentence, kind_of, lines_of
from tagweave.errors import CorpusError
from tagweave.front.corpora import paths
from tagweave.front.options import options_of
from tagweave.harvest import lexicon, page
from tagweave.harvest.clusters import Clusters, cluster_words, write
from tagweave.harvest.markup import MarkupHarvest, Simplifier
from tagweave.harvest.matching import LexiconHarvest, LexiconMatcher
from tagweave.harvest.options import (
    ClusterOptions,
    File,
    GazetteerOptions,
    HarvestError,
    HarvestOptions,
    LexiconOptions,
    MarkupOptions,
)
from tagweave.harvest.phrases import LAYER, PhraseHarvest, PhraseMatcher, WordMarkupHarvest, tokenised
from tagweave.harvest.selection import Selection
from tagweave.options import declared, taking

_LEXICON, _MARKUP = declared({"": LexiconOptions}), declared({"": MarkupOptions})
_GAZETTEER, _CLUSTERS = declared({"": GazetteerOptions}), declared({"": ClusterOptions})
Progress = Callable[[Iterable[Any], str], Iterable[Any]]
"""Passes items on, and shows how many of them, described by the text, have passed."""


def silently(items: Iterable[Any], _: str) -> Iterable[Any]:
    """Pass items on, and show nothing."""
    return items


class LexiconCounts(NamedTuple):
    """Counts of a harvest by lexicons."""

    sentences: int  # read
    kept: int  # with words, or all
    words: int
    written: int  # sentences


class MarkupCounts(NamedTuple):
    """Counts of a harvest of pages."""

    pages: int
    sentences: int
    spans: int  # marked
    spans_of_two: int  # characters
    known: int  # places between characters; of words: tokens
    written: int  # sentences


@taking(_LEXICON)
def harvest_lexicon(
    lines: Iterable[str], *words: Iterable[str], guideline: str = SEGMENTATION, **options: Any
) -> Corpus:
    """Mark words of lexicons in raw text: partial annotation to train on (liu-2014, section 2.1).

    Args:
        lines: lines of raw text.
        words: the entries of each lexicon, as lines of its file; a word counts where all lexicons find it.
        guideline: the guideline of the words: the same as of the corpus to train on beside them.

    Returns:
        a corpus of characters with the sentences that contain words of the lexicons; all else in them is unknown. Tags
        of the lexicons are in the layer `tag`.

    Raises:
        ValueError, TypeError: no lexicon, or a wrong or unknown option.
    """
    if not words or any(isinstance(word_list, str) for word_list in words):
        raise ValueError("found no list of words, expected one or several: harvest_lexicon(lines, words)")
    settings = options_of(LexiconOptions, "tw.harvest_lexicon", options)
    harvest = LexiconHarvest(lexicon_matcher(map(lexicon.parse, words), settings), settings.every)
    return _corpus(_selection(settings).of(harvest.of(lines_of(lines))), guideline)


@taking(_LEXICON)
def harvest_lexicon_files(
    raw: File | Iterable[File],
    lexicons: File | Iterable[File],
    output: File = "-",
    progress: Progress = silently,
    **options: Any,
) -> LexiconCounts:
    """Mark words of lexicons in files of any length, as `tagweave harvest lexicon` does.

    Args:
        raw: files of raw text, one sentence per line; `-` is standard input.
        lexicons: files of words, one per line.
        output: the file, in KyTea's format, which appears whole or not at all; `-` is standard output.
        progress: shows how many sentences have been read.
        options: `like` and `sample` hold all sentences in memory.

    Raises:
        HarvestError, TypeError: a wrong or unknown option, or standard input named twice.
        CorpusError, OSError: a file cannot be read or written.
    """
    settings = options_of(LexiconOptions, "tw.harvest_lexicon_files", options)
    texts, lists = paths(raw), paths(lexicons)
    selection = _selection(settings, (*texts, *lists))
    harvest = LexiconHarvest(lexicon_matcher(map(lexicon.read, lists), settings), settings.every)
    sentences = (s for path in texts for s in harvest.of(progress(read_lines(path), f"sentences of {path}"), path))
    kept = write_partial(selection.of(sentences), output)
    return LexiconCounts(harvest.sentences, harvest.kept, harvest.words, kept)


@taking(_MARKUP)
def harvest_markup(pages: File | Iterable[File], guideline: str | None = None, **options: Any) -> Corpus:
    """Turn links, emphasis and headings of pages into boundaries of words (liu-2014, section 2.2).

    With `words`, turn links and bold text into spans of words whose type is unknown.

    Args:
        pages: files or folders of pages in Markdown, HTML or MediaWiki's markup.
        guideline: the guideline of the evidence: the same as of the corpus to train on beside it. By default
            `segmentation`, with `words` it is `tag`.

    Returns:
        a corpus of characters, or words, with the sentences that have evidence, each text once; all else in them is
        unknown.

    Raises:
        HarvestError, TypeError: a wrong or unknown option.
        CorpusError, OSError: a page that cannot be read, or a parser that is not installed.
    """
    settings = options_of(MarkupOptions, "tw.harvest_markup", options)
    files = page_files(pages, settings.format)
    sentences = _selection(settings).of(_marked(_markup_harvest(settings), settings, files))
    if settings.words:
        return _corpus(sentences, TAGS if guideline is None else guideline, TAGS, "word")
    return _corpus(sentences, SEGMENTATION if guideline is None else guideline)


@taking(_MARKUP)
def harvest_markup_files(
    pages: File | Iterable[File], output: File = "-", progress: Progress = silently, **options: Any
) -> MarkupCounts:
    """Turn the markup of pages into partial annotation, as `tagweave harvest markup` does. Raises as `harvest_markup`.

    Args:
        pages: files or folders of pages; `-` is standard input.
        output: the file, in KyTea's format or with `words` in the format `columns`, which appears whole or not at all;
            `-` is standard output.
        progress: shows how many pages have been read.
        options: `like` and `sample` hold all sentences in memory.
    """
    settings = options_of(MarkupOptions, "tw.harvest_markup_files", options)
    selection = _selection(settings, paths(pages))
    files = page_files(pages, settings.format)
    harvest = _markup_harvest(settings)
    marked = _marked(harvest, settings, progress(files, "pages"))
    written = write_partial(selection.of(marked), output, settings.words)
    of_two = 0 if isinstance(harvest, WordMarkupHarvest) else harvest.spans_of_two
    return MarkupCounts(len(files), harvest.sentences, harvest.spans, of_two, harvest.determined, written)


def page_files(pages: File | Iterable[File], format: str | None = None) -> list[tuple[str, str]]:  # noqa: A002
    """List the files of pages, also those in folders, with their formats. Raises as `tagweave.harvest.page.find`."""
    return [file for path in paths(pages) for file in page.find(path, format)]


def lexicon_matcher(lexicons: Iterable[Any], options: LexiconOptions) -> LexiconMatcher:
    """What finds the words of lexicons in text."""
    return LexiconMatcher(tuple(lexicons), options.matching, options.minimum, options.agree, options.phrases)


def _markup_harvest(options: MarkupOptions) -> MarkupHarvest | WordMarkupHarvest:
    if options.words:
        return WordMarkupHarvest(options.every)
    return MarkupHarvest(words_of_two=not options.free_pairs, everything=options.every)


def _marked(
    harvest: MarkupHarvest | WordMarkupHarvest, options: MarkupOptions, files: Iterable[tuple[str, str]]
) -> Iterator[Sentence]:
    convert = Simplifier().blocks if options.simplified else iter
    for path, format in files:  # noqa: A001
        yield from harvest.of(convert(page.read(path, format, options.words)), path)


def _selection(options: HarvestOptions, inputs: tuple[str, ...] = ()) -> Selection:
    return Selection(paths(options.like), options.sample, options.seed, inputs)


def _corpus(
    sentences: Iterable[Sentence], guideline: str, layer: str = SEGMENTATION, unit: Unit = "character"
) -> Corpus:
    """Give the layer of the sentences the name of the guideline, as if they were loaded from a file."""
    return Corpus(tuple(sentence.renamed({layer: guideline}) for sentence in sentences), guideline, unit)


def write_partial(sentences: Iterable[Sentence], output: File, words: bool = False) -> int:
    """Write sentences in KyTea's format, or words as columns, and return their number."""
    numbers = count()
    with written(fspath(output)) as stream:
        (columns if words else kytea).write((sentence for sentence, _ in zip(sentences, numbers, strict=False)), stream)
    return next(numbers)


RAW = "raw"
"""The format of text that is cut into tokens here."""


class GazetteerCounts(NamedTuple):
    """Counts of a harvest by gazetteers."""

    sentences: int  # read
    kept: int  # written
    phrases: int  # found
    formats: tuple[str, ...]  # of each input


@taking(_GAZETTEER)
def harvest_gazetteer(
    text: Corpus | Iterable[str], *entries: Iterable[str], guideline: str = "tag", **options: Any
) -> Corpus:
    """Mark phrases of gazetteers in text: evidence for spans, to train on.

    Args:
        text: a corpus of words, whose own labels are left out; or lines of raw text, which are cut into tokens.
        entries: the entries of each gazetteer, as lines of its file: `TYPE TAB phrase`, or `phrase`.
        guideline: the guideline of the labels: the same as of the corpus to train on beside them.

    Returns:
        a corpus of words with the sentences that have evidence.

    Raises:
        ValueError, TypeError: no gazetteer, a corpus of characters, or a wrong or unknown option.
        CorpusError, OSError: an entry or a file of `stop` that cannot be read.
    """
    if not entries or any(isinstance(entry_list, str) for entry_list in entries):
        raise ValueError("found no list of entries, expected one or several: harvest_gazetteer(text, entries)")
    if isinstance(text, Corpus) and text.unit == "character":
        raise ValueError("found a corpus of characters, expected words: phrases are of words")
    settings = options_of(GazetteerOptions, "tw.harvest_gazetteer", options)
    harvest = _harvest(
        gazetteer.joined([gazetteer.parse(lines_of(entry_list)) for entry_list in entries]), settings, guideline
    )
    sentences = text.sentences if isinstance(text, Corpus) else tokenised(lines_of(text))
    marked = tuple(harvest.of(sentences))
    return Corpus(marked, guideline, "word", harvest.covered)


@taking(_GAZETTEER)
def harvest_gazetteer_files(
    inputs: File | Iterable[File],
    gazetteers: File | Iterable[File],
    output: File = "-",
    progress: Progress = silently,
    **options: Any,
) -> GazetteerCounts:
    """Mark phrases of gazetteers in files of any length, as `tagweave harvest lexicon --gazetteer` does.

    Args:
        inputs: files of raw text, or of tokens in any format of words; `-` is standard input.
        gazetteers: files of phrases with types, one per line.
        output: the file, in the format `columns`, which appears whole or not at all; `-` is standard output.
        progress: shows how many blocks of text, or sentences, have been read.

    Raises:
        HarvestError, TypeError: a wrong or unknown option, files of raw text and of tokens, or standard input twice.
        CorpusError, OSError: a file cannot be read or written.
    """
    settings = options_of(GazetteerOptions, "tw.harvest_gazetteer_files", options)
    texts, lists = paths(inputs), paths(gazetteers)
    _check_read_once(*texts, *lists, *paths(settings.stop))
    formats = tuple(format_of(path, settings.format) for path in texts)
    if RAW in formats and set(formats) != {RAW}:
        raise HarvestError(f"found raw text and {max({*formats} - {RAW})}, expected one of them in a run")
    harvest = _harvest(gazetteer.joined([gazetteer.read(path) for path in lists]), settings)

    def write(stream: IO[str]) -> None:
        if RAW in formats:
            for path in texts:
                for block in harvest.rows(progress(read_blocks(path), f"blocks of {path}")):
                    cast("TextIO", stream).buffer.write(block)
        else:
            read_texts = (progress(load.iterate(path, settings.format), f"sentences of {path}") for path in texts)
            columns.write((marked for text in read_texts for marked in harvest.of(text)), stream, LAYER)

    with written(fspath(output)) as stream:
        if settings.elsewhere != "O-for-others":
            write(stream)
        else:  # the types that were found are known after all rows, and stand before them
            with TemporaryFile("w+", encoding="utf-8", newline="\n") as rows:
                write(rows)
                rows.seek(0)
                stream.write(f"# labels_covered = {' '.join(harvest.covered or ())}\n")
                copyfileobj(rows, stream)
    return GazetteerCounts(harvest.sentences, harvest.kept, harvest.phrases, formats)


def _check_read_once(*paths: str) -> None:
    if paths.count(STANDARD_STREAM) > 1:
        raise HarvestError("found - several times, expected it once: standard input is read once")


def format_of(path: str, format_name: str | None = None) -> str:
    """Choose the format of an input: as given, by its name, or as its rows and labels look; all else is raw text."""
    form = chosen_format(format_name, path)
    if form is None:
        form = None if path == STANDARD_STREAM else load.stream(path).format
        if form is None or not form.layers:  # words between blanks may be raw text as well
            return RAW
    if form.unit == "character" and form.name != RAW:
        raise HarvestError(f"{path}: found {form.name}, a format of characters, expected words or raw text")
    return form.name


def _harvest(entries: Gazetteer, options: GazetteerOptions, layer: str | None = None) -> PhraseHarvest:
    stop = tuple(line for path in paths(options.stop) for line in read_lines(path) if line.strip())
    matcher = PhraseMatcher(entries, stop, options.fold, options.elsewhere)
    return PhraseHarvest(matcher, options.every, layer or LAYER)


@taking(_CLUSTERS)
def harvest_clusters(sentences: Iterable[Sequence[str] | str], **options: Any) -> Clusters:
    """Cluster words by their neighbours (Brown et al. 1992), to be used as features.

    Args:
        sentences: the words of each, as a sequence or as text with blanks between them.

    Returns:
        the words, most frequent first, with the bit string and the count of each.

    Raises:
        HarvestError, TypeError: a wrong or unknown option.
        CorpusError: fewer than two words to cluster.
    """
    settings = options_of(ClusterOptions, "tw.harvest_clusters", options)
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        expected = "sentences: lines of words between blanks, or lists of words"
        raise TypeError(f"found {kind_of(sentences)}, expected {expected}")
    words = (split_blanks(sentence) if isinstance(sentence, str) else sentence for sentence in sentences)
    return cluster_words(words, settings.classes, settings.minimum_count)


@taking(_CLUSTERS)
def harvest_clusters_files(
    raw: File | Iterable[File],
    output: File = "-",
    format: str | None = None,  # noqa: A002
    progress: Progress = silently,
    **options: Any,
) -> Clusters:
    """Cluster the words of files, as `tagweave harvest clusters` does, and return the clusters that were written.

    Args:
        raw: files of words, in any format; `-` is standard input. Annotation is not looked at.
        output: the file of the clusters, which appears whole or not at all; `-` is standard output.
        format: the format of the files; by default of each what its name or its first lines show.
        progress: shows how many sentences and words have passed.

    Raises:
        HarvestError, TypeError: a wrong or unknown option, or standard input named twice.
        CorpusError, OSError: a file cannot be read or written, or has characters for tokens; fewer than two words.
    """
    settings = options_of(ClusterOptions, "tw.harvest_clusters_files", options)
    texts = paths(raw)
    _check_read_once(*texts)
    sentences = (words for path in texts for words in progress(_words(path, format), f"sentences of {path}"))
    clusters = cluster_words(sentences, settings.classes, settings.minimum_count, progress)
    with written(fspath(output)) as stream:
        write(clusters, stream)
    return clusters


def _words(path: str, format: str | None) -> Iterator[Sequence[str]]:  # noqa: A002
    """The words of every sentence of a file."""
    file = load.stream(path, format)
    if file.format.unit == "character":
        problem = f"{file.format.name} text, characters"
        raise CorpusError(problem, "words (`format=segmented`: text with blanks between words)", path)
    for sentence in file.sentences:
        yield sentence.forms
