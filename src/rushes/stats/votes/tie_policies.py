"""The ways to treat ties, by name; what each means is in `estimation`, which takes longer to load."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

TiePolicy: TypeAlias = Literal["davidson", "rao-kupper", "half-tie", "drop-tie"]
TIE_POLICIES: tuple[TiePolicy, ...] = get_args(TiePolicy)
