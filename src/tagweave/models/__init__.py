"""Models: scores, objectives, marginals and decoding for each structure, and storage."""
