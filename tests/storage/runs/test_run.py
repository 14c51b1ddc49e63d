"""A run in memory: its numbers picked exactly, laid out once, and what older versions wrote still read."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.reseal import reseal

from rushes.core import Definition, Interval, Measurement, signature_params
from rushes.core.errors import InputError, MissingDependency
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run

FORMAT_1 = Path(__file__).parent / "format1"
"""A pose run of the demo, written before numbers had a place, cut down to eight of its numbers."""


def definition(name: str, unit: str, **more: Any) -> Definition:
    ends = {"lowest": None, "highest": None}
    return Definition(name=name, unit=unit, better="higher", summary="s", formula="f", **(ends | more))


ELO = definition("elo", "points", params=signature_params(labels="raw"), places=("system",))
ADJUDICATED = replace(ELO, params=signature_params(labels="adjudicated"))
BLUR = definition("blur", "levels")
PCK = definition("pck", "ratio", params=signature_params(k=20))


def elo(system: str, value: float, of: Definition = ELO, **places: str) -> Measurement:
    interval = Interval(low=value - 10, high=value + 10, level=0.95, method="rater-clustered")
    return Measurement(definition=of, value=value, count=7, at={"system": system, **places}, interval=interval)


def entry(name: str, *measurements: Measurement, badge: Any = None) -> Entry:
    subject = Subject(id=name, kind="study", path=f"{name}.db", sha256="ab", facts={}, badge=badge)
    return Entry(subject=subject, measurements=measurements)


def write(folder: Path, *entries: Entry) -> Run:
    with RunWriter(folder, instrument="preference", settings={}) as run:
        for each in entries:
            run.add(each)
        run.finish([each.subject.id for each in entries])
    return read_run(folder)


@pytest.fixture
def study(tmp_path: Path) -> Run:
    names = ("amber", "100%|A")
    raw = [elo(name, value) for name, value in zip(names, (1010.0, 990.0), strict=True)]
    ruled = [elo(name, value, ADJUDICATED) for name, value in zip(names, (1020.0, 980.0), strict=True)]
    return write(tmp_path / "run", entry("takes", *raw, *ruled, Measurement(definition=BLUR, value=3.0, count=1)))


def test_a_number_keeps_its_place_and_its_interval(study: Run) -> None:
    found = study.one("elo", system="100%|A", labels="raw")
    assert found == elo("100%|A", 990.0)
    assert found.place == {"system": "100%|A"} and found.signature == "elo|labels:raw|v:1"
    assert found.interval == Interval(low=980.0, high=1000.0, level=0.95, method="rater-clustered")


def test_a_place_is_written_where_there_is_one(study: Run) -> None:
    lines = (study.path / "measurements.jsonl").read_text().splitlines()
    assert lines[0] == (
        '{"at":{"system":"amber"},"count":7,"interval":{"high":1020.0,"level":0.95,"low":1000.0,'
        '"method":"rater-clustered"},"note":"","signature":"elo|labels:raw|v:1","subject":"takes","value":1010.0}'
    )
    assert lines[4] == '{"count":1,"note":"","signature":"blur|v:1","subject":"takes","value":3.0}'
    info = json.loads((study.path / "run.json").read_text())
    assert info["format"] == 4
    assert sorted(info["definitions"]) == ["blur|v:1", "elo|labels:adjudicated|v:1", "elo|labels:raw|v:1"]


def test_select_is_exact(study: Run) -> None:
    assert [m.value for m in study.select("elo", labels="raw")] == [1010.0, 990.0]
    assert [m.value for m in study.select("elo|labels:raw|v:1", system="amber")] == [1010.0]
    assert [m.value for m in study.select("elo", system="ambe")] == []
    assert [m.name for m in study.select(system=None)] == ["blur"], "None asks for those without the key"
    assert len(study.select()) == 5 and study.select("nothing") == ()


@pytest.mark.parametrize(
    ("name", "where", "says"),
    [
        ("elo", {"sytem": "amber"}, "no number of elo has 'sytem'. Did you mean `system`?"),
        ("elo", {"subject": "gone"}, "no clip is called 'gone'"),
    ],
)
def test_a_key_that_nothing_has_is_no_way_to_select_nothing(
    study: Run, name: str, where: dict[str, str], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        study.select(name, **where)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "where", "says"),
    [
        (
            "elo",
            {},
            "4 numbers are called elo. Say which with labels=… ('raw', 'adjudicated') and system=… ('amber', '100%|A')",
        ),
        (
            "elo",
            {"system": "amber"},
            "2 numbers are called elo with system='amber'. Say which with labels=… ('raw', 'adjudicated')",
        ),
        ("elo", {"system": "birch"}, "there is no elo with system='birch'"),
        ("fvd", {}, "there is no fvd; expected one of elo, blur"),
    ],
)
def test_one_is_one(study: Run, name: str, where: dict[str, str], says: str) -> None:
    with pytest.raises(InputError) as caught:
        study.one(name, **where)  # type: ignore[arg-type]
    assert str(caught.value) == says


def test_one_of_a_subject(tmp_path: Path) -> None:
    blur = [entry(name, Measurement(definition=BLUR, value=value, count=1)) for name, value in (("a", 1.0), ("b", 2.0))]
    run = write(tmp_path / "run", *blur)
    assert run.one("blur", subject="b").value == 2.0
    with pytest.raises(InputError, match="2 values are called blur, one per clip. Choose a clip with subject='ID'"):
        run.one("blur")


def test_a_table_by_subject(tmp_path: Path) -> None:
    # The metric that b lacks is a dash; the two readings of pck are told apart by k.
    pck = [Measurement(definition=PCK.with_params(k=k), value=0.5, count=2) for k in (10, 20)]
    run = write(tmp_path / "run", entry("a", *pck, Measurement(definition=BLUR, value=3.0, count=1)), entry("b", *pck))
    assert str(run.table()).splitlines() == [
        "subject  pck (k 10) ↑  pck (k 20) ↑  blur ↑",
        "a        0.5000        0.5000        3",
        "b        0.5000        0.5000        –",
    ]
    assert run.table("blur", "pck", k=20).header == ("subject", "blur ↑", "pck (k 20) ↑")
    assert run.table("pck|k:10|v:1").header == ("subject", "pck|k:10|v:1 ↑")


def test_a_table_by_place(study: Run) -> None:
    table = study.table("elo", rows="system")
    assert table.header == ("system", "elo (raw) ↑", "elo (adjudicated) ↑")
    assert table.texts() == [["amber", "1010", "1020"], ["100%|A", "990", "980"]]
    assert study.table("elo", rows="system", labels="raw").csv() == "system,elo ↑\namber,1010.0\n100%|A,990.0\n"
    assert study.table(rows="system").header == table.header, "what is about no system has no place here"


@pytest.mark.parametrize(
    ("names", "options", "says"),
    [
        (("blurr",), {}, "no metric 'blurr'. Did you mean `blur`?"),
        (("blur",), {"rows": "system"}, "no blur fits here"),
        (("elo",), {"rows": "system", "lables": "raw"}, "no number has 'lables'"),
    ],
)
def test_a_table_of_what_is_not_there(study: Run, names: tuple[str, ...], options: dict[str, str], says: str) -> None:
    with pytest.raises(InputError, match=says):
        study.table(*names, **options)  # type: ignore[arg-type]


def test_no_number_is_dropped_from_a_table(tmp_path: Path) -> None:
    run = write(tmp_path / "run", entry("one", elo("amber", 1.0)), entry("two", elo("amber", 2.0)))
    with pytest.raises(InputError, match="system amber has two values of elo"):
        run.table("elo", rows="system")
    assert [row[1].text for row in run.table("elo").rows] == ["1", "2"]


def test_two_versions_are_two_columns(tmp_path: Path) -> None:
    later = replace(BLUR, history=("first release", "another border"))
    numbers = [Measurement(definition=of, value=1.0, count=1) for of in (BLUR, later)]
    assert write(tmp_path / "run", entry("a", *numbers)).table().header == ("subject", "blur (v 1) ↑", "blur (v 2) ↑")


def test_a_run_stores_the_words_it_was_given(tmp_path: Path) -> None:
    """Two definitions of one signature are equal; what an earlier run of the process said is not stored for it."""
    plain = definition("sharpness", "1")
    for name, said in (("a", plain), ("b", replace(plain, depends_on=("frame_size",)))):
        run = write(tmp_path / name, entry("x", Measurement(definition=said, value=1.0, count=1)))
        assert read_run(run.path).one("sharpness", subject="x").definition.depends_on == said.depends_on


def test_a_frame_has_a_row_for_every_number(study: Run) -> None:
    pytest.importorskip("pandas", reason="data frames need pandas")
    frame = study.to_frame()
    assert list(frame.columns[:4]) == ["subject", "review_signal", "name", "value"] and list(frame.columns[-1:]) == [
        "system"
    ]
    amber = frame[(frame["system"] == "amber") & frame["signature"].str.contains("raw")].iloc[0]
    assert (amber["value"], amber["low"], amber["high"], amber["level"]) == (1010.0, 1000.0, 1020.0, 0.95)
    assert len(frame) == 5


def test_a_place_named_like_a_column_gets_a_column_of_its_own(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="data frames need pandas")
    places = {"value": "0.7", "method": "blur"}
    run = write(tmp_path / "run", entry("a", Measurement(definition=BLUR, value=1.0, count=1, at=places)))
    row = run.to_frame().iloc[0]
    assert (row["value"], row["at_value"], row["at_method"]) == (1.0, "0.7", "blur")


def test_without_pandas_a_frame_says_what_to_install(study: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependency, match="pip install pandas"):
        study.to_frame()


def test_a_run_says_what_it_is_in_one_line(study: Run) -> None:
    assert repr(study) == f"{study.path}: takes: no metric was compared with the votes."


def test_format_1_is_read() -> None:
    run = read_run(FORMAT_1)
    assert (run.info["format"], run.instrument, len(run.select())) == (1, "pose", 8)
    assert run.one("pck", k=20).value == 0.87411765
    assert run.one("pck_joint", joint="left_eye").value == pytest.approx(0.94666667)
    assert all(m.at == () and m.interval is None for m in run.select())


def test_format_1_is_written_to_the_byte_where_no_number_has_a_place(tmp_path: Path) -> None:
    old = read_run(FORMAT_1)
    with RunWriter(tmp_path / "run", instrument="pose", settings={}) as run:
        for each in old.entries:
            run.add(each)
        run.finish([subject.id for subject in old.subjects])
    for name in ("measurements.jsonl", "subjects.jsonl"):
        assert (tmp_path / "run" / name).read_bytes() == (FORMAT_1 / name).read_bytes()


def test_a_run_of_format_1_is_continued_in_the_latest(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    write(folder, entry("a", elo("amber", 1.0)))
    info = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(info | {"format": 1}))
    reseal(folder)
    with RunWriter(folder, instrument="preference", settings={}) as run:
        assert run.finished("a") is not None
        run.add(entry("b", elo("birch", 2.0)))
        run.finish(["a", "b"])
    again = read_run(folder)
    assert again.info["format"] == 4
    assert [m.place["system"] for m in again.select("elo")] == ["amber", "birch"]
