"""Query strategies: uncertain occurrences of listed words, tokens, and sentences whose spans are asked for.

Words of a list are seen in their contexts (KWIC; Mori 2006), the most uncertain occurrences first, and of those with
the same neighbourhood only one (tsuboi-2008, 5.1).

The uncertainty of a token is what a right answer would tell (`sources.gain`) where labels are recorded: 1 minus the
probability of its best label. The most uncertain fifth is asked for, with the two or three most probable labels as
candidates (li-2015, section 4).

Spans are asked for by sentence, with the spans that a model finds probable or a corpus has as candidates. Sentences are
drawn in proportion to the mean uncertainty of their tokens (`priorities`), among all sentences: on CoNLL-2003, beside
200 sentences, 3,000 tokens so drawn brought F on dev to 70.5, as many at random to 68.2, and as many of the most
uncertain fifth to 68.0 (mean of three seeds).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tagweave.annotate.task import AnnotationTask, Answer, Asks, Candidate, Ranking, marked
from tagweave.corpus.candidates import Soft
from tagweave.corpus.chunk_schemes import convert
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.files import written
from tagweave.corpus.overlapping import are_of_types, joint_name, layer_types, type_layers
from tagweave.corpus.sentence import Candidates, Sentence, narrow
from tagweave.corpus.spans import ANY, OUTSIDE, SPANS, TAGS, span_labels, spans_of
from tagweave.evaluation.tables import tab_separated
from tagweave.exchange.sentences import DOCUMENT, TEXT
from tagweave.front.exchange import write_documents
from tagweave.kernels.trie import Trie, code_points
from tagweave.labels.space import is_wildcard
from tagweave.labels.transition_scheme import codes_spans, split_label
from tagweave.models.cascades import of_pieces
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor
from tagweave.models.layered import LayeredPredictor
from tagweave.models.ranking import ProbableSpan, span_entropies, word_probabilities
from tagweave.sources.gain import gain_over_labels, of_sentences

if TYPE_CHECKING:
    from tagweave.annotate.questions import Asked

SpanTagger = ChainPredictor | LayeredPredictor
WORD_STRATEGIES = ("entropy", "marginal", "random")
"""By the entropy of the labels of the span; by how improbable the model finds it that the span is a word; at random."""

_BLOCK = 2000  # sentences whose marginals are in memory at a time


class Occurrences(NamedTuple):
    """K words, by number, in sentences of characters; the characters start .. stop - 1, counted over all sentences."""

    sentence: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    word: NDArray[np.int32]

    def only(self, chosen: slice | NDArray[Any]) -> Occurrences:
        """Select some, by a slice, a mask or their numbers."""
        return Occurrences(self.sentence[chosen], self.start[chosen], self.stop[chosen], self.word[chosen])


class Ranked(NamedTuple):
    """Occurrences, the most uncertain first, and the uncertainty of each, float64[K]."""

    occurrences: Occurrences
    uncertainty: NDArray[np.float64]


def most_uncertain(
    model: ChainModel,
    sentences: Sequence[Sentence],
    words: Sequence[str],
    strategy: str = "entropy",
    context: int = 2,
    seed: int = 0,
    threads: int = 1,
) -> Ranked:
    """Rank the occurrences of words in sentences of characters in the order in which to ask about them.

    Of occurrences of a word with the same `context` characters on each side, the most uncertain is kept. `strategy` is
    one of `WORD_STRATEGIES`; `marginal` needs a model of a plain word coding. Layers of the sentences are ignored.
    """
    if context < 0:
        raise ValueError(f"found a context of {context} characters, expected 0 or more")
    word_occurrences = occurrences(sentences, words)
    uncertainty = word_uncertainties(model, sentences, word_occurrences, strategy, seed, threads)
    order = distinct(sentences, word_occurrences, uncertainty, context)
    return Ranked(word_occurrences.only(order), uncertainty[order])


def occurrences(sentences: Sequence[Sentence], words: Sequence[str]) -> Occurrences:
    """Find every occurrence of each word, by rising start; none begins or ends inside a run of letters or digits."""
    points = code_points("\n".join("".join(sentence.forms) for sentence in sentences))
    start, stop, word = Trie(words, range(len(words))).occurrences(points)
    ends = np.flatnonzero(points == ord("\n"))  # no word contains one
    sentence = np.searchsorted(ends, start)
    return Occurrences(sentence, start - sentence, stop - sentence, word)


def word_uncertainties(
    model: ChainModel,
    sentences: Sequence[Sentence],
    word_occurrences: Occurrences,
    strategy: str = "entropy",
    seed: int = 0,
    threads: int = 1,
) -> NDArray[np.float64]:
    """Return the uncertainty of occurrences, float64[K]: the entropy in nats, 1 - P(a word), or random."""
    if strategy not in WORD_STRATEGIES:
        raise ValueError(f"unknown strategy {strategy!r}, expected one of {', '.join(WORD_STRATEGIES)}")
    if strategy == "random":
        return np.random.default_rng(seed).random(len(word_occurrences.start))
    model = model.encoder.segmenter or model
    if of_pieces(model):
        raise ValueError("found a model of pieces, expected one of characters: spans may end within a piece")
    uncertainty = np.empty(len(word_occurrences.start))
    begins = _begins(sentences)
    held = np.unique(word_occurrences.sentence)
    for at in range(0, len(held), _BLOCK):
        block = held[at : at + _BLOCK]
        encoded = model.encoder.encode([sentences[i] for i in block.tolist()], threads)
        inside = slice(*np.searchsorted(word_occurrences.sentence, (block[0], block[-1] + 1)).tolist())
        sentence_of = word_occurrences.sentence[inside]
        shift = np.asarray(encoded.sentence_ptr[np.searchsorted(block, sentence_of)] - begins[sentence_of], np.int64)
        start, stop = word_occurrences.start[inside] + shift, word_occurrences.stop[inside] + shift
        if strategy == "entropy":
            uncertainty[inside] = span_entropies(model, encoded, start, stop)
        else:
            uncertainty[inside] = 1 - word_probabilities(model, encoded, start, stop)
    return uncertainty


def distinct(
    sentences: Sequence[Sentence], word_occurrences: Occurrences, uncertainty: NDArray[np.float64], context: int = 2
) -> NDArray[np.int64]:
    """Return occurrences by falling uncertainty, only the first of those with the same word and the same `context`.

    The context ends where the sentence does. Ties keep the order of the text.
    """
    order = np.argsort(-uncertainty, kind="stable")
    points = code_points("".join("".join(sentence.forms) for sentence in sentences))
    begins = _begins(sentences)
    ordered = word_occurrences.only(order)
    low, high = begins[ordered.sentence][:, None], begins[ordered.sentence + 1][:, None]
    beside = np.concatenate(
        [ordered.start[:, None] + np.arange(-context, 0), ordered.stop[:, None] + np.arange(context)], 1
    )
    is_there = (beside >= low) & (beside < high)
    characters = np.where(is_there, points[np.where(is_there, beside, 0)] if len(points) else 0, 0)
    alike = np.concatenate([ordered.word[:, None], characters], 1).astype(np.int64)
    first = np.unique(alike, axis=0, return_index=True)[1] if len(alike) else np.zeros(0, np.int64)
    return np.asarray(order[np.sort(first)], np.int64)


def _begins(sentences: Iterable[Sentence]) -> NDArray[np.int64]:
    """Return the number of the first token of every sentence, counted over all, int64[S + 1]."""
    return np.cumsum([0, *map(len, sentences)], dtype=np.int64)


_CANDIDATES, _RARE = 3, 0.01  # the third candidate is shown if it is at least this probable


class UncertainTokens(NamedTuple):
    """K tokens, the most uncertain first."""

    sentence: NDArray[np.int64]
    position: NDArray[np.int64]  # in the sentence
    labels: NDArray[np.int32]  # [K, C] the most probable ones, the best first
    probabilities: NDArray[np.float32]  # [K, C] of these labels
    uncertainty: NDArray[np.float32]  # 1 minus the probability of the best label

    def only(self, chosen: Any) -> UncertainTokens:
        """Select some, by a slice, a mask or their numbers."""
        return UncertainTokens(*(array[chosen] for array in self))


def least_certain(
    tagger: ChainPredictor,
    sentences: Sequence[Sentence],
    share: float = 0.2,
    layer: str | None = None,
    seed: int = 0,
) -> UncertainTokens:
    """Return a share of the tokens of words, whose best label has the least marginal probability (li-2015, section 4).

    Tokens with one label in `layer` are known: they are evidence, and the share is taken of the others. `seed` orders
    equally certain tokens.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"found a share of {share}, expected 0 to 1")
    tokens = _all_tokens(tagger, sentences, layer)
    if layer is not None:
        is_open = [
            candidates is None or len(candidates) > 1
            for sentence in sentences
            for candidates in sentence.layers.get(layer, (None,) * len(sentence))
        ]
        tokens = tokens.only(np.array(is_open, np.bool_))
    chance = np.random.default_rng(seed).random(len(tokens.sentence))
    order = np.lexsort((chance, -tokens.uncertainty))
    return tokens.only(order[: round(share * len(order))])


