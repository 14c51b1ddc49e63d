"""A bundle's file: read back, checked against its schema, refused in one line where it is none."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from tests.clips import flat, noise, write_luma

import rushes
from rushes.instruments.clip.bundle import KEYS, bundle_schema, read_bundle

SCHEMA = jsonschema.Draft202012Validator(bundle_schema())


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_luma(tmp_path_factory.mktemp("take") / "take.mkv", noise(6, size=(64, 48)), "gray")


def written(bundle: object, path: Path) -> Path:
    path.write_text(json.dumps(bundle), encoding="utf-8")
    return path


def test_the_schema_is_one_and_has_the_keys_of_the_bundle() -> None:
    jsonschema.Draft202012Validator.check_schema(bundle_schema())
    assert tuple(bundle_schema()["properties"]) == (*KEYS, "about")


@pytest.mark.parametrize("options", [{}, {"canon": True}, {"canon": True, "fps": "30000/1001"}])
def test_every_bundle_fits_the_schema_and_is_read_back(take: Path, tmp_path: Path, options: dict[str, object]) -> None:
    bundle = rushes.evaluate_clip(take, **options).metric_bundle()  # type: ignore[arg-type]
    SCHEMA.validate(bundle.as_dict())
    assert read_bundle(written(bundle.as_dict(), tmp_path / "b.json")) == bundle
    assert bundle["frame_count"] == bundle.values["frame_count"]
    assert "frame_count" in bundle and "frames" not in bundle
    null = {key for key in KEYS[:-2] if bundle[key] is None}
    assert set(bundle.not_computed) == null and all(bundle.not_computed.values())


def test_an_unreadable_clip_has_a_bundle_too(tmp_path: Path) -> None:
    (tmp_path / "x.mp4").write_text("no video")
    bundle = rushes.evaluate_clip(tmp_path / "x.mp4").metric_bundle()
    SCHEMA.validate(bundle.as_dict())
    assert bundle["status_badge"] == "reject" and "cannot be read" in bundle.not_computed["fps"]


def test_raw_and_canonical_bundles_are_told_apart(take: Path) -> None:
    raw, canon = (rushes.evaluate_clip(take, canon=on).metric_bundle() for on in (False, True))
    assert (raw.input, canon.input) == ("raw", "canon-2")
    assert all(raw.signatures[key] != canon.signatures[key] for key in raw.signatures)


def test_one_clip_under_two_profiles_says_which(tmp_path: Path) -> None:
    still = write_luma(tmp_path / "still.mkv", [flat(90), flat(90), flat(100)], "gray")
    one, two = (
        rushes.evaluate_clip(still, profile=name, tier=0).metric_bundle() for name in ("general", "metricbundle-v1")
    )
    assert [b.profile["name"] for b in (one, two)] == ["general", "metricbundle-v1"]
    assert one.profile["sha256"] != two.profile["sha256"] and one["status_badge"] != two["status_badge"]


def test_a_bundle_of_an_earlier_release_has_its_values(take: Path, tmp_path: Path) -> None:
    flat_keys = rushes.evaluate_clip(take).bundle()
    read = read_bundle(written(flat_keys, tmp_path / "old.json"))
    assert read.values == flat_keys and (read.input, read.tier, read.signatures) == (None, None, {})


def test_what_is_no_bundle_is_one_line(take: Path, tmp_path: Path) -> None:
    good = rushes.evaluate_clip(take).metric_bundle().as_dict()
    about = good["about"]
    assert isinstance(about, dict)
    cases = {
        "it lacks decode_ok, video_duration_ms, audio_duration_ms": [],
        "it lacks reasons": {key: good[key] for key in KEYS[:-1]},
        "expected `about` to hold": good | {"about": {"version": 1}},
        "got MetricBundleV2/1": good | {"about": about | {"version": "MetricBundleV2/1"}},
    }
    for message, data in cases.items():
        with pytest.raises(rushes.InputError, match=message) as raised:
            read_bundle(written(data, tmp_path / "b.json"))
        assert str(raised.value).startswith(f"{tmp_path / 'b.json'}: ") and "\n" not in str(raised.value)
    (tmp_path / "text.json").write_text("no JSON")
    for name in ("text.json", "nowhere.json"):
        with pytest.raises(rushes.InputError, match="cannot be read as a bundle"):
            read_bundle(tmp_path / name)


@pytest.mark.parametrize(
    "change", [{"status_badge": "good"}, {"freeze_frame_ratio": 1.5}, {"frame_count": 2.5}, {"more": 1}]
)
def test_the_schema_refuses_what_is_wrong(take: Path, change: dict[str, object]) -> None:
    assert not SCHEMA.is_valid(rushes.evaluate_clip(take).metric_bundle().as_dict() | change)
