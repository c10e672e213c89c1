"""Networks of transformers from files of strangers: made from a configuration, with weights from safetensors.

transformers is given a configuration without names of code and weights in memory, never the folder: it would unpickle
weights, follow names of other folders, and fill missing weights with random numbers. How large a network is follows
from its configuration, so it is made without memory first (PyTorch's device `meta`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

from tagweave.errors import PlanError
from tagweave.features.rules import refuse
from tagweave.features.subwords import EXTRA, NetworkError, Subwords, refusing
from tagweave.models.memory import machine_memory

_WEIGHTS, _INDEX = "model.safetensors", "model.safetensors.index.json"
_PICKLES = ("pytorch_model.bin", "pytorch_model.bin.index.json")
_MOST_PARTS = 20_000  # layers, weights and whatever else a network consists of
_MOST_HEADER, _MOST_INDEX, _MOST_SHARDS = 4 << 20, 4 << 20, 200
_MOST_BUFFERS = 1 << 26  # bytes of tables that are no weights
_UNUSED = "pooler"  # reads the first piece of a sentence for classifiers of sentences; tokens do not need it
_LARGEST = 1e18
_COPIES = 8  # bytes for a number: the one that is read, and the one that is trained


class Blueprint(NamedTuple):
    """A network without memory: its class and configuration, and the names and shapes of its weights."""

    kind: Any
    config: Any
    shapes: dict[str, tuple[int, ...]]
    width: int  # H

    @property
    def size(self) -> int:
        return sum(int(np.prod(shape)) for shape in self.shapes.values())


def blueprint(subwords: Subwords, most: int, head: str = "AutoModel") -> Blueprint:
    """Return the network of a configuration, without memory. `head`: the class of transformers that makes it.

    Raises:
        ValueError: it is no network that reads text, has more than `most` weights, or fewer pieces of words than the
            tokenizer makes.
    """
    try:
        import torch
        import transformers
        from transformers.models.auto.modeling_auto import MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES as KNOWN
    except ModuleNotFoundError as error:
        raise PlanError(f"found no {error.name}, {EXTRA}") from None
    settings = subwords.settings
    if (kind := settings["model_type"]) not in KNOWN:
        raise ValueError(f"found a network of the type {kind[:40]!r}, expected one of text that transformers knows")
    subwords.check_tables()
    with refusing("a network whose configuration"), quiet():
        config = transformers.CONFIG_MAPPING[kind].from_dict(settings)
        make: Any = getattr(transformers, head).from_config
        with torch.device("meta"), _counted(most):
            network = make(config)
        shapes = {name: tuple(weight.shape) for name, weight in network.named_parameters()}
        width = int(config.hidden_size)
        rows = network.get_input_embeddings().weight.shape[0]
        tables = sum(table.numel() * table.element_size() for table in network.buffers())
    plan = Blueprint(type(network), config, shapes, width)
    if (needed := sum(int(np.prod(shape)) for name, shape in shapes.items() if not _is_unused(name))) > most:
        raise ValueError(f"found a network of {needed:,} weights, expected at most {most:,}")
    if tables > _MOST_BUFFERS:
        raise ValueError(f"found a network with tables of {tables:,} bytes, expected at most {_MOST_BUFFERS:,}")
    if subwords.vocabulary > rows:
        raise ValueError(
            f"found a tokenizer with {subwords.vocabulary:,} pieces, expected at most {rows:,}, as config.json"
        )
    return plan


def pretrained(subwords: Subwords, head: str = "AutoModel") -> Any:
    """Return the network of a folder with its weights.

    Raises:
        NetworkError: weights that are missing or damaged, that are not those of the configuration, or not finite.
    """
    folder = Path(subwords.folder)
    try:
        files = weight_files(folder)
        plan = blueprint(subwords, stored_weights(subwords.folder), head)
        return _with_weights(plan, files)
    except OSError as error:
        raise NetworkError(f"{folder}: found weights that cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise NetworkError(f"{folder}: {error}") from None


def _with_weights(plan: Blueprint, files: list[Path]) -> Any:
    import torch
    from safetensors import safe_open

    stored = {}
    with refusing("weights"), quiet():
        for path in files:
            with safe_open(path, "pt") as file:
                stored.update({name: file.get_tensor(name) for name in file.keys()})  # noqa: SIM118 - not a dict
        network, outcome = plan.kind.from_pretrained(
            None,
            config=plan.config,
            state_dict=stored,
            dtype=torch.float32,
            ignore_mismatched_sizes=True,  # they are refused below, in our words
            output_loading_info=True,
            local_files_only=True,
            trust_remote_code=False,
        )
    names = dict(network.named_parameters())
    if mismatched := sorted(outcome["mismatched_keys"]):
        name, size, expected = mismatched[0]
        raise ValueError(f"found {name} of the size {list(size)}, expected {list(expected)}, as config.json")
    missing = sorted(name for name in outcome["missing_keys"] if name in names)
    if needed := [name for name in missing if not _is_unused(name)]:
        raise ValueError(
            f"found no {needed[0]} among the weights ({len(needed)} are missing), expected all of config.json"
        )
    if outcome["error_msgs"]:
        raise ValueError(f"found weights that cannot be read: {outcome['error_msgs'][0][:200]}")
    with torch.no_grad():
        for name in missing:
            names[name].zero_()  # it is not used, but it should not be random
        for name, weight in names.items():
            if weight.numel() and not float(weight.abs().max()) <= _LARGEST:  # false for nan, too
                raise ValueError(f"found {name} with infinite weights or none, expected finite numbers")
    return network


def _is_unused(name: str) -> bool:
    return _UNUSED in name.split(".")


def weight_files(folder: Path) -> list[Path]:
    """Return the files with the weights of a folder, all of them inside it. Raises ValueError."""
    if (folder / _WEIGHTS).is_file():
        return [folder / _WEIGHTS]
    if not (index := folder / _INDEX).is_file():
        if pickle := next((name for name in _PICKLES if (folder / name).exists()), None):
            convert = "AutoModel.from_pretrained('FOLDER').save_pretrained('FOLDER')"
            raise ValueError(f"found {pickle}, a pickle, which can run code, expected {_WEIGHTS}: {convert} writes it")
        raise ValueError(f"found no {_WEIGHTS}, expected the weights of the network")
    with index.open("rb") as file:
        data = file.read(_MOST_INDEX + 1)
    try:
        shards = json.loads(data if len(data) <= _MOST_INDEX else b"")["weight_map"]
        names = sorted(set(shards.values()))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError(f"found {_INDEX} without a `weight_map`, expected the files of all weights") from None
    if not 0 < len(names) <= _MOST_SHARDS:
        raise ValueError(f"found {len(names):,} files in {_INDEX}, expected 1 to {_MOST_SHARDS}")
    for name in names:
        if not isinstance(name, str) or Path(name).name != name or not name.endswith(".safetensors"):
            refuse(name, _INDEX, "the name of a file .safetensors in this folder")
        if not (folder / name).is_file():
            raise ValueError(f"found no {name[:80]}, expected it as {_INDEX} says")
    return [folder / name for name in names]


def stored_weights(folder: str) -> int:
    """Return how many numbers the weights of a folder have, by the headers of its files.

    Raises:
        OSError, ValueError: no weights, or more than this machine can train.
    """
    count = sum(map(_numbers_in, weight_files(Path(folder))))
    if (needed := _COPIES * count) > (most := machine_memory()):
        raise ValueError(f"found {count:,} weights, which need {needed:,} bytes, expected at most {most:,}")
    return count


def _numbers_in(path: Path) -> int:
    """Return how many numbers a file of safetensors has, by its header."""
    from safetensors import safe_open

    with path.open("rb") as file:
        header = int.from_bytes(file.read(8), "little")
    if header > _MOST_HEADER:
        raise ValueError(f"found {path.name}, no safetensors file, expected the weights of the network")
    with refusing(path.name), safe_open(path, "numpy") as file:
        return sum(int(np.prod(file.get_slice(name).get_shape(), dtype=object)) for name in file.keys())  # noqa: SIM118


@contextmanager
def _counted(most: int) -> Iterator[None]:
    """Refuse a network with too many parts or weights while it is made."""
    from torch.nn.modules import module

    counts, thread = {"parts": 0, "weights": 0}, get_ident()

    def count(_parent: Any, _name: str, part: Any) -> None:
        if part is None or get_ident() != thread:
            return
        counts["parts"] += 1
        counts["weights"] += part.numel() if hasattr(part, "numel") else 0
        if counts["parts"] > _MOST_PARTS or counts["weights"] > 2 * most:  # some are used twice
            raise NetworkError(
                f"found a network of more than {counts['weights']:,} weights in {counts['parts']:,} parts,"
                f" expected at most {most:,} in {_MOST_PARTS:,}"
            )

    hooks = module.register_module_parameter_registration_hook, module.register_module_module_registration_hook
    handles = [register(count) for register in hooks]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from printing its progress and reports."""
    from transformers.utils import logging as of_transformers

    before, shows_progress = of_transformers.get_verbosity(), of_transformers.is_progress_bar_enabled()
    of_transformers.set_verbosity(logging.CRITICAL)
    of_transformers.disable_progress_bar()
    try:
        yield
    finally:
        of_transformers.set_verbosity(before)
        if shows_progress:
            of_transformers.enable_progress_bar()
