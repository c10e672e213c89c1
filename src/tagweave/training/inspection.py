"""Looks at the corpora of a training before it begins: what may not be what it was taken for is told in one line each.

Every training passes here, from the command line and from Python. Thresholds are such that the public corpora of every
task and size pass without a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from tagweave.corpus.chunk_schemes import (
    LENIENT,
    Gaps,
    codes_chunks,
    gaps_in,
    labels,
    readable,
    standard_labels,
    strays,
)
from tagweave.corpus.corpus import EVERYTHING, Corpus
from tagweave.corpus.describe import describe
from tagweave.corpus.formats import conllu
from tagweave.corpus.formats.attributes import ATTRIBUTES
from tagweave.corpus.sentence import Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import PlanError
from tagweave.labels import OF_CHARACTERS, SPANS
from tagweave.training.corpora import LoadedSource, TrainingData
from tagweave.training.fit.task import label_counts

SEGMENT = "segment"

_SHOWN = 8  # labels in a line
_ENDS = frozenset(".!?。！？")
_LONG = {"word": 200, "character": 500}  # mean length of sentences that are rather documents
_FEW = 20  # labels that may be as many as words
_ALIKE = 10  # lines of equally many words that cannot be sentences by chance
_RARE = 0.1  # share of tokens with a label that no other has above which labels are rather words
_MANY = 0.01  # share of positions with labels unknown in training above which this is reported
_EXPECTED = 20  # times that a label should occur in a corpus by its share in another, and does not
_TEXT = {"word": 10, "character": 20}  # tokens from which a sentence does not repeat by chance
_REPEATED = 0.1  # share of them in TRAIN, too, above which this is reported
_SPAN = re.compile(r"[bieslu][-_:.]\S+|\S+[-_:.][bieslu]|o", re.IGNORECASE)
_PLACES = re.compile(r"[BIES]-.+|O")


def inspection(
    data: TrainingData,
    dev: LoadedSource | None,
    task: str,
    gaps: Gaps | None = None,
    covered_numbers: Container[int] = (),
    start_labels: Collection[str] = (),
) -> Iterator[str]:
    """Yield warnings and notes about the corpora of a job.

    Args:
        covered_numbers: the numbers of the training corpora of which the plan says which labels they cover.
        start_labels: those of the model that training goes on from.
    """
    files = [*data.files, *([dev] if dev else [])]
    for file in files:
        yield from suspicions(file.corpus, task)
    yield from _repeated_files(data)
    if dev:
        yield from _repeated(data, dev)
        if task != SEGMENT:
            yield from unknown_labels(data, dev, task, start_labels)
            yield from _missing_labels(data, dev, task)
    if task == SPANS:
        if len(data.corpora) > 1:
            counts = [SpanCounts.of(corpus, number in covered_numbers) for number, corpus in enumerate(data.corpora)]
            yield from uncovered_types(counts)
        yield from (note for f in files if (note := stray_labels(f.corpus, f.guideline, f.corpus.name)))
        yield from (note for f in files if (note := gap_line(f.corpus, gaps)))


def suspicions(corpus: Corpus, task: str = "") -> Iterator[str]:
    """Yield a warning for everything about a corpus that looks like a mistake."""
    counts = label_counts(corpus)
    for line in (
        _uncut(corpus),
        _multiword(corpus, task),
        _of_columns(corpus, task),
        _unlike_labels(corpus, counts),
        _unlike_spans(counts, task),
    ):
        if line:
            yield f"warning: {corpus.name}: {line}"


def _multiword(corpus: Corpus, task: str) -> str:
    """Say what a segmenter makes of multiword tokens."""
    if task not in OF_CHARACTERS:
        return ""
    tokens = Counter(
        (form, " ".join(sentence.forms[start:stop]))
        for sentence in corpus
        for start, stop, form in conllu.multiword_tokens(sentence)
    )
    if not tokens:
        return ""
    (form, words), _ = tokens.most_common(1)[0]
    tagged = ", without a tag" if task == "segtag" else ""
    return f"{tokens.total():,} multiword tokens, such as {form!r} ({words}), are one word each, as in the text{tagged}"


def _uncut(corpus: Corpus) -> str:
    """Say if sentences seem to follow each other without a blank line or a line break."""
    tokens = corpus.tokens()
    inner = sum(form in _ENDS for sentence in corpus for form in sentence.forms[:-1]) if len(corpus) == 1 else 0
    if inner < 2 and tokens < _LONG[corpus.unit] * max(1, len(corpus)):
        return ""
    count = "1 sentence" if len(corpus) == 1 else f"{len(corpus):,} sentences"
    return (
        f"found {count} of {tokens:,} tokens: are the blank lines (or, in running text, the line breaks) between"
        " sentences missing?"
    )


def _of_columns(corpus: Corpus, task: str) -> str:
    """Say if lines of words are rather rows of columns, or words that somebody marked for another task."""
    if task != SEGMENT or corpus.unit != "word":
        return ""
    if codes_chunks(label_counts(corpus)):
        return (
            "its labels code spans, which the task segment does not learn: it learns where words begin in text without"
            " blanks; `task=spans` learns the labels"
        )
    lengths = {len(sentence) for sentence in corpus}
    if (
        len(corpus) >= _ALIKE
        and len(lengths) == 1
        and lengths != {1}
        and not any(sentence.layers for sentence in corpus)
    ):
        return (
            f"every line has {lengths.pop()} words: if these are columns, write a blank line between sentences, or name"
            " the format (`format=columns`)"
        )
    return ""


def _unlike_labels(corpus: Corpus, counts: Counter[str]) -> str:
    """Say if labels are so many that the columns may be swapped, or another column was meant."""
    tokens = counts.total()
    single = sum(count == 1 for count in counts.values())
    has_no_words = any(ATTRIBUTES in sentence.columns for sentence in corpus.sentences[:1])
    if len(counts) < _FEW or corpus.unit == "character" or has_no_words:
        return ""
    forms = {form for sentence in corpus for form in sentence.forms}
    what = f"found {len(counts):,} labels of {tokens:,} tokens, {single:,} of them once"
    if len(counts) > len(forms):
        return f"{what}, and {len(forms):,} words: are the columns swapped? The word comes first, its label last"
    if single > _RARE * tokens:
        return f"{what}: do labels stand in another column? The last one counts, or `# columns =` names them"
    return ""


def _unlike_spans(counts: Counter[str], task: str) -> str:
    """Say if labels look like labels of spans, but are not written as tagweave reads them."""
    counts = Counter({label.removeprefix("!"): count for label, count in counts.items()})
    if codes_chunks(counts):
        return ""
    spans = [label for label in counts if _PLACES.fullmatch(label) and label != "O"]
    odd = Counter({label: count for label, count in counts.items() if label not in (*spans, "O")})
    if odd and all(_SPAN.fullmatch(label) for label in counts) and len(counts) > 1:
        return (
            f"labels like those of spans, but not written so: {_shortened(odd)}: expected labels such as B-PER I-PER O"
        )
    if spans and task != SEGMENT and len(spans) >= len(odd) > 0 and "O" in counts:
        return (
            f"labels of spans beside others at {odd.total():,} tokens: {_shortened(odd)}: expected B-TYPE, I-TYPE or O"
        )
    return ""


def _repeated_files(data: TrainingData) -> Iterator[str]:
    """Yield a warning for each training file that repeats the layer of another."""
    paths: dict[tuple[str, str], str] = {}
    for file in data.files:
        path = file.corpus.name
        annotation = file.sha256, file.corpus.layer
        if annotation in paths:
            yield f"warning: {path}: the same annotation as {paths[annotation]}: leave one of them out"
        paths.setdefault(annotation, path)


def _repeated(data: TrainingData, dev: LoadedSource) -> Iterator[str]:
    """Yield a warning if many sentences of the development data are training data, too."""
    files = [file for file in data.files if file.guideline == dev.guideline]
    for file in files:
        if file.sha256 == dev.sha256:
            raise PlanError(
                f"{dev.source.argument}: found TRAIN itself as development data, expected other sentences: scores on"
                " what was learned say nothing (training needs no `dev`)"
            )
    training_texts = {"".join(sentence.forms) for file in files for sentence in file.corpus}
    texts = ["".join(sentence.forms) for sentence in dev.corpus if len(sentence) >= _TEXT[dev.corpus.unit]]
    count = sum(text in training_texts for text in texts)
    if count > _REPEATED * len(texts):
        yield (
            f"warning: {dev.corpus.name}: {count:,} of {len(texts):,} longer sentences are in the training corpora,"
            " too: scores on them are too high; leave them out of one of both"
        )


def unknown_labels(
    data: TrainingData, dev: LoadedSource, task: str = "tag", start_labels: Collection[str] = ()
) -> Iterator[str]:
    """Yield a line if many positions of development data have labels that no corpus of their guideline has.

    `start_labels` are known anyway.

    A model of spans has `O` and every letter for each type of its corpora, whether they occur or not.
    """
    training_labels = _labels_of(_of_guideline(data, dev), task)
    if not training_labels:  # training itself refuses a corpus without labels
        return
    unknown, share = unfamiliar_labels(_counts(dev.corpus, task), {*training_labels, *start_labels})
    if share >= _MANY:
        lacking = f"the training corpora lack labels at {100 * share:.1f} % of its positions, which count as wrong"
        yield f"warning: {dev.corpus.name}: {lacking}: {unknown}"


def _missing_labels(data: TrainingData, dev: LoadedSource, task: str) -> Iterator[str]:
    """Yield a line if labels that are frequent in TRAIN do not occur in the development data."""
    corpora = _of_guideline(data, dev)
    counts = sum((_counts(corpus, task) for corpus in corpora), Counter[str]())
    dev_labels = _labels_of([dev.corpus], task)
    size = sum(
        candidates is not None for sentence in dev.corpus for candidates in sentence.layers.get(dev.guideline, ())
    )
    missing = [
        tag
        for tag, count in counts.most_common()
        if dev_labels and tag not in dev_labels and count * size >= _EXPECTED * counts.total()
    ]
    if missing:
        share = 100 * sum(counts[tag] for tag in missing) / counts.total()
        lacking = f"it lacks labels that the training corpora have at {share:.1f} % of their positions"
        yield f"warning: {dev.corpus.name}: {lacking}: {_shortened(missing)}: does it follow the same guideline?"


class SpanCounts(NamedTuple):
    """How often a corpus has each type of spans."""

    path: str
    guideline: str
    tokens: int
    outside: int  # tokens known to be in no span
    spans: Mapping[str, int]
    is_told: bool  # whether somebody says which types were annotated

    @classmethod
    def of(cls, corpus: Corpus, is_told: bool) -> SpanCounts:
        summary = describe(corpus.map(lambda sentence: sentence.with_layers_of([corpus.guideline]))).layers.get(
            corpus.guideline
        )
        is_told = is_told or any(corpus.covered_in(sentence) is not None for sentence in corpus)
        outside, spans = (summary.labels.get(OUTSIDE, 0), summary.spans) if summary else (0, {})
        return cls(corpus.name, corpus.guideline, corpus.tokens(), outside, spans, is_told)

    @classmethod
    def described(cls, corpus: Mapping[str, Any]) -> SpanCounts:
        """Take the counts from the description of a corpus as plain data."""
        layer = corpus["layers"].get(corpus["guideline"], {"labels": {}})
        outside = layer["labels"].get(OUTSIDE, 0)
        is_told = corpus["covered"] is not None
        return cls(corpus["file"], corpus["guideline"], corpus["tokens"], outside, layer.get("spans", {}), is_told)

    def lacks(self, other: SpanCounts) -> set[str]:
        """Return the types that never occur, and should by their share in another corpus of the guideline."""
        if self.is_told or self.guideline != other.guideline:
            return set()
        expected = {name: count * self.outside / other.tokens for name, count in other.spans.items()}
        return {name for name, count in expected.items() if name not in self.spans and count >= _EXPECTED}


def uncovered_types(corpora: Sequence[SpanCounts]) -> Iterator[str]:
    """Yield a line if corpora never have types that others of their guideline often have."""
    pairs = [(corpus, sorted(set[str]().union(*map(corpus.lacks, corpora)))) for corpus in corpora]
    problems = [f"{corpus.path} has no {' or '.join(lacking)}" for corpus, lacking in pairs if lacking]
    if problems:
        covered = (",".join(sorted(corpus.spans)) if lacking else EVERYTHING for corpus, lacking in pairs)
        yield (
            f"warning: {', '.join(problems)}, which are frequent in another corpus: if annotators did not look for them"
            f" there, train with {' '.join(f'`covers={types}`' for types in covered)}, or else its O teaches"
            " that they are nothing"
        )


def _of_guideline(data: TrainingData, dev: LoadedSource) -> list[Corpus]:
    return [corpus for corpus in data.corpora if corpus.guideline == dev.guideline]


def _labels_of(corpora: Iterable[Corpus], task: str) -> set[str]:
    """Return the labels of corpora; with the task spans all labels of their types."""
    names = {label for corpus in corpora for label in _counts(corpus, task)}
    return {*names, *labels(names, "BIOES")} if task == SPANS and codes_chunks(names) else names


def _counts(corpus: Corpus, task: str) -> Counter[str]:
    """Count the labels as the task reads them: spans may be spelled in several ways."""
    return label_counts(standard_labels(corpus) if task == SPANS else corpus)


def stray_labels(sentences: Iterable[Sentence], layer: str, path: str) -> str:
    """Say which labels no chunk scheme allows; "" without any. Counting is quick, finding the scheme is not."""
    count = strays(sentences, layer)
    if not count or readable(sentences, layer) != LENIENT:
        return ""
    return f"{path}: {count:,} labels I that do not go on with a span are taken to begin one"


def gap_line(corpus: Corpus, gaps: Gaps | None) -> str:
    """Say how unknown tokens after the first or an inner token of a span are read; "" if there are none."""
    layers = (sentence.layers.get(corpus.guideline, ()) for sentence in corpus)
    pairs = (pair for layer in layers if None in layer for pair in pairwise(layer))
    count = sum(
        candidates is None and previous is not None and previous[0][0] in "BIM" for previous, candidates in pairs
    )
    if not count:
        return ""
    if (gaps or gaps_in(corpus, corpus.guideline)) == "tokens":
        read, other = f"tokens are left out: {count:,} spans may go on in the unknown token after them", "spans"
    else:
        read, other = f"whole spans are marked: {count:,} of them end before an unknown token", "tokens"
    return f"{corpus.name}: {read} (`gaps={other}` reads it the other way)"


def unfamiliar_labels(counts: Counter[str], known_labels: Container[str]) -> tuple[str, float]:
    """Return the labels that are not known, the most frequent first, as a line shows them, and their share."""
    unknown = [name for name, _ in counts.most_common() if name not in known_labels]
    return _shortened(unknown), sum(counts[name] for name in unknown) / max(counts.total(), 1)


def _shortened(names: Iterable[str]) -> str:
    listed = list(names)
    return " ".join(listed[:_SHOWN]) + (" ..." if len(listed) > _SHOWN else "")
