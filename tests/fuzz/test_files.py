"""Whatever a file of the user's holds, reading it ends in a result or in one line: a `RushesError`."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rushes.core import Definition, Measurement
from rushes.core.errors import InputError, RunError, RushesError
from rushes.instruments.clip.signals.profile import Profile, parse_profile
from rushes.instruments.pose.files.poses import PoseSet, read_poses
from rushes.instruments.robustness.evaluate import measure_robustness
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run
from rushes.study.exchange.ratings_csv import COLUMNS, RatingsFile, read_ratings
from rushes.study.exchange.table import read_table

some = settings(max_examples=60)
NUMBERS = st.none() | st.booleans() | st.integers() | st.floats()
DEEP = "[" * 100_000  # deeper than any parser's stack


def plain(*words: str) -> st.SearchStrategy[object]:
    """Plain data that often says words the format knows."""
    texts = st.sampled_from(["", "é", "../x", "\0", *words]) | st.text(max_size=4)
    return st.recursive(
        NUMBERS | texts,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=8,
    )


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    """A valid file with bytes overwritten, a piece cut out, or its end missing."""
    data = bytearray(whole)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(len(data) - 1, 0)))
        kind = draw(st.sampled_from(["overwrite", "cut", "end"]))
        piece = draw(st.binary(min_size=1, max_size=8))
        if kind == "overwrite":
            data[place : place + len(piece)] = piece
        elif kind == "cut":
            del data[place : place + len(piece)]
        else:
            del data[place:]
    return bytes(data)


def reads(read: Callable[[Path], object], name: str, content: bytes) -> object | None:
    """What reading gives; None where it ended in one line that names the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            return read(path)
        except RushesError as error:
            assert "\n" not in str(error) and folder in str(error), error
            return None


# Profiles -----------------------------------------------------------------------------------------------------------
PROFILE = (
    b'name = "mine"\n[reject]\ndecode_ok = { is = false }\n[flagged]\nblur_score = { below = 20.0, above = 9e9 }\n'
)


@some
@given(damaged(PROFILE) | st.binary(max_size=80))
@example(b"name = 'x'\nreject = [1]")
@example(b"name = '\x80'")
@example(b"name = 'x'\n[reject]\nblur_score = {above = nan}")
@example(b"name = 'x'\n[reject]\nblur_score = {below = inf}")
@example(b"a" + b".a" * 3_000 + b" = 1")
@example(b"a = " + b"[" * 3_000)
def test_any_profile(content: bytes) -> None:
    try:
        profile = parse_profile(content.decode(errors="surrogateescape"), source="mine.toml")
    except InputError as error:
        assert "mine.toml" in str(error)
    else:
        assert isinstance(profile, Profile) and profile.digest


# Ratings ------------------------------------------------------------------------------------------------------------
CELLS = st.sampled_from(["", "TBD", "A", "model_b", "Tie", "5", "6", "=1", "a;b", '"', "é", "\0"]) | st.text(max_size=5)
RATINGS = (
    ",".join(COLUMNS) + "\n" + ",".join("s1" if name == "sample_id" else "A" for name in COLUMNS) + "\n"
).encode()


@some
@given(
    damaged(RATINGS)
    | st.lists(st.lists(CELLS, min_size=len(COLUMNS), max_size=len(COLUMNS)), max_size=3).map(
        lambda rows: "\n".join([",".join(COLUMNS), *(",".join(row) for row in rows)]).encode("utf-8", "surrogatepass")
    )
)
@example(b"")
@example((",".join(COLUMNS) + "\n" + "9" * 200_000).encode())  # longer than the csv module's limit for a cell
def test_any_ratings(content: bytes) -> None:
    found = reads(read_ratings, "ratings.csv", content)
    assert found is None or isinstance(found, RatingsFile)


@some
@given(st.binary(max_size=60) | damaged(RATINGS))
def test_any_table_of_votes(content: bytes) -> None:
    for name in ("votes.csv", "votes.parquet"):
        found = reads(read_table, name, content)
        assert found is None or isinstance(found, tuple)


