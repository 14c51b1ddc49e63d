"""A Lightning callback that measures what a model makes after every validation epoch, and logs it.

`as_torchmetric` makes a metric that Lightning logs by itself and sums up over ranks. The callback beside it keeps the
signatures and intervals with the run.
"""

from typing import Any

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset

import rushes


class RushesCallback(lightning.Callback):
    """Measures single clips, as `rushes clip` does."""

    def __init__(self, fps: float, tracker: str) -> None:
        self.clips, self.fps, self.tracker = rushes.Clip(), fps, tracker

    def on_validation_epoch_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        self.clips.reset()

    def on_validation_batch_end(
        self,
        trainer: lightning.Trainer,
        pl_module: lightning.LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        self.clips.update(outputs, layout="BTCHW", value_range="0-1", fps=self.fps)

    def on_validation_epoch_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        whole = rushes.loop.gathered(self.clips)  # every rank's clips, in the order of ranks
        if trainer.is_global_zero:
            found = whole.compute()
            print(f"epoch {trainer.current_epoch}: sharpness {found['sharpness'].value}, signals {found.signals}")
            try:
                rushes.trackers.log(found, to=self.tracker, step=trainer.global_step, prefix="val/")
            except rushes.MissingDependency as error:
                print(error)


class Model(lightning.LightningModule):
    """Learns to repeat its input."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(0.5))
        self.psnr = rushes.as_torchmetric(rushes.Fidelity(metrics="psnr"), "psnr")

    def training_step(self, batch: list[torch.Tensor], batch_idx: int) -> torch.Tensor:
        (videos,) = batch
        return (self.scale * videos - videos).square().mean()

    def validation_step(self, batch: list[torch.Tensor], batch_idx: int) -> torch.Tensor:
        (videos,) = batch
        made = (self.scale * videos).clamp(0, 1)
        self.psnr.update(made, videos, layout="BTCHW", value_range="0-1")
        self.log("psnr", self.psnr)
        return made

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), lr=0.5)


videos = torch.rand(4, 8, 3, 32, 32, generator=torch.Generator().manual_seed(0))
loader = DataLoader(TensorDataset(videos), batch_size=2)
trainer = lightning.Trainer(
    max_epochs=1,
    num_sanity_val_steps=0,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
    callbacks=[RushesCallback(fps=8, tracker="tensorboard:logs")],
)
trainer.fit(Model(), loader, loader)
print("PSNR", float(trainer.callback_metrics["psnr"]))
