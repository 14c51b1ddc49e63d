"""Videos in memory: the numbers of files, bit for bit on a CPU, whatever the type, the axes, the order or the rank."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import rushes
from rushes.core.errors import DefinitionMismatch, InputError
from rushes.core.selection import keys_of
from rushes.instruments.distribution.clips import reading
from rushes.instruments.distribution.clips.preparation import prepared
from rushes.instruments.distribution.features import weights
from rushes.instruments.distribution.recipes import recipe
from rushes.media.video_arrays import VideoArray, video_arrays

SIZES = ((20, 28), (24, 24), (18, 30))


def videos(base: int, *, frames: tuple[int, ...] = (16, 17, 18)) -> dict[str, np.ndarray]:
    """Noise on a level that rises with time, of several sizes and lengths, (T, H, W, 3) uint8."""
    draw = np.random.RandomState(base)
    found = {}
    for number, (count, size) in enumerate(zip(frames, SIZES, strict=True), 1):
        rising = np.arange(count)[:, None, None, None] * 3
        noise = draw.randint(0, 90, (count, *size, 3))
        found[f"take{number * 4}"] = np.clip(noise + rising + base, 0, 255).astype(np.uint8)
    return found


REAL, FAKE = videos(40), videos(90)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same videos as folders of PNG pictures."""
    root = tmp_path_factory.mktemp("pictures")
    write_pictures(root / "gen", FAKE)
    write_pictures(root / "gt", REAL)
    return root


def write_pictures(folder: Path, given: dict[str, np.ndarray]) -> None:
    for name, video in given.items():
        (folder / name).mkdir(parents=True)
        for number, frame in enumerate(video):
            Image.fromarray(frame).save(folder / name / f"{number:03d}.png")


def filled(fvd: rushes.FVD, *, names: bool = True) -> rushes.FVD:
    for given, real in ((FAKE, False), (REAL, True)):
        fvd.update(list(given.values()), real=real, layout="THWC", names=list(given) if names else None)
    return fvd


# ---- the same bits as from files -------------------------------------------------------------------------------------


@pytest.mark.soak  # twenty seconds of the network; the stand-in below shows the same segments, and features their bits
@pytest.mark.parametrize(("protocol", "metrics", "weights_of"), [("genhoi", "fid-vid", "r3d50")])
def test_pictures_give_the_same_bits_from_files_and_from_memory(
    tmp_path: Path, random_weights: dict[str, Path], protocol: str, metrics: Any, weights_of: str
) -> None:
    """Two videos a side, one longer than a segment: genhoi cuts a second out of it and fills that up."""
    options: dict[str, Any] = {"metrics": metrics, "protocol": protocol, "sample_duration": 9, "device": "cpu"}
    options |= {"weights": random_weights[weights_of]}
    fvd = rushes.FVD(decoder="pyav", **options)
    for side, given in (("gen", FAKE), ("gt", REAL)):
        long, short = list(given.items())[:2]
        few = dict([long if side == "gen" else (long[0], long[1][:9]), (short[0], short[1][:9])])
        write_pictures(tmp_path / side, few)
        fvd.update(list(few.values()), real=side == "gt", layout="THWC", names=list(few))
    files, memory = rushes.compare_sets(tmp_path / "gen", tmp_path / "gt", jobs=0, **options), fvd.compute()
    numbers = [[m.as_dict() | {"note": ""} for m in found.measurements] for found in (memory, files)]
    assert numbers[0] == numbers[1]  # the notes differ: files say how many frames were filled up
    assert memory.gen[0][1].features.tobytes() == files.gen[0][1].features.tobytes()
    assert memory.gen[0][0] == files.gen[0][0]


