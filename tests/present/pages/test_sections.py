"""What each instrument's section says, on runs whose numbers are set by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rushes.core import Definition, Measurement, signature_params
from rushes.core.table import exact_text
from rushes.instruments.distribution.show import section as distribution
from rushes.instruments.pose.evaluate import score_pose
from rushes.instruments.pose.show import section as pose
from rushes.instruments.robustness.show import section as robustness
from rushes.present.pages.section import settings_of
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run


def definition(name: str, **params: str) -> Definition:
    return Definition(
        name=name,
        unit="1",
        lowest=None,
        highest=None,
        better="lower",
        summary="S.",
        formula="f",
        params=signature_params(**params),
    )


def stored(path: Path, instrument: str, kind: str, rows: list[tuple[Definition, float]], **facts: object) -> Run:
    subject = Subject(id="it", kind=kind, path="it", sha256=None, facts=facts)  # type: ignore[arg-type]
    numbers = tuple(Measurement(definition=d, value=value, count=9) for d, value in rows)
    with RunWriter(path, instrument=instrument, settings={}) as writer:
        writer.add(Entry(subject=subject, measurements=numbers))
        writer.finish(["it"])
    return read_run(path)


def texts(run: Run, module: object, grid: int) -> list[list[str]]:
    return [[cell.text for cell in row] for row in module.grids(run)[grid].rows]  # type: ignore[attr-defined]


def test_distances_stand_with_size_and_protocol(tmp_path: Path) -> None:
    same = {"n_gen": "8", "n_gt": "9", "d": "400", "weights": "random-seed0"}
    rows = [
        (definition("fvd", protocol="one", **same), 107.5),
        (definition("fvd", protocol="two", **same), 55.25),
        (definition("kvd", protocol="two", **same), 3.0),
    ]
    run = stored(tmp_path / "r", "distribution", "set", rows, side="generated", clips=8, excluded={"a": "b"})
    assert texts(run, distribution, 0) == [
        ["fvd", "one", "107.5", "8", "9", "400"],
        ["fvd", "two", "55.25", "8", "9", "400"],
        ["kvd", "two", "3", "8", "9", "400"],
    ]
    assert distribution.summary(run) == (
        "FVD 107.5 (8 vs 9 clips, protocol one); FVD 55.25 (8 vs 9 clips, protocol two); "
        "1 more are in the table. The weights are random, so these values are comparable only with each other."
    )
    assert distribution.facts(run) == [("Generated", "it: 8 clips, 1 left out")]


def test_pose_shows_one_row_per_normalisation(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    truth = rng.uniform(0, 100, (6, 17, 2))
    np.save(tmp_path / "gt.npy", truth)
    np.save(tmp_path / "pred.npy", truth)
    score_pose(tmp_path / "pred.npy", tmp_path / "gt.npy", norms=["all"], ks=(10, 20), run=tmp_path / "r")
    run = read_run(tmp_path / "r")
    # Prediction equals truth: every PCK is 1, under every rule.
    assert [row[1:3] for row in texts(run, pose, 0)] == [["1", "1"]] * 3
    assert pose.summary(run).startswith("PCK@20 is 1 by torso-diameter, 1 by bbox-diagonal")
    assert texts(run, pose, 1)[0][:2] == ["mpjpe ↓", "0"]


def test_a_sweep_names_where_the_answer_holds_least(sweep_run: Path) -> None:
    run = read_run(sweep_run)
    assert robustness.summary(run) == (
        "In sweep the answer holds least at gaussian_blur 2.0, where 0% of the runs keep it."
    )
    rows = {(row[0], row[1]): row[2:] for row in texts(run, robustness, 0)}
    # ESI and drift over the grid, then alone: without blur, both levels of brightness keep the answer.
    assert rows[("gaussian_blur", "3.0")] == ["0", "1", "0", "1", "2"]
    assert rows[("brightness", "all values")] == ["0.5000", "0.5000", "1", "0", "8"]


def test_settings_shown_are_those_that_tell_namesakes_apart() -> None:
    one, two = definition("m", k="5", norm="a"), definition("m", k="5", norm="b", extra="x")
    numbers = [Measurement(definition=d, value=1.0, count=1, at={"joint": "wrist"}) for d in (one, two, one)]
    assert settings_of(numbers) == {one.signature: "norm a", two.signature: "extra x, norm b"}


def test_the_exact_value_is_the_stored_one() -> None:
    d = definition("m", k="5")
    assert exact_text(Measurement(definition=d, value=2 / 3, count=1)) == "0.66666667"
    assert exact_text(Measurement(definition=d, value=True, count=1)) == "yes"
    assert exact_text(Measurement(definition=d, value=None, count=0, note="n")) == "–"
