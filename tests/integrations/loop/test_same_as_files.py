"""Lossless files through the command's own functions, and the same frames in memory: equal to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.integrations.loop.conftest import Averages
from tests.integrations.loop.material import FPS, poses, videos, write_lossless

import rushes
from rushes.core.selection import keys_of

GEN, GT = videos(1), videos(2)


def test_clip(tmp_path: Path) -> None:
    folder = write_lossless(tmp_path, GEN, fps=12.5)
    clips = rushes.Clip()
    clips.update(list(GEN.values()), layout="THWC", fps=12.5, names=list(GEN))
    found = clips.compute()
    files = {name: rushes.evaluate_clip(folder / f"{name}.mkv") for name in GEN}
    assert list(found.clips) == list(GEN)
    for name, file in files.items():
        assert [m.as_dict() for m in found.clips[name]] == [m.as_dict() for m in file.measurements]
        assert [m.value for m in found.clips[name]] == [m.stored_value for m in file.measurements]
        assert found.signals[name] == file.badge
    # the mean over three clips, by hand
    values = [float(file["sharpness"].value or 0) for file in files.values()]
    assert found["sharpness"].value == pytest.approx(sum(values) / 3, rel=1e-7)
    assert found["sharpness"].count == 3 and found["sharpness"].interval is not None
    share = found["decode_ok"].interval  # Wilson's, of three of three: 1 / (1 + 3.841459 / 3)
    assert found["decode_ok"].value == 1 and share is not None and share.method == "wilson"
    assert (share.low, share.high) == (pytest.approx(0.438503, abs=1e-6), 1.0)
    assert "flicker_delta" in found and "flicker_score" in found and "flicker" not in found
    assert found["flicker_delta"].signature != found["flicker_score"].signature  # two readings of one metric


def test_fidelity(tmp_path: Path) -> None:
    files = [write_lossless(tmp_path / side, given) for side, given in (("gen", GEN), ("gt", GT))]
    done = rushes.evaluate_fidelity(*files, run=tmp_path / "run", jobs=1)
    pairs = rushes.Fidelity()
    pairs.update(list(GEN.values()), list(GT.values()), layout="THWC", names=list(GEN))
    found = pairs.compute()
    assert [m.as_dict() for m in found.measurements] == [m.as_dict() for m in done.measurements]
    assert [m.value for m in found.measurements] == [m.value for m in done.measurements]
    for entry in done.pairs:
        assert [m.as_dict() for m in found.clips[entry.subject.id]] == [m.as_dict() for m in entry.measurements]


def test_pose(tmp_path: Path) -> None:
    given = poses(3)
    for side, number in (("pred", 0), ("gt", 1)):
        (tmp_path / side).mkdir()
        for name, pair in given.items():
            np.save(tmp_path / side / f"{name}.npy", pair[number])
    done = rushes.score_poses(tmp_path / "pred", tmp_path / "gt", norms="all", run=tmp_path / "run")
    pose = rushes.Pose("all")
    pose.update([p for p, _ in given.values()], [t for _, t in given.values()], layout="TJC", names=list(given))
    found = pose.compute()
    assert found.measurements == done.measurements
    assert dict(found.clips) == dict(done.clips)
    assert found.one("mpjpe", aggregate="pooled").interval is not None


@pytest.mark.parametrize("network", ["sums", pytest.param("i3d", marks=pytest.mark.soak)])
def test_fvd(network: str, tmp_path: Path, random_i3d: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through I3D itself with random weights, and through a stand-in that sees the same segments in a moment."""
    if network == "sums":
        from rushes.instruments.distribution.features import extraction as features

        monkeypatch.setattr(features, "make_extractor", lambda weights, recipe, **more: Averages(recipe.d))
    gen, gt = (dict(list(given.items())[:2]) for given in (GEN, GT))
    files = [write_lossless(tmp_path / side, given) for side, given in (("gen", gen), ("gt", gt))]
    options = {"protocol": "videogpt", "sample_duration": 9, "weights": random_i3d, "device": "cpu"}
    done = rushes.compare_sets(*files, metrics=["fvd", "kvd"], jobs=0, **options)  # type: ignore[arg-type]
    fvd = rushes.FVD(metrics=["fvd", "kvd"], decoder="pyav", **options)  # type: ignore[arg-type]
    for given, real in ((gen, False), (gt, True)):
        fvd.update(list(given.values()), real=real, layout="THWC", names=[f"{name}.mkv" for name in given])
    for one, other in zip(fvd.compute().measurements, done.measurements, strict=True):
        assert one.value == other.value and one.value
        assert keys_of(one) == keys_of(other)


def test_a_constant_rate_is_declared() -> None:
    clips = rushes.Clip()
    clips.update(GEN["take4"], layout="THWC", fps=FPS)
    assert clips.compute()["fps"].value == 25.0 and clips.compute()["frame_count"].value == 10
    for wrong in (0, -1, float("nan"), "fast", True):
        with pytest.raises(rushes.InputError, match="frames a second above 0"):
            clips.update(GEN["take4"], layout="THWC", fps=wrong)  # type: ignore[arg-type]