@pytest.mark.parametrize("protocol", ["genhoi", "disco", "google-tf", "videogpt"])
def test_every_protocol_that_draws_nothing_at_random_prepares_the_same_segments(
    sets: Path, random_weights: dict[str, Path], averages: list[Any], protocol: str
) -> None:
    """Over decoded mp4 frames, and a stand-in for the network whose features are means of the segments."""
    from rushes.instruments.distribution.clips.reading import rgb_frames
    from rushes.media.find.sets import read_set

    options: dict[str, Any] = {"protocol": protocol, "metrics": "fvd", "weights": random_weights["i3d"]}
    files = rushes.compare_sets(sets / "gen", sets / "gt", device="cpu", jobs=0, **options)
    fvd = rushes.FVD(device="cpu", decoder="pyav", **options)
    for side in ("gen", "gt"):
        for clip in read_set(sets / side).clips:
            frames = [frame for frame in rgb_frames(clip) if frame is not None]
            if clip.name in files.gen[0][1].names:  # videogpt leaves the ten-frame clip out
                fvd.update(np.stack(frames), real=side == "gt", layout="THWC", names=[clip.name])
    found = fvd.compute()
    assert found.gen[0][1].features.tobytes() == files.gen[0][1].features.tobytes()
    assert found["fvd"].value == files["fvd"].value and found["fvd"].signature == files["fvd"].signature


@pytest.fixture
def plain(
    random_weights: dict[str, Path], averages: list[Any], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., rushes.FVD]:
    """Makes an `FVD` on the stand-in for the network; its weights are read once."""
    once = cache(weights.find_weights)
    monkeypatch.setattr(weights, "find_weights", lambda name, files, **_: once(name, tuple(files)))

    def make(protocol: str = "genhoi", **options: Any) -> rushes.FVD:
        return rushes.FVD(protocol, **{"weights": list(random_weights.values()), "device": "cpu"} | options)

    return make


def test_a_number_says_that_the_decoder_is_not_known(plain: Callable[..., rushes.FVD]) -> None:
    found = filled(plain()).compute()["fvd"]
    assert "|decoder:memory|" in found.signature and "random_by" not in found.signature
    assert filled(plain(decoder="pyav")).compute()["fvd"].value == found.value


def test_random_windows_hang_on_the_frames_and_the_signature_says_so(plain: Callable[..., rushes.FVD]) -> None:
    """cd-fvd draws 16 of 40 frames: the same ones under any name and in any type."""
    values = []
    for names, scale in ((["a", "b"], 1), (["x", "y"], 255)):
        fvd = plain("cd-fvd", decoder="pyav")
        for real, given in ((True, REAL), (False, FAKE)):
            long = [np.concatenate([v, v[::-1]])[:40] for v in list(given.values())[1:]]
            layout = {"layout": "THWC", "value_range": "0-255" if scale == 1 else "0-1"}
            fvd.update([(v / scale).astype(np.float32) for v in long], real=real, names=names, **layout)
        values.append(fvd.compute()["fvd"])
    assert values[0].value == values[1].value
    assert "|decoder:pyav|" in values[0].signature and "|random_by:frames|" in values[0].signature


class Elsewhere:
    """In place of a device that prepares frames itself: the same preparation, on tensors."""

    device = torch.device("cpu")

    def __init__(self) -> None:
        self.calls: list[tuple[int, ...]] = []

    def __call__(self, frames: torch.Tensor) -> torch.Tensor:
        assert frames.dtype == torch.uint8
        self.calls.append(tuple(frames.shape))
        return torch.from_numpy(np.stack([prepared(frame, recipe("cd-fvd", "fvd")) for frame in frames.numpy()]))


def test_frames_are_prepared_where_the_network_prepares_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_FRAMES_AT_ONCE", 10)
    (video,) = video_arrays(np.concatenate([REAL["take4"]] * 3), layout="THWC")
    chosen, there = recipe("cd-fvd", "fvd"), Elsewhere()
    (host,) = reading.video_segments(video, chosen, "gt", digest="a")
    (other,) = reading.video_segments(video, chosen, "gt", digest="a", preparation=there)
    assert np.array_equal(host, other.numpy())
    assert [shape[0] for shape in there.calls] == [10, 6]  # the sixteen frames of the random window alone


# ---- types, axes, ranges ---------------------------------------------------------------------------------------------

LEVELS = np.arange(256, dtype=np.uint8).repeat(3).reshape(1, 16, 16, 3)
"""Every level an 8-bit frame can have."""


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize(("declared", "scaled"), [("0-1", lambda x: x / 255), ("-1-1", lambda x: x / 127.5 - 1)])
def test_floats_of_eight_bit_frames_become_those_frames(kind: torch.dtype, declared: Any, scaled: Any) -> None:
    given = scaled(torch.from_numpy(LEVELS).double()).to(kind)
    assert np.array_equal(video_arrays(given, layout="THWC", value_range=declared)[0].values, LEVELS)


