"""Random training problems: sentences under evidence, parameters of a chain model, weights; and their naive twins."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

import naive
from pairing import named, pair, weight_numbers
from tagweave.corpus.sentence import Sentence
from tagweave.features.encoder import TemplateEncoder
from tagweave.features.templates import Templates
from tagweave.labels.sets import LabelRows, LabelSets
from tagweave.labels.space import LabelSpace, View
from tagweave.labels.transition_scheme import TransitionScheme
from tagweave.models.linear_scorer import ChainParameters, Layout
from tagweave.models.objective import ChainObjective

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEMPLATES = Templates(("form[-1]", "form[0]", "form[1]", "form[0] form[1]", "lower[0]", "inner[0]"))
PAIRS = (("N", "n"), ("N", "vn"), ("V", "v"), ("V", "vn"), ("D", "d"))
TEXTS = st.lists(st.lists(st.sampled_from(["a", "B", "abbc", "Aa"]), max_size=4), min_size=1, max_size=5)


def plain(size: int = 4) -> LabelSpace:
    return LabelSpace.plain("tag", "WXYZ"[:size])


def bundles(pairs: tuple[tuple[str, str], ...] = PAIRS) -> LabelSpace:
    """A space of bundles with its joint view and two sides."""
    sides = [sorted({pair[side] for pair in pairs}) for side in (0, 1)]
    names = tuple("+".join(pair) for pair in pairs)
    views = [View("joint", names, np.arange(len(pairs), dtype=np.int32))]
    for side, guideline in enumerate(("ctb", "pd")):
        projection = [sides[side].index(pair[side]) for pair in pairs]
        views.append(View(guideline, tuple(sides[side]), np.array(projection, np.int32)))
    return LabelSpace(names, tuple(views))


class Problem:
    """Sentences with random evidence, parameters over a label space, and random weights."""

    def __init__(
        self,
        texts: list[list[str]],
        space: LabelSpace,
        seed: int,
        observed: bool = False,
        transitions: bool = True,
        edges: bool = True,
        observed_transitions: bool = False,
        noisy: bool = False,
        weighted: bool = False,
        scheme: TransitionScheme | None = None,
    ) -> None:
        rng = np.random.default_rng(seed)
        weights_of = rng.choice([0.5, 1.0, 3.0], len(texts)) if weighted else np.ones(len(texts))
        self.sentences = [Sentence(tuple(text), weight=float(w)) for text, w in zip(texts, weights_of, strict=True)]
        self.encoder = TemplateEncoder(TEMPLATES)
        encoded = self.encoder.encode(self.sentences)
        self.encoder.freeze(encoded)
        size = len(space)
        self.sets = LabelSets(space)
        for _ in range(4):
            self.sets.of_labels(rng.choice(size, rng.integers(1, size + 1), replace=False))
        self.masks = self.sets.masks
        allow = rng.integers(0, len(self.sets), encoded.tokens).astype(np.int32)
        noise = rng.choice([0.0, 0.01, 0.6], encoded.tokens) if noisy else np.zeros(0)
        self.encoded = encoded.with_evidence(allow, noise=noise, rows=LabelRows(self.masks))
        self.parameters = ChainParameters(
            space,
            tuple(self._layout(view, observed) for view in space.views),
            scheme or TransitionScheme.free(size),
            transitions,
            edges,
            tuple(rng.random((len(v.names),) * 2) < 0.5 for v in space.views) if observed_transitions else None,
        )
        self.weights = rng.normal(size=self.parameters.size)
        if self.parameters.observed_transitions is not None:
            parts = self.parameters.split(self.weights)
            for part, mask in zip(parts, self.parameters.observed_transitions, strict=True):
                part.transition[~mask] = 0

    def _layout(self, view: View, observed: bool) -> Layout:
        if not observed:
            return Layout.dense(self.encoder.windows, len(view.names))
        masks = np.zeros((len(self.masks), len(view.names)), np.uint8)
        for number, mask in enumerate(self.masks):
            masks[number, view.projection[mask == 1]] = 1
        return Layout.observed(self.encoded, self.encoder.windows, masks)

    def objective(self, threads: int = 1, dtype: type[np.floating[Any]] = np.float64) -> ChainObjective:
        return ChainObjective(self.parameters, self.encoded.under(LabelRows(self.masks)), threads, dtype)

    # The twin

    @cached_property
    def weight_numbers(self) -> list[dict[tuple[str, int], int]]:
        """Per view, the place in the weight vector of every (feature text, tag)."""
        features = pair(self.encoder, self.encoded, self.sentences)
        parts = zip(self.parameters.space.views, self.parameters.layouts, self.parameters.offsets, strict=False)
        return [
            {key: offset + number for key, number in weight_numbers(layout, features, len(view.names)).items()}
            for view, layout, offset in parts
        ]

    def transition_scores(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """[Y, Y], [Y], [Y]: label by label the sum over views, -inf where the scheme forbids."""
        size, scheme = len(self.parameters.space), self.parameters.scheme
        transition, start, end = np.zeros((size, size)), np.zeros(size), np.zeros(size)
        for view, part in zip(self.parameters.space.views, self.parameters.split(self.weights), strict=True):
            for i in range(size):
                a = view.projection[i]
                if self.parameters.edges:
                    start[i] += part.start[a]
                    end[i] += part.end[a]
                for j in range(size):
                    if self.parameters.transitions:
                        transition[i, j] += part.transition[a, view.projection[j]]
        transition[~scheme.transition], start[~scheme.start], end[~scheme.end] = -np.inf, -np.inf, -np.inf
        return transition, start, end

    def scores(self, forms: tuple[str, ...]) -> NDArray[Any]:
        """[T, Y]: the emission scores of a sentence from the texts of its features."""
        total = np.zeros((len(forms), len(self.parameters.space)))
        texts = naive.features(TEMPLATES.texts, forms)
        for view, numbers in zip(self.parameters.space.views, self.weight_numbers, strict=True):
            by_tag = naive.scores(texts, named(self.weights, numbers), len(view.names))
            total += np.array(by_tag).reshape(len(forms), len(view.names))[:, view.projection]
        return total

    def chains(self, restricted: bool) -> list[naive.Chain | None]:
        """The twin of every sentence; `None` for an empty one."""
        transition, start, end = (array.tolist() for array in self.transition_scores())
        noise = self.encoded.evidence.noise
        noise = noise[:, None] if len(noise) else 0.0
        shares = np.maximum(self.masks[self.encoded.evidence.sets], noise)
        chains: list[naive.Chain | None] = []
        for s, sentence in enumerate(self.sentences):
            tokens = slice(self.encoded.sentence_ptr[s], self.encoded.sentence_ptr[s + 1])
            mine = shares[tokens].tolist()
            scores = self.scores(sentence.forms).tolist()
            chains.append(naive.Chain(scores, transition, start, end, mine if restricted else None) if mine else None)
        return chains

    def loss(self) -> float:
        """The loss by enumeration."""
        total = 0.0
        for sentence, free, restricted in self._pairs_of_chains():
            total += sentence.weight * (naive.log_partition(free) - naive.log_partition(restricted))
        return total

    def gradient(self) -> NDArray[np.float64]:
        """Expected features under the model less those under the evidence too, feature text by feature text."""
        gradient = np.zeros(self.parameters.size)
        numbers = self.weight_numbers
        for sentence, free, restricted in self._pairs_of_chains():
            texts = naive.features(TEMPLATES.texts, sentence.forms)
            for chain, sign in ((free, sentence.weight), (restricted, -sentence.weight)):
                self._add_expectations(gradient, numbers, texts, chain, sign)
        if self.parameters.observed_transitions is not None:
            for part, mask in zip(self.parameters.split(gradient), self.parameters.observed_transitions, strict=True):
                part.transition[~mask] = 0
        return gradient

    def _pairs_of_chains(self) -> list[tuple[Sentence, naive.Chain, naive.Chain]]:
        both = zip(self.sentences, self.chains(False), self.chains(True), strict=True)
        return [(sentence, a, b) for sentence, a, b in both if a is not None and b is not None]

    def _add_expectations(
        self,
        gradient: NDArray[np.float64],
        numbers: list[dict[tuple[str, int], int]],
        texts: list[list[str]],
        chain: naive.Chain,
        sign: float,
    ) -> None:
        gamma, xi = naive.state_marginals(chain), naive.pair_marginals(chain)
        views = zip(self.parameters.space.views, numbers, self.parameters.split(gradient), strict=True)
        for view, number_of, part in views:
            tag_of = view.projection.tolist()
            for features, row in zip(texts, gamma, strict=True):
                for text in features:
                    for y, probability in enumerate(row):
                        if (text, tag_of[y]) in number_of:
                            gradient[number_of[text, tag_of[y]]] += sign * probability
            for y, tag in enumerate(tag_of):
                if self.parameters.edges:
                    part.start[tag] += sign * gamma[0][y]
                    part.end[tag] += sign * gamma[-1][y]
                for other, to in enumerate(tag_of):
                    if self.parameters.transitions:
                        part.transition[tag, to] += sign * sum(step[y][other] for step in xi)
