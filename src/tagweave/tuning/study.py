"""Studies: which trials there are, what came of them, and what to try next.

Optuna searches and keeps the study in memory, in SQLite or in PostgreSQL. A study is named by a digest of its plan, its
corpora and its search space, so the same search continues its study, and another one begins a study of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tagweave.errors import TagweaveError
from tagweave.tuning.space import Range, Space
from tagweave.tuning.training import Curve, PlanResult

if TYPE_CHECKING:
    import optuna

TrialOutcome = Literal["complete", "pruned", "failed"]
_DEFAULT, _SECONDS, _PROBLEM = "default", "seconds", "problem"
_DRAWS = 50  # of values for a trial, until some are new


class StudyError(TagweaveError):
    """A study that cannot be opened."""


@dataclass(frozen=True)
class Trial:
    """A finished trial."""

    number: int  # from 0; the plan itself is 0
    values: Mapping[str, Any]  # the values by name; trial 0 has the plan's own
    state: TrialOutcome
    score: float | None  # its best development score; of a pruned one the best so far, of a failed one `None`
    curve: Curve
    seconds: float
    problem: str = ""

    @property
    def is_default(self) -> bool:
        return self.number == 0


class Study:
    """A study of a search space.

    Only one process searches in a study at a time; its workers do not open it.
    """

    def __init__(self, study: optuna.Study, space: Space) -> None:
        self._study, self._space = study, space
        self._running: dict[int, optuna.trial.Trial] = {}
        self._continue()
        if not study.get_trials(deepcopy=False):
            study.enqueue_trial(self._own_values(), user_attrs={_DEFAULT: True})

    def _continue(self) -> None:
        """Put the trials that a killed search has left back into the queue."""
        from optuna.trial import TrialState

        for trial in self._study.get_trials(states=(TrialState.RUNNING,)):
            self._study.enqueue_trial(trial.params, user_attrs=trial.user_attrs)
            self._study.tell(trial.number, state=TrialState.FAIL)

    def _own_values(self) -> dict[str, Any]:
        """Return the plan's own values as Optuna's parameters, as far as they are in the space."""
        ranges, value = self._space.ranges, self._space.own_value
        names = [name for name, each in ranges.items() if self._space.applies(name, {}) and value(name) in each]
        return {name: ranges[name].parameter(value(name)) for name in names}

    def trials(self) -> list[Trial]:
        return [found for at, each in enumerate(self._begun()) if (found := self._trial(at, each)) is not None]

    @property
    def begun(self) -> int:
        """How many trials have begun, finished ones included."""
        return len(self._begun())

    def ask(self, seed: int) -> tuple[int, dict[str, Any]] | None:
        """Begin a trial: its number for `tell`, and its values by name; none for the plan itself.

        The same seed gives the same values after the same outcomes, whether or not the search was interrupted. Values
        of an earlier trial are drawn again; `None` if no others come up.
        """
        from optuna.samplers import TPESampler
        from optuna.trial import TrialState

        mixed = np.random.SeedSequence([seed, self.begun]).generate_state(1)
        self._study.sampler = TPESampler(seed=int(mixed[0]))
        tried = [each.params for each in self._begun()]
        for _ in range(_DRAWS):
            trial = self._study.ask()
            values = self._values(trial)
            if trial.params not in tried:
                self._running[trial.number] = trial
                return trial.number, values
            self._study.tell(trial, state=TrialState.FAIL)
        return None

    def _values(self, trial: optuna.trial.Trial) -> dict[str, Any]:
        if trial.user_attrs.get(_DEFAULT):
            for name in self._own_values():
                _suggest(trial, name, self._space.ranges[name])
            return {}
        values: dict[str, Any] = {}
        for name, each in self._space.ranges.items():
            if self._space.applies(name, values):
                values[name] = _suggest(trial, name, each)
        return values

    def tell(self, number: int, result: PlanResult) -> Trial:
        from optuna.trial import TrialState

        trial = self._running.pop(number)
        for step, score in result.curve.items():
            trial.report(score, step)
        trial.set_user_attr(_SECONDS, result.seconds)
        if result.cancelled:
            self._study.tell(number, state=TrialState.PRUNED)
        else:
            self._study.tell(number, result.score)
        return self._finished(number)

    def tell_failure(self, number: int, problem: str) -> Trial:
        from optuna.trial import TrialState

        self._running.pop(number).set_user_attr(_PROBLEM, problem)
        self._study.tell(number, state=TrialState.FAIL)
        return self._finished(number)

    def _finished(self, number: int) -> Trial:
        at, trial = next((at, each) for at, each in enumerate(self._begun()) if each.number == number)
        found = self._trial(at, trial)
        assert found is not None  # noqa: S101 - it has just been told
        return found

    def is_default(self, number: int) -> bool:
        """Return whether a running trial is the plan itself."""
        return bool(self._running[number].user_attrs.get(_DEFAULT))

    def curves(self) -> list[Curve]:
        """Return the curves of the trials that came to their end."""
        return [each.curve for each in self.trials() if each.state == "complete"]

    def note(self, key: str, score: float) -> None:
        self._study.set_user_attr(key, score)

    def noted(self, key: str) -> float | None:
        return self._study.user_attrs.get(key)

    def _begun(self) -> list[optuna.trial.FrozenTrial]:
        """Return the trials that began, the plan itself first, without those that a killed search has left."""
        from optuna.trial import TrialState

        trials = self._study.get_trials(deepcopy=False)
        left = [each.state == TrialState.FAIL and _PROBLEM not in each.user_attrs for each in trials]
        begun = [
            trial
            for trial, is_left in zip(trials, left, strict=True)
            if trial.state != TrialState.WAITING and not is_left
        ]
        return sorted(begun, key=lambda trial: (_DEFAULT not in trial.user_attrs, trial.number))

    def _trial(self, at: int, trial: optuna.trial.FrozenTrial) -> Trial | None:
        states: dict[str, TrialOutcome] = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}
        if (state := states.get(trial.state.name)) is None:
            return None
        values = {name: self._space.ranges[name].value(each) for name, each in trial.params.items()}
        if trial.user_attrs.get(_DEFAULT):
            values = {name: self._space.own_value(name) for name in self._space.ranges}
        curve = dict(sorted(trial.intermediate_values.items()))
        score = trial.value if state == "complete" else max(curve.values(), default=None)
        about = trial.user_attrs
        return Trial(at, values, state, score, curve, about.get(_SECONDS, 0.0), about.get(_PROBLEM, ""))


@contextmanager
def opened(space: Space, storage: str | None) -> Iterator[Study]:
    """The study of a search space. `storage`: a file for SQLite, a URL of PostgreSQL, or `None` for the memory of this
    process."""
    try:
        import optuna
    except ImportError as error:
        raise StudyError(
            "found no Optuna, expected it for tuning (pip install '.[tune]' in a checkout of tagweave)"
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if storage is None:
        yield Study(optuna.create_study(direction="maximize"), space)
        return
    with _database(storage) as database:
        text = json.dumps([space.plan.to_json(), space.to_json()], sort_keys=True)
        name = f"tagweave-{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        study = optuna.create_study(storage=database, study_name=name, direction="maximize", load_if_exists=True)
        yield Study(study, space)


@contextmanager
def _database(storage: str) -> Iterator[optuna.storages.RDBStorage]:
    from optuna.exceptions import StorageInternalError
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import SQLAlchemyError

    scheme, separator, rest = storage.partition("://")
    url = f"sqlite:///{storage}" if not separator else storage
    if scheme == "postgresql":
        url = f"postgresql+psycopg://{rest}"
    try:
        database = RDBStorage(url)
    except (SQLAlchemyError, StorageInternalError, ImportError, RuntimeError, ValueError) as error:
        reason = str(getattr(error, "orig", None) or error.__cause__ or error).strip().split("\n")[0]
        shown = storage if not separator else f"{scheme}://..."  # a URL may have a password
        expected = "a file, or postgresql://... of a database that can be reached"
        raise StudyError(f"found a study {shown} that cannot be opened ({reason}), expected {expected}") from error
    try:
        yield database
    finally:
        database.remove_session()
        database.engine.dispose()


def _suggest(trial: optuna.trial.Trial, name: str, of: Range) -> Any:
    if of.kind == "choice":
        return of.value(trial.suggest_categorical(name, of.labels))
    low, high = of.values
    if of.kind.startswith("int"):
        return trial.suggest_int(name, low, high, log=of.kind == "int-log")
    return of.value(trial.suggest_float(name, low, high, log=of.kind == "log"))


def best_of(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials that came to their end, the best first; of equal ones the earlier."""
    done = [each for each in trials if each.state == "complete" and each.score is not None]
    return sorted(done, key=lambda each: (-(each.score or 0.0), each.number))
