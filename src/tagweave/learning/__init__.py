"""Trainers that know no structure."""
