"""The coverage that the robustness specification asks for: metrics.py 95 %, metrics_engine.py 90 %, by their own tests.

python scripts/coverage_gate.py

Only the tests of these two modules run, in a few seconds; lines and branches count. Exit code 1 below a gate.
"""

from __future__ import annotations

import sys
from pathlib import Path

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
GATES = {"metrics.py": 95.0, "metrics_engine.py": 90.0}
TESTS = ("test_levenshtein.py", "test_metrics.py", "test_metrics_engine.py", "test_guardrails.py")


def measured() -> dict[str, float]:
    """Coverage in percent by module, as its tests leave it."""
    folder = ROOT / "src/rushes/instruments/robustness/seed"
    watch = coverage.Coverage(branch=True, data_file=None, include=[str(folder / name) for name in GATES])
    with watch.collect():
        code = pytest.main(["-q", *(str(ROOT / "tests/instruments/robustness" / name) for name in TESTS)])
    if code:
        sys.exit(int(code))
    return {name: watch.report(include=[str(folder / name)], file=sys.stdout) for name in GATES}


def main() -> int:
    found = measured()
    below = [f"{name}: {found[name]:.1f} %, expected {gate:g} %" for name, gate in GATES.items() if found[name] < gate]
    print("\n".join(below) or "coverage: " + ", ".join(f"{name} {value:.1f} %" for name, value in found.items()))
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
