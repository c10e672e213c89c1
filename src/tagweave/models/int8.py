"""Networks with weights in int8 for processors: exported from PyTorch once, run by ONNX Runtime.

    network ── torch.onnx ──> float32 ── onnxruntime.quantization ──> int8 ── file of the user's cache ──> session

A file is named after a digest of the network and its weights. It begins with the SHA-256 of all that follows.
"""

from __future__ import annotations

import json
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from hashlib import sha256
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tagweave.corpus.files import whole_file
from tagweave.errors import PlanError
from tagweave.features.subwords import NetworkError, Subwords
from tagweave.kernels.compiled_code import cache_folder
from tagweave.models.network import NetworkParameters
from tagweave.models.packing import make_room, mark_used, private_folder

if TYPE_CHECKING:
    from torch import nn

    from tagweave.models.chain import ChainModel

States = Callable[[NDArray[np.int64], NDArray[np.bool_]], NDArray[np.float32]]
"""The states [r, l, H] of rows of pieces [r, l] and their mask."""
_NEEDED = ("onnx", "onnxruntime", "onnxscript")
_EDITION = 1  # raised when networks are converted in another way
_DIGEST = 32  # bytes
_ENDING = ".onnx"
_PIECES = 64  # in the longest row that a converted network is tried with
_MOST_CHANGE = 0.5  # of the mean size of states; 0.07 changes one label in 200


def use_int8(model: ChainModel, tell: Callable[[str], None]) -> bool:
    """Let ONNX Runtime compute the states of all networks in a model. Return whether there are any.

    `tell` receives a line if a network is converted.

    Raises:
        PlanError: packages are missing.
        NetworkError: a network that ONNX cannot express, or that int8 changes too much.
    """
    has_network = False
    if isinstance(parameters := model.parameters, NetworkParameters):
        if missing := [name for name in _NEEDED if find_spec(name) is None]:
            expected = "expected the extra onnx: pip install '.[onnx]' in a checkout of tagweave"
            raise PlanError(f"found no {missing[0]}, {expected}")
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # or ONNX Runtime, once imported, would report to Microsoft
        has_network, module = True, parameters.network(model.weights).cpu().eval()
        module.int8 = _kept(module.encoder.float(), parameters.subwords, tell)
    return any([has_network, *(use_int8(part, tell) for part in model.encoder.parts.values())])


def _kept(encoder: nn.Module, subwords: Subwords, tell: Callable[[str], None]) -> States:
    """Return the states of a network by its file in the cache, which is written if it is missing or damaged."""
    file = _folder() / f"{_digest(encoder, subwords)}{_ENDING}"
    with suppress(FileNotFoundError):
        mark_used(file)
        content = file.read_bytes()
        if sha256(content[_DIGEST:]).digest() == content[:_DIGEST]:
            return _session(content[_DIGEST:])
    start = time.perf_counter()
    content = _converted(encoder, subwords)
    make_room(file)
    with whole_file(file) as unfinished:
        unfinished.write_bytes(sha256(content).digest() + content)
    tell(f"network converted to int8 in {time.perf_counter() - start:.0f} s, and kept in {file.parent}")
    return _session(content)


def _folder() -> Path:
    """Return the folder of converted networks: of the user's cache or, if that is read-only, a temporary one."""
    folder = cache_folder() / "networks"
    with suppress(OSError):
        if folder.is_absolute():
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return folder
    return private_folder("networks")


def _digest(encoder: nn.Module, subwords: Subwords) -> str:
    """Return a digest of all that the converted network depends on."""
    import transformers

    made_by = [_EDITION, transformers.__version__, subwords.settings]
    digest = sha256(json.dumps(made_by, sort_keys=True).encode())
    for weight in encoder.parameters():
        digest.update(np.ascontiguousarray(weight.detach().numpy()).data)
    return digest.hexdigest()


