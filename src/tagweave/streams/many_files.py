"""Many files through one function, each into a file of the same name in an output folder: on processes, or on Ray.

A file is finished once its output is there: outputs are written whole and renamed into place. So an interrupted run
leaves nothing half, and the same call goes on with the files that are left.
"""

from __future__ import annotations

import glob
import multiprocessing
import os
import re
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tagweave.errors import ManyFilesError, is_for_users
from tagweave.signals import leave_with_parent
from tagweave.streams import Tell

ATTEMPTS = 2
"""How often a file is begun by itself after its process died, before the run goes on without it."""
_SPAWN = multiprocessing.get_context("spawn")  # a fork of a process with threads may never wake up
_MAGIC = re.compile(r"[*?\[]")
_NOTES = 20  # notes that are passed on
_NAMED = 3  # unfinished files that the error at the end names

Work = Callable[[str, str], Iterable[str]]
"""Reads the argument of a file, writes a whole file, and returns notes. It travels to other processes."""


@dataclass(frozen=True)
class FileTask:
    """A file to read and the file to write."""

    path: str
    argument: str  # [GUIDELINE=]PATH[#LAYER]
    target: str


class Outcome(NamedTuple):
    """What became of a file: notes on assumptions about it, and what was wrong with it, or ""."""

    notes: Sequence[str] = ()
    problem: str = ""


class FileCounts(NamedTuple):
    """How many files a run wrote, and how many were there before."""

    written: int
    before: int


def file_tasks(inputs: Iterable[str], output: str, has_guideline: bool = False) -> list[FileTask]:
    """List the files of arguments `[GUIDELINE=]INPUT[#LAYER]`: files, folders, and patterns such as `in/*.txt`.

    Outputs have the names of the inputs, with the folders below the one that was named. In folders, names that begin
    with `_` or `.` are left out. Large files come first, so that no process is left alone with one at the end.

    Raises:
        ManyFilesError: an input that is no file, two files of one name, or an output that would replace an input.
    """
    tasks: dict[str, FileTask] = {}
    for argument in inputs:
        before, pattern, after = _parsed(argument, has_guideline)
        files = list(_files(pattern))
        if not files:
            expected = "a file, a folder of files, or a pattern such as in/*.txt"
            raise ManyFilesError(f"{argument}: found no file, expected {expected}")
        for path, name in files:
            if name in tasks:
                problem = f"found {tasks[name].path} and {path}, two files of the name {name}"
                raise ManyFilesError(f"{problem}, expected different names: the output has the names of the input")
            tasks[name] = FileTask(path, f"{before}{path}{after}", os.path.join(output, name))  # noqa: PTH118
    read = {os.path.realpath(task.path) for task in tasks.values()}
    for task in tasks.values():
        if os.path.realpath(task.target) in read:
            raise ManyFilesError(f"{task.target}: found a file that is read as the output, expected another folder")
    return sorted(tasks.values(), key=lambda task: (-Path(task.path).stat().st_size, task.path))


def _parsed(argument: str, has_guideline: bool) -> tuple[str, str, str]:
    """Split an argument into `GUIDELINE=`, pattern and `#LAYER`; a folder may be called `year=2026` or `a#b`."""
    if Path(argument).exists():
        return "", argument, ""
    pattern, sign, layer = argument.rpartition("#")
    if not sign or not pattern or "/" in layer:
        pattern, layer = argument, ""
    guideline, sign, rest = pattern.partition("=")
    before, pattern = (f"{guideline}=", rest) if has_guideline and sign and "/" not in guideline else ("", pattern)
    return before, pattern, f"#{layer}" if layer else ""


