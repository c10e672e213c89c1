"""What all tests share: this folder on the import path (for `naive`), Hypothesis without a clock, skips that are seen.

The first example that reaches a kernel compiles it, so the time of one example says nothing. A third of the usual
hundred examples are drawn unless a test asks for more: most mistakes show in the first few. In CI the examples are the
same in every run, so that a change is judged by what it does; elsewhere they differ, to find what nobody thought of.

A test that is skipped hides what it would have found. The end of every run says what was skipped, and why; with
`--no-skips` a skip is a failure, unless it is the corpora that are absent: they cannot be installed.
"""

from __future__ import annotations

import gc
import io
import math
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tagweave.cli import demonstration
from tagweave.corpus import sample
from tagweave.front.training import train
from tagweave.kernels import compiled_code
from tagweave.learning import loop

settings.register_profile("tagweave", deadline=None, max_examples=30, derandomize=bool(os.environ.get("CI")))
settings.load_profile("tagweave")

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # of the hundred processes that tests start, each would compile it all

compiled_code._written.add(compiled_code.COMPILING)  # outputs are compared, whoever comes first and has to compile

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # or ONNX Runtime, once imported, would report to Microsoft

loop.SHARE = math.inf  # every iteration has one, however quick the machine is

_CORPORA = "TAGWEAVE_CORPORA"


@pytest.fixture(scope="session")
def real_corpora() -> Path:
    """The folder of real corpora."""
    folder = Path(os.environ.get(_CORPORA) or Path(__file__).parents[2] / "shared" / "corpora")
    if not folder.is_dir():
        pytest.skip(f"the real corpora are not at {folder} (set {_CORPORA})")
    return folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--no-skips", action="store_true", help="fail where something that a test needs is missing")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Nothing that comes of collecting is garbage, and looking through it takes a third of the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(20_000, 20, 50)  # compiling makes much and drops little of it


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the examples of the documentation first: a section needs those before it on its page, so a page that two
    workers share runs twice. Workers share what is last, and where their halves meet."""
    items.sort(key=lambda item: item.path.name != "test_examples.py")


def pytest_collection_finish(session: pytest.Session) -> None:
    """In a run of the whole suite, two workers share what is to be compiled for a user's first commands.

    Otherwise one test would wait for most of it, and the other worker for that test.
    """
    worker, number = os.environ.get("PYTEST_XDIST_WORKER"), os.environ.get("PYTEST_XDIST_WORKER_COUNT")
    if number != "2" or len(session.items) < 1000:
        return
    for_trees = worker == "gw1"
    last = "tree_sums.marginals" if for_trees else "perceptron.correct"
    if compiled_code.is_kept(last):
        return
    train_and_label = demonstration._train_and_label

    def for_this_worker(task: str, *rest: Any) -> None:
        if for_trees == (task == "parse"):
            train_and_label(task, *rest)

    with pytest.MonkeyPatch.context() as patch, redirect_stderr(io.StringIO()):
        patch.setattr(demonstration, "_train_and_label", for_this_worker)
        demonstration.compile_kernels()
        if not for_trees:
            train(str(sample.path("ctb.txt")), learner="perceptron", iterations=1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if item.config.getoption("--no-skips") and report.skipped and _CORPORA not in reason(report):
        report.outcome, report.longrepr = "failed", f"skipped, with --no-skips: {reason(report)}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report = yield
    if collector.config.getoption("--no-skips") and report.skipped:
        report.outcome, report.longrepr = "failed", f"skipped, with --no-skips: {reason(report)}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = Counter(reason(report) for report in terminalreporter.stats.get("skipped", []))
    if skipped:
        terminalreporter.section("not run here")
        for why, times in skipped.most_common():
            terminalreporter.line(f"{times:5,}  {why}")


def reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test or a file of tests was skipped."""
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return said.removeprefix("Skipped: ")


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    """A Ray of two processors on this machine, one for all tests of a process: it takes seconds to start."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # at 15, workers hardly run on a busy machine
    module = pytest.importorskip("ray", reason="Ray is not installed (pip install '.[ray]')")
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)  # workers import the functions of tests
    with _unclosed():
        module.init(
            "local",  # not a cluster that happens to run here
            num_cpus=2,
            include_dashboard=False,
            object_store_memory=100_000_000,
            log_to_driver=False,
            logging_level="error",
        )
    yield module
    with _unclosed():
        module.shutdown()


@contextmanager
def _unclosed() -> Iterator[None]:
    """Ray leaves files and processes to the garbage collector, which warns of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()
