"""The pytest plugin: a fixture `rushes` that measures clips and holds one run against another.

pytest loads this file at every start wherever Rushes is installed, so it imports nothing of Rushes until the fixture is
used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from rushes.compare.gate.answer import GateReport
    from rushes.instruments.clip.measure import ClipResult
    from rushes.storage.runs import Run


class RushesFixture:
    """What a test is given as `rushes`."""

    def measure(self, path: Path | str, **options: Any) -> ClipResult:
        """Measure one clip, as `rushes.evaluate_clip` does with the same options: `profile`, `tier`, `metrics` …"""
        from rushes.instruments.clip.evaluate import evaluate_clip

        return evaluate_clip(path, **options)

    def assert_passes(
        self, path: Path | str, *, fail_on: str = "reject", allow_unjudged: bool = False, **options: Any
    ) -> ClipResult:
        """Measure one clip, and fail where `rushes clip --fail-on` would.

        That is where its review signal is "reject", or with `fail_on="flagged"` flagged too, and where a rule of that
        level was not judged, unless `allow_unjudged` is true.
        """
        __tracebackhide__ = True
        if fail_on not in ("reject", "flagged"):
            raise pytest.UsageError(f'fail_on is "reject" or "flagged"; got {fail_on!r}')
        from rushes.instruments.clip.signals.gate import check_clip

        result = self.measure(path, **options)
        audio = options.get("audio")
        found = check_clip(
            result, options.get("profile", "general"), "reject" if fail_on == "reject" else "flagged", audio
        )
        if found.caught:
            pytest.fail("\n".join([f"{path}: {result.badge}", *(f"  {reason}" for reason in result.reasons)]), False)
        if found.unjudged and not allow_unjudged:
            pytest.fail(f"{path}: not judged: {found.unjudged_text()}; allow_unjudged=True lets it through", False)
        return result

    def assert_not_worse(
        self,
        run: Path | str | Run,
        baseline: Path | str | Run,
        *,
        repeats: Iterable[Path | str | Run] = (),
        metrics: Mapping[str, float | str | None] | Iterable[str] = (),
        margin: float = 1.0,
        level: float = 0.95,
        allow_unclear: bool = False,
        allow_unjudged: bool = False,
    ) -> GateReport:
        """Fail where `rushes gate BASELINE RUN` does not hold: a reading is worse, or it cannot be told.

        The arguments are those of `rushes.check_regression`. `allow_unclear`: "cannot tell" passes. The message names
        each reading with its difference, interval, margin and the three clips that lost most.
        """
        __tracebackhide__ = True
        from rushes.compare.gate.gate import check_regression
        from rushes.compare.gate.report import failure_text
        from rushes.core.errors import RushesError

        try:
            report = check_regression(
                baseline,
                run,
                repeats=repeats,
                metrics=metrics,
                margin=margin,
                level=level,
                allow_unjudged=allow_unjudged,
            )
        except RushesError as error:
            pytest.fail(f"the gate was not run: {error}", False)
        if report.answer == "worse" or (report.answer == "cannot tell" and not allow_unclear):
            pytest.fail(failure_text(report), False)
        return report


@pytest.fixture(scope="session")
def rushes() -> RushesFixture:
    """Measure clips (`measure`, `assert_passes`), and hold a run against its baseline (`assert_not_worse`)."""
    return RushesFixture()
