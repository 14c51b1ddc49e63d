"""Functions on a connection as methods that are one short transaction each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial, wraps
from inspect import Parameter, signature
from typing import Concatenate, ParamSpec, TypeAlias, TypeVar

from sqlalchemy import Connection

from rushes.study.database.connection import Database
from rushes.study.tokens import Clock

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Way: TypeAlias = Callable[[Database], AbstractContextManager[Connection]]
READ, GLANCE, WRITE = Database.read, Database.glance, Database.write
NOTE: Way = partial(Database.write, durable=False)
"""A write that does not wait for the disk: right for what a page reports every second, wrong for a vote."""


class Transactions:
    """A database, and the clock of whoever works with it."""

    database: Database

    def __init__(self, database: Database, clock: Clock) -> None:
        self.database = database
        self._clock = clock


def timed(
    way: Way, function: Callable[Concatenate[Connection, int, Given], Answer]
) -> Callable[Concatenate[Transactions, Given], Answer]:
    """A function of a connection and the time in milliseconds, as a method: a transaction and the clock give both."""

    @wraps(function)
    def transaction(self: Transactions, /, *given: Given.args, **named: Given.kwargs) -> Answer:
        with way(self.database) as connection:
            return function(connection, self._clock(), *given, **named)

    shown = signature(function)
    own = [one for one in shown.parameters.values() if one.name not in ("connection", "now")]
    itself = Parameter("self", Parameter.POSITIONAL_ONLY)
    vars(transaction)["__signature__"] = shown.replace(parameters=[itself, *own])
    return transaction


def method(
    way: Way, function: Callable[Concatenate[Connection, Given], Answer]
) -> Callable[Concatenate[Transactions, Given], Answer]:
    """The same for a function that does not ask for the time."""

    @wraps(function)
    def at_any_time(connection: Connection, _: int, /, *given: Given.args, **named: Given.kwargs) -> Answer:
        return function(connection, *given, **named)

    return timed(way, at_any_time)
