"""The presets hold the published constants, every one of them in the signature."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import get_args

import pytest

from rushes.core import parse_signature
from rushes.core.errors import InputError
from rushes.instruments.catalogue import catalog
from rushes.instruments.distribution.clips.reading import least_frames
from rushes.instruments.distribution.clips.segments import Windows
from rushes.instruments.distribution.definitions import bound_definition
from rushes.instruments.distribution.distances.labelled import count_remark
from rushes.instruments.distribution.protocols import (
    ALL,
    NOT_IN_FEATURES,
    PROTOCOLS,
    RARE,
    Choices,
    ProtocolName,
    Recipe,
    Side,
)
from rushes.instruments.distribution.recipes import recipe, recipes

# protocol, metric: eps, pool, resize, normalise, clips gen, clips gt, covariance, asks n
TABLE = [
    (
        "google-tf", "fvd", 1e-3, "2x7x7-mean", "tf1-bilinear-squash", "2x/255-1", "whole", "whole", "1/(N-1)",
        "multiple-of-16",
    ),
    ("stylegan-v", "fvd", 1e-3, "2x7x7-mean", "bilinear-squash", "2x/255-1", "first", "random", "1/N", "2048"),
    ("stylegan-v-128", "fvd", 1e-3, "2x7x7-mean", "bilinear-squash", "2x/255-1", "first", "random", "1/N", "2048"),
    (
        "stylegan-v-128-subsample8", "fvd", 1e-3, "2x7x7-mean", "bilinear-squash", "2x/255-1", "first", "random", "1/N",
        "2048",
    ),
    (
        "common-metrics-styleganv", "fvd", 1e-3, "2x7x7-mean", "bilinear-short-crop", "(x/255-0.5)*2", "whole", "whole",
        "1/(N-1)", "all",
    ),
    (
        "common-metrics-videogpt", "fvd", 1e-5, "2x7x7-mean", "bilinear-short-crop", "(x/255-0.5)*2", "whole", "whole",
        "1/(N-1)", "all",
    ),
    ("videogpt", "fvd", 1e-5, "2x7x7-mean", "bilinear-short-crop", "(x/255-0.5)*2", "first", "first", "1/(N-1)", "256"),
    ("cd-fvd", "fvd", 1e-5, "2x7x7-mean", "bilinear-aa256up-uint8", "2x/255-1", "random", "random", "1/N", "2048"),
    ("disco", "fvd", 1e-3, "1x7x7-mean", "pil-bicubic-squash", "x/127.5-1", "whole", "whole", "1/(N-1)", "all"),
    (
        "disco", "fid-vid", 1e-5, "ceil(T/16)x4x4", "pil-bicubic-squash", "x-[114.7748,107.7354,99.475]",
        "segments-repeat-last", "segments-repeat-last", "1/(N-1)", "all",
    ),
    (
        "genhoi", "fvd", 1e-3, "1x7x7-mean", "pil-bicubic-squash", "x/127.5-1",
        "segments-repeat-last", "segments-repeat-last", "1/(N-1)", "all",
    ),
]  # fmt: skip


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} {row[1]}")
def test_constants(row: tuple[object, ...]) -> None:
    name, metric, *wanted = row
    r = recipe(str(name), metric)  # type: ignore[arg-type]
    assert [r.bn_eps, r.pool, r.resize, r.normalise, r.clips_gen, r.clips_gt, r.covariance, r.asks_n] == wanted
    assert r.size == (112 if metric == "fid-vid" else 224)
    assert (r.frames, r.frame_step) == {
        "stylegan-v-128": (128, 1), "stylegan-v-128-subsample8": (16, 8)
    }.get(str(name), (16, 1))  # fmt: skip
    assert (r.seed == 42) is (name == "cd-fvd")
    assert r.arithmetic == "fp64-qr-nuclear"
    assert (r.vfr == "constant") is (name == "disco") is (r.clips_pictures == "sliding")


@pytest.mark.parametrize(("name", "kinds"), PROTOCOLS.items())
def test_every_constant_is_in_the_signature(name: str, kinds: dict[str, Recipe]) -> None:
    for kind, chosen in kinds.items():
        metric = "fvd" if kind == "i3d" else "fid-vid"
        definition = bound_definition(metric, chosen, weights="w", precision="fp32", n_gen=3, n_gt=4)  # type: ignore[arg-type]
        assert not definition.open_params
        _, params, version = parse_signature(definition.signature)
        assert {f.name for f in fields(Recipe)} - {"network_frames", *RARE} <= params.keys()
        assert (params.get("vfr"), params.get("clips_pictures")) == (
            ("constant", "sliding-16-row-per-window") if name == "disco" else (None, None)
        )
        assert params.get("frame_step") == ("8" if name == "stylegan-v-128-subsample8" else None)
        assert params.keys() >= {"weights", "precision", "n_gen", "n_gt", "d", "channels", "decoder"}
        assert params["protocol"] == name and version == 1


def test_no_two_protocols_share_a_signature() -> None:
    signatures = [
        bound_definition("fvd", kinds["i3d"], weights="w", precision="fp32", n_gen=3, n_gt=3).signature
        for kinds in PROTOCOLS.values()
    ]
    assert len(set(signatures)) == len(PROTOCOLS)


ANOTHER: dict[str, object] = {
    "protocol": "mine",
    "backbone": "r3d50",
    "feature": "avgpool2048",
    "d": 2048,
    "bn_eps": 1e-5,
    "pool": "2x7x7-mean",
    "size": 112,
    "resize": "bilinear-squash",
    "normalise": "2x/255-1",
    "clips_gen": "first",
    "clips_gt": "first",
    "frames": 8,
    "covariance": "1/N",
    "arithmetic": "fp32-svd",
    "asks_n": "256",
    "seed": 42,
    "frame_step": 2,
    "clips_pictures": "sliding",
    "stride": 4,
    "rows": "window",
    "vfr": "constant",
    "network_frames": 9,
}
"""Another value of every field than the one that `SLIDING` has."""
SLIDING = replace(PROTOCOLS["genhoi"]["i3d"], clips_gen="sliding", clips_gt="sliding")


@pytest.mark.parametrize("field", [field.name for field in fields(Recipe)])
def test_a_field_moves_the_key_of_the_feature_cache_or_is_said_to_move_no_features(field: str) -> None:
    assert field in ANOTHER, f"{field} is new: give it another value here, and say whether it moves features"
    changed = replace(SLIDING, **{field: ANOTHER[field]})
    moved = {side for side in get_args(Side) if changed.feature_params(side) != SLIDING.feature_params(side)}
    if field in ("clips_gen", "clips_gt"):  # each moves the features of its own side
        assert moved == {field.removeprefix("clips_")}
    else:
        assert moved == (set() if field in NOT_IN_FEATURES else {"gen", "gt"})
    assert changed.params() != SLIDING.params() or field == "network_frames", f"{field} is in no signature"


def test_a_field_that_nobody_classified_is_in_the_key() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Sharpened(Recipe):
        sharpen: float = 0.0

    plain = Sharpened(**asdict(SLIDING))
    assert replace(plain, sharpen=1.0).feature_params("gen") != plain.feature_params("gen")


def test_the_keys_of_earlier_caches_still_hold() -> None:
    i3d = {"backbone": "i3d", "feature": "logits400", "bn_eps": 1e-3, "pool": "1x7x7-mean", "size": 224}
    cut = {"resize": "pil-bicubic-squash", "normalise": "x/127.5-1", "frames": 16, "seed": 0}
    assert PROTOCOLS["genhoi"]["i3d"].feature_params("gen") == i3d | cut | {"cut": "segments-repeat-last"}
    rare = {"cut": "whole", "vfr": "constant", "clips_pictures": "sliding-16-row-per-window"}
    assert PROTOCOLS["disco"]["i3d"].feature_params("gt") == i3d | cut | rare


def test_every_protocol_can_be_named_at_the_command_line() -> None:
    assert get_args(ProtocolName) == (*PROTOCOLS, ALL)


def test_presets_are_locked() -> None:
    assert recipe("genhoi", "fvd", sample_duration=8).frames == 8
    assert recipe("stylegan-v", "fvd", sample_duration=16).frames == 16
    with pytest.raises(InputError, match="stylegan-v takes 16 frames, .* leave it to you; got sample_dur"):
        recipe("stylegan-v", "fvd", sample_duration=8)
    for name in ("google-tf", "common-metrics-styleganv"):
        with pytest.raises(InputError, match=f"{name} passes each video whole, .*; got sample_duration 8"):
            recipe(name, "fvd", sample_duration=8)
    with pytest.raises(InputError, match="from 1; got 0"):
        recipe("genhoi", "fvd", sample_duration=0)
    with pytest.raises(InputError, match="from 9; got 4"):  # the pool spans two steps of eight frames
        recipe("videogpt", "fvd", sample_duration=4)
    with pytest.raises(InputError, match="does not define fid-vid; these do: genhoi, disco"):
        recipe("cd-fvd", "fid-vid")
    with pytest.raises(InputError, match="no protocol is called"):
        recipe("fvd2", "fvd")
    with pytest.raises(InputError, match="no set metric is called 'fad'. Did you mean `fvd` or `fid`"):
        recipe("genhoi", "fad")  # type: ignore[arg-type]


def test_least_frames() -> None:
    for protocol, metric, frames in (("google-tf", "fvd", 9), ("disco", "fvd", 1), ("genhoi", "fid-vid", 1)):
        chosen = recipe(protocol, metric)  # type: ignore[arg-type]
        assert least_frames(chosen, chosen.windows("gen")) == frames
    for name, frames in (
        ("stylegan-v", 16), ("stylegan-v-128", 128), ("stylegan-v-128-subsample8", 128), ("common-metrics-videogpt", 10)
    ):  # fmt: skip
        chosen = recipe(name, "fvd")
        assert {least_frames(chosen, chosen.windows(side)) for side in ("gen", "gt")} == {frames}  # type: ignore[arg-type]


def test_disco_slides_over_pictures_only() -> None:
    for metric, cut in (("fvd", "whole"), ("fid-vid", "segments-repeat-last")):
        chosen = recipe("disco", metric, sample_duration=8)  # type: ignore[arg-type]
        video, pictures = chosen.windows("gen"), chosen.windows("gen", pictures=True)
        assert (video.cut, video.rows) == (cut, "video-mean")
        assert (pictures.cut, pictures.length, pictures.stride, pictures.rows) == ("sliding", 8, 1, "window")
        assert least_frames(chosen, pictures) == 8
    assert recipe("genhoi", "fvd").windows("gen", pictures=True).cut == "segments-repeat-last"


def test_sliding_windows_and_frame_timing_are_choices_that_the_signature_names() -> None:
    chosen = recipe("genhoi", "fvd", sample_duration=32, choices=Choices(stride=8, vfr="constant"))
    assert chosen.windows("gt") == Windows(cut="sliding", length=32, stride=8, rows="window")
    assert chosen.windows("gt", pictures=True) == chosen.windows("gt")
    _, params, _ = parse_signature(
        bound_definition("fvd", chosen, weights="w", precision="fp32", n_gen=3, n_gt=3).signature
    )
    named = {key: params[key] for key in ("clips_gen", "clips_gt", "frames", "stride", "rows", "vfr")}
    assert named == {
        "clips_gen": "sliding", "clips_gt": "sliding", "frames": "32", "stride": "8", "rows": "window",
        "vfr": "constant",
    }  # fmt: skip
    mean = recipe("disco", "fvd", choices=Choices(stride=1, rows="video-mean"))
    assert mean.windows("gen", pictures=True).rows == "video-mean" and "clips_pictures" not in mean.params()
    assert mean.params()["frames"] == 16 and chosen.feature_params("gen")["stride"] == 8
    with pytest.raises(InputError, match="rows window needs windows along a video; give a stride as well"):
        recipe("genhoi", "fvd", choices=Choices(rows="window"))
    with pytest.raises(InputError, match="google-tf passes each video whole, .*; got stride 4"):
        recipe("google-tf", "fvd", choices=Choices(stride=4))
    with pytest.raises(InputError, match="from 1; got 0"):
        recipe("genhoi", "fvd", choices=Choices(stride=0))
    with pytest.raises(InputError, match="cuts each video as its protocol does; got stride 4"):
        recipes("all", ["fvd"], choices=Choices(stride=4))
    assert {r.vfr for _, r in recipes("all", ["fvd"], choices=Choices(vfr="stored"))} == {"stored"}


def test_a_number_of_clips_that_is_not_the_protocols_is_remarked() -> None:
    assert count_remark(recipe("genhoi", "fvd"), 7) == ""
    assert count_remark(recipe("google-tf", "fvd"), 32) == ""
    assert count_remark(recipe("google-tf", "fvd"), 20) == "google-tf asks for a multiple of 16 clips, got 20"
    assert count_remark(recipe("cd-fvd", "fvd"), 20) == "cd-fvd asks for 2048 clips, got 20"
    assert count_remark(recipe("cd-fvd", "fvd"), 2048) == ""


def test_the_catalogue_lists_the_instrument_without_torch() -> None:
    import subprocess
    import sys

    code = "import sys; from rushes.instruments.catalogue import catalog; catalog(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    names = {definition.name for definition in catalog().values()}
    assert names >= {"fvd", "fid-vid", "kvd", "fvd_extrapolated", "fid-vid_extrapolated"}
    assert not names & {"fvd_low", "fvd_high", "kvd_low", "kvd_high"}  # an interval is part of its distance
