"""Conversion of corpora to another guideline, and what a person should look at afterwards."""
