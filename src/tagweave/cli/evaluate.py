"""`tagweave evaluate`: compares systems with a gold standard."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError

if TYPE_CHECKING:
    from tagweave.corpus.corpus import Corpus


def evaluate(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="The gold standard, [G=]FILE[#LAYER].")],
    systems: Annotated[
        list[str], typer.Argument(metavar="SYSTEM", help="Outputs; the others are compared with the first.")
    ],
    train: Annotated[
        str | None, typer.Option(metavar="FILE", help="The training corpus, for scores of unknown words or spans.")
    ] = None,
    layer: Annotated[
        str | None, typer.Option(metavar="NAME", help="The layer to compare, in files with several.")
    ] = None,
    punctuation: Annotated[bool, typer.Option(help="Whether punctuation counts in trees.")] = True,
    relations: Annotated[
        str, typer.Option(metavar="universal|full", help="Relations without or with their subtypes.")
    ] = "universal",
    format: options.InputFormat = None,  # noqa: A002
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    as_json: options.AsJson = False,
) -> None:
    """Score systems by the metrics that suit the corpora, and test whether they differ significantly.

    The same words with labels: accuracy; with labels of spans (B-PER I-PER O): precision, recall and F of spans. Other
    words, or characters: precision, recall and F of words. Heads: attachment scores. For files with several layers,
    each layer that differs between files is reported; --layer or #LAYER selects one.
    """
    from tagweave.corpus.load import parse_argument
    from tagweave.exchange.load import load
    from tagweave.front.evaluation import evaluate as report_of

    if repeated := [system for at, system in enumerate(systems) if system in systems[:at]]:
        raise OptionError(f"found the system {repeated[0]} twice, expected each once")
    if relations not in ("universal", "full"):
        raise OptionError(f"found --relations {relations}, expected universal or full")

    def read(argument: str, unnamed: str | None = None) -> Corpus:
        of_layer = layer is not None and parse_argument(argument).layer is None
        return load(f"{argument}#{layer}" if of_layer else argument, format, unnamed)

    gold_corpus = read(gold)
    outputs = {system: read(system, gold_corpus.layer) for system in systems}
    is_named = layer is not None or any(parse_argument(each).layer for each in (gold, *systems))
    report = report_of(
        gold_corpus,
        outputs,
        all_layers=not is_named,
        training=load(train, format) if train else None,
        punctuation=punctuation,
        relations="full" if relations == "full" else "universal",
        cluster=cluster,
        workers=workers,
    )
    if as_json:
        typer.echo(json.dumps(report.to_json(), ensure_ascii=False))
    else:
        report.render()
