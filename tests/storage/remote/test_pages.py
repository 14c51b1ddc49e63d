"""Reports, comparisons, tables and bundles of runs in a store, as a user types them."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rushes.cli.main import app

from .conftest import Bucket, left_behind


def call(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code, result.output + repr(result.exception)
    return result


def test_clip_report_and_compare(bucket: Bucket, here: Path, tmp_path: Path, settings: dict[str, str]) -> None:
    pytest.importorskip("jinja2", reason="the report needs jinja2")
    url, run = bucket.put_folder("takes", here), bucket.url("runs/monday")
    made = call("clip", url, "-o", run, "--csv", bucket.url("monday.csv"), "--bundle", bucket.url("bundles"))
    assert made.stdout.splitlines()[-1] == run
    assert json.loads(call("clip", url, "-o", run, "--json").stdout)["run"] == run
    call("clip", url, "-o", str(tmp_path / "monday"), "--csv", str(tmp_path / "a.csv"), "--bundle", str(tmp_path / "b"))
    assert bucket.get("monday.csv") == (tmp_path / "a.csv").read_bytes()
    assert bucket.tree("bundles/") == {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    page = call("report", run)
    assert page.stdout.splitlines()[-1] == f"{run}/report.html"
    call("report", str(tmp_path / "monday"))
    text = bucket.get("runs/monday/report.html").decode()
    assert "data:image/jpeg;base64," in text, "film strips come from copies of the objects"
    assert settings["TMPDIR"] not in text
    near = (tmp_path / "monday" / "report.html").read_text(encoding="utf-8")
    assert _told(text.replace(run, str(tmp_path / "monday"))) == _told(near)
    compared = call("compare", run, str(tmp_path / "monday"))
    # A path that is longer than a line is broken inside.
    assert f"A{run}B{tmp_path / 'monday'}" in "".join(compared.stdout.split())
    gc.collect()
    assert left_behind(settings) == []


def _told(page: str) -> list[str]:
    """The page's lines without those that hold a run's times."""
    return [line for line in page.splitlines() if "started" not in line and "finished" not in line]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("report", "s3://takes/none"), "s3://takes/none: expected a run directory with run.json; found none"),
        (("compare", "s3://takes/none", "s3://takes/none"), "expected a run directory with run.json"),
        (("compare", "s3://nobody-has-this/run", "s3://takes/none"), "no bucket"),
        (("clip", "TAKE", "-o", "s3://takes"), "the folder is missing"),
        (("clip", "TAKE", "-o", "s3://nobody-has-this/run"), "no such bucket"),
        (("clip", "TAKE", "-o", "https://host/run"), "begins with s3://, gs://, gcs://"),
        (("sweep", "TAKE", "--axis", "crf=18,28", "-o", "s3://takes"), "the folder is missing"),
        (("pose", "a.json", "b.json", "--norm", "all", "-o", "s3://takes/run"), "works on local files only"),
        (("pose", "s3://takes/a.json", "b.json", "--norm", "all"), "works on local files only"),
        (("robust", "s3://takes/sweep"), "s3://takes/sweep/sweep_manifest.json: expected a sweep directory"),
        (("study", "report", "x", "-o", "s3://takes/run"), "works on local files only"),
    ],
)
def test_one_line_and_exit_1(bucket: Bucket, here: Path, words: tuple[str, ...], told: str) -> None:
    given = [str(here / "take2.mkv") if word == "TAKE" else word for word in words]
    result = CliRunner().invoke(app, given)
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("rushes: ") and result.stderr.count("\n") == 1 and told in result.stderr


def test_view_shows_a_run_of_a_store(bucket: Bucket, here: Path, settings: dict[str, str]) -> None:
    pytest.importorskip("starlette", reason="view needs the extra `serve`")
    run = bucket.url("runs/seen")
    call("clip", bucket.put_folder("takes", here), "-o", run)
    command = [sys.executable, "-m", "rushes", "view", run, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ) as viewer:
        assert viewer.stdout is not None and viewer.stderr is not None
        told = json.loads(viewer.stdout.readline())
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(told["link"]) as page:  # the link that was printed
            assert page.url.partition("?")[0].endswith("/runs/seen") and "take2" in page.read().decode()
        viewer.terminate()
        assert "this is a copy" in viewer.stderr.read()
    gc.collect()
    assert left_behind(settings) == []


def test_view_of_a_store_without_a_run_is_one_line(bucket: Bucket, here: Path) -> None:
    result = CliRunner().invoke(app, ["view", bucket.put_folder("takes", here)])
    assert result.exit_code == 1 and "expected a run, or a folder with runs below" in result.stderr


def test_serve_shows_a_run_of_a_store(
    bucket: Bucket, here: Path, tmp_path: Path, settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    serving = pytest.importorskip("rushes.web.serving", reason="serve needs the extra `web`")
    served: list[list[str]] = []
    run = bucket.url("runs/seen")
    call("clip", bucket.put_folder("takes", here), "-o", run)
    monkeypatch.setattr(serving, "serve_on", lambda listener, page, **_: served.append(list(page.state.workbench.runs)))
    before = signal.getsignal(signal.SIGTERM)
    try:
        told = call("serve", "--db", str(tmp_path / "studies.db"), "--run", run, "--port", "0", "--json")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert served == [["seen"]] and "this is a copy" in told.stderr
    gc.collect()
    assert left_behind(settings) == []
