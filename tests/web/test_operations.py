"""Probes, metrics and logs: what an operator gets, and what never reaches a log."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

from rushes.study.service import open_service
from rushes.web.app import create_app
from rushes.web.http.counts import BUCKETS_S, RequestCounts
from rushes.web.http.operations import log_to


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    stream, logger = io.StringIO(), logging.getLogger("rushes")
    before = logger.handlers[:], logger.propagate, logger.level
    log_to(stream, "json")
    yield stream
    logger.handlers[:], logger.propagate = before[:2]
    logger.setLevel(before[2])


def client(tmp_path: Path, *, metrics: bool = False, host: str = "127.0.0.1") -> tuple[TestClient, object]:
    service = open_service(tmp_path / "studies.db")
    app = create_app(service=service, metrics=metrics)
    return TestClient(app, base_url=f"http://{host}", raise_server_exceptions=False), service


def test_probes_answer_any_host_and_leave_no_cookie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, service = client(tmp_path, host="elsewhere.example")
    for path, text in (("/healthz", "ok\n"), ("/readyz", "ready\n")):
        found = asked.get(path)
        assert (found.status_code, found.text) == (200, text) and "set-cookie" not in found.headers

    def away(self: object) -> object:
        raise OperationalError("SELECT 1", {}, Exception("connection to server at 10.0.0.7 failed"))

    monkeypatch.setattr(type(service.database), "glance", away)  # type: ignore[attr-defined]
    found = asked.get("/readyz")
    assert found.status_code == 503 and found.text == "not ready: the database does not answer\n"
    assert asked.get("/healthz").status_code == 200  # alive, though not ready


def test_metrics_are_there_only_when_asked_for(tmp_path: Path) -> None:
    assert client(tmp_path)[0].get("/metrics").status_code != 200
    asked, _ = client(tmp_path, metrics=True)
    asked.get("/i/a-secret-token")
    text = asked.get("/metrics").text
    assert 'rushes_requests_total{method="GET",route="/i/{token}",status="' in text
    assert "a-secret-token" not in text and text == asked.get("/metrics").text


def test_counts_and_buckets_by_hand() -> None:
    counts = RequestCounts()
    for seconds in (0.004, 0.3, 20.0):
        counts.add("GET", "/x", 200, seconds)
    counts.add("BREW", "/x", 405, 0.001)
    lines = counts.text().splitlines()
    assert 'rushes_requests_total{method="GET",route="/x",status="200"} 3' in lines
    assert 'rushes_requests_total{method="other",route="/x",status="405"} 1' in lines
    found = [line for line in lines if "_bucket" in line]
    assert len(found) == len(BUCKETS_S) + 1
    assert 'rushes_request_seconds_bucket{route="/x",le="0.005"} 2' in found
    assert 'rushes_request_seconds_bucket{route="/x",le="0.5"} 3' in found
    assert 'rushes_request_seconds_bucket{route="/x",le="+Inf"} 4' in found
    assert 'rushes_request_seconds_sum{route="/x"} 20.305000' in lines


def test_a_line_per_request_and_no_token_in_any(tmp_path: Path, log: io.StringIO) -> None:
    asked, service = client(tmp_path)
    asked.get("/i/a-secret-token")
    asked.get("/join/a-secret-link?PROLIFIC_PID=5f3a0000000000000000beef")
    asked.get("/nowhere/a-secret")
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    assert [line["route"] for line in lines if "route" in line][:2] == ["/i/{token}", "/join/{token}"]
    assert {"time", "level", "method", "status", "ms"} <= set(lines[0])
    assert "secret" not in log.getvalue() and "5f3a" not in log.getvalue()


def test_a_lost_database_writes_no_token(tmp_path: Path, log: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, service = client(tmp_path)

    def away(*given: object, **named: object) -> object:
        raise OperationalError("INSERT", {"token": "a-secret-token"}, Exception("connection failed"))

    monkeypatch.setattr(type(service.database), "read", away)  # type: ignore[attr-defined]
    monkeypatch.setattr(type(service.database), "write", away)  # type: ignore[attr-defined]
    monkeypatch.setattr(type(service.database), "glance", away)  # type: ignore[attr-defined]
    asked.get("/i/a-secret-token")
    assert "secret" not in log.getvalue() and log.getvalue()


def test_text_lines_have_time_and_level(tmp_path: Path) -> None:
    stream = io.StringIO()
    logger = logging.getLogger("rushes")
    before = logger.handlers[:], logger.propagate, logger.level
    log_to(stream, "text")
    try:
        client(tmp_path)[0].get("/healthz")
        logging.getLogger("rushes.web").error("the disk is full")
    finally:
        logger.handlers[:], logger.propagate = before[:2]
        logger.setLevel(before[2])
    assert "Z ERROR the disk is full\n" in stream.getvalue()
