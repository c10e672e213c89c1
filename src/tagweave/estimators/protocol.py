"""The estimator interface of scikit-learn, without importing it: parameters, tags, and the error before `fit`."""

from __future__ import annotations

import inspect
from typing import Any, Self


class Estimator:
    """An estimator whose parameters are the arguments of its constructor, each stored under its own name.

    `clone`, `GridSearchCV`, `cross_val_predict` and similar functions need only these methods.
    """

    @classmethod
    def _parameter_names(cls) -> tuple[str, ...]:
        return tuple(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name; there are no nested estimators, so `deep` changes nothing."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters by name; fitted attributes do not change.

        Raises:
            ValueError: there is no such parameter.
        """
        names = self._parameter_names()
        for name, value in parameters.items():
            if name not in names:
                raise ValueError(f"invalid parameter {name!r} for {type(self).__name__}, expected {', '.join(names)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        signature = inspect.signature(type(self).__init__).parameters
        changed = [f"{name}={value!r}" for name, value in self.get_params().items() if value != signature[name].default]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        """scikit-learn's tags: neither a classifier nor a regressor, since targets are sequences."""
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))


class _BeforeFitError(ValueError, AttributeError):
    """Replaces scikit-learn's `NotFittedError`, which has the same bases, if scikit-learn is not installed."""


def not_fitted(estimator: Estimator) -> ValueError:
    """The error for using an estimator before `fit`: scikit-learn's `NotFittedError` if it is installed."""
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        NotFittedError = _BeforeFitError
    error: ValueError = NotFittedError(f"this {type(estimator).__name__} is not fitted yet: call fit first")
    return error
