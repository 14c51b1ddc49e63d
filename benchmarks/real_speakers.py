"""The scale of `articulation_distance` and `head_distance`: how real people speak, from a named list of recordings.

    python benchmarks/real_speakers.py                   the scale of the recorded numbers, and how far recordings are
    python benchmarks/real_speakers.py FOLDER … --write  measure the recordings first, and record their numbers

`real_speakers.csv` names each recording (repository or package, path, sha256), its speaker and language, and has its
numbers. Recordings are found in the folders by digest, wherever they lie. Those of use `scale` make the scale: mean and
sample standard deviation of the logarithms over speakers, a speaker's recordings averaged first. Those of use `check`
are only compared with it. They are ADTH-QA's speakers, so that nothing of the suite that is voted on is in the scale.

One rule chose the recordings: one person speaks in his or her own voice, one recording a speaker. Left out are
generated clips, acted scenes and films whose sound may be another's.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from rushes.core.machine.provenance import file_digest
from rushes.instruments.clip.faces.models import AUDIO_RATE
from rushes.instruments.clip.faces.observation import FaceObservation
from rushes.instruments.clip.frames.frame_observers import ClipWatch
from rushes.instruments.clip.frames.observe import observe
from rushes.instruments.clip.metrics.face.articulation import articulation
from rushes.instruments.clip.metrics.face.head import head_motion, head_pose_spread
from rushes.instruments.clip.metrics.face.liveliness import brow_motion, gaze_spread
from rushes.instruments.clip.metrics.face.real_speakers import HEAD, MOUTH, Spread, distance
from rushes.instruments.clip.settings import ClipSettings
from rushes.vision.models.cache import model_path

LIST = Path(__file__).with_suffix(".csv")
MEASURED = (*MOUTH, *HEAD)
MORE = ("gaze", "brows")
"""Also recorded, for what is nearer to real speakers: gaze_spread by the 478-point model, and brow_motion."""
Row = dict[str, str]


def observed(path: Path, *, model: Path | None = None) -> FaceObservation:
    """The face of one recording, and its sound."""
    watch = ClipWatch(ClipSettings.load(tier=1, face_model=model))
    face = watch.finish(str(path), observe(str(path), audio_rate=AUDIO_RATE, watch=watch.start)).faces
    assert face is not None and face.fps, path
    return face


def measured(path: Path) -> dict[str, float]:
    """The numbers of one recording, as the metrics take them."""
    face = observed(path)
    assert not isinstance(face.speech, str) and face.fps
    mouth = articulation(face.track, face.speech, fps=face.fps)
    speed, spread = head_motion(face).value, head_pose_spread(face).value
    assert not isinstance(mouth, str) and speed is not None and spread is not None, f"{path}: {mouth}"
    gaze = gaze_spread(observed(path, model=model_path("face_landmarker.task"))).value
    more = dict(zip(MORE, (gaze, brow_motion(face).value), strict=True))
    return mouth[0] | {"speed": float(speed), "spread": float(spread), **{k: float(v or 0.0) for k, v in more.items()}}


def read_rows() -> list[Row]:
    with LIST.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def scale(rows: Iterable[Mapping[str, str]], names: tuple[str, ...] = MEASURED) -> dict[str, Spread]:
    """Mean and sample standard deviation of each logarithm over the speakers of use `scale`."""
    by_speaker = defaultdict(list)
    for row in rows:
        if row["use"] == "scale":
            by_speaker[row["speaker"]].append([math.log(float(row[name])) for name in names])
    speakers = [[statistics.fmean(column) for column in zip(*logs, strict=True)] for logs in by_speaker.values()]
    columns = zip(*speakers, strict=True)
    return {
        name: Spread(round(statistics.fmean(column), 3), round(statistics.stdev(column), 3))
        for name, column in zip(names, columns, strict=True)
    }


def distances(row: Mapping[str, str]) -> tuple[float, float]:
    """articulation_distance and head_distance of a recording, on the scale in the code."""
    mouth, head = ({name: float(row[name]) for name in spreads} for spreads in (MOUTH, HEAD))
    return distance(mouth, MOUTH), distance(head, HEAD)


def files_by_digest(folders: Iterable[Path]) -> dict[str, Path]:
    """The recordings of the list, wherever they lie in the folders."""
    files = {file_digest(file): file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()}
    if lost := [row["path"] for row in read_rows() if row["sha256"] not in files]:
        raise SystemExit(f"not found by digest: {', '.join(lost)}")
    return files


def _measure_all(rows: list[Row], folders: list[Path]) -> None:
    files = files_by_digest(folders)
    for row in rows:
        row |= {name: f"{value:.6g}" for name, value in measured(files[row["sha256"]]).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="record the measured numbers in the list")
    given = parser.parse_args()
    rows = read_rows()
    if given.folders:
        _measure_all(rows, given.folders)
    if given.write:
        with LIST.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    for name, found in scale(rows).items():
        shipped = (MOUTH | HEAD)[name]
        print(f"{name:7}{found.mean:8.3f}{found.deviation:8.3f}   {'as in the code' if found == shipped else shipped}")
    for row in rows:
        lips, head = distances(row)
        print(f"{row['use']:6} {row['speaker']:10} lips {lips:.2f}  head {head:.2f}  {row['path']}")


if __name__ == "__main__":
    main()
