"""A run whose clip was flagged by a rule on a second reading."""

from __future__ import annotations

from pathlib import Path

from rushes.instruments.clip.metrics import readings
from rushes.instruments.clip.signals.badges import judge
from rushes.instruments.clip.signals.profile import parse_profile
from rushes.storage.runs import Entry, RunWriter, Subject, read_run

GOLDENS = Path(__file__).parents[2] / "goldens/runs"
PROFILE = parse_profile('name = "mine"\n[flagged]\nblur_p10 = { below = 47850 }\n', source="mine.toml")


def write_judged(folder: Path) -> Path:
    """The clip `cut` of the run of format 2, judged anew and written as runs are written now."""
    old = next(entry for entry in read_run(GOLDENS / "format2").entries if entry.subject.id == "cut")
    badge = judge({(readings(m.signature) or (m.name,))[0]: m for m in old.measurements}, PROFILE)
    subject = Subject(id="cut", kind="clip", path="gone/cut.mp4", sha256=None, badge=badge.status, why=badge.why)
    with RunWriter(folder, instrument="clip", settings={"tier": 0, "profile": "mine"}, inputs=["cut"]) as run:
        run.add(Entry(subject=subject, measurements=old.measurements))
        run.finish(["cut"])
    return folder