def test_rounding_is_to_the_nearest_level_and_halves_go_to_the_even_one() -> None:
    values = np.array([0.5, 1.5, 2.4, 254.6, -0.4, 255.4], np.float32)
    video = np.broadcast_to(values[None, None, :, None], (1, 1, 6, 3))
    found = video_arrays(video, layout="THWC", value_range="0-255")[0]
    assert found.values[0, 0, :, 0].tolist() == [0, 2, 2, 255, 0, 255]
    kept = video_arrays(video, layout="THWC", value_range="0-255", quantise=False)[0]
    assert kept.values[0, 0, :, 0].tolist() == pytest.approx([0.5, 1.5, 2.4, 254.6, 0.0, 255.0])


@pytest.mark.parametrize("layout", ["".join(axes) for axes in permutations("BTHWC")][::7])
def test_any_order_of_the_axes(layout: str) -> None:
    batch = np.arange(2 * 3 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 3, 4, 5, 3)
    given = torch.from_numpy(batch).permute(*("BTHWC".index(axis) for axis in layout))
    first, second = video_arrays(given, layout=layout)
    assert np.array_equal(first.values, batch[0]) and np.array_equal(second.values, batch[1])


def test_a_digest_is_of_the_pictures_not_of_how_they_were_given() -> None:
    video = REAL["take4"]
    forms = [
        video_arrays(video, layout="THWC")[0],
        video_arrays(torch.from_numpy(video).permute(0, 3, 1, 2)[None].half() / 255, layout="BTCHW", value_range="0-1")[
            0
        ],
    ]
    assert len({form.digest() for form in forms}) == 1
    turned = VideoArray(values=video.reshape(16, 28, 20, 3))
    assert turned.digest() != forms[0].digest()


@pytest.mark.parametrize(
    ("given", "options", "line"),
    [
        (np.zeros((2, 16, 8, 8, 3)), {"layout": "BTHWC"}, "video 0: values are float64; declare value_range='0-1'"),
        (np.zeros((16, 8, 8, 3), np.uint8), {"layout": "THWC", "value_range": "0-1"}, "uint8 is 0-255; got .*'0-1'"),
        (np.full((16, 8, 8, 3), 1.1), {"layout": "THWC", "value_range": "0-1"}, "from 1.1 to 1.1 in a .* 0-1; clamp"),
        (-np.ones((16, 8, 8, 3)), {"layout": "THWC", "value_range": "0-1"}, "from -1 to -1 .*declared 0-1"),
        (np.full((16, 8, 8, 3), np.nan), {"layout": "THWC", "value_range": "0-1"}, "video 0: holds NaN or infinite"),
        (
            np.zeros((16, 8, 8, 3)),
            {"layout": "THWC", "value_range": "0-2"},
            "expected value_range '0-1', .*; got '0-2'",
        ),
        (np.zeros((16, 8, 8, 3), np.uint8), {"layout": "TCHW"}, r"expected 3 channels.*'TCHW' finds 8"),
        (np.zeros((16, 8, 8, 3), np.uint8), {"layout": "BTHWC"}, "'BTHWC' has 5 axes; got an array of 4"),
        (np.zeros((16, 8, 8, 3), np.uint8), {"layout": "NTHWC"}, "layout names the axes in order.*got 'NTHWC'"),
        ([np.zeros((16, 8, 8, 3), np.uint8)], {"layout": "BTHWC"}, "each item is one video .*leave out its B"),
        ([], {"layout": "THWC"}, "expected at least one video; got none"),
        (np.zeros((16, 8, 8, 3), bool), {"layout": "THWC"}, "whole numbers or floats; got bool"),
        (np.zeros((0, 8, 8, 3), np.uint8), {"layout": "THWC"}, "expected frames; got an empty array"),
        (np.zeros((16, 8, 8, 3), np.uint8), {"layout": "THWC", "names": ["a", "b"]}, "each of 1 videos; got 2"),
        (np.zeros((16, 8, 8, 3), np.uint8), {"layout": "THWC", "names": "a"}, "expected a sequence of names"),
        (np.zeros((15, 8, 8, 3), np.uint8), {"layout": "THWC"}, "video 0: 15 frames; protocol videogpt needs 16"),
    ],
)
def test_what_does_not_fit_is_one_clear_line(
    plain: Callable[..., rushes.FVD], given: Any, options: dict[str, Any], line: str
) -> None:
    fvd = plain("videogpt")
    with pytest.raises(InputError, match=line) as caught:
        fvd.update(given, real=True, **options)
    assert "\n" not in str(caught.value) and "0 real" in repr(fvd)


