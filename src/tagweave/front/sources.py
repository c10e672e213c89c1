"""Combines many sources of annotation; labelling functions are such sources."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.formats import columns
from tagweave.corpus.load import check_there, implied_format, parse_argument, save
from tagweave.corpus.sentence import kind_of
from tagweave.errors import CorpusError
from tagweave.evaluation.alignment import paired
from tagweave.evaluation.plots import intervals
from tagweave.evaluation.report import evaluate
from tagweave.exchange import load as exports
from tagweave.front.corpora import Given, corpus_of
from tagweave.sources.agreement import agreement, source_scores
from tagweave.sources.answers import Answers
from tagweave.sources.builtin_functions import read_functions
from tagweave.sources.chat_functions import ChatFunction
from tagweave.sources.functions import LabellingFunction, Progress, labelling_function, load_functions
from tagweave.sources.functions import apply_functions as function_calls
from tagweave.sources.gain import Question, questions
from tagweave.sources.layers import SourceCorpus, alike_layers, in_iob2, load_sources, with_aggregate
from tagweave.sources.methods import aggregate as combine
from tagweave.sources.model_functions import TagweaveModel
from tagweave.sources.options import AGGREGATIONS, CHAT, CHAT_ANSWERS, DEFAULT
from tagweave.sources.reliability import inside_labels, source_rows, write_csv, write_json
from tagweave.streams import say

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tagweave.sources.methods import Aggregate

_SHOWN = 60  # sources in a picture
_NAMED = 5  # sources in a line
_CHANCE = 0.2  # p of the paired test from which on another method is not taken to be better than the default


@dataclass(frozen=True)
class Aggregated:
    """What sources say together.

    Attributes:
        corpus: the text with one layer, labels with their probabilities, the best one first.
        result: probabilities, best labels, and the reliability of every source.
        sentence_ptr: int64[S + 1], the first position of every sentence in `result`.
        method: the method that combined them.
        scores: with `dev`, the score of every method that was tried.
        note: how answers of language models were read, which sentences they lack, what keeps the reliability of sources
            from being estimated, which sources never say `O`, say only `O`, or mark only some of the types; "" if there
            is nothing to say.
    """

    corpus: Corpus
    result: Aggregate
    sentence_ptr: NDArray[Any]
    method: str
    scores: Mapping[str, float]
    note: str = ""

    def questions(self, count: int) -> list[Question]:
        """The sentences that deserve another annotator most, by what their answers would tell on average."""
        return questions(self.result, self.sentence_ptr, count)

    def question_lines(self, count: int) -> Iterator[str]:
        """Yield these sentences as lines: where each is, and its least certain token."""
        for question in self.questions(count) if count else ():
            sentence = self.corpus[question.sentence]
            path, line = sentence.location
            label = sentence.layers[self.corpus.guideline][question.position]
            candidates = "|".join(label) if label else "nobody labelled it"
            where = f"{path}:{line}: {question.gain:.2f} nats a token"
            yield f"ask {where}; {sentence.forms[question.position]!r} may be {candidates}"

    def reliability(self) -> list[dict[str, Any]]:
        """A row for every source over all labels (`label` is empty) and for every true label: how often it is right.

        `low` and `high` are the ends of the interval that has 95 % of the probability.
        """
        return source_rows(self.result.reliability)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the reliability of the sources with most answers as PNG, the most reliable first. Raises OSError."""
        reliability = self.result.reliability
        inside = inside_labels(reliability)
        series = {"all labels": reliability.accuracy()}
        if inside is not None:
            series = {"in spans": reliability.accuracy(labels=inside), **series}
        answers = reliability.expected.sum(axis=(1, 2))
        chosen = answers.argsort()[::-1][: min(_SHOWN, int((answers > 0).sum()))]
        first = next(iter(series.values()))
        order = sorted(chosen.tolist(), key=lambda k: -float(first[k, 0]))
        points = {name: [(float(a), float(b), float(c)) for a, b, c in rows[order]] for name, rows in series.items()}
        names = [reliability.sources[k] for k in order]
        intervals(Path(path), names, points, score="probability of a right answer", title="Sources")


