"""Word clusters from raw text, for features: of sentences, or from files to a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from os import fspath
from typing import TYPE_CHECKING, Any

from tagweave.corpus.given import kind_of
from tagweave.corpus.text_file import STANDARD_STREAM, written
from tagweave.front.errors import options_of
from tagweave.front.harvest import Progress, paths
from tagweave.harvest.options import ClusterOptions, File, HarvestError

if TYPE_CHECKING:
    from tagweave.harvest.clusters import Clusters


def harvest_clusters(sentences: Iterable[Sequence[str] | str], **options: Any) -> Clusters:
    """Cluster words by their neighbours (Brown et al. 1992), to be used as features.

    Args:
        sentences: the words of each, as a sequence or as text with blanks between them.
        options: fields of `ClusterOptions`: `classes`, `minimum_count`.

    Returns:
        the words, most frequent first, with the bit string and the count of each.

    Raises:
        HarvestError: a wrong option.
        CorpusError: fewer than two words to cluster.
        TypeError: an unknown option.
    """
    from tagweave.corpus.blanks import split_blanks
    from tagweave.harvest.clusters import cluster_words

    settings = options_of(ClusterOptions, "tw.harvest_clusters", options)
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        expected = "sentences: lines of words between blanks, or lists of words"
        raise TypeError(f"found {kind_of(sentences)}, expected {expected}")
    words = (split_blanks(each) if isinstance(each, str) else each for each in sentences)
    return cluster_words(words, settings.classes, settings.minimum_count)


def harvest_clusters_files(
    raw: File | Iterable[File],
    output: File = "-",
    format: str | None = None,  # noqa: A002
    progress: Progress = lambda items, _: items,
    **options: Any,
) -> Clusters:
    """Cluster the words of files, as `tagweave harvest clusters` does.

    Args:
        raw: files of words, in any format; `-` is standard input. Annotation is not looked at.
        output: the file of the clusters, which appears whole or not at all; `-` is standard output.
        format: the format of the files; by default of each what its name or its first lines show.
        progress: shows how many sentences and words have passed.
        options: as for `harvest_clusters`.

    Returns:
        the clusters that were written.

    Raises:
        HarvestError: a wrong option, or standard input named twice.
        CorpusError, OSError: a file cannot be read or written, or has characters for tokens; fewer than two words.
        TypeError: an unknown option.
    """
    from tagweave.harvest.clusters import cluster_words, write

    settings, texts = options_of(ClusterOptions, "tw.harvest_clusters_files", options), paths(raw)
    if texts.count(STANDARD_STREAM) > 1:
        raise HarvestError("found - several times, expected it once: standard input is read once")
    sentences = (words for path in texts for words in progress(_words(path, format), f"sentences of {path}"))
    clusters = cluster_words(sentences, settings.classes, settings.minimum_count, progress)
    with written(fspath(output)) as stream:
        write(clusters, stream)
    return clusters


def _words(path: str, format: str | None) -> Iterator[Sequence[str]]:  # noqa: A002
    """The words of every sentence of a file."""
    from tagweave.corpus.errors import CorpusError
    from tagweave.corpus.load import stream

    file = stream(path, format)
    if file.format.unit == "character":
        found = f"{file.format.name} text, characters"
        raise CorpusError(found, "words (`format=segmented`: text with blanks between words)", path)
    for sentence in file.sentences:
        yield sentence.forms