def _files(pattern: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each file that a pattern names, and its name in the output folder."""
    path = Path(pattern)
    if path.is_dir():
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path)
            if file.is_file() and not any(component.startswith(("_", ".")) for component in name.parts):
                yield str(file), str(name)
    elif path.exists():
        yield pattern, path.name
    elif magic := _MAGIC.search(pattern):
        folder = Path(os.path.dirname(pattern[: magic.start()]))  # noqa: PTH120 - of an incomplete name
        for match in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 - `**` is any file below, in all versions
            name_below = os.path.relpath(match, folder)
            if Path(match).is_file() and not name_below.startswith(".."):
                yield match, name_below


def carry_out(
    work: Work,
    tasks: Iterable[FileTask],
    processes: int = 1,
    ray: str | None = None,
    threads: int = 1,
    progress: Callable[[int, int], Any] = lambda done, total: None,
    tell: Tell = lambda line: None,
) -> FileCounts:
    """Do the work for the files that have no output yet. All others are finished before a bad file is an error.

    Args:
        work: is done in other processes, which import it by name.
        processes: how many processes of this machine work at the same time.
        ray: `auto` or the address of a Ray cluster, which does the work instead; its machines see the same files.
        threads: how many processors a file takes on Ray.
        progress: is called with the number of files that are done, and of all.
        tell: receives notes, and the problem of each bad file.

    Raises:
        ManyFilesError: files that cannot be read or written, or whose process died again and again; or no such cluster.
    """
    every = list(tasks)
    waiting = [task for task in every if not Path(task.target).exists()]
    if not waiting:
        return FileCounts(0, len(every))
    function = partial(_outcome, work)
    outcomes = on_processes(function, waiting, processes) if ray is None else on_ray(function, waiting, ray, threads)
    bad: dict[str, str] = {}
    notes: set[str] = set()
    progress(0, len(waiting))
    with closing(outcomes):
        for done, (task, outcome) in enumerate(outcomes, 1):
            if outcome.problem:
                bad[task.path] = outcome.problem
                tell(outcome.problem)
            for note in outcome.notes:
                if (general := note.replace(task.path, "")) not in notes and len(notes) < _NOTES:
                    notes.add(general)
                    tell(note)
            progress(done, len(waiting))
    if bad:
        names = ", ".join([*list(bad)[:_NAMED], *(["..."] if len(bad) > _NAMED else [])])
        expected = "none: the same call tries them again; all others are finished"
        problem = f"found {len(bad)} of {len(waiting)} files that could not be finished ({names})"
        raise ManyFilesError(f"{problem}, expected {expected}")
    return FileCounts(len(waiting), len(every) - len(waiting))


def _outcome(work: Work, task: FileTask) -> Outcome:
    """Do the work for a file; this runs in other processes."""
    try:
        Path(task.target).parent.mkdir(parents=True, exist_ok=True)
        return Outcome(tuple(work(task.argument, task.target)))
    except (ValueError, OSError) as error:
        if not is_for_users(error):
            raise
        problem = str(error) or type(error).__name__
        return Outcome(problem=problem if task.path in problem else f"{task.path}: {problem}")


Function = partial[Outcome]
"""`_outcome` with its work: from a task to its outcome."""
Outcomes = Generator[tuple[FileTask, Outcome], None, None]


def on_processes(function: Function, tasks: Iterable[FileTask], processes: int) -> Outcomes:
    """Yield each task with its outcome, as processes of this machine finish them.

    A process that dies ends its pool, with all tasks at hand. Each of them is then begun by itself in a new pool, so
    that the one that is to blame is found, and the others are finished.
    """
    waiting = deque(tasks)
    while waiting:
        at_hand: dict[Future[Outcome], FileTask] = {}
        with _pool(processes) as pool, suppress(BrokenProcessPool):
            while waiting or at_hand:
                while waiting and len(at_hand) < processes:
                    future = pool.submit(function, waiting[0])
                    at_hand[future] = waiting.popleft()
                for future in wait(at_hand, return_when=FIRST_COMPLETED).done:
                    outcome = future.result()
                    yield at_hand.pop(future), outcome
        for future, task in at_hand.items():
            has_died = isinstance(future.exception(), BrokenProcessPool)
            yield task, _by_itself(function, task) if has_died else future.result()


def _by_itself(function: Function, task: FileTask) -> Outcome:
    for _ in range(ATTEMPTS):
        with _pool(1) as pool, suppress(BrokenProcessPool):
            return pool.submit(function, task).result()
    return _died(task)


def _died(task: FileTask) -> Outcome:
    expected = "memory for it, and programs that start processes under `if __name__ == '__main__':`"
    return Outcome(problem=f"{task.path}: found a file whose process died {ATTEMPTS} times, expected {expected}")


@contextmanager
def _pool(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes; if the block raises, they end at once."""
    with ProcessPoolExecutor(processes, _SPAWN, leave_with_parent) as pool:
        try:
            yield pool
        except BaseException:
            for process in list(pool._processes.values()):  # no public name before Python 3.14
                process.kill()
            raise


def on_ray(function: Function, tasks: Iterable[FileTask], address: str, threads: int) -> Outcomes:
    """Yield each task with its outcome, as a Ray cluster finishes them; Ray begins a task again whose worker died.

    Args:
        address: `auto` is the cluster of `RAY_ADDRESS`, else one that runs here, else one that is started here.
        threads: how many processors a task takes.

    Raises:
        ManyFilesError: no Ray, no such cluster, or a cluster that ended.
    """
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        expected = "it (pip install '.[ray]' in a checkout of tagweave), or `processes`"
        raise ManyFilesError(f"found no Ray, expected {expected}") from error
    is_ours = not ray.is_initialized()
    if is_ours:
        _connect(ray, address)
    try:
        call = ray.remote(function.func).options(num_cpus=threads, max_retries=ATTEMPTS - 1)
        resources: Any = ray.cluster_resources  # without types in some versions of Ray
        most = _AHEAD * max(1, int(resources().get("CPU", 1)) // threads)
        waiting = deque(tasks)
        at_hand: dict[Any, FileTask] = {}
        while waiting or at_hand:
            while waiting and len(at_hand) < most:
                task = waiting.popleft()
                at_hand[call.remote(*function.args, task)] = task
            for reference in ray.wait(list(at_hand), num_returns=1)[0]:
                task = at_hand.pop(reference)
                yield task, _result(ray, reference, task)
    finally:
        if is_ours:
            ray.shutdown()


_AHEAD = 4  # tasks given to Ray for each that can run: an autoscaler starts machines for those that wait
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is reported to anybody unless the user says so
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # otherwise a warning about GPUs
}


def _connect(ray: Any, address: str) -> None:
    settings: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    try:
        if address == "auto":
            ray.init(include_dashboard=False, **settings)
            return
        host, _, port = address.removeprefix("ray://").rpartition(":")
        if not port.isdecimal():
            raise ValueError("expected HOST:PORT or ray://HOST:PORT")
        socket.create_connection((host, int(port)), timeout=10).close()  # Ray itself would try for minutes
        ray.init(address, **settings)
    except (OSError, RuntimeError, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ManyFilesError(f"found no Ray cluster at {address!r} ({reason}), expected one that runs") from error


def _result(ray: Any, reference: Any, task: FileTask) -> Outcome:
    try:
        outcome: Outcome = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.cause or error from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError, ray.exceptions.OutOfMemoryError):
        return _died(task)
    except ray.exceptions.RayError as error:
        reason = str(error).strip().partition("\n")[0]
        raise ManyFilesError(f"found no more of the cluster ({reason}), expected one that runs") from error
    return outcome
