"""All numbers of a page, as JSON holds them."""

from __future__ import annotations

from typing import Any

from reproductions.lab.comparison import TRIALS, judged
from reproductions.lab.paper import paper
from reproductions.lab.run import Run, Setting
from reproductions.lab.summary import of_methods, of_run
from reproductions.li_2015.measures import measures
from reproductions.li_2015.methods import BASELINE, TWO_STAGE, TWO_STAGE_AVERAGED, Method
from reproductions.li_2015.pair import Pair

REFERENCES = (BASELINE, TWO_STAGE, TWO_STAGE_AVERAGED)
"""The methods that every other one is tested against."""


def summary(run: Run[Pair, Method], command: str, trials: int = TRIALS) -> dict[str, Any]:
    """As `reproductions.lab.study.Study.summary`."""
    return of_run(run, command, trials, _of_setting)


def _of_setting(run: Run[Pair, Method], setting: Setting[Pair, Method], trials: int) -> dict[str, Any]:
    pair = setting.draw(0)
    found = {method.name: measures(run, setting, method) for method in setting.methods}
    source = {part: size for part, size in pair.source.sizes().items() if part != "test"}
    return {
        "name": setting.name,
        "title": setting.title,
        "sizes": {"target": pair.target.sizes(), "source": source},
        "sample": list(pair.sample),
        "budget": [pair.schedule.iterations, pair.schedule.patience],
        "methods": of_methods(
            run, setting, found, lambda _: REFERENCES, trials, wanted=lambda measure: measure != "dev"
        ),
        "findings": judged(paper("li_2015").findings[run.part], found, trials),
    }
