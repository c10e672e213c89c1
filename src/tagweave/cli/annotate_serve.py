"""`tagweave annotate serve`: the pages where people answer, and the model that asks again."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, replace
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tagweave.cli.annotate_store import Guideline, Share, StoreUrl, Strategy, check_strategy, opened
from tagweave.cli.errors import OptionError, as_option_error
from tagweave.cli.printing import say

if TYPE_CHECKING:
    from tagweave.annotate.retraining import Plan
    from tagweave.annotate.settings import Rule
    from tagweave.annotate.site import WordList
    from tagweave.annotate.store import Store
    from tagweave.models.tagger import Tagger

_EVERYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104


def serve(
    store: StoreUrl,
    model: Annotated[str, typer.Option(metavar="MODEL", help="Chooses what to ask, and shows candidates.")],
    corpus: Annotated[
        str, typer.Option(metavar="RAW", help="Sentences of words to ask about; with --words lines of text.")
    ],
    guideline: Guideline = None,
    share: Share = 0.2,
    strategy: Strategy = None,
    words: Annotated[
        str | None, typer.Option(metavar="LIST", help="Show the occurrences of the words of LIST in a concordance.")
    ] = None,
    annotators: Annotated[
        str,
        typer.Option(
            metavar="N,MORE,MAJORITY",
            help="N annotate each token; where they differ, MORE of them, and MAJORITY of all must agree.",
        ),
    ] = "2,2,3",
    planted: Annotated[
        float, typer.Option(min=0, max=1, metavar="SHARE", help="So many tasks are of gold, while there is some.")
    ] = 0.05,
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
    public_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where people reach the pages, for links. Default: the address above."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="A server in front, or a network of them: its X-Forwarded headers are believed; repeatable.",
        ),
    ] = None,
) -> None:
    """Serve the pages where annotators answer what MODEL asks about RAW. Ctrl-C ends it."""
    from tagweave.annotate.settings import Admission, Settings
    from tagweave.cli.annotate_import import open_model

    admission = None if admit is None else Admission(accuracy=admit)
    settings = Settings(_rule(annotators), admission, gold_share=planted)

    check_strategy(strategy)
    front = _front(host, public_url, proxy or ())
    tagger = open_model(model, guideline, 1)
    if words is None and tagger.model.coding:
        raise OptionError("found a model that segments, expected --words LIST with it")
    uncertain = strategy or "marginal"
    plan = _plan(store, tagger, train, models) if train else None
    if plan:
        asked = None if words else corpus
        plan = replace(plan, every=every, dev=dev, corpus=asked, share=share, strategy=uncertain)
    with opened(store, settings) as answers:
        _check_training_phase(answers)
        listed = _listed(words, corpus, tagger.guideline) if words else None
        version = _entered(answers, model, tagger, dev)
        if not listed:
            _ask(answers, corpus, tagger, share, version, uncertain)
        with _training(plan):
            _run(answers, listed, host, port, front)


def _rule(text: str) -> Rule:
    from tagweave.annotate.settings import Rule

    numbers = text.split(",")
    if len(numbers) != len(fields(Rule)) or not all(re.fullmatch("[0-9]{1,4}", number) for number in numbers):
        raise OptionError(f"found --annotators {text}, expected three whole numbers, as 2,2,3")
    with as_option_error():
        return Rule(*map(int, numbers))


def _check_training_phase(store: Store) -> None:
    """Nobody gets a simulated task twice, so with too few of them nobody would ever be admitted."""
    from tagweave.annotate.aggregation import Status
    from tagweave.annotate.task import Purpose

    admission, found = store.settings.admission, store.counts().get((Purpose.TRAINING, Status.OPEN), 0)
    if admission is not None and found < admission.questions:
        expected = f"{admission.questions} or more: tagweave annotate import --as training"
        raise OptionError(f"found --admit and {found} simulated tasks in the store, expected {expected}")


def _entered(store: Store, path: str, tagger: Tagger, dev: str | None) -> int:
    """The version of the model that is served, with which its accuracy begins."""
    from tagweave.annotate.intake import version_of
    from tagweave.annotate.retraining import accuracy

    return version_of(store, path, lambda: accuracy(tagger.model, dev, tagger.guideline))


def _ask(store: Store, corpus: str, tagger: Tagger, share: float, version: int, strategy: str) -> None:
    """Put in what the model doubts."""
    from tagweave.annotate import intake
    from tagweave.corpus.load import load

    found = load(corpus, unnamed=tagger.guideline)
    added = intake.put_uncertain(store, found, tagger, share, version, strategy=strategy)
    say(f"{added:,} new tasks from {len(found):,} sentences")


def _listed(words: str, corpus: str, guideline: str) -> WordList:
    """The words that occur, and the index of the text, beside it."""
    from tagweave.annotate import kwic
    from tagweave.annotate.site import WordList
    from tagweave.corpus.text_file import read_lines
    from tagweave.harvest.lexicon import read

    concordance = kwic.build(read_lines(corpus), f"{corpus}.kwic")
    wanted = [word for word in read(words).words if 0 < len(word) <= kwic.LONGEST]
    found = tuple(word for word, count in zip(wanted, concordance.counts(wanted).tolist(), strict=True) if count)
    if not found:
        raise OptionError(f"found none of {len(wanted):,} words of {words} in {corpus}, expected some")
    say(f"{len(found):,} of {len(wanted):,} words occur in {len(concordance):,} lines")
    return WordList(concordance, found, guideline, corpus)


def _plan(url: str, tagger: Tagger, train: list[str], folder: str) -> Plan:
    """Training as the served model was trained, on the corpora and what was agreed on."""
    from tagweave.annotate.retraining import Plan
    from tagweave.annotate.training_command import ANNOTATED, MODEL
    from tagweave.corpus.formats import conllu, kytea
    from tagweave.corpus.whole_file import whole_file
    from tagweave.training.again import again, exported

    if find_spec("fcntl") is None:
        raise OptionError("found --train on a system without fcntl, as Windows, expected it without")
    of_characters = bool(tagger.model.coding)
    annotated = exported(tagger.guideline, of_characters, "")
    plan = again(tagger.model.about, tagger.guideline, train, annotated)
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = Path(folder, "plan.json")
    with whole_file(file) as part:
        part.write_text(json.dumps(plan.to_json(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    words = (sys.executable, "-m", "tagweave.training", str(file), MODEL, ANNOTATED)
    return Plan(url, tagger.guideline, words, folder, form=(kytea if of_characters else conllu).FORMAT.name)


def _training(plan: Plan | None) -> AbstractContextManager[None]:
    if plan is None:
        return nullcontext()
    from tagweave.annotate.training_process import training

    return training(plan)


class _Front(NamedTuple):
    """The address for links, if not the one where we listen, and who may forward requests."""

    url: str | None
    proxies: Sequence[str]


def _front(host: str, url: str | None, proxies: Sequence[str]) -> _Front:
    if url is not None and not re.fullmatch(r"https?://[^/?#@\s]+/?", url):
        raise OptionError(f"found --public-url {url}, expected https:// and a host, without a path")
    for each in proxies:
        try:
            ip_network(each)
        except ValueError:
            raise OptionError(f"found --proxy {each}, expected an address or a network, as 10.0.0.0/8") from None
    if url is None and host in _EVERYWHERE:
        raise OptionError(f"found --host {host}, which no link can lead to, expected --public-url with it")
    return _Front(url, proxies)


def _run(store: Store, words: WordList | None, host: str, port: int, front: _Front) -> None:
    import logging
    import socket

    from tagweave.annotate.app import application
    from tagweave.annotate.server import server

    logging.basicConfig(format="%(asctime)s %(message)s")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, port), family=family) as listening:
        name = f"[{host}]" if ":" in host else host
        address = f"http://{name}:{listening.getsockname()[1]}"
        say(f"{address}/")
        server(application(store, front.url or address, words), front.proxies).run([listening])
