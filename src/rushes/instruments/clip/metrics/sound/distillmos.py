"""How good speech sounds, by a second network that learned from listeners: distillmos, beside DNSMOS."""

from __future__ import annotations

from typing import Any

from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import MissingDependency
from rushes.core.machine.provenance import short_digest
from rushes.core.registry import optional_package
from rushes.instruments.clip.metrics.making import metric
from rushes.instruments.clip.sound.heard import unheard
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import file_named, group_named, licence_of
from rushes.vision.speech.voice import NEEDS_TORCH

GROUP = "distillmos"

DISTILLMOS = Definition(
    name="distillmos",
    unit="MOS",
    lowest=1.0,
    highest=5.0,
    better="higher",
    summary="How good speech sounds, as a network distilled from a large speech model predicts listeners' ratings.",
    formula="DistillMOS variant 7, mean over stretches of 7.68 s that begin at most a second apart, at 16 kHz in mono; "
    "1 (bad) to 5 (excellent)",
    edge_cases="No sound, or digital silence: no value. A shorter sound is followed by silence. It was trained on "
    "speech, so values for music and noise mean little. Equals the package distillmos 0.9.1 within 1e-6 on six real "
    "clips. Costs about 0.1 s of processor time per second of sound.",
    reference="Stahl & Gamper 2025, Distillation and pruning for scalable speech quality assessment; distillmos 0.9.1. "
    f"{licence_of('distillmos')}",
    params=signature_params(
        rate=16000,
        mix="mean",
        resampler="swresample",
        stretch_s=7.68,
        hop_s=1,
        weights=short_digest(file_named("distillmos-v7.npz")[1].sha256),
    ),
    raised_by=("noise suppression that leaves artefacts",),
    lowered_by=("music or effects under the voice", "reverberation of the room", "a low sample rate"),
)


def distillmos(seen: Any) -> Measurement:
    """The predicted mean opinion; see `DISTILLMOS`."""
    if why := unheard(seen):
        return Measurement.missing(DISTILLMOS, why)
    from rushes.vision.speech.distillmos import opinion

    value, count = opinion(seen.audio.samples)
    return Measurement(definition=DISTILLMOS, value=value, count=count)


def _require() -> None:
    optional_package("torch", NEEDS_TORCH, extra="fvd")
    if not is_pulled(group_named(GROUP)):
        raise MissingDependency(f"DistillMOS needs its network; run: {pull_command(GROUP)}")


DISTILLMOS_METRIC = metric(
    DISTILLMOS,
    distillmos,
    "sound",
    label="DistillMOS",
    on_request=True,
    require=_require,
    too_low="speech sounds bad",
)
