"""Models: scores, losses, marginals and decoding for each structure, predictors, and files.

Scorers and objectives of chains and trees, the predictors that apply models to sentences, models whose features come
from other models (`guide`), faster ways to the same answers (`word_rows`, `pair_tables`), and files
(`storage`, `packing`, `schema`, `assembly`).
"""
