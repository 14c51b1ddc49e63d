"""`rushes fvd` on sets in a store: folders, patterns, lists, picture sequences and saved statistics by address."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pytest
from tests.clips import noise, write_luma

from rushes.core.errors import InputError
from rushes.instruments.distribution.compare import SetComparison
from rushes.instruments.distribution.evaluate import compare_sets
from rushes.media.find.sets import read_set
from rushes.storage.remote import store as remote
from rushes.storage.remote import transfer
from rushes.storage.remote.errors import Unreachable

from .conftest import Bucket, left_behind


class Averages:
    """In place of a network: the first features are the segment's mean, first and last frame, the rest 0."""

    preparation = None

    def __init__(self, width: int) -> None:
        self.width = width

    def features(self, segments: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        for segment in segments:
            vector = np.zeros(self.width, np.float32)
            vector[:3] = segment.mean(), segment[0].mean(), segment[-1].mean()
            yield vector


@pytest.fixture(scope="module")
def made_sets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """gen/ with three videos, gt/ with two videos and a picture sequence."""
    folder = tmp_path_factory.mktemp("made") / "sets"
    for side in ("gen", "gt"):
        (folder / side).mkdir(parents=True)
        for number in (2, 10):
            write_luma(folder / side / f"take{number}.mkv", noise(16, seed=number + len(side)), "gray")
    write_luma(folder / "gen" / "take 1.mkv", noise(16, seed=1), "gray")
    (folder / "gt" / "walk").mkdir()
    for number, picture in enumerate(noise(16, seed=5, channels=3)):
        cv2.imwrite(str(folder / "gt" / "walk" / f"frame_{number}.png"), picture)
    (folder / "gt" / "notes.md").write_text("not a clip", encoding="utf-8")
    return folder


@pytest.fixture
def sets(made_sets: Path, tmp_path: Path) -> Path:
    """The same in a folder of the test's own."""
    return Path(shutil.copytree(made_sets, tmp_path / "sets"))


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network and no weights: what is read decides the numbers."""
    pytest.importorskip("torch", reason="distances between sets need torch")
    from rushes.instruments.distribution.features import extraction as features
    from rushes.instruments.distribution.features import weights

    found = SimpleNamespace(label="none", sha256="0" * 64, remark="", path=Path("none.pt"))
    monkeypatch.setattr(weights, "find_weights", lambda *args, **options: found)
    monkeypatch.setattr(features, "make_extractor", lambda _, recipe, **options: Averages(recipe.d))


@pytest.fixture
def fetches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses this process fetched."""
    taken: list[str] = []
    download = transfer._download

    def spied(place: Any, local: Path) -> Any:
        taken.append(str(place))
        return download(place, local)

    monkeypatch.setattr(transfer, "_download", spied)
    return taken


def compared(gen: Path | str, gt: Path | str, **more: Any) -> SetComparison:
    return compare_sets(gen, gt, **({"metrics": "fvd", "device": "cpu", "jobs": 0} | more))


@pytest.mark.usefixtures("stand_in")
def test_the_same_bytes_as_the_same_sets_here(
    bucket: Bucket, sets: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    gen, gt = bucket.put_folder("gen", sets / "gen"), bucket.put_folder("gt", sets / "gt")
    near = compared(sets / "gen", sets / "gt", run=tmp_path / "near")
    far = compared(gen, gt.rstrip("/"), jobs=1, run=tmp_path / "far")
    assert [name for _, features in far.gt for name in features.names] == ["take2.mkv", "take10.mkv", "walk"]
    assert far.passed_over == near.passed_over == (("gt", ("notes.md", "not a clip by its ending, .md")),)
    measured = [(tmp_path / name / "measurements.jsonl").read_bytes() for name in ("near", "far")]
    assert measured[0] == measured[1] and b'"fvd|' in measured[0]
    subjects = (tmp_path / "far" / "subjects.jsonl").read_text(encoding="utf-8")
    subjects = subjects.replace(gen, str(sets / "gen")).replace(gt.rstrip("/"), str(sets / "gt"))
    assert subjects == (tmp_path / "near" / "subjects.jsonl").read_text(encoding="utf-8")
    assert left_behind(settings) == []


def test_patterns_lists_and_single_objects(bucket: Bucket, sets: Path, tmp_path: Path) -> None:
    gen, gt = bucket.put_folder("gen", sets / "gen"), bucket.put_folder("gt", sets / "gt")
    assert [clip.name for clip in read_set(f"{gen}take*.mkv").clips] == [
        f"{gen}{name}" for name in ("take2.mkv", "take10.mkv", "take 1.mkv")
    ]
    (walk,) = read_set(f"{gt}walk/*.png").clips
    assert walk.name == f"{gt}walk" and [file.name for file in walk.files][-2:] == ["frame_14.png", "frame_15.png"]
    (one,) = read_set(f"{gen}take2.mkv").clips
    assert one.name == "take2.mkv"
    here = tmp_path / "list.txt"
    here.write_text(f"# mixed\n{gen}take10.mkv\nsets/gen/take2.mkv\n{gt}walk\nsets/gt/walk\n", encoding="utf-8")
    names = [f"{gen}take10.mkv", str(sets / "gen" / "take2.mkv"), f"{gt}walk/frame", str(sets / "gt/walk/frame")]
    assert [clip.name for clip in read_set(here).clips] == names
    there = bucket.put("list.txt", f"gen/take10.mkv\n{gen}take2.mkv\n".encode())
    assert [clip.name for clip in read_set(there).clips] == [f"{gen}take10.mkv", f"{gen}take2.mkv"]
    for lines, told in ((f"{gen}none.mkv", "no such object"), (f"{gen}take2.mkv\n" * 2, "remove one of the two")):
        here.write_text(lines, encoding="utf-8")
        with pytest.raises(InputError, match=told):
            read_set(here)


def test_nothing_there(bucket: Bucket) -> None:
    for key, told in (("none/", "found none"), ("*.mp4", "found none"), ("a.mp4", "no such object")):
        with pytest.raises(InputError, match=told):
            read_set(bucket.url(key))


@pytest.mark.usefixtures("stand_in")
def test_statistics_are_kept_and_taken_by_address(bucket: Bucket, sets: Path, tmp_path: Path) -> None:
    stats = bucket.url("stats/gt.npz")
    first = compared(sets / "gen", sets / "gt", save_gt=stats)
    compared(sets / "gen", sets / "gt", save_gt=tmp_path / "gt.npz")
    assert bucket.get("stats/gt.npz") == (tmp_path / "gt.npz").read_bytes()
    again = compared(sets / "gen", stats)
    assert again.measurements == first.measurements
    bucket.put("stats/gt.npz", b"no statistics")
    with pytest.raises(InputError, match=f"^{stats}: cannot be read as statistics"):
        compared(sets / "gen", stats)
    with pytest.raises(InputError, match="expected saved statistics; found nothing"):
        compared(sets / "gen", bucket.url("none*.npz"))


@pytest.mark.usefixtures("stand_in")
def test_cached_features_need_no_fetch(bucket: Bucket, sets: Path, tmp_path: Path, fetches: list[str]) -> None:
    gen, gt = bucket.put_folder("gen", sets / "gen"), bucket.put_folder("gt", sets / "gt")
    first = compared(gen, gt, cache=tmp_path / "cache")
    assert len(fetches) == 3 + 2 + 16
    fetches.clear()
    again = compared(gen, gt, cache=tmp_path / "cache")
    assert fetches == []
    assert again.measurements == first.measurements and again.gen[0][1].digests == first.gen[0][1].digests
    bucket.put("gen/take2.mkv", sets / "gt" / "take2.mkv")
    compared(gen, gt, cache=tmp_path / "cache")
    assert fetches == [f"{gen}take2.mkv"]


@pytest.mark.usefixtures("stand_in")
def test_a_set_does_not_shrink_because_the_network_failed(
    bucket: Bucket, sets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gen = bucket.put_folder("gen", sets / "gen")

    def lost(path: str, local: str) -> None:
        raise ConnectionResetError("connection reset by peer")

    monkeypatch.setattr(remote.filesystem(gen), "get_file", lost)
    with pytest.raises(Unreachable, match="the bucket does not answer"):
        compared(gen, sets / "gt")


@pytest.mark.usefixtures("stand_in")
def test_an_object_that_vanished_is_left_out_by_name(
    bucket: Bucket, sets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gen = bucket.put_folder("gen", sets / "gen")
    look = remote.list_objects

    def listed_then_gone(address: str) -> remote.Listing:
        found = look(address)
        bucket.delete("gen/take2.mkv")
        return found

    monkeypatch.setattr("rushes.media.find.sets.list_objects", listed_then_gone)
    found = compared(gen, sets / "gt")
    assert found.excluded("gen") == {"take2.mkv": f"{gen}take2.mkv: no such object"}


@pytest.mark.usefixtures("stand_in")
def test_a_run_in_a_store_goes_on_on_another_machine(
    bucket: Bucket,
    sets: Path,
    tmp_path: Path,
    settings: dict[str, str],
    fetches: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from rushes.instruments.distribution.features import extraction as features

    gen, gt = bucket.put_folder("gen", sets / "gen"), bucket.put_folder("gt", sets / "gt")
    compared(gen, gt, run=tmp_path / "near")

    class Stopping(Averages):
        def features(self, segments: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
            for number, vector in enumerate(super().features(segments)):
                if number == 2:
                    raise KeyboardInterrupt
                yield vector

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(features, "make_extractor", lambda _, recipe, **options: Stopping(recipe.d))
        compared(gen, gt, run=bucket.url("run"))
    assert [key for key in bucket.keys("run/.features/") if key.endswith(".npy")]
    monkeypatch.setenv("RUSHES_STAGING", settings["RUSHES_STAGING"] + "-other")
    fetches.clear()
    compared(gen, gt, run=bucket.url("run"))
    assert f"{gen}take2.mkv" not in fetches, "features that were computed are not computed again"
    assert sorted(bucket.tree("run/")) == ["measurements.jsonl", "run.json", "subjects.jsonl"]
    for name in ("measurements.jsonl", "subjects.jsonl"):
        assert bucket.get(f"run/{name}") == (tmp_path / "near" / name).read_bytes()
