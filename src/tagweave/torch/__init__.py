"""Losses of chains and trees as PyTorch modules, over the scores of any encoder and under evidence of any kind."""

from tagweave.labels.mapping import TagMapping, bundle
from tagweave.structures.terms import LabelShare
from tagweave.torch.chain_loss import ChainLoss
from tagweave.torch.evidence import UNKNOWN, at_first_pieces
from tagweave.torch.positions import NO_POSITION
from tagweave.torch.tree_loss import TreeLoss

__all__ = [
    "NO_POSITION",
    "UNKNOWN",
    "ChainLoss",
    "LabelShare",
    "TagMapping",
    "TreeLoss",
    "at_first_pieces",
    "bundle",
]
