"""What a suite asks of an instrument: measure one system, into one folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rushes.core.machine.progress import Progress
from rushes.workers.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One system under one instrument, with everything that a suite knows and a settings table does not."""

    clips: str
    """The system's clips; "" for an instrument that looks at all systems at once."""
    reference: str
    out: Path
    """The run directory, or the folder of several runs."""
    features: Path
    """Where distances keep their features, for every system."""
    settings: Mapping[str, Any]
    jobs: int | None
    engine: Engine
    overwrite: bool
    progress: Progress
    warn: Callable[[str], None]
    prompts: Mapping[str, str] = field(default_factory=dict)
    """What every system was asked for: texts by prompt id; {} where a suite names none."""

    @property
    def shared(self) -> dict[str, Any]:
        """What every instrument that works clip by clip is given."""
        return {name: getattr(self, name) for name in ("jobs", "engine", "overwrite", "progress", "warn")}
