"""Ruined candidates never hold, however they are ruined; equal ones hold where something judges the picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from tests.compare.planted import moving_texture

import rushes
from rushes.compare.gate.gate import check_regression
from rushes.compare.gate.report import gate_checks, gate_text, headline
from rushes.media import write_clip

Frames = list[np.ndarray]
CLIPS = 7
RNG = np.random.default_rng(5)
_ORDER = np.random.default_rng(3).permutation(16)


def scrambled(frames: Frames) -> Frames:
    h, w = frames[0].shape[0] // 4, frames[0].shape[1] // 4
    out = [frame.copy() for frame in frames]
    for frame, made in zip(frames, out, strict=True):
        for to, at in enumerate(_ORDER):
            tile = frame[at // 4 * h : (at // 4 + 1) * h, at % 4 * w : (at % 4 + 1) * w]
            made[to // 4 * h : (to // 4 + 1) * h, to % 4 * w : (to % 4 + 1) * w] = tile
    return out


RUINED: dict[str, Callable[[Frames], Frames]] = {
    "half size": lambda f: [cv2.resize(x, (x.shape[1] // 2, x.shape[0] // 2)) for x in f],
    "blur": lambda f: [cv2.GaussianBlur(x, (0, 0), 1.5) for x in f],
    "noise": lambda f: [np.clip(x + RNG.normal(0, 25, x.shape), 0, 255).astype(np.uint8) for x in f],
    "dropped frames": lambda f: [x for n, x in enumerate(f) if n % 3],
    "faster": lambda f: f[::2],
    "white noise": lambda f: [RNG.integers(0, 256, x.shape, dtype=np.uint8) for x in f],
    "upside-down": lambda f: [np.ascontiguousarray(x[::-1, ::-1]) for x in f],
    "scrambled": scrambled,
}


def source(seed: int) -> Frames:
    return moving_texture(seed, frames=16, size=(96, 64))


def write_arm(folder: Path, change: Callable[[Frames], Frames], crf: int = 18, preset: str = "fast") -> Path:
    folder.mkdir(parents=True)
    for seed in range(CLIPS):
        write_clip(folder / f"p{seed}.mp4", change(source(seed)), crf=crf, options={"preset": preset})
    return folder


@pytest.fixture(scope="module")
def arms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, rushes.Run]:
    home = tmp_path_factory.mktemp("arms")
    same = {
        "full": (18, "fast"),
        "again": (18, "medium"),
        "third": (17, "fast"),
        "equal": (18, "faster"),
        "crf 38": (38, "fast"),
    }
    folders = {name: write_arm(home / name, lambda f: f, crf, preset) for name, (crf, preset) in same.items()}
    folders |= {name: write_arm(home / name, change) for name, change in RUINED.items()}
    return {
        name: rushes.evaluate_clips(folder, run=home / "runs" / name, motion=True, jobs=1)
        for name, folder in folders.items()
    }


@pytest.mark.parametrize("name", ["crf 38", *RUINED])
@pytest.mark.parametrize("metrics", [(), ("sharpness",), ("temporal_inconsistency",)])
def test_a_ruined_candidate_never_holds(arms: dict[str, rushes.Run], name: str, metrics: Sequence[str]) -> None:
    """By default, by a proxy that is named, and by a metric that agreed with people about something else."""
    found = check_regression(arms["full"], arms[name], repeats=[arms["again"], arms["third"]], metrics=metrics)
    assert found.answer in ("worse", "cannot tell"), gate_text(found, "text")


@pytest.mark.parametrize("name", ["equal", "crf 38", *RUINED])
def test_decoding_and_timing_judge_no_picture(arms: dict[str, rushes.Run], name: str) -> None:
    found = check_regression(arms["full"], arms[name], metrics={"decode_ok": 0, "corrupt_frames": 0})
    assert found.answer in ("worse", "cannot tell")
    if found.answer == "cannot tell":
        assert "no metric here judges picture quality" in headline(found)
        assert "rushes fidelity" in gate_text(found, "text") and "rushes judge" in gate_text(found, "text")
        assert gate_checks(found).checks[-1].outcome == "unclear"


EARNED = ("luma_alternation", "temporal_inconsistency")


@pytest.mark.parametrize("name", ["equal", "crf 38", *RUINED])
def test_metrics_of_time_judge_no_picture(arms: dict[str, rushes.Run], name: str) -> None:
    """Named or not: nine ruined candidates and a fine one get past none of them, and the first line says why."""
    repeats = [arms["again"], arms["third"]]
    found = check_regression(arms["full"], arms[name], repeats=repeats, metrics=EARNED)
    assert found.answer in ("worse", "cannot tell") and not found.judges_picture
    if name == "equal":
        assert headline(found).startswith("The gate cannot tell: the picture was not judged, only its temporal quality")
        assert "rushes fidelity" in gate_text(found, "text") and gate_checks(found).checks[-1].outcome == "unclear"
        unnamed = check_regression(arms["full"], arms[name], repeats=repeats)
        assert unnamed.answer in ("worse", "cannot tell")  # the ruined ones: the first test above


def test_an_unjudged_picture_may_be_allowed_and_is_never_passed_over(arms: dict[str, rushes.Run]) -> None:
    repeats = [arms["again"], arms["third"]]
    found = check_regression(arms["full"], arms["equal"], repeats=repeats, metrics=EARNED, allow_unjudged=True)
    words = "The gate holds in temporal quality, but the picture was not judged: 2 metrics are the same"
    assert found.answer == "same" and headline(found).startswith(words), headline(found)
    assert gate_checks(found).checks[-1].outcome == "allowed"
    noise = check_regression(arms["full"], arms["white noise"], repeats=repeats, metrics=EARNED, allow_unjudged=True)
    assert noise.answer == "worse"


def test_a_rise_of_a_proxy_is_a_finding(arms: dict[str, rushes.Run]) -> None:
    """White noise is sharper than any picture: a one-sided gate would let it through."""
    found = check_regression(arms["full"], arms["white noise"], metrics={"sharpness": "5%"})
    (sharpness,) = found.find("sharpness")
    assert (sharpness.side, sharpness.verdict, found.answer) == ("either", "moved", "worse")
    assert float(sharpness.difference.value or 0) > 0


def test_more_flagged_clips_than_chance_explains_never_hold(arms: dict[str, rushes.Run]) -> None:
    full, soft = arms["full"], arms["blur"]
    found = check_regression(full, soft, metrics={"decode_ok": 0})
    signals = found.signals
    assert signals is not None and (signals.before, signals.clips) == (0, CLIPS)
    if signals.after == CLIPS:  # 2⁻⁷ = 0.0078: chance does not explain it
        assert signals.p.value == pytest.approx(2**-CLIPS) and found.answer == "worse"
