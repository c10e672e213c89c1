"""The aggregation methods. To add one, write its options and its function, and add a line to `AGGREGATIONS`.

- majority: every source has one vote.
- Dawid and Skene (1979): a confusion matrix for every source, and independent true labels.
- MACE (Hovy et al. 2013): an answer is either the true label, or a guess of a source that does not care.

      P(l | y, source k) = (1 - theta_k) [l = y] + theta_k xi_k(l)

  theta_k is how often source k guesses, xi_k how it guesses. True labels are independent. In the paper they are equally
  likely; where one label is frequent, as O is, guesses then explain it better than knowledge does, so by default their
  proportions are estimated. Of several estimates from random values the one with the best objective is kept.
- A hidden Markov model with a confusion matrix for every source, as in skweak (Lison, Barnes and Hubin 2021).
- Bayesian sequence combination (Simpson and Gurevych 2019, BSC-seq), variational: transitions of true labels as in a
  hidden Markov model, and for every source a confusion matrix that depends on its answer before. All rows of
  probabilities have Dirichlet priors. A first answer in a sentence, or after a position without one, is treated as
  after `O`, or, where labels do not code spans, has a matrix of its own.
- A blend of two models. Where few sources label everything, estimates under flat priors drift: what one source marks
  too much becomes the truth that the others miss. So the first model, Dawid and Skene's, begins at votes, and has
  for every source a prior that grows with its answers, and stands where MACE does:

      P(. | y, source k) has the prior Dirichlet((10 + 0.03 a_k(y)) ((1 - e) [l = y] + e xi_k(l))),    e = 0.1

  a_k(y) is how often source k says y, xi_k(l) the share of l among its answers. Where labels are of spans, e is 1
  for a y that it never says: a source that marks places alone tells nothing of people. Bayesian sequence combination
  goes on from the labels of this model for a few turns, and the result is the geometric mean of the probabilities of
  both (a logarithmic opinion pool, Genest and Zidek 1986): the one takes every token by itself, the other knows what
  follows what.

  Sources that err together are found first (`sources.dependence`). Copies have one vote. At each position, votes count
  by the probability that answers come from an opinion that sources share; where opinions make a tenth of the answers
  that differ, as those of models trained on the same text, votes count four fifths everywhere.

  A source of spans that never says `O`, while another one does, is a list: that it answers at all is evidence, and so
  it is of a source that says nothing but `O`. With such sources the first model is all, under a flat prior of labels.
  Where sources hardly meet, or only one of them meets one list, which may miss names as well as the other may invent
  them, it takes one turn: votes under the priors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tagweave.options import check_ranges, option

if TYPE_CHECKING:
    from tagweave.sources.answers import Answers
    from tagweave.sources.estimate import Estimate
    from tagweave.sources.reliability import Prior


@dataclass(frozen=True)
class AggregationRun:
    """The input of every method beside its options."""

    # by name, sources of known reliability: the probability that one of their answers is right
    known: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0  # of everything random
    tell: Callable[[str], None] = lambda _: None  # receives a line of text after every iteration


@dataclass(frozen=True)
class Aggregation:
    """A way to combine answers."""

    name: str
    summary: str  # its assumption, in a few words
    options: type  # the frozen class of its options
    # imports what it needs, so that listing methods is cheap
    estimate: Callable[[Answers, Any, AggregationRun], Estimate]


SILENCE = "Sources are silent where they find nothing, as labelling functions are: silence is evidence, too."


_SMOOTHING = "Pseudo-answers of every source for every pair of a true label and an answer."
_TRANSITIONS = "Pseudo-counts of every transition between true labels."


@dataclass(frozen=True)
class MajorityOptions:
    """Options of the method `majority`."""

    whole: bool = option(False, "Vote on whole spans: one is taken if more than half of those who answered mark it.")


@dataclass(frozen=True)
class TurnOptions:
    """When to stop taking turns between true labels and the reliability of sources."""

    iterations: int = option(100, "How many turns at most.", "N", 1)
    tolerance: float = option(1e-5, "Stop once a turn gains less than this for each answer, in nats.", "GAIN", 0)

    def __post_init__(self) -> None:
        check_ranges(self)


@dataclass(frozen=True)
class DawidSkeneOptions(TurnOptions):
    """Options of the method `dawid-skene`."""

    silence: bool = option(False, SILENCE)
    smoothing: float = option(1.0, _SMOOTHING, "N", 1e-9)


@dataclass(frozen=True)
class MaceOptions(TurnOptions):
    """Options of the method `mace`."""

    iterations: int = option(50, "How many turns at most.", "N", 1)
    restarts: int = option(3, "How many times to start from random values.", "N", 1)
    guessing: float = option(0.5, "Pseudo-answers of every source for guessing, and for not guessing.", "N", 1e-9)
    guesses: float = option(10.0, "Pseudo-guesses of every label.", "N", 1e-9)
    equal: bool = option(False, "True labels are equally likely, as in the paper.")
    point: bool = option(False, "Point estimates (EM) instead of variational inference.")


@dataclass(frozen=True)
class HiddenMarkovOptions(DawidSkeneOptions):
    """Options of the method `hmm`."""

    transitions: float = option(1.0, _TRANSITIONS, "N", 1e-9)


@dataclass(frozen=True)
class BayesianSequenceOptions(TurnOptions):
    """Options of the method `bsc`."""

    silence: bool = option(False, SILENCE)
    right: float = option(
        10.0, "Pseudo-answers with the true label, beside `wrong`, for every label and answer before.", "N", 0
    )
    wrong: float = option(1.0, "Pseudo-answers for every pair of a true label and an answer.", "N", 1e-9)
    transitions: float = option(1.0, _TRANSITIONS, "N", 1e-9)


@dataclass(frozen=True)
class BlendOptions(TurnOptions):
    """Options of the method `blend`."""

    iterations: int = option(40, "How many turns of the first model at most.", "N", 1)


def _majority(answers: Answers, options: MajorityOptions, run: AggregationRun) -> Estimate:
    from tagweave.sources.estimate import Estimate, from_votes, whole_spans
    from tagweave.sources.reliability import Prior, updated

    gamma = from_votes(answers, run.known)
    prior = Prior.even(len(answers.labels), 0.01, run.known)
    return Estimate(gamma, updated(answers, gamma, prior), best=whole_spans(answers) if options.whole else None)


def _dawid_skene(answers: Answers, options: DawidSkeneOptions, run: AggregationRun) -> Estimate:
    import numpy as np

    from tagweave.sources.estimate import IndependentLabels, in_turns
    from tagweave.sources.reliability import Prior

    prior = np.full(len(answers.labels), options.smoothing)
    confusion = Prior.even(len(answers.labels), options.smoothing, run.known)
    return in_turns(answers, IndependentLabels(prior, prior), confusion, options, run, speaks=options.silence)


def _mace(answers: Answers, options: MaceOptions, run: AggregationRun) -> Estimate:
    from tagweave.sources.estimate import best_of_restarts

    return best_of_restarts(answers, options, run)


def _hidden_markov(answers: Answers, options: HiddenMarkovOptions, run: AggregationRun) -> Estimate:
    from tagweave.sources.estimate import LabelChain, in_turns
    from tagweave.sources.reliability import Prior

    confusion = Prior.even(len(answers.labels), options.smoothing, run.known)
    chain = LabelChain.of(answers.sentence_ptr, answers.scheme, options.transitions, variational=False)
    return in_turns(answers, chain, confusion, options, run, speaks=options.silence)


_IMPOSSIBLE = 1e-3  # share of the pseudo-answers left to an answer that cannot follow the one before


def sequential_prior(answers: Answers, right: float, wrong: float, known: dict[str, float] | None = None) -> Prior:
    """Build a prior with a context for every answer before; labels that cannot follow each other are improbable."""
    import numpy as np

    from tagweave.sources.reliability import Prior

    size, scheme = len(answers.labels), answers.scheme
    square = wrong + right * np.eye(size)
    if scheme.is_free:
        return Prior(np.repeat(square[None], size + 1, axis=0), size, known or {})
    possible = np.where(scheme.transition, 1.0, _IMPOSSIBLE)
    return Prior(possible[:, :, None] * square, answers.labels.index("O"), known or {})


def _bayesian_sequence(answers: Answers, options: BayesianSequenceOptions, run: AggregationRun) -> Estimate:
    from tagweave.sources.estimate import LabelChain, in_turns

    chain = LabelChain.of(answers.sentence_ptr, answers.scheme, options.transitions, variational=True)
    confusion = sequential_prior(answers, options.right, options.wrong, dict(run.known))
    return in_turns(answers, chain, confusion, options, run, variational=True, speaks=options.silence)


_DOUBT = 0.1  # how often a source is expected to guess, before any answer
_BELIEF = 10.0  # pseudo-answers for each true label
_SHARE = 0.03  # more of them for each answer with this label
_LATER_TURNS = 10  # of the second model, which starts from a good place and drifts
_TOGETHER = 0.1  # mean probability of an opinion where sources differ from which on votes decide; of people up to 0.06
_VOTED = 0.8  # how much votes count then: the models overrule them only where they are close


def guessing_prior(answers: Answers, known: dict[str, float] | None = None) -> Prior:
    """Build a prior for each source, which grows with its answers: it knows, or guesses as it answers on the whole."""
    import numpy as np

    from tagweave.sources.reliability import Prior

    size, given = len(answers.labels), answers.given
    guesses = given + 1e-2  # a source may say what it never did
    guesses /= guesses.sum(axis=1, keepdims=True)
    knows = (1 - _DOUBT) * ((given > 0) | answers.scheme.is_free)
    shares = guesses[:, :, None] * (1 - knows)[:, None, :] + np.eye(size) * knows[:, None, :]
    strength = _BELIEF + _SHARE * given
    return Prior((shares * strength[:, None, :])[:, None], 0, known or {})


def _blend(answers: Answers, options: BlendOptions, run: AggregationRun) -> Estimate:
    from dataclasses import replace

    import numpy as np

    from tagweave.sources.dependence import merge_copies, shared_opinions
    from tagweave.sources.estimate import Estimate, IndependentLabels, LabelChain, from_votes, in_turns
    from tagweave.sources.reliability import updated

    flat, known = np.ones(len(answers.labels)), dict(run.known)
    speaks = (*answers.lists, *answers.excluders)
    if speaks or answers.hardly_overlap:
        turns = replace(options, iterations=1) if answers.hardly_overlap else options
        truth = IndependentLabels((answers.given.sum(axis=0) > 0).astype(np.float64), flat)
        votes, believed = from_votes(answers, known, more=1e-9), guessing_prior(answers, known)
        return in_turns(answers, truth, believed, turns, run, speaks=speaks, start=votes)
    single = merge_copies(answers, known)
    if len(single.sources) < len(answers.sources):
        run.tell(f"{len(answers.sources)} sources, {len(single.sources)} without copies")
    votes, believed = from_votes(single, known, more=1e-9), guessing_prior(single, known)
    truth = IndependentLabels(flat + votes.sum(axis=0), flat)
    first = in_turns(single, truth, believed, options, run, start=votes)
    chain = LabelChain.of(single.sentence_ptr, single.scheme, 1.0, variational=True)
    later, prior = replace(options, iterations=_LATER_TURNS), sequential_prior(single, 10.0, 1.0, known)
    second = in_turns(single, chain, prior, later, run, variational=True, start=first.gamma)
    gamma = np.sqrt(np.maximum(first.gamma * second.gamma, np.finfo(np.float64).tiny))
    gamma /= gamma.sum(axis=1, keepdims=True)
    opinions = shared_opinions(single, believed, first.gamma)
    voted = opinions.probability
    if opinions.share > _TOGETHER:
        voted = np.where(single.answered > 0, _VOTED, 0.0)
        run.tell(f"sources share an opinion where they differ ({100 * opinions.share:.0f} %): votes decide")
    gamma += voted[:, None] * (votes - gamma)
    return Estimate(gamma, updated(answers, gamma, prior))


_CONFUSION = "a confusion matrix for every source"
_BEFORE = "a confusion matrix that depends on the answer before, and transitions of true labels"
_ALL = (
    Aggregation("majority", "every source counts the same", MajorityOptions, _majority),
    Aggregation("dawid-skene", _CONFUSION, DawidSkeneOptions, _dawid_skene),
    Aggregation("mace", "every source either knows the label or guesses", MaceOptions, _mace),
    Aggregation("hmm", f"{_CONFUSION}, and transitions of true labels", HiddenMarkovOptions, _hidden_markov),
    Aggregation("bsc", _BEFORE, BayesianSequenceOptions, _bayesian_sequence),
    Aggregation("blend", "sources know or guess; then as bsc, and the mean of both", BlendOptions, _blend),
)

AGGREGATIONS: dict[str, Aggregation] = {method.name: method for method in _ALL}
"""Methods by name, from the weakest assumptions to the strongest, and the blend of two."""

DEFAULT = "blend"
