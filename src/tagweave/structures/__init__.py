"""Structures: scores and evidence in; loss and gradient, best, k-best and marginals out. They know no features."""
