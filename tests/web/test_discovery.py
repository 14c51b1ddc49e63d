"""What is found below a folder, under which name, and what is left alone."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.storage.runs.shard_material import entry as shard_entry
from tests.storage.runs.shard_material import names

from rushes.storage.runs import open_run, read_run, writer
from rushes.storage.runs.writer import RunWriter
from rushes.study import StudyPlan
from rushes.study.service import open_service
from rushes.web.home.data import studies_in, suite_status, sweep_status
from rushes.web.home.discovery import Discovery, Found, Root
from rushes.web.runs import summary as run_summary
from rushes.web.runs.shared_clips import shares_clips
from rushes.web.runs.summary import Summaries, read_head, read_ids, read_summary, run_status

from .runsite import HOSTILE, SETTINGS, entry, newer_run, suite_of, write_run


def put(path: Path, text: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def look(folder: Path, **options: float) -> Found:
    return Discovery([Root(folder=folder)], every_s=0, **options).look()  # type: ignore[arg-type]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """One of everything, and what must not be looked into."""
    for name in ("demo/clip", "demo/fidelity/run", "suite/amber/clip", "run10", "run9"):
        put(tmp_path / name / "run.json")
    put(tmp_path / "demo/clip/series/inner/run.json")
    put(tmp_path / "suite/suite.json")
    put(tmp_path / "sweep/sweep_manifest.json")
    put(tmp_path / "sweep/runs/a/run.json")
    for name in (".venv", ".git", "node_modules", "series", "media", "studies.media", "__pycache__"):
        put(tmp_path / name / "deep" / "run.json")
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE thing (id INTEGER)")
    put(tmp_path / "text.db", "no database")
    return tmp_path


def test_names_are_paths_below_the_folder(tree: Path) -> None:
    found = look(tree)
    assert list(found.runs) == ["demo/clip", "demo/fidelity/run", "run9", "run10", "suite/amber/clip"]
    assert found.runs["demo/fidelity/run"] == tree / "demo/fidelity/run"
    assert (list(found.suites), list(found.sweeps), list(found.studies)) == (["suite"], ["sweep"], ["other.db"])
    assert found.note == "" and found


def test_a_folder_that_is_itself_a_run_goes_by_its_own_name(tree: Path) -> None:
    assert look(tree / "demo" / "clip").runs == {"clip": tree / "demo" / "clip"}
    assert look(tree / "suite").suites == {"suite": tree / "suite"}


def test_two_roots_have_their_names_in_front(tree: Path) -> None:
    roots = [Root(folder=tree / "demo", prefix="demo"), Root(folder=tree / "run9", prefix="run9")]
    assert list(Discovery(roots).look().runs) == ["demo/clip", "demo/fidelity/run", "run9"]


def test_links_are_followed_once_and_never_in_a_circle(tmp_path: Path) -> None:
    put(tmp_path / "store" / "one" / "run.json")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "linked").symlink_to(tmp_path / "store")
    (tmp_path / "store" / "back").symlink_to(tmp_path / "here")
    (tmp_path / "here" / "again").symlink_to(tmp_path / "store")
    (tmp_path / "here" / "broken").symlink_to(tmp_path / "nowhere")
    assert list(look(tmp_path / "here").runs) == ["again/one"]


def test_a_name_that_would_break_an_address_is_written_plainly(tmp_path: Path) -> None:
    for name in ("a#b", "a?b", "100% sure", "plain=1,x"):
        put(tmp_path / name / "run.json")
    assert sorted(look(tmp_path).runs) == ["100_sure", "a_b", "a_b-2", "plain=1,x"]


def test_a_limit_is_said_in_a_sentence_and_the_nearest_are_found(tmp_path: Path) -> None:
    put(tmp_path / "z" / "run.json")
    for number in range(20):
        put(tmp_path / "many" / f"f{number}" / "deep" / "run.json")
    found = look(tmp_path, most_folders=10)
    assert "z" in found.runs and len(found.runs) < 20
    assert found.note == "Only the first 10 folders were looked at; open a smaller one to see the rest."


def test_what_comes_and_goes_is_seen_at_the_next_look(tree: Path) -> None:
    discovery = Discovery([Root(folder=tree)], every_s=0)
    assert "new/run" not in discovery.look().runs
    put(tree / "new" / "run" / "run.json")
    os.remove(tree / "run9" / "run.json")
    assert "new/run" in discovery.look().runs and "run9" not in discovery.look().runs


def test_a_folder_that_has_not_changed_is_not_listed_again(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ago = 1_600_000_000
    for folder, _, _ in os.walk(tree):
        os.utime(folder, (long_ago, long_ago))
    discovery = Discovery([Root(folder=tree)], every_s=0)
    first = discovery.look()
    listed: list[object] = []
    plain = os.scandir
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(path) or plain(path))
    assert discovery.look() == first and listed == []
    put(tree / "demo" / "third" / "run.json")
    assert "demo/third" in discovery.look().runs
    assert {Path(str(path)).name for path in listed} == {"demo", "third"}


def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    assert not look(tmp_path / "nothing") and not look(put(tmp_path / "file"))


# --- a run in a few words ---------------------------------------------------------------------------------------------


def test_a_summary_is_what_the_run_says(tmp_path: Path) -> None:
    """Cut out of the bytes, and the same as decoding them; names with quotes and marks of JSON in them too."""
    names = [*HOSTILE, 'a","kind":"clip', '"reasons":["x","y"]', "plain"]
    badges = ["pass", "reject", "flagged", "pass", "reject", "flagged", "reject"]
    entries = [entry(name, 0.5, badge=badge) for name, badge in zip(names, badges, strict=True)]
    folder = write_run(tmp_path / "run", entries)
    summary, run = read_summary(folder), read_run(folder)
    assert read_ids(folder) == {subject.id for subject in run.subjects} == set(names)
    assert summary.badges == {"reject": 3, "flagged": 2, "pass": 2} and summary.subjects == 7
    assert summary.worst == (names[1], names[4], names[6]) and summary.kind == "clip"


def test_a_value_further_past_its_threshold_is_worse(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [entry("one", 0.5, badge="flagged"), entry("two", 0.5, badge="flagged")])
    lines = [json.loads(line) for line in (folder / "subjects.jsonl").read_text().splitlines()]
    lines[0]["reasons"] *= 3
    lines[1]["reasons"] = ['with "," in it', "freeze_frame_ratio=0.51 > 0.3"]
    written = (json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n" for line in lines)
    (folder / "subjects.jsonl").write_text("".join(written))
    assert read_summary(folder).worst == ("two", "one")


def test_a_line_of_another_form_is_decoded(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", [entry("a", 0.5, badge="reject"), entry("b", 0.5)])
    lines = [json.loads(line) for line in (folder / "subjects.jsonl").read_text().splitlines()]
    (folder / "subjects.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_summary(folder).badges == {"reject": 1, "flagged": 0, "pass": 1}
    assert read_ids(folder) == {"a", "b"} and read_summary(folder).worst == ("a",)


def test_a_run_under_way_counts_what_its_journal_has(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", instrument="clip", settings=SETTINGS, inputs=["a.mp4", "b.mp4"]) as run:
        run.add(entry("a", 0.4, badge="flagged"))
        assert read_summary(tmp_path / "run").badges == {"reject": 0, "flagged": 1, "pass": 0}
        assert run_status(tmp_path / "run")["status"] == "running" and read_head(tmp_path / "run").asked == 2
        assert read_ids(tmp_path / "run") == {"a"}
        run.finish(["a"])


def test_a_run_in_shards_is_counted_from_its_index(tmp_path: Path) -> None:
    """Or, while it is under way, from the markers of the shards that are whole."""
    info = {"format": 2, "instrument": "clip", "status": "complete", "started": "2026-11-16T11:09:01+00:00"}
    put(tmp_path / "run.json", json.dumps(info))
    shards = [{"rows": 3, "badges": {"pass": 2, "reject": 1}}, {"rows": 2, "badges": {"": 1, "flagged": 1}}]
    for number, shard in enumerate(shards):
        put(tmp_path / "shards" / f"{number:05d}.json", json.dumps({"shard": shard}))
    for _ in range(2):
        summary = read_summary(tmp_path)
        assert (summary.subjects, summary.badges) == (5, {"reject": 1, "flagged": 1, "pass": 2})
        put(tmp_path / "index.json", json.dumps({"shards": shards}))
    put(tmp_path / "index.json", "{")
    assert read_summary(tmp_path).subjects == 0 and read_ids(tmp_path) == frozenset()
    pq = pytest.importorskip("pyarrow.parquet", reason="runs in shards are Parquet")
    import pyarrow as pa

    pq.write_table(pa.table({"id": ["a", "b"], "badge": ["pass", None]}), tmp_path / "shards" / "00000.parquet")
    assert read_ids(tmp_path) == {"a", "b"} and run_summary.subjects_size(tmp_path) > 0


@pytest.mark.parametrize("damage", [b"", b"{", b"[]\n", b'{"badge":"\n', b"\xff\xfe\n\n", b'{"badge":"reject"}\n'])
def test_damaged_subjects_never_stop_the_page(tmp_path: Path, damage: bytes) -> None:
    folder = write_run(tmp_path / "run", [entry("a", 0.5)])
    (folder / "subjects.jsonl").write_bytes(damage)
    assert read_summary(folder).worst == () and isinstance(read_ids(folder), frozenset)


def test_a_newer_format_is_held_against_the_writers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_status(newer_run(tmp_path / "new"))["status"] == "needs a newer rushes"
    assert run_summary.NEWEST == max(writer.FORMAT, writer.SHARDED)
    monkeypatch.setattr(run_summary, "NEWEST", 99)
    assert run_status(tmp_path / "new")["status"] == "complete"


def test_summaries_are_read_again_only_when_the_run_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, kept = write_run(tmp_path / "run", [entry("a", 0.5)]), Summaries()
    assert not kept.knows(folder)
    first = kept.summary(folder)
    with monkeypatch.context() as patch:
        patch.setattr(run_summary, "read_summary", lambda folder: pytest.fail("read again"))
        assert kept.summary(folder) is first and kept.knows(folder)
    (tmp_path / "run").rename(tmp_path / "old")
    write_run(tmp_path / "run", [entry("a", 0.5), entry("b", 0.5)])
    assert not kept.knows(folder) and kept.summary(folder).subjects == 2


def test_only_runs_that_share_clips_are_offered(tmp_path: Path) -> None:
    """a has x, y, z; b shares two of them, c one, d none; e has the same ids and is of another instrument."""
    contents = {"a": "xyz", "b": "xyw", "c": "zq", "d": "uv"}
    runs = {name: write_run(tmp_path / name, [entry(i, 0.1) for i in ids]) for name, ids in contents.items()}
    with RunWriter(tmp_path / "e", instrument="fidelity", settings={}) as run:
        run.add(entry("x", 0.1))
        run.finish(["x"])
    bench = SimpleNamespace(runs={**runs, "e": tmp_path / "e"}, summaries=Summaries())
    assert shares_clips(bench, "a") == ["b", "c"]  # type: ignore[arg-type]
    assert shares_clips(bench, "d") == [] == shares_clips(bench, "e")  # type: ignore[arg-type]


# --- boards, sweeps, studies ------------------------------------------------------------------------------------------


def test_a_suite_in_a_few_words(tmp_path: Path) -> None:
    folder = suite_of(tmp_path / "suite", {"amber": tmp_path / "a", "birch": tmp_path / "b"}, ["p1", "p2", "p3"])
    status = suite_status(folder)
    assert (status["systems"], status["prompts"], status["runs"], status["status"]) == (2, 3, 2, "complete")
    (folder / "suite.json").write_text("[1]")
    assert suite_status(folder)["status"] == "cannot be read"
    assert suite_status(tmp_path / "none")["status"] == "not found"


def test_a_sweep_in_a_few_words(tmp_path: Path) -> None:
    text = json.dumps({"axes": {"blur": [0, 1], "light": [1]}, "runs": [{}, {}]})
    put(tmp_path / "sweep_manifest.json", text)
    (tmp_path / "runs" / "one").mkdir(parents=True)
    status = sweep_status(tmp_path)
    assert (status["axes"], status["runs"], status["declared"]) == (["blur", "light"], 1, 2)
    assert status["status"] == "not complete"
    put(tmp_path / "sweep_manifest.json", "{")
    assert sweep_status(tmp_path)["status"] == "cannot be read"


def test_a_study_is_read_and_never_written(tmp_path: Path) -> None:
    with open_service(tmp_path / "studies.db") as service:
        service.create_study(StudyPlan(name="bars", title="Bars that cross"), training=False)
        expected = service.studies()[0]
        assert studies_in(tmp_path / "studies.db") is not None, "while a server has it open"
    before = sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir() if path.is_file())
    (study,) = studies_in(tmp_path / "studies.db") or []
    assert (study["name"], study["title"], study["state"]) == ("bars", "Bars that cross", expected.state)
    assert (study["pairs"], study["raters"], study["votes"]) == (expected.pairs, expected.raters, expected.votes)
    assert sorted((path.name, path.read_bytes()) for path in tmp_path.iterdir() if path.is_file()) == before


def test_a_database_of_something_else_is_no_study(tree: Path) -> None:
    assert studies_in(tree / "other.db") is None and studies_in(tree / "text.db") is None
    assert studies_in(tree / "nowhere.db") is None


def test_a_link_to_itself_costs_nothing_else(tree: Path) -> None:
    for link, target in (("loop", "loop"), ("self", "."), ("x.db", "x.db"), ("demo/up", "..")):
        (tree / link).symlink_to(target)
    assert list(look(tree).runs) == ["demo/clip", "demo/fidelity/run", "run9", "run10", "suite/amber/clip"]


def test_a_name_that_is_not_utf8_is_shown_without_what_it_is_not(tree: Path) -> None:
    put(Path(os.fsdecode(os.fsencode(tree) + b"/bad\xff/run.json")))
    found = look(tree).runs
    assert "bad_" in found and len(found) == 6 and os.fsencode(found["bad_"]).endswith(b"bad\xff")


@pytest.mark.parametrize(("name", "shards"), [("subjects.jsonl", 0), ("index.json", 2), ("shards/00000.parquet", 2)])
@pytest.mark.parametrize("damage", ["removed", "cut", "all NUL"])
def test_counts_from_a_damaged_file_are_marked(tmp_path: Path, name: str, shards: int, damage: str) -> None:
    if shards:
        pytest.importorskip("pyarrow")
    clips = names(4)
    with open_run(tmp_path / "run", instrument="clip", settings={}, inputs=clips, asked=["x"], shards=shards) as run:
        if shards:
            run.plan(clips, clips)  # type: ignore[attr-defined]
        for clip in clips:
            run.add(shard_entry(clip))
        run.finish(clips)
    assert not Summaries().summary(tmp_path / "run").damaged
    file = tmp_path / "run" / name
    data = file.read_bytes()
    file.unlink() if damage == "removed" else file.write_bytes(data[: len(data) // 2])
    if damage == "all NUL":
        file.write_bytes(bytes(len(data)))
    assert Summaries().summary(tmp_path / "run").damaged


@pytest.mark.parametrize("place", ["the ids", "the footer"])
def test_ids_that_cannot_be_read_are_marked(tmp_path: Path, place: str) -> None:
    """A bit that flipped: the file is as long as it was, and its counts come from elsewhere."""
    pq = pytest.importorskip("pyarrow.parquet")
    clips = names(4)
    with open_run(tmp_path / "run", instrument="clip", settings={}, inputs=clips, asked=["x"], shards=2) as run:
        run.plan(clips, clips)  # type: ignore[attr-defined]
        for clip in clips:
            run.add(shard_entry(clip))
        run.finish(clips)
    summaries, file = Summaries(), tmp_path / "run" / "shards" / "00000.parquet"
    assert not summaries.lost_ids(tmp_path / "run"), "nobody has asked"
    assert summaries.ids(tmp_path / "run") == set(clips) and not summaries.lost_ids(tmp_path / "run")
    group = pq.read_metadata(file).row_group(0)
    (ids,) = (column for n in range(group.num_columns) if (column := group.column(n)).path_in_schema == "id")
    data = bytearray(file.read_bytes())
    data[ids.data_page_offset + ids.total_compressed_size - 3 if place == "the ids" else -9] ^= 8
    file.write_bytes(data)
    summaries = Summaries()
    assert summaries.ids(tmp_path / "run") == frozenset() and summaries.lost_ids(tmp_path / "run")
