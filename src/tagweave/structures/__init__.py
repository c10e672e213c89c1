"""Structures: from scores and evidence to loss, gradient, best and k-best outputs and marginals; without features."""

from tagweave.labels import PARSE, SPANS

CHAIN = "chain"
"""Sequences of labels."""
TREE = "tree"
"""Dependency trees."""
STRUCTURES = {"tag": CHAIN, "segment": CHAIN, "segtag": CHAIN, SPANS: CHAIN, PARSE: TREE}
"""The structure of each task. `models/NAME_file.py` reads its models, and `training/NAME_problem.py` prepares them."""
KINDS = tuple(dict.fromkeys(STRUCTURES.values()))
"""All structures, which are the kinds of models."""
