"""The aggregation methods, one file each. To add one, write a file and add a line to the list below."""

from __future__ import annotations

from tagweave.sources import bayesian_sequence, dawid_skene, hidden_markov, mace, majority
from tagweave.sources.method import Aggregation

_ALL = (majority.METHOD, dawid_skene.METHOD, mace.METHOD, hidden_markov.METHOD, bayesian_sequence.METHOD)

AGGREGATIONS: dict[str, Aggregation] = {method.name: method for method in _ALL}
"""Methods by name, from those that assume least to those that assume most."""
