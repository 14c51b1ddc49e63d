"""Whole sweeps: the known format, the same trees every time, resuming, failures recorded."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from rushes import measure_robustness, sweep_clips
from rushes.core.errors import InputError, RunError
from rushes.core.judge import Judge, JudgeOptions, Verdict
from rushes.instruments.clip.signals.bundle_judge import BundleJudge
from rushes.instruments.clip.signals.profile import load_profile, parse_profile
from rushes.instruments.robustness.seed.sweep_dir import read_sweep, verify_sweep
from rushes.instruments.robustness.sweep.axes import idle_axes, planned
from rushes.instruments.robustness.sweep.endpoint import EndpointJudge
from rushes.instruments.robustness.sweep.judges import CommandJudge, named_judge
from rushes.instruments.robustness.sweep.writer import TIMESTAMP, RunTask, locked, make_run
from rushes.vision.models.cache import is_pulled
from rushes.vision.models.catalogue import group_named

AXES = {"gaussian_blur": [0.0, 4.0], "gaussian_noise": [0.0, 30.0]}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def judge_with(code: str) -> CommandJudge:
    """A program that says what the code puts into `say`; sys.argv[1] is the clip, sys.argv[2] the seed."""
    program = f"import json, os, sys\n{code}\nprint(json.dumps(say))"
    return CommandJudge(command=f"{sys.executable} -ISc {shlex.quote(program)} {{clip}} {{seed}}", timeout=30)


@pytest.fixture(scope="module")
def swept(clip, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sweeps") / "one"
    return folder, sweep_clips([clip], axes=AXES, seeds=[1, 2], out=folder, jobs=2)


def test_the_known_format(swept):
    folder, outcome = swept
    assert (outcome.sweeps, outcome.runs, outcome.kept, outcome.failed) == ((folder,), 8, 0, 0)
    assert sorted(path.name for path in folder.iterdir()) == ["runs", "sweep_manifest.json"]
    run = folder / "runs/gaussian_blur=0p0_gaussian_noise=30p0_seed=2"
    assert sorted(path.name for path in run.iterdir()) == ["manifest.json", "spec.json", "trace_pack.jsonl"]
    manifest = json.loads((run / "manifest.json").read_text())
    assert {"run_id", "timestamp", "seed", "artifacts"} <= set(manifest)
    assert (manifest["seed"], manifest["timestamp"]) == (2, TIMESTAMP)
    record = json.loads((run / "trace_pack.jsonl").read_text())
    assert record["step"] == 1
    assert record["output"] in {"pass", "flagged", "reject"}
    listed = json.loads((folder / "sweep_manifest.json").read_text())
    assert listed["axes"] == AXES
    assert [(r["axis_values"], r["seed"]) for r in listed["runs"]] == planned(AXES, [1, 2])


def test_our_own_reader_reads_and_verifies_it(swept):
    sweep = read_sweep(swept[0])
    verify_sweep(sweep)
    assert len(sweep.runs) == sweep.declared_runs == 8


def test_the_badge_and_its_reasons_are_answer_and_justification(swept):
    trace = swept[0] / "runs/gaussian_blur=4p0_gaussian_noise=0p0_seed=1/trace_pack.jsonl"
    record = json.loads(trace.read_text())
    assert record["output"] == "flagged"
    assert record["justification"].startswith("soft (sharpness=")


@pytest.mark.workers
def test_run_twice_and_with_other_workers_gives_identical_trees(clip, swept, tmp_path):
    sweep_clips([clip], axes=AXES, seeds=[1, 2], out=tmp_path / "again", jobs=2)
    assert tree(tmp_path / "again") == tree(swept[0])


def test_seeds_matter_only_where_noise_is_drawn(swept):
    runs = swept[0] / "runs"
    quiet = [
        json.loads((runs / f"gaussian_blur=0p0_gaussian_noise=0p0_seed={s}/trace_pack.jsonl").read_text())
        for s in (1, 2)
    ]
    assert quiet[0] == quiet[1]


def test_it_can_be_measured(swept):
    (report,) = measure_robustness(swept[0])
    assert report.runs == 8
    assert [metric.axis for metric in report.metrics.esi] == ["gaussian_blur", "gaussian_noise"]


class TestResuming:
    """Each on a copy of one sweep, whose traces and manifests are all that resuming looks at."""

    judge = judge_with("say = {'output': 'fine', 'justification': 'seed ' + sys.argv[2]}")

    @classmethod
    def sweep(cls, clip, folder, **options):
        settings = {"axes": {"crf": [20, 30]}, "seeds": [1, 2], "judge": cls.judge, "jobs": 1}
        return sweep_clips([clip], out=folder, **(settings | options))

    @pytest.fixture(scope="class")
    @classmethod
    def made(cls, clip, tmp_path_factory):
        folder = tmp_path_factory.mktemp("made") / "s"
        cls.sweep(clip, folder)
        return folder

    @pytest.fixture
    def finished(self, made, tmp_path):
        shutil.copytree(made, tmp_path / "s")

    def test_finished_runs_are_kept(self, clip, finished, tmp_path):
        whole = tree(tmp_path / "s")
        kept = tmp_path / "s/runs/crf=20_seed=1/manifest.json"
        stamp = kept.stat().st_mtime_ns
        for path in (tmp_path / "s/runs/crf=30_seed=2").iterdir():
            path.unlink()
        (tmp_path / "s/sweep_manifest.json").unlink()
        left_over = tmp_path / "s/runs/.crf=20_seed=2"
        left_over.mkdir()
        (left_over / "clip.mp4").write_bytes(b"half a clip")
        outcome = self.sweep(clip, tmp_path / "s")
        assert (outcome.runs, outcome.kept) == (4, 3)
        assert tree(tmp_path / "s") == whole
        assert kept.stat().st_mtime_ns == stamp

    def test_more_values_add_runs(self, clip, finished, tmp_path):
        outcome = self.sweep(clip, tmp_path / "s", axes={"crf": [20, 30, 40]})
        assert (outcome.runs, outcome.kept) == (6, 4)
        assert read_sweep(tmp_path / "s").declared_runs == 6

    def test_fewer_values_are_another_sweep(self, clip, finished, tmp_path):
        with pytest.raises(RunError, match=r"it holds crf=30_seed=1; choose another run"):
            self.sweep(clip, tmp_path / "s", axes={"crf": [20]})

    def test_another_judge_is_another_sweep(self, clip, finished, tmp_path):
        with pytest.raises(RunError, match="another clip, judge or setting"):
            self.sweep(clip, tmp_path / "s", judge="bundle")

    def test_a_folder_of_something_else_is_refused(self, clip, tmp_path):
        (tmp_path / "thesis.txt").write_text("years of work")
        with pytest.raises(RunError, match=r"it holds thesis\.txt"):
            self.sweep(clip, tmp_path)
        assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]

    def test_one_sweep_at_a_time(self, clip, tmp_path):
        with locked(tmp_path / "s"), pytest.raises(RunError, match="another sweep is writing here"):
            self.sweep(clip, tmp_path / "s")


class TestFailures:
    def test_a_judge_that_fails_is_recorded_and_can_be_tried_again(self, clip, tmp_path):
        flag = tmp_path / "works"
        judge = judge_with(
            f"if sys.argv[2] == '2' and not os.path.exists({str(flag)!r}): sys.exit('no luck')\n"
            "say = {'output': 'fine', 'justification': 'clear'}"
        )
        options = {"axes": {"crf": [20]}, "seeds": [1, 2], "judge": judge, "out": tmp_path / "s", "jobs": 1}
        assert sweep_clips([clip], **options).failed == 1
        trace = tmp_path / "s/runs/crf=20_seed=2/trace_pack.jsonl"
        record = json.loads(trace.read_text())
        assert record == {"step": 1, "event": "judged", "status": "error", "error": "exit code 1: no luck"}
        (report,) = measure_robustness(tmp_path / "s")
        assert report.failed_runs == 1
        assert (report.one("esi", axis="crf", value=20).value, report.one("esi", axis="crf", value=20).count) == (
            1.0,
            1,
        )
        assert report.one("judge_failure_rate", axis=None).value == 0.5
        flag.touch()
        assert sweep_clips([clip], **options).kept == 2
        outcome = sweep_clips([clip], **options, retry_failed=True)
        assert (outcome.kept, outcome.failed) == (1, 0)
        assert json.loads(trace.read_text())["output"] == "fine"

    @pytest.mark.workers
    def test_a_bundle_that_takes_too_long_is_recorded(self, clip, tmp_path):
        outcome = sweep_clips([clip], axes={"crf": [20]}, out=tmp_path / "s", jobs=1, timeout=0.001)
        assert outcome.failed == 1
        record = json.loads((tmp_path / "s/runs/crf=20_seed=1/trace_pack.jsonl").read_text())
        assert record["error"] == "took longer than 0.001 s"
        verify_sweep(read_sweep(tmp_path / "s"))

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"axes": {}}, "at least one axis"),
            ({"axes": {"../x": [1]}}, "no perturbation is called"),
            ({"axes": {"crf": [20]}, "seeds": []}, "seeds that differ"),
            ({"axes": {"audio_shift": [0, 100]}}, "has no sound"),
            ({"axes": {"crf": [20]}, "profile": "no-such"}, "no such profile or file"),
        ],
    )
    def test_refused_before_anything_is_written(self, silent_clip, tmp_path, options, message):
        with pytest.raises(InputError, match=message):
            sweep_clips([silent_clip], out=tmp_path / "s", **options)
        assert not (tmp_path / "s").exists()


@pytest.mark.workers
def test_several_clips_have_a_sweep_each(clip, silent_clip, tmp_path):
    judge = judge_with("say = {'output': str(os.path.getsize(sys.argv[1])), 'justification': ''}")
    outcome = sweep_clips([clip, silent_clip], axes={"crf": [20]}, out=tmp_path / "s", judge=judge, jobs=2)
    assert outcome.sweeps == (tmp_path / "s/take", tmp_path / "s/silent")
    assert len(measure_robustness(tmp_path / "s")) == 2
    with pytest.raises(RunError, match="expected an empty folder or this sweep"):
        sweep_clips([clip], axes={"crf": [20]}, out=tmp_path / "s", judge=judge, jobs=1)


def test_a_judge_by_name_one_path_and_progress(clip, tmp_path):
    code = "import json; print(json.dumps({'output': 'fine'}))"
    judge = f"command:{sys.executable} -c {shlex.quote(code)} {{clip}}"
    steps = []
    outcome = sweep_clips(
        str(clip),
        axes={"crf": [20, 30]},
        out=tmp_path / "s",
        judge=judge,
        jobs=1,
        progress=lambda *step: steps.append(step),
    )
    assert (outcome.runs, outcome.failed) == (2, 0)
    assert steps == [(0, 2, "runs"), (1, 2, "runs"), (2, 2, "runs")]
    assert measure_robustness(outcome.sweeps)[0].baseline_answer == "fine"


def test_kept_clips_are_artifacts(clip, tmp_path):
    judge = judge_with("say = {'output': 'A', 'justification': sys.argv[1].rsplit('/', 1)[1]}")
    sweep_clips([clip], axes={"crf": [20]}, out=tmp_path / "s", judge=judge, jobs=1, keep_clips=True)
    run = tmp_path / "s/runs/crf=20_seed=1"
    assert "clip.mp4" in json.loads((run / "manifest.json").read_text())["artifacts"]
    assert (run / "clip.mp4").stat().st_size > 0
    assert json.loads((run / "trace_pack.jsonl").read_text())["justification"] == "clip.mp4"


def test_numbers_of_a_judge_become_statistics(clip, tmp_path):
    judge = judge_with("say = {'output': 'A', 'confidence_score': 0.4 * int(sys.argv[2]), 'output_entropy': 1.5}")
    sweep_clips([clip], axes={"crf": [20]}, seeds=[1, 2], out=tmp_path / "s", judge=judge, jobs=1)
    (report,) = measure_robustness(tmp_path / "s")
    assert report.monte_carlo.csi[0].value_scores == {"20": 0.84}  # 0.4 and 0.8: variance 0.04, over 0.25
    assert report.monte_carlo.edm[0].value_scores == {"20": 0.0}


def test_the_order_of_runs():
    assert planned({"b": [2.0, 1.0], "a": [5.0]}, [9, 3]) == [
        ({"a": 5.0, "b": 2.0}, 9),
        ({"a": 5.0, "b": 2.0}, 3),
        ({"a": 5.0, "b": 1.0}, 9),
        ({"a": 5.0, "b": 1.0}, 3),
    ]


def test_the_spec_names_no_folder(clip, tmp_path):
    task = RunTask(
        source=clip,
        clip_sha256="aa",
        runs=tmp_path / "runs",
        values={"crf": 20},
        seed=1,
        judge=CommandJudge(command="judge {clip}"),
    )
    assert str(clip.parent) not in task.spec() and str(tmp_path) not in task.spec()
    assert json.loads(task.spec())["clip"] == {"name": "take.mp4", "sha256": "aa"}


@dataclass(frozen=True)
class Mute(Judge):
    answer: object

    def describe(self):
        return {"kind": "mute"}

    def judge(self, clip, *, seed):
        return self.answer


class TestJudgesThatMisbehave:
    """Each costs its own run, and nothing else."""

    options = {"axes": {"brightness": [0.9, 1.0]}, "jobs": 1}

    def test_a_judge_that_removes_its_clip_and_leaves_junk(self, clip, tmp_path):
        judge = judge_with(
            "open(os.path.join(os.path.dirname(sys.argv[1]), 'junk'), 'w').write('x')\n"
            "os.remove(sys.argv[1])\n"
            "say = {'output': 'fine', 'justification': ''}"
        )
        for keep in (False, True):
            outcome = sweep_clips([clip], judge=judge, out=tmp_path / f"s{keep}", keep_clips=keep, **self.options)
            assert (outcome.runs, outcome.failed) == (2, 0)
        run = tmp_path / "sTrue/runs/brightness=0p9_seed=1"
        assert sorted(path.name for path in run.iterdir()) == ["manifest.json", "spec.json", "trace_pack.jsonl"]
        record = json.loads((run / "trace_pack.jsonl").read_text())
        assert record["remarks"] == ["the judge changed or removed its clip, so it is not kept"]

    def test_a_judge_learns_nothing_from_the_clips_path(self, clip, tmp_path):
        judge = judge_with("say = {'output': sys.argv[1], 'justification': ''}")
        sweep_clips([clip], judge=judge, out=tmp_path / "s", **self.options)
        for trace in (tmp_path / "s/runs").glob("*/trace_pack.jsonl"):
            path = Path(json.loads(trace.read_text())["output"])
            below = path.relative_to(tmp_path / "s/runs")
            assert re.fullmatch(r"\.judging-[0-9a-f]{16}/clip\.mp4", str(below))
        assert not [path for path in (tmp_path / "s/runs").iterdir() if path.name.startswith(".")]

    @pytest.mark.parametrize(
        ("answer", "reason"),
        [
            (None, "the judge returned NoneType; expected a Verdict"),
            (Verdict(output="", justification=""), "the judge's output is ''; expected text that is not empty"),
        ],
    )
    def test_a_judge_that_returns_nothing_a_trace_can_hold(self, silent_clip, tmp_path, answer, reason):
        """An empty output would have been written, and no sweep with it could be measured."""
        folder, judge = tmp_path / "s", Mute(answer)
        task = RunTask(source=silent_clip, clip_sha256="0", runs=folder, values={"crf": 20}, seed=1, judge=judge)
        assert make_run(task)
        assert json.loads((folder / "crf=20_seed=1/trace_pack.jsonl").read_text())["error"] == reason

    def test_a_changed_script_is_refused_on_resuming(self, clip, tmp_path):
        script = tmp_path / "judge.py"
        script.write_text('print(\'{"output": "A"}\')')
        judge = CommandJudge(command=f"{sys.executable} {script} {{clip}}", timeout=30)
        sweep_clips([clip], judge=judge, out=tmp_path / "s", **self.options)
        script.write_text('print(\'{"output": "B"}\')')
        with pytest.raises(RunError, match=r"was judged by another .*judge\.py \(sha256 .{12}… then, .{12}… now\)"):
            sweep_clips([clip], judge=judge, out=tmp_path / "s", **self.options)


class TestDesign:
    def test_one_at_a_time_is_the_sum_and_not_the_product(self):
        grid = {"b": [1.0, 2.0, 3.0], "a": [5.0, 6.0]}
        points = [(values["a"], values["b"], seed) for values, seed in planned(grid, [7], design="one-at-a-time")]
        assert points == [(5.0, 1.0, 7), (5.0, 2.0, 7), (5.0, 3.0, 7), (6.0, 1.0, 7)]
        assert len(planned(grid, [7])) == 6

    def test_a_sweep_that_moves_one_axis_at_a_time_is_whole(self, clip, tmp_path):
        judge = judge_with("say = {'output': 'fine', 'justification': ''}")
        axes = {"brightness": [1.0, 0.8], "contrast": [1.0, 0.8]}
        outcome = sweep_clips([clip], axes=axes, judge=judge, out=tmp_path / "s", design="one-at-a-time", jobs=1)
        assert outcome.runs == 3
        sweep = read_sweep(tmp_path / "s")
        assert (len(sweep.runs), sweep.declared_runs, sweep.design) == (3, 3, "one-at-a-time")
        assert measure_robustness(tmp_path / "s")[0].remarks == ()

    def test_another_design_is_refused(self, clip, tmp_path):
        with pytest.raises(InputError, match="full-grid or one-at-a-time; got 'latin'"):
            sweep_clips([clip], axes={"crf": [20]}, out=tmp_path / "s", design="latin")


class TestWarnings:
    def warned(self, axes, seeds, judge):
        return idle_axes(axes, seeds, judge)

    def test_a_bundle_without_sound_cannot_be_moved_by_it(self):
        picture = parse_profile('name = "mine"\n[flagged]\nsharpness = { below = 0.3 }\n', source="mine.toml")
        general = BundleJudge(picture, 0)
        (line,) = self.warned({"audio_shift": [0.0, 200.0]}, [1], general)
        assert line.startswith("audio_shift cannot affect this judge, and will look perfectly stable: no rule of the")
        assert self.warned({"brightness": [1.0]}, [1], general) == []
        assert self.warned({"audio_shift": [0.0]}, [1], BundleJudge(load_profile("talking-head"), 1)) == []

    def test_seeds_that_only_repeat(self):
        picture = parse_profile('name = "mine"\n[flagged]\nsharpness = { below = 0.3 }\n', source="mine.toml")
        general = BundleJudge(picture, 0)
        (line,) = self.warned({"brightness": [1.0], "gaussian_noise": [0.0]}, [1, 2], general)
        assert line.startswith("2 seeds only repeat each run")
        assert self.warned({"gaussian_noise": [0.0, 3.0]}, [1, 2], general) == []
        assert self.warned({"crf": [20]}, [1, 2], CommandJudge(command="true {clip} {seed}")) == []
        assert len(self.warned({"crf": [20]}, [1, 2], CommandJudge(command="true {clip}"))) == 1

    def test_a_model_hears_nothing(self):
        model = EndpointJudge(model="m", base_url="http://x", question="q")
        (line,) = self.warned({"audio_noise": [0.1]}, [1, 2], model)
        assert line.endswith("the model sees frames and hears nothing")

    def test_the_lines_reach_the_caller(self, clip, tmp_path):
        lines = []
        judge = judge_with("say = {'output': 'fine', 'justification': ''}")
        judge = CommandJudge(command=judge.command.replace(" {seed}", " 1"), timeout=30)
        sweep_clips([clip], axes={"crf": [20]}, seeds=[1, 2], judge=judge, out=tmp_path / "s", warn=lines.append)
        assert len(lines) == 1


def test_the_bundle_at_a_tier_of_its_own():
    judge = named_judge("bundle:talking-head", JudgeOptions(tier=1)) if is_pulled(group_named("face")) else None
    if judge is None:
        pytest.skip("the face models are not here")
    assert judge.describe()["tier"] == 1 and "face_model" in judge.describe()
