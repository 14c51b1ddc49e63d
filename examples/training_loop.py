"""Measure while training: PSNR, flicker and FVD of a tiny generator, logged with signatures and intervals.

The generator learns one number, the brightness of drifting stripes. FVD runs on weights that are made here, so its
value compares only with itself; its signature says so. `rushes models pull i3d` brings the trained ones.
"""

import torch

import rushes
from rushes.instruments.distribution.features.random_weights import write_random_checkpoint

FRAMES, SIZE = 9, 32
torch.manual_seed(0)


def stripes(level: torch.Tensor, seed: int) -> torch.Tensor:
    """A batch of two videos, B T C H W, from -1 to 1."""
    draw = torch.Generator().manual_seed(seed)
    phase = torch.rand(2, 1, 1, 1, 1, generator=draw) * 6
    time = torch.arange(FRAMES).view(1, FRAMES, 1, 1, 1)
    column = torch.arange(SIZE).view(1, 1, 1, 1, SIZE)
    return (level * torch.sin(column / 3 + time / 2 + phase)).expand(2, FRAMES, 3, SIZE, SIZE).clamp(-1, 1)


level = torch.nn.Parameter(torch.tensor(0.2))
optimizer = torch.optim.SGD([level], lr=0.1)

fidelity = rushes.Fidelity(metrics=["psnr", "ssim"])
clips = rushes.Clip()
for epoch in range(3):
    for batch in range(4):
        loss = (stripes(level, batch) - stripes(torch.tensor(0.8), batch)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    fidelity.reset()
    clips.reset()
    for batch in range(2):  # the validation set
        fake, real = stripes(level, 100 + batch), stripes(torch.tensor(0.8), 100 + batch)
        fidelity.update(fake, real, layout="BTCHW", value_range="-1-1")
        clips.update(fake, fps=8, layout="BTCHW", value_range="-1-1")
    found = fidelity.compute()
    print(f"epoch {epoch}: PSNR {found['psnr'].value:.2f} dB, flicker {clips.compute()['flicker_score'].value:.2f}")
    try:
        rushes.trackers.log(found, to="tensorboard:logs", step=epoch)  # or to=wandb_run, or to="mlflow"
    except rushes.MissingDependency as error:
        print(error)

weights = write_random_checkpoint("i3d", "i3d-random.pt")
fvd = rushes.FVD("videogpt", sample_duration=FRAMES, weights=weights, device="cpu")
fvd.update(
    stripes(torch.tensor(0.8), 100), real=True, layout="BTCHW", value_range="-1-1"
)  # once: fvd.save("real.npz", real=True) keeps it
fvd.update(stripes(level, 100), real=False, layout="BTCHW", value_range="-1-1")
print(f"FVD {fvd.compute()['fvd'].value:.4g}")
print(fvd.compute()["fvd"].signature)
