"""A linear-chain CRF with the interface of `sklearn_crfsuite.CRF` that accepts unknown and ambiguous labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np

from tagweave.estimators.answers import (
    SingleSentences,
    best_labels,
    encode,
    evidence,
    k_best_labels,
    marginals,
    sequence_probability,
    state_weights,
    transition_weights,
)
from tagweave.estimators.crfsuite import ModelInfo, TrainingLog
from tagweave.estimators.fitting import Hooks, Sequences, fit_sequences, print_iteration
from tagweave.estimators.parameters import CRFParameters, not_fitted
from tagweave.estimators.sequences import Labels, Predictions, TokenSequence, layers_of, token_sequences, weights_of
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoded import Encoded
from tagweave.learning.run import Iteration
from tagweave.models.chain import ChainModel
from tagweave.models.storage import ModelFileError, load_model, save_model
from tagweave.options import described
from tagweave.training.fit.chain_problem import scorer

_OF_PROCESS = ("model_filename", "trainer_cls")
"""Parameters that are not stored with a model."""

CRFSUITE_NAMES = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    "pa_type": "type",
    "calibration_eta": "calibration.eta",
    "calibration_rate": "calibration.rate",
    "calibration_samples": "calibration.samples",
    "calibration_candidates": "calibration.candidates",
    "calibration_max_trials": "calibration.max_trials",
}
"""What CRFsuite calls the parameters that it calls otherwise."""
_OWN = ("algorithm", "verbose", *_OF_PROCESS, "keep_tempfiles", "coding", "early_stopping", "threads")
"""Parameters that CRFsuite's trainers do not have."""


