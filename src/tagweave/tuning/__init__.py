"""Tuning: which values of a plan make the best model, by trials that are trainings of the plan.

`space` says what may vary, and `search` lets Optuna propose values, stop trials early and keep them.
"""
