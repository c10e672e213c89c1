"""Hours and money for very much text, by docs/results/data/task-times.json: `python -m benchmarks.scale`."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from benchmarks.processes import DATA, PICTURES, publish
from benchmarks.simulated_cluster import (
    AHEAD,
    Assumptions,
    bytes_of_characters,
    driver_seconds,
    seconds_of_characters,
    simulate,
)

MACHINES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
SHARDS = (3e6, 10e6, 30e6, 100e6, 300e6)
"""Sizes of shards to compare, in characters."""
SHARDS_ON = (100, 1000)
"""Machines on which they are compared."""
CHARACTERS = 1e12
TERABYTE = 1e12
MEASURED = DATA / "task-times.json"
_PLOT = "scale.png"

Measured = dict[str, Any]


def work_hours(task: Measured, given: Assumptions, characters: float, is_packed: bool) -> float:
    """Hours of one processor for a text, its shards' own costs included, without waiting for the network."""
    shards = characters / given.shard
    return (shards * task["per_shard"] + characters / 1e6 * seconds_of_characters(task, is_packed)) / 3600


def processors(measured: Measured, given: Assumptions) -> list[list[str]]:
    """Hours of processors, and what they cost on machines without a pause."""
    head = [
        "task",
        "shards",
        "characters a second",
        "hours, 10^12 characters",
        "hours, 1 TB of raw text",
        "price, 10^12 characters",
    ]
    rows = [head]
    raw = next(iter(measured["tasks"].values()))["text_bytes"]  # of the segmenter, which reads raw text
    for name, task in measured["tasks"].items():
        for is_packed in (False, True):
            hours = work_hours(task, given, CHARACTERS, is_packed)
            terabyte = work_hours(task, given, TERABYTE / raw, is_packed)
            price = hours / given.processors * given.price
            numbers = (CHARACTERS / hours / 3600, hours, terabyte, price)
            rows.append([name, "gzip" if is_packed else "plain", *(f"{number:,.0f}" for number in numbers)])
    return rows


def network(measured: Measured, given: Assumptions) -> list[list[str]]:
    """Where the network or the store is busier than the processors."""
    rows = [["task", "shards", "MB a second of a processor", "of a machine", "machines that fill the store"]]
    for name, task in measured["tasks"].items():
        for is_packed in (False, True):
            seconds = task["per_shard"] * 1e6 / given.shard + seconds_of_characters(task, is_packed)
            one = bytes_of_characters(task, is_packed) / seconds / 1e6
            machine = one * given.processors
            share = f"{machine:,.1f} ({machine * 8e6 / (given.network * 1e9):.0%} of its network)"
            filled = f"{given.store * 1e9 / 8e6 / machine:,.0f}"
            rows.append([name, "gzip" if is_packed else "plain", f"{one:.2f}", share, filled])
    return rows


def runs(measured: Measured, given: Assumptions) -> dict[str, list[dict[str, float]]]:
    """Simulated runs of every task on every number of machines."""
    found: dict[str, list[dict[str, float]]] = {}
    for name, task in measured["tasks"].items():
        ideal = work_hours(task, given, CHARACTERS, True) / given.processors
        found[name] = []
        for machines in MACHINES:
            outcome = asdict(simulate(task, measured["calls"], given, machines, CHARACTERS))
            found[name].append({"machines": machines, **outcome, "busy": ideal / outcome["machine_hours"]})
    return found


def shard_sizes(measured: Measured, given: Assumptions) -> dict[str, dict[str, list[float]]]:
    """Hours of every task by the number of machines and the size of shards."""

    def hours(task: Measured, machines: int, size: float) -> float:
        return simulate(task, measured["calls"], replace(given, shard=size), machines, CHARACTERS).hours

    return {
        name: {str(machines): [hours(task, machines, size) for size in SHARDS] for machines in SHARDS_ON}
        for name, task in measured["tasks"].items()
    }


def duration(hours: float) -> str:
    """A time as a reader would say it."""
    return f"{hours:,.0f} h" if hours >= 10 else f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.1f} min"


def table(rows: list[list[str]]) -> list[str]:
    """The lines of a table, of which the first is the head."""
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:], ""]


