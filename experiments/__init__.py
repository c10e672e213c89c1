"""Experiments: each a command that writes a page of results, and every number on it."""
