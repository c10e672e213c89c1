"""Structures: from scores and evidence to loss, gradient, best and k-best outputs and marginals; without features."""

CHAIN = "chain"
"""Sequences of labels."""
TREE = "tree"
"""Dependency trees."""
KINDS = (CHAIN, TREE)
"""The structures of models; the module `models.KIND_file` reads the files of each."""
