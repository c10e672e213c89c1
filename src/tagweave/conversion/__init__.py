"""Conversion of corpora to another guideline, and the tokens that a person should check afterwards."""