@described
class ChainCRF(CRFParameters):
    """A linear-chain conditional random field over the user's own features.

    It can replace `sklearn_crfsuite.CRF`: X and the names of the parameters are the same, and so is the objective if
    every position has one label. In `y` a position may also be `None` (unknown) or a set, list or tuple of labels (one
    of them is right); the loss of a sentence is then log Z(all labels) - log Z(allowed labels) (tsuboi-2008, equations
    3 and 4). A sentence without any known position does not change the fit.

    X is a list of sentences, a sentence is a list of tokens, and a token is a list of strings or a dict of features: a
    string value is joined to its name, a number or bool is the feature's value, and dicts and lists may be nested.

    >>> X = [[["the"], ["run"]], [["they"], ["run"]], [["the"], ["run"], ["they"], ["run"]]]
    >>> y = [["DT", "NN"], ["PRP", {"VB", "VBP"}], ["DT", None, None, "VB"]]
    >>> crf = ChainCRF(c2=0.1).fit(X, y)
    >>> crf.predict_single([["the"], ["run"]])
    ['DT', 'NN']
    >>> crf.predict_single([["they"], ["run"]], constraints=["PRP", {"VBP", "VB"}])
    ['PRP', 'VB']

    Before `fit`, attributes are `None`.

    Attributes:
        training_log_: a list of `Iteration` (number, loss, score on development data, seconds), which has the
            attributes of python-crfsuite's log.
    """

    training_log_: TrainingLog | None = None
    _model: ChainModel | None = None
    _prepared: SingleSentences | None = None

    def fit(
        self,
        X: Iterable[TokenSequence],
        y: Iterable[Labels],
        X_dev: Iterable[TokenSequence] | None = None,
        y_dev: Iterable[Labels] | None = None,
        sample_weight: Iterable[float] | None = None,
    ) -> Self:
        """Fit to sentences.

        Args:
            X: sentences.
            y: per sentence, per token a label, a set, list or tuple of labels, or `None`.
            X_dev, y_dev: development data, whose scores are reported in `training_log_`; with `early_stopping` they
                select the iteration that is kept.
            sample_weight: how often each sentence counts; weight 0 leaves a sentence out.

        Raises:
            ValueError: X and y of different lengths, an empty set, no sentence, no label at all, only one of X_dev and
                y_dev, or a parameter that the algorithm does not take.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("found only one of X_dev and y_dev, expected both or neither")
        sentences = token_sequences(X)
        layers = layers_of(y, [len(sentence) for sentence in sentences])
        train, dev = Sequences(sentences, layers, weights_of(sample_weight, len(sentences))), None
        if X_dev is not None and y_dev is not None:
            held_out = token_sequences(X_dev)
            dev_layers = layers_of(y_dev, [len(sentence) for sentence in held_out], "y_dev")
            dev = Sequences(held_out, dev_layers, weights_of(None, len(held_out)))
        hooks = self._hooks() if self.verbose and self.trainer_cls is not None else None
        listener = hooks.iteration if hooks is not None else print_iteration if self.verbose else None
        self._model, self.training_log_ = fit_sequences(train, dev, self.get_params(), listener)
        if hooks is not None:
            hooks.end(self.training_log_)
        if self.model_filename is not None:
            self.save(self.model_filename)
        return self

    def _hooks(self) -> Hooks:
        assert self.trainer_cls is not None  # noqa: S101 - for the type checker
        given = {name: value for name, value in self.get_params().items() if value is not None and name not in _OWN}
        params = {CRFSUITE_NAMES.get(name, name): value for name, value in given.items()}
        return Hooks(self.trainer_cls(algorithm=self.algorithm or "lbfgs", params=params, verbose=True))

    def predict(self, X: Iterable[TokenSequence], constraints: Iterable[Labels] | None = None) -> Predictions:
        """The best labels: an array [sentences, tokens] if all sentences are of one length, else [sentences] of lists.

        Args:
            X: sentences.
            constraints: per sentence, per token the allowed labels, in the form of `y`; the result is the best
                sequence that they allow.

        Raises:
            ValueError: constraints of other lengths than X, or with labels that the model does not know.
        """
        sentences, encoded = self._encoded(X)
        masks = None
        if constraints is not None:
            layers = layers_of(constraints, [len(sentence) for sentence in sentences], "constraints")
            encoded, masks = evidence(self.model_, encoded, layers)
        return Predictions.of(best_labels(self.model_, encoded, masks, self.threads or 1))

    def predict_single(self, xseq: TokenSequence, constraints: Labels | None = None) -> list[str]:
        """The best labels of one sentence. Raises as `predict`."""
        if constraints is None and (fast := self._single().labels(xseq)) is not None:
            return fast
        (labels,) = self.predict([xseq], None if constraints is None else [constraints]).tolist()
        return list(labels)

    def _single(self) -> SingleSentences:
        model = self.model_
        if self._prepared is None or self._prepared.model is not model:
            self._prepared = SingleSentences(model)
        return self._prepared

    def predict_marginals(self, X: Iterable[TokenSequence]) -> Predictions:
        """The probability of every label at every token, as dicts from label to probability; shaped as by `predict`."""
        _, encoded = self._encoded(X)
        return Predictions.of(marginals(self.model_, encoded, self.threads or 1))

    def predict_marginals_single(self, xseq: TokenSequence) -> list[dict[str, float]]:
        """The probability of every label at every token of one sentence."""
        (found,) = self.predict_marginals([xseq]).tolist()
        return list(found)

    def predict_best(self, X: Iterable[TokenSequence], k: int) -> list[list[tuple[list[str], float]]]:
        """The k best label sequences of every sentence, each with its probability, the best first."""
        if k < 1:
            raise ValueError(f"found k={k}, expected at least 1")
        _, encoded = self._encoded(X)
        return k_best_labels(self.model_, encoded, k)

    def score(self, X: Iterable[TokenSequence], y: Iterable[Labels]) -> float:
        """The accuracy on the positions with one label in `y`, or the F of spans. Raises ValueError without any."""
        sentences, encoded = self._encoded(X)
        layers = layers_of(y, [len(sentence) for sentence in sentences])
        return scorer(self.model_, encoded, layers, self.model_.space.views[0].guideline)(self.model_.weights)

    def save(self, path: Path | str) -> None:
        """Write the fitted model for `load` and `tagweave.load_model`; equal models are equal files.

        What belongs to this process is left out: `model_filename`, `trainer_cls`, and the seconds of the log.
        """
        model = self.model_
        parameters = {name: _plain(value) for name, value in self.get_params().items() if name not in _OF_PROCESS}
        log = [{**asdict(iteration), "seconds": 0.0} for iteration in self.training_log_ or ()]
        about = {**model.about, "parameters": parameters, "training_log": log}
        save_model(replace(model, about=about), path)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """The estimator that `save` wrote, or one with CRFsuite's model in a file.

        Raises:
            FileNotFoundError: no such file.
            ModelFileError: a file of another kind, a damaged one, or a model of another kind.
        """
        model = _attribute_model(path)
        try:
            crf = cls(**model.about.get("parameters", {}))
            crf.training_log_ = TrainingLog(Iteration(**iteration) for iteration in model.about.get("training_log", ()))
        except (LookupError, TypeError) as error:
            raise ModelFileError(f"{path}: found a model of other parameters ({error}), expected a ChainCRF") from error
        crf._model = model
        return crf

    @property
    def model_(self) -> ChainModel:
        """The fitted `ChainModel`, with float64 weights. Raises NotFittedError if there is none."""
        if (model := self._fitted()) is None:
            raise not_fitted(self)
        return model

    def _fitted(self) -> ChainModel | None:
        if self._model is None and self.model_filename is not None and Path(self.model_filename).exists():
            self._model = _attribute_model(self.model_filename)
        return self._model

    @property
    def tagger_(self) -> SentenceTagger | None:
        """The model with the methods of `pycrfsuite.Tagger`."""
        return None if self._fitted() is None else SentenceTagger(self)

    @property
    def classes_(self) -> list[str] | None:
        """The labels, sorted if the model was fitted here."""
        model = self._fitted()
        return None if model is None else list(model.space.names)

    @property
    def attributes_(self) -> list[str] | None:
        """The attributes with a nonzero weight, in the order in which they first occurred."""
        states = self.state_features_
        return None if states is None else list(dict.fromkeys(name for name, _ in states))

    @property
    def num_attributes_(self) -> int | None:
        """The number of attributes with a nonzero weight."""
        attributes = self.attributes_
        return None if attributes is None else len(attributes)

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """The nonzero weights by (attribute, label)."""
        model = self._fitted()
        return None if model is None else state_weights(model)

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """The nonzero weights by (label, next label)."""
        model = self._fitted()
        return None if model is None else transition_weights(model)

    @property
    def size_(self) -> int | None:
        """The size in bytes of the file that `save` writes."""
        if self._fitted() is None:
            return None
        with TemporaryDirectory() as folder:
            self.save(path := Path(folder, "model"))
            return path.stat().st_size

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_prepared"}

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted() is not None

    def _encoded(self, X: Iterable[TokenSequence]) -> tuple[list[TokenSequence], Encoded]:
        model, sentences = self.model_, token_sequences(X)
        return sentences, encode(model, sentences)


def _attribute_model(path: Path | str) -> ChainModel:
    model = load_model(path, ChainModel)
    if not isinstance(model.encoder, AttributeEncoder):
        raise ModelFileError(f"{path}: found a model of templates, expected one whose features are attributes")
    return model


def _plain(value: Any) -> Any:
    """Return a parameter as a plain Python value for JSON; a search over NumPy arrays sets NumPy scalars."""
    return value.item() if isinstance(value, np.generic) else value


class SentenceTagger:
    """Answers about one sentence at a time, the one that `set` was given last, by a fitted estimator."""

    def __init__(self, crf: ChainCRF) -> None:
        self._crf = crf
        self._sentence: TokenSequence = []
        self._marginals: list[dict[str, float]] = []

    def labels(self) -> list[str]:
        return list(self._crf.model_.space.names)

    def set(self, xseq: TokenSequence) -> None:
        """Take a sentence, about which the next questions are."""
        self._sentence, self._marginals = list(xseq), self._crf.predict_marginals_single(xseq)

    def tag(self, xseq: TokenSequence | None = None) -> list[str]:
        """The best labels of a sentence, which is then the one that others are asked about."""
        if xseq is not None:
            self.set(xseq)
        return self._crf.predict_single(self._sentence)

    def marginal(self, y: str, pos: int) -> float:
        """The probability of a label at a position. Raises KeyError, IndexError."""
        return self._marginals[pos][y]

    def probability(self, yseq: Sequence[str]) -> float:
        """The probability of a label sequence. Raises ValueError for another length or unknown labels."""
        return sequence_probability(self._crf.model_, self._sentence, yseq)

    def info(self) -> ModelInfo:
        crf = self._crf
        states, transitions, attributes = crf.state_features_ or {}, crf.transition_features_ or {}, crf.attributes_
        labels = self.labels()
        counts = {
            "size": crf.size_,
            "num_labels": len(labels),
            "num_attrs": crf.num_attributes_,
            "num_features": len(states) + len(transitions),
        }
        header = {name: str(value) for name, value in counts.items()}
        return ModelInfo(header, _numbered(labels), _numbered(attributes or []), transitions, states)


def _numbered(names: Sequence[Any]) -> dict[str, str]:
    return {name: str(number) for number, name in enumerate(names)}
