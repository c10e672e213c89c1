"""Many sources of annotation: what becomes of their answers."""
