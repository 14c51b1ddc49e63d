"""Pairing by id, and what the paths say against it; what of a gate was not checked."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.clips import noise, write_luma
from typer.testing import CliRunner, Result

import rushes
from rushes.cli.main import app
from rushes.compare.readings.clip_pairing import _doubtful, _in_two_folders
from rushes.compare.runs.many import compare_runs
from rushes.core import Definition, Measurement
from rushes.core.errors import InputError
from rushes.instruments.clip.metrics.image import BLUR_SCORE
from rushes.instruments.clip.metrics.motion import FREEZE_FRAME_RATIO
from rushes.storage.runs import Entry, RunWriter, Subject

P10 = BLUR_SCORE.with_params(statistic="p10")


def write(
    folder: Path, clips: Mapping[str, str], values: Mapping[Definition, float | None], *, whole: bool = True
) -> Path:
    """A run of these clips, id → path, each with these values."""
    with RunWriter(folder, instrument="clip", settings={"tier": 0}) as run:
        for name, path in clips.items():
            rows = tuple(
                Measurement(definition=d, value=v, count=int(v is not None), note="" if v is not None else "none")
                for d, v in values.items()
            )
            subject = Subject(id=name, kind="clip", path=path, sha256=None, badge="pass")
            run.add(Entry(subject=subject, measurements=rows))
        if whole:
            run.finish(list(clips))
    return folder


def compared(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


def test_clips_of_other_folders_are_not_paired_because_their_stems_agree(tmp_path: Path) -> None:
    """The usual layout, a folder a prompt: A has p1 and p2, B has p2 alone."""
    for number, name in enumerate(("A/p1/out", "A/p2/out", "B/p2/out")):
        (tmp_path / name).parent.mkdir(parents=True)
        write_luma(tmp_path / f"{name}.mkv", noise(3, size=(32, 24), seed=number), "gray")
    for name in "AB":
        rushes.evaluate_clips(tmp_path / name, run=tmp_path / f"run{name}", jobs=1)
    found = compare_runs(tmp_path / "runA", tmp_path / "runB")
    assert (found.paired, found.only_first, found.doubtful) == (("p2__out",), ("p1__out",), ())


def test_an_id_that_stands_for_two_clips_is_not_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs that numbered namesakes: `out` is p1 in one and p2 in the other."""
    monkeypatch.setenv("COLUMNS", "300")  # no line is broken, however long the folder's name is
    a = write(tmp_path / "a", {"out": "A/p1/out.mp4", "out-2": "A/p2/out.mp4", "x": "A/x.mp4"}, {BLUR_SCORE: 5.0})
    b = write(tmp_path / "b", {"out": "B/p2/out.mp4", "x": "B/x.mp4"}, {BLUR_SCORE: 5.0})
    found = compare_runs(a, b)
    assert (found.paired, found.only_first, found.doubtful) == (("x",), ("out-2",), ("out",))
    shown = compared(a, b)
    assert "two clips by their paths, so not compared: out (A/p1/out.mp4, B/p2/out.mp4)" in shown.stdout
    gate = compared(a, b, "--fail-on", "regression=blur_score:1")
    assert gate.exit_code == 1 and "2 clips of A without a counterpart in B (out, out-2)" in gate.stderr
    only = write(tmp_path / "only", {"out": "B/p2/out.mp4"}, {BLUR_SCORE: 5.0})
    with pytest.raises(InputError, match=r"out is A/p1/out.mp4 in one and B/p2/out.mp4 in the other, which are two"):
        compare_runs(a, only)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"x": "monday/x.mp4", "y": "monday/y.mp4"}, {"x": "tuesday/x.mp4", "y": "tuesday/y.mp4"}),
        ({"x": "v1/x.mp4", "y": "v2/y.mp4"}, {"x": "v2/x.mp4", "y": "v3/y.mp4"}),
        ({"x": "x.mp4", "y": "y.mp4"}, {"x": "/data/x.mkv", "y": "s3://takes/new/y.mkv"}),
        ({"x": "r/p1/x.mp4", "y": "r/p2/x.mp4"}, {"x": "s/p1/x.mp4", "y": "s/p2/x.mp4"}),
    ],
)
def test_other_folders_alone_are_no_doubt(tmp_path: Path, one: dict[str, str], other: dict[str, str]) -> None:
    a, b = write(tmp_path / "a", one, {BLUR_SCORE: 5.0}), write(tmp_path / "b", other, {BLUR_SCORE: 5.0})
    assert compare_runs(a, b).paired == ("x", "y")


GATE = ("--fail-on", "regression=blur_score:1")
X, XY = {"x": "x.mp4"}, {"x": "x.mp4", "y": "y.mp4"}


