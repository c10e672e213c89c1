"""Corpora by name: what is known of public ones, and their files, fetched once and kept."""
