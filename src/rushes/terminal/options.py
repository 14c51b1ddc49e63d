"""Options that many verbs share."""

from __future__ import annotations

from typing import Annotated

import typer

Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Also every signature, and details.")]
