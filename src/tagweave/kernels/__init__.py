"""Numba functions over arrays, nothing else."""
