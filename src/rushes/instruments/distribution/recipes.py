"""The recipe of a metric: its own under a protocol or the default one, with what is asked for beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rushes.core.errors import InputError
from rushes.core.words.suggest import did_you_mean
from rushes.instruments.distribution.features.backbones import BACKBONES
from rushes.instruments.distribution.protocols import (
    ALL,
    DEFAULT,
    EACH,
    FRAME_METRICS,
    FRAMES,
    LONG,
    METRICS,
    NO_CHOICES,
    OWN_BACKBONE,
    PROTOCOLS,
    SHORTHANDS,
    Choices,
    Metric,
    Recipe,
    like,
)

_ADJUSTABLE = {"genhoi", "disco", "videogpt", "cd-fvd"}
"""Protocols whose published code leaves the number of frames to the caller."""


def recipe(protocol: str, metric: Metric, choices: Choices = NO_CHOICES, **more: Any) -> Recipe:
    """The recipe of a metric under a protocol, with what is asked for beside it; single `Choices` may be named.

    >>> recipe("genhoi", "fvd").bn_eps, recipe("cd-fvd", "kvd").seed, recipe("genhoi", "fvd", backbone="r3d50").d
    (0.001, 42, 2048)
    """
    choices = replace(choices, **more)
    backbone = choices.backbone
    if protocol not in PROTOCOLS:
        raise InputError(f"no protocol is called {protocol!r}{did_you_mean(protocol, PROTOCOLS)}")
    if metric not in METRICS:
        raise InputError(f"no set metric is called {metric!r}{did_you_mean(metric, (*METRICS, *SHORTHANDS))}")
    if metric in FRAME_METRICS:
        if backbone not in (None, FRAMES.backbone):
            raise InputError(f"{metric} is defined on {FRAMES.backbone} features; on {backbone} it is fvd or kvd")
        return replace(FRAMES, stride=choices.stride or 1, vfr=choices.vfr or FRAMES.vfr)
    if backbone == FRAMES.backbone:
        raise InputError(f"on {backbone} features the metrics are {' and '.join(FRAME_METRICS)}; got {metric}")
    found = _on_backbone(protocol, backbone or OWN_BACKBONE[metric])
    if found is None:
        having = [name for name in PROTOCOLS if _on_backbone(name, backbone or OWN_BACKBONE[metric])]
        what = f"{metric} on {backbone}" if backbone else metric
        raise InputError(f"protocol {protocol} does not define {what}; these do: {', '.join(having)}")
    return _slid(_of_length(found, choices.sample_duration), choices)


def default_protocol(metric: Metric, backbone: str | None = None) -> str:
    """The protocol of a metric that nobody named one for: `DEFAULT`, or the first that defines the metric.

    >>> default_protocol("fvd"), default_protocol("fid-vid"), default_protocol("fvd", "r3d50")
    ('stylegan-v', 'genhoi', 'genhoi')
    """
    wanted = backbone or OWN_BACKBONE.get(metric, "")
    known = wanted in BACKBONES and wanted != FRAMES.backbone
    having = [name for name in (DEFAULT, *PROTOCOLS) if known and _on_backbone(name, wanted)]
    return having[0] if having else DEFAULT


def one_default(metrics: Sequence[Metric], backbone: str | None = None) -> str:
    """The default protocol of all these metrics; `EACH` where they have several."""
    found = {default_protocol(metric, backbone) for metric in metrics if metric not in FRAME_METRICS} or {DEFAULT}
    return found.pop() if len(found) == 1 else EACH


def _of_length(found: Recipe, frames: int | None) -> Recipe:
    if frames is None or frames == found.frames:
        return found
    if found.protocol not in _ADJUSTABLE:
        raise InputError(f"{_fixed_frames(found)}; got sample_duration {frames}")
    least = 1 if "whole" in (found.clips_gen, found.clips_gt) else found.network_frames
    if frames < least:
        raise InputError(f"sample_duration is a number of frames from {least}; got {frames}")
    return replace(found, frames=frames)


def _slid(found: Recipe, choices: Choices) -> Recipe:
    """The recipe with windows all along each video, and with another reading of variable frame rates, where asked."""
    if choices.vfr is not None:
        found = replace(found, vfr=choices.vfr)
    if choices.stride is None:
        if choices.rows is not None:
            raise InputError(f"rows {choices.rows} needs windows along a video; give a stride as well")
        return found
    if found.protocol not in _ADJUSTABLE:
        raise InputError(f"{_fixed_frames(found)}; got stride {choices.stride}")
    if choices.stride < 1:
        raise InputError(f"stride is a number of frames from 1; got {choices.stride}")
    slid = {"clips_pictures": None, "stride": choices.stride, "rows": choices.rows or "window"}
    return like(found, found.protocol, "sliding", **slid)


def _fixed_frames(found: Recipe) -> str:
    """Why a protocol has no number of frames to choose."""
    if "whole" in (found.clips_gen, found.clips_gt):
        whole = f"protocol {found.protocol} passes each video whole"
        return f"{whole}, so it has no number of frames to choose; cut the clips"
    free = [name for name in PROTOCOLS if name in _ADJUSTABLE]
    kin = [name for name in PROTOCOLS if name.startswith(found.protocol) and name != found.protocol]
    also = f", {' and '.join(kin)} others" if kin else ""
    return f"protocol {found.protocol} takes {found.frames} frames{also}; {', '.join(free)} leave it to you"


def recipes(
    protocol: str, metrics: Sequence[Metric], choices: Choices = NO_CHOICES, **more: Any
) -> list[tuple[Metric, Recipe]]:
    """Every metric under the protocol, under its default one where it is `EACH`, or under each protocol where it is
    "all": one that lacks a metric is then skipped."""
    choices = replace(choices, **more)
    if not metrics:
        raise InputError(f"expected at least one metric: {', '.join(METRICS)}; got none")
    if protocol == EACH:
        return [(metric, recipe(default_protocol(metric, choices.backbone), metric, choices)) for metric in metrics]
    if protocol != ALL:
        return [(metric, recipe(protocol, metric, choices)) for metric in metrics]
    backbone, frames = choices.backbone, choices.sample_duration
    if frames not in (None, 16):
        raise InputError(f"protocol all uses each protocol's own number of frames; got {frames}")
    if choices.stride is not None:
        raise InputError(f"protocol all cuts each video as its protocol does; got stride {choices.stride}")
    of_frames = [(metric, recipe(DEFAULT, metric, backbone=backbone)) for metric in metrics if metric in FRAME_METRICS]
    return of_frames + [
        (metric, recipe(name, metric, replace(choices, sample_duration=None)))
        for name in PROTOCOLS
        for metric in metrics
        if name not in LONG and metric not in FRAME_METRICS and _on_backbone(name, backbone or OWN_BACKBONE[metric])
    ]


def _on_backbone(protocol: str, name: str) -> Recipe | None:
    """The preset of a backbone, or the protocol's cutting and covariance with the backbone's own preprocessing."""
    presets = PROTOCOLS[protocol]
    if name == FRAMES.backbone:
        return None
    if name in presets or any(name in kinds for kinds in PROTOCOLS.values()):
        return presets.get(name)
    backbone = BACKBONES[name]
    if protocol not in backbone.protocols:
        return None
    feature, dimensions = next(iter(backbone.features.items()))
    rules = presets["i3d"]
    return replace(
        rules,
        backbone=name,
        feature=feature,
        d=dimensions,
        bn_eps=backbone.bn_eps,
        pool=backbone.pool,
        size=backbone.size,
        resize=backbone.resize or rules.resize,
        normalise=backbone.normalise,
        frames=backbone.frames or rules.frames,
        network_frames=backbone.least_frames,
    )
