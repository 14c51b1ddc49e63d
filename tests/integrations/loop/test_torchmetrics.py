"""A real torchmetrics.Metric: alone, in a collection, in Lightning; and its distance against torchmetrics' own."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.integrations.loop.material import poses, videos

import rushes

torch = pytest.importorskip("torch", reason="needs torch (pip install 'rushes[loop]')")
torchmetrics = pytest.importorskip("torchmetrics", reason="needs torchmetrics (pip install 'rushes[loop]')")

GEN, GT, POSES = videos(1), videos(2), poses(3)


def pair(name: str) -> tuple[np.ndarray, np.ndarray]:
    return GEN[name], GT[name]


def test_a_plain_loop_with_forward(plain_fvd: Callable[..., rushes.FVD]) -> None:
    metric = rushes.as_torchmetric(rushes.Fidelity(metrics=["psnr", "l1"]), "psnr")
    assert isinstance(metric, torchmetrics.Metric) and metric.higher_is_better is True
    each = [metric(*pair(name), layout="THWC") for name in GEN]  # forward: the value of the batch alone
    whole = rushes.Fidelity(metrics=["psnr", "l1"])
    for name, value in zip(GEN, each, strict=True):
        one = rushes.Fidelity(metrics=["psnr", "l1"])
        one.update(*pair(name), layout="THWC")
        assert float(value) == one.compute()["psnr"].value
        whole.merge(one)
    assert float(metric.compute()) == whole.compute()["psnr"].value
    assert metric.result().measurements == whole.compute().measurements  # type: ignore[attr-defined]
    metric.reset()
    with pytest.warns(UserWarning, match="before the ``update``"):
        assert metric.compute().isnan()


def test_collections_clones_pickles_and_states(plain_fvd: Callable[..., rushes.FVD]) -> None:
    fvd = rushes.as_torchmetric(plain_fvd(), "fvd")
    assert fvd.higher_is_better is False
    for given, real in ((GEN, False), (GT, True)):
        fvd.update(list(given.values()), real=real, layout="THWC")
    want = float(fvd.compute())
    assert want > 0
    fvd.persistent(True)
    state = fvd.state_dict()
    assert all(isinstance(record, torch.Tensor) for record in state["records"])
    fresh = rushes.as_torchmetric(plain_fvd(), "fvd")
    fresh.persistent(True)
    fresh.load_state_dict(state)
    fresh._update_count = 1
    others = (fvd.clone(), pickle.loads(pickle.dumps(fvd)), copy.deepcopy(fvd), fresh)
    assert [float(other.compute()) for other in others] == [want] * 4
    pose = rushes.as_torchmetric(rushes.Pose("torso-diameter"), "mpjpe", aggregate="pooled")
    both = torchmetrics.MetricCollection(
        {"pose": pose, "all": rushes.as_torchmetric(rushes.Pose("torso-diameter", ks=20))}
    )
    both.update(*POSES["take4"], layout="TJC")
    found = both.compute()
    assert float(found["pose"]) == float(found["mpjpe/aggregate_pooled"])
    both.reset()


def test_it_is_what_torchmetrics_computes_on_the_same_features(plain_fvd: Callable[..., rushes.FVD]) -> None:
    """Fréchet distance with 1/(N−1), on the four sums that stand in for features, closed form in double."""
    from torchmetrics.image.fid import FrechetInceptionDistance

    class Sums(torch.nn.Module):  # type: ignore[misc]
        num_features = 4

        def forward(self, rows: Any) -> Any:
            return rows.double()[:, :4].reshape(len(rows), 4)

    fvd = plain_fvd()
    for given, real in ((videos(5, frames=(9,) * 7), False), (videos(9, frames=(9,) * 8), True)):
        fvd.update(list(given.values()), real=real, layout="THWC")
    found = fvd.compute()
    theirs = FrechetInceptionDistance(feature=Sums(), input_img_size=(1, 1, 1)).set_dtype(torch.float64)
    for side, real in (("gen", False), ("gt", True)):
        rows = torch.from_numpy(getattr(found, side)[0][1].features[:, :4].astype(np.float64))
        theirs.update(rows, real=real)
    assert found["fvd"].value == pytest.approx(float(theirs.compute()), rel=1e-6)


@pytest.mark.soak  # examples/lightning_callback.py runs in test_examples
def test_lightning_logs_it(tmp_path: Path) -> None:
    lightning = pytest.importorskip("lightning", reason="needs lightning")

    class Model(lightning.LightningModule):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.zeros(1))
            self.psnr = rushes.as_torchmetric(rushes.Fidelity(metrics="psnr"), "psnr")

        def training_step(self, batch: Any, number: int) -> Any:
            return self.weight.sum()

        def validation_step(self, batch: Any, number: int) -> None:
            gen, gt = batch
            self.psnr.update(gen[0], gt[0], layout="THWC")
            self.log("psnr", self.psnr, on_epoch=True)

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), lr=0.1)

    loader = torch.utils.data.DataLoader([pair(name) for name in GEN])
    trainer = lightning.Trainer(
        max_epochs=1,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=tmp_path,
    )
    trainer.validate(Model(), loader, verbose=False)
    want = rushes.Fidelity(metrics="psnr")
    want.update(list(GEN.values()), list(GT.values()), layout="THWC")
    assert float(trainer.callback_metrics["psnr"]) == pytest.approx(want.compute()["psnr"].value, rel=1e-7)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Others' warnings, about their own releases and about few workers, are no failures here."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
