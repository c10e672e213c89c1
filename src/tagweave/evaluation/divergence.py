"""Where two guidelines diverge: which tags of the two occur at the same tokens, and on which words.

If the same sentences are annotated under both guidelines, pairs of tags are counted. If each guideline has a corpus of
its own, a model of both (li-2015) gives the probability of each pair at every token, given the tag that is there, and
the counts are expected counts:

    count(a, b) = sum over tokens of p(a, b | sentence, given tags)

Counts leave out positions that do not have exactly one label on each side. Expected counts leave out only positions
without any label, since the model gives the probability of each of several labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.context import Context
from tagweave.corpus.corpus import Corpus
from tagweave.corpus.errors import CorpusError
from tagweave.corpus.sentence import Candidates, Sentence
from tagweave.evaluation.alignment import check_tokens
from tagweave.evaluation.candidates import only_label
from tagweave.evaluation.tag_pairs import PairProjection, TagPairs, Token
from tagweave.models.chain import ChainModel
from tagweave.models.chain_predictor import ChainPredictor

Floats = NDArray[np.float64]

_BLOCK = 500  # sentences whose expected pairs are in memory at a time


@dataclass(frozen=True, slots=True)
class Partner:
    """A tag of one guideline as the partner of a tag of the other.

    Attributes:
        tag: the tag whose partner it is.
        partner: the tag of the other guideline.
        count: how often both occur at one token; an expected count may be fractional.
        share: P(partner | tag).
        reverse: P(tag | partner).
        usual: whether it is the most frequent partner of the tag.
        examples: words that have both, in context, the most typical ones first.
    """

    tag: str
    partner: str
    count: float
    share: float
    reverse: float
    usual: bool
    examples: tuple[Context, ...]


@dataclass(frozen=True, eq=False)
class Divergence:
    """How often the tags of two guidelines occur together; or other labels of tokens, such as relations in trees.

    Attributes:
        first, second: the guidelines.
        tags: the A tags of the first guideline that occur, sorted by name.
        partners: the B tags of the second.
        counts: float64[A, B], how often each pair occurs at one token.
        examples: for each pair, words in context, the most typical ones first.
        left_out: the number of tokens without a pair.
        expected: whether the counts are expected by a model.
        what: the word for a tag in messages.
    """

    first: str
    second: str
    tags: tuple[str, ...]
    partners: tuple[str, ...]
    counts: Floats
    examples: Mapping[tuple[str, str], tuple[Context, ...]]
    left_out: int = 0
    expected: bool = False
    what: str = "tag"

    @classmethod
    def of(
        cls,
        first: str,
        second: str,
        pairs: TagPairs,
        contexts: Callable[[Token], Context],
        left_out: int = 0,
        what: str = "tag",
    ) -> Divergence:
        """The divergence in pairs of tags; `contexts` gives a token in its context, for examples."""
        occurring = {pair: count for pair, count in pairs.counts.items() if count > 0}
        tags, partners = (tuple(sorted({pair[side] for pair in occurring})) for side in (0, 1))
        counts = np.zeros((len(tags), len(partners)))
        for (tag, partner), count in occurring.items():
            counts[tags.index(tag), partners.index(partner)] = count
        examples = {pair: tuple(map(contexts, pairs.examples(pair))) for pair in occurring}
        return cls(first, second, tags, partners, counts, examples, left_out, what=what)

    def _repr_html_(self) -> str:
        """The comparison in a notebook."""
        from tagweave.evaluation.divergence_page import fragment

        return fragment(self)

    @cached_property
    def shares(self) -> Floats:
        """float64[A, B]: P(partner | tag); the rows sum to 1."""
        shares: Floats = self.counts / self.counts.sum(axis=1, keepdims=True)
        return shares

    @cached_property
    def entropies(self) -> Floats:
        """float64[A]: the entropy of the partner of each tag, in bits; 0 if it is always the same."""
        p = self.shares
        bits: Floats = -(p * np.log2(np.where(p > 0, p, 1))).sum(axis=1)
        return np.abs(bits)  # no -0

    @property
    def total(self) -> float:
        """The number of tokens counted."""
        return float(self.counts.sum())

    @property
    def predictable(self) -> float:
        """The share of tokens whose partner is the most frequent one of their tag; `nan` if there are no tokens."""
        return float(self.counts.max(axis=1, initial=0).sum() / self.total) if self.total else float("nan")

    def directions(self) -> tuple[Divergence, ...]:
        """The comparison from either side."""
        return self, self.swapped()

    def headlines(self) -> list[str]:
        """Sentences that describe the comparison."""
        how = "expected by a model" if self.expected else "counted"
        left_out = f"; left out: {self.left_out:,}" if self.left_out else ""
        return [f"Tokens with {self.what}s of {self.first} and {self.second}: {self.total:,.0f}, {how}{left_out}."]

    def swapped(self) -> Divergence:
        """The divergence from the side of the second guideline."""
        examples = {(b, a): contexts for (a, b), contexts in self.examples.items()}
        sides = {"first": self.second, "second": self.first, "tags": self.partners, "partners": self.tags}
        return replace(self, **sides, counts=self.counts.T, examples=examples)  # type: ignore[arg-type]

    def diverging(self) -> tuple[str, ...]:
        """The tags, sorted by their contribution to uncertainty: frequency times entropy, the greatest first."""
        weight = self.entropies * self.counts.sum(axis=1)
        order = sorted(range(len(self.tags)), key=lambda i: (-weight[i], -self.counts[i].sum(), self.tags[i]))
        return tuple(self.tags[i] for i in order)

    def partners_of(self, tag: str) -> list[Partner]:
        """The partners of a tag, the most frequent first, ties sorted by name."""
        row = self.tags.index(tag)
        columns = np.flatnonzero(self.counts[row]).tolist()
        order = sorted(columns, key=lambda j: (-self.counts[row, j], self.partners[j]))
        return [self._partner(row, column, usual=number == 0) for number, column in enumerate(order)]

    def unexpected(self) -> list[Partner]:
        """The pairs whose partner is not the usual one of the tag, the most frequent first."""
        pairs = chain.from_iterable(self.partners_of(tag)[1:] for tag in self.tags)
        return sorted(pairs, key=lambda pair: (-pair.count, pair.tag, pair.partner))

    def _partner(self, i: int, j: int, usual: bool) -> Partner:
        tag, partner, count = self.tags[i], self.partners[j], float(self.counts[i, j])
        reverse = count / float(self.counts[:, j].sum())
        examples = self.examples.get((tag, partner), ())
        return Partner(tag, partner, count, float(self.shares[i, j]), reverse, usual, examples)


def same_sentences(first: Corpus, second: Corpus) -> bool:
    """Whether two corpora have the same words in the same order."""
    return len(first) == len(second) and all(a.forms == b.forms for a, b in zip(first, second, strict=True))


def counted(first: Corpus, second: Corpus) -> Divergence:
    """The divergence of two guidelines in sentences that are annotated under both.

    Raises:
        CorpusError: different words, two corpora of one guideline, or no token with one tag on each side.
    """
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
    _check_pairs(pairs, first, second)
    return Divergence.of(first.guideline, second.guideline, pairs, _contexts(first.sentences), left_out)


def expected(model: ChainModel, first: Corpus, second: Corpus, threads: int = 1) -> Divergence:
    """The divergence of two guidelines with a corpus each, as expected by a model of both.

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
    projection = PairProjection.of(model.space, first.guideline, second.guideline)
    tagger = ChainPredictor(model, threads, model.space.views[-1].guideline)
    pairs, left_out, before = TagPairs(), 0, 0
    for corpus in (first, second):
        for start in range(0, len(corpus), _BLOCK):
            block = corpus.sentences[start : start + _BLOCK]
            tables = tagger.probabilities(block, corpus.guideline, corpus.covered)
            for number, (sentence, table) in enumerate(zip(block, tables, strict=True), before + start):
                known = _known(sentence, first.guideline, second.guideline)
                projection.add(pairs, sentence.forms, number, known, table)
                left_out += len(sentence) - len(known)
        before += len(corpus)
    _check_pairs(pairs, first, second)
    contexts = _contexts((*first.sentences, *second.sentences))
    return replace(Divergence.of(first.guideline, second.guideline, pairs, contexts, left_out), expected=True)


