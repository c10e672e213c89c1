"""The store that commands of `tagweave annotate` work on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tagweave.cli.errors import OptionError

if TYPE_CHECKING:
    from tagweave.annotate.settings import Settings
    from tagweave.annotate.store import Store

StoreUrl = Annotated[
    str,
    typer.Option("--store", metavar="URL", help="sqlite:///FILE or postgresql://..., made where it does not exist."),
]

Guideline = Annotated[
    str | None, typer.Option(metavar="G", help="Of the answers, in a model of several. Default: its first.")
]
Share = Annotated[float, typer.Option(min=0, max=1, help="Ask for so much of the tokens, the least certain.")]
Strategy = Annotated[
    str | None,
    typer.Option(
        metavar="marginal|entropy",
        help="What is uncertain: where the best label has little probability (default for tokens), or where the entropy"
        " of labels is great (default for words of a list).",
    ),
]


def check_strategy(strategy: str | None) -> None:
    """Raises OptionError: an unknown strategy."""
    if strategy not in (None, "marginal", "entropy"):
        raise OptionError(f"unknown --strategy {strategy!r}, expected marginal or entropy")


@contextmanager
def opened(url: str, settings: Settings | None = None) -> Iterator[Store]:
    """The store of a URL, closed at the end of the block.

    Raises:
        OptionError: not a store, one that cannot be reached, or a value that it does not take.
    """
    try:
        from sqlalchemy.exc import SQLAlchemyError

        from tagweave.annotate.store import Store
    except ModuleNotFoundError as error:
        raise OptionError(
            f"found no {error.name}, expected the extra annotate: pip install 'tagweave[annotate]'"
        ) from error

    try:
        store = Store.open(url, settings)
        try:
            yield store
        finally:
            store.close()
    except SQLAlchemyError as error:
        said = str(getattr(error, "orig", None) or error).strip().splitlines()
        raise OptionError(f"--store: {said[0] if said else error!r}") from error
    except ValueError as error:
        if type(error) is not ValueError:  # it says already where it comes from
            raise
        raise OptionError(str(error)) from error
