"""Marginal likelihood and its rivals on incomplete annotation, after tsuboi-2008, section 5."""