def priorities(uncertainty: NDArray[np.floating[Any]], random: np.random.Generator) -> NDArray[np.float64]:
    """Draw priorities, float64[K], 0 to 1: their falling order is a draw in proportion to uncertainty.

    The most uncertain tokens alone teach a model nothing about easy ones: on ZX, beside People's Daily, 4,000 such
    answers were worth less than 2,000 at random, and 4,000 drawn in proportion more than 8,000 at random. A draw
    without replacement takes tokens by rising exponential times whose rates are their uncertainties (Efraimidis and
    Spirakis 2006). The time t = e / uncertainty, with e exponential of rate 1, becomes the priority 1 / (1 + t).
    """
    rates = np.maximum(uncertainty, 0)  # 1 - 1.0000001
    return np.asarray(rates / (rates + random.exponential(size=len(rates))), np.float64)


def token_tasks(
    tokens: UncertainTokens,
    sentences: Sequence[Sentence],
    tagger: ChainPredictor,
    model: int | None = None,
    seed: int = 0,
) -> Iterator[AnnotationTask]:
    """Yield tasks for tokens, chosen by version `model` of the model; `seed` draws their priorities."""
    drawn = priorities(tokens.uncertainty, np.random.default_rng(seed)).tolist()
    rows = zip(tokens.sentence.tolist(), tokens.position.tolist(), drawn, _candidates(tokens, tagger), strict=True)
    for sentence, position, priority, candidates in rows:
        span = position, position + 1
        yield AnnotationTask(sentences[sentence], *span, tagger.guideline, candidates, priority, model=model)


