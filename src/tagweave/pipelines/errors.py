"""Errors of pipelines."""

from __future__ import annotations

from tagweave.corpus.errors import InputError


class PipelineError(InputError):
    """A model or an option that does not fit a pipeline."""
