"""`tagweave annotate serve`: the pages where people answer, and the model that asks again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli.annotate_store import StoreUrl, opened
from tagweave.cli.errors import OptionError

if TYPE_CHECKING:
    from tagweave.annotate.retraining import Plan
    from tagweave.annotate.site import WordList
    from tagweave.annotate.store import Store
    from tagweave.models.tagger import Tagger

_RUN = ("-c", "from tagweave.cli.main import main; main()")
_KEEP_ALIVE = 75  # seconds; people think longer than 5, and what they send just as a connection is closed is lost


def serve(
    store: StoreUrl,
    model: Annotated[str, typer.Option(metavar="MODEL", help="Chooses what to ask, and shows candidates.")],
    corpus: Annotated[
        str, typer.Option(metavar="RAW", help="Sentences of words to ask about; with --words lines of text.")
    ],
    guideline: Annotated[
        str | None, typer.Option(metavar="G", help="Of the answers, in a model of several. Default: its first.")
    ] = None,
    share: Annotated[float, typer.Option(min=0, max=1, help="Ask for so much of the tokens, the least certain.")] = 0.2,
    words: Annotated[
        str | None, typer.Option(metavar="LIST", help="Show the occurrences of the words of LIST in a concordance.")
    ] = None,
    admit: Annotated[
        float | None,
        typer.Option(min=0, max=1, metavar="SHARE", help="Annotators are admitted with so much of training right."),
    ] = None,
    train: Annotated[
        list[str] | None,
        typer.Option(metavar="[G=]TRAIN", help="Train again on this and the answers, in the background; repeatable."),
    ] = None,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Train after N new judgements.")] = 100,
    dev: Annotated[
        str | None, typer.Option(metavar="FILE", help="Development corpus: accuracy of every model on it is shown.")
    ] = None,
    models: Annotated[str, typer.Option(metavar="FOLDER", help="Where new models go.")] = "models",
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Listen here; others reach no loopback.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, metavar="P", help="0: any that is free.")] = 8765,
) -> None:
    """Serve the pages where annotators answer what MODEL asks about RAW. Ctrl-C ends it."""
    from tagweave.annotate.settings import Admission, Settings
    from tagweave.cli.annotate_import import open_model

    tagger = open_model(model, guideline, 1)
    if words is None and tagger.model.coding:
        raise OptionError("found a model that segments, expected --words LIST with it")
    settings = Settings(admission=None if admit is None else Admission(accuracy=admit))
    with opened(store, settings) as answers:
        listed = _listed(words, corpus, tagger.guideline) if words else None
        if not listed:
            _ask(answers, corpus, tagger, share, model)
        plan = _plan(store, tagger, train, models, every, dev, None if listed else corpus, share) if train else None
        with _training(plan):
            _run(answers, listed, host, port)


def _ask(store: Store, corpus: str, tagger: Tagger, share: float, model: str) -> None:
    """Put in what the model doubts."""
    from tagweave.annotate import intake
    from tagweave.corpus.load import load

    found = load(corpus, unnamed=tagger.guideline)
    added = intake.put_doubtful(store, found, tagger, share, intake.version_of(store, model))
    typer.echo(f"{added:,} new tasks from {len(found):,} sentences", err=True)


def _listed(words: str, corpus: str, guideline: str) -> WordList:
    """The words that occur, and the index of the text, beside it."""
    from tagweave.annotate import kwic
    from tagweave.annotate.site import WordList
    from tagweave.corpus.text_file import read_lines
    from tagweave.evidence.lexicon import read

    concordance = kwic.build(read_lines(corpus), f"{corpus}.kwic")
    wanted = [word for word in read(words).words if 0 < len(word) <= kwic.LONGEST]
    found = tuple(word for word, count in zip(wanted, concordance.counts(wanted).tolist(), strict=True) if count)
    if not found:
        raise OptionError(f"found none of {len(wanted):,} words of {words} in {corpus}, expected some")
    typer.echo(f"{len(found):,} of {len(wanted):,} words occur in {len(concordance):,} lines", err=True)
    return WordList(concordance, found, guideline, corpus)


def _plan(
    url: str,
    tagger: Tagger,
    train: list[str],
    folder: str,
    every: int,
    dev: str | None,
    corpus: str | None,
    share: float,
) -> Plan:
    """Training as `tagweave train` does it, on the corpora and what was agreed on."""
    from tagweave.annotate.retraining import ANNOTATED, MODEL, Plan

    task = tagger.model.task
    answered = f"{tagger.guideline}={ANNOTATED}"
    command = (sys.executable, *_RUN, "train", *train, answered, "--task", task, "-o", MODEL)
    form = "kytea" if tagger.model.coding else "conllu"
    return Plan(url, tagger.guideline, command, folder, every, form, dev, corpus, share)


@contextmanager
def _training(plan: Plan | None) -> Iterator[None]:
    if plan is None:
        yield
        return
    from tagweave.annotate.retraining import start

    process = start(plan)
    try:
        yield
    finally:
        process.terminate()
        process.join()


def _run(store: Store, words: WordList | None, host: str, port: int) -> None:
    import logging
    import socket

    import uvicorn

    from tagweave.annotate.app import application

    logging.basicConfig(format="%(asctime)s %(message)s")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        name = f"[{host}]" if ":" in host else host
        typer.echo(f"http://{name}:{listening.getsockname()[1]}/", err=True)
        config = uvicorn.Config(
            application(store, words), log_level="warning", server_header=False, timeout_keep_alive=_KEEP_ALIVE
        )
        uvicorn.Server(config).run([listening])
