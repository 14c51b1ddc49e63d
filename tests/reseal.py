"""For tests that edit the files of a run or a suite on purpose: a new seal over what is there now."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rushes.storage.integrity.seal import SEAL, json_digest, make_seal, series_files, with_settings_sealed


def reseal(folder: Path) -> None:
    """Seal a run in one piece again, as if it had been written like this."""
    info = json.loads((folder / "run.json").read_text())
    names = tuple(info[SEAL]["files"])
    counts = {"subjects": 0, "measurements": 0, "series": len(series_files(folder))}
    info[SEAL] = make_seal(folder, names, definitions=info["definitions"], **counts)
    (folder / "run.json").write_text(json.dumps(with_settings_sealed(info)))


def edit_suite(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a suite's folder says, as if `rushes suite run` had written it."""
    data = json.loads((folder / "suite.json").read_text(encoding="utf-8"))
    change(data)
    data[SEAL] = json_digest(data)
    (folder / "suite.json").write_text(json.dumps(data), encoding="utf-8")
