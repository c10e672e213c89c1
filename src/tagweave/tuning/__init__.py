"""Tuning: which values of a plan make the best model, found by trials that are trainings of the plan.

`space` says what may vary, `study` keeps the trials and asks Optuna for the next one, `search` runs them on an
executor, and `table` shows the result.
"""
