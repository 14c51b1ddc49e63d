"""`rushes models make-random`: a seeded random checkpoint, to try things out without the trained file."""

from __future__ import annotations

from typing import Annotated

import typer

from rushes.distribution.command import known_backbone
from rushes.terminal.console import print_json


def make_random(
    network: Annotated[
        str,
        typer.Argument(
            callback=known_backbone,
            help="i3d (fvd, kvd), r3d50 (fid-vid), inception (fid, kid), or a backbone that a package adds.",
        ),
    ],
    out: Annotated[str, typer.Option("-o", "--out", metavar="FILE", help="File to write.")],
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same weights everywhere.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """Write random weights in the published layout. Numbers made with them compare only with each other.

    Example: rushes models make-random i3d --seed 0 -o i3d-random.pt
    """
    from rushes.distribution.settings import need_torch

    need_torch()
    from rushes.distribution.random_weights import write_random_checkpoint

    path = write_random_checkpoint(network, out, seed=seed)
    if as_json:
        print_json({"network": network, "seed": seed, "label": f"random-seed{seed}", "path": str(path)})
        return
    print(f"weights:random-seed{seed} for {network}; numbers made with it compare only with each other")
    print(path)
