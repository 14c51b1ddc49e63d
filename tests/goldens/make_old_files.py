"""How the runs and the study databases of earlier versions in this folder were made. They are never made anew.

    python tests/goldens/make_old_files.py clips FOLDER        four clips of 64 × 48 and a profile, into a folder
    python tests/goldens/make_old_files.py studies FOLDER      a database of every schema so far, as SQL

`runs/format1`: `rushes clip takes` at commit d1109c9^, the last one that wrote format 1 (no `cut.mkv` then).
`runs/format2`: `rushes clip takes --profile mine.toml` at commit 4745d89, the last one whose reasons are texts.
`runs/format3`: the same with `--shards 4`.
`studies/0001.sql` … `0005.sql`: this script at commit 4745d89, by the migrations of that commit; `0006.sql` and
later: the one before, opened by the migration that adds it.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from pathlib import Path

PROFILE = """name = "mine"
[reject]
decode_ok = { is = false }
[flagged]
longest_freeze_ms = { above = 450 }
blur_p10 = { below = 47850 }
"""
FIRST_ROWS = """
INSERT INTO admin VALUES (1, '$argon2id$old', 5);
INSERT INTO study VALUES (1, 'takes', 'Takes', '0.1', 1, 2, NULL, 0, 0, '{}', '{"passes": 2}', 0, 5);
INSERT INTO clip VALUES (1, 1, 'a', 'a', '/c/a.mp4', '/c/a.mp4', 'aa', 480, 25, 48, 32, 0, 'video/mp4', 9, 't1');
INSERT INTO clip VALUES (2, 1, 'b', 'b', '/c/b.mkv', '/m/b.mp4', 'bb', 480, 25, 48, 32, 0, 'video/mp4', 9, 't2');
INSERT INTO pair VALUES (1, 1, 'sample', 's1', 'T1', 'p1', 'Words', 1, 2, NULL, NULL, '', 'a', 1, 1, 1, 2, 1, 'open');
INSERT INTO rater VALUES (1, 1, 'rater_01', NULL, 5, 5, 5, 5, 0, 1, 0);
INSERT INTO assignment VALUES
  (1, 1, 1, 1, 'key', 'sample', 1, 1, 'a', 'ta', 'tb', 'voted', 1, NULL, NULL, 5, 5, 5);
INSERT INTO vote VALUES
  (1, 1, 1, 1, 1, 'sample', 'k', 'a', 'a', 'Missed constraint', '[]', '{}', '{}', 'kept', '[]', NULL, 5);
"""


def make_clips(folder: Path) -> None:
    """A clip that pans, the same with a second that stands still, one cut short, and no clip at all."""
    import numpy as np

    scene = np.random.default_rng(1).integers(0, 255, (48, 96, 3), dtype=np.uint8)
    pan = [np.ascontiguousarray(scene[:, left : left + 64]) for left in range(14)]
    folder.mkdir(parents=True, exist_ok=True)
    _write(folder / "fine.mkv", pan[:12])
    _write(folder / "still.mkv", [*pan[:3], *[pan[2]] * 9, *pan[12:]])
    (folder / "cut.mkv").write_bytes((folder / "fine.mkv").read_bytes()[:40_000])
    (folder / "torn.mkv").write_bytes(b"not a video")
    (folder.parent / "mine.toml").write_text(PROFILE, encoding="utf-8")


def _write(path: Path, frames: list) -> None:
    import av

    with av.open(str(path), "w") as out:
        stream = out.add_stream("ffv1", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for image in [*(av.VideoFrame.from_ndarray(frame, format="rgb24") for frame in frames), None]:
            for packet in stream.encode(image):
                out.mux(packet)


def make_studies(folder: Path) -> None:
    """A study with one vote in the first schema, brought from each schema to the next; a dump of each."""
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine

    from rushes.study.database.connection import MIGRATIONS

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "studies.db"
        for revision in ("0001", "0002", "0003", "0004", "0005", "0006"):
            engine = create_engine(f"sqlite:///{path}")
            with engine.begin() as connection:
                config.attributes["connection"] = connection
                command.upgrade(config, revision)
                for line in FIRST_ROWS.strip().split(";\n") if revision == "0001" else ():
                    connection.exec_driver_sql(line.rstrip(";"))
            engine.dispose()
            with sqlite3.connect(path) as database:
                text = "".join(f"{line}\n" for line in database.iterdump())
            (folder / f"{revision}.sql").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    {"clips": make_clips, "studies": make_studies}[sys.argv[1]](Path(sys.argv[2]))
