"""From runs to a board's data: what is averaged, what is refused, what is said."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.compare.board.board_runs import CALM, NOISE, RULES, clip_run, pose_run, study_run, sweep_run
from tests.compare.paper.paper_runs import PSNR, fidelity_run, fvd_run
from tests.reseal import reseal

from rushes.compare.board.model import BoardData, Reading
from rushes.compare.readings.collect import collect_board
from rushes.core import Measurement
from rushes.core.errors import InputError, RunError
from rushes.suite.file import Suite, SuiteSystem
from rushes.suite.folder import SuiteRun, SuiteStep
from rushes.suite.prompts import Prompt

THREE = {"p1": {CALM: 1.0}, "p2": {CALM: 2.0}, "p3": {CALM: 3.0}}


def column(board: BoardData, label: str) -> Reading:
    (found,) = [reading for reading in board.readings if reading.label == label]
    return found


def whole(board: BoardData, system: str, label: str) -> Measurement:
    return board.whole[system, column(board, label).key]


def suite_of(folder: Path, *names: str, prompts: tuple[Prompt, ...] = (), study: bool = False, why: str = "") -> Path:
    """`suite.json` around runs `NAME/clip` that are there."""
    steps = [SuiteStep(system=n, plan="clip", instrument="clip", folder=f"{n}/clip", why=why) for n in names]
    steps += [SuiteStep(system="", plan="preference", instrument="preference", folder="preference")] * study
    systems = tuple(SuiteSystem(name=name, clips=f"takes/{name}") for name in names)
    suite = Suite(name="takes", systems=systems, prompts=prompts)
    SuiteRun(path=folder, suite=suite, steps=tuple(steps), complete=True).write()
    return folder


def test_a_mean_over_prompts_has_students_interval_and_says_what_it_is_over(tmp_path: Path) -> None:
    clip_run(tmp_path / "amber", THREE)
    clip_run(tmp_path / "birch", {clip: {CALM: 5.0} for clip in THREE})
    board = collect_board([tmp_path / "amber", tmp_path / "birch"])
    assert board.names == ("amber", "birch") and [p.id for p in board.prompts] == ["p1", "p2", "p3"]
    found = whole(board, "amber", "calm")
    # 1, 2, 3: mean 2, s = 1, t(2, .975) = 4.3026527, so half = 4.3026527 / √3 = 2.4841377.
    assert found.value == 2.0 and found.count == 3 and found.interval is not None
    assert math.isclose(found.interval.high, 4.4841377, abs_tol=1e-6) and found.interval.method == "student-t"
    assert found.signature == "calm|aggregate:mean|over:shared-prompts|window:7|v:1"
    same = whole(board, "birch", "calm")
    assert same.value == 5.0 and same.interval is None and "all values are equal" in same.note
    assert board.clips["amber", "p2"].path == "takes/amber/p2.mp4" and board.clips["amber", "p2"].run == 0
    assert column(board, "calm").per_prompt and not board.refused and not board.remarks


def test_means_are_over_shared_prompts_alone_and_what_is_lacking_is_said(tmp_path: Path) -> None:
    clip_run(tmp_path / "amber", THREE)
    clip_run(tmp_path / "birch", {"p1": {CALM: 4.0}, "p2": {CALM: 6.0}})
    clip_run(tmp_path / "cedar", {"p1": {CALM: 7.0}, "p2": {CALM: 8.0}, "p3": {CALM: "too short"}})
    board = collect_board([tmp_path / name for name in ("amber", "birch", "cedar")])
    # p3 is left out for all: amber over 1 and 2 is 1.5, though its third value is there.
    assert [whole(board, name, "calm").value for name in board.names] == [1.5, 5.0, 7.5]
    assert whole(board, "amber", "calm").note.startswith("1 of 3 prompts left out")
    assert "birch lacks 1 of 3 prompts: p3" in board.remarks
    key = column(board, "calm").key
    assert board.values["amber", key]["p3"].value == 3.0
    assert board.values["birch", key]["p3"].note == "birch has no clip of this prompt"
    assert board.values["cedar", key]["p3"].note == "too short"


def test_signatures_that_differ_are_refused_with_what_differs(tmp_path: Path) -> None:
    other = CALM.with_params(window=9)
    clip_run(tmp_path / "amber", {"p1": {CALM: 1.0, NOISE: 1.0}})
    clip_run(tmp_path / "birch", {"p1": {other: 1.0, NOISE: 2.0}})
    clip_run(tmp_path / "cedar", {"p1": {other: 1.0, NOISE: 2.0}})
    board = collect_board([tmp_path / name for name in ("amber", "birch", "cedar")])
    assert [reading.label for reading in board.readings] == ["noise"]
    (refused,) = board.refused
    assert refused.name == "calm" and "window is 7 in one and 9 in the other" in refused.why
    assert "amber against birch, cedar" in refused.why


def test_two_readings_of_one_metric_are_two_columns_and_one_that_only_some_have_stays(tmp_path: Path) -> None:
    wide = CALM.with_params(window=9)
    clip_run(tmp_path / "amber", {"p1": {CALM: 1.0, wide: 2.0, NOISE: 3.0}})
    clip_run(tmp_path / "birch", {"p1": {CALM: 4.0, wide: 5.0}})
    board = collect_board([tmp_path / "amber", tmp_path / "birch"])
    assert [reading.label for reading in board.readings] == ["calm (window 7)", "calm (window 9)", "noise"]
    assert whole(board, "birch", "noise").note == "not measured for birch"
    assert whole(board, "amber", "noise").value == 3.0


def test_what_was_never_measured_joins_its_column_or_is_refused(tmp_path: Path) -> None:
    model, unset = CALM.add_params(model="m1"), CALM.add_params(model="none")
    clip_run(tmp_path / "amber", {"p1": {model: 1.0, NOISE: "no sound"}, "p2": {unset: "no face", NOISE: "no sound"}})
    clip_run(tmp_path / "birch", {"p1": {model: 2.0}, "p2": {model: 3.0}})
    board = collect_board([tmp_path / "amber", tmp_path / "birch"])
    key = column(board, "calm").key
    assert board.values["amber", key]["p2"].note == "no face" and "model:m1" in key
    assert [(one.name, one.why) for one in board.refused] == [("noise", "no clip has a value: no sound")]


def test_badges_are_shares_with_wilsons_interval(tmp_path: Path) -> None:
    from scipy.stats import binomtest

    clip_run(tmp_path / "amber", THREE, badges={"p1": "pass", "p2": "pass", "p3": "reject"})
    clip_run(tmp_path / "birch", THREE, badges=dict.fromkeys(THREE, "pass"))
    board = collect_board([tmp_path / "amber", tmp_path / "birch"])
    found = whole(board, "amber", "pass rate")
    expected = binomtest(2, 3).proportion_ci(method="wilson")
    assert found.value == 2 / 3 and found.interval is not None and found.interval.method == "wilson"
    assert math.isclose(found.interval.low, expected.low) and math.isclose(found.interval.high, expected.high)
    assert found.place == {"badge": "pass"} and found.definition.better == "neither"
    assert whole(board, "birch", "reject rate").value == 0.0
    assert board.values["amber", column(board, "flagged rate").key]["p3"].value is False
    clip_run(tmp_path / "cedar", THREE, badges=dict.fromkeys(THREE, "pass"), settings=RULES | {"profile": "portrait"})
    refused = collect_board([tmp_path / "amber", tmp_path / "cedar"]).refused
    assert {one.name for one in refused} == {"pass rate", "flagged rate", "reject rate"}
    assert "profile is general-" in refused[0].why


def test_media_that_differ_are_said_with_the_readings_that_they_move(tmp_path: Path) -> None:
    from rushes.instruments.clip.metrics.image import SHARPNESS

    clip_run(tmp_path / "amber", {"p1": {SHARPNESS: 0.5}}, size=(64, 48))
    clip_run(tmp_path / "birch", {"p1": {SHARPNESS: 0.6}}, size=(32, 24))
    (remark,) = collect_board([tmp_path / "amber", tmp_path / "birch"]).remarks
    assert remark.startswith("frame size differs between systems on 1 of 1 prompts (amber 64×48; birch 32×24)")
    assert remark.endswith("which affects sharpness")


def test_one_system_no_shared_prompt_and_a_run_still_going(tmp_path: Path) -> None:
    clip_run(tmp_path / "amber", {"p1": {CALM: 1.0}})
    clip_run(tmp_path / "birch", {"p2": {CALM: 1.0}}, finish=False)
    alone = collect_board(tmp_path / "amber")
    assert alone.remarks == ("only one system, amber: there is nothing to compare it with",)
    assert whole(alone, "amber", "calm").value == 1.0
    board = collect_board([tmp_path / "amber", tmp_path / "birch"])
    assert whole(board, "amber", "calm").note == "no prompt has a value for every system"
    assert any("no prompt has a clip of every system" in remark for remark in board.remarks)
    assert any("birch is interrupted; 1 are finished and used" in remark for remark in board.remarks)


def test_duplicates_are_taken_by_nobody_and_said(tmp_path: Path) -> None:
    clip_run(tmp_path / "amber", {"p1": {CALM: 1.0}, "p1.avi": {CALM: 9.0}, "p2": {CALM: 2.0}})
    clip_run(tmp_path / "birch", {"p1": {CALM: 3.0}, "p2": {CALM: 4.0}})
    board = collect_board([tmp_path / "amber", tmp_path / "birch"])
    assert any(
        "amber has 2 clips of the prompt p1 (takes/amber/p1.mp4, takes/amber/p1.avi)" in r for r in board.remarks
    )
    assert [whole(board, name, "calm").value for name in board.names] == [2.0, 4.0]
    assert board.values["amber", column(board, "calm").key]["p1"].note == "amber has 2 clips of this prompt"


def test_the_same_files_under_two_names_are_said(tmp_path: Path) -> None:
    clip_run(tmp_path / "amber", THREE, same_files=True)
    clip_run(tmp_path / "birch", THREE, same_files=True)
    board = collect_board([tmp_path / "amber", tmp_path / "birch", tmp_path / "amber"])
    assert "amber and birch have the same file for 3 prompts" in board.remarks
    assert any("was given twice; it counts once" in remark for remark in board.remarks)


def test_two_runs_of_one_system_that_disagree_give_no_value(tmp_path: Path) -> None:
    clip_run(tmp_path / "one", {"p1": {CALM: 1.0, NOISE: 1.0}}, system="amber")
    clip_run(tmp_path / "two", {"p1": {CALM: 2.0, NOISE: 1.0}}, system="amber")
    clip_run(tmp_path / "three", {"p1": {CALM: 2.0, NOISE: 1.0}}, system="amber")
    board = collect_board([tmp_path / name for name in ("one", "two", "three")])
    assert board.names == ("amber",) and len(board.systems[0].runs) == 3
    assert whole(board, "amber", "noise").value == 1.0
    why = "no clip has a value: two runs of amber give two values: 1.0 and 2.0"
    assert [(one.name, one.why) for one in board.refused] == [("calm", why)]


def test_systems_are_called_by_their_folders_or_as_given(tmp_path: Path) -> None:
    clip_run(tmp_path / "r1", THREE, system="x/out")
    clip_run(tmp_path / "r2", THREE, system="y/out")
    fidelity_run(tmp_path / "r3", {clip: {PSNR: 30.0} for clip in THREE}, gen="takes/x/out")
    assert collect_board([tmp_path / "r1", tmp_path / "r2"]).names == ("takes/x/out", "takes/y/out")
    board = collect_board([f"ours={tmp_path / 'r1'}", f"theirs={tmp_path / 'r2'}", tmp_path / "r3"])
    assert board.names == ("ours", "theirs") and len(board.systems[0].runs) == 2
    assert whole(board, "ours", "psnr").value == 30.0 and whole(board, "theirs", "psnr").value is None


def test_pairs_go_with_clips_below_folders_and_references_must_be_one(tmp_path: Path) -> None:
    clip_run(tmp_path / "clip", {"p1/out": {CALM: 1.0}}, system="amber")
    fidelity_run(tmp_path / "pair", {"p1/out": {PSNR: 30.0}}, gen="takes/amber")
    board = collect_board([tmp_path / "clip", tmp_path / "pair"])
    assert [prompt.id for prompt in board.prompts] == ["p1/out"] and len(board.readings) == 2
    fidelity_run(tmp_path / "other", {"p1/out": {PSNR: 31.0}}, gen="takes/birch", version="2")
    (refused,) = collect_board([tmp_path / "pair", tmp_path / "other"]).refused
    assert refused.why == "birch was compared with another reference than amber on p1/out"


def test_a_pair_without_a_generated_clip_is_no_clip_of_the_system(tmp_path: Path) -> None:
    fidelity_run(tmp_path / "amber", {"p1": {PSNR: 30.0}, "p2": {PSNR: 31.0}}, gen="takes/amber")
    lacking = fidelity_run(tmp_path / "birch", {"p1": {PSNR: 32.0}, "p2": {PSNR: "no partner"}}, gen="takes/birch")
    subjects = lacking / "subjects.jsonl"
    text = subjects.read_text(encoding="utf-8")
    subjects.write_text(text.replace("takes/birch/p2.mp4", "real/p2.mp4"), encoding="utf-8")
    reseal(lacking)
    board = collect_board([tmp_path / "amber", lacking])
    assert ("birch", "p2") not in board.clips and "birch lacks 1 of 2 prompts: p2" in board.remarks
    assert board.values["birch", column(board, "psnr").key]["p2"].note == "no partner"
    assert whole(board, "amber", "psnr").value == 30.0


def test_distances_are_one_number_per_system_of_one_reference_and_one_n(tmp_path: Path) -> None:
    runs = [fvd_run(tmp_path / name, 100.0, gen=f"takes/{name}", ends=(90.0, 110.0)) for name in ("amber", "birch")]
    board = collect_board(runs)
    assert not column(board, "FVD").per_prompt and not board.prompts
    assert board.whole["birch", column(board, "FVD").key].interval is not None
    few = fvd_run(tmp_path / "few", 100.0, gen="takes/few", n=17)
    assert "n_gen is 256 in one and 17 in the other" in collect_board([runs[0], few]).refused[0].why
    other = fvd_run(tmp_path / "other", 100.0, gen="takes/other", truth="c" * 64)
    assert "compared with another reference" in collect_board([runs[0], other]).refused[0].why


def test_votes_go_to_the_systems_that_they_are_about(tmp_path: Path) -> None:
    runs = [clip_run(tmp_path / name, THREE) for name in ("amber", "birch")]
    board = collect_board([*runs, study_run(tmp_path / "votes", {"amber": 1100.0, "cedar": 900.0})])
    assert whole(board, "amber", "Elo").value == 1100.0 and whole(board, "birch", "Elo").value is None
    assert [len(system.runs) for system in board.systems] == [2, 1]
    assert any("not on this board: cedar" in remark for remark in board.remarks)


def test_poses_and_sweeps_are_per_prompt_where_there_is_one_for_each(tmp_path: Path) -> None:
    two = {"p1": {CALM: 1.0}, "p2": {CALM: 2.0}}
    clips = f"amber={clip_run(tmp_path / 'clip', two, system='amber')}"
    sweeps = f"amber={sweep_run(tmp_path / 'sweep', {'p1': 0.5, 'p2': 0.75})}"
    poses = [pose_run(tmp_path / clip, f"takes/amber/{clip}.json", 0.5) for clip in two]
    board = collect_board([clips, *poses, sweeps])
    assert board.names == ("amber",) and [prompt.id for prompt in board.prompts] == ["p1", "p2"]
    assert whole(board, "amber", "ESI crf").value == 0.625 and column(board, "ESI crf").per_prompt
    assert whole(board, "amber", "pck (k 20)").value == 0.5 and column(board, "pck (k 20)").per_prompt
    board = collect_board([clips, poses[0]])  # one file for the whole system
    assert not column(board, "pck (k 20)").per_prompt and whole(board, "amber", "pck (k 20)").value == 0.5
    assert [prompt.id for prompt in board.prompts] == ["p1", "p2"]
    birch = [
        f"birch={clip_run(tmp_path / 'b', two, system='birch')}",
        f"birch={sweep_run(tmp_path / 's', {'p1': 1.0})}",
    ]
    board = collect_board([clips, sweeps, *birch])  # one sweep of two: per prompt for all, and one cell is missing
    assert [whole(board, name, "ESI crf").value for name in board.names] == [0.5, 1.0]
    assert len({reading.key for reading in board.readings}) == len(board.readings)


def test_declared_prompts_name_rows_and_leave_strays_out(tmp_path: Path) -> None:
    prompts = (
        Prompt(id="b", text="a mountain stream", group="fluid"),
        Prompt(id="a", text="rabbits"),
        Prompt(id="z", text="nobody made this"),
    )
    suite_of(tmp_path, "amber", "birch", prompts=prompts, study=True)
    clip_run(tmp_path / "amber/clip", {"a": {CALM: 1.0}, "b": {CALM: 2.0}, "extra": {CALM: 9.0}}, system="amber")
    clip_run(tmp_path / "birch/clip", {"rabbits": {CALM: 3.0}, "b": {CALM: 4.0}}, system="birch")
    board = collect_board(tmp_path)
    assert [prompt.id for prompt in board.prompts] == ["b", "a"] and board.prompts[0].group == "fluid"
    assert [whole(board, name, "calm").value for name in board.names] == [1.5, 3.5]
    assert "1 declared prompts have no clip of any system: z" in board.remarks
    assert any("amber: 1 clips belong to no prompt of this board" in remark for remark in board.remarks)
    assert any(remark.startswith("preference: not measured yet") for remark in board.remarks)


def test_a_step_that_failed_is_a_remark(tmp_path: Path) -> None:
    suite_of(tmp_path, "amber", why="no clips there")
    board = collect_board(tmp_path)
    assert "amber/clip: could not be measured: no clips there" in board.remarks and not board.readings
    assert "amber has no run: it has no number on this board" in board.remarks


def test_a_count_of_damage_is_a_column_only_where_it_tells(tmp_path: Path) -> None:
    from rushes.instruments.clip.metrics.timing import DECODE_FAILURES

    clip_run(tmp_path / "amber", {"p1": {DECODE_FAILURES: 0}, "p2": {DECODE_FAILURES: 0}})
    clip_run(tmp_path / "birch", {"p1": {DECODE_FAILURES: 0}, "p2": {DECODE_FAILURES: 0}})
    clip_run(tmp_path / "cedar", {"p1": {DECODE_FAILURES: 4}, "p2": {DECODE_FAILURES: 0}})
    assert not collect_board([tmp_path / "amber", tmp_path / "birch"]).readings
    assert whole(collect_board([tmp_path / "amber", tmp_path / "cedar"]), "cedar", "decode_failures").value == 2.0


def test_bad_places_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="got none"):
        collect_board([])
    with pytest.raises(
        RunError, match="expected a folder of rushes suite run, a run, or NAME=RUN; found no such folder"
    ):
        collect_board(tmp_path / "gone")
    with pytest.raises(InputError, match="expected NAME=RUN"):
        collect_board(["=x", "y"])
    (tmp_path / "suite.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RunError, match="is not a complete suite"):
        collect_board(tmp_path)


def test_a_damaged_suite_json_is_one_line(tmp_path: Path) -> None:
    suite_of(tmp_path, "amber", prompts=(Prompt(id="p1"),))
    sealed = json.loads((tmp_path / "suite.json").read_text(encoding="utf-8"))
    whole_text = json.dumps({key: value for key, value in sealed.items() if key != "seal"}, indent=2)  # an old one
    rng = np.random.default_rng(5)
    refused = 0
    for _ in range(150):  # one value or sign exchanged for another
        start, other = rng.integers(len(whole_text)), str(rng.choice(['"', "3", "[]", "null", "}", "", "x"]))
        damaged = whole_text[:start] + other + whole_text[start + int(rng.integers(1, 9)) :]
        (tmp_path / "suite.json").write_text(damaged, encoding="utf-8")
        try:
            collect_board(tmp_path)
        except (RunError, InputError) as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 50


def test_the_same_runs_give_the_same_board(tmp_path: Path) -> None:
    runs = [clip_run(tmp_path / name, THREE, badges=dict.fromkeys(THREE, "pass")) for name in ("amber", "birch")]
    assert repr(collect_board(runs)) == repr(collect_board(runs))


def test_a_mean_of_distances_has_no_interval_below_zero(tmp_path: Path) -> None:
    """0, 0, 0, 4: mean 1, s = 2, t(3) = 3.18: 1 ± 3.18 without the range, cut to 0."""
    noise = replace(NOISE, lowest=0)
    for name, values in (("amber", (0.0, 0.0, 0.0, 4.0)), ("birch", (1.0, 2.0, 3.0, 4.0))):
        clip_run(tmp_path / name, {f"p{n}": {noise: value} for n, value in enumerate(values)}, system=name)
    data = collect_board([f"{name}={tmp_path / name}" for name in ("amber", "birch")])
    (one,) = [reading for reading in data.readings if reading.definition.name == "noise"]
    ends = data.whole["amber", one.key].interval
    assert ends is not None and ends.low == 0 and ends.high == pytest.approx(4.1824, abs=1e-3)
