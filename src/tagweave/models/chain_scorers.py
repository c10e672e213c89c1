"""The scorers of chains, by their names in model files."""

from __future__ import annotations

from tagweave.models.chain_scorer import ScorerParameters
from tagweave.models.parameters import ChainParameters

SCORERS: dict[str, type[ScorerParameters]] = {ChainParameters.kind: ChainParameters}
