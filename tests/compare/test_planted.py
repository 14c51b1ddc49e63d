"""`compare` on clips made worse on purpose: nothing is ever called better, and lost frames are called worse."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.clips import spoil
from tests.compare.planted import PLANTED, clean, moving_texture, pictures_of, sound_of, write_set

from rushes import compare_runs, evaluate_clips
from rushes.compare.runs.compare import judged
from rushes.compare.runs.results import RunComparison

FRAMES, FPS = 24, 25.0


def verdicts(found: RunComparison) -> dict[str, str]:
    """Of each metric as if it were the only one: the harder test, for Holm's rule only takes verdicts away."""
    return {m.name: judged([m])[0].verdict for m in found.metrics}


def compared(a: Path, b: Path, work: Path) -> tuple[RunComparison, RunComparison]:
    """Both directions."""
    runs = []
    for folder in (a, b):
        run = work / f"run-{folder.name}"
        runs.append(run if run.exists() else evaluate_clips(folder, run=run, jobs=1).path)
    return compare_runs(*runs), compare_runs(*runs[::-1])


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic")
    clips = [
        (f"take_{n}", moving_texture(n, frames=FRAMES, size=(96, 64)), FPS, sound_of(n, FRAMES, FPS)) for n in range(8)
    ]
    write_set(folder / "clean", clips, clean)
    for name, how in PLANTED.items():
        write_set(folder / name, clips, how)
    return folder


@pytest.fixture(scope="module")
def real(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    found = sorted(p for p in (shared / "clips").iterdir() if p.suffix != ".csv")
    read = [(p.stem, *pictures_of(p, most=12, width=128), None) for p in found]
    clips = [clip for clip in read if len(clip[1]) == 12]  # one of them is damaged after a few frames
    write_set(folder / "clean", clips, clean)
    for name, how in PLANTED.items():
        write_set(folder / name, clips, how)
    return folder


@pytest.mark.parametrize("change", PLANTED)
@pytest.mark.parametrize("kind", ["synthetic", "real"])
def test_no_planted_change_is_called_better(kind: str, change: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(kind)
    forth, back = compared(folder / "clean", folder / change, folder)
    words = {"forth": verdicts(forth), "back": verdicts(back)}
    assert not [(way, name) for way, found in words.items() for name, word in found.items() if word == "better"]
    assert not [(way, name) for way, found in words.items() for name, word in found.items() if word == "worse"]
    changed = {name for name, word in words["forth"].items() if word in ("moved", "not comparable")}
    assert changed, "the change is seen, all the same"


def test_noise_moves_sharpness_and_says_which_way(synthetic: Path) -> None:
    forth, back = compared(synthetic / "clean", synthetic / "noise", synthetic)
    sides = [judged(found.find("blur_score")[:1])[0].text for found in (forth, back)]
    assert sides == ["changed: higher", "changed: lower"]


def test_half_size_says_what_differs(synthetic: Path) -> None:
    forth, _ = compared(synthetic / "clean", synthetic / "half-size", synthetic)
    blur = forth.find("blur_score")[0]
    assert blur.verdict == "not comparable" and len(blur.unlike) == 8
    assert {clip.why for clip in blur.unlike} == {"frame size 96×64 in A, 48×32 in B"}
    assert verdicts(forth)["decode_ok"] == "same"


def test_dropped_frames_differ_in_rate_or_in_length(synthetic: Path) -> None:
    kept, _ = compared(synthetic / "clean", synthetic / "dropped-in-place", synthetic)
    # 18 of 24 frames stay, over the same second: the last is the 23rd, so about 19 fps in place of 25
    assert kept.find("freeze_frame_ratio")[0].why_unlike.startswith("frame rate 25 fps in A, 1")
    closed, _ = compared(synthetic / "clean", synthetic / "dropped", synthetic)
    assert closed.find("scene_cut_count")[0].why_unlike == "length 0.96 s in A, 0.72 s in B"  # 24 / 25, 18 / 25
    assert not closed.find("freeze_frame_ratio")[0].unlike


@pytest.mark.parametrize("kind", ["synthetic", "real"])
def test_lost_frames_are_worse_and_a_re_encode_does_not_mend_them(kind: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(kind)
    torn = folder / "torn"
    shutil.copytree(folder / "clean", torn)
    for n, clip in enumerate(sorted(torn.iterdir())):
        spoil(clip, "video", [*range(2, 6 + n % 3)], fill=255)
    forth, back = compared(folder / "clean", torn, folder)
    assert verdicts(forth)["decode_failures"] == "worse"
    assert verdicts(back)["decode_failures"] == "moved", "errors also go when a damaged clip is encoded again"
