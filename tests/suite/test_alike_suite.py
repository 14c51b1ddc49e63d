"""Systems of unequal size, rate and length: a common form from init, both forms from run, one column a metric."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.clips import write_luma
from tests.compare.board.board_runs import RULES, clip_run
from tests.compare.paper.paper_runs import planted
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.board.judging import judge_board
from rushes.compare.comparison import WhyNot
from rushes.compare.readings.collect import collect_board
from rushes.core.alike_form import AlikeForm
from rushes.core.errors import InputError
from rushes.suite.common_form import ClipShape, common_form, common_rate, uneven
from rushes.suite.draft import draft_suite
from rushes.suite.file import read_suite
from rushes.suite.folder import read_suite_folder, run_suite
from rushes.workers.engine import inline_work

SHAPES = {"amber": ((64, 48), 10, 8), "birch": ((96, 54), 20, 20), "real": ((80, 80), 10, 12)}


def write_systems(root: Path, shapes: dict[str, tuple[tuple[int, int], int, int]] = SHAPES) -> None:
    for seed, (name, (size, fps, count)) in enumerate(shapes.items()):
        for clip in ("p1", "p2"):
            rng = np.random.default_rng([seed, ord(clip[1])])
            coarse = rng.integers(40, 220, (size[1] // 8 + 1, size[0] // 8 + 1), dtype=np.uint8)
            picture = np.kron(coarse, np.ones((8, 8), np.uint8))[: size[1], : size[0]]
            (root / name).mkdir(parents=True, exist_ok=True)
            frames = [np.roll(picture, t, axis=1) for t in range(count)]
            write_luma(root / name / f"{clip}.mkv", frames, "yuv420p", rate=fps, time_base=Fraction(1, fps))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A suite of three unequal systems, drafted and run without FVD, which needs a network."""
    home = tmp_path_factory.mktemp("alike")
    write_systems(home / "set")
    draft_suite(home / "set", home / "suite.toml", field="text-to-video")
    text = (home / "suite.toml").read_text(encoding="utf-8")
    (home / "suite.toml").write_text(text.partition("\n[instruments.distribution]")[0], encoding="utf-8")
    with inline_work():
        run_suite(home / "suite.toml", home / "out", jobs=1)
    return home


def test_init_declares_the_form_that_all_clips_have(done: Path) -> None:
    """Smallest width 64, smallest height 48; 10 and 20 fps: 10; the shortest clip has 8 frames at 10 fps, 0.8 s."""
    suite = read_suite(done / "suite.toml")
    assert suite.alike == "64x48@10,0.8s,crop" and suite.kind == "text-to-video"
    (plan,) = suite.instruments
    assert plan.settings["alike"] == suite.alike and plan.settings["metrics"] == ["temporal_disorder"]
    text = (done / "suite.toml").read_text(encoding="utf-8")
    # 96×54 is cropped to 4:3, 72 of its 96 columns.
    assert "# birch: 96x54, 20 fps, 1 s; the crop keeps 75% of its picture" in text
    kept = read_suite_folder(done / "out").suite
    assert (kept.kind, kept.alike) == (suite.kind, suite.alike)
    assert json.loads((done / "out" / "suite.json").read_text(encoding="utf-8"))["suite"]["kind"] == "text-to-video"


def test_a_board_compares_in_the_common_form_what_it_refuses_as_it_is(done: Path) -> None:
    board = collect_board(done / "out")
    labels = {reading.label: reading for reading in board.readings}
    shown = labels["sharpness (alike)"]
    assert "sharpness" not in labels and shown.definition.param("input") == "alike-1(64x48@10,0.8s,crop)"
    (raw,) = [reading for reading in board.others if reading.definition.name == "sharpness"]
    assert raw.definition.param("input") == "raw" and board.whole["amber", raw.key].value is not None
    both = replace(board, readings=(shown, raw))
    verdicts = judge_board(both)
    assert {contrast.why for contrast in verdicts[raw.key].contrasts} == {WhyNot.MEDIA_DIFFER}
    assert all(contrast.difference.count == 2 for contrast in verdicts[shown.key].contrasts)
    tested = {reading.key for reading in board.readings}
    assert tested.isdisjoint(reading.key for reading in board.others)
    (line,) = [remark for remark in board.remarks if "common form" in remark]
    assert "64×48 (centre crop), 10 fps, the first 0.8 s" in line
    assert not [remark for remark in board.remarks if remark.startswith("frame size differs") and "sharpness" in remark]


def test_clips_as_they_are_win_where_they_compare_as_well(tmp_path: Path) -> None:
    form = {"amber": ((64, 48), 10, 8), "birch": ((64, 48), 10, 8)}
    write_systems(tmp_path / "set", form)
    made = draft_suite(tmp_path / "set", tmp_path / "suite.toml")
    assert made.alike is None and "[alike]" not in made.path.read_text(encoding="utf-8")
    with inline_work():
        runs = [
            rushes.evaluate_clips(tmp_path / "set" / name, run=tmp_path / name, alike="32x24@10,0.8s") for name in form
        ]
    board = collect_board(runs)
    assert not [reading for reading in board.readings if "alike" in reading.label]
    assert "sharpness" in {reading.definition.name for reading in board.others}


