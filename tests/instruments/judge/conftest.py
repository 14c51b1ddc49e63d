"""Clips of three systems on twelve prompts, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.instruments.judge.judged_world import make_prompts, make_system

QUALITY = {"amber": 0.6, "birch": 0.3, "cedar": 0.1}
"""Contrast of the stripes: the planted order."""


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "RUSHES_JUDGE_KEY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("judged")
    make_prompts(home / "prompts.csv")
    for name, contrast in QUALITY.items():
        make_system(home / name, contrast=contrast)
    return home
