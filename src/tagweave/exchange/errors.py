"""What a user can get wrong about tools and tokens."""

from tagweave.corpus.errors import InputError


class ExchangeError(InputError):
    """An unknown tool, or an unknown way to cut text into tokens."""
