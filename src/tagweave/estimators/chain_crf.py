"""A linear-chain CRF with the interface of `sklearn_crfsuite.CRF` that accepts unknown and ambiguous labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tagweave.estimators.protocol import Estimator, not_fitted
from tagweave.estimators.sequences import Labels, TokenSequence, layers_of, token_sequences, weights_of

if TYPE_CHECKING:  # these modules compile kernels, so the methods that need them import them
    from tagweave.estimators.single import SingleSentences
    from tagweave.features.encoded import Encoded
    from tagweave.learning.callback import Iteration
    from tagweave.models.chain import ChainModel

Objects = NDArray[np.object_]


class ChainCRF(Estimator):
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

    Args:
        algorithm: `lbfgs` (also `None`), `l2sgd` or `ap`, as in CRFsuite, or `adagrad`, `rprop`, `cg`.
        min_freq: pairs of attribute and label, and pairs of labels, that occur less often have no weight. The
            frequency of an attribute is the sum of its values. (CRFsuite drops pairs with a negative sum even by
            default; here the default drops nothing.)
        all_possible_states: whether every attribute has a weight for every label, or only for labels that it occurs
            with.
        all_possible_transitions: whether every pair of labels has a weight, or only pairs that occur: neighbours whose
            evidence allows the two labels, at least one of the two positions known.
        c1: the L1 penalty is c1 |w|_1. `lbfgs`.
        c2: the L2 penalty is c2 |w|^2. `lbfgs`, `l2sgd`, `cg` (default 1 each) and `rprop` (0).
        max_iterations: default unlimited for `lbfgs`, 1000 for `l2sgd`, 100 for the others.
        num_memories: how many steps L-BFGS remembers. `lbfgs`, default 6.
        epsilon: converged when |gradient| < epsilon max(1, |w|). `lbfgs`, default 1e-5.
        period, delta: converged when the loss fell by less than the share `delta` in `period` iterations (default 10;
            1e-5, `l2sgd` 1e-6). `ap` and `cg` ignore them and stop when no mistake, or no slope, is left.
        verbose: whether to print every iteration.
        coding: `IOB1`, `IOB2` or `BIOES` if labels code spans in it: then only legal sequences are learnt and
            predicted, and scores are the F of spans. By default any label may follow any other.

    Attributes:
        model_: the fitted `ChainModel`, with float64 weights.
        training_log_: a list of `Iteration`: number, loss, score on development data, seconds.
    """

    _prepared: SingleSentences | None = None

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        verbose: bool = False,
        coding: str | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.verbose = verbose
        self.coding = coding

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
            X_dev, y_dev: development data. The iteration with the best score on them is kept, and training stops
                after `period` iterations without a better one. (CRFsuite only reports the accuracy.)
            sample_weight: how often each sentence counts; weight 0 leaves a sentence out.

        Raises:
            ValueError: X and y of different lengths, an empty set, no sentence, no label at all, only one of X_dev and
                y_dev, or a parameter that the algorithm does not take.
        """
        from tagweave.estimators.fitting import Sequences, fit_sequences
        from tagweave.learning.run import SILENT, Run

        if (X_dev is None) != (y_dev is None):
            raise ValueError("found only one of X_dev and y_dev, expected both or neither")
        sentences = token_sequences(X)
        layers = layers_of(y, [len(sentence) for sentence in sentences])
        train, dev = Sequences(sentences, layers, weights_of(sample_weight, len(sentences))), None
        if X_dev is not None and y_dev is not None:
            held_out = token_sequences(X_dev)
            dev_layers = layers_of(y_dev, [len(sentence) for sentence in held_out], "y_dev")
            dev = Sequences(held_out, dev_layers, weights_of(None, len(held_out)))
        fitted = fit_sequences(train, dev, self.get_params(), Run(callback=_Printer()) if self.verbose else SILENT)
        self.model_: ChainModel = fitted.model
        self.training_log_: list[Iteration] = fitted.outcome.history
        return self

    def predict(self, X: Iterable[TokenSequence], constraints: Iterable[Labels] | None = None) -> Objects:
        """The best labels: an array with one list of strings per sentence.

        Args:
            X: sentences.
            constraints: per sentence, per token the allowed labels, in the form of `y`; the result is the best
                sequence that they allow.

        Raises:
            ValueError: constraints of other lengths than X, or with labels that the model does not know.
        """
        from tagweave.estimators.answers import best_labels
        from tagweave.estimators.encoding import evidence

        sentences, encoded = self._encoded(X)
        masks = None
        if constraints is not None:
            layers = layers_of(constraints, [len(sentence) for sentence in sentences], "constraints")
            encoded, masks = evidence(self.model_, encoded, layers)
        return _objects(best_labels(self.model_, encoded, masks))

    def predict_single(self, xseq: TokenSequence, constraints: Labels | None = None) -> list[str]:
        """The best labels of one sentence. Raises as `predict`."""
        if constraints is None and (fast := self._single().labels(xseq)) is not None:
            return fast
        labels: list[str] = self.predict([xseq], None if constraints is None else [constraints])[0]
        return labels

    def _single(self) -> SingleSentences:
        from tagweave.estimators.single import SingleSentences

        self._check_fitted()
        if self._prepared is None or self._prepared.model is not self.model_:
            self._prepared = SingleSentences(self.model_)
        return self._prepared

    def predict_marginals(self, X: Iterable[TokenSequence]) -> Objects:
        """The probability of every label at every token: per sentence, a list of dicts from label to probability."""
        from tagweave.estimators.answers import marginals

        _, encoded = self._encoded(X)
        return _objects(marginals(self.model_, encoded))

    def predict_marginals_single(self, xseq: TokenSequence) -> list[dict[str, float]]:
        """The probability of every label at every token of one sentence."""
        marginals: list[dict[str, float]] = self.predict_marginals([xseq])[0]
        return marginals

    def predict_best(self, X: Iterable[TokenSequence], k: int) -> list[list[tuple[list[str], float]]]:
        """The k best label sequences of every sentence, each with its probability, the best first.

        Raises:
            ValueError: k is less than 1.
        """
        from tagweave.estimators.answers import k_best_labels

        if k < 1:
            raise ValueError(f"found k={k}, expected at least 1")
        _, encoded = self._encoded(X)
        return k_best_labels(self.model_, encoded, k)

    def score(self, X: Iterable[TokenSequence], y: Iterable[Labels]) -> float:
        """The accuracy on the positions with one label in `y`, or the F of spans; other positions do not count.

        Raises:
            ValueError: no position has one label.
        """
        from tagweave.training.dev_score import scorer

        sentences, encoded = self._encoded(X)
        layers = layers_of(y, [len(sentence) for sentence in sentences])
        return scorer(self.model_, encoded, layers, self.model_.space.views[0].guideline)(self.model_.weights)

    def save(self, path: Path | str) -> None:
        """Write the fitted model to a file that `load` and `tagweave.models.storage.load_model` can read."""
        from dataclasses import replace

        from tagweave.models.storage import save_model

        self._check_fitted()
        parameters = {name: _plain(value) for name, value in self.get_params().items()}
        log = [asdict(iteration) for iteration in self.training_log_]
        about = {**self.model_.about, "parameters": parameters, "training_log": log}
        save_model(replace(self.model_, about=about), path)

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """The estimator that `save` wrote.

        Raises:
            FileNotFoundError: no such file.
            ModelFileError: a file of another kind, a damaged one, or a model of another kind.
        """
        from tagweave.features.attributes import AttributeEncoder
        from tagweave.learning.callback import Iteration
        from tagweave.models.chain import ChainModel
        from tagweave.models.storage import ModelFileError, load_model

        model = load_model(path, ChainModel)
        if not isinstance(model.encoder, AttributeEncoder) or "parameters" not in model.about:
            raise ModelFileError(f"{path}: found a model of another kind, expected one that ChainCRF.save wrote")
        try:
            crf = cls(**model.about["parameters"])
            crf.training_log_ = [Iteration(**iteration) for iteration in model.about["training_log"]]
        except (LookupError, TypeError) as error:
            raise ModelFileError(f"{path}: found a model of other parameters ({error}), expected a ChainCRF") from error
        crf.model_ = model
        return crf

    @property
    def classes_(self) -> list[str]:
        """The labels, sorted."""
        self._check_fitted()
        return list(self.model_.space.names)

    @property
    def attributes_(self) -> list[str]:
        """The attributes with a nonzero weight, in the order in which they first occurred."""
        return list(dict.fromkeys(name for name, _ in self.state_features_))

    @property
    def num_attributes_(self) -> int:
        """The number of attributes with a nonzero weight."""
        return len(self.attributes_)

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """The nonzero weights by (attribute, label)."""
        from tagweave.estimators.encoding import state_weights

        self._check_fitted()
        return state_weights(self.model_)

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """The nonzero weights by (label, next label)."""
        names = self.classes_
        (weights,) = self.model_.linear.split(self.model_.weights)
        rows, columns = np.nonzero(weights.transition)
        values = weights.transition[rows, columns].tolist()
        return {(names[i], names[j]): value for i, j, value in zip(rows, columns, values, strict=True)}

    @property
    def size_(self) -> int:
        """The size of the model in bytes: its weights, their layout, and the index of attributes."""
        self._check_fitted()
        ((_, layout),) = self.model_.linear.weighted
        arrays = [self.model_.weights, layout.ptr, layout.cell, *self.model_.encoder.arrays().values()]
        return sum(array.nbytes for array in arrays)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether the estimator is fitted, for `sklearn.utils.validation.check_is_fitted`."""
        return hasattr(self, "model_")

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise not_fitted(self)

    def _encoded(self, X: Iterable[TokenSequence]) -> tuple[list[TokenSequence], Encoded]:
        from tagweave.estimators.encoding import encode

        self._check_fitted()
        sentences = token_sequences(X)
        return sentences, encode(self.model_, sentences)


class _Printer:
    """Prints every iteration."""

    def iteration(self, iteration: Iteration, limit: int) -> None:  # a `Callback`; the limit may be unreachable
        score = "" if iteration.score is None else f", development score {iteration.score:.4f}"
        print(f"iteration {iteration.number}: loss {iteration.loss:.6f}{score}, {iteration.seconds:.1f} s")


def _plain(value: Any) -> Any:
    """A parameter as a plain Python value for JSON; a search over NumPy arrays sets NumPy scalars."""
    return value.item() if isinstance(value, np.generic) else value


def _objects(lists: list[Any]) -> Objects:
    """An array with a list per entry, whatever their lengths: scikit-learn concatenates the predictions of folds."""
    array = np.empty(len(lists), object)
    for i, entry in enumerate(lists):
        array[i] = entry
    return array
