"""`tagweave simulate`: measures what annotating uncertain words would gain, with gold text as the annotator."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer

from tagweave.cli import options
from tagweave.cli.errors import OptionError, as_option_error
from tagweave.front.simulation import SimulationOptions


def simulate(
    model: options.Model,
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Segmented text of the target domain to annotate.")],
    words: Annotated[str, typer.Option(metavar="LIST", help="The words to ask about, one per line.")],
    train: Annotated[str, typer.Option(metavar="SOURCE", help="The corpus of the source domain.")],
    test: Annotated[str, typer.Option(metavar="TEST", help="Segmented text of the target domain to test on.")],
    dev: options.Dev = None,
    numbers: Annotated[str, typer.Option(metavar="N,N,...", help="How many words to mark.")] = ",".join(
        map(str, SimulationOptions.numbers)
    ),
    strategy: Annotated[
        str,
        typer.Option(metavar="entropy,marginal,random", help="Which occurrences come first (several are compared)."),
    ] = ",".join(SimulationOptions.strategies),
    treatment: Annotated[
        str, typer.Option(metavar="marginal,argmax,pointwise", help="How to treat the rest of their sentences.")
    ] = ",".join(SimulationOptions.treatments),
    context: Annotated[
        int, typer.Option(min=0, metavar="K", help="Ask only once if K characters on both sides are the same.")
    ] = SimulationOptions.context,
    iterations: options.Iterations = SimulationOptions.iterations,
    patience: options.Patience = SimulationOptions.patience,
    seed: options.Seed = SimulationOptions.seed,
    threads: options.Threads = SimulationOptions.threads,
    format: options.InputFormat = None,  # noqa: A002
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines as they come, instead of a table.")] = False,
) -> None:
    """Annotate words in context from a gold standard, train again, and measure the gain (Tsuboi et al. 2008).

    Occurrences of the words of LIST in GOLD are ranked by the uncertainty of MODEL, a segmenter trained on SOURCE. The
    annotator decides for one after another whether it is a word there, until N are marked; nothing else of GOLD is
    used. Then a model is trained on SOURCE and the marked sentences by the recipe of MODEL, and tested.
    """
    from tagweave.front.simulation import simulate as rows_of

    settings = SimulationOptions(
        numbers=_sizes(numbers),
        strategies=tuple(strategy.split(",")),
        treatments=tuple(treatment.split(",")),
        context=context,
        iterations=iterations,
        patience=patience,
        seed=seed,
        threads=threads,
        format=format,
    )
    with as_option_error():
        rows = rows_of(model, gold, words, train, test, dev, **vars(settings))
    rows = _with_bar(rows, len(settings.cells))
    if as_json:
        for row in rows:
            typer.echo(json.dumps(row, ensure_ascii=False))
    else:
        _show(list(rows))


def _sizes(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.isdecimal() and len(part) < 10 for part in parts):
        raise OptionError(f"found --numbers {text}, expected whole numbers separated by commas")
    return [int(part) for part in parts]


def _with_bar(rows: Iterable[dict[str, Any]], trainings: int) -> Iterator[dict[str, Any]]:
    """The rows, with a progress bar on a terminal; the first row, of the model itself, needs no training."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(file=sys.stderr)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("training", total=trainings)
        for number, row in enumerate(rows):
            progress.update(task, completed=number)
            yield row


def _show(rows: Sequence[dict[str, Any]]) -> None:
    from rich.table import Table

    from tagweave.evaluation.console import table_console

    table = Table()
    for at, name in enumerate(("strategy", "treatment", "words", "questions", "F", "OOV recall")):
        table.add_column(name, justify="left" if at < 2 else "right")
    for row in rows:
        texts = (row["strategy"] or "MODEL", row["treatment"] or "", str(row["words"]), str(row["questions"]))
        table.add_row(*texts, *(f"{row[name]:.2f}" for name in ("f", "oov_recall")))
    table_console().print(table)