def _all_tokens(tagger: ChainPredictor, sentences: Sequence[Sentence], layer: str | None) -> UncertainTokens:
    if tagger.model.of_characters:
        raise ValueError("found a model of characters, expected one of words; of characters, words of a list are asked")
    width = min(_CANDIDATES, len(tagger.labels))
    best, probabilities = [np.zeros((0, width), np.int32)], [np.zeros((0, width), np.float32)]
    uncertainty = [np.zeros(0, np.float32)]
    for at in range(0, len(sentences), _BLOCK):
        for table in tagger.probabilities(sentences[at : at + _BLOCK], layer):
            top = np.argsort(-table, axis=1, kind="stable")[:, :width]
            best.append(top.astype(np.int32))
            probabilities.append(np.take_along_axis(table, top, 1).astype(np.float32))
            uncertainty.append(gain_over_labels(table, np.arange(table.shape[1]) == top[:, :1]))
    begins = _begins(sentences)
    sentence = np.repeat(np.arange(len(sentences)), np.diff(begins))
    position = np.arange(len(sentence)) - begins[sentence]
    return UncertainTokens(
        sentence, position, np.concatenate(best), np.concatenate(probabilities), np.concatenate(uncertainty)
    )


def _candidates(tokens: UncertainTokens, tagger: ChainPredictor) -> Iterator[tuple[Candidate, ...]]:
    """Yield the candidates of every token: two, and a third one unless it is improbable."""
    for labels, probabilities in zip(tokens.labels.tolist(), tokens.probabilities.tolist(), strict=True):
        pairs = zip(labels, probabilities, strict=True)
        best = (Candidate(tagger.labels[label], round(probability, 4)) for label, probability in pairs)
        yield tuple(candidate for number, candidate in enumerate(best) if number < 2 or candidate.probability >= _RARE)


_LEAST = 0.2  # a span is proposed if it is at least this probable
_MOST = 20  # spans proposed in a sentence


def types_of(labels: Iterable[str]) -> list[str]:
    """Return the types of spans that labels code, sorted."""
    return sorted({split_label(name)[1] for name in labels if name != OUTSIDE} - {""})


