"""What every object of the loop does: batches, order, states, merging, bad input."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integrations.loop.material import poses, videos

import rushes
from rushes.core.errors import DefinitionMismatch, InputError
from rushes.integrations.loop.metric import packed, unpacked

GEN, GT, POSES = videos(1), videos(2), poses(3)
NAMES = list(GEN)


def clip_of(metric: Any, names: list[str], *, named: bool = True) -> Any:
    metric.update([GEN[n] for n in names], layout="THWC", fps=25, names=names if named else None)
    return metric


def pair_of(metric: Any, names: list[str], *, named: bool = True) -> Any:
    metric.update([GEN[n] for n in names], [GT[n] for n in names], layout="THWC", names=names if named else None)
    return metric


def pose_of(metric: Any, names: list[str], *, named: bool = True) -> Any:
    pred, gt = ([POSES[n][side] for n in names] for side in (0, 1))
    metric.update(pred, gt, layout="TJC", names=names if named else None)
    return metric


KINDS: dict[str, tuple[Callable[..., Any], Callable[..., Any], dict[str, Any]]] = {
    "clip": (rushes.Clip, clip_of, {"metrics": ["temporal_flickering"]}),
    "fidelity": (lambda **more: rushes.Fidelity(**({"metrics": ["psnr", "ssim"]} | more)), pair_of, {"metrics": "l1"}),
    "pose": (lambda **more: rushes.Pose("all", **more), pose_of, {"ks": [20]}),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def plain(metric: Any) -> list[dict[str, object]]:
    return [m.as_dict() | {"exact": m.value} for m in metric.compute().measurements]


@kinds
@pytest.mark.parametrize("named", [True, False])
def test_batches_order_and_ranks_do_not_move_a_bit(kind: str, named: bool) -> None:
    make, give, _ = KINDS[kind]
    want = plain(give(make(), NAMES, named=named))
    one_by_one = make()
    for name in reversed(NAMES):
        give(one_by_one, [name], named=named)
    assert plain(one_by_one) == want
    ranks = [give(make(), NAMES[:1], named=named), give(make(), NAMES[1:], named=named), make()]
    forward, backward = make(), make()
    forward.merge(*ranks)
    backward.merge(*(rank.state_dict() for rank in reversed(ranks)))
    assert plain(forward) == plain(backward) == want
    assert len(forward) == 3 and len(ranks[0]) == 1 and "3 clips" in repr(forward)


@kinds
def test_a_state_goes_through_files(kind: str, tmp_path: Path) -> None:
    make, give, _ = KINDS[kind]
    full = give(make(), NAMES)
    np.savez(tmp_path / "state.npz", **full.state_dict())
    fresh = give(make(), NAMES[:1])
    with np.load(tmp_path / "state.npz", allow_pickle=False) as state:
        fresh.load_state_dict(state)
    assert plain(fresh) == plain(full) and len(fresh) == 3
    (again,) = unpacked(packed(full.state_dict()))
    assert packed(again).tobytes() == packed(full.state_dict()).tobytes()
    torch = pytest.importorskip("torch", reason="torch.save needs torch")
    torch.save(full.state_dict(), tmp_path / "state.pt")
    fresh.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=False))
    assert plain(fresh) == plain(full)


@kinds
def test_nothing_came_is_null_with_a_note_and_the_same_signatures(kind: str) -> None:
    make, give, _ = KINDS[kind]
    metric = make()
    empty = metric.compute()
    assert empty.measurements and all(m.value is None and m.note for m in empty.measurements)
    full = give(metric, NAMES).compute()
    assert {m.signature for m in empty.measurements} >= {m.signature for m in full.measurements if m.value is not None}
    metric.reset()
    assert metric.compute() == empty and len(metric) == 0


@kinds
def test_a_named_clip_counts_once_and_update_goes_on_after_compute(kind: str) -> None:
    make, give, _ = KINDS[kind]
    metric = give(make(), NAMES[:2])
    metric.compute()
    give(metric, NAMES[1:])
    assert plain(metric) == plain(give(make(), NAMES))
    twin = metric.clone()
    assert len(twin) == 0 and len(metric) == 3
    give(twin, NAMES[:1])
    assert len(metric) == 3


@kinds
def test_states_of_other_settings_are_refused_in_one_line(kind: str) -> None:
    make, give, other = KINDS[kind]
    metric = give(make(), NAMES[:1])
    with pytest.raises(DefinitionMismatch, match=r"the state is of another .*there and .* here") as caught:
        metric.merge(make(**other))
    assert "\n" not in str(caught.value) and len(metric) == 1
    wrong = next(m for name, (m, *_) in KINDS.items() if name != kind)()
    with pytest.raises(DefinitionMismatch, match="kind is"):
        metric.load_state_dict(wrong.state_dict())
    newer = metric.state_dict() | {
        "about": np.array(str(metric.state_dict()["about"]).replace('"format":1', '"format":9'))
    }
    with pytest.raises(DefinitionMismatch, match="format is 9 there and 1 here"):
        metric.merge(newer)
    for broken in ({}, {"about": np.array("x")}, metric.state_dict() | {"rows": np.zeros(3, np.uint8)}):
        with pytest.raises((InputError, DefinitionMismatch)):
            metric.merge(broken)
    assert len(metric) == 1


def test_floats_of_any_layout_are_the_same_frames() -> None:
    want = plain(clip_of(rushes.Clip(), NAMES[:1], named=False))
    video = np.moveaxis(GEN["take4"], 3, 1)[None] / np.float32(127.5) - 1  # B T C H W
    metric = rushes.Clip()
    metric.update(video, layout="BTCHW", value_range="-1-1", fps=25)
    assert plain(metric) == want


def test_bad_videos_are_one_clear_line_and_count_none() -> None:
    clips, pairs = rushes.Clip(), rushes.Fidelity()
    video = GEN["take4"]
    nan = video.astype(np.float32)
    nan[3, 2, 1, 0] = np.nan
    for given, options, line in (
        (video, {"layout": "BTHWC"}, "5 axes"),
        (video, {"layout": "TCHW"}, "3 channels"),
        (video, {"layout": "frames"}, "names the axes"),
        (video / 255, {"layout": "THWC"}, "declare value_range"),
        (nan, {"layout": "THWC", "value_range": "0-255"}, "NaN"),
        (video[:0], {"layout": "THWC"}, "empty"),
        ([video, nan], {"layout": "THWC", "value_range": "0-255"}, "uint8|NaN"),
    ):
        with pytest.raises(InputError, match=line):
            clips.update(given, fps=25, **options)
        with pytest.raises(InputError, match=line):
            pairs.update(given, given, **options)
    with pytest.raises(InputError, match="10 frames of 48×36 against a reference of 9 frames of 48×36"):
        pairs.update(video, video[1:], layout="THWC")
    with pytest.raises(InputError, match="a reference for each"):
        pairs.update([video, video], [video], layout="THWC")
    with pytest.raises(InputError, match="take4: two clips have this name"):
        clips.update([video, video[1:]], layout="THWC", fps=25, names=["take4", "take4"])
    with pytest.raises(InputError, match="tier 2"):
        rushes.Clip(tier=2)
    assert len(clips) == len(pairs) == 0
    clips.update([video, video[:, :20, :20]], layout="THWC", fps=25)  # sizes may differ from clip to clip
    assert len(clips) == 2


def test_bad_poses_are_one_clear_line() -> None:
    pred, gt = POSES["take4"]
    pose = rushes.Pose("torso-diameter")
    for given, truth, layout, line in (
        (pred, gt, "BTJC", "4 axes"),
        (pred, gt, "TJ", "got shape|expected frames"),
        (pred, gt[1:], "TJC", "5 predicted frames but 4"),
        (pred, gt, "XY", "names the axes"),
        ([pred], [gt], "BTJC", "leave out its B"),
    ):
        with pytest.raises(InputError, match=line):
            pose.update(given, truth, layout=layout)
    assert len(pose) == 0
    seen = np.ones(gt.shape[:2])
    seen[0, 0] = 0
    far = pred.copy()
    far[0, 0] = 1e6  # not visible: it does not count
    pose.update(far.transpose(1, 0, 2)[None], gt.transpose(1, 0, 2)[None], layout="BJTC", visibility=seen.T[None])
    found = pose.compute().one("mpjpe", aggregate="pooled")
    errors = np.linalg.norm(pred - gt, axis=2)[seen > 0]
    assert found.value == pytest.approx(errors.mean(), rel=1e-12) and found.count == errors.size


def test_torch_is_not_needed_for_clip_fidelity_and_pose() -> None:
    import subprocess
    import sys

    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import numpy as np, rushes\n"
        "v = np.zeros((3, 24, 24, 3), np.uint8)\n"
        "c = rushes.Clip(); c.update(v, layout='THWC', fps=8); c.compute()\n"
        "f = rushes.Fidelity(metrics='psnr'); f.update(v, v, layout='THWC'); f.compute()\n"
        "j = np.ones((2, 17, 2))\n"
        "p = rushes.Pose('torso-diameter'); p.update(j, j, layout='TJC'); p.compute()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
