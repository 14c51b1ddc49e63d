"""Metrics against votes: the headline, and two readings of one name told apart."""

from __future__ import annotations

from pathlib import Path

from rushes.core import Definition, Measurement, signature_params
from rushes.instruments.preference.numbers.validity import validity_measurements
from rushes.instruments.preference.show.section import summary
from rushes.instruments.preference.show.validity import metric_names, predictions, validity
from rushes.instruments.preference.votes import Vote

from .test_section import a_run


def blur(border: str) -> Definition:
    return Definition(
        name="blur_score",
        unit="1",
        lowest=0,
        highest=None,
        better="higher",
        summary="sharpness",
        formula="f",
        params=signature_params(border=border, input="raw", kernel="laplace"),
    )


def measured(values: dict[str, float], border: str) -> dict[str, tuple[Measurement, ...]]:
    return {clip: (Measurement(definition=blur(border), value=value, count=1),) for clip, value in values.items()}


def votes() -> list[Vote]:
    return [
        Vote(
            sample=f"s{k}",
            system_a="x",
            system_b="y",
            winner="a" if k % 4 else "b",
            rater=f"r{k % 3}",
            clip_a=f"x{k}",
            clip_b=f"y{k}",
        )
        for k in range(12)
    ]


def test_two_readings_of_one_name_differ_by_what_differs(tmp_path: Path) -> None:
    one = measured({f"{s}{k}": 2.0 if s == "x" else 1.0 for s in "xy" for k in range(12)}, "reflect101")
    other = measured({f"{s}{k}": float(k) if s == "x" else 5.5 for s in "xy" for k in range(12)}, "zero")
    both = {clip: (*one[clip], *other[clip]) for clip in one}
    found = validity_measurements(votes(), both, rubric_version="0.1")
    assert set(metric_names(predictions(found)).values()) == {
        "blur_score, border reflect101",
        "blur_score, border zero",
    }
    assert validity(found).rows[0][0].text == "blur_score, border reflect101"
    said = summary(a_run(tmp_path / "r", found))
    assert said.startswith("blur_score, border reflect101 picks the human winner most often (75% of 12 decided votes).")


def test_a_run_of_validity_never_speaks_of_a_ranking(tmp_path: Path) -> None:
    same = measured({f"{s}{k}": 1.0 for s in "xy" for k in range(12)}, "zero")
    assert summary(a_run(tmp_path / "same", validity_measurements(votes(), same, rubric_version="0.1"))) == (
        "mine: no vote has two clips with different metric values."
    )
