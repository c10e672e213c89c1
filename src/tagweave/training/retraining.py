"""Retraining: the plan of a model applied to other corpora and to new annotation.

The command that trains a model. Only one runs in a folder at a time, even if the process that started it dies.

The command holds a lock file as long as it lives. If its parent was killed, the next parent finds the lock held, kills
the process whose number is in the file, and continues alone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from tagweave.corpus.files import remove_left, whole_file
from tagweave.corpus.formats import columns, conllu
from tagweave.corpus.formats.conllu import UPOS, XPOS
from tagweave.corpus.load import parse_argument
from tagweave.errors import PlanError
from tagweave.exchange.load import load
from tagweave.training.methods import METHODS, SINGLE, read_plan, with_typed_options
from tagweave.training.plan import CorpusReference, TrainingPlan, with_files


def plan_of(about: dict[str, Any]) -> TrainingPlan:
    """Return the plan that a model was trained by, from its `about`."""
    if "plan" not in about:
        raise PlanError("found a model that does not tell its plan, expected one of `tagweave train`")
    return read_plan(about["plan"])


def plan_in(path: str) -> TrainingPlan:
    """Return the plan in a JSON file."""
    try:
        return read_plan(json.loads(Path(path).read_text(encoding="utf-8")))
    except ValueError as error:
        raise PlanError(f"{path}: {error}") from error


def like(
    path: str,
    target: Sequence[CorpusReference],
    sources: Sequence[CorpusReference],
    dev: CorpusReference | None,
    tell: Callable[[str], None] = lambda line: None,
) -> TrainingPlan:
    """Return the plan of the model in a file on other corpora. What features look up is found by name and digest: here,
    beside the model, or beside the corpora. Where methods raced, they race again.

    If the model had sources and `sources` is empty, each corpus in `target` gets the role of the file of its name, or
    else of its number; `tell` receives who became a source. Raises PlanError if neither fits.
    """
    from tagweave.models.storage import describe_model

    about = describe_model(path)["about"]
    plan = plan_of(about)
    if plan.sources and target and not sources:
        target, sources = _in_roles(target, plan, tell)
    plan = _on_corpora(plan, target, sources, dev)
    if about.get("race"):
        plan = replace(plan, method=None, options=None)
    return with_typed_options(with_files(plan, [Path(path).parent, *(Path(each.path).parent for each in plan.corpora)]))


def again(
    about: dict[str, Any],
    guideline: str,
    corpora: Sequence[str],
    annotated: CorpusReference,
    tell: Callable[[str], None],
) -> TrainingPlan:
    """Return the plan of a model on other corpora and on a partial one, the last among the corpora of its guideline.

    It keeps the number of iterations of the model, because no development data select one unless the method needs
    them. Each corpus takes the weight and sample of the one it replaces, and its covered labels unless it is partial.
    `tell` receives which options of a model of one guideline are left out, if there are others now.
    """
    plan = plan_of(about)
    own, others = _by_guideline(corpora, guideline, about.get("layers", {}).get(guideline, ()))
    method = METHODS[plan.method or SINGLE]
    if method.several and not others:
        problem = f"found a model of the method {method.name}, and `train` of {guideline} alone"
        raise PlanError(f"{problem}, expected a corpus of another guideline, too: G=FILE")
    plan = _on_corpora(plan, [*own, annotated], others, plan.dev if method.needs_dev else None)
    plan = replace(plan, target=(*plan.target[:-1], replace(plan.target[-1], covers=annotated.covers)))
    if method.several is None:
        plan = replace(plan, method=None, options=None)
    elif method.several is False and others:  # leave the method open: the default for several guidelines
        for name, value in plan.options.chosen().items() if plan.options else ():
            other = others[0].guideline or others[0].argument
            tell(f"`{name}={value}` is left out: it is for a model of one guideline, and {other} is another one")
        plan = replace(plan, method=None, options=None)
    plan = replace(plan, iterations=about.get("iterations") or plan.iterations, threads=1)
    return with_typed_options(with_files(plan, [Path(each.path).parent for each in plan.corpora if each.path]))


def _in_roles(
    corpora: Sequence[CorpusReference], plan: TrainingPlan, tell: Callable[[str], None]
) -> tuple[list[CorpusReference], list[CorpusReference]]:
    """Split corpora into targets and sources: by the names of a plan's files, or else by their order."""
    roles = [*plan.target, *plan.sources]
    names = [Path(each.path).name for each in roles]
    numbers = [names.index(name) for each in corpora if names.count(name := Path(each.path).name) == 1]
    if len(numbers) < len(corpora) or len(set(numbers)) < len(numbers):
        numbers = list(range(len(corpora)))
    own = len(plan.target)
    if len(corpora) not in (own, len(roles)) and max(numbers) >= own:
        known = f"{', '.join(names[:own])} with the sources {', '.join(names[own:])}"
        raise PlanError(f"found {len(corpora)} corpora for a plan of {known}, expected as many, or `sources` named")
    target = [each for each, number in zip(corpora, numbers, strict=True) if number < own]
    sources = [each for each, number in zip(corpora, numbers, strict=True) if number >= own]
    if not target:
        raise PlanError(f"found only files that were sources, {', '.join(names[own:])}, expected TRAIN, too")
    if sources:
        tell(f"as in the plan of the model, {' and '.join(each.path for each in sources)} becomes a source (`sources`)")
    else:
        tell(f"the model had sources, {', '.join(names[own:])}; this one is trained without (`sources` names some)")
    return target, sources


