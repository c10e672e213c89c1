"""Benchmarks: tagweave beside other programs, in one run."""
