"""Word clusters from raw text as features of small corpora."""
