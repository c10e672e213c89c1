"""A linear-chain CRF with the interface of `sklearn_crfsuite.CRF` that accepts unknown and ambiguous labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from tagweave.estimators.answers import (
    SingleSentences,
    best_labels,
    encode,
    evidence,
    k_best_labels,
    marginals,
    state_weights,
    transition_weights,
)
from tagweave.estimators.fitting import Sequences, fit_sequences
from tagweave.estimators.parameters import CRFParameters, not_fitted
from tagweave.estimators.sequences import Labels, Predictions, TokenSequence, layers_of, token_sequences, weights_of
from tagweave.features.attributes import AttributeEncoder
from tagweave.features.encoded import Encoded
from tagweave.learning.run import Iteration
from tagweave.models.chain import ChainModel
from tagweave.models.storage import ModelFileError, load_model, save_model
from tagweave.options import described
from tagweave.training.fit.chain_problem import scorer

if TYPE_CHECKING:
    from tagweave.explanation.weights import WeightTables


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
        training_log_: a list of `Iteration` (number, loss, score on development data, seconds).
    """

    training_log_: list[Iteration] | None = None
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
        self._model, self.training_log_ = fit_sequences(train, dev, self.get_params())
        if self.model_filename is not None:
            self.save(self.model_filename)
        return self

    def partial_fit(
        self, X: Iterable[TokenSequence], y: Iterable[Labels], sample_weight: Iterable[float] | None = None
    ) -> Self:
        """Go on from the fitted model with more sentences, by AdaGrad, which stays near weights that were learned.

        The sentences of before are not needed. Attributes and labels may be new. `max_iterations` is how often it goes
        through the sentences: by default eight times without a model, then three times. Raises as `fit`.
        """
        model = self._fitted()
        sentences = token_sequences(X)
        layers = layers_of(y, [len(sentence) for sentence in sentences])
        train = Sequences(sentences, layers, weights_of(sample_weight, len(sentences)))
        self._model, self.training_log_ = fit_sequences(train, None, self.get_params(), model, goes_on=True)
        return self

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
        (distributions,) = self.predict_marginals([xseq]).tolist()
        return list(distributions)

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

        What belongs to this process is left out: `model_filename`, and the seconds of the log.
        """
        model = self.model_
        parameters = {name: _plain(value) for name, value in self.get_params().items() if name != "model_filename"}
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
            crf.training_log_ = [Iteration(**iteration) for iteration in model.about.get("training_log", ())]
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
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """The nonzero weights by (attribute, label)."""
        model = self._fitted()
        return None if model is None else state_weights(model)

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """The nonzero weights by (label, next label)."""
        model = self._fitted()
        return None if model is None else transition_weights(model)

    def explain_weights(self, top: int = 20) -> WeightTables:
        """What was learned, as eli5 shows it for sklearn-crfsuite: `print` it, or show it in a notebook.

        Args:
            top: how many features of each label are shown: those whose weights are furthest from 0.

        Returns:
            the strongest features of every label, and the transitions.

        Raises:
            NotFittedError: before `fit`.
            ValueError: `top` below 1.
        """
        from tagweave.explanation.weights import WeightTables  # tables take a while to import

        if index(top) < 1:
            raise ValueError(f"found top={top}, expected at least 1")
        model = self.model_
        return WeightTables.of(model.space.names, state_weights(model), transition_weights(model), top)

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
