"""Videos in tables that the real `datasets` package wrote, measured as the files they came from."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushes
from rushes.core.machine.installing import extra_command
from rushes.media import ClipReader, write_clip
from rushes.media.find.datasets import dataset_clips, is_dataset
from rushes.media.find.sets import read_set

pa = pytest.importorskip("pyarrow", reason="tables need pyarrow (pip install 'rushes[datasets]')")

FRAMES = [np.random.RandomState(n).randint(0, 255, (24, 32, 3)).astype(np.uint8) for n in range(5)]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Three clips, two of them alike."""
    (tmp_path / "clips").mkdir()
    made = [write_clip(tmp_path / "clips" / f"{name}.mp4", FRAMES[: 3 + n], fps=8) for n, name in enumerate("ab")]
    return [*made, Path(shutil.copy(made[0], tmp_path / "clips" / "c.mp4"))]


def saved(files: list[Path], folder: Path, kind: str) -> Path:
    datasets = pytest.importorskip("datasets", reason="written by the real package (pip install 'rushes[datasets]')")
    datasets.disable_progress_bars()
    features = datasets.Features({"id": datasets.Value("string"), "video": datasets.Video()})
    table = datasets.Dataset.from_dict({"id": list("xyz"), "video": [str(file) for file in files]}, features=features)
    if kind == "splits":
        datasets.DatasetDict({"test": table, "train": table}).save_to_disk(str(folder))
    elif kind == "folder":
        table.save_to_disk(str(folder))
    else:
        folder = folder.with_suffix(".parquet")
        table.to_parquet(str(folder))
    return folder


@pytest.mark.parametrize("kind", ["folder", "parquet", "splits"])
def test_what_the_datasets_package_wrote(tmp_path: Path, files: list[Path], kind: str) -> None:
    table = saved(files, tmp_path / "table", kind)
    assert is_dataset(table) and not is_dataset(tmp_path / "clips")
    found = list(dataset_clips(f"hf:{table}?id=id"))
    starts = ("test/", "train/") if kind == "splits" else ("",)
    assert [name for _, name in found] == [f"{start}{name}" for start in starts for name in "xyz"]
    assert [path.read_bytes() for path, _ in found] == [file.read_bytes() for file in files] * len(starts)
    assert [clip.name for clip in read_set(table).clips][:2] == [f"{starts[0]}000000", f"{starts[0]}000001"]
    assert [path for path, _ in dataset_clips(f"hf:{table}?id=id")] == [path for path, _ in found]  # no second copy


def test_lists_of_frames_lose_nothing(tmp_path: Path) -> None:
    import cv2
    import pyarrow.parquet as parquet

    coded = [cv2.imencode(".png", frame[..., ::-1])[1].tobytes() for frame in FRAMES]
    pictures = [[{"bytes": data, "path": None} for data in coded[:n]] for n in (3, 5)]
    arrays = [np.stack(FRAMES[:n]).tolist() for n in (3, 5)]
    nested = pa.list_(pa.list_(pa.list_(pa.list_(pa.uint8()))))
    parquet.write_table(pa.table({"frames": pictures}), tmp_path / "pictures.parquet")
    parquet.write_table(pa.table({"frames": pa.array(arrays, nested)}), tmp_path / "arrays.parquet", row_group_size=1)
    for name in ("pictures", "arrays"):
        found = [path for path, _ in dataset_clips(f"hf:{tmp_path / name}.parquet?fps=12.5")]
        for path, count in zip(found, (3, 5), strict=True):
            with ClipReader(path) as reader:
                shown = [frame.rgb() for frame in reader]
                assert float(reader.facts.video.fps) == 12.5
            assert np.array_equal(shown, FRAMES[:count])
        with pytest.raises(rushes.InputError, match="frames, which have no frame rate; give one: hf:…[?]fps=8"):
            list(dataset_clips(tmp_path / f"{name}.parquet"))


def test_a_run_has_the_numbers_of_the_files_and_a_row_for_every_row(tmp_path: Path, files: list[Path]) -> None:
    import pyarrow.parquet as parquet

    media = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    empty = {"bytes": None, "path": None}
    rows = [empty | {"path": f"clips/{files[0].name}"}, *({"bytes": f.read_bytes(), "path": f.name} for f in files[1:])]
    rows += [None, empty, {"bytes": b"junk", "path": "x"}]
    parquet.write_table(pa.table({"clip": pa.array(rows, media), "id": list("uvwxyz")}), tmp_path / "rows.parquet")
    run = rushes.evaluate_clips(f"hf:{tmp_path / 'rows.parquet'}?id=id", run=tmp_path / "run", jobs=1)
    assert [subject.id for subject in run.subjects] == list("uvwxyz")
    for file, name in zip(files, "uvw", strict=True):
        want = [m.as_dict() for m in rushes.evaluate_clip(file).measurements]
        assert [m.as_dict() for m in run.measurements[name]] == want
    assert [subject.badge for subject in run.subjects][3:] == ["reject"] * 3


def test_bad_tables_are_one_line(tmp_path: Path, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as parquet

    def write(name: str, columns: dict[str, Any]) -> str:
        parquet.write_table(pa.table(columns), tmp_path / name)
        return str(tmp_path / name)

    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and nothing else")
    (tmp_path / "empty").mkdir()
    plain, two = write("plain.parquet", {"n": [1]}), write("two.parquet", {"video_a": [b"x"], "video_b": [b"y"]})
    same = write("same.parquet", {"video": [b"x", b"y"], "id": ["p", "p"]})
    for given, line in (
        ("hf:nowhere", "hf: reads local data sets"),
        (f"hf:{tmp_path / 'empty'}", "expected a folder of save_to_disk, or parquet files"),
        (str(tmp_path / "broken.parquet"), "cannot be read as a table"),
        (plain, "no column holds videos; the columns are n"),
        (two, r"several columns may hold videos \(video_a, video_b\); give"),
        (f"hf:{plain}?column=n", "'n' holds no videos"),
        (f"hf:{same}?id=prompt", "no column 'prompt'"),
        (f"hf:{same}?id=id", "rows 0 and 1 are both called 'p'"),
        (f"hf:{same}?rows=3", "expected column, id, fps after the question mark; got 'rows'"),
    ):
        with pytest.raises(rushes.InputError, match=line):
            list(dataset_clips(given))
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(rushes.MissingDependency, match=re.escape(extra_command("datasets"))):
        list(dataset_clips(same))
