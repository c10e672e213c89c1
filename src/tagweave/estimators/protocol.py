"""The estimator interface of scikit-learn, without importing it, and the picture of an estimator in a notebook."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Self

from tagweave.display.markup import element
from tagweave.errors import TagweaveError

_STYLE = "border:1px solid #8888;border-radius:4px;padding:.4em .8em;display:inline-block"


def picture(name: str, parameters: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    """Show an estimator as HTML: the parameters that differ from the defaults, and facts about its model."""
    tables = []
    for title, rows in (("parameters", parameters), ("model", facts)):
        cells = [element("tr", element("th", key), element("td", str(value))) for key, value in rows.items()]
        if cells:
            tables.append(element("details", element("summary", title), element("table", *cells), open="open"))
    return str(element("div", element("b", name), f" ({'' if facts else 'not '}fitted)", *tables, style=_STYLE))


class Estimator:
    """An estimator whose parameters are the arguments of its constructor, each stored under its own name."""

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

    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Say which arguments of `fit` scikit-learn's tools are to pass on, by name.

        Args:
            requests: for `sample_weight`, `X_dev` and `y_dev`: `True`, `False`, `None` (raise if it is given), or the
                name under which the tool gets it.

        Raises:
            TypeError: `fit` has no such argument.
            RuntimeError: metadata routing is not enabled: `sklearn.set_config(enable_metadata_routing=True)`.
        """
        from sklearn import get_config

        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError("set_fit_request: call sklearn.set_config(enable_metadata_routing=True) first")
        if unknown := requests.keys() - set(self._metadata()):
            raise TypeError(f"unknown argument {min(unknown)!r} of fit, expected {', '.join(self._metadata())}")
        routing = self.get_metadata_routing()
        for name, alias in requests.items():
            routing.fit.add_request(param=name, alias=alias)
        self._metadata_request = routing
        return self

    def get_metadata_routing(self) -> Any:
        """scikit-learn's `MetadataRequest`: which arguments of `fit` are to be passed on."""
        from copy import deepcopy

        from sklearn.utils.metadata_routing import MetadataRequest

        if hasattr(self, "_metadata_request"):
            return deepcopy(self._metadata_request)
        routing = MetadataRequest(owner=self)
        for name in self._metadata():
            routing.fit.add_request(param=name, alias=None)
        return routing

    def _metadata(self) -> tuple[str, ...]:
        fit = inspect.signature(type(self).fit)  # type: ignore[attr-defined]
        return tuple(name for name in fit.parameters if name not in ("self", "X", "y"))

    def __sklearn_tags__(self) -> Any:
        """scikit-learn's tags: takes lists of dicts and no arrays; targets are sequences, so it is no classifier."""
        from sklearn.utils import InputTags, Tags, TargetTags

        target = TargetTags(required=True, single_output=False)
        return Tags(estimator_type=None, target_tags=target, input_tags=InputTags(two_d_array=False, dict=True))


class _BeforeFitError(TagweaveError, AttributeError):
    """Replaces scikit-learn's `NotFittedError`, which has the same bases, if scikit-learn is not installed."""


def not_fitted(estimator: Estimator) -> ValueError:
    """Return the error for using an estimator before `fit`: scikit-learn's `NotFittedError` if it is installed."""
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        NotFittedError = _BeforeFitError
    error: ValueError = NotFittedError(f"this {type(estimator).__name__} is not fitted yet: call fit first")
    return error
