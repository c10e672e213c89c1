"""The parameters of `ChainCRF`, with the names and defaults of `sklearn_crfsuite.CRF`.

They have the estimator interface of scikit-learn, which need not be installed.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Literal, Self

from tagweave.errors import TagweaveError
from tagweave.options import choices, declared, option


@dataclass(eq=False, repr=False)
class CRFParameters:
    """The parameters of `ChainCRF`; `None` is the default of the algorithm."""

    algorithm: str | None = option(
        None, "`lbfgs` (also `None`), `l2sgd`, `ap`, `pa` or `arow`, as in CRFsuite, or `adagrad`."
    )
    min_freq: float | None = option(
        None,
        "Pairs of attribute and label, and pairs of labels, that occur less often have no weight. The frequency of an"
        " attribute is the sum of its values. (CRFsuite drops pairs with a negative sum even by default; here the"
        " default drops nothing.)",
        least=0,
    )
    all_possible_states: bool | None = option(
        None,
        "Whether every attribute has a weight for every label, or only for labels that it occurs with. Default of"
        " `partial_fit` with few labels: every one; of `fit`: those that occur.",
    )
    all_possible_transitions: bool | None = option(
        None,
        "Whether every pair of labels has a weight, or only pairs that occur: neighbours whose evidence allows the two"
        " labels, at least one of the two positions known. Default of `partial_fit`: every pair; of `fit`: those that"
        " occur.",
    )
    c1: float | None = option(None, "The L1 penalty is c1 |w|_1. `lbfgs`.", least=0)
    c2: float | None = option(None, "The L2 penalty is c2 |w|^2. `lbfgs`, `l2sgd`, default 1.", least=0)
    max_iterations: int | None = option(
        None, "Default unlimited for `lbfgs`, 1000 for `l2sgd`, 100 for the others.", least=1
    )
    num_memories: int | None = option(None, "How many steps L-BFGS remembers. `lbfgs`, default 6.", least=1)
    epsilon: float | None = option(
        None,
        "Converged when |gradient| < epsilon max(1, |w|). `lbfgs`, default 1e-5. For `pa` and `arow`, converged when"
        " the mean cost of a sentence is below it, for `ap` when the share of sentences with a mistake is; 0.",
        least=0,
    )
    period: int | None = option(
        None,
        "Converged when the loss fell by less than the share `delta` in so many iterations (default 10). `lbfgs`,"
        " `l2sgd`, `adagrad`; `ap` and `arow` stop when no mistake is left.",
        least=1,
    )
    delta: float | None = option(None, "The share of `period`: default 1e-5, `l2sgd` 1e-6.", least=0)
    linesearch: Literal["MoreThuente", "Backtracking", "StrongBacktracking"] | None = option(
        None, "CRFsuite's users set it; `lbfgs` always backtracks, and the optimum is the same."
    )
    max_linesearch: int | None = option(None, "How many steps a line search tries. `lbfgs`, default 20.", least=1)
    calibration_eta: float | None = option(
        None, "The rate in the middle of those tried. `l2sgd`, default 0.1.", least=0
    )
    calibration_rate: float | None = option(
        None, "The factor between one rate and the next. `l2sgd`, default 2.", least=0
    )
    calibration_samples: int | None = option(
        None, "The number of sentences that rates are tried on. `l2sgd`, default 1000.", least=1
    )
    calibration_candidates: int | None = option(None, "Without effect: `l2sgd` tries at most 12 rates.", least=0)
    calibration_max_trials: int | None = option(None, "Without effect, as `calibration_candidates`.", least=0)
    pa_type: Literal[0, 1, 2] | None = option(None, "0 for PA, 1 for PA-I, 2 for PA-II. `pa`, default 1.")
    c: float | None = option(None, "The aggressiveness of PA-I and PA-II. `pa`, default 1.", least=0)
    error_sensitive: bool | None = option(
        None, "Whether the margin of `pa` is the root of the number of wrong positions; else 1. Default true."
    )
    averaging: bool | None = option(None, "Whether the weights are the mean over all steps. `pa`, default true.")
    variance: float | None = option(None, "The variance of every weight at first. `arow`, default 1.", least=0)
    gamma: float | None = option(None, "The larger, the shorter the steps. `arow`, default 1.", least=0)
    verbose: bool = option(False, "Whether to print every iteration.")
    model_filename: Path | str | None = option(
        None,
        "A file to which `fit` writes the model. If it is there, no `fit` is needed: models that `save` or `fit` wrote,"
        " or CRFsuite's.",
    )
    keep_tempfiles: bool = option(False, "Without effect: there are no temporary files.")
    coding: str | None = option(
        None,
        "`IOB1`, `IOB2` or `BIOES` if labels code spans in it: then only legal sequences are learnt and predicted, and"
        " scores are the F of spans. By default any label may follow any other.",
    )
    early_stopping: bool = option(
        False,
        "Whether development data select the iteration that is kept and stop training, after `period` iterations"
        " without a better score; by default they are only reported.",
    )
    threads: int | None = option(None, "How many threads fit and predict; default 1.")

    @classmethod
    def _parameter_names(cls) -> tuple[str, ...]:
        return tuple(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; there are no nested estimators, so `deep` changes nothing."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; fitted attributes do not change. Raises ValueError for an unknown one."""
        names = self._parameter_names()
        for name, value in parameters.items():
            if name not in names:
                raise ValueError(f"invalid parameter {name!r} for {type(self).__name__}, expected {', '.join(names)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._changed().items())})"

    def _changed(self) -> dict[str, Any]:
        signature = inspect.signature(type(self).__init__).parameters
        return {name: value for name, value in self.get_params().items() if value != signature[name].default}

    def __sklearn_tags__(self) -> Any:
        """scikit-learn's tags: takes lists of dicts and no arrays; targets are sequences, so it is no classifier."""
        from sklearn.utils import InputTags, Tags, TargetTags

        target = TargetTags(required=True, single_output=False)
        return Tags(estimator_type=None, target_tags=target, input_tags=InputTags(two_d_array=False, dict=True))


def check(name: str, value: Any) -> None:
    """Raise ValueError unless a parameter is one of its values, or in its range."""
    [parameter] = [candidate for candidate in PARAMETERS if candidate.name == name]
    if (names := choices(parameter.kind)) and value not in names:
        raise ValueError(f"found {name}={value!r}, expected one of {', '.join(map(str, names))}")
    if not names and not isinstance(value, Real):
        raise ValueError(f"found {name}={value!r}, expected a number")
    least = parameter.about["least"]
    if least is not None and not value >= least:
        raise ValueError(f"found {name}={value!r}, expected at least {least}")


PARAMETERS = declared({"": CRFParameters})


class _BeforeFitError(TagweaveError, AttributeError):
    """Replaces scikit-learn's `NotFittedError`, which has the same bases, if scikit-learn is not installed."""


def not_fitted(estimator: CRFParameters) -> ValueError:
    """Return the error for using an estimator before `fit`: scikit-learn's `NotFittedError` if it is installed."""
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        NotFittedError = _BeforeFitError
    error: ValueError = NotFittedError(f"this {type(estimator).__name__} is not fitted yet: call fit first")
    return error
