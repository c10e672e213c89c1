"""Where two guidelines diverge: which tags of the two occur at the same tokens, and on which words.

If the same sentences are annotated under both guidelines, pairs of tags are counted. If each guideline has a corpus of
its own, a model of both (li-2015) gives the probability of each pair at every token, given the tag that is there, and
the counts are expected counts:

    count(a, b) = sum over tokens of p(a, b | sentence, given tags)

Counts leave out positions that do not have exactly one label on each side. Expected counts leave out only positions
without any label, since the model gives the probability of each of several labels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from tagweave.corpus.describe import Context
from tagweave.errors import CorpusError
from tagweave.evaluation.accuracy import only_label
from tagweave.evaluation.alignment import check_tokens
from tagweave.evaluation.divergence import Divergence, Pair
from tagweave.models.chain_predictor import ChainPredictor

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus
    from tagweave.corpus.sentence import Candidates, Sentence
    from tagweave.models.chain import ChainModel

Token = tuple[int, int]
"""The number of a sentence and the position in it."""

_EXAMPLES = 5
_BLOCK = 500  # sentences whose expected pairs are in memory at a time


@dataclass(slots=True)
class _Word:
    """How often a word has a pair, the token that is its example, and the probability of the pair there."""

    token: Token
    weight: float = 0.0
    best: float = 0.0


class TagPairs:
    """Counts of pairs of tags, and of the words that have them.

    Attributes:
        counts: how often each pair occurs; expected counts may be fractional.
    """

    def __init__(self) -> None:
        self.counts: dict[Pair, float] = defaultdict(float)
        self._words: dict[Pair, dict[str, _Word]] = defaultdict(dict)
        self._forms: dict[str, float] = defaultdict(float)
        self._total = 0.0

    def add(self, pair: Pair, form: str, token: Token) -> None:
        self.counts[pair] += 1
        self.show(pair, form, token)

    def show(self, pair: Pair, form: str, token: Token, probability: float = 1.0) -> None:
        """Add a possible example of a pair. For each word the most probable token is kept, of ties the first."""
        word = self._words[pair].setdefault(form, _Word(token))
        word.weight += probability
        if probability > word.best:
            word.best, word.token = probability, token
        self._forms[form] += probability
        self._total += probability

    def examples(self, pair: Pair) -> list[Token]:
        """Return tokens of different words, the most typical words first, ties sorted by name.

        How typical a word is of a pair is n(word, pair) log (P(pair | word) / P(pair)): it has the pair often, and more
        often than other words do.
        """
        words = self._words.get(pair, {})
        average = sum(word.weight for word in words.values()) / (self._total or 1)
        typical = {form: word.weight * log(word.weight / self._forms[form] / average) for form, word in words.items()}
        best = sorted(words, key=lambda form: (-typical[form], form))[:_EXAMPLES]
        return [words[form].token for form in best]


def same_sentences(first: Corpus, second: Corpus) -> bool:
    """Return whether two corpora have the same words in the same order."""
    return len(first) == len(second) and all(a.forms == b.forms for a, b in zip(first, second, strict=True))


def counted(first: Corpus, second: Corpus) -> Divergence:
    """Count pairs of tags in sentences that are annotated under both guidelines."""
    check_words(first, second)
    check_tokens(first.sentences, second.sentences, first.path, second.path)
    pairs, left_out = TagPairs(), 0
    for number, (one, other) in enumerate(zip(first, second, strict=True)):
        layers = zip(_layer(one, first.guideline), _layer(other, second.guideline), strict=True)
        for at, (a, b) in enumerate(layers):
            tag, partner = only_label(a), only_label(b)
            if tag is None or partner is None:
                left_out += 1
            else:
                pairs.add((tag, partner), one.forms[at], (number, at))
    return _divergence(first, second, pairs, first.sentences, left_out)


def expected(model: ChainModel, first: Corpus, second: Corpus, threads: int = 1) -> Divergence:
    """Compute expected counts of pairs of tags in two corpora by a model of both guidelines.

    Args:
        model: the guidelines of both corpora are views of its labels, and its last view is the joint one.
        first, second: corpora in words of the model; layers of both guidelines are used wherever they are.
        threads: how many threads share the work.

    Raises:
        KeyError: a guideline that the model does not have.
        CorpusError: labels that the model does not know or that exclude one another, two corpora of one guideline, or
            no token with a label.
    """
    check_words(first, second)
    one, other = model.space.view(first.guideline), model.space.view(second.guideline)
    pair_of_label = one.projection.astype(np.int64) * len(other.names) + other.projection
    order = np.argsort(pair_of_label, kind="stable")  # labels of the model, with the labels of one pair side by side
    distinct, starts = np.unique(pair_of_label[order], return_index=True)
    parts = (divmod(number, len(other.names)) for number in distinct.tolist())
    names = [(one.names[a], other.names[b]) for a, b in parts]
    tagger = ChainPredictor(model, threads, model.space.views[-1].guideline)
    pairs, left_out, before = TagPairs(), 0, 0
    for corpus in (first, second):
        for start in range(0, len(corpus), _BLOCK):
            block = corpus.sentences[start : start + _BLOCK]
            tables = tagger.probabilities(block, corpus.guideline, corpus.covered)
            for number, (sentence, table) in enumerate(zip(block, tables, strict=True), before + start):
                layers = zip(_layer(sentence, first.guideline), _layer(sentence, second.guideline), strict=True)
                annotated = [at for at, labels in enumerate(layers) if labels != (None, None)]
                left_out += len(sentence) - len(annotated)
                if not annotated:
                    continue
                by_pair = np.add.reduceat(table[annotated][:, order], starts, axis=1, dtype=np.float64)
                for pair, count in zip(names, by_pair.sum(axis=0).tolist(), strict=True):
                    pairs.counts[pair] += count
                best = by_pair.argmax(axis=1)
                probabilities = by_pair[np.arange(len(annotated)), best].tolist()
                for at, which, probability in zip(annotated, best.tolist(), probabilities, strict=True):
                    pairs.show(names[which], sentence.forms[at], (number, at), probability)
        before += len(corpus)
    return _divergence(first, second, pairs, (*first.sentences, *second.sentences), left_out, expected=True)


def _divergence(
    first: Corpus, second: Corpus, pairs: TagPairs, sentences: Sequence[Sentence], left_out: int, expected: bool = False
) -> Divergence:
    if not any(count > 0 for count in pairs.counts.values()):
        problem = f"no token with labels of {first.guideline} and {second.guideline}"
        raise CorpusError(problem, "corpora to compare", first.path)

    occurring = {pair: count for pair, count in pairs.counts.items() if count > 0}
    tags, partners = (tuple(sorted({pair[side] for pair in occurring})) for side in (0, 1))
    counts = np.zeros((len(tags), len(partners)))
    for (tag, partner), count in occurring.items():
        counts[tags.index(tag), partners.index(partner)] = count
    examples = {
        pair: tuple(Context.of(sentences[number], at) for number, at in pairs.examples(pair)) for pair in occurring
    }
    return Divergence(first.guideline, second.guideline, tags, partners, counts, examples, left_out, expected)


def check_words(first: Corpus, second: Corpus) -> None:
    """Raise unless both are corpora of words, and have different guidelines."""
    for corpus in (first, second):
        if corpus.unit == "character":
            raise CorpusError("a corpus of characters", "words with tags to compare", corpus.path)
    if first.guideline == second.guideline:
        problem = f"the guideline {first.guideline!r} in {first.path or 'one corpus'} as well"
        raise CorpusError(problem, "another one, to compare with (named GUIDELINE=FILE)", second.path)


def _layer(sentence: Sentence, name: str) -> Sequence[Candidates]:
    return sentence.layers.get(name, (None,) * len(sentence))
