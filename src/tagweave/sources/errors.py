"""What users can mend in answers of sources and in how they are combined."""

from __future__ import annotations

from tagweave.corpus.errors import InputError


class SourceError(InputError):
    """Sources that cannot be combined as they are, or not in the way that was asked for."""
