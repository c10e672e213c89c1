"""Measures what annotating uncertain words would gain, with gold text as the annotator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from tagweave.streams.errors import StreamError
from tagweave.streams.notes import Tell, say

if TYPE_CHECKING:
    from tagweave.active.rounds import Rounds
    from tagweave.front.model import Model

File = str | PathLike[str]


@dataclass(frozen=True, kw_only=True)
class SimulationOptions:
    """What is compared in a simulation, and how models are trained.

    Attributes:
        numbers: how many words are marked.
        strategies: which occurrences come first: `entropy`, `marginal`, `random`.
        treatments: how to treat the rest of their sentences: `marginal`, `argmax`, `pointwise`.
        context: ask only once if so many characters on both sides are the same.
        iterations: the maximum number of iterations; by default the learner's, or 100 with development data.
        patience: stop after this many iterations without a better development score.
        seed: the seed of everything random.
        threads: how many threads share the work.
        format: the format of the corpora; by default recognised.

    Raises:
        StreamError: an unknown strategy or treatment.
    """

    numbers: Sequence[int] = tuple(range(100, 1001, 100))
    strategies: Sequence[str] = ("entropy",)
    treatments: Sequence[str] = ("marginal",)
    context: int = 2
    iterations: int | None = None
    patience: int = 5
    seed: int = 0
    threads: int = 1
    format: str | None = None

    def check(self) -> None:
        """Raise StreamError for an unknown strategy or treatment."""
        from tagweave.active.retrain import TREATMENTS
        from tagweave.active.strategies import STRATEGIES

        for what, names, known in (
            ("strategy", self.strategies, STRATEGIES),
            ("treatment", self.treatments, TREATMENTS),
        ):
            if unknown := [name for name in names if name not in known]:
                raise StreamError(f"unknown {what} {unknown[0]!r}, expected some of {', '.join(known)}")

    @property
    def cells(self) -> list[tuple[str, str, int]]:
        """The strategy, treatment and number of words of every training, in the order in which they are trained."""
        sizes = sorted(set(self.numbers))
        return [
            (s, t, n) for s in dict.fromkeys(self.strategies) for n in sizes for t in dict.fromkeys(self.treatments)
        ]


def simulate(
    model: Model | File,
    gold: File,
    words: File,
    train: File,
    test: File,
    dev: File | None = None,
    tell: Tell = say,
    **options: Any,
) -> Iterator[dict[str, Any]]:
    """Annotate words in context from a gold standard, train again, and measure the gain (Tsuboi et al. 2008).

    Args:
        model: a segmenter trained on `train`, or its file.
        gold: segmented text of the target domain, which answers what is asked.
        words: the words to ask about, one per line.
        train: the corpus of the source domain.
        test: segmented text of the target domain to test on.
        dev: segmented text that selects the best iteration.
        tell: receives a note if fewer words can be marked than asked for.
        options: fields of `SimulationOptions`.

    Yields:
        first the scores of the model itself, then those of a model for each number, strategy and treatment:
        `strategy`, `treatment`, `words` that were marked, `questions` that it took, `f`, `oov_recall`.

    Raises:
        StreamError: an unknown strategy or treatment, or a model that does not segment.
        ValueError: the model does not contain its recipe.
        CorpusError, OSError: a file cannot be read.
        TypeError: an unknown option.
    """
    from tagweave.active.scores import SegmentationScorer, score_rows
    from tagweave.corpus.load import load
    from tagweave.evaluation.segmentation import training_words

    settings = SimulationOptions(**options)
    settings.check()
    rounds = _rounds(
        model, [fspath(each) for each in (train, gold, words)], None if dev is None else fspath(dev), settings
    )
    _note_shortage(rounds, settings, fspath(gold), tell)
    known = training_words(load(fspath(train), settings.format))
    scorer = SegmentationScorer(load(fspath(test), settings.format), known, settings.threads)
    return score_rows(rounds, settings.cells, scorer)


def _rounds(model: Model | File, files: Sequence[str], dev: str | None, options: SimulationOptions) -> Rounds:
    from tagweave.active.setting import rounds_of_files
    from tagweave.front.loading import load_model
    from tagweave.learning.run import Run, Schedule

    base = load_model(model) if isinstance(model, (str, PathLike)) else model
    if base.chain.task != "segment":
        raise StreamError(f"{base.name}: found a model of the task {base.chain.task}, expected segment")
    run = Run(Schedule(options.iterations, options.patience))
    source, gold, words = files
    return rounds_of_files(
        base.chain, source, gold, words, dev, options.format, run, options.context, options.seed, options.threads
    )


def _note_shortage(rounds: Rounds, options: SimulationOptions, gold: str, tell: Tell) -> None:
    most = max(options.numbers, default=0)
    for strategy in options.strategies:
        marked = rounds.questions(strategy, most)[1]
        if marked < most:
            tell(f"--numbers {most}: only {marked} words of the list can be marked in {gold}")
            return
