"""Corpora in which several sources label the same text: a layer for each source, and one for all together.

A file may hold sources as columns, or as layers of another format; or every source has a file of its own, with the same
text. A position of a source's layer is `None` if the source said nothing there.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, zip_longest
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from tagweave.corpus import chunk_schemes
from tagweave.corpus.candidates import Soft, with_probabilities
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.formats.columns import with_column_layers
from tagweave.corpus.load import parse_argument
from tagweave.corpus.sentence import Layer, Location, Sentence
from tagweave.corpus.spans import OUTSIDE
from tagweave.errors import CorpusError
from tagweave.exchange.load import SourceFile, stream
from tagweave.labels.transition_scheme import split_label

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tagweave.corpus.sentence import Candidates
    from tagweave.sources.answers import Answers
    from tagweave.sources.methods import Aggregate

FILES = "files"
"""The selection that makes every file a source."""

_RANGE = re.compile(r"([0-9]*)(:?)([0-9]*)")
_GOLD = "gold"  # a layer of this name is no source
_UNNAMED = "tag"  # the last column, if no header names it


class SourceCorpus(NamedTuple):
    """A corpus with a layer for each source."""

    corpus: Corpus  # its sentences have the layers of the sources, and keep the other layers and columns of their file
    sources: tuple[str, ...]  # the names of the layers that are sources, in order
    gold: str | None = None  # the name of the layer with gold annotation, if there is one
    notes: tuple[str, ...] = ()  # on how files were read
    lacking: tuple[str, ...] = ()  # on files that lack sentences of others


def load_sources(
    arguments: Sequence[str],
    selection: str | None = None,
    gold: str | None = None,
    format: str | None = None,  # noqa: A002
) -> SourceCorpus:
    """Read the labels of several sources of the same text.

    Args:
        arguments: files. With the selection `FILES`, each is a source, `[NAME=]PATH[#LAYER]`, named by its file without
            NAME. Otherwise they are the parts of one corpus, and a source may be missing in some of them.
        selection: the columns that are sources, separated by commas: numbers (`3`), ranges (`3:7`; `3:` is to the last
            one) or names. Columns are counted from 1, the form; without a header they are called by their number,
            `column3`. In formats other than `columns`, the names of layers. By default every file is a source, and of
            a single file every layer with labels like those of its last one.
        gold: the column with gold annotation; with `FILES` a file.
        format: the format of all files; by default each is recognised.
    """
    if not arguments:
        raise CorpusError("no file", "at least one")
    if selection in (None, FILES):
        return _of_files(arguments, gold, format, may_be_layers=selection is None)
    parts = [_of_columns(argument, selection, gold, format) for argument in arguments]
    first = parts[0]
    for argument, corpus_part in zip(arguments, parts, strict=True):
        if corpus_part.corpus.unit != first.corpus.unit:
            raise CorpusError(
                f"a corpus of {corpus_part.corpus.unit}s", f"{first.corpus.unit}s as in {arguments[0]}", argument
            )
        if corpus_part.gold != first.gold:
            raise CorpusError(f"gold called {corpus_part.gold!r}", f"{first.gold!r} as in {arguments[0]}", argument)
    sources = tuple(dict.fromkeys(chain.from_iterable(corpus_part.sources for corpus_part in parts)))

    def with_all(sentence: Sentence) -> Sentence:
        lacking: dict[str, Layer] = {name: (None,) * len(sentence) for name in sources if name not in sentence.layers}
        return replace(sentence, layers={**sentence.layers, **lacking}) if lacking else sentence

    sentences = (with_all(sentence) for corpus_part in parts for sentence in corpus_part.corpus)
    return first._replace(corpus=first.corpus.with_sentences(sentences), sources=sources)


def alike_layers(corpus: Corpus) -> tuple[str, ...]:
    """Return the layers with labels of the same kinds as the corpus's own layer, which may be those of other sources.

    A layer of `O` alone is like any other.
    """
    labels: dict[str, set[str]] = defaultdict(set)
    for sentence in corpus:
        for name, layer in sentence.layers.items():
            labels[name].update(chain.from_iterable(candidates for candidates in layer if candidates))
    kinds = {name: {split_label(label)[1] or label for label in said} for name, said in labels.items() if said}
    target_kinds = kinds.get(corpus.guideline, set()) - {OUTSIDE}
    return tuple(name for name, said in kinds.items() if target_kinds & said or said == {OUTSIDE} or not target_kinds)


def _of_columns(argument: str, selection: str, gold: str | None, format: str | None) -> SourceCorpus:  # noqa: A002
    path = parse_argument(argument).path
    form, sentences, _ = stream(path, format)
    read = (form.confidence.read(sentence) if form.confidence else sentence for sentence in sentences if sentence.forms)
    first = next(read, None)
    if first is None:
        raise CorpusError("no sentences", "at least one", path)
    names = tuple(first.columns) if form.names_layers else ()
    names += tuple(name for name in first.layers if name not in names)
    unnamed = None if _UNNAMED in first.columns else _UNNAMED
    items = (_chosen(item.strip(), names, form.names_layers, unnamed, path) for item in selection.split(","))
    sources = dict(chain.from_iterable(items))
    gold_names = dict(_chosen(gold, names, form.names_layers, unnamed, path)) if gold else {}
    if len(gold_names) > 1 or not gold_names.keys().isdisjoint(sources):
        raise CorpusError(f"the gold column {gold!r}", "one column that is no source", path)
    called = {**sources, **gold_names}
    kept = tuple(sentence.renamed(called) for sentence in with_column_layers(chain([first], read), called))
    gold_name = next(iter(gold_names.values()), None)
    return SourceCorpus(Corpus(kept, unit=form.unit, path=path), tuple(sources.values()), gold_name)


def _chosen(
    item: str, names: Sequence[str], have_numbers: bool, unnamed: str | None, path: str
) -> Iterator[tuple[str, str]]:
    """Yield the columns that one item of a selection chooses, with the names that they get.

    `names` are the columns after the form, or layers without numbers; `unnamed` is called by its number.
    """
    numbers = _RANGE.fullmatch(item) if have_numbers else None
    if item in names:
        yield item, item
    elif numbers and any(numbers.groups()):
        start, colon, stop = numbers.groups()
        last = len(names) + 1
        first = int(start or 2)
        end = int(stop) if stop else last if colon else first
        if not 2 <= first <= end <= last:
            raise CorpusError(f"the columns {item}", f"columns from 2 to {last}", path)
        for number in range(first, end + 1):
            name = names[number - 2]
            yield name, f"column{number}" if name == unnamed else name
    else:
        expected = "numbers, ranges such as 3:, or names: " if have_numbers else ""
        raise CorpusError(f"no column {item!r}", expected + ", ".join(names), path)


def _of_files(
    arguments: Sequence[str],
    gold: str | None,
    format: str | None,  # noqa: A002
    may_be_layers: bool,
) -> SourceCorpus:
    """Read sources that have a file each, or are the layers of a single file.

    Raises CorpusError if layers may be sources, and it is not plain that they are.
    """
    corpora: dict[str, Corpus] = {}
    notes: list[str] = []
    for argument in [*arguments, *([gold] if gold else [])]:
        path, name, layer = parse_argument(argument)
        file = SourceFile(argument, format)
        corpus = file.corpus()
        notes += (f"{path}: {line}" for line in file.told)
        alike = alike_layers(corpus) if may_be_layers and layer is None else ()
        if len(alike) > 1:
            if len(arguments) == 1 and _GOLD not in alike:
                return SourceCorpus(corpus, alike, notes=tuple(notes))
            sources = ",".join(name for name in alike if name != _GOLD)
            one = f"tagweave aggregate --sources {sources} if these are the sources of one corpus"
            expected = f"{one}, or tagweave aggregate --sources files if {path}#{alike[-1]} is one"
            raise CorpusError(f"the layers {', '.join(alike)}", expected, path)
        name = name or PurePath(path.removesuffix(".gz")).stem
        if name in corpora:
            raise CorpusError(f"two files called {name!r}", "names of their own, as in NAME=PATH", corpus.path)
        if not all(corpus.guideline in sentence.layers for sentence in corpus):
            raise CorpusError("words without labels", "labels of tokens, as sources give them", corpus.path)
        corpora[name] = corpus
    lacking: list[str] = []
    # only answers of language models have notes, and only these may lack lines
    rows = _aligned(corpora, lacking) if notes else zip_longest(*corpora.values())
    columns = [_matched(corpora, sentences) for sentences in rows]
    names = tuple(corpora)
    first = next(iter(corpora.values())).with_sentences(columns)
    return SourceCorpus(first, names[: len(arguments)], names[-1] if gold else None, tuple(notes), tuple(lacking))


def _aligned(corpora: Mapping[str, Corpus], lines: list[str]) -> Iterator[list[Sentence]]:
    """Yield sentences with the same tokens, repeated ones in order; a corpus that lacks one says nothing of it.

    `lines` gets one for each such corpus.
    """
    rows: dict[tuple[tuple[str, ...], int], dict[str, Sentence]] = defaultdict(dict)
    for name, corpus in corpora.items():
        times: Counter[tuple[str, ...]] = Counter()
        for sentence in corpus:
            times[sentence.forms] += 1
            rows[sentence.forms, times[sentence.forms]][name] = sentence
    for name, corpus in corpora.items():
        lacking = [next(iter(row.values())).location for row in rows.values() if name not in row]
        if lacking and all(len(row) == 1 for row in rows.values() if name in row):
            raise CorpusError(
                "no sentence of the other files", f"some, such as that at {_place(lacking[0])}", corpus.path
            )
        if lacking:
            counts = f"{len(lacking):,} of {len(rows):,} sentences"
            lines.append(f"{corpus.path} lacks {counts}, such as that at {_place(lacking[0])}")
    for row in rows.values():
        some_sentence = next(iter(row.values()))
        silent = (None,) * len(some_sentence)
        yield [
            row.get(name) or replace(some_sentence, layers={corpus.guideline: silent})
            for name, corpus in corpora.items()
        ]


def _place(location: Location) -> str:
    return f"{location.path}:{location.line}"


def _matched(corpora: Mapping[str, Corpus], sentences: Sequence[Sentence | None]) -> Sentence:
    """Return the first of some sentences with the layers of all."""
    first, path = sentences[0], next(iter(corpora.values())).path
    if first is None:
        extra, corpus = next(
            (sentence, source) for sentence, source in zip(sentences, corpora.values(), strict=True) if sentence
        )
        raise CorpusError("a sentence more", f"{len(corpora[next(iter(corpora))])}, as in {path}", *extra.location)
    layers: dict[str, Layer] = {}
    for (name, corpus), sentence in zip(corpora.items(), sentences, strict=True):
        if sentence is None:
            where = f"one as at line {first.location.line} of {path}"
            raise CorpusError("no sentence more", where, corpus.path)
        if sentence.forms != first.forms:
            pairs = zip_longest(sentence.forms, first.forms)
            at = next(at for at, (form, other) in enumerate(pairs) if form != other)
            form_found, expected = (
                f"{side.forms[at]!r}" if at < len(side) else "the end of the sentence" for side in (sentence, first)
            )
            expected += f", as in the sentence at {_place(first.location)}"
            raise CorpusError(f"{form_found} as token {at + 1}", expected, *sentence.location)
        layers[name] = sentence.layers[corpus.guideline]
    return replace(first, layers=layers)


def in_iob2(corpus: Corpus, sources: Sequence[str]) -> Corpus:
    """Convert spans of all sources to IOB2 from the coding that they share; other labels stay as they are.

    `E` and `S` are signs of BIOES, without `B` of IOE; `I` after `O`, and no `B` there, is a sign of IOB1, but not with
    numbers, which IOB1 cannot have.
    """
    for source in sources:
        corpus = chunk_schemes.standard_labels(corpus, source)
    names: set[str] = set()
    starts: Counter[str] = Counter()
    for sentence in corpus:
        for source in sources:
            layer = [("O",) if candidates is None else candidates for candidates in sentence.layers.get(source, ())]
            names.update(candidates[0] for candidates in layer)
            firsts = ["O", *("O" if isinstance(candidates, Soft) else candidates[0] for candidates in layer)]
            starts.update(label[0] for last, label in pairwise(firsts) if last == "O" and label != "O")
    if not chunk_schemes.codes_chunks(names):
        return corpus
    letters = {split_label(name)[0] for name in names}
    scheme: str | None
    if letters & {"E", "S"}:
        scheme = "BIOES" if letters & {"B", "S"} else None
    elif starts["I"] and not starts["B"]:
        scheme = "IOB1"
    else:
        return corpus
    for source in sources:
        corpus = chunk_schemes.convert(corpus, "IOB2", scheme, source)
    return corpus


def with_aggregate(
    sentences: Iterable[Sentence], answers: Answers, result: Aggregate, layer: str, hard: bool = False
) -> Iterator[Sentence]:
    """Yield the sentences with one layer: labels with their probabilities, the best one first; if `hard`, it alone.

    Positions that nobody labelled stay unknown. Layers of sources leave, with the columns of their names.
    """
    spelled: dict[tuple[int, bytes], Candidates] = {}

    def candidates(t: int) -> Candidates:
        row = result.probabilities[t].round(4)
        key = int(result.best[t]), b"" if hard else row.tobytes()
        if key not in spelled:
            best = result.labels[key[0]]
            spelled[key] = (best,) if hard else with_probabilities(result.labels, row.tolist(), best)
        return spelled[key]

    start = 0
    for sentence in sentences:
        labels = tuple(candidates(t) if answers.answered[t] else None for t in range(start, start + len(sentence)))
        columns = {name: column for name, column in sentence.columns.items() if name not in sentence.layers}
        start += len(sentence)
        yield replace(sentence, layers={layer: labels}, columns=columns)
