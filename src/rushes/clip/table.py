"""A run as rows: for the terminal, CSV and the 22-key bundles."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from rushes.clip.bundle import KEYS, by_bundle_key
from rushes.core import Measurement
from rushes.core.files import replacing
from rushes.core.text import value_text
from rushes.errors import InputError
from rushes.remote.address import is_remote, joined
from rushes.remote.store import put_files
from rushes.remote.transfer import upload_on_exit
from rushes.runs import Entry, Run

CLIP_COLUMNS = (
    ("avΔ ms", "av_duration_delta_ms"),
    ("cuts", "scene_cut_count"),
    ("freeze", "freeze_frame_ratio"),
    ("flicker", "flicker_score"),
    ("blur", "blur_score"),
    ("spikes", "frame_diff_spike_count"),
)
"""Short heads and the metrics under them, for tables that must fit a terminal."""

FACE_COLUMNS = (
    ("face", "face_present_ratio"),
    ("sync", "mouth_audio_corr"),
    ("chance", "mouth_audio_null_share"),
)
"""What a run with faces adds."""

_RANK = {"reject": 0, "flagged": 1, "pass": 2, None: 3}  # a badge called pass  # nosec B105


def worst_first(run: Run) -> list[Entry]:
    """Rejects, then flagged by number of reasons, then passes; input order among equals."""
    return sorted(run.entries, key=lambda entry: (_RANK.get(entry.subject.badge, 3), -len(entry.subject.reasons)))


def clip_columns(run: Run) -> tuple[tuple[str, str], ...]:
    """The columns of a run: those of faces only where faces were looked for."""
    names = {measurement.definition.name for entry in run.entries[:1] for measurement in entry.measurements}
    return (*CLIP_COLUMNS, *FACE_COLUMNS) if FACE_COLUMNS[0][1] in names else CLIP_COLUMNS


def clip_rows(entries: Iterable[Entry], columns: Sequence[tuple[str, str]] = CLIP_COLUMNS) -> list[list[str]]:
    """One row per clip: id, badge, the metrics of the columns, reasons."""
    rows = []
    for entry in entries:
        values = by_bundle_key(entry.measurements)
        cells = [_short(values.get(name)) for _, name in columns]
        rows.append([entry.subject.id, entry.subject.badge or "", *cells, "\n".join(entry.subject.reasons)])
    return rows


def _short(measurement: Measurement | None) -> str:
    if measurement is None:
        return "–"
    text = value_text(measurement, digits=2)
    return text.split(".")[0] if len(text) > 6 else text


def write_csv(run: Run, path: Path | str) -> str:
    """One row per clip: id, path, badge, reasons, then one column per signature; where it was written.

    Text that a spreadsheet would run as a formula is defused with a leading apostrophe.
    """
    signatures = list(dict.fromkeys(m.signature for entry in run.entries for m in entry.measurements))
    with upload_on_exit(path) as target, replacing(target) as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["id", "path", "review_signal", "reasons", *signatures])
        for entry in run.entries:
            values = {m.signature: m.stored_value for m in entry.measurements}
            subject = entry.subject
            texts = [subject.id, subject.path, subject.badge or "", "; ".join(subject.reasons)]
            writer.writerow([*map(_defused, texts), *(_cell(values.get(signature)) for signature in signatures)])
    return str(path)


def _cell(value: float | int | bool | None) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)


def _defused(text: str) -> str:
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def write_bundles(run: Run, folder: Path | str) -> list[str]:
    """`ID.metrics.json` per clip: MetricBundleV1's 22 keys in their order, null for what was not computed."""
    if not is_remote(folder):
        return [str(path) for path in _bundles(run, Path(folder))]
    with tempfile.TemporaryDirectory(prefix="rushes-") as made:
        files = [(path, joined(str(folder), path.name)) for path in _bundles(run, Path(made))]
        put_files(files)
    return [address for _, address in files]


def _bundles(run: Run, target: Path) -> list[Path]:
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target}: cannot hold the bundles ({error.strerror})") from None
    written = []
    for entry in run.entries:
        path = target / f"{entry.subject.id}.metrics.json"
        with replacing(path) as out:
            out.write(json.dumps(bundle_row(entry), indent=2, ensure_ascii=False) + "\n")
        written.append(path)
    return written


def bundle_row(entry: Entry) -> dict[str, object]:
    """The 22 keys of one stored clip."""
    values = by_bundle_key(entry.measurements)
    row: dict[str, object] = {key: values[key].stored_value if key in values else None for key in KEYS[:-2]}
    reasons: Sequence[str] = entry.subject.reasons
    return row | {"status_badge": entry.subject.badge, "reasons": list(reasons)}
