"""For tests that edit a run's files on purpose: a new seal over what is there now."""

from __future__ import annotations

import json
from pathlib import Path

from rushes.storage.integrity.seal import SEAL, make_seal


def reseal(folder: Path) -> None:
    """Seal a run in one piece again, as if it had been written like this."""
    info = json.loads((folder / "run.json").read_text())
    names = tuple(info[SEAL]["files"])
    info[SEAL] = make_seal(folder, names, definitions=info["definitions"], subjects=0, measurements=0)
    (folder / "run.json").write_text(json.dumps(info))