def test_one_bad_video_of_a_batch_counts_none(plain: Callable[..., rushes.FVD]) -> None:
    fvd = plain("videogpt")
    with pytest.raises(InputError, match="b: 3 frames"):
        fvd.update([REAL["take4"], REAL["take4"][:3]], real=True, layout="THWC", names=["a", "b"])
    assert repr(fvd) == "FVD(fvd under videogpt: 0 generated, 0 real)"


def test_floats_between_the_levels_are_kept_when_asked_for_and_the_signature_says_so(
    plain: Callable[..., rushes.FVD],
) -> None:
    found = {}
    for quantise in (True, False):
        fvd = plain("videogpt", quantise=quantise)
        for real, given in ((True, REAL), (False, FAKE)):
            floats = [np.clip(video / 255 + 0.3 / 255, 0, 1) for video in given.values()]
            fvd.update(floats, real=real, layout="THWC", value_range="0-1", names=list(given))
        found[quantise] = fvd.compute()
    assert "|rounding:none|" in found[False]["fvd"].signature and "rounding" not in found[True]["fvd"].signature
    gap = found[False].gen[0][1].features[:, 0] - found[True].gen[0][1].features[:, 0]
    assert gap == pytest.approx(0.3 / 127.5, rel=0.01)


# ---- collecting, merging, saving -------------------------------------------------------------------------------------


def test_batches_ranks_and_their_order_do_not_move_a_value(plain: Callable[..., rushes.FVD]) -> None:
    for names in (True, False):
        whole = filled(plain(metrics=("fvd", "kvd", "fid-vid")), names=names).compute()
        ranks = [plain(metrics=("fvd", "kvd", "fid-vid")) for _ in range(2)]
        for number, (name, video) in enumerate(REAL.items()):
            name_it = [name] if names else None
            ranks[number % 2].update(video, real=True, layout="THWC", names=name_it)
            ranks[1 - number % 2].update(FAKE[name], real=False, layout="THWC", names=name_it)
        one, other = (plain(metrics=("fvd", "kvd", "fid-vid")) for _ in range(2))
        one.merge(*ranks)
        other.merge(ranks[1].state_dict(), ranks[0].state_dict())
        for merged in (one, other):
            assert [m.as_dict() for m in merged.compute().measurements] == [m.as_dict() for m in whole.measurements]


def test_a_named_video_counts_once_and_one_name_is_one_video(plain: Callable[..., rushes.FVD]) -> None:
    """As where a sampler pads the last batch of a rank; equal videos without names all count."""
    fvd = filled(plain())
    again = filled(plain())
    fvd.merge(again)
    fvd.update(REAL["take4"], real=True, layout="THWC", names=["take4"])
    assert repr(fvd) == "FVD(fvd under genhoi: 3 generated, 3 real)"
    with pytest.raises(InputError, match="take8: two videos have this name"):
        fvd.update([REAL["take12"], REAL["take4"]], real=True, layout="THWC", names=["new", "take8"])
    assert "3 real" in repr(fvd)
    fvd.update([FAKE["take4"]] * 2, real=False, layout="THWC")
    fvd.update(FAKE["take4"], real=False, layout="THWC")
    found = fvd.compute()
    assert keys_of(found["fvd"])["n_gen"] == "6" and len(found.gen[0][1].videos) == 6


