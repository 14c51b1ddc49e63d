"""SQL over runs: DuckDB's answers are a plain loop's, and nothing but the run can be reached."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("pyarrow")

from tests.storage.runs.shard_material import names, write_shards, write_whole
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.storage.query.columns import columns_of
from rushes.storage.query.sql import query, scan, signatures_in
from rushes.storage.runs import Run, read_run


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    ids = names(23)
    return {
        "whole": write_whole(folder / "whole", ids, seed=3),
        "shards": write_shards(folder / "shards", ids, size=5, seed=3),
    }


@pytest.fixture(params=["whole", "shards"])
def run(request: pytest.FixtureRequest, places: dict[str, Path]) -> Run:
    return read_run(places[request.param])


def test_names_of_columns(run: Run) -> None:
    """The first reading of a metric has its plain name; the others have what they differ in behind it."""
    found = {column.name: column.signature for column in columns_of(run)}
    assert found["blur_score"] == "blur_score|v:1"
    assert found["blur_score_statistic_p10"] == "blur_score|statistic:p10|v:1"
    assert {"decode_ok", "frame_count", "share", "share_joint_b"} <= set(found)


@pytest.mark.parametrize("below", [0.0, 20.0, 50.5, 101.0])
def test_a_filter_is_a_plain_loop(run: Run, below: float) -> None:
    wanted = []
    for entry in run.entries:
        value = next(m.value for m in entry.measurements if m.signature == "blur_score|v:1")
        if value is not None and value < below and entry.subject.badge == "pass":
            wanted.append((entry.subject.path, float(value)))
    sql = f"select path, blur_score from clips where blur_score < {below} and badge = 'pass' order by number"
    assert [tuple(row.values()) for row in query(run, sql).to_pylist()] == wanted


def test_every_number_is_a_row_of_measurements(run: Run) -> None:
    wanted = Counter()
    for e in run.entries:
        for m in e.measurements:
            ends = (
                None if m.interval is None else (m.interval.low, m.interval.high, m.interval.level, m.interval.method)
            )
            value = None if m.value is None else float(m.value)
            row = (e.subject.id, e.subject.badge, m.name, value, m.count, m.note, ends, m.signature, m.at)
            wanted[row] += 1
    found = Counter()
    for row in query(run, "select * from measurements").to_pylist():
        ends = None if row["low"] is None else (row["low"], row["high"], row["level"], row["method"])
        at = tuple(sorted(json.loads(row["place"]).items()))
        key = (row["subject"], row["review_signal"], row["name"], row["value"], row["count"], row["note"], ends)
        found[(*key, row["signature"], at)] += 1
    assert found == wanted


def test_every_column_is_asked_for_by_its_plain_name(run: Run) -> None:
    """No column is called by a word that SQL keeps for itself."""
    for view in ("clips", "measurements"):
        every = query(run, f"select * from {view}").column_names
        assert query(run, f"select {', '.join(every)} from {view}").column_names == every
        assert query(run, f"select {', '.join(reversed(every))} from {view}").column_names == every[::-1]


def test_sums_and_reasons(run: Run) -> None:
    badges = Counter(subject.badge for subject in run.subjects)
    found = query(run, "select badge, count(*) as clips from clips group by badge").to_pylist()
    assert {row["badge"]: row["clips"] for row in found} == badges
    late = query(run, "select count(*) as n from clips where list_contains(reasons, 'late')").to_pylist()
    assert late == [{"n": sum("late" in subject.reasons for subject in run.subjects)}]
    fps = query(run, "select distinct facts->>'$.media.fps' as fps from clips").to_pylist()
    assert fps == [{"fps": "25/1"}]


def test_scan_and_frame(run: Run) -> None:
    rows = [row for batch in scan(run, columns=["id", "frame_count"]) for row in batch.to_pylist()]
    assert rows == [{"id": s.id, "frame_count": 4.0} for s in run.subjects]
    some = [row["id"] for batch in run.scan(columns=["id"], where="badge = 'reject'") for row in batch.to_pylist()]
    assert some == [s.id for s in run.subjects if s.badge == "reject"]
    frame = run.to_frame(columns=["id", "blur_score", "badge"])
    assert list(frame.columns) == ["id", "blur_score", "badge"]
    assert frame["id"].tolist() == [s.id for s in run.subjects]
    assert list(run.to_frame()["value"].dropna()) == [
        m.stored_value for e in run.entries for m in e.measurements if m.value is not None
    ]
    with pytest.raises(InputError, match="no column nix; expected one of number, id"):
        list(run.scan(columns=["nix"]))


def test_both_formats_answer_alike(places: dict[str, Path]) -> None:
    for sql in (
        "select * from clips order by number",
        "select name, avg(value) as mean, sum(value) as total, stddev(value) as spread from measurements group by name "
        "order by name",
    ):
        assert query(places["whole"], sql).to_pylist() == query(places["shards"], sql).to_pylist()


def test_a_run_under_way_and_a_run_without_numbers(tmp_path: Path) -> None:
    from tests.storage.runs.shard_material import entry

    from rushes.storage.shards.writer import ShardedWriter

    with ShardedWriter(tmp_path / "run", size=2, instrument="clip", settings={}, asked=["x"]) as writer:
        ids = names(5)
        writer.plan(ids, ids)
        for name in ids[:3]:
            writer.add(entry(name))
        assert rushes.query(tmp_path / "run", "select count(*) as n from clips").to_pylist() == [{"n": 3}]
    for name, write in (("whole", write_whole), ("shards", write_shards)):
        empty = write(tmp_path / name, [])
        assert query(empty, "select * from clips").num_rows == query(empty, "select * from measurements").num_rows == 0


HOSTILE = (
    "copy clips to '{folder}/out.csv'",
    "copy (select 1) to '{folder}/out.parquet'",
    "select * from read_csv('{folder}/secret.csv')",
    "select * from '{folder}/secret.csv'",
    "select * from read_text('{folder}/secret.csv')",
    "select * from read_blob('{folder}/*')",
    "select * from glob('{folder}/*')",
    "select * from read_parquet('{run}/shards/00000.parquet')",
    "attach '{folder}/other.db'",
    "install httpfs",
    "load httpfs",
    "set enable_external_access = true",
    "select 1; set enable_external_access = true",
    "reset lock_configuration",
    "export database '{folder}/all'",
    "create table mine as select 1",
    "drop view clips",
    "pragma database_list",
    "call pragma_version()",
    "select * from query('copy clips to ''{folder}/out.csv''')",
    "select * from sql_secret",
    "",
    ";",
    "select",
    "\x00",
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_sql_is_one_line(places: dict[str, Path], tmp_path: Path, hostile: str) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    sql_secret = [1, 2, 3]
    with pytest.raises(InputError) as caught:
        query(places["shards"], hostile.format(folder=tmp_path, run=places["shards"]))
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    assert sql_secret


def test_signatures_go_with_the_numbers(run: Run) -> None:
    assert signatures_in(run, "select avg(BLUR_SCORE), count(*) from clips") == {"blur_score": "blur_score|v:1"}
    assert len(signatures_in(run, "select * from clips")) == len(columns_of(run)) == 6


def invoke(*words: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(app, [str(word) for word in words])
    return done.exit_code, done.stdout, done.stderr


def test_the_command(places: dict[str, Path], tmp_path: Path) -> None:
    run, sql = places["shards"], "select id, blur_score from clips where number < 2 order by number"
    rows = query(run, sql).to_pylist()
    code, out, err = invoke("query", run, sql, "--json")
    assert (code, json.loads(out)) == (0, rows)
    assert "blur_score: blur_score|v:1" in err
    assert "take0000" in invoke("query", run, sql)[1]
    long = "select 118.35153837499999::double as mean, [0.5, 2.25]::double[] as two, 12345678 as whole"
    assert invoke("query", run, long)[1].split()[-4:] == ["118.4", "0.5000;", "2.250", "12345678"]
    assert invoke("query", run, long, "--csv")[1].splitlines()[1] == "118.35153837499999,0.5; 2.25,12345678"
    assert invoke("query", run, sql, "--csv")[1].splitlines()[0] == "id,blur_score"
    assert invoke("query", run, "select path from clips order by number", "--paths", "-o", tmp_path / "list")[0] == 0
    assert (tmp_path / "list").read_text().splitlines() == [f"takes/{name}.mp4" for name in names(23)]
    assert invoke("query", run, sql, "--parquet", "-o", tmp_path / "t.parquet")[0] == 0
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "t.parquet")
    assert table.to_pylist() == rows
    assert json.loads(table.schema.metadata[b"rushes.signatures"]) == {"blur_score": "blur_score|v:1"}
    assert "blur_score|statistic:p10|v:1" in invoke("query", run)[1]
    assert invoke("query", run, sql, "--paths")[::2] == (
        1,
        "rushes: --paths lists the column path; select it: select path from clips where …\n",
    )
    assert invoke("query", run, sql, "--csv", "--json")[0] == 2


def test_export_is_the_run_in_one_piece(places: dict[str, Path], tmp_path: Path) -> None:
    assert invoke("export", places["shards"], "-o", tmp_path / "plain", "--series")[0] == 0
    for name in ("subjects.jsonl", "measurements.jsonl"):
        assert (tmp_path / "plain" / name).read_bytes() == (places["whole"] / name).read_bytes()
    folders = (tmp_path / "plain", places["whole"])
    plain, whole = ({p.name: p.read_bytes() for p in (folder / "series").iterdir()} for folder in folders)
    assert plain == whole
    assert rushes.read_run(tmp_path / "plain").digest == rushes.read_run(places["shards"]).digest
    assert "expected an empty folder" in invoke("export", places["shards"], "-o", tmp_path / "plain")[2]


def test_the_column_of_review_signals_may_be_called_as_before(run: Run) -> None:
    """Old questions keep working, in both views, and get the name that they asked for."""
    for view in ("clips", "measurements"):
        now = query(run, f"select distinct review_signal as s from {view} where s is not null order by s").column("s")
        for old in ("badge", "status_badge"):
            found = query(run, f"select distinct {old} from {view} where {old} is not null order by {old}")
            assert found.column_names == [old] and found.column(0).to_pylist() == now.to_pylist()


LARGE = "select x from (select range::varchar || repeat('abc', 10) as x from range(8000000)) order by x desc"


COUNT = "select count(*) as clips from clips"
TOO_LOW = "needs 2.0 GB of address space; ulimit -v allows {}; raise it"


@pytest.mark.parametrize(
    ("kind", "limit", "sql", "words"),
    [
        ("whole", 700_000, COUNT, TOO_LOW.format("0.7")),
        ("whole", 1_000_000, COUNT, TOO_LOW.format("1.0")),
        ("whole", 2_100_000, COUNT, ""),
        ("whole", 2_100_000, LARGE, "Out of Memory Error"),
        ("shards", 1_000_000, COUNT, TOO_LOW.format("1.0")),
        ("shards", 2_100_000, COUNT, ""),
        # A limit that is lower still is refused at the same place, and the large question reads no run.
        pytest.param("shards", 700_000, COUNT, TOO_LOW.format("0.7"), marks=pytest.mark.soak),
        pytest.param("shards", 2_100_000, LARGE, "Out of Memory Error", marks=pytest.mark.soak),
    ],
)
def test_under_a_limit_of_addresses_a_query_answers_or_says_why_not(
    places: dict[str, Path], kind: str, limit: int, sql: str, words: str
) -> None:
    """`ulimit -v` in kB. DuckDB and Arrow end the process where it is too low for them."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit * 1024,) * 2)

    command = [sys.executable, "-m", "rushes", "query", str(places[kind]), sql, "--csv"]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limited, timeout=240)
    if not words:
        assert (done.returncode, done.stdout, done.stderr) == (0, "clips\n23\n", "")
        return
    assert (done.returncode, done.stdout) == (1, "") and words in done.stderr, done
    assert done.stderr.startswith(f"rushes: {places[kind]}: ") and done.stderr.count("\n") == 1
