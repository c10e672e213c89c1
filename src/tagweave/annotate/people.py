"""Annotators and curators as rows. They sign in with a password or a one-time link."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, bindparam, insert, select, update

from tagweave.annotate.schema import annotators, invitations

ROLES = ("annotator", "curator")
LONGEST = 200
"""Characters of a name: PostgreSQL cannot look up thousands."""


@dataclass(frozen=True, slots=True)
class Annotator:
    """A person who may sign in.

    Attributes:
        id: number in the store.
        name: unique.
        role: one of `ROLES`.
        password_hash: as the hashing library wrote it; `None` if they can sign in only by a link.
        created: seconds since 1970, UTC.
        admitted: since when they need no training phase: they passed it, were admitted, or are a curator.
        session_epoch: sessions of an earlier epoch are over.
    """

    id: int
    name: str
    role: str
    password_hash: str | None
    created: float
    admitted: float | None
    session_epoch: int


def add(connection: Connection, name: str, role: str, password_hash: str | None, now: float, admitted: bool) -> int:
    """Add an annotator and return their number.

    Raises:
        ValueError: a name that is empty, too long, in use, or contains control characters, or an unknown role.
    """
    if not name.strip() or not name.isprintable() or len(name) > LONGEST:
        raise ValueError(f"found the name {name[:LONGEST]!r}, expected 1 to {LONGEST} printable characters")
    if role not in ROLES:
        raise ValueError(f"unknown role {role!r}, expected one of {', '.join(ROLES)}")
    if named(connection, name) is not None:
        raise ValueError(f"found the name {name!r} in use, expected a new one")
    row = {"name": name, "role": role, "password_hash": password_hash, "created": now}
    new = insert(annotators).values(**row, admitted=now if admitted else None)
    return int(connection.execute(new.returning(annotators.c.id)).scalar_one())


def named(connection: Connection, name: str) -> Annotator | None:
    """The annotator of a name. No name contains NUL, which PostgreSQL would reject in a query."""
    return None if "\0" in name else _one(connection, _NAMED, name)


def numbered(connection: Connection, number: int) -> Annotator | None:
    """The annotator of a number."""
    return _one(connection, _NUMBERED, number)


def everybody(connection: Connection) -> list[Annotator]:
    """All of them, by name."""
    rows = connection.execute(select(annotators).order_by(annotators.c.name)).mappings()
    return [_annotator(row) for row in rows]


def change_password(connection: Connection, number: int, password_hash: str | None) -> None:
    """Change a password and end all sessions."""
    epoch = annotators.c.session_epoch + 1
    row = {"password_hash": password_hash, "session_epoch": epoch}
    connection.execute(update(annotators).where(annotators.c.id == number).values(**row))


def end_sessions(connection: Connection, number: int) -> None:
    """End all sessions of an annotator."""
    epoch = annotators.c.session_epoch + 1
    connection.execute(update(annotators).where(annotators.c.id == number).values(session_epoch=epoch))


def admit(connection: Connection, number: int, now: float) -> None:
    """End the training phase of an annotator."""
    is_new = (annotators.c.id == number) & annotators.c.admitted.is_(None)
    connection.execute(update(annotators).where(is_new).values(admitted=now))


def invite(connection: Connection, number: int, token: str, expires: float) -> None:
    """Add a one-time link; the store keeps only a digest of its token."""
    row = {"digest": _digest(token), "annotator": number, "expires": expires}
    connection.execute(insert(invitations).values(**row))


def is_invited(connection: Connection, token: str, now: float) -> bool:
    """Whether a token is valid."""
    chosen = select(invitations.c.annotator).where(_is_valid(token, now))
    return connection.execute(chosen).scalar_one_or_none() is not None


def redeem(connection: Connection, token: str, password_hash: str, now: float) -> Annotator | None:
    """Use up a token and set the password of its annotator, who is returned; `None` if the token is not valid."""
    statement = update(invitations).where(_is_valid(token, now)).values(used=now).returning(invitations.c.annotator)
    number = connection.execute(statement).scalar_one_or_none()
    if number is None:
        return None
    change_password(connection, number, password_hash)
    return numbered(connection, number)


def _is_valid(token: str, now: float) -> ColumnElement[bool]:
    return (invitations.c.digest == _digest(token)) & invitations.c.used.is_(None) & (invitations.c.expires > now)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


_NAMED, _NUMBERED = (
    select(annotators).where(column == bindparam("who")) for column in (annotators.c.name, annotators.c.id)
)


def _one(connection: Connection, chosen: Select[Any], who: str | int) -> Annotator | None:
    row = connection.execute(chosen, {"who": who}).mappings().one_or_none()
    return None if row is None else _annotator(row)


def _annotator(row: RowMapping) -> Annotator:
    return Annotator(**row)
