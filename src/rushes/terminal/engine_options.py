"""`--engine` and `--address`, as the verbs that can leave this machine share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rushes.workers.engine import Engine

EngineOption = Annotated[
    str, typer.Option("--engine", metavar="ENGINE", help="Where the work runs: local, or ray for a Ray cluster.")
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDR",
        help="With --engine ray: host:port or auto; else RAY_ADDRESS, or Ray on this machine.",
    ),
]


def chosen_engine(engine: str, address: str | None) -> Engine:
    """The engine asked for, checked; a wrong word is a wrong usage, before anything is read."""
    from rushes.errors import InputError
    from rushes.workers.engine import Engine

    try:
        return Engine(kind=engine, address=address)  # type: ignore[arg-type]
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--engine" if address is None else "--address") from None
