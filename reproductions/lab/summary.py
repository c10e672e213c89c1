"""The numbers of a page, as JSON holds them: what the summaries of all studies have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reproductions.lab.comparison import Measures, against
from reproductions.lab.run import Data, Method, Named, Run, Setting

Numbers = dict[str, Any]
COSTS = ("labels", "weights", "seconds", "history")


def of_run(
    run: Run[Data, Method],
    command: str,
    trials: int,
    of_setting: Callable[[Run[Data, Method], Setting[Data, Method], int], Numbers],
    **more: Any,
) -> Numbers:
    """The numbers of a part; `command` is how to have them again, `more` what else its page tells of all settings."""
    settings = [of_setting(run, setting, trials) for setting in run.settings]
    head = {"command": command, "part": run.part, "seeds": run.seeds, "trials": trials}
    return {**head, **more, "settings": settings}


def of_methods(
    run: Run[Data, Method],
    setting: Setting[Data, Method],
    found: Mapping[str, Measures],
    references: Callable[[Method], Sequence[Named]],
    trials: int,
    keys: Sequence[str] = COSTS,
    wanted: Callable[[str], bool] = lambda _: True,
) -> dict[str, Numbers]:
    """What the results of each method have under `keys`, its scores, and how it compares.

    Args:
        run, setting: where results are taken from.
        found: the measures of the methods, by name; only these methods are in the table.
        references: what a method is compared with.
        trials: of the tests.
        keys: those that a method's results lack are left out.
        wanted: by which measures methods are compared.
    """
    return {
        method.name: {
            **run.columns(setting, method, keys),
            "scores": {measure: each.to_json() for measure, each in found[method.name].items()},
            "against": against(method.name, found, references(method), trials, wanted),
        }
        for method in setting.methods
        if method.name in found
    }