def _on_corpora(
    plan: TrainingPlan,
    target: Sequence[CorpusReference],
    sources: Sequence[CorpusReference],
    dev: CorpusReference | None,
) -> TrainingPlan:
    """Return a plan on other corpora, each with the weight, sample and covered labels of the one it replaces."""

    def as_before(new: Sequence[CorpusReference], old: Sequence[CorpusReference]) -> tuple[CorpusReference, ...]:
        pairs = zip(new, old, strict=False)
        counted = [replace(to, weight=of.weight, sample=of.sample, covers=to.covers or of.covers) for to, of in pairs]
        return (*counted, *new[len(counted) :])

    return replace(plan, target=as_before(target, plan.target), sources=as_before(sources, plan.sources), dev=dev)


def exported(guideline: str, form: str, path: str) -> CorpusReference:
    """A reference to exported annotation. In CoNLL-U, labels are in XPOS, or in UPOS if that is the guideline."""
    layers = {conllu.FORMAT.name: UPOS if guideline == UPOS else XPOS, columns.FORMAT.name: guideline}
    return CorpusReference(path, layer=layers.get(form), guideline=guideline, format=form)


def _by_guideline(
    corpora: Sequence[str], guideline: str, trained: Sequence[str]
) -> tuple[list[CorpusReference], list[CorpusReference]]:
    """Return the corpora of a guideline, under its name, and the others."""
    own, others = [], []
    for argument in corpora:
        corpus, reference = load(argument, None, guideline, trained), CorpusReference.of(argument)
        if corpus.guideline != guideline:
            others.append(reference)
            continue
        if parse_argument(argument).layer is None and corpus.layer in (XPOS, *trained):
            reference = replace(reference, layer=corpus.layer)  # perhaps not the usual one of its format
        known = reference.guideline or (None if reference.layer == guideline else guideline)
        own.append(replace(reference, guideline=known))
    return own, others


ANNOTATED, MODEL = "{annotated}", "{model}"
"""Placeholders in a command for the files of the partial corpus and of the new model."""


def command(plan: TrainingPlan, file: Path) -> tuple[str, ...]:
    """Write a plan to a file, and return the command that trains by it."""
    plan.save(file)
    return sys.executable, "-m", "tagweave.training", str(file), MODEL, ANNOTATED


_LOCK = "training.lock"
_PAUSE = 0.1  # seconds


def run(command: Sequence[str], annotated: Path, model: Path, is_wanted: Callable[[], bool]) -> None:
    """Run a command; the model file appears under its name once it is complete."""
    with model.with_suffix(".log").open("wb") as log, alone(model.parent) as lock, whole_file(model) as part:
        part.unlink()  # a command that writes no model has failed
        words = [word.replace(ANNOTATED, str(annotated)).replace(MODEL, str(part)) for word in command]
        with _running(words, log, lock) as process:
            while process.poll() is None:
                if not is_wanted():
                    sys.exit(0)
                time.sleep(_PAUSE)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, words)


def take(path: Path) -> IO[str] | None:
    """Lock a file until it is closed and all processes that inherited it have ended; `None` if others hold the lock."""
    try:
        import fcntl
    except ImportError as error:
        raise OSError(
            "found no fcntl, expected a system with its locks: training beside the server needs them"
        ) from error
    file = path.open("a+", encoding="ascii")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


@contextmanager
def alone(folder: Path) -> Iterator[IO[str]]:
    """Hold the lock of a folder, after killing a command that was left behind there."""
    path = folder / _LOCK
    while (lock := take(path)) is None:
        if (number := path.read_text("ascii")).isdigit():  # otherwise the command is just being started
            with suppress(ProcessLookupError):
                os.kill(int(number), signal.SIGKILL)
        time.sleep(_PAUSE)
    with lock:
        lock.truncate(0)
        remove_left(folder)
        yield lock


@contextmanager
def _running(words: list[str], log: IO[bytes], lock: IO[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A command that does not outlive the block, and does not receive Ctrl-C."""
    process = None
    try:
        with _without_termination():
            process = subprocess.Popen(  # noqa: S603  # no shell
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock.fileno()],
                start_new_session=True,
            )
        lock.write(str(process.pid))
        lock.flush()
        yield process
    finally:
        if process is not None:
            process.kill()
            process.wait()


@contextmanager
def _without_termination() -> Iterator[None]:
    """Hold back SIGTERM until the end of the block: a handler that raised amid a start would leave the process behind.

    Handlers run in the main thread, so there is nothing to do in others.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
    if came:
        signal.raise_signal(signal.SIGTERM)
