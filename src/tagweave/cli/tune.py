"""`tagweave tune`: searches for the values of a plan that make the best model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tagweave.cli import options
from tagweave.cli.console import INTERRUPTED, OptionError, check_outputs, trial_progress
from tagweave.streams.notes import say


def tune(
    plan: Annotated[str, options.argument("PLAN", "A training plan in JSON, with development data.")],
    output: Annotated[str, options.flag("FILE", "The best plan, in JSON.", "-o", "--output")],
    search: Annotated[
        list[str] | None,
        options.flag(
            "NAME=RANGE",
            "What to search: log:LOW:HIGH, float:LOW:HIGH, int:LOW:HIGH, int-log:LOW:HIGH or choice:A,B,... for a"
            " field of the plan, a setting of its learner or an option of its method; or a file of them in JSON"
            " (repeatable). Default: what suits the learner and the method.",
        ),
    ] = None,
    trials: Annotated[
        int, options.flag("N", "How many trials the study is to have, with those it has already.", least=1)
    ] = 40,
    seeds: Annotated[
        int,
        options.flag(
            "N",
            "With how many other seeds the plan and the three best trials are trained at the end, to choose among"
            " them.",
            least=0,
        ),
    ] = 2,
    prune: Annotated[
        bool, typer.Option("--prune/--no-prune", help="Stop trials whose development scores fall behind.")
    ] = True,
    study: Annotated[
        str | None,
        options.flag(
            "FILE|URL",
            "Where trials are kept: a file (SQLite) or postgresql://... The same command continues the study."
            " Default: FILE.study beside the output.",
        ),
    ] = None,
    plot: Annotated[
        str | None, options.flag("FILE", "Draw the scores by trial and by value (.png, .svg, .pdf).")
    ] = None,
    cluster: options.Cluster = None,
    workers: options.Workers = None,
    as_json: options.AsJson = False,
) -> None:
    """Search for values of a plan that reach a higher development score, and write the best plan.

    Every trial is a training. The first is the plan itself, so the table says what the search has gained. A killed
    search continues where it stood. `tagweave train --plan FILE` trains the model of the best plan.
    """
    from tagweave.front.training import tune as carry_out
    from tagweave.training.retraining import plan_in
    from tagweave.tuning.space import read_search

    given = plan_in(plan)
    kept = study or f"{output}.study"
    inputs = [plan, *(each.argument for each in (*given.corpora, given.dev) if each)]
    check_outputs([output, plot, None if "://" in kept else kept], inputs)
    if plot and Path(plot).suffix not in (".png", ".svg", ".pdf"):
        raise OptionError(f"found --plot {plot}, expected a name that ends in .png, .svg or .pdf")
    ranges = read_search(search or ())
    try:
        with trial_progress(trials) as finished:
            tuning = carry_out(given, ranges, trials, seeds, prune, kept, cluster, workers, finished, say)
    except KeyboardInterrupt:
        say("interrupted: the same command goes on")
        raise typer.Exit(INTERRUPTED) from None
    tuning.save(output)
    if plot:
        tuning.plot(plot)
    if as_json:
        typer.echo(json.dumps(tuning.to_json(), ensure_ascii=False))
    else:
        tuning.render()
