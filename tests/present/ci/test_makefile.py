"""`make` without a target: what a newcomer types first."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def test_bare_make_lists_every_target() -> None:
    """The help is made from the rules themselves, so a target without words of its own is missing from it."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    done = subprocess.run([make, "--no-print-directory"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (phony,) = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    listed = dict(re.findall(r"^make ([a-z]+) +(\S.*)$", done.stdout, re.MULTILINE))
    assert listed.keys() == set(phony.split())
    assert "make check test" in done.stdout.splitlines()[-1]
