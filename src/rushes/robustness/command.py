"""`rushes robust`: ESI and Justification Drift of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rushes.terminal.console import print_json, print_table, progress, say

if TYPE_CHECKING:
    from rushes.robustness.evaluate import SweepReport

_COLUMNS = {
    "esi": "ESI ↑",
    "justification_drift": "drift ↓",
    "confidence_stability": "CSI ↑",
    "entropy_drift": "EDM ↓",
}
_MARKS = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}


def robust(
    sweep_dir: Annotated[str, typer.Argument(help="A sweep directory, or a folder of them; here, s3:// or gs://.")],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", help="The run directory, here or s3://; one under runs/ unless given."),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify/--no-verify", help="Check each run's manifest_hash before measuring.")
    ] = True,
    worst: Annotated[int, typer.Option(min=0, help="How many of the worst runs to list.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")] = False,
) -> None:
    """Does the answer hold when the input wobbles? ESI and Justification Drift of a sweep.

    Example: rushes robust sweep/ -o run
    """
    from rushes.robustness.evaluate import default_run, listed_runs, measure_robustness

    target = output or default_run(sweep_dir, verify=verify, worst=worst)
    with progress("measuring", listed_runs(sweep_dir), "runs") as advance:
        reports = measure_robustness(sweep_dir, output=target, verify=verify, worst=worst, advance=advance)
    if as_json:
        rows = [report.to_dict() | {"run": str(target)} for report in reports]
        print_json(rows[0] if len(rows) == 1 else {"sweeps": rows})
        return
    for report in reports:
        _show(report)
    print(target)


def _show(report: SweepReport) -> None:
    rows = [row for axis in report.axes for row in _axis_rows(axis, report)]
    header = ("axis", "value", *_COLUMNS.values(), "runs")
    used = [column for column in range(len(header)) if any(row[column] != "–" for row in rows)]
    print(f"{report.path}: {report.runs} runs, baseline {report.baseline}")
    print_table(
        "Stability per axis value",
        [header[column] for column in used],
        [[row[column] for column in used] for row in rows],
        numbers=range(2, len(used)),
    )
    _show_signatures(report)
    _show_worst(report)
    if report.runs < report.declared_runs:
        say(f"{report.path}: {report.declared_runs - report.runs} of {report.declared_runs} runs are not there yet")
    if report.failed_runs:
        say(f"{report.path}: the judge failed in {report.failed_runs} of {report.runs} runs; each counts as an answer")


def _axis_rows(axis: str, report: SweepReport) -> list[list[str]]:
    """One row for the axis and one per value, in emitted order, each value as it was declared."""
    from rushes.robustness.measurements import NOTHING

    cells: dict[str, dict[str, str]] = {}
    for m in report.measurements:
        params = dict(m.definition.params)
        if params.get("axis") == axis and m.definition.name in _COLUMNS and m.value is not None:
            row = cells.setdefault(params.get("value", "all values"), {"runs": str(m.count)})
            row[m.definition.name] = f"{float(m.value):.4f}"
    declared = {code or NOTHING: str(value) for code, value in report.axes[axis].items()}
    return [
        [axis, declared.get(code, code), *(row.get(name, "–") for name in (*_COLUMNS, "runs"))]
        for code, row in cells.items()
    ]


def _show_signatures(report: SweepReport) -> None:
    for m in report.measurements:
        if "value" not in dict(m.definition.params) and m.definition.name in _COLUMNS and "axis" in m.signature:
            print(m.signature)


def _show_worst(report: SweepReport) -> None:
    for run in report.worst:
        verdict = "same answer" if run.matches else f"answers {run.answer!r}, baseline {report.baseline_answer!r}"
        print(f"\n{run.run}: {verdict}, drift {run.drift:.4f}")
        print("  " + " ".join(_MARKS[part.change].format(part.text) for part in run.diff))
