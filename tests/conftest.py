"""Fixtures every suite shares."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

collect_ignore = ["oracle"]  # scripts for environments of their own, see oracle/README.md

# Machines are shared and slow at times: a slow example is no failure.
settings.register_profile("rushes", deadline=None, print_blob=True)
settings.load_profile("rushes")


def _shared() -> Path:
    return Path(os.environ.get("RUSHES_SHARED", Path(__file__).parents[2] / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference clips and goldens beside the checkout; the test is skipped where there is none."""
    folder = _shared()
    if not folder.is_dir():
        pytest.skip("the reference material (../shared, or RUSHES_SHARED) is not here")
    return folder
