"""Metrics, significance and reports.

`report.evaluate` chooses the metric that fits the corpora: `accuracy` of tokens, `spans`, `words` after `alignment` of
texts, `attachment` of trees. `score` has tests and intervals, `tables` and `plots` show them; `divergence` shows
how far two guidelines diverge, by `divergence_counts`.
"""
