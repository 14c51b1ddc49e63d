"""Timeline data: faults where they were counted, series that keep their peaks, few bytes."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np

from rushes.core import Measurement
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.metrics.motion import frame_diff_spike_count, freeze_frame_ratio, scene_cut_count
from rushes.instruments.clip.show.timeline import clip_timeline, find_faults
from rushes.instruments.clip.signals.profile import load_profile
from rushes.present.pages.timeline import MARKS, POINTS

DRAWN = ("flicker_score", "blur_score", "frame_diff_spike_count", "face_present_ratio", "mouth_audio_corr")
LANES = tuple(METRICS[name].missing("only its lane is wanted") for name in DRAWN)

# 40 steps that move by 10 levels (4 % of the range), three still ones (steps 11 to 13) and one jump (step 30).
DIFFS = np.full(40, 10.0)
DIFFS[10:13] = 0.2
DIFFS[29] = 90.0
MAFD = DIFFS / 2.56


def series(**more: np.ndarray) -> dict[str, np.ndarray]:
    return {"time_ms": np.arange(41) * 40.0, "luma_mean": np.full(41, 120.0), "luma_diff": DIFFS, "mafd": MAFD, **more}


def measured(**settings: float) -> tuple[Measurement, ...]:
    epsilon = settings.get("epsilon", 1.0)
    return (
        scene_cut_count(MAFD.tolist()),
        freeze_frame_ratio(DIFFS.tolist(), epsilon=epsilon),
        frame_diff_spike_count(DIFFS.tolist()),
    )


def data(measurements: tuple[Measurement, ...], given: dict[str, np.ndarray]) -> dict[str, Any]:
    made = clip_timeline(measurements, given)
    assert made is not None
    return json.loads(json.dumps(made))  # type: ignore[no-any-return]


def levels(made: dict[str, Any], name: str) -> np.ndarray:
    (found,) = [one for lane in made["lanes"] for one in lane["series"] if one["name"] == name]
    return np.frombuffer(base64.b64decode(found["points"]), np.uint8)


def marks(made: dict[str, Any], kind: str) -> list[list[float]]:
    return next((one["at"] for one in made["marks"] if one["kind"] == kind), [])


def test_marks_are_what_was_counted() -> None:
    made, counted = data(measured(), series()), {m.definition.name: m.value for m in measured()}
    # Step 30 leads to frame 30, at 30 · 40 ms. It stands out by (90 − 10) / 2.56 = 31 %; the way back by as much, but
    # there the step itself is only 3.9 %: one cut.
    assert marks(made, "cuts") == marks(made, "spikes") == [[1200.0, 30]]
    # Steps 11 to 13 run from frame 10 to frame 13: 400 ms to 520 ms.
    assert marks(made, "freezes") == [[400.0, 520.0, 3]]
    assert counted == {"scene_cut_count": 1, "freeze_frame_ratio": 3 / 40, "frame_diff_spike_count": 1}
    assert made["duration_ms"] == 41 * 40.0 and made["times"] == [0.0, 1600.0]


def test_the_threshold_comes_from_the_signature() -> None:
    assert find_faults(measured(epsilon=0.1), series()).freezes == ()
    assert find_faults((), series()).frames() == [], "what was not computed is not marked"


def test_a_lost_face_is_a_gap_up_to_the_end() -> None:
    faces = np.ones(41)
    faces[38:] = 0
    mouth = np.where(faces > 0, 0.2, np.nan)
    made = data((*measured(), *LANES), series(face_count=faces, mouth_openness=mouth, face_bbox=np.zeros((41, 4))))
    assert marks(made, "gaps") == [[38 * 40.0, 41 * 40.0, 3]]
    assert levels(made, "mouth_openness").tolist()[37:] == [254, 255, 255, 255]
    assert levels(made, "face_count").tolist()[37:] == [254, 0, 0, 0]
    assert levels(made, "luma_diff")[0] == 255, "nothing leads to the first frame"


def test_a_film_strip_looks_at_each_fault_once() -> None:
    # The middle of the still steps 11 to 13, and the jump that is both a cut and a spike.
    assert find_faults(measured(), series()).frames() == [12, 30]


def test_a_long_clip_keeps_its_peaks_in_few_points() -> None:
    luma = np.full(100_000, 50.0)
    luma[77_777], luma[12_345] = 200.0, 3.0
    made = data(LANES, {"time_ms": np.arange(100_000) * 40.0, "luma_mean": luma})
    found = levels(made, "luma_mean")
    assert len(found) <= POINTS
    assert found.max() == 254 and found.min() == 0
    assert np.flatnonzero(found == 254).tolist() == [77_777 // 334 * 2 + 1], "in the stretch of 334 frames it lies in"


def test_uneven_times_are_kept() -> None:
    times = np.array([0.0, 10.0, 20.0, 1000.0, 1010.0])
    made = data(LANES, {"time_ms": times, "luma_mean": np.arange(5.0)})
    back = np.frombuffer(base64.b64decode(made["times"]), "<u2") / 65535 * made["duration_ms"]
    assert np.abs(back - times).max() < made["duration_ms"] / 65535
    assert made["duration_ms"] == 1010.0 + 10.0  # the usual step follows the last frame


def test_too_many_marks_are_counted_not_drawn() -> None:
    diffs = np.tile([0.0, 5.0], 500)
    given = {"time_ms": np.arange(1001) * 40.0, "luma_diff": diffs, "luma_mean": np.zeros(1001)}
    made = data((freeze_frame_ratio(diffs.tolist()),), given)
    assert len(marks(made, "freezes")) == MARKS
    # Every one of the 500 is 40 ms long: none is listed, all are counted, and "on twos" is not one long still.
    assert made["shorter"] == 500 and made["left_out"] == 0
    assert next(one for one in made["marks"] if one["kind"] == "freezes")["listed"] == []


def test_nothing_stored_gives_no_timeline() -> None:
    assert clip_timeline((), {}) is None
    one = data(LANES, {"time_ms": np.zeros(1), "luma_mean": np.array([9.0]), "luma_diff": np.zeros(0)})
    assert one["frames"] == 1 and [[s["name"] for s in lane["series"]] for lane in one["lanes"]] == [["luma_mean"]]


def test_lanes_say_what_they_are_and_bands_come_last() -> None:
    given = series(face_count=np.ones(41), mouth_openness=np.full(41, 0.1), audio_envelope=np.full(41, 0.1))
    made = data(LANES, given)
    shown = [(lane["label"], lane["band"], [one["word"] for one in lane["series"]]) for lane in made["lanes"]]
    assert shown == [
        ("Luma", False, ["luma"]),
        ("Difference", False, ["difference"]),
        ("Mouth", False, ["mouth", "sound"]),
        ("Face", True, ["face"]),
    ]


def test_a_list_has_the_ten_longest_stills_joined_over_blips() -> None:
    # 25 fps. Twelve stills of 10, 11, … 21 steps (400 to 840 ms) with 20 moving steps between; the first is cut in two
    # by one moving step. Then five of two steps (80 ms).
    steps: list[float] = []
    for size in range(10, 22):
        still = [0.0] * size if size > 10 else [0.0] * 5 + [9.0] + [0.0] * 4
        steps += [*still, *[9.0] * 20]
    steps += [0.0, 0.0, *[9.0] * 20] * 5
    given = {"time_ms": np.arange(len(steps) + 1) * 40.0, "luma_diff": np.array(steps)}
    made = data((freeze_frame_ratio(steps),), given)
    (found,) = made["marks"]
    # Drawn: 13 + 5. Joined: 12 + 5. Listed: ten longest, 12 to 21 steps; beside them the two of ten and eleven steps
    # and the five short ones.
    assert len(found["at"]) == 18
    assert [count for _, _, count in found["listed"]] == list(range(12, 22))
    assert made["shorter"] == 2 + 5


def test_a_still_with_one_odd_step_inside_is_one_line() -> None:
    steps = [9.0, *[0.0] * 10, 9.0, *[0.0] * 10, 9.0]
    made = data((freeze_frame_ratio(steps),), {"time_ms": np.arange(24) * 40.0, "luma_diff": np.array(steps)})
    # From frame 1 (40 ms) to frame 22 (880 ms), 20 of its 21 steps still.
    assert made["marks"][0]["listed"] == [[40.0, 880.0, 20]] and made["shorter"] == 0


def test_a_lane_shows_the_thresholds_of_the_run() -> None:
    settings = {"profile": "metricbundle-v1", "profile_sha256": load_profile("metricbundle-v1").digest}
    given = series(laplacian_variance=np.full(41, 300.0))
    made = clip_timeline((*measured(), *LANES), given, settings)
    assert made is not None
    lines = [line for lane in made["lanes"] for line in lane.get("lines", ())]  # type: ignore[attr-defined]
    assert lines == [
        {"series": "luma_diff", "value": 1.0, "text": "still below 1"},
        {"series": "laplacian_variance", "value": 20.0, "text": "flagged below 20"},
    ]
    # Another file of the same name is another profile: nothing is drawn that did not judge.
    other = clip_timeline((*measured(), *LANES), given, settings | {"profile_sha256": "0" * 64})
    assert other is not None
    assert [line["text"] for lane in other["lanes"] for line in lane.get("lines", ())] == ["still below 1"]  # type: ignore[attr-defined]


def test_a_lane_reaches_to_its_threshold() -> None:
    settings = {"profile": "metricbundle-v1", "profile_sha256": load_profile("metricbundle-v1").digest}
    made = data_with(settings, series(laplacian_variance=np.full(41, 3.0)))
    (found,) = [one for lane in made["lanes"] for one in lane["series"] if one["name"] == "laplacian_variance"]
    assert (found["low"], found["high"]) == (0.0, 20.0)


def data_with(settings: dict[str, str], given: dict[str, np.ndarray]) -> dict[str, Any]:
    return json.loads(json.dumps(clip_timeline((*measured(), *LANES), given, settings)))  # type: ignore[no-any-return]


def test_no_lane_has_the_name_of_another_metric() -> None:
    """A lane "Sharpness" that draws blur_score, 0 to 2000, beside a sharpness of 0.6962 is two numbers of one name."""
    names = {name.replace("_", " "): name for name in METRICS}
    drawn = {name: one.lane for name, one in METRICS.items() if one.lane is not None}
    assert len(drawn) >= len(DRAWN)
    for name, lane in drawn.items():
        for text in (lane.label, *(trace.word for trace in lane.traces)):
            owner = names.get(text.lower(), name)
            assert METRICS[owner].definition.name == METRICS[name].definition.name, f"{text!r} is {owner}'s"