def span_tasks(
    tagger: SpanTagger,
    sentences: Sequence[Sentence],
    share: float = 0.2,
    model: int | None = None,
    seed: int = 0,
) -> Iterator[AnnotationTask]:
    """Yield tasks for a share of the sentences, drawn by the uncertainty of a model, with the spans that it proposes.

    Sentences in which every token has one label in the layers of the tagger are left out. The uncertainty of a sentence
    is the mean over its tokens, and over chains. `seed` draws the sentences, which are asked in the order in which they
    are drawn. Raises ValueError if the tagger has layers that are not called like the type of their spans.
    """
    guideline, asks = guideline_of(tagger), Asks.LAYERS if len(tagger.guidelines) > 1 else Asks.SPANS
    candidates = [sentence for sentence in sentences if len(sentence) and not _is_known(sentence, tagger.guidelines)]
    ranks = priorities(_means(tagger, candidates), np.random.default_rng(seed))
    order = np.argsort(-ranks, kind="stable")[: round(share * len(ranks))].tolist()
    drawn = [candidates[number] for number in order]
    for number, proposals in zip(order, _model_proposals(tagger, drawn), strict=True):
        sentence, priority = candidates[number], float(ranks[number])
        yield AnnotationTask(sentence, 0, len(sentence), guideline, proposals, priority, model=model, asks=asks)


def guideline_of(tagger: SpanTagger) -> str:
    """Return the guideline under which a tagger asks: its own, or that of all its layers together."""
    if isinstance(tagger, LayeredPredictor):
        types = {name: kinds for of_chain in tagger.model.types for name, kinds in of_chain.items()}
        if type_layers(types) != tagger.guidelines:
            layers = "; ".join(f"{name} of {', '.join(kinds)}" for name, kinds in types.items())
            raise ValueError(f"found the layers {layers}, expected a layer for each type, or one of them (`guideline`)")
    return joint_name(tagger.guidelines)


def uncertain_tasks(
    tagger: SpanTagger,
    sentences: Sequence[Sentence],
    share: float = 0.2,
    model: int | None = None,
    seed: int = 0,
) -> Iterator[AnnotationTask]:
    """Return tasks for spans if the labels of the tagger code them (`span_tasks`), else for `least_certain` tokens.

    Tokens that have one label under the tagger's guideline are left out. Raises ValueError for a model of characters,
    and a share that is none.
    """
    if isinstance(tagger, LayeredPredictor) or codes_spans(tagger.labels):
        return span_tasks(tagger, sentences, share, model, seed)
    tokens = least_certain(tagger, sentences, share, tagger.guideline, seed)
    return token_tasks(tokens, sentences, tagger, model, seed)


def corpus_span_tasks(corpus: Corpus, layers: Sequence[str]) -> Iterator[AnnotationTask]:
    """Yield tasks for the sentences of a corpus whose layers are not known entirely, with their spans as proposals."""
    asks = Asks.LAYERS if len(layers) > 1 else Asks.SPANS
    for sentence in _in_iob2(corpus, layers):
        if not _is_known(sentence, layers):
            proposed = _most_probable(one for name in layers for one in _corpus_proposals(sentence, name))
            yield AnnotationTask(sentence, 0, len(sentence), joint_name(layers), proposed, asks=asks)


def span_layers(corpus: Corpus) -> tuple[str, ...]:
    """Return the layers whose spans are asked for: those of types that overlap, or that of the corpus."""
    return type_layers(layer_types([corpus])) if are_of_types([corpus]) else (corpus.guideline,)


def known_spans(corpus: Corpus, layers: Sequence[str]) -> list[tuple[Sentence, Answer]]:
    """Return the sentences of a corpus whose labels are all known, without their layers, and the spans in each."""
    return [
        (
            sentence.with_layers_of(sentence.layers.keys() - {*layers}),
            marked(group[0] for name in layers for group in spans_of(sentence.layers[name], sentence.location)),
        )
        for sentence in _in_iob2(corpus, layers)
        if _is_known(sentence, layers)
    ]


def rankings(tagger: ChainPredictor, asked: Iterable[Asked], seed: int = 0) -> list[Ranking]:
    """Rank tasks again by a newer model, and propose its candidates, given the evidence in their sentences.

    Ranked are tasks that ask for the label of one token and, if the labels of the tagger code spans, for spans.
    """
    asked = [*asked]
    of_token = [
        question
        for question in asked
        if question.task.asks is Asks.LABEL
        and question.task.candidates
        and question.task.stop == question.task.start + 1
    ]
    of_spans = [question for question in asked if question.task.of_spans and codes_spans(tagger.labels)]
    return _token_rankings(tagger, of_token, seed) + _span_rankings(tagger, of_spans, seed)


