"""Lines of a run's journal: taken apart, read back, and merged into the files of a complete run."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rushes.core.machine.files import replacing

MEASUREMENTS, SUBJECT = '{"measurements":[', '],"subject":'
"""What a subject's line in the journal begins with, and what stands between its measurements and the subject."""
_SIGNATURE = re.compile(r'"signature":"([^"\\]*)"')
_decoder = json.JSONDecoder()


def write_merged(folder: Path, lines: Iterable[str]) -> Counter[str]:
    """`subjects.jsonl` and `measurements.jsonl` of these lines of a journal; the signatures that they have, counted."""
    used: Counter[str] = Counter()
    with (
        replacing(folder / "subjects.jsonl") as subjects,
        replacing(folder / "measurements.jsonl") as measurements,
    ):
        for line in lines:
            subject, rows, signatures = _cut(line)
            subjects.write(subject + "\n")
            measurements.write(rows)
            used.update(signatures)
    return used


def _cut(line: str) -> tuple[str, str, list[str]]:
    """The subject's text, the lines of its measurements, and their signatures.

    Rows hold no lists, so `},{"` stands between two of them and nowhere else: within a text its quote would be escaped.
    A line in which they are not as many as the signatures, or a signature has to be read as JSON, is taken apart.
    """
    rows, _, subject = line.partition(SUBJECT)
    text = rows[len(MEASUREMENTS) :].replace('},{"', '}\n{"')
    signatures = _SIGNATURE.findall(text)
    if len(signatures) == text.count("\n") + 1:
        return subject.rstrip()[:-1], text + "\n", signatures
    subject, found = take_apart(line)
    return subject, "".join(row + "\n" for row, _ in found), [str(facts["signature"]) for _, facts in found]


def take_apart(line: str) -> tuple[str, list[tuple[str, dict[str, object]]]]:
    """The subject's text, and each measurement's text with what it says, out of a subject's line in the journal.

    The texts are canonical already, so they are cut out and not written anew: that is the greater part of a merge.

    >>> take_apart('{"measurements":[{"value":1},{"value":2}],"subject":{"id":"a"}}')
    ('{"id":"a"}', [('{"value":1}', {'value': 1}), ('{"value":2}', {'value': 2})])
    """
    rows = []
    place = len(MEASUREMENTS)
    while line.startswith("{", place):
        row, end = _decoder.raw_decode(line, place)
        rows.append((line[place:end], as_dict(row)))
        place = end + 1 if line.startswith(",", end) else end
    if not (line.startswith(MEASUREMENTS) and line.startswith(SUBJECT, place) and line.rstrip().endswith("}")):
        raise ValueError(f"a line of the journal begins with {line[:40]!r}")
    return line[place + len(SUBJECT) :].rstrip()[:-1], rows


def put_together(rows: Iterable[str], subject: str) -> str:
    """A subject's line of the journal out of its texts: the opposite of `take_apart`."""
    return f"{MEASUREMENTS}{','.join(rows)}{SUBJECT}{subject}}}\n"


def journal_record(line: str) -> dict[str, object]:
    """What a line of the journal says; of a subject's line, the subject."""
    if not line.startswith(MEASUREMENTS):
        record = whole_object(line.strip())
        if "subject" in record:  # JSON, but not as this class writes it: a merge could not cut it up
            raise TypeError(f"a line of the journal begins with {line[:40]!r}")
        return record
    subject, rows = take_apart(line)
    if not all("signature" in facts for _, facts in rows):
        raise TypeError("a measurement without a signature")
    return {"subject": json.loads(subject)}


def whole_object(line: str) -> dict[str, object]:
    """The object that a line holds, and nothing else; `json.loads` with half its cost."""
    data, end = _decoder.raw_decode(line)
    if end != len(line):
        raise ValueError(f"a line continues after its end with {line[end : end + 40]!r}")
    return as_dict(data)


def text_lines(path: Path) -> list[str]:
    return [text for line in path.read_bytes().decode().split("\n") if (text := line.strip())]


def as_dict(data: object) -> dict[str, object]:
    return data if isinstance(data, dict) else {}


def subject_row(line: str) -> dict[str, object]:
    """The subject's row in its line."""
    return as_dict(_decoder.raw_decode(line, line.index(SUBJECT) + len(SUBJECT))[0])
