"""Tuning: which values of a plan make the best model, found by trials that are trainings of the plan."""
