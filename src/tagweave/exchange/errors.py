"""What a user can get wrong about tools and tokens."""


class ExchangeError(ValueError):
    """An unknown tool, or an unknown way to cut text into tokens."""
