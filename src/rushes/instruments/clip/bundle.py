"""MetricBundleV1: the 22 keys of a clip, a fixed export whatever else is measured, and beside them what they mean.

The specification's keys stand at the top of the file, unchanged and in their order. One more key follows them, `about`:
which version, how each value was measured, on what, under which profile, and why a value is null or was not judged.
`metric_bundle.schema.json` beside this module is the JSON Schema of the whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.instruments.clip.input_param import PARAMETER, RAW
from rushes.instruments.clip.metrics import known, readings
from rushes.storage.remote.transfer import local_copy

NAME = "MetricBundleV1"
VERSION = "1"

KEYS = tuple(
    (
        "decode_ok video_duration_ms audio_duration_ms av_duration_delta_ms fps frame_count scene_cut_count "
        "freeze_frame_ratio flicker_score blur_score frame_diff_spike_count face_present_ratio face_bbox_jitter "
        "landmark_jitter mouth_open_energy mouth_audio_corr blink_count blink_rate_hz lse_d lse_c status_badge "
        "reasons"
    ).split()
)
"""The bundle's keys, in the order its JSON form has them."""


def by_name(measurements: Iterable[Measurement]) -> dict[str, Measurement]:
    """The first measurement of each name, which is the reading the bundle settles on."""
    chosen: dict[str, Measurement] = {}
    for measurement in measurements:
        chosen.setdefault(measurement.name, measurement)
    return chosen


def bundle(measurements: Iterable[Measurement], badge: str | None, reasons: Sequence[str]) -> dict[str, object]:
    """The 22 flat keys, in order; null for what was not computed."""
    values = by_name(measurements)
    row: dict[str, object] = {key: values[key].stored_value if key in values else None for key in KEYS[:-2]}
    return row | {"status_badge": badge, "reasons": list(reasons)}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricBundle:
    """MetricBundleV1 of one clip, and what its values mean. A file of an earlier release has the values alone."""

    values: Mapping[str, object]
    """The 22 keys of the specification, in their order."""
    version: str = f"{NAME}/{VERSION}"
    clip: Mapping[str, str | None] = field(default_factory=dict)
    """`path` and `sha256` of the clip, as the run names it."""
    input: str | None = None
    """What was measured: "raw", or the canonical form, "canon-2"; see `rushes.instruments.clip.input_param`."""
    tier: int | None = None
    profile: Mapping[str, str] = field(default_factory=dict)
    """`name` of the profile behind `status_badge`, and `sha256` of its rules."""
    models: Mapping[str, str] = field(default_factory=dict)
    """Digests of the models that ran: `face_model`, `syncnet_weights`."""
    signatures: Mapping[str, str] = field(default_factory=dict)
    """How each value was measured, by key; none where it was not asked for."""
    not_computed: Mapping[str, str] = field(default_factory=dict)
    """Why a value is null, by key."""
    not_judged: Mapping[str, str] = field(default_factory=dict)
    """Rules of the profile that were not applied, by metric, and why; rules that are optional are not listed."""

    def __getitem__(self, key: str) -> object:
        """One of the 22 values: `bundle["blur_score"]`."""
        return self.values[key]

    def __contains__(self, key: object) -> bool:
        return key in self.values

    def as_dict(self) -> dict[str, object]:
        """As the file has it: the 22 keys, then `about`."""
        about = {"version": self.version} | {key: _plain(getattr(self, key)) for key in _ABOUT}
        return {**self.values, "about": about}


_ABOUT = ("clip", "input", "tier", "profile", "models", "signatures", "not_computed", "not_judged")


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else value


def metric_bundle(
    measurements: Sequence[Measurement],
    badge: str | None,
    reasons: Sequence[str],
    *,
    clip: Mapping[str, str | None],
    settings: Mapping[str, object],
    not_judged: Iterable[str],
) -> MetricBundle:
    """The bundle of a clip that was measured under these settings, as a run keeps them."""
    values, measured = bundle(measurements, badge, reasons), by_name(measurements)
    models = {name: str(settings.get(name, "none")) for name in ("face_model", "syncnet_weights")}
    form = next((m.definition.param(PARAMETER) for m in measurements), None)
    return MetricBundle(
        values=values,
        clip=clip,
        input=form or str(settings.get("input", RAW)),
        tier=int(str(settings.get("tier", 0))),
        profile={"name": str(settings.get("profile", "")), "sha256": str(settings.get("profile_sha256", ""))},
        models={name: digest for name, digest in models.items() if digest != "none"},
        signatures={key: measured[key].signature for key in KEYS if key in measured},
        not_computed={key: why_missing(measurements, key) for key in KEYS[:-2] if values[key] is None},
        not_judged={name: why_missing(measurements, name) for name in not_judged},
    )


def why_missing(measurements: Iterable[Measurement], named: str) -> str:
    """Why a metric, by its name or a whole signature, has no value."""
    metric = next(filter(None, map(known, readings(named))), None)
    found = by_name(measurements).get(named if metric is None else metric.definition.name)
    if found is not None:
        return found.note or "not computed"
    return f"it needs tier {metric.tier}" if metric is not None and metric.tier else "not computed"


def bundle_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a bundle's file."""
    file = resources.files("rushes.instruments.clip") / "metric_bundle.schema.json"
    schema: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return schema


def read_bundle(path: Path | str) -> MetricBundle:
    """A bundle that `rushes clip --bundle` wrote, here or at an address; one of an earlier release has values alone.

    Raises `InputError` for a file that is not there, is no JSON, lacks a key of the specification or is of another
    version. Values are as stored: their signatures say what they may be compared with.
    """
    with local_copy(str(path)) as copy:
        try:
            data = json.loads(copy.path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(
                f"{path}: cannot be read as a bundle ({getattr(error, 'strerror', None) or error})"
            ) from None
    lacking = [key for key in KEYS if not isinstance(data, dict) or key not in data]
    if lacking:
        raise InputError(f"{path}: expected the {len(KEYS)} keys of {NAME}; it lacks {', '.join(lacking[:3])}")
    return MetricBundle(values={key: data[key] for key in KEYS}, **_about(data.get("about"), path))


def _about(data: object, path: Path | str) -> dict[str, Any]:
    if data is None:
        return {}
    shapes = {**dict.fromkeys(_ABOUT, dict), "version": str, "input": str, "tier": int}
    if not isinstance(data, dict) or not all(isinstance(data.get(key), shape) for key, shape in shapes.items()):
        raise InputError(f"{path}: expected `about` to hold {', '.join(shapes)}, as rushes clip --bundle writes it")
    if data["version"] != f"{NAME}/{VERSION}":
        raise InputError(f"{path}: expected {NAME}/{VERSION}; got {data['version']}, which this release does not read")
    return {key: data[key] for key in shapes}
