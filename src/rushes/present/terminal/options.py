"""Options that many verbs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from rushes.workers.engine import Engine


Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Show signatures and details.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
PromptsOption = Annotated[
    str | None,
    typer.Option(
        "--prompts",
        metavar="FILE",
        help="CSV with prompt_id: clips p1-0, p1-1 … are samples of p1, and averaged. (default: the suite's)",
    ),
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit 1 if a metric of another package failed on any clip.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the existing run.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Worker processes. (default: one per core)")]


EngineOption = Annotated[
    Literal["local", "ray"], typer.Option("--engine", help="Where the work runs: here, or on a Ray cluster.")
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDR",
        help="With --engine ray: host:port or auto; else RAY_ADDRESS, or Ray on this machine.",
    ),
]


def chosen_engine(engine: Literal["local", "ray"], address: str | None) -> Engine:
    """The engine asked for; an address that does not fit it is a wrong usage, before anything is read."""
    from rushes.core.errors import InputError
    from rushes.workers.engine import Engine

    try:
        return Engine(kind=engine, address=address)
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--address") from None
