"""Estimators in the style of scikit-learn, which need not be installed: `ChainCRF`."""

from tagweave.estimators.chain_crf import ChainCRF

__all__ = ["ChainCRF"]
