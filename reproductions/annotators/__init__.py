"""Simulated annotators: how many tasks are agreed on, and how much of that is right."""
