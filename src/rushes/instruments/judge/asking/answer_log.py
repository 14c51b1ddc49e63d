"""Answers in a file, a line each, as they arrive: a killed run asks nothing twice, and `--replay` needs no judge.

The first line says who judged. A line is on its way to the disk before its answer counts as given; a torn last line, of
a process that was killed in mid-write, is cut off.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from threading import Lock
from typing import IO, Any, Self

from rushes.core.canonical import canonical_line
from rushes.core.errors import InputError
from rushes.core.machine.files import replacing
from rushes.instruments.judge.asking.requests import Reply

FILE = "answers.jsonl"
FORMAT = 1


class AnswerLog:
    """The answers of one run, by the digest of their requests."""

    def __init__(self, path: Path, judge: Mapping[str, object]) -> None:
        self.path = path
        self._lock = Lock()
        self._replies: dict[str, Reply] = {}
        if path.exists():
            _, self._replies, whole = read_answers(path)
            if whole < path.stat().st_size:
                os.truncate(path, whole)
        self._file: IO[bytes] = open(path, "ab")
        if not self._file.tell():
            self._write({"format": FORMAT, "judge": dict(judge)})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def get(self, digest: str) -> Reply | None:
        """An answer that was given; one that failed is asked for again."""
        found = self._replies.get(digest)
        return None if found is None or found.failed else found

    def last(self, digest: str) -> Reply:
        """What is known of a request: its answer, or its last failure."""
        return self._replies.get(digest) or Reply(failed="not asked")

    def add(self, digest: str, reply: Reply) -> None:
        with self._lock:
            self._write({"digest": digest, **reply.row()})
            self._replies[digest] = reply

    def record(self, target: Path, judge: Mapping[str, object], digests: Iterable[str]) -> None:
        """The answers to these requests as a file for `--replay`, the same bytes whatever order they arrived in."""
        with replacing(target) as out:
            out.write(canonical_line({"format": FORMAT, "judge": dict(judge)}))
            for digest in sorted(set(digests)):
                out.write(canonical_line({"digest": digest, **self.last(digest).row()}))

    def _write(self, row: Mapping[str, object]) -> None:
        self._file.write(canonical_line(row).encode())
        self._file.flush()


def read_answers(path: Path) -> tuple[dict[str, Any], dict[str, Reply], int]:
    """Who judged, the answers, and how many bytes of the file are whole lines; `InputError` for any other file."""
    replies: dict[str, Reply] = {}
    judge: dict[str, Any] | None = None
    whole = 0
    try:
        with open(path, "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                row = json.loads(line)
                if judge is None:
                    judge = _head(row)
                else:
                    replies[str(row["digest"])] = Reply.from_row(row)
                whole += len(line)
    except OSError as error:
        raise InputError(f"{path}: cannot be read as recorded answers ({error.strerror or error})") from None
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: expected answers that rushes judge recorded; got something else ({error})") from None
    if judge is None and whole:
        raise InputError(f"{path}: expected answers that rushes judge recorded; it is empty")
    return judge or {}, replies, whole


def _head(row: Any) -> dict[str, Any]:
    if not isinstance(row, dict) or row.get("format") != FORMAT or not isinstance(row.get("judge"), dict):
        raise ValueError(f"the first line does not state format {FORMAT} and a judge")
    return dict(row["judge"])
