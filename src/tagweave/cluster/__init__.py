"""Executors of tasks on processes and on clusters, and file systems named by URLs. Nothing here knows a model."""