def _token_rankings(tagger: ChainPredictor, asked: Sequence[Asked], seed: int) -> list[Ranking]:
    sentences = {question.sentence_key: question.task.sentence for question in asked}
    first = dict(zip(sentences, _begins(sentences.values()).tolist(), strict=False))
    numbers = np.array([first[question.sentence_key] + question.task.start for question in asked], np.int64)
    tokens = _all_tokens(tagger, [*sentences.values()], tagger.guideline).only(numbers)
    drawn = priorities(tokens.uncertainty, _random(seed, asked)).tolist()
    rows = zip(asked, drawn, _candidates(tokens, tagger), strict=True)
    return [Ranking(question.id, priority, candidates) for question, priority, candidates in rows]


def _span_rankings(tagger: ChainPredictor, asked: Sequence[Asked], seed: int) -> list[Ranking]:
    sentences = [question.task.sentence for question in asked]
    drawn = priorities(_means(tagger, sentences), _random(seed, asked)).tolist()
    rows = zip(asked, drawn, _model_proposals(tagger, sentences), strict=True)
    return [
        Ranking(question.id, priority, tuple(candidate for candidate in proposals if question.task.holds(candidate)))
        for question, priority, proposals in rows
    ]


def _random(seed: int, asked: Sequence[Asked]) -> np.random.Generator:
    """Return a generator that differs between pages of tasks."""
    return np.random.default_rng([seed, *(question.id for question in asked[:1])])


def _in_iob2(corpus: Corpus, layers: Sequence[str]) -> Iterator[Sentence]:
    """Yield the sentences that have tokens, with some layers in IOB2; unknown where they have none.

    If the corpus covers only some types, its `O` says nothing of the others, and is unknown, too.
    """
    for name in layers:
        unknown = (s if name in s.layers else s.with_layer(name, (None,) * len(s)) for s in corpus)
        corpus = convert(corpus.with_sentences(unknown), "IOB2", layer=name)
    for sentence in filter(len, corpus):
        coded = sentence
        for name in layers if corpus.covered is not None else ():
            layer = narrow(sentence.layers[name], lambda candidates: None if OUTSIDE in candidates else candidates)
            coded = coded.with_layer(name, layer)
        yield coded


def _is_known(sentence: Sentence, layers: Iterable[str]) -> bool:
    return all(
        candidates is not None and len(candidates) == 1 and not is_wildcard(candidates[0])
        for name in layers
        for candidates in sentence.layers.get(name, (None,))
    )


