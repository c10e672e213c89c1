"""`tagweave label` and `tagweave aggregate`: functions as sources of annotation, and what many sources say together."""

from __future__ import annotations

from pathlib import PurePath
from typing import Annotated

from tagweave.cli import options
from tagweave.cli.console import OptionError, check_outputs
from tagweave.cli.options import argument, flag, switch
from tagweave.sources.options import AGGREGATIONS, CHAT, CHAT_ANSWERS, DEFAULT
from tagweave.streams import say


def label(
    text: Annotated[str, argument("FILE", "The text: a corpus, whose labels are only for scores.")],
    output: options.Output,
    functions: Annotated[
        list[str] | None,
        flag(
            "FILE|chat:URL",
            "Labelling functions, declared in JSON; or a chat model behind an address as OpenAI's (repeatable).",
        ),
    ] = None,
    examples: Annotated[
        str | None,
        flag("FILE", "Of chat:URL, checked sentences: their types of spans are asked for, and some of them are shown."),
    ] = None,
    python: Annotated[
        list[str] | None,
        flag("MODULE.py[:NAME,...]", "Labelling functions in Python; the file is executed (repeatable)."),
    ] = None,
    report: Annotated[str | None, flag("FILE", "Write the table on functions to a file, .csv or .json.")] = None,
    format: options.InputFormat = None,  # noqa: A002
    processes: Annotated[int, flag("N", "How many processes call functions.", least=1)] = 1,
) -> None:
    """Label a text by functions: lexicons, regular expressions, models, chat models and their answers, Python.

    The output is a column file with a column for each function, after the columns of the text. A function says nothing
    where it finds nothing, unless it is declared with outside. A table shows how many tokens each function labels
    (coverage), how many of these others label too (overlap) or contradict (conflict), its agreement with the others
    and, if FILE has labels, how often it is right.
    """
    from tagweave.cli.terminal import progress_bar, show_coverage
    from tagweave.front.sources import label_file, write_comparison

    if not functions and not python:
        raise OptionError("found no --functions and no --python, expected labelling functions")
    chats = [name for name in functions or () if name.startswith(CHAT)]
    if bool(chats) != (examples is not None):
        present, lacking = (chats[0], "--examples") if chats else (f"--examples {examples}", f"--functions {CHAT}URL")
        raise OptionError(f"found {present} alone, expected {lacking} with it, or a chat model declared in JSON")
    _check_report(report)
    modules = [argument.rpartition(".py")[0] + ".py" for argument in python or ()]
    declared = [name for name in functions or () if name not in chats]
    check_outputs([output, report, CHAT_ANSWERS if chats else None], [text, examples, *declared, *modules])
    with progress_bar("labelling") as progress:
        labelled = label_file(
            text, output, functions or (), python or (), format, processes, progress, examples=examples
        )
    comparison = labelled.comparison
    if comparison is None:
        say("no function found anything: there is no table")
    else:
        if report:
            write_comparison(comparison, report)
        show_coverage(comparison, stderr=output == "-")
    say(f"{output}: {len(labelled.corpus):,} sentences, {len(labelled.sources)} sources: {', '.join(labelled.sources)}")


def _check_report(path: str | None) -> None:
    if path is not None and PurePath(path).suffix not in (".csv", ".json"):
        raise OptionError(f"found --report {path}, expected a name that ends in .csv or .json")


def aggregate(
    files: Annotated[
        list[str], argument("FILE", "Corpora in which sources are columns or layers, or a file for each.")
    ],
    output: options.Output,
    sources: Annotated[
        str | None,
        flag(
            "COLUMNS",
            "Which columns are sources: 3:, 2,4:6, names; or files: every FILE is one. Default: every FILE; of a single"
            " one, the layers with labels like those of the last.",
        ),
    ] = None,
    method: Annotated[
        str | None,
        flag("|".join(AGGREGATIONS), f"How to combine what they say. Default: {DEFAULT}, or the best by --dev."),
    ] = None,
    dev: Annotated[
        str | None,
        flag("GOLD", f"Gold labels of some sentences: a method that is better there than {DEFAULT} is kept."),
    ] = None,
    known: Annotated[
        list[str] | None,
        flag("SOURCE=SHARE", "How often a source is right, where that is known; of gold, 1 (repeatable)."),
    ] = None,
    hard: Annotated[bool, switch("The best label alone, without probabilities.", "--hard")] = False,
    report: Annotated[
        str | None, flag("FILE", "Write the reliability of every source to a file, .csv or .json.")
    ] = None,
    plot: Annotated[str | None, flag("FILE", "Draw the reliability of sources as PNG.")] = None,
    ask: Annotated[int, flag("N", "List the N sentences that deserve another annotator most.", least=0)] = 0,
    format: options.InputFormat = None,  # noqa: A002
    output_format: options.OutputFormat = None,
) -> None:
    """Combine what many sources say of a text into labels with probabilities, and tell how reliable each source is.

    Methods: majority; dawid-skene, a confusion matrix for every source; bsc, with confusion matrices that depend on
    what a source said before, and transitions between true labels; blend, dawid-skene, under priors that grow with the
    answers, bsc, which goes on from it, and the mean of both.
    """
    from tagweave.cli.terminal import show_reliability, status_line
    from tagweave.front.sources import aggregate_files

    _check_report(report)
    check_outputs([output, report, plot], [*files, dev])
    if method is not None and method not in AGGREGATIONS:
        raise OptionError(f"found --method {method}, expected {', '.join(AGGREGATIONS)}")
    reliabilities = {name: _number(name, value) for name, value in options.pairs("known", known).items()}
    with status_line("aggregating") as tell:
        aggregated = aggregate_files(
            files,
            output,
            output_format,
            report,
            plot,
            sources=sources,
            method=method,
            dev=dev,
            known=reliabilities,
            hard=hard,
            format=format,
            tell=tell,
        )
    show_reliability(aggregated.result.reliability)
    if aggregated.note:
        say(aggregated.note)
    for line in aggregated.question_lines(ask):
        say(line)
    say(f"{output}: {len(aggregated.corpus):,} sentences, {len(aggregated.result.reliability.sources):,} sources")


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise OptionError(f"found {name}={value}, expected a number") from None