def _session(content: bytes) -> States:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # as with PyTorch: threads share batches
    slower = ["SkipLayerNormFusion"]  # than the two operators that it joins: of a network in int8 a fifth of the time
    session = onnxruntime.InferenceSession(
        content, options, providers=["CPUExecutionProvider"], disabled_optimizers=slower
    )

    def states(pieces: NDArray[np.int64], mask: NDArray[np.bool_]) -> NDArray[np.float32]:
        output: NDArray[np.float32] = session.run(None, {"pieces": pieces, "mask": mask.astype(np.int64)})[0]
        return output

    return states


def _converted(encoder: nn.Module, subwords: Subwords) -> bytes:
    """Return the file of a network in int8. Raises NetworkError if its states are not about those of PyTorch."""
    import torch

    longest = min(_PIECES, subwords.longest)
    pieces = np.random.default_rng(0).integers(0, subwords.vocabulary, (3, longest))
    mask = np.arange(longest) < [[longest], [1 + longest // 2], [1]]
    network = _states_alone(encoder)
    try:
        with torch.no_grad(), _quiet():
            content = _quantized(network, torch.from_numpy(pieces[:2, : max(1, longest - 2)]))
            expected = network(torch.from_numpy(pieces), torch.from_numpy(mask.astype(np.int64))).numpy()[mask]
            change = np.abs(_session(content)(pieces, mask)[mask] - expected).mean() / np.abs(expected).mean()
    except OSError:
        raise
    except Exception as error:  # exporters raise whatever they like
        kind = f"a network of the type {subwords.settings['model_type']}"
        raise NetworkError(
            f"found {kind} that cannot be exported to ONNX ({type(error).__name__}), expected it without `int8`"
        ) from error
    if not change < _MOST_CHANGE:
        most = f"at most {_MOST_CHANGE:.0%}"
        raise NetworkError(f"found a network whose states `int8` changes by {change:.0%}, expected {most}")
    return content


def _states_alone(encoder: nn.Module) -> nn.Module:
    from torch import Tensor, nn

    class StatesAlone(nn.Module):
        """A network whose only output are the states of its last layer."""

        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder

        def forward(self, pieces: Tensor, mask: Tensor) -> Any:
            return self.encoder(input_ids=pieces, attention_mask=mask).last_hidden_state

    return StatesAlone()


def _quantized(network: nn.Module, pieces: Any) -> bytes:
    """Return a network in ONNX with products of matrices in int8.

    Weights with more rows than columns stay as they are: they multiply outputs of activation functions, whose range is
    wide. On CoNLL-2003, int8 there too changed 0.7 % of the labels instead of 0.4 % (1.5 % without scales by column),
    in four fifths of the time. Seven bits are as good as eight, and do not overflow where processors add in 16.
    """
    import onnx
    import torch
    from onnxruntime.quantization import QuantType, quant_utils, quantize_dynamic

    with TemporaryDirectory() as folder:
        path, quantized = Path(folder) / "float32.onnx", Path(folder) / "int8.onnx"
        axes = {0: "rows", 1: "pieces"}
        example = pieces, torch.ones_like(pieces)
        torch.onnx.export(network, example, path, dynamo=True, verbose=False, dynamic_shapes=(axes, axes))
        model = onnx.load(path, load_external_data=False)
        tall = {
            weight.name
            for weight in model.graph.initializer
            if len(weight.dims) == 2 and weight.dims[0] > weight.dims[1]
        }
        excluded = [node.name for node in model.graph.node if tall.intersection(node.input)]
        quant_utils.add_pre_process_metadata(model)  # or it would log that a step is missing, which this needs not
        onnx.save(model, path)
        quantize_dynamic(
            path,
            quantized,
            op_types_to_quantize=["MatMul"],
            nodes_to_exclude=excluded,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
        )
        return quantized.read_bytes()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep PyTorch from telling how it exports."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        with warnings.catch_warnings(), redirect_stderr(StringIO()), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
