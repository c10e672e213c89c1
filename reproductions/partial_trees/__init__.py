"""Parsers from trees of which some heads are known."""
