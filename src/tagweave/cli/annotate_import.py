"""`tagweave annotate import`: turns sentences into questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli import options
from tagweave.cli.annotate_store import Guideline, Share, StoreUrl, Strategy, check_strategy, opened
from tagweave.cli.errors import OptionError
from tagweave.cli.printing import say

if TYPE_CHECKING:
    from tagweave.models.chain_predictor import ChainPredictor

_PURPOSES = ("real", "gold", "training")


def import_corpus(
    corpus: Annotated[str, typer.Argument(metavar="[G=]CORPUS[#LAYER]", help="Sentences; - is standard input.")],
    store: StoreUrl,
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Chooses what to ask, and shows candidates.")
    ] = None,
    guideline: Guideline = None,
    purpose: Annotated[
        str,
        typer.Option(
            "--as",
            metavar="real|gold|training",
            help="real: tokens that CORPUS leaves open. gold: known tokens, mixed in to measure annotators. training:"
            " known tokens, asked before an annotator is admitted.",
        ),
    ] = "real",
    share: Share = 0.2,
    number: Annotated[int, typer.Option(min=1, metavar="N", help="gold, training: how many, drawn at random.")] = 100,
    words: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="Ask whether occurrences of the words of LIST are words; MODEL must segment."
        ),
    ] = None,
    spans: Annotated[
        bool, typer.Option("--spans", help="Without MODEL: ask for the spans of CORPUS that it leaves open.")
    ] = False,
    strategy: Strategy = None,
    seed: options.Seed = 0,
    threads: options.Threads = 1,
    format: options.InputFormat = None,  # noqa: A002
) -> None:
    """Put sentences into the store as questions for annotators.

    With MODEL, the questions are about its least certain tokens, or, if its labels code spans (B-PER, I-PER, O), about
    the spans in sentences drawn by its uncertainty. Without, they are about tokens that are ambiguous in CORPUS, or,
    with --spans, about the spans in sentences that CORPUS leaves open.
    """
    from tagweave.corpus.load import load
    from tagweave.harvest.lexicon import read

    _check(purpose, model, words, strategy, spans)
    tagger = open_model(model, guideline, threads) if model else None
    trained = tagger.model.layers(tagger.guideline) if tagger else ()
    sentences = load(corpus, format, tagger.guideline if tagger else guideline, trained)
    with opened(store) as questions:
        from tagweave.annotate import intake
        from tagweave.annotate.task import Purpose

        version = intake.version_of(questions, model) if model else None
        if spans and purpose == "real":
            added = intake.put_spans(questions, sentences)
        elif spans:
            added = intake.put_known_spans(questions, sentences, Purpose(purpose), number, seed=seed)
        elif purpose != "real":
            added = intake.put_known(questions, sentences, Purpose(purpose), number, tagger, share, version, seed)
        elif tagger is None:
            added = intake.put_ambiguous(questions, sentences)
        elif words:
            added = intake.put_words(
                questions, sentences, tagger, read(words).words, None, version, seed, strategy or "entropy"
            )
        else:
            added = intake.put_uncertain(questions, sentences, tagger, share, version, seed, strategy or "marginal")
    say(f"{added:,} new tasks from {len(sentences):,} sentences")


def _check(purpose: str, model: str | None, words: str | None, strategy: str | None, spans: bool) -> None:
    check_strategy(strategy)
    if spans and model:
        raise OptionError("found --spans and --model, expected one of them: the labels of MODEL say what to ask")
    if strategy and (model is None or purpose != "real"):
        raise OptionError("found --strategy, expected --model with it, and no --as")
    if purpose not in _PURPOSES:
        raise OptionError(f"unknown --as {purpose!r}, expected one of {', '.join(_PURPOSES)}")
    if words and (model is None or purpose != "real"):
        raise OptionError("found --words, expected --model with it, and no --as")


def open_model(model: str, guideline: str | None, threads: int) -> ChainPredictor:
    """The model as a tagger of one of its guidelines. Raises as `Model.under`."""
    from tagweave.front.loading import load_model

    return load_model(model, threads).under([guideline] if guideline else ())
