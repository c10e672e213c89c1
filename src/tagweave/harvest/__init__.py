"""Partial annotation for free: lexicon matching, markup harvesting, selection of relevant text."""