# Poses --------------------------------------------------------------------------------------------------------------
def packed(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def saved(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


POINTS = np.arange(24.0).reshape(2, 4, 3)
COCO = {"annotations": [{"image_id": 1, "keypoints": [1, 2, 2, 3, 4, 0], "area": 9.5, "iscrowd": 0}], "categories": []}
POSE_WORDS = ("annotations", "keypoints", "image_id", "visibility", "id", "area", "score", "categories")


def read_some_poses(path: Path) -> PoseSet:
    return read_poses(path, columns="xyv", duplicates="keep-best")


@some
@given(
    st.sampled_from(["p.json", "p.jsonl"]),
    plain(*POSE_WORDS).map(lambda data: json.dumps(data).encode())
    | damaged(json.dumps(COCO).encode())
    | st.fixed_dictionaries({"keypoints": plain()}, optional={w: plain() for w in POSE_WORDS if w != "keypoints"}).map(
        lambda entry: json.dumps([entry] * 2 + [entry | {"image_id": 3}]).encode()
    ),
)
@example("p.json", DEEP.encode())
@example("p.jsonl", DEEP.encode())
@example("p.json", b'[{"image_id": 1, "keypoints": [1e999, 2, 1]}]')
@example("p.json", b'[{"image_id": ' + b"9" * 5000 + b', "keypoints": [1, 2, 1]}]')
@example("p.jsonl", b'{"keypoints": [[1, 2], null], "id": NaN}\n{"keypoints": [[1, 2], null], "id": NaN}')
def test_any_poses_in_json(name: str, content: bytes) -> None:
    found = reads(read_some_poses, name, content)
    assert found is None or isinstance(found, PoseSet)


@some
@given(damaged(saved(POINTS)) | st.binary(max_size=40))
@example(
    b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999, 9, 3), }".ljust(128)
    + b"\n"
)
@example(b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1, 1, 3), }".ljust(127) + b"\n")
@example(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + b" " * 50)
@example(saved(np.zeros((2, 3, 3), "U4")))
@example(saved(np.zeros((0, 3, 3))))
@example(saved(np.zeros((2, 3, 3), complex)))
def test_any_poses_in_npy(content: bytes) -> None:
    found = reads(read_some_poses, "p.npy", content)
    assert found is None or isinstance(found, PoseSet)


@some
@given(
    damaged(packed(keypoints=POINTS, ids=np.arange(2), areas=np.ones(2), skeleton=np.array("coco-17")))
    | st.binary(max_size=40)
)
@example(packed(keypoints=np.zeros(())))
@example(packed(keypoints=np.array(["a"])))
@example(packed(keypoints=POINTS, visibility=np.zeros(7)))
@example(packed(keypoints=POINTS, ids=np.zeros((2, 2))))
@example(packed(keypoints=POINTS, areas=np.array(["a", "b"])))
@example(packed(keypoints=POINTS, time_ms=np.array([np.nan, np.inf])))
@example(packed(keypoints=POINTS, ids=np.array([np.nan, np.nan])))
@example(packed(**{"../../keypoints": POINTS}))
def test_any_poses_in_npz(content: bytes) -> None:
    found = reads(read_some_poses, "p.npz", content)
    assert found is None or isinstance(found, PoseSet)


# Sweeps -------------------------------------------------------------------------------------------------------------
MANIFEST = {"axes": {"a": [1]}, "seeds": [1], "runs": [{"axis_values": {"a": 1}, "seed": 1, "manifest_hash": "0"}]}


