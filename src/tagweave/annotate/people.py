"""Annotators and curators as rows: invited by name, with a password's hash or a one-time link."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, RowMapping, Select, bindparam, insert, select, update

from tagweave.annotate.schema import annotators, invitations

ROLES = ("annotator", "curator")


@dataclass(frozen=True, slots=True)
class Annotator:
    """Somebody who may sign in.

    Attributes:
        id: number in the store.
        name: unique.
        role: one of `ROLES`.
        password_hash: as the hashing library wrote it; `None` where only a link leads in.
        created: seconds since 1970, UTC.
        admitted: since when no training phase is for them: they passed one, a curator let them in, or is one.
        session_epoch: sessions of an earlier one are over.
    """

    id: int
    name: str
    role: str
    password_hash: str | None
    created: float
    admitted: float | None
    session_epoch: int


def add(connection: Connection, name: str, role: str, password_hash: str | None, now: float, admitted: bool) -> int:
    """A new annotator's number.

    Raises:
        ValueError: an empty or used name, one with control characters, or an unknown role.
    """
    if not name.strip() or not name.isprintable():
        raise ValueError(f"found the name {name!r}, expected printable characters")
    if role not in ROLES:
        raise ValueError(f"unknown role {role!r}, expected one of {', '.join(ROLES)}")
    if named(connection, name) is not None:
        raise ValueError(f"found the name {name!r} in use, expected a new one")
    row = {"name": name, "role": role, "password_hash": password_hash, "created": now}
    new = insert(annotators).values(**row, admitted=now if admitted else None)
    return int(connection.execute(new.returning(annotators.c.id)).scalar_one())


def named(connection: Connection, name: str) -> Annotator | None:
    """The annotator of a name; nobody has a name with NUL, which PostgreSQL refuses to be asked for."""
    return None if "\0" in name else _one(connection, _NAMED, name)


def numbered(connection: Connection, number: int) -> Annotator | None:
    """The annotator of a number."""
    return _one(connection, _NUMBERED, number)


def everybody(connection: Connection) -> list[Annotator]:
    """All of them, by name."""
    rows = connection.execute(select(annotators).order_by(annotators.c.name)).mappings()
    return [_annotator(row) for row in rows]


def change_password(connection: Connection, number: int, password_hash: str | None) -> None:
    """Another password; every session is over."""
    epoch = annotators.c.session_epoch + 1
    row = {"password_hash": password_hash, "session_epoch": epoch}
    connection.execute(update(annotators).where(annotators.c.id == number).values(**row))


def end_sessions(connection: Connection, number: int) -> None:
    """Every session of somebody is over."""
    epoch = annotators.c.session_epoch + 1
    connection.execute(update(annotators).where(annotators.c.id == number).values(session_epoch=epoch))


def admit(connection: Connection, number: int, now: float) -> None:
    """The training phase of somebody is over."""
    is_new = (annotators.c.id == number) & annotators.c.admitted.is_(None)
    connection.execute(update(annotators).where(is_new).values(admitted=now))


def invite(connection: Connection, number: int, token: str, expires: float) -> None:
    """A one-time link; the store keeps no more than a digest of its token."""
    row = {"digest": _digest(token), "annotator": number, "expires": expires}
    connection.execute(insert(invitations).values(**row))


def is_invited(connection: Connection, token: str, now: float) -> bool:
    """Whether a token would let somebody in."""
    chosen = select(invitations.c.annotator).where(_lets_in(token, now))
    return connection.execute(chosen).scalar_one_or_none() is not None


def redeem(connection: Connection, token: str, password_hash: str, now: float) -> Annotator | None:
    """Whom a token lets in, once, before it expires; from then on they have this password."""
    statement = update(invitations).where(_lets_in(token, now)).values(used=now).returning(invitations.c.annotator)
    number = connection.execute(statement).scalar_one_or_none()
    if number is None:
        return None
    change_password(connection, number, password_hash)
    return numbered(connection, number)


def _lets_in(token: str, now: float) -> ColumnElement[bool]:
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