def page(measured: Measured, given: Assumptions, found: dict[str, Any]) -> list[str]:
    """The lines of the page."""
    names = list(measured["tasks"])
    by_machines = [["machines", *(f"{name}{what}" for name in names for what in ("", ", busy"))]]
    for at, machines in enumerate(MACHINES):
        cells = [
            (duration(found["runs"][name][at]["hours"]), f"{found['runs'][name][at]['busy']:.0%}") for name in names
        ]
        by_machines.append([f"{machines:,}", *(cell for pair in cells for cell in pair)])
    columns = [(name, machines) for name in names for machines in SHARDS_ON]
    by_shard = [["million characters", "shards", *(f"{name}, {machines:,}" for name, machines in columns)]]
    for at, size in enumerate(SHARDS):
        times = (duration(found["shards"][name][str(machines)][at]) for name, machines in columns)
        by_shard.append([f"{size / 1e6:,.0f}", f"{CHARACTERS / size:,.0f}", *times])
    base, look = driver_seconds(measured["calls"])
    driver = [["workers", "calls that wait", "asking for all of them, ms"]]
    for machines in (1, 10, 100, 1000):
        waiting = AHEAD * machines * given.processors
        driver.append([f"{machines * given.processors:,}", f"{waiting:,}", f"{1e3 * look * waiting:,.1f}"])
    return [
        "# Scale",
        "",
        "Written by `python -m benchmarks.scale` from the [times of tasks](task-times.md), which are measured, and",
        "from assumptions, which are options of the command. It says what follows from both, not what a cloud did.",
        "",
        "## Assumptions",
        "",
        *table(
            [
                ["assumption", "value"],
                *([name.replace("_", " "), f"{value:g}"] for name, value in asdict(given).items()),
            ]
        ),
        "## Processors",
        "",
        f"Hours of one processor, and the price of machines of {given.processors}, without start and end, and without",
        "the network.",
        "",
        *table(processors(measured, given)),
        "## Network",
        "",
        "Bytes in and out while a processor works.",
        "",
        *table(network(measured, given)),
        "## 1 to 1,000 machines",
        "",
        "10^12 characters in gzip, simulated: machines that come up one by one, workers that start, shards of unequal",
        "sizes and machines of unequal speed, the driver, the network. `busy` is the share of the paid time in which",
        "processors work; the rest is start, network, the driver, and waiting for the last shard.",
        "",
        f"![Hours and the busy share by the number of machines](pictures/{_PLOT})",
        "",
        *table(by_machines),
        "By the size of shards, on 100 and 1,000 machines:",
        "",
        *table(by_shard),
        "## The driver",
        "",
        f"It gives {AHEAD} calls to every worker. A call costs it {1e3 * base:.2f} ms, so it hands out at most",
        f"{1 / base:,.0f} shards a second. It asks Ray for those that have finished, which takes longer the more wait:",
        "",
        *table(driver),
    ]


def plot(found: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Draw hours and the busy share by machines."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from tagweave.evaluation.plots import MARKERS, PALETTE

    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    FigureCanvasAgg(figure)
    times, shares = figure.subplots(1, 2)
    for number, (name, rows) in enumerate(found.items()):
        machines = [row["machines"] for row in rows]
        style = {"color": PALETTE[number], "marker": MARKERS[number], "label": name}
        times.plot(machines, [row["hours"] for row in rows], **style)
        ideal = rows[0]["machine_hours"] * rows[0]["busy"]
        times.plot(machines, [ideal / each for each in machines], color=PALETTE[number], linestyle=":")
        shares.plot(machines, [100 * row["busy"] for row in rows], **style)
    times.set_yscale("log")
    times.set_ylabel("hours, 10^12 characters (dotted: always busy)")
    shares.set_ylabel("busy share of machines, %")
    shares.set_ylim(0, 100)
    for axes in (times, shares):
        axes.set_xscale("log")
        axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
        axes.set_xlabel("machines")
        axes.grid(alpha=0.3)
    shares.legend(loc="lower left")
    figure.savefig(path, format="png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="nothing written")
    for field in fields(Assumptions):
        default: Any = field.default
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, type=type(default), default=default, help="default: %(default)s")
    options = vars(parser.parse_args())
    quick = options.pop("quick")
    given = Assumptions(**options)
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    found = {"runs": runs(measured, given), "shards": shard_sizes(measured, given)}
    publish("scale", page(measured, given, found), {"assumptions": asdict(given), **found}, quick)
    if not quick:
        plot(found["runs"], PICTURES / _PLOT)


if __name__ == "__main__":
    main()
