"""Encoders leave for ONNX, and the labels of their scores stay the same."""

from __future__ import annotations

from pathlib import Path

import onnxruntime
import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, BertModel

from tagweave.torch import ChainLoss


class Emissions(nn.Module):
    """A small BERT, and the scores of five labels at each piece."""

    def __init__(self) -> None:
        super().__init__()
        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
        self.network = BertModel(BertConfig(vocab_size=30, max_position_embeddings=20, **sizes))
        self.scores = nn.Linear(16, 5)

    def forward(self, pieces: Tensor, mask: Tensor) -> Tensor:
        scores: Tensor = self.scores(self.network(pieces, mask).last_hidden_state)
        return scores


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_labels_of_an_exported_encoder_are_the_same(tmp_path: Path) -> None:
    torch.manual_seed(0)
    encoder, loss = Emissions().eval(), ChainLoss(("B-X", "E-X", "I-X", "O", "S-X"), "BIOES")
    nn.init.normal_(loss.transitions)
    file, mask = str(tmp_path / "encoder.onnx"), torch.arange(9) < torch.tensor([[9], [4], [1]])
    sizes = {0: "rows", 1: "pieces"}
    example = torch.randint(30, (2, 6)), torch.ones(2, 6, dtype=torch.long)
    torch.onnx.export(encoder, example, file, dynamo=True, verbose=False, dynamic_shapes=(sizes, sizes))
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    pieces = torch.randint(30, (3, 9))
    (found,) = session.run(None, {"pieces": pieces.numpy(), "mask": mask.long().numpy()})
    expected = encoder(pieces, mask.long())
    assert torch.allclose(torch.from_numpy(found)[mask], expected[mask], atol=1e-5)
    assert torch.equal(loss.decode(torch.from_numpy(found), mask), loss.decode(expected, mask))
