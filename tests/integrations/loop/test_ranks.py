"""Two processes that gather over gloo equal one that saw everything, to the bit; with uneven numbers of clips."""

from __future__ import annotations

import os
import pickle
import sys
from datetime import timedelta
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest
from tests.integrations.loop.material import poses, videos

import rushes
from rushes.integrations.loop import gathered

pytest.importorskip("torch", reason="ranks need torch (pip install 'rushes[fvd]')")

GEN, GT, POSES = videos(1), videos(2), poses(3)
OTHER_RANK = "import sys; from tests.integrations.loop.test_ranks import as_rank; as_rank(1, *sys.argv[1:])"


def as_rank(rank: int, meeting: str, weights: str, target: str) -> None:
    """What each process does: its own share of the clips, then everything gathered, in three ways."""
    import torch.distributed as dist

    address = f"file://{meeting}"
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2, timeout=timedelta(seconds=120))
    names = list(GEN)[:1] if rank == 0 else list(GEN)[1:]
    found: list[object] = []
    for metric in metrics(weights):
        wrapped = rushes.as_torchmetric(metric)
        fill(metric, names)
        fill(wrapped, names)
        found += [plain(gathered(metric)), values(wrapped)]
    uneven = rushes.Pose("torso-diameter")
    if rank == 0:
        fill(uneven, list(GEN))
    found.append(plain(gathered(uneven)))
    Path(target).write_bytes(pickle.dumps(found))
    dist.destroy_process_group()


def metrics(weights: str) -> list[Any]:
    """One of each, FVD on sums in place of a network."""
    from tests.integrations.loop.conftest import Averages

    from rushes.instruments.distribution.features import extraction as features

    features.make_extractor = lambda weights, recipe, **more: Averages(recipe.d)  # type: ignore[assignment,return-value]
    fvd = rushes.FVD("videogpt", sample_duration=9, weights=weights, device="cpu")
    return [fvd, rushes.Fidelity(metrics=["psnr", "l1"]), rushes.Clip(), rushes.Pose("torso-diameter")]


def fill(metric: Any, names: list[str]) -> None:
    inner = getattr(metric, "_metric", metric)
    update = metric.update
    if isinstance(inner, rushes.FVD):
        for given, real in ((GEN, False), (GT, True)):
            update([given[name] for name in names], real=real, layout="THWC", names=names)
    elif isinstance(inner, rushes.Fidelity):
        update([GEN[name] for name in names], [GT[name] for name in names], layout="THWC")
    elif isinstance(inner, rushes.Clip):
        update([GEN[name] for name in names], layout="THWC", fps=25)
    else:
        update([POSES[name][0] for name in names], [POSES[name][1] for name in names], layout="TJC")


def plain(metric: Any) -> list[tuple[str, object, object]]:
    return [(m.signature, m.value, m.interval) for m in metric.compute().measurements]


def values(metric: Any) -> dict[str, str]:
    """Every digit; NaN is equal to itself."""
    return {name: float(value).hex() for name, value in metric.compute().items()}


def test_two_ranks_equal_one(tmp_path: Path, random_i3d: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torchmetrics", reason="needs torchmetrics (pip install 'rushes[loop]')")
    from rushes.instruments.distribution.features import extraction as features

    monkeypatch.setattr(features, "make_extractor", features.make_extractor)  # put back at the end
    root = Path(__file__).parents[3]
    shared = [str(tmp_path / "meet"), str(random_i3d)]
    environment = os.environ | {"PYTHONPATH": f"{root / 'src'}:{root}", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", OTHER_RANK, *shared, str(tmp_path / "1")]
    with Popen(command, env=environment, stderr=PIPE, text=True) as other:
        as_rank(0, *shared, str(tmp_path / "0"))
        _, errors = other.communicate(timeout=240)
    assert other.returncode == 0, errors[-2000:]
    want: list[object] = []
    for metric in metrics(str(random_i3d)):
        wrapped = rushes.as_torchmetric(metric)
        fill(metric, list(GEN))
        fill(wrapped, list(GEN))
        want += [plain(metric), values(wrapped)]
    want.append(want[-2])  # all clips on one rank, none on the other
    for rank in "01":
        assert pickle.loads((tmp_path / rank).read_bytes()) == want


def test_without_a_process_group_it_is_a_copy() -> None:
    pose = rushes.Pose("torso-diameter")
    fill(pose, list(GEN))
    whole = gathered(pose)
    assert whole is not pose and plain(whole) == plain(pose) and len(pose) == 3
