"""Errors of pipelines."""

from __future__ import annotations


class PipelineError(ValueError):
    """A model or an option that does not fit a pipeline."""