def _check_pairs(pairs: TagPairs, first: Corpus, second: Corpus) -> None:
    if not any(count > 0 for count in pairs.counts.values()):
        found = f"no token with labels of {first.guideline} and {second.guideline}"
        raise CorpusError(found, "corpora to compare", first.path)


def _contexts(sentences: Sequence[Sentence]) -> Callable[[Token], Context]:
    return lambda token: Context.of(sentences[token[0]], token[1])


def check_words(first: Corpus, second: Corpus) -> None:
    """Raise unless both are corpora of words, and have different guidelines.

    Raises:
        CorpusError: they have the same guideline, or one is a corpus of characters.
    """
    for corpus in (first, second):
        if corpus.unit == "character":
            raise CorpusError("a corpus of characters", "words with tags to compare", corpus.path)
    if first.guideline == second.guideline:
        found = f"the guideline {first.guideline!r} in {first.path or 'one corpus'} as well"
        raise CorpusError(found, "another one, to compare with (named GUIDELINE=FILE)", second.path)


def _layer(sentence: Sentence, name: str) -> Sequence[Candidates]:
    return sentence.layers.get(name, (None,) * len(sentence))


def _known(sentence: Sentence, first: str, second: str) -> list[int]:
    """The positions that are known in some layer."""
    layers = zip(_layer(sentence, first), _layer(sentence, second), strict=True)
    return [at for at, given in enumerate(layers) if given != (None, None)]