@pytest.mark.parametrize(
    ("first", "second", "code", "says"),
    [
        ((XY, {BLUR_SCORE: 5.0}), (XY, {BLUR_SCORE: 5.0}), 0, ""),
        ((X, {BLUR_SCORE: 5.0}), (XY, {BLUR_SCORE: 5.0}), 0, ""),  # a new clip has nothing to be worse than
        ((XY, {BLUR_SCORE: 5.0}), (X, {BLUR_SCORE: 5.0}), 1, "1 clip of A without a counterpart in B (y)"),
        ((X, {BLUR_SCORE: 5.0, P10: 4.0}), (X, {BLUR_SCORE: 5.0, P10: None}), 1, "cannot be checked"),
        ((X, {BLUR_SCORE: 5.0, P10: 4.0}), (X, {BLUR_SCORE: 5.0}), 1, f"{P10.signature} is in one run only"),
        ((XY, {BLUR_SCORE: 5.0}), (X, {BLUR_SCORE: 1.0}), 3, "1 clip of A without a counterpart"),
    ],
)
def test_a_gate_that_was_not_checked_on_everything_does_not_hold(
    tmp_path: Path,
    first: tuple[dict[str, str], dict[Definition, float | None]],
    second: tuple[dict[str, str], dict[Definition, float | None]],
    code: int,
    says: str,
) -> None:
    a, b = write(tmp_path / "a", *first), write(tmp_path / "b", *second)
    done = compared(a, b, *GATE)
    assert done.exit_code == code and says in done.stderr, done.output
    if code == 1 and "cannot be checked" not in says:
        assert compared(a, b, *GATE, "--allow-unjudged").exit_code == 0


def test_a_value_that_was_lost_is_not_checked(tmp_path: Path) -> None:
    """x holds; y had a value and has none any more, as a clip that stopped decoding has not."""
    a = write(tmp_path / "a", XY, {BLUR_SCORE: 5.0})
    with RunWriter(tmp_path / "b", instrument="clip", settings={"tier": 0}) as run:
        for name, value in (("x", 5.0), ("y", None)):
            subject = Subject(id=name, kind="clip", path=f"{name}.mp4", sha256=None, badge="pass")
            row = Measurement(definition=BLUR_SCORE, value=value, count=1, note="" if value else "no frames")
            run.add(Entry(subject=subject, measurements=(row,)))
        run.finish(["x", "y"])
    assert compared(a, tmp_path / "b", *GATE).exit_code == 1


def test_a_refused_reading_and_an_unfinished_run_are_not_checked(tmp_path: Path) -> None:
    other = FREEZE_FRAME_RATIO.with_params(eps=2.0)
    a = write(tmp_path / "a", X, {BLUR_SCORE: 5.0, P10: 1.0, FREEZE_FRAME_RATIO: 0.1})
    b = write(tmp_path / "b", X, {BLUR_SCORE: 5.0, BLUR_SCORE.with_params(statistic="p50"): 1.0, other: 0.1})
    done = compared(a, b, *GATE)
    assert done.exit_code == 1 and "a metric was refused (blur_score: statistic is p10 in one" in done.stderr
    whole = compared(a, b, "--fail-on", f"regression={BLUR_SCORE.signature}:1")
    assert whole.exit_code == 0, "that one reading was checked"
    half = write(tmp_path / "half", X, {BLUR_SCORE: 5.0}, whole=False)
    done = compared(half, write(tmp_path / "c", X, {BLUR_SCORE: 5.0}), *GATE)
    assert done.exit_code == 1 and f"{half} is interrupted" in done.stderr


def test_the_short_way_to_pair_agrees_with_taking_paths_apart() -> None:
    """Random trees of few names, absolute and relative: where the short way sees no doubt, no clip has any."""
    rng, short = random.Random(4), 0
    for _ in range(3000):
        names = [f"{rng.choice(('', '/'))}{place}" for place in rng.sample(("A", "B", "x/A", "x", "./A"), 2)]
        below = ["/".join(rng.choices(("A", "B", "p", "q"), k=rng.randint(1, 3))) + ".mp4" for _ in range(4)]
        one = {str(n): f"{names[0]}/{path}" for n, path in enumerate(below)}
        other = {str(n): f"{names[1]}/{path}" for n, path in enumerate(below) if rng.random() < 0.8}
        if rng.random() < 0.3:
            other["0"] = f"{names[1]}/{rng.choice(below)}"
        both = [name for name in one if name in other]
        subjects = [Subject(id=name, kind="clip", path=one[name], sha256=None) for name in both]
        paths = [one[name] for name in both], [other[name] for name in both], [*one.values()], [*other.values()]
        if both and _in_two_folders(*paths):
            short += 1
            assert not _doubtful(subjects, *paths), (one, other)
    assert short > 100
