"""The last record of a trace, short or far larger than memory should hold."""

from __future__ import annotations

import json
import os
import tracemalloc

import pytest

from rushes.instruments.robustness.seed import traces
from rushes.instruments.robustness.seed.metrics import MetricComputationError, MissingSweepFile
from rushes.instruments.robustness.seed.traces import last_record


@pytest.fixture
def trace(tmp_path):
    def write(content: bytes):
        path = tmp_path / "trace_pack.jsonl"
        path.write_bytes(content)
        return path

    return write


@pytest.fixture(params=["whole", "from the end"])
def either_way(request, monkeypatch):
    """Both ways of reading, whatever the size of the file."""
    if request.param == "from the end":
        monkeypatch.setattr(traces, "CHECKED_WHOLE", -1)
        monkeypatch.setattr(traces, "_BLOCK", 8)
    return request.param


@pytest.mark.parametrize(
    "content",
    [
        b'{"n": 1}\n{"n": 2, "text": "a longer line than one block"}\n',
        b'{"n": 1}\n{"n": 2}',
        b'{"n": 2}',
        b'\n\n{"n": 1}\n\n\n{"n": 2}\n\n   \n\t\n' + b"\n" * 50,
        b'{"n": 1}\r\n{"n": 2}\r\n',
    ],
)
def test_the_last_record_that_is_not_blank(trace, either_way, content):
    assert last_record(trace(content))["n"] == 2


def test_a_line_separator_inside_a_text_is_no_new_line(trace, either_way):
    assert last_record(trace('{"n": "a\u2028b\x85"}\n'.encode()))["n"] == "a\u2028b\x85"


@pytest.mark.parametrize("content", [b"", b"\n \n\n" * 20])
def test_no_records(trace, either_way, content):
    with pytest.raises(MetricComputationError, match="No trace records"):
        last_record(trace(content))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"n": 2', "line 3: expected JSON"),
        (b'{"n": "\xff"}', "line 3: expected JSON; 'utf-8' codec"),
        (b"[1, 2]", "line 3: expected a JSON object; got list"),
        (b"[" * 100_000, "line 3: expected JSON; it is nested too deep"),
        (b'{"n": ' + b"9" * 5000 + b"}", "line 3: expected JSON"),
    ],
)
def test_a_bad_last_line_is_named_with_its_number(trace, either_way, line, message):
    path = trace(b'{"n": 1}\n\n' + line + b"\n")
    with pytest.raises(MetricComputationError, match=message) as caught:
        last_record(path)
    assert str(path) in str(caught.value)


def test_a_bad_line_before_the_last_is_named_in_a_short_trace(trace):
    with pytest.raises(MetricComputationError, match=r"trace_pack\.jsonl, line 2: expected JSON"):
        last_record(trace(b'{"n": 1}\noops\n{"n": 3}\n'))


def test_no_trace(tmp_path):
    with pytest.raises(MissingSweepFile, match="expected the run's trace"):
        last_record(tmp_path / "trace_pack.jsonl")


def test_a_trace_that_is_a_folder(tmp_path):
    with pytest.raises(MetricComputationError, match="cannot be read"):
        last_record(tmp_path)


def test_a_gigabyte_is_read_from_its_end(tmp_path):
    path = tmp_path / "trace_pack.jsonl"
    with open(path, "wb") as file:
        file.truncate(1 << 30)  # a gigabyte of zero bytes that takes no room on disk
        file.seek(0, 2)
        file.write(b"\n" + json.dumps({"step": 9, "output": "A" * 100_000}).encode() + b"\n")
    tracemalloc.start()
    try:
        record = last_record(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(record["output"]) == 100_000
    assert peak < 4 << 20


def test_a_last_record_past_all_reason(tmp_path):
    path = tmp_path / "trace_pack.jsonl"
    with open(path, "wb") as file:
        file.truncate(300 << 20)
        file.seek(0, 2)
        file.write(b"}")
    with pytest.raises(MetricComputationError, match="the last record is over 64 MiB"):
        last_record(path)


@pytest.mark.parametrize("before", [b"", b'{"n": 1}\n'])
def test_a_last_record_just_past_the_limit(trace, monkeypatch, before):
    """Records up to twice the limit passed: the width doubled, and was only looked at after the end was found."""
    monkeypatch.setattr(traces, "CHECKED_WHOLE", -1)
    monkeypatch.setattr(traces, "_BLOCK", 8)
    monkeypatch.setattr(traces, "LONGEST_RECORD", 40)
    fits, over = b'{"n": "%s"}' % (b"x" * 31), b'{"n": "%s"}' % (b"x" * 32)
    assert (len(fits), len(over)) == (40, 41)
    assert last_record(trace(before + fits + b"\n"))["n"] == "x" * 31
    with pytest.raises(MetricComputationError, match="the last record is over"):
        last_record(trace(before + over + b"\n"))


def test_a_pipe_is_no_trace(tmp_path):
    """Reading it would wait for a writer that never comes."""
    os.mkfifo(tmp_path / "trace_pack.jsonl")
    with pytest.raises(MetricComputationError, match="expected a regular file; got a pipe"):
        last_record(tmp_path / "trace_pack.jsonl")


def test_a_device_is_no_trace(tmp_path):
    """/dev/zero would be read until the memory ends."""
    (tmp_path / "trace_pack.jsonl").symlink_to("/dev/zero")
    with pytest.raises(MetricComputationError, match="expected a regular file; got a pipe, a device"):
        last_record(tmp_path / "trace_pack.jsonl")