def test_the_column_with_more_comparable_pairs_is_shown(tmp_path: Path) -> None:
    """Two of three systems share a frame size: raw compares 1 pair of 3, the form 3 of 3, or none."""
    raw = replace(planted("calm", "higher", input="raw"), depends_on=("frame_size",))
    alike = planted("calm", "higher", input="alike-1(64x48@10,1s,crop)")
    for missing, label in ((False, "calm (alike)"), (True, "calm")):
        runs = []
        for name, size in (("a", (64, 48)), ("b", (64, 48)), ("c", (96, 48))):
            rows = {
                p: {raw: 1.0 + len(name), alike: "too short" if missing and name != "c" else 2.0} for p in ("p", "q")
            }
            runs.append(clip_run(tmp_path / label / name, rows, size=size, settings=RULES))
        board = collect_board(runs)
        assert [reading.label for reading in board.readings if reading.name == "calm"] == [label]


def test_rates_that_divide_evenly_are_preferred() -> None:
    assert common_rate([Fraction(24), Fraction(30)]) == 6 and common_rate([Fraction(30000, 1001), Fraction(30)]) > 29
    assert uneven([Fraction(24), Fraction(25)], Fraction(24)) == [25]
    one = ClipShape(size=(64, 48), fps=Fraction(10), seconds=Fraction(2))
    short = ClipShape(size=(64, 48), fps=Fraction(10), seconds=Fraction(1, 5))
    assert common_form({"a": {"p": one}, "b": {"q": short}}) is None  # clips of one name agree
    assert common_form({"a": {"p": one}, "b": {"p": short}}) is None  # two frames are too few


def test_the_table_says_what_is_wrong(tmp_path: Path) -> None:
    write_systems(tmp_path, {"amber": ((64, 48), 10, 3)})
    file = tmp_path / "suite.toml"

    def suite(table: str) -> str:
        file.write_text(f'[systems]\namber = "amber"\n{table}\n[instruments.clip]\n', encoding="utf-8")
        return str(file)

    assert read_suite(suite('[alike]\nsize = "32x24"\nfps = 12.5\nseconds = 0.2')).alike == "32x24@25/2,0.2s,crop"
    unused = suite('[alike]\nsize = "32x24"\nfps = 10\nseconds = 0.2') and file.read_text(encoding="utf-8")
    file.write_text(unused + "canon = true\n", encoding="utf-8")
    with pytest.raises(InputError, match="no instrument of this suite measures in a common form"):
        read_suite(file)
    assert read_suite(suite("")).alike == "" and read_suite(suite("")).kind == ""
    for table, why in (
        ('[alike]\nsize = "small"\nfps = 8\nseconds = 2', "WIDTHxHEIGHT"),
        ('[alike]\nsize = "32x24"\nfps = 8', "seconds = 2"),
        ('[alike]\nsize = "32x24"\nfps = 8\nseconds = 2\nfit = "fill"', "crop or bars"),
        ('[alike]\nsize = "32x24"\nrate = 8\nseconds = 2', "there is no 'rate'"),
    ):
        with pytest.raises(InputError, match=why):
            read_suite(suite(table))


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("talking-head", ('profile = "talking-head"', "tier = 1", '"csim"', 'cut = "shortest"', 'resize_to = "gt"')),
        ("animation", ('"disco_psnr"', 'cut = "shortest"', "# [instruments.pose]", "\n[instruments.distribution]")),
        ("text-to-video", ('profile = "generated"', "motion = true", "temporal_disorder", '\nmetrics = ["fvd"]')),
    ],
)
def test_init_for_a_field_writes_its_instruments(tmp_path: Path, field: str, says: tuple[str, ...]) -> None:
    write_systems(tmp_path / "set", {"amber": ((64, 48), 10, 3), "gt": ((32, 48), 10, 3)})
    arguments = ["suite", "init", str(tmp_path / "set"), "--for", field, "-o", str(tmp_path / "suite.toml")]
    made = CliRunner().invoke(app, arguments)
    assert made.exit_code == 0, made.output
    text = (tmp_path / "suite.toml").read_text(encoding="utf-8")
    assert all(words in text for words in says) and read_suite(tmp_path / "suite.toml").kind == field
    assert AlikeForm.parse(read_suite(tmp_path / "suite.toml").alike).width == 32
    wanted = ("head_motion", "blink_rate_hz") if field == "talking-head" else ()
    assert read_suite(tmp_path / "suite.toml").differences == wanted


def test_nobody_is_for_another_field(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="text-to-video, talking-head or animation; got 'opera'"):
        draft_suite(tmp_path, tmp_path / "s.toml", field="opera")