def _means(tagger: SpanTagger, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
    """Return the mean uncertainty of the tokens of each sentence, over all chains, float64[S]."""
    begins, parts = _begins(sentences), tagger.parts(_with_known_types(tagger, sentences))
    tokens = (_all_tokens(chain, evidence.sentences, evidence.guideline) for chain, evidence in parts)
    return np.asarray(np.mean([of_sentences(some.uncertainty, begins) for some in tokens], axis=0))


def _model_proposals(tagger: SpanTagger, sentences: Sequence[Sentence]) -> Iterator[tuple[Candidate, ...]]:
    """Yield the probable spans of each sentence, the most probable first, of which those of a chain do not overlap."""
    parts = tagger.parts(_with_known_types(tagger, sentences))
    proposals = [map(_disjoint, chain.spans(text.sentences, _LEAST, text.guideline)) for chain, text in parts]
    kinds = {*types_of(tagger.labels), ""}  # chains may have those of other layers
    for of_chains in zip(*proposals, strict=True):
        yield _most_probable(one for of_chain in of_chains for one in of_chain if one.label in kinds)


def _disjoint(spans: Iterable[ProbableSpan]) -> Iterator[Candidate]:
    """Yield spans, which come the most probable first, unless they overlap one before."""
    taken: set[int] = set()
    for span in spans:
        tokens = range(span.start, span.stop)
        if taken.isdisjoint(tokens):
            taken.update(tokens)
            yield Candidate(span.label, round(min(span.probability, 1.0), 4), span.start, span.stop)


def _most_probable(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    return tuple(sorted(candidates, key=lambda one: (-one.probability, one.start, one.stop))[:_MOST])


def _with_known_types(tagger: SpanTagger, sentences: Iterable[Sentence]) -> Corpus:
    """Return the sentences; one loses its layers if they have a type that the model does not know (of a gazetteer)."""
    usable = []
    for sentence in sentences:
        layers = (sentence.layers.get(name, ()) for name in tagger.guidelines)
        knows = all(tagger.knows(label) for layer in layers for candidates in layer for label in candidates or ())
        usable.append(sentence if knows else replace(sentence, layers={}))
    return Corpus(tuple(usable), tagger.guideline)


def _corpus_proposals(sentence: Sentence, guideline: str) -> Iterator[Candidate]:
    """Yield the spans of a layer; each of n alternatives has the probability 1 / n."""
    for group in spans_of(sentence.layers[guideline], sentence.location):
        for span in group:
            if span.label != OUTSIDE and span.stop is not None:
                yield Candidate(span.label or ANY, round(1 / len(group), 4), span.start, span.stop)


FORMS = ("tsv", "label-studio", "doccano")
_TITLES = ("score", "line", "first", "last", "candidates", "sentence")


def ranked(tagger: SpanTagger, corpus: Corpus, share: float = 0.2, seed: int = 0) -> list[AnnotationTask]:
    """Return `uncertain_tasks` in the order in which the server asks them. Raises as these."""
    tasks = uncertain_tasks(tagger, corpus.sentences, share, None, seed)
    return sorted(tasks, key=lambda each: -each.uncertainty)


def write_tasks(tasks: Sequence[AnnotationTask], path: str, form: str = "tsv") -> None:
    """Write one task or more, in their order: a row for each in `tsv`; for a tool, each sentence once, with candidates.

    `path`: `-` is standard output. Raises OSError if the file cannot be written, CorpusError for a text that the tool
    cannot hold.
    """
    if form == "tsv":
        with written(path) as stream:
            stream.writelines(map(tab_separated, (_TITLES, *map(_row, tasks))))
        return
    sentences = _proposed(tasks)
    named = (name for sentence in sentences for name, layer in sentence.layers.items() if any(layer))
    corpus = Corpus(sentences, next(named, tasks[0].guideline))
    write_documents(form, corpus, path, task=SPANS if tasks[0].of_spans else TAGS)


def _row(task: AnnotationTask) -> tuple[object, ...]:
    """Return a row: its candidates are labels, or spans with their words; the token asked for is in brackets."""
    forms = list(task.sentence.forms)
    if task.asks is Asks.LABEL:
        forms[task.start] = f"[{forms[task.start]}]"
    candidates = []
    for candidate in task.candidates:
        words = "" if candidate.start is None else f"{task.words(candidate.span)}/"
        candidates.append(f"{words}{candidate.label} {candidate.probability}")
    place = task.sentence.location.line, task.start + 1, task.stop
    return f"{task.uncertainty:.6f}", *place, "; ".join(candidates), task.gap.join(forms)


def _proposed(tasks: Sequence[AnnotationTask]) -> tuple[Sentence, ...]:
    """Return the sentences of tasks, in their order, with the candidates and their probabilities as the only layers."""
    of_sentence: dict[int, list[AnnotationTask]] = {}
    for task in tasks:
        of_sentence.setdefault(id(task.sentence), []).append(task)
    sentences = []
    for first, *more in of_sentence.values():
        sentence = first.sentence
        layers: dict[str, list[Candidates]] = {first.guideline: [None] * len(sentence)}
        of_layers: dict[str, list[Candidate]] = {}
        for candidate in first.candidates if first.of_spans else ():
            name = candidate.label if first.asks is Asks.LAYERS else first.guideline
            of_layers.setdefault(name, []).append(candidate)
        for name, candidates in of_layers.items():
            layers[name] = _with_numbers(candidates, len(sentence))
        for task in (first, *more) if not first.of_spans else ():
            names = [candidate.label for candidate in task.candidates]
            soft = Soft(names, [candidate.probability for candidate in task.candidates])
            layers[first.guideline][task.start] = soft
        text = (comment for comment in sentence.comments if comment.lstrip("# ").startswith(f"{TEXT} ="))
        comments = (f"# {DOCUMENT} = {sentence.location.line}", *text)
        proposed = {name: tuple(layer) for name, layer in layers.items()}
        sentences.append(replace(sentence, layers=proposed, comments=comments, covered=None))
    return tuple(sentences)


def _with_numbers(candidates: Sequence[Candidate], length: int) -> list[Candidates]:
    """Return a layer of proposed spans, which do not overlap, with their probabilities."""
    layer: list[Candidates] = [*span_labels([(candidate.span,) for candidate in candidates], length)]
    for candidate in candidates:
        rest = round(1 - candidate.probability, 4)
        for at in range(candidate.span.start, candidate.span.stop or 0):
            layer[at] = Soft((*(layer[at] or ()), OUTSIDE), (candidate.probability, rest))
    return layer
