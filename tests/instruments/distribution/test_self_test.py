"""`rushes fvd --self-test`: which published numbers are repeated, and what is said where they are not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.instruments.distribution import self_test as module
from rushes.instruments.distribution.clips.preparation import prepared
from rushes.instruments.distribution.protocols import PROTOCOLS
from rushes.instruments.distribution.recipes import recipe
from rushes.instruments.distribution.self_test import Check, self_test

runner = CliRunner()
CHECK = Check(covers="x", what="y", published=200.0, source="s", tolerance=1e-3)


def test_a_check_holds_within_its_tolerance() -> None:
    assert [replace(CHECK, got=got).holds for got in (200.0, 200.19, 200.21, None)] == [True, True, False, None]
    assert [replace(CHECK, got=got).digits for got in (200.0, 200.19, 100.0, None)] == [15, 3, 0, None]
    assert replace(CHECK, published=None, got=1.0).holds is None


def test_without_weights_the_arithmetic_alone_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "_weights", lambda backbone, files, root: (None, f"the weights of {backbone} ..."))
    checks = self_test()
    assert [check.holds for check in checks[:2]] == [True, True]
    assert {check.holds for check in checks[2:]} == {None}
    noise = [check for check in self_test(thorough=True) if "videos of noise" in check.what]
    assert [(check.published, check.holds) for check in noise] == [(10.13808536529541, None)]
    covered = {name for check in checks for name in check.covers.split(", ")}
    assert covered >= {*PROTOCOLS, "fid-vid", "kvd"}  # no protocol is passed over in silence
    result = runner.invoke(app, ["fvd", "--self-test"])
    assert result.exit_code == 0 and "2 reproduced, 0 not, 8 could not be checked." in result.stdout


def test_wrong_weights_do_not_hold(random_weights: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CONSTANT_CASES", module._CONSTANT_CASES[1:2])
    result = runner.invoke(app, ["fvd", "--self-test", "--json", "--weights", str(random_weights["i3d"])])
    assert result.exit_code == 1
    checks = json.loads(result.stdout)["checks"]
    assert [check["holds"] for check in checks] == [True, True, False, None, None]
    assert "no weights for r3d50 among the files given" in checks[-1]["why_not"]


@pytest.mark.parametrize("name", PROTOCOLS)
def test_every_preparation_leaves_black_and_white(name: str) -> None:
    for level, wanted in ((0, -1.0), (255, 1.0)):
        picture = prepared(np.full((64, 64, 3), level, np.uint8), recipe(name, "fvd"))
        assert picture.min() == pytest.approx(wanted, abs=1e-6) and picture.max() == pytest.approx(wanted, abs=1e-6)


def test_sets_are_asked_for_where_nothing_is_tested() -> None:
    for words, message in (([], "got neither"), (["gen"], "got GEN alone")):
        result = runner.invoke(app, ["fvd", *words])
        assert result.exit_code == 2 and f"expected GEN and GT; {message}" in " ".join(result.output.split())
