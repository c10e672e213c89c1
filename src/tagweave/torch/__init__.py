"""Losses of chains and trees as PyTorch modules, over the scores of any encoder and under evidence of any kind."""

from tagweave.torch.chain_loss import ChainLoss
from tagweave.torch.evidence import UNKNOWN, at_first_pieces
from tagweave.torch.positions import NO_POSITION

__all__ = ["NO_POSITION", "UNKNOWN", "ChainLoss", "at_first_pieces"]