@some
@given(damaged(json.dumps(MANIFEST).encode()) | st.binary(max_size=40))
@example(DEEP.encode())
@example(b'{"axes": {"a": [1e999]}, "seeds": [' + b"9" * 5000 + b'], "runs": []}')
def test_any_bytes_as_a_sweep(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sweep_manifest.json").write_bytes(content)
        trace = Path(folder) / "runs/a=1_seed=1/trace_pack.jsonl"
        trace.parent.mkdir(parents=True)
        trace.write_text('{"output": "A"}')
        try:
            assert measure_robustness(folder, verify=False)[0].runs > 0
        except RushesError as error:
            assert folder in str(error) and "\n" not in str(error)


# Run directories ----------------------------------------------------------------------------------------------------
SHARPNESS = Definition(
    name="sharpness",
    unit="level",
    lowest=0.0,
    highest=None,
    better="higher",
    params=(("plane", "luma"),),
    summary="How sharp.",
    formula="s",
    edge_cases="none",
    reference="a test",
)
RUN_FILES = ("run.json", "subjects.jsonl", "measurements.jsonl", "journal.jsonl")


def a_run(folder: Path) -> Path:
    subject = Subject(id="a", kind="clip", path="a.mp4", sha256=None, facts={"x": 1}, badge="pass", reasons=("r",))
    number = Measurement(definition=SHARPNESS, value=1.5, count=3)
    with RunWriter(folder / "run", instrument="clip", settings={"tier": 0}) as writer:
        writer.add(Entry(subject=subject, measurements=(number,), series={"t": np.arange(3.0)}))
        writer.finish(["a"])
    return folder / "run"


with tempfile.TemporaryDirectory() as _folder:
    _run = a_run(Path(_folder))
    WHOLE = {path.name: path.read_bytes() for path in _run.iterdir() if path.is_file()}
    SERIES = (_run / "series" / "a.npz").read_bytes()
ROWS = json.loads(WHOLE["run.json"])
RUN_WORDS = tuple(ROWS) + tuple(next(iter(ROWS["definitions"].values()))) + ("subject", "signature", "value", "count")
ANY_RUN_FILE = st.one_of(
    [st.tuples(st.just(name), damaged(WHOLE[name])) for name in RUN_FILES[:3]]
    + [st.tuples(st.sampled_from(RUN_FILES), plain(*RUN_WORDS).map(lambda d: json.dumps(d).encode() + b"\n"))]
    + [
        st.tuples(
            st.just("run.json"), st.sampled_from(sorted(ROWS)).flatmap(lambda key: plain().map(lambda v: (key, v)))
        ).map(lambda pair: ("run.json", json.dumps(ROWS | {pair[1][0]: pair[1][1]}).encode()))
    ]
)


def spoilt_run(folder: Path, name: str, content: bytes) -> Path:
    for file, whole in WHOLE.items():
        (folder / file).write_bytes(whole)
    (folder / "series").mkdir()
    (folder / "series" / "a.npz").write_bytes(SERIES)
    (folder / name).write_bytes(content)
    return folder


@some
@given(ANY_RUN_FILE)
@example(("run.json", DEEP.encode()))
@example(("subjects.jsonl", DEEP.encode() + b"\n"))
@example(("subjects.jsonl", b"[]\n"))
@example(("measurements.jsonl", b"3\n"))
@example(("run.json", json.dumps(ROWS | {"definitions": []}).encode()))
@example(("run.json", json.dumps(ROWS | {"definitions": {"x": {"params": []}}}).encode()))
@example(("series/a.npz", b"PK\x03\x04 not a zip"))
def test_any_run_directory(file: tuple[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = spoilt_run(Path(folder), *file)
        try:
            run = read_run(path)
            for subject in run.subjects:
                run.series(subject.id)
            assert isinstance(run, Run) and run.entries is not None
        except RunError as error:
            assert folder in str(error) and "\n" not in str(error)


@some
@given(ANY_RUN_FILE)
@example(("run.json", DEEP.encode()))
@example(("subjects.jsonl", b"[]\n"))
@example(("measurements.jsonl", b"{}\n"))
@example(("journal.jsonl", b'{"subject": 3}\n'))
def test_going_on_with_any_run_directory(file: tuple[str, bytes]) -> None:
    """A spoilt run is refused in one line, or its work is done again; never a traceback, never a wrong row kept."""
    with tempfile.TemporaryDirectory() as folder:
        path = spoilt_run(Path(folder), *file)
        try:
            with RunWriter(path, instrument="clip", settings={"tier": 0}) as writer:
                row = writer.finished("a")
                assert row is None or isinstance(row, dict)
        except RunError as error:
            assert folder in str(error) and "\n" not in str(error)


def test_a_subject_cannot_name_a_file_outside_its_run(tmp_path: Path) -> None:
    run = read_run(a_run(tmp_path))
    (tmp_path / "secret.npz").write_bytes(packed(secret=np.arange(3)))
    assert run.series("../../secret") == {} and run.series(str(tmp_path / "secret")) == {}