def test_state_goes_through_a_file_and_reset_keeps_the_real_side(
    plain: Callable[..., rushes.FVD], tmp_path: Path
) -> None:
    fvd = filled(plain(), names=False)
    want = fvd.compute()["fvd"].as_dict()
    np.savez(tmp_path / "state.npz", **fvd.state_dict())  # type: ignore[arg-type]
    fresh = plain()
    with np.load(tmp_path / "state.npz", allow_pickle=False) as state:
        fresh.load_state_dict(state)
    assert fresh.compute()["fvd"].as_dict() == want
    fresh.reset(keep_real=True)
    assert "0 generated, 3 real" in repr(fresh)
    empty = fresh.compute()["fvd"]
    assert empty.value is None and empty.note.endswith("there are 0 generated and 3 real")
    assert empty.definition.param("n_gen") == "0" and empty.definition.param("decoder") == "pyav/memory"
    fresh.update(list(FAKE.values()), real=False, layout="THWC")
    assert fresh.compute()["fvd"].as_dict() == want
    fresh.reset()
    assert "0 generated, 0 real" in repr(fresh)
    with pytest.raises(DefinitionMismatch, match="another recipe: bn_eps is 0.001 there and .*1e-05 here"):
        plain("videogpt").merge(fvd)
    with pytest.raises(InputError, match="expected what state_dict"):
        fresh.load_state_dict({"rows": np.zeros(3)})


def test_saved_statistics_stand_for_the_real_side(
    plain: Callable[..., rushes.FVD], folders: Path, random_weights: dict[str, Path], tmp_path: Path
) -> None:
    whole = filled(plain())
    want = whole.compute()["fvd"]
    whole.save(tmp_path / "real.npz", real=True)
    fvd = plain(real=tmp_path / "real.npz")
    fvd.update(list(FAKE.values()), real=False, layout="THWC", names=list(FAKE))
    assert fvd.compute()["fvd"].as_dict() == want.as_dict()
    with pytest.raises(DefinitionMismatch, match="bn_eps is 0.001 there"):
        plain("videogpt", real=tmp_path / "real.npz")
    with pytest.raises(InputError, match="expected a name ending in .npz"):
        whole.save(tmp_path / "real", real=True)
    with pytest.raises(InputError, match="no generated videos to save"):
        plain().save(tmp_path / "x.npz", real=False)


def test_ranks_that_were_given_the_same_real_side_count_it_once(
    plain: Callable[..., rushes.FVD], tmp_path: Path
) -> None:
    want = filled(plain())
    want.save(tmp_path / "real.npz", real=True)
    ranks = [plain(real=tmp_path / "real.npz") for _ in range(2)]
    for number, (name, video) in enumerate(FAKE.items()):
        ranks[number % 2].update(video, real=False, layout="THWC", names=[name])
    ranks[0].merge(ranks[1].state_dict())
    assert ranks[0].compute()["fvd"].as_dict() == want.compute()["fvd"].as_dict()
    with pytest.raises(DefinitionMismatch, match="given other statistics as real"):
        plain().merge(ranks[1])
    ranks[0].update(REAL["take4"], real=True, layout="THWC", names=["take4"])
    assert repr(ranks[0]) == "FVD(fvd under genhoi: 3 generated, 3 real)"
    ranks[0].reset()
    assert "0 generated, 3 real" in repr(ranks[0])


def test_statistics_of_files_and_of_memory_go_together_and_the_decoder_is_named(
    plain: Callable[..., rushes.FVD], folders: Path, random_weights: dict[str, Path], tmp_path: Path
) -> None:
    options: dict[str, Any] = {"weights": random_weights["i3d"], "device": "cpu", "jobs": 0, "protocol": "genhoi"}
    files = rushes.compare_sets(folders / "gen", folders / "gt", save_gt=tmp_path / "files.npz", **options)
    mixed = plain(real=tmp_path / "files.npz")
    mixed.update(list(FAKE.values()), real=False, layout="THWC", names=list(FAKE))
    found = mixed.compute()
    assert found["fvd"].value == files["fvd"].value and "|decoder:memory/pyav|" in found["fvd"].signature
    found.save("gt", tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "files.npz").read_bytes()

    filled(plain(decoder="pyav")).save(tmp_path / "declared.npz", real=True)
    assert rushes.compare_sets(folders / "gen", tmp_path / "declared.npz", **options)["fvd"].value == files["fvd"].value
    filled(plain()).save(tmp_path / "unknown.npz", real=True)
    with pytest.raises(DefinitionMismatch, match="decoder is memory there"):
        rushes.compare_sets(folders / "gen", tmp_path / "unknown.npz", **options)


def test_one_protocol_at_a_time_and_weights_are_looked_for_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="follows one protocol"):
        rushes.FVD("all")
    with pytest.raises(rushes.WeightsError, match="found nothing"):
        rushes.FVD(weights=tmp_path / "none.pt")
