"""Two runs over the same clips: pairing, refusals, transitions, gates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rushes import score_pose
from rushes.compare.comparison import Outcome, WhyNot
from rushes.compare.runs.as_data import as_data, comparison_data
from rushes.compare.runs.checks import regression
from rushes.compare.runs.many import compare_all, compare_runs, judge
from rushes.compare.runs.page.words import quiet_lines, unlike_lines
from rushes.compare.runs.results import transition_table
from rushes.compare.runs.tables import change_table, difference_table
from rushes.core import Definition, Measurement, signature_params
from rushes.core.errors import InputError
from rushes.core.selection import select
from rushes.instruments.clip.metrics.image import BLUR_SCORE
from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO, SCENE_CUT_COUNT
from rushes.instruments.clip.metrics.timing import AUDIO_DURATION_MS, DECODE_FAILURES
from rushes.storage.runs import Entry, RunWriter, Subject, read_run

Values = Mapping[Definition, float | None]


def write_run(
    folder: Path,
    clips: Mapping[str, Values],
    badges: Mapping[str, str] | None = None,
    sizes: Mapping[str, tuple[int, int]] | None = None,
    **settings: object,
) -> Path:
    asked = {"tier": 0, "profile": "general", "profile_sha256": "ab" * 32} | settings
    with RunWriter(folder, instrument="clip", settings=asked) as run:
        for name, values in clips.items():
            size = (sizes or {}).get(name)
            subject = Subject(
                id=name,
                kind="clip",
                path=f"{name}.mp4",
                sha256=None,
                badge=(badges or {}).get(name, "pass"),
                facts={"media": {"video": {"width": size[0], "height": size[1]}}} if size else {},
            )
            rows = tuple(
                Measurement(definition=d, value=v, count=1, note="" if v is not None else "no frames")
                for d, v in values.items()
            )
            run.add(Entry(subject=subject, measurements=rows))
        run.finish(list(clips))
    return folder


FREEZE = FREEZE_FRAME_RATIO


def test_clips_pair_by_id_whatever_their_order(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"x": {FREEZE: 0.1}, "y": {FREEZE: 0.2}, "only-a": {FREEZE: 0.9}})
    b = write_run(tmp_path / "b", {"new": {FREEZE: 0.5}, "y": {FREEZE: 0.5}, "x": {FREEZE: 0.2}})
    found = compare_runs(a, b)
    assert (found.paired, found.only_first, found.only_second) == (("x", "y"), ("only-a",), ("new",))
    (metric,) = found.metrics
    assert metric.statistics.mean.value == pytest.approx(0.2)  # (0.1 + 0.3) / 2
    assert [(c.subject, c.difference.stored_value) for c in metric.largest] == [("y", 0.3), ("x", 0.1)]
    assert "aggregate:difference" in metric.largest[0].difference.signature


def test_other_signatures_are_refused_by_name_and_the_rest_is_compared(tmp_path: Path) -> None:
    other = FREEZE.with_params(eps=2.0)
    a = write_run(tmp_path / "a", {"x": {FREEZE: 0.1, BLUR_SCORE: 80.0}})
    b = write_run(tmp_path / "b", {"x": {other: 0.1, BLUR_SCORE: 70.0, SCENE_CUT_COUNT: 1}})
    found = compare_runs(a, b)
    assert [m.statistics.metric.name for m in found.metrics] == ["blur_score"]
    assert [r.why for r in found.refused] == [
        "freeze_frame_ratio: eps is 1.0 in one and 2.0 in the other; these values are not comparable"
    ]
    assert found.unshared == (SCENE_CUT_COUNT.signature,)
    with pytest.raises(InputError, match="was not compared: freeze_frame_ratio: eps is"):
        found.find("freeze_frame_ratio")


def test_two_readings_of_one_metric_pair_each_with_its_own(tmp_path: Path) -> None:
    p10 = BLUR_SCORE.with_params(statistic="p10")
    a = write_run(tmp_path / "a", {"x": {BLUR_SCORE: 80.0, p10: 60.0}})
    b = write_run(tmp_path / "b", {"x": {BLUR_SCORE: 81.0, p10: 50.0}})
    found = compare_runs(a, b)
    assert [m.statistics.mean.value for m in found.find("blur_score")] == [1.0, -10.0]
    assert [m.statistics.mean.value for m in found.find(p10.signature)] == [-10.0]


def test_badge_transitions_are_nine_labelled_counts(tmp_path: Path) -> None:
    clips: dict[str, Values] = {name: {FREEZE: 0.1} for name in "wxyz"}
    a = write_run(tmp_path / "a", clips, {"w": "pass", "x": "pass", "y": "flagged", "z": "reject"})
    b = write_run(tmp_path / "b", clips, {"w": "pass", "x": "reject", "y": "pass", "z": "reject"})
    found = compare_runs(a, b)
    counts = {(m.place["before"], m.place["after"]): m.value for m in found.transitions}
    assert len(counts) == 9 and sum(int(v or 0) for v in counts.values()) == 4
    assert (counts["pass", "reject"], counts["flagged", "pass"], counts["flagged", "flagged"]) == (1, 1, 0)
    assert {m.signature for m in found.transitions} == {
        "badge_transition_count|profile:general-abababababab|tier:0|v:1"
    }
    assert transition_table(found.transitions).texts() == [
        ["pass", "1", "0", "1"],
        ["flagged", "1", "0", "0"],
        ["reject", "0", "0", "1"],
    ]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"tier": 1}, "tier is 0 in one and 1 in the other"),
        ({"input": "canon"}, "input is none in one and canon in the other"),
        (
            {"profile": "talking-head", "profile_sha256": "cd"},
            "profile is general in one and talking-head in the other",
        ),
        ({"profile_sha256": "cd"}, "profile is general in one and general with other rules"),
    ],
)
def test_badges_under_other_rules_do_not_compare(tmp_path: Path, settings: dict[str, object], why: str) -> None:
    a = write_run(tmp_path / "a", {"x": {FREEZE: 0.1}})
    b = write_run(tmp_path / "b", {"x": {FREEZE: 0.1}}, **settings)
    found = compare_runs(a, b)
    assert found.transitions == () and why in found.transitions_refused


def test_nothing_in_common_is_one_clear_line(tmp_path: Path) -> None:
    a, b = write_run(tmp_path / "a", {"x": {FREEZE: 0.1}}), write_run(tmp_path / "b", {"y": {FREEZE: 0.1}})
    with pytest.raises(InputError, match=r"no subject has the same id in both runs: .*such as x.*such as y"):
        compare_runs(a, b)
    c = write_run(tmp_path / "c", {"x": {FREEZE.with_params(eps=2.0): 0.1}}, tier=1)
    with pytest.raises(InputError, match=r"share 1 clips, but no values can be compared: freeze_frame_ratio: eps is"):
        compare_runs(a, c)


def test_a_regression_follows_the_metric_s_direction(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"x": {FREEZE: 0.1, BLUR_SCORE: 80.0, SCENE_CUT_COUNT: 1}})
    b = write_run(tmp_path / "b", {"x": {FREEZE: 0.3, BLUR_SCORE: 70.0, SCENE_CUT_COUNT: 9}})
    found, back = compare_runs(a, b), compare_runs(b, a)
    assert regression(found, "freeze_frame_ratio", 0.1) and not regression(back, "freeze_frame_ratio", 0.1)
    assert regression(found, "blur_score", 9.9) and not regression(back, "blur_score", 0)
    assert not regression(found, "blur_score", 10.0), "exactly the amount is still allowed"
    with pytest.raises(InputError, match="has no better direction"):
        regression(found, "scene_cut_count", 1)
    with pytest.raises(InputError, match="has it, or neither; they share freeze_frame_ratio, blur_score"):
        regression(found, "flicker", 1)


def test_a_gate_without_a_single_pair_cannot_hold(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"x": {FREEZE: None}})
    b = write_run(tmp_path / "b", {"x": {FREEZE: 0.3}})
    with pytest.raises(InputError, match="the gate cannot be checked"):
        regression(compare_runs(a, b), "freeze_frame_ratio", 1)


def test_a_run_compared_with_itself_does_not_move(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"x": {FREEZE: 0.1}, "y": {FREEZE: 0.2}})
    (metric,) = compare_runs(a, a).metrics
    assert metric.largest == () and metric.statistics.mean.value == 0.0


PLACED = Definition(
    name="placed_score",
    unit="1",
    lowest=None,
    highest=None,
    better="higher",
    summary="s",
    formula="f",
    params=signature_params(k=20),
    places=("system",),
)


def placed(folder: Path, scores: Mapping[str, float], definition: Definition = PLACED) -> Path:
    """A run with one subject that has a number per system, all under one signature, as a study has."""
    with RunWriter(folder, instrument="preference", settings={}) as run:
        rows = tuple(
            Measurement(definition=definition, value=value, count=1, at=(("system", system),))
            for system, value in scores.items()
        )
        run.add(Entry(subject=Subject(id="study", kind="study", path="s", sha256=None), measurements=rows))
        run.finish(["study"])
    return folder


def test_two_systems_of_one_signature_each_pair_with_their_own(tmp_path: Path) -> None:
    a = placed(tmp_path / "a", {"amber": 1000.0, "100%|B": 900.0, "gone": 1.0})
    b = placed(tmp_path / "b", {"100%|B": 950.0, "amber": 990.0, "new": 2.0})
    found = compare_runs(a, b)
    assert [(m.reading.place, m.statistics.mean.value) for m in found.metrics] == [
        ({"system": "amber"}, -10.0),
        ({"system": "100%|B"}, 50.0),
    ]
    assert [m.name for m in found.metrics] == ["placed_score (amber)", "placed_score (100%|B)"]
    assert found.find("placed_score", system="amber")[0].statistics.mean.place == {
        "metric": "placed_score",
        "system": "amber",
    }
    assert found.unshared == (f"{PLACED.signature} (system gone)", f"{PLACED.signature} (system new)")
    assert found.refused == ()
    with pytest.raises(InputError, match="was compared, but not at {'system': 'gone'}"):
        found.find("placed_score", system="gone")
    assert [m.difference.place["system"] for m in regression(found, "placed_score", 5)] == ["amber"]
    rows = as_data(found)["metrics"]
    assert isinstance(rows, list) and [row["at"] for row in rows] == [{"system": "amber"}, {"system": "100%|B"}]


def test_places_read_differently_are_refused_once(tmp_path: Path) -> None:
    runs = []
    for name, definition in (("a", PLACED), ("b", PLACED.with_params(k=50))):
        more = Measurement(definition=FREEZE, value=0.1, count=1)
        run = read_run(placed(tmp_path / name, {"amber": 1.0, "birch": 2.0}, definition))
        runs.append(replace(run, measurements={"study": (*run.measurements["study"], more)}))
    found = compare_runs(*runs)
    assert [(r.name, r.why) for r in found.refused] == [
        ("placed_score", "placed_score: k is 20 in one and 50 in the other; these values are not comparable")
    ]
    assert (len(found.metrics), found.unshared) == (1, ())


def test_joints_of_a_pose_run_each_pair_with_their_own(tmp_path: Path) -> None:
    """Every joint where it should be; then the left wrist (joint 9) off by more than any tolerance in every frame."""
    truth = np.random.default_rng(1).uniform(0, 100, (4, 17, 2))
    wrong = truth + np.where(np.arange(17) == 9, 1000.0, 0.0)[:, None]
    np.savez(tmp_path / "gt.npz", keypoints=truth)
    for name, points in (("a", truth), ("b", wrong)):
        np.savez(tmp_path / "pred.npz", keypoints=points)
        score_pose(tmp_path / "pred.npz", tmp_path / "gt.npz", norms=["bbox-diagonal"], ks=[20], run=tmp_path / name)
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    joints = [m for m in found.metrics if m.reading.name == "pck" and m.reading.at]
    assert len(joints) == 17
    for m in joints:
        is_wrist = m.reading in select([m.reading], "pck", joint="left_wrist")
        assert m.statistics.mean.value == (-1.0 if is_wrist else 0.0)
    assert len({m.name for m in found.metrics}) == len(found.metrics)


def test_a_metric_of_no_instrument_compares_like_any_other(tmp_path: Path) -> None:
    own = Definition(
        name="letterbox_ratio", unit="ratio", lowest=0, highest=1, better="lower", summary="s", formula="f"
    )
    a, b = (write_run(tmp_path / n, {"x": {own: v}, "y": {own: v / 2}}) for n, v in (("a", 0.2), ("b", 0.8)))
    found = compare_runs(a, b)
    # differences 0.6 and 0.3
    (row,) = difference_table(judge([found])).texts()
    assert row[:3] == ["letterbox_ratio", "↓", "+0.4500"]
    assert [cells[:2] for cells in change_table(found).texts()] == [["letterbox_ratio", "x"], ["letterbox_ratio", "y"]]
    assert regression(found, "letterbox_ratio", 0.4)


BIG, SMALL = (640, 360), (320, 180)
LEFT_OUT = "frame size 640×360 in A, 320×180 in B"


def half_small(tmp_path: Path) -> tuple[Path, Path]:
    """Three clips; in the second run "z" is half the size, with a sharpness that says so."""
    values: dict[str, Values] = {name: {BLUR_SCORE: 10.0, AUDIO_DURATION_MS: 1000.0} for name in "xyz"}
    a = write_run(tmp_path / "a", values, sizes=dict.fromkeys("xyz", BIG))
    other: dict[str, Values] = {
        "x": {BLUR_SCORE: 11.0, AUDIO_DURATION_MS: 1000.0},
        "y": {BLUR_SCORE: 12.0, AUDIO_DURATION_MS: 1000.0},
        "z": {BLUR_SCORE: 90.0, AUDIO_DURATION_MS: 900.0},
    }
    return a, write_run(tmp_path / "b", other, sizes={"x": BIG, "y": BIG, "z": SMALL})


def test_a_clip_of_another_size_is_left_out_of_what_depends_on_size(tmp_path: Path) -> None:
    found = compare_runs(*half_small(tmp_path))
    (blur,), (sound,) = found.find("blur_score"), found.find("audio_duration_ms")
    assert (blur.statistics.mean.value, blur.statistics.mean.count) == (1.5, 2)  # (1 + 2) / 2, without z's 80
    assert [(clip.subject, clip.why) for clip in blur.unlike] == [("z", LEFT_OUT)]
    assert [change.subject for change in blur.largest] == ["y", "x"]
    assert blur.statistics.mean.note == f"1 of 3 clips are not comparable: {LEFT_OUT}"
    assert (len(sound.unlike), sound.statistics.mean.count) == (0, 3), "a length does not depend on the size"
    assert unlike_lines(found) == [f"On 1 of 3 clips not compared ({LEFT_OUT}): blur_score"]
    rows = as_data(found)["metrics"]
    assert isinstance(rows, list) and rows[0]["not_comparable"] == [{"subject": "z", "why": LEFT_OUT}]


def test_no_clip_alike_is_not_comparable_and_no_gate_holds(tmp_path: Path) -> None:
    values: dict[str, Values] = {name: {BLUR_SCORE: 10.0 + ord(name), FREEZE: 0.1} for name in "xyz"}
    a = write_run(tmp_path / "a", values, sizes=dict.fromkeys("xyz", BIG))
    b = write_run(tmp_path / "b", values, sizes={"x": SMALL, "y": SMALL, "z": (64, 36)})
    found = compare_runs(a, b)
    assert {(m.outcome, m.why) for m in found.metrics} == {(Outcome.NOT_COMPARABLE, WhyNot.MEDIA_DIFFER)}
    assert difference_table(judge([found])).rows == [] and change_table(found).rows == []
    why = f"{LEFT_OUT} on 2 of them, other differences on the rest"
    quiet = [(f"B not comparable with A ({why})", ["blur_score", "freeze_frame_ratio"])]
    assert (quiet_lines(judge([found])), quiet_lines(judge([found]), unlike=False)) == (quiet, [])
    assert unlike_lines(found) == [f"On no clip compared ({why}): blur_score, freeze_frame_ratio"]
    with pytest.raises(InputError, match="blur_score: 3 of 3 clips are not comparable .* the gate cannot be checked"):
        regression(found, "blur_score", 1000)


def test_a_gate_over_a_part_of_the_clips_does_not_hold_either(tmp_path: Path) -> None:
    found = compare_runs(*half_small(tmp_path))
    with pytest.raises(InputError, match=f"1 of 3 clips is not comparable \\({LEFT_OUT}\\), so the gate cannot"):
        regression(found, "blur_score", 1000)


def test_a_clip_without_a_value_is_missing_and_not_unlike(tmp_path: Path) -> None:
    a = write_run(tmp_path / "a", {"x": {BLUR_SCORE: 10.0}, "y": {BLUR_SCORE: 10.0}}, sizes={"x": BIG, "y": BIG})
    b = write_run(tmp_path / "b", {"x": {BLUR_SCORE: None}, "y": {BLUR_SCORE: 9.0}}, sizes={"y": BIG})
    (blur,) = compare_runs(a, b).find("blur_score")
    assert not blur.unlike and blur.statistics.mean.note.startswith("1 of 2 clips lack a value")


def test_a_proxy_moves_and_only_a_true_direction_is_judged(tmp_path: Path) -> None:
    first: dict[str, Values] = {n: {BLUR_SCORE: 10.0, DECODE_FAILURES: 0, SCENE_CUT_COUNT: 1} for n in "stuvwxyz"}
    second: dict[str, Values] = {
        n: {BLUR_SCORE: 30.0 + i, DECODE_FAILURES: 5 + i, SCENE_CUT_COUNT: 3 + i} for i, n in enumerate("stuvwxyz")
    }
    a, b = write_run(tmp_path / "a", first), write_run(tmp_path / "b", second)
    there = [one.text for one in compare_all((a, b)).judged]
    back = [one.text for one in compare_all((b, a)).judged]
    assert there == ["changed: higher", "worse", "changed: higher"]
    assert back == ["changed: lower"] * 3
    arrows = {row[0]: row[1] for row in difference_table(compare_all((a, b))).texts()}
    assert arrows == {"blur_score": "·", "decode_failures": "↓", "scene_cut_count": "·"}


def test_one_verdict_after_holm_whoever_asks(tmp_path: Path) -> None:
    """Six clips all of one sign: p = 2⁻⁵ = 0.03125. Alone that is enough; beside a second such metric Holm makes it
    0.0625, which is not."""
    ok = Definition(name="ok_score", unit="1", lowest=None, highest=None, better="higher", summary="s", formula="f")
    too = replace(ok, name="other_score")
    names = "uvwxyz"
    low: dict[str, Values] = {name: {ok: 0.0, too: 0.0} for name in names}
    high: dict[str, Values] = {name: {ok: 1.0 + i, too: 2.0 + i} for i, name in enumerate(names)}
    a, b = write_run(tmp_path / "a", low), write_run(tmp_path / "b", high)
    alone = compare_runs(
        write_run(tmp_path / "c", {name: {ok: 0.0} for name in names}),
        write_run(tmp_path / "d", {name: {ok: 1.0 + i} for i, name in enumerate(names)}),
    )
    assert [(m.outcome, m.why, m.holm.value) for m in alone.metrics] == [(Outcome.BETTER, None, 0.03125)]
    two = compare_runs(a, b)
    assert [(m.outcome, m.why, m.holm.value) for m in two.metrics] == [
        (Outcome.CANNOT_TELL, WhyNot.AMONG_MANY, 0.0625)
    ] * 2
    data = comparison_data(compare_all((a, b)))
    for key in ("metrics", "judged"):
        assert [(row["verdict"], row["moved"]) for row in data[key]] == [("cannot tell", "")] * 2


def test_a_third_run_goes_by_its_own_letter(tmp_path: Path) -> None:
    a, b = half_small(tmp_path)
    c = write_run(
        tmp_path / "c",
        {name: {BLUR_SCORE: 11.0, AUDIO_DURATION_MS: 1000.0} for name in "xyz"},
        sizes={"x": BIG, "y": SMALL, "z": SMALL},
    )
    found = compare_runs(a, b, c)
    third = next(one for one in found.find("blur_score") if one.second == "C")
    assert third.why_unlike == "frame size 640×360 in A, 320×180 in C" and third.run == 2
    assert third.difference.note.startswith("2 of 3 clips are not comparable: frame size 640×360 in A, 320×180 in C")
