"""Executors of tasks on processes and on clusters. Nothing here knows a model."""
