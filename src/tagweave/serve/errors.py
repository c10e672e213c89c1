"""What clients and those who start a server can get wrong."""

from tagweave.corpus.errors import InputError


class ServeError(InputError):
    """Models that cannot be served together, or an option that does not fit."""


class RefusedError(InputError):
    """A request that cannot be answered.

    Args:
        reason: what was found, and what was expected.
        status: of HTTP.
    """

    def __init__(self, reason: str, status: int = 422) -> None:
        super().__init__(reason)
        self.status = status
