"""Active learning: what an annotator should be asked next, and what the answers bring."""