def aggregate(
    files: Corpus | str | PathLike[str] | Sequence[str | PathLike[str]],
    sources: str | Sequence[str] | None = None,
    method: str | None = None,
    *,
    dev: Given | None = None,
    known: Mapping[str, float] | None = None,
    hard: bool = False,
    layer: str = "tag",
    format: str | None = None,  # noqa: A002
    tell: Callable[[str], None] = lambda _: None,
) -> Aggregated:
    """Combine what many sources say of a text.

    Args:
        files: files, or a corpus in which every source has a layer.
        sources: of files, which columns are sources, as `--sources`: `3:`, `ann,bob`, or `files` if each is one. Of a
            corpus, the names of the layers. By default, every file is a source; of a corpus or of a single file, every
            layer with labels like those of its last one is.
        method: `majority`, `dawid-skene`, `bsc` or `blend`; by default `blend`, or the best by `dev`.
        dev: gold labels of some sentences of the text, which say how good a method is. All methods are tried if none is
            named, and another than `blend` is kept if it is better by more than chance.
        known: by the name of a source, the probability that its answers are right, where it is known: gold has 1.
        hard: the best label alone, without probabilities.
        layer: the name of the layer.
        format: of the files; by default recognised.
        tell: is given a line after every iteration.

    Raises:
        CorpusError: a file that does not follow its format, texts that differ, `dev` of another text, or layers of
            which it is not plain whether they are sources.
        SourceError: an unknown method or source, or sources without labels.
        OSError: a file cannot be read.
    """
    paths = [] if isinstance(files, Corpus) else [files] if isinstance(files, str | PathLike) else list(files)
    check_there(*(fspath(path) for path in paths))
    if isinstance(files, Corpus):
        names = alike_layers(files) if sources is None else sources.split(",") if isinstance(sources, str) else sources
        loaded = SourceCorpus(files, tuple(names))
    else:
        selection = sources if isinstance(sources, str | None) else ",".join(sources)
        loaded = load_sources([fspath(path) for path in paths], selection, format=format)
    corpus = in_iob2(loaded.corpus, loaded.sources)
    answers = Answers.of_sentences(corpus, loaded.sources)
    gold = None if dev is None else _gold(corpus_of(dev), corpus)
    tried = [method] if method else [*dict.fromkeys((DEFAULT, *AGGREGATIONS))] if gold else [DEFAULT]
    results = {name: combine(answers, name, known, tell) for name in tried}

    def labelled(name: str, hard: bool) -> Corpus:
        sentences = with_aggregate(corpus, answers, results[name], layer, hard)
        return replace(corpus.with_sentences(sentences), guideline=layer)

    best, scores = _best(gold, {name: labelled(name, hard=True) for name in tried}) if gold else (tried[0], {})
    doubt = "" if best == "majority" or known else _note(answers, best)
    note = "; ".join(note_line for note_line in (*loaded.notes, *loaded.lacking, doubt, _kinds(answers)) if note_line)
    return Aggregated(labelled(best, hard), results[best], answers.sentence_ptr, best, scores, note)


