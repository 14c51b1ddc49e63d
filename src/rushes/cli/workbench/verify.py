"""`rushes verify`: is this run as it was written?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from rushes.present.terminal.console import EXIT_BAD_INPUT, print_json
from rushes.present.terminal.options import Json


def verify(
    runs: Annotated[list[str], typer.Argument(metavar="RUN", help="Run directories, here, s3:// or gs://.")],
    as_json: Json = False,
) -> None:
    """Check that no file of a run has changed since it was written. Exit code 1 if one has.

    The digest covers rows and definitions and does not depend on how the run is stored. Keep it elsewhere.

    Example: rushes verify runs/clip-1a2b3c4d
    """
    from rushes.storage.integrity.verify import verify_run

    found = [verify_run(run) for run in runs]
    if as_json:
        print_json([asdict(one) | {"sound": one.sound} for one in found])
    else:
        for one in found:
            sound = "intact" if one.sealed else "readable, but written before 0.3, without digests to compare with"
            print(f"{one.place}: {sound if one.sound else 'damaged'}")
            for line in one.damage:
                print(f"  {line}")
            print(f"  {one.subjects:,} subjects, {one.measurements:,} numbers, {one.series:,} series")
            print(f"  digest {one.digest or 'none: some rows cannot be read'}")
    if not all(one.sound for one in found):
        raise typer.Exit(EXIT_BAD_INPUT)
