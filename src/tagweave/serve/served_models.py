"""The models of a server: the operations of each, and its newest version, a file `NAME-3.model` of a folder."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tagweave.errors import RequestError, ServeError
from tagweave.exchange.tokens import Offsets, tokenizer
from tagweave.front.label_model import CutLines, by_line
from tagweave.front.loading import load_model
from tagweave.labels.transition_scheme import split_label
from tagweave.serve.operations import Parsing, Segmenting, Tagging
from tagweave.serve.requests import Item, ModelDescription, TextResult
from tagweave.serve.serving import ServerSettings

if TYPE_CHECKING:
    from tagweave.front.model import Model
    from tagweave.models.chain_predictor import ChainPredictor


def newest(folder: str | Path | None, name: str) -> str | None:
    """Return the file of the newest version; `None` if there is none."""
    found = _versions(folder, name)
    return found[max(found)] if found else None


def next_version(folder: Path, name: str) -> str:
    """Return the name of the file of the next version."""
    return f"{name}-{max(_versions(folder, name), default=0) + 1}.model"


def _versions(folder: str | Path | None, name: str) -> dict[int, str]:
    if folder is None or not Path(folder).is_dir():
        return {}
    pattern = re.compile(re.escape(name) + r"-([0-9]{1,9})\.model")
    return {int(match[1]): str(each) for each in Path(folder).iterdir() if (match := pattern.fullmatch(each.name))}


OPERATIONS = ("tag", "segment", "parse")
_PAUSE = 1.0  # seconds between two looks for new versions
_WARM = "1"  # a text with which every kernel is compiled, or read


class Operation(Protocol):
    """An operation of a model on texts."""

    name: str

    def results(self, items: Sequence[Item], probabilities: bool | str = False) -> list[TextResult]:
        """Return the results of items, in their order; raise RequestError, and other errors that clients can mend."""
        ...


class ServedModel:
    """A model under a name, from the file `path` of its version, and its operations by name."""

    def __init__(self, name: str, path: str) -> None:
        self.name, self.path = name, path
        self.model: Model = load_model(path, shared=True)
        self.operations: dict[str, Operation] = {}

    @property
    def version(self) -> str:
        """The name of the file."""
        return Path(self.path).stem

    def description(self, tokens: str) -> ModelDescription:
        """Return the description of the model for clients."""
        labels = [*self.model.under().labels] if "tag" in self.operations else None
        if labels and "segment" in self.operations:
            labels = sorted({split_label(each)[1] for each in labels})
        cut = None if self.operations.keys() <= {"tag", "segment"} and "segment" in self.operations else tokens
        return ModelDescription(self.name, self.version, [*self.operations], [*self.model.guidelines], labels, cut)


class ServedModels:
    """The models of a server."""

    def __init__(self, settings: ServerSettings) -> None:
        names = [name for name, _ in settings.models]
        if not names or len({*names}) < len(names):
            raise ServeError(f"found the models {', '.join(names) or 'none'}, expected one or more of different names")
        self._settings, self._looked = settings, time.monotonic()
        folder = settings.retraining.folder if settings.retraining else None
        self.all = [ServedModel(name, newest(folder, name) or path) for name, path in settings.models]
        self.cut, self.tokens = self._cut()
        for each in self.all:
            each.operations = self._operations(each)
        for each in self.all:
            for operation in each.operations.values():
                operation.results([_WARM])

    def that_can(self, operation: str, name: str | None = None) -> ServedModel:
        """Return the model of a name, or the first one, that has an operation. Raises RequestError if there is none."""
        for each in self.all:
            if name in (None, each.name) and operation in each.operations:
                return each
        there = "; ".join(f"{each.name}: {', '.join(each.operations)}" for each in self.all)
        if name is not None and name not in [each.name for each in self.all]:
            raise RequestError(f"found the model {name!r}, expected one that is served ({there})", 404)
        raise RequestError(f"found no model that can {operation}{f' in {name!r}' if name else ''}, only {there}")

    def descriptions(self) -> list[ModelDescription]:
        """Return the descriptions of all models."""
        return [each.description(self.tokens) for each in self.all]

    def cut_line(self, line: str) -> list[Offsets]:
        """Return the tokens of a line, as the models of words see them."""
        return self.cut([line])[0]

    def taggers(self) -> Iterator[tuple[str, ChainPredictor]]:
        """Return the taggers of words, by their names."""
        from tagweave.front.taggers import Tagger

        return ((each.name, each.model.under()) for each in self.all if isinstance(each.model, Tagger))

    def refresh(self) -> None:
        """Read the new versions of models, if there are any. No request may be computed meanwhile."""
        retraining = self._settings.retraining
        if retraining is None or time.monotonic() - self._looked < _PAUSE:
            return
        self._looked = time.monotonic()
        for at, each in enumerate(self.all):
            path = newest(retraining.folder, each.name)
            if path is not None and path != each.path:
                new = ServedModel(each.name, path)
                new.operations = self._operations(new)
                self.all[at] = new

    def _operations(self, served: ServedModel) -> dict[str, Operation]:
        from tagweave.front.parser import Parser
        from tagweave.front.taggers import Segmenter

        model: Any = served.model
        found: list[Operation]
        if isinstance(model, Parser):
            found = [
                Parsing(model, self.cut, lambda: (tagger for _, tagger in self.taggers()), self._settings.limits.tokens)
            ]
        elif isinstance(model, Segmenter):
            found = [Segmenting(model)]
            if model.chain.task == "segtag":
                found.append(Segmenting(model, tags=True))
        else:
            found = [Tagging(model, self.cut)]
        return {each.name: each for each in found}

    def _cut(self) -> tuple[CutLines, str]:
        """Return how texts become tokens, and the name of that."""
        from tagweave.front.taggers import Segmenter

        if self._settings.tokens is not None:
            return by_line(tokenizer(self._settings.tokens)), self._settings.tokens
        for each in self.all:
            if isinstance(each.model, Segmenter):
                return Segmenting(each.model).cut, each.name
        return by_line(tokenizer("words")), "words"
