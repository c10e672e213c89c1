"""Rounds of annotation over files: two domains, a list of words, and a model of one of the domains."""

from __future__ import annotations

from tagweave.active.annotator import Annotator
from tagweave.active.retrain import recipe_of
from tagweave.active.rounds import Rounds
from tagweave.harvest.lexicon import read
from tagweave.learning.run import SILENT, Run
from tagweave.models.chain import ChainModel
from tagweave.training.corpora import read_corpus
from tagweave.training.guidelines import development_data, training_data


def rounds_of_files(
    model: ChainModel,
    source: str,
    gold: str,
    words: str,
    dev: str | None = None,
    format: str | None = None,  # noqa: A002
    run: Run = SILENT,
    context: int = 2,
    seed: int = 0,
    threads: int = 1,
) -> Rounds:
    """Rounds in which gold text is the annotator.

    Args:
        model: a segmenter of the source domain.
        source: the corpus that it was trained on.
        gold: segmented text of the target domain, of which the annotator tells what is asked.
        words: the file of the words that are asked for.
        dev: segmented text by which the best iteration is chosen.
        format: of the corpora.
        run, context, seed: as for `Rounds`.
        threads: how many threads share the work.

    Raises:
        ValueError: the model does not tell its recipe.
        CorpusError, OSError: a file cannot be read, or development data of another guideline.
    """
    recipe = recipe_of(model, seed, threads)
    first, target = read_corpus(source, "segment", format), read_corpus(gold, "segment", format).corpus
    held_out = None
    if dev:
        held_out = development_data(training_data([first], [], None), read_corpus(dev, "segment", format), first).corpus
    annotator, listed = Annotator.of(target), read(words).words
    return Rounds(model, first.corpus, annotator, listed, recipe, held_out, run, context, seed)
