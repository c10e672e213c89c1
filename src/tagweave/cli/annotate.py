"""`tagweave annotate`: people answer questions in a browser, and models learn from the answers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import fields, replace
from ipaddress import ip_network
from typing import TYPE_CHECKING, Annotated

from tagweave.cli.annotate_data import (
    Guideline,
    Share,
    StoreUrl,
    adduser,
    export,
    import_corpus,
    notes,
    opened,
    rank,
)
from tagweave.cli.commands import group
from tagweave.cli.console import OptionError, as_option_error, in_flags
from tagweave.cli.options import flag
from tagweave.streams import say

if TYPE_CHECKING:
    from tagweave.annotate.rules import Rule
    from tagweave.models.chain_predictor import ChainPredictor

_EVERYWHERE = {"", "0.0.0.0", "::"}  # noqa: S104


def serve(
    store: StoreUrl,
    model: Annotated[
        str | None,
        flag("MODEL", "Chooses what to ask about RAW, and shows candidates. Without, only what was imported."),
    ] = None,
    corpus: Annotated[str | None, flag("RAW", "Sentences of words to ask about; with --words lines of text.")] = None,
    guideline: Guideline = None,
    share: Share = 0.2,
    words: Annotated[str | None, flag("LIST", "Show the occurrences of the words of LIST in a concordance.")] = None,
    annotators: Annotated[
        str,
        flag(
            "N,MORE,MAJORITY", "N annotate each token; where they differ, MORE of them, and MAJORITY of all must agree."
        ),
    ] = "2,2,3",
    planted: Annotated[
        float, flag("SHARE", "The share of tasks from gold data, while there are any.", least=0, most=1)
    ] = 0.05,
    admit: Annotated[
        float | None, flag("SHARE", "Admit annotators with this share of training tasks right.", least=0, most=1)
    ] = None,
    train: Annotated[
        list[str] | None, flag("[G=]TRAIN", "Train again on this and the answers, in the background (repeatable).")
    ] = None,
    every: Annotated[int, flag("N", "Train after N new judgements.", least=1)] = 100,
    dev: Annotated[str | None, flag("FILE", "Development corpus: show every model's accuracy on it.")] = None,
    models: Annotated[str, flag("FOLDER", "The folder of new models.")] = "models",
    host: Annotated[str, flag("ADDRESS", "Listen here; other machines cannot reach a loopback address.")] = "127.0.0.1",
    port: Annotated[int, flag("P", "The port; 0 for any free one.", least=0, most=65535)] = 8765,
    public_url: Annotated[
        str | None, flag("URL", "Where people reach the pages, for links. Default: the address above.")
    ] = None,
    proxy: Annotated[
        list[str] | None, flag("ADDRESS", "A proxy server or network whose X-Forwarded headers to trust (repeatable).")
    ] = None,
) -> None:
    """Serve the pages where annotators answer what MODEL asks about RAW, and imported tasks. Ctrl-C ends it."""
    from tagweave.annotate.rules import Admission, Settings
    from tagweave.front.loading import load_model
    from tagweave.labels import LAYERS

    admission = None if admit is None else Admission(accuracy=admit)
    settings = Settings(_rule(annotators), admission, gold_share=planted)

    _check_front(host, public_url, proxy or ())
    if model is None or corpus is None:
        _check_alone({"--model": model, "--corpus": corpus, "--words": words, "--train": train, "--dev": dev})
        with opened(store, settings) as answers:
            from tagweave.annotate import serving

            serving.check_training_phase(answers)
            serving.run(answers, None, host, port, public_url, proxy or (), say)
        return
    loaded = load_model(model, 1)
    if loaded.trained.kind == LAYERS and (train or dev):
        problem = f"found {model}, a model of layers of spans, and {'--train' if train else '--dev'}"
        raise OptionError(f"{problem}, expected a model of one layer")
    tagger: ChainPredictor = loaded.under([guideline] if guideline else ())
    if words is None and tagger.model.of_characters:
        raise OptionError("found a model that segments, expected --words LIST with it")
    plan = None
    if train:
        from tagweave.annotate.serving import retraining_of

        with as_option_error():
            plan = retraining_of(store, model, tagger, train, models, lambda line: say(in_flags(line)))
        sentences = None if words else corpus
        plan = replace(plan, every=every, dev=dev, corpus=sentences, share=share, settings=settings)
    with opened(store, settings) as answers:
        from tagweave.annotate import intake, serving
        from tagweave.annotate.page_request import Progress
        from tagweave.annotate.retraining import accuracy, training
        from tagweave.streams.inputs import load_for

        serving.check_training_phase(answers)
        listed = serving.word_list(words, corpus, tagger.guideline, say) if words else None
        version = intake.version_of(answers, model, lambda: accuracy(tagger.model, dev, tagger.guideline))
        if not listed:
            asked = load_for(tagger, corpus)
            added = intake.put_uncertain(answers, asked, tagger, share, version)
            say(f"{added:,} new tasks from {len(asked):,} sentences")
        progress = Progress(serving.measure(tagger), every if plan else None, dev)
        with nullcontext() if plan is None else training(plan):
            serving.run(answers, listed, host, port, public_url, proxy or (), say, progress)


def _check_alone(options: dict[str, object]) -> None:
    """Raise if an option is set that needs a model."""
    if needing_model := [name for name, value in options.items() if value]:
        raise OptionError(f"found {needing_model[0]}, expected --model and --corpus with it")


def _rule(text: str) -> Rule:
    from tagweave.annotate.rules import Rule

    numbers = text.split(",")
    if len(numbers) != len(fields(Rule)) or not all(re.fullmatch("[0-9]{1,4}", number) for number in numbers):
        raise OptionError(f"found --annotators {text}, expected three whole numbers, as 2,2,3")
    with as_option_error():
        return Rule(*map(int, numbers))


def _check_front(host: str, url: str | None, proxies: Sequence[str]) -> None:
    """Refuse a public address that no link can lead to, and proxies that are not addresses."""
    if url is not None and not re.fullmatch(r"https?://[^/?#@\s]+/?", url):
        raise OptionError(f"found --public-url {url}, expected https:// and a host, without a path")
    for proxy in proxies:
        try:
            ip_network(proxy)
        except ValueError:
            raise OptionError(f"found --proxy {proxy}, expected an address or a network, as 10.0.0.0/8") from None
    if url is None and host in _EVERYWHERE:
        raise OptionError(f"found --host {host}, which no link can lead to, expected --public-url with it")


annotate = group(
    "annotate", "People answer what a model asks: put questions in, invite annotators, get the answers out."
)
for command in (adduser, import_corpus, rank, notes, export, serve):
    annotate.command("import" if command is import_corpus else None, no_args_is_help=True)(command)
