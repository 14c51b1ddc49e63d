"""A Lightning callback that measures what a model makes after every validation epoch, and logs it.

`as_torchmetric` makes a metric that Lightning logs by itself and sums up over ranks. The callback beside it keeps the
signatures and intervals with the run.
"""

import lightning
import torch

import rushes


class RushesCallback(lightning.Callback):
    """Measures single clips, as `rushes clip` does."""

    def __init__(self, fps: float, tracker: str) -> None:
        self.clips, self.fps, self.tracker = rushes.Clip(), fps, tracker

    def on_validation_epoch_start(self, trainer, module) -> None:
        self.clips.reset()

    def on_validation_batch_end(self, trainer, module, outputs, batch, batch_idx, dataloader_idx=0) -> None:
        self.clips.update(outputs, layout="BTCHW", value_range="0-1", fps=self.fps)

    def on_validation_epoch_end(self, trainer, module) -> None:
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

    def training_step(self, batch, batch_idx):
        return (self.scale * batch - batch).square().mean()

    def validation_step(self, batch, batch_idx):
        made = (self.scale * batch).clamp(0, 1)
        self.psnr.update(made, batch, layout="BTCHW", value_range="0-1")
        self.log("psnr", self.psnr)
        return made

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.5)


videos = torch.rand(4, 8, 3, 32, 32, generator=torch.Generator().manual_seed(0))
loader = torch.utils.data.DataLoader(videos, batch_size=2)
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