def aggregate_files(
    files: Sequence[str],
    output: str,
    output_format: str | None = None,
    report: str | None = None,
    plot: str | None = None,
    *,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> Aggregated:
    """Combine what sources say in files, and write labels, the reliability of sources (.csv or .json), and a picture.

    The options are those of `aggregate`. Raises as it, and OSError if a file cannot be written.
    """
    aggregated = aggregate(files, format=format, **options)
    if report is not None:
        with written(report) as stream:
            (write_csv if report.endswith(".csv") else write_json)(aggregated.result.reliability, stream)
    if plot is not None:
        aggregated.plot(plot)
    save(aggregated.corpus, output, output_format or implied_format(output, files[0], format))
    return aggregated


def _gold(dev: Corpus, text: Corpus) -> Corpus:
    """Return the sentences of `dev` with labels that are in a text. Raises CorpusError if there are none."""
    labelled = [sentence for sentence in dev if any(sentence.layers.get(dev.guideline, ()))]
    if common := [sentence for sentence, _ in paired(labelled, text)]:
        return dev.with_sentences(common)
    counts = f"{len(labelled):,} sentences with labels, none of them among the {len(text):,} of the sources"
    raise CorpusError(counts, "gold labels of some of them, with the same tokens", dev.path)


def _best(gold: Corpus, systems: Mapping[str, Corpus]) -> tuple[str, dict[str, float]]:
    """Return the first system, or the best of those that are hardly better by chance, and all scores; tell it."""
    report = evaluate(gold, {name: s.with_sentences(b for _, b in paired(gold, s)) for name, s in systems.items()})
    first = next(iter(systems))
    metric = next(iter(report.systems[first].measures()))
    scores = {name: system.measures()[metric].score for name, system in report.systems.items()}
    chance = {pair.second: pair.randomisation for pair in report.comparisons if pair.metric == metric}
    better = [name for name, p in chance.items() if p < _CHANCE and scores[name] > scores[first]]
    best = max(better, key=scores.__getitem__, default=first)
    scores_told = ", ".join(f"{name} {score:.4f}" for name, score in scores.items())
    where = f" of {gold.path}" if gold.path else ""
    why = f"better than {first}, p = {chance[best]:.4f}" if better else f"no other is better at p < {_CHANCE}"
    choice = f"; method {best}: {why} (`method` would name another)" if len(systems) > 1 else ""
    say(f"{metric} in {len(gold):,} sentences{where}: {scores_told}{choice}")
    return best, scores


def _note(answers: Answers, method: str) -> str:
    """Warn where hardly any token has several answers."""
    if not answers.hardly_overlap:
        return ""
    beside = ", one list not counted" if answers.lists else ""
    share = f"{100 * answers.overlap():.1f} % of the labelled tokens have answers of several sources{beside}"
    advice = "votes decide; `known` helps" if method == DEFAULT else "take `method=majority`, or give `known`"
    return f"{share}, too few to tell which source is right: {advice}"


def _kinds(answers: Answers) -> str:
    """Say which sources do not label what others do: lists, sources that only exclude, sources of some types."""
    names = answers.sources
    names_by_kind = {
        "never says O": [names[k] for k in answers.lists],
        "says only O": [names[k] for k in answers.excluders],
        "marks only some types": [f"{names[k]} ({' '.join(types)})" for k, types in answers.partial.items()],
    }
    lines = []
    for what, sources in names_by_kind.items():
        if sources:
            more = f" and {len(sources) - _NAMED} more" if len(sources) > _NAMED else ""
            lines.append(f"{what}: {', '.join(sources[:_NAMED])}{more}")
    return "; ".join(lines)


def describe_sources(files: Sequence[str], selection: str, format: str | None = None) -> dict[str, Any]:  # noqa: A002
    """Describe who says what in files, and how far sources agree: coverage, overlap, conflict and Krippendorff's alpha.

    Args:
        files: corpora, or with the selection `files` a file for each source.
        selection: which columns are sources, as for `tagweave.sources.layers.load_sources`, which raises.
        format: the format of all files.
    """
    source_corpus = load_sources(files, selection, format=format)
    for line in (*source_corpus.notes, *source_corpus.lacking):
        say(line)
    about = {
        "files": list(files),
        "kind": "sources",
        "unit": source_corpus.corpus.unit,
        "sentences": len(source_corpus.corpus),
    }
    return about | compare_sources(source_corpus.corpus, source_corpus.sources)


def compare_sources(corpus: Corpus, sources: str | Sequence[str], gold: str | None = None) -> dict[str, Any]:
    """Count who says what in a corpus, how far sources agree and, by gold labels, how often they are right.

    Args:
        corpus: sentences with a layer for each source.
        sources: the names of these layers.
        gold: the name of the layer of gold labels, if there is one.

    Returns:
        `tokens`; `all`, with the numbers of tokens `coverage`, `overlap` and `conflict`, and Krippendorff's `alpha`;
        `sources` and `labels` with the same of each, and counts; with gold labels `accuracy` of tokens, and `precision`
        and `recall` of spans (else of tokens) of each source.

    Raises:
        CorpusError: no source says anything, or gold labels of spans follow no scheme.
    """
    corpus = corpus_of(corpus)
    sources = sources.split(",") if isinstance(sources, str) else sources
    if not any(any(sentence.layers.get(name, ())) for sentence in corpus for name in sources):
        raise CorpusError(f"no label in the layers {', '.join(sources)}", "some", corpus.path)
    numbers = agreement(Answers.of_sentences(corpus, sources))
    scores = {name: asdict(score) for name, score in source_scores(corpus, sources, gold).items()} if gold else {}
    return {
        "tokens": numbers.positions,
        "all": asdict(numbers.everything),
        "sources": {
            name: {**asdict(counts), **scores.get(name, {}), "labels": _ordered(numbers.counts[name])}
            for name, counts in numbers.sources.items()
        },
        "labels": {
            name: {**asdict(counts), "sources": _ordered({k: n[name] for k, n in numbers.counts.items()})}
            for name, counts in numbers.labels.items()
        },
    }


def _ordered(counts: Mapping[str, float]) -> dict[str, float]:
    """The counts above 0, the largest first."""
    return {name: round(n, 3) for name, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n}


def apply_functions(
    corpus: Corpus,
    *functions: Callable[..., Any] | str | PathLike[str] | LabellingFunction,
    processes: int = 1,
    progress: Progress | None = None,
    tell: Callable[[str], None] = say,
) -> Corpus:
    """Apply labelling functions to a corpus: each becomes a layer of its name.

    Functions see words and columns of a sentence, and none of its labels.

    Args:
        corpus: the text.
        functions: Python functions over a sentence (`labelling_function`), and files that declare functions.
        processes: how many processes call functions at the same time.
        progress: hears how many calls are done, and how many there are.
        tell: receives notes on what functions read.

    Raises:
        FunctionError: a function that cannot be read, fails, or has a name that is in use.
        CorpusError, OSError: a file of a function cannot be read, or does not fit the text.
    """
    called = [function for function_or_file in functions for function in _functions(function_or_file)]
    return function_calls(corpus_of(corpus), called, processes, progress or (lambda done, total: None), tell)


@dataclass(frozen=True)
class LabelledFile:
    """A text labelled by functions.

    Attributes:
        corpus: the text, with a layer for each function.
        sources: the names of these layers.
        comparison: what `compare_sources` says of them; `None` if no function found anything.
    """

    corpus: Corpus
    sources: list[str]
    comparison: dict[str, Any] | None


def label_file(
    text: str,
    output: str,
    functions: Sequence[str],
    python: Sequence[str],
    format: str | None = None,  # noqa: A002
    processes: int = 1,
    progress: Progress | None = None,
    *,
    examples: str | None = None,
) -> LabelledFile:
    """Label a text by functions in files, as `tagweave label` does: a column file with a column for each function.

    Args:
        functions: files that declare functions; `chat:URL` is a chat model that marks spans like those of `examples`.
        python: `MODULE.py[:NAME,...]`, functions in Python.
        examples: a corpus of checked sentences for `chat:URL`.

    Raises as `apply_functions`.
    """
    corpus = exports.load(text, format)
    called: list[Callable[..., Any] | str | LabellingFunction] = [
        ChatFunction("chat", name.removeprefix(CHAT), examples=examples, answers=CHAT_ANSWERS)
        if name.startswith(CHAT)
        else name
        for name in functions
    ]
    called += [function for argument in python for function in load_functions(argument)]
    labelled = apply_functions(corpus, *called, processes=processes, progress=progress)
    names = [name for name in labelled[0].layers if name not in corpus[0].layers] if len(corpus) else []
    comparison = None
    if any(any(sentence.layers[name]) for sentence in labelled for name in names):
        gold = labelled.guideline if parse_argument(text).layer else scored_layer(corpus, *called)
        if gold != labelled.guideline:
            say(f"{text}: labels are compared with its layer {gold}, as the models learned it ({text}#LAYER: another)")
        is_known = any(any(sentence.layers.get(gold, ())) for sentence in labelled)
        comparison = compare_sources(labelled, names, gold if is_known else None)
    with written(output) as stream:
        columns.write(labelled, stream)
    return LabelledFile(labelled, names, comparison)


def write_comparison(comparison: Mapping[str, Any], path: str) -> None:
    """Write what `compare_sources` says as JSON (.json), or the numbers of each source as CSV. Raises OSError."""
    with written(path) as stream:
        if path.endswith(".json"):
            stream.write(json.dumps(comparison, ensure_ascii=False, indent=2) + "\n")
            return
        rows = [{"source": name, **numbers} for name, numbers in comparison["sources"].items()]
        names = [name for name in rows[0] if name != "labels"]
        writer = csv.DictWriter(stream, names, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def scored_layer(corpus: Corpus, *functions: Callable[..., Any] | str | PathLike[str] | LabellingFunction) -> str:
    """Return the layer to compare labels of functions with: that which all of them learned, or the corpus's own."""
    names = [*corpus[0].layers] if len(corpus) else []
    called = [function for function_or_file in functions for function in _functions(function_or_file)]
    layers = {function.layer_in(names) if isinstance(function, TagweaveModel) else None for function in called}
    return (layers.pop() if len(layers) == 1 else None) or corpus.guideline


def _functions(function: Callable[..., Any] | str | PathLike[str] | LabellingFunction) -> Sequence[LabellingFunction]:
    if isinstance(function, LabellingFunction):
        return [function]
    if isinstance(function, str | PathLike):
        return read_functions(fspath(function))
    if not callable(function):
        raise TypeError(
            f"found {kind_of(function)}, expected a function over a sentence, or the path of a file of functions"
        )
    return [labelling_function(function)]
