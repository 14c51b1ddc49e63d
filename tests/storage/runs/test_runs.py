"""Run directories: written whole, continued after a crash, read back as labelled numbers."""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushes.core import Definition, Measurement, signature_params
from rushes.core.canonical import canonical_line
from rushes.core.errors import DefinitionError, RunError
from rushes.core.words.definition_text import value_text
from rushes.storage.runs import Entry, RunWriter, Subject, pack, read_run, subject_ids

RATIO = Definition(
    name="share",
    unit="ratio",
    lowest=0,
    highest=1,
    better="lower",
    summary="s",
    formula="f",
    params=signature_params(k=1),
)


def entry(name: str, value: float | None = 0.5) -> Entry:
    measurement = Measurement(
        definition=RATIO, value=value, count=0 if value is None else 3, note="" if value else "none"
    )
    subject = Subject(id=name, kind="clip", path=f"{name}.mp4", sha256="ab", facts={"n": 1}, badge="pass")
    return Entry(subject=subject, measurements=(measurement,), series={"luma": np.arange(3.0)})


def write(folder: Path, names: list[str], order: list[str] | None = None) -> Path:
    with RunWriter(folder, instrument="clip", settings={"tier": 0}) as run:
        for name in names:
            run.add(entry(name))
        run.finish(order or names)
    return folder


def result_bytes(folder: Path) -> dict[str, bytes]:
    files = [folder / "subjects.jsonl", folder / "measurements.jsonl", *sorted((folder / "series").glob("*"))]
    return {file.name: file.read_bytes() for file in files}


def test_a_run_reads_back(tmp_path: Path) -> None:
    run = read_run(write(tmp_path / "run", ["a", "b"]))
    assert (run.instrument, run.status) == ("clip", "complete")
    assert [subject.id for subject in run.subjects] == ["a", "b"]
    assert run.measurements["a"] == (Measurement(definition=RATIO, value=0.5, count=3),)
    assert run.series("a")["luma"].tolist() == [0.0, 1.0, 2.0]
    assert run.series("nowhere") == {}


def test_the_files_hold_what_they_should(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", ["a"])
    assert (folder / "measurements.jsonl").read_text() == (
        '{"count":3,"note":"","signature":"share|k:1|v:1","subject":"a","value":0.5}\n'
    )
    info = json.loads((folder / "run.json").read_text())
    assert info["definitions"]["share|k:1|v:1"]["formula"] == "f"
    assert sorted(path.name for path in folder.iterdir()) == [
        "measurements.jsonl",
        "run.json",
        "series",
        "subjects.jsonl",
    ]


def test_only_run_json_has_times_in_it(tmp_path: Path) -> None:
    first, second = write(tmp_path / "one", ["a", "b"]), write(tmp_path / "two", ["a", "b"])
    assert result_bytes(first) == result_bytes(second)
    assert "started" in json.loads((first / "run.json").read_text())


def test_an_entry_packed_elsewhere_is_stored_the_same(tmp_path: Path) -> None:
    here = write(tmp_path / "here", ["a", "b"])
    with RunWriter(tmp_path / "there", instrument="clip", settings={"tier": 0}) as run:
        for name in ("a", "b"):
            run.add(pickle.loads(pickle.dumps(pack(entry(name)))))
        run.finish(["a", "b"])
    assert result_bytes(tmp_path / "there") == result_bytes(here)


def test_finishing_order_does_not_show(tmp_path: Path) -> None:
    first = write(tmp_path / "one", ["a", "b", "c"])
    second = write(tmp_path / "two", ["c", "a", "b"], order=["a", "b", "c"])
    assert result_bytes(first) == result_bytes(second)


def test_a_broken_off_run_continues(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt), RunWriter(folder, instrument="clip", settings={"tier": 0}) as run:
        run.add(entry("a"))
        raise KeyboardInterrupt
    assert read_run(folder).status == "interrupted"
    assert [subject.id for subject in read_run(folder).subjects] == ["a"]
    with RunWriter(folder, instrument="clip", settings={"tier": 0}) as run:
        assert run.finished("a") is not None and run.finished("b") is None
        run.add(entry("b"))
        run.finish(["a", "b"])
    assert result_bytes(folder) == result_bytes(write(tmp_path / "whole", ["a", "b"]))


@pytest.mark.parametrize("torn", [b'{"subject":{"id":"b"', b'{"subject"\n', b"\x00\x00"])
def test_a_torn_last_line_is_cut_off(tmp_path: Path, torn: bytes) -> None:
    folder = tmp_path / "run"
    with RunWriter(folder, instrument="clip", settings={"tier": 0}) as run:
        run.add(entry("a"))
    with open(folder / "journal.jsonl", "ab") as journal:
        journal.write(torn)
    with RunWriter(folder, instrument="clip", settings={"tier": 0}) as run:
        assert run.finished("a") is not None and run.finished("b") is None
        run.add(entry("b"))
        run.finish(["a", "b"])
    assert result_bytes(folder) == result_bytes(write(tmp_path / "whole", ["a", "b"]))


def test_a_complete_run_can_grow_and_never_shrinks(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", ["a", "b"])
    with RunWriter(folder, instrument="clip", settings={"tier": 0}) as run:
        assert run.finished("a") and run.finished("b") and run.paths == {"a": "a.mp4", "b": "b.mp4"}
        run.add(entry("c"))
        run.finish(["c", "a"])
    assert result_bytes(folder) == result_bytes(write(tmp_path / "whole", ["c", "a", "b"]))


def test_the_latest_of_two_entries_counts(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with RunWriter(folder, instrument="clip", settings={}) as run:
        run.add(entry("a", 0.25))
        run.add(entry("a", 0.75))
        assert read_run(folder).measurements["a"][0].value == 0.75
        run.finish(["a"])
    assert read_run(folder).measurements["a"][0].value == 0.75


def test_another_question_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", ["a"])
    with pytest.raises(RunError, match="Choose another run"):
        RunWriter(folder, instrument="clip", settings={"tier": 1})
    with pytest.raises(RunError, match='a run of "clip", not of pose'):
        RunWriter(folder, instrument="pose", settings={"tier": 0})
    with pytest.raises(RunError, match='a run of "clip", not of pose'):
        RunWriter(folder, instrument="pose", settings={"tier": 0}, overwrite=True)
    assert read_run(folder).status == "complete"


def asked(folder: Path, arguments: list[str], inputs: list[str], **how: bool) -> RunWriter:
    return RunWriter(folder, instrument="clip", settings={"tier": 0}, inputs=inputs, asked=arguments, **how)


def fill(run: RunWriter, *names: str) -> list[str]:
    """Add what is not finished, and finish; the inputs that run.json then has."""
    with run:
        for name in names:
            if run.finished(name) is None:
                run.add(entry(name))
        run.finish(names)
    return json.loads((run.path / "run.json").read_text())["inputs"]


def test_other_inputs_are_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    fill(asked(folder, ["takes"], ["a.mp4", "b.mp4"]), "a", "b")
    before = result_bytes(folder)
    says = "already contains a run of takes. Use add=True to add c.mp4, or overwrite=True to replace the run.$"
    for arguments, inputs in ((["c.mp4"], ["c.mp4"]), (["a.mp4"], ["a.mp4"])):  # another clip, and fewer
        with pytest.raises(RunError, match=says.replace("c.mp4", arguments[0])):
            asked(folder, arguments, inputs)
    assert result_bytes(folder) == before and read_run(folder).status == "complete"


def test_the_same_arguments_are_the_same_question_whatever_has_come_or_gone(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    fill(asked(folder, ["takes"], ["a.mp4", "b.mp4"]), "a", "b")
    assert fill(asked(folder, ["takes/"], ["b.mp4", "c.mp4"]), "b", "c") == ["b.mp4", "c.mp4", "a.mp4"]
    assert [subject.id for subject in read_run(folder).subjects] == ["b", "c", "a"], "a is gone, its results are not"
    # The same clips named otherwise are the same question too.
    assert fill(asked(folder, ["./*.mp4"], ["a.mp4", "./b.mp4", "c.mp4"]), "a", "b", "c") == [
        "a.mp4",
        "./b.mp4",
        "c.mp4",
    ]


def test_added_inputs_come_after_what_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    fill(asked(folder, ["b.mp4"], ["b.mp4"]), "b")
    assert fill(asked(folder, ["a.mp4"], ["a.mp4"], add=True), "a") == ["b.mp4", "a.mp4"]
    assert result_bytes(folder) == result_bytes(write(tmp_path / "whole", ["b", "a"]))
    assert json.loads((folder / "run.json").read_text())["asked"] == ["b.mp4", "a.mp4"]
    fill(asked(folder, ["b.mp4", "a.mp4"], ["b.mp4", "a.mp4"]), "b", "a")  # what it now holds, asked at once
    with pytest.raises(RunError, match="already contains a run of b.mp4, a.mp4"):
        asked(folder, ["b.mp4"], ["b.mp4"])
    with pytest.raises(RunError, match="give one of them"):
        asked(folder, ["b.mp4"], ["b.mp4"], add=True, overwrite=True)


def test_an_addition_that_was_broken_off_has_the_same_bytes(tmp_path: Path) -> None:
    """Finished d before c: the order of the inputs counts, not that of the journal."""
    folder = tmp_path / "run"
    fill(asked(folder, ["ab"], ["a.mp4", "b.mp4"]), "a", "b")
    with pytest.raises(KeyboardInterrupt), asked(folder, ["cd"], ["c.mp4", "d.mp4"], add=True) as run:
        run.add(entry("d"))
        run.add(entry("c"))
        raise KeyboardInterrupt
    fill(asked(folder, ["e.mp4"], ["e.mp4"], add=True), "e")
    assert result_bytes(folder) == result_bytes(write(tmp_path / "whole", ["a", "b", "c", "d", "e"]))


def test_overwrite_starts_anew_under_any_settings(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    fill(asked(folder, ["takes"], ["a.mp4", "b.mp4"]), "a", "b")
    (folder / "report.html").touch()
    with RunWriter(folder, instrument="clip", settings={"tier": 1}, inputs=["c.mp4"], overwrite=True) as run:
        assert run.finished("a") is None
        run.add(entry("c"))
        run.finish(["c"])
    assert result_bytes(folder) == result_bytes(write(tmp_path / "whole", ["c"]))
    assert read_run(folder).info["settings"] == {"tier": 1} and (folder / "report.html").exists()


def test_both_sides_of_a_question_keep_their_places(tmp_path: Path) -> None:
    """Where inputs are not alike (a set and its ground truth), their order is part of the question."""
    for inputs in (["gen", "gt"], ["gen", "gt"]):
        with RunWriter(tmp_path / "run", instrument="distribution", settings={}, inputs=inputs) as run:
            run.add(entry("generated"))
            run.finish(["generated"])
    with pytest.raises(
        RunError, match="already contains a run of gen, gt, not of gt, gen. Choose another run, or use ov"
    ):
        RunWriter(tmp_path / "run", instrument="distribution", settings={}, inputs=["gt", "gen"])


def test_a_run_that_holds_nothing_yet_takes_other_inputs(tmp_path: Path) -> None:
    with asked(tmp_path / "run", ["takes"], ["a.mp4"]):
        pass
    assert fill(asked(tmp_path / "run", ["b.mp4"], ["b.mp4"]), "b") == ["b.mp4"]


def test_a_refusal_names_the_settings_that_differ(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", ["a"])
    with pytest.raises(
        RunError, match="already contains a run with tier 0, not 1; audio none, not speech. Choose another run, or"
    ):
        RunWriter(folder, instrument="clip", settings={"tier": 1, "audio": "speech"})
    with pytest.raises(RunError, match="empty path"):
        RunWriter("", instrument="clip", settings={})


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").touch()
    with pytest.raises(RunError, match="thesis.doc"):
        RunWriter(tmp_path, instrument="clip", settings={})
    assert (tmp_path / "thesis.doc").exists()


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", instrument="clip", settings={}):
        with pytest.raises(RunError, match="another rushes process is writing"):
            RunWriter(tmp_path / "run", instrument="clip", settings={})


def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    with pytest.raises(RunError, match="disk is full.*finished work is kept"):
        with RunWriter(folder, instrument="clip", settings={}) as run:
            run.add(entry("a"))
            with monkeypatch.context() as patch:
                patch.setattr("rushes.storage.runs.writer.replacing_bytes", _no_space)
                run.add(entry("b"))
    with RunWriter(folder, instrument="clip", settings={}) as run:
        assert run.finished("a") is not None and run.finished("b") is None


def _no_space(*_: object, **__: object) -> None:
    raise OSError(28, os.strerror(28))


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "found none"), ("{", "cannot be read"), ("[]", "something else"), ('{"format": 99}', "newer rushes")],
)
def test_what_is_no_run_says_so(tmp_path: Path, content: str | None, says: str) -> None:
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(RunError, match=says):
        read_run(tmp_path)


def test_files_that_do_not_fit_together_are_one_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", ["a"])
    (folder / "measurements.jsonl").write_text('{"subject": "a"}\n')
    with pytest.raises(RunError, match="measurements.jsonl: changed after the run was complete"):
        read_run(folder)
    info = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(info | {"seal": None}))  # as of before there were seals
    with pytest.raises(RunError, match="are inconsistent"):
        read_run(folder)


@given(st.lists(st.text(max_size=12), max_size=12))
def test_ids_are_unique_and_safe_as_file_names(stems: list[str]) -> None:
    ids = subject_ids(stems)
    assert len({name.casefold() for name in ids}) == len(stems)
    assert all(name and "/" not in name and name not in {".", ".."} and len(name) <= 90 for name in ids)


@given(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.tuples(st.text(), st.floats()))
def test_no_bare_number_gets_into_a_run_or_onto_a_page(bare: object) -> None:
    subject = Subject(id="a", kind="clip", path="a", sha256=None)
    with pytest.raises(DefinitionError, match="measurements only"):
        Entry(subject=subject, measurements=(bare,))  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match="only a measurement"):
        value_text(bare)  # type: ignore[arg-type]


plain_facts = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8) | st.just('],"subject":{"id":"x"}}'),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4) | st.just("subject"), inner),
    max_leaves=6,
)


@settings(max_examples=30)
@given(st.lists(plain_facts, max_size=3), st.lists(st.text(max_size=9), min_size=1, max_size=3))
def test_lines_are_cut_up_as_they_were_put_together(facts: list[object], notes: list[str]) -> None:
    """Whatever subjects and notes say, the merged lines are the canonical ones, also after coming back twice."""
    entries = [
        Entry(
            subject=Subject(id=f"s{number}", kind="clip", path="p", sha256=None, facts={"subject": fact}),
            measurements=tuple(Measurement(definition=RATIO, value=0.25, count=1, note=note) for note in notes),
        )
        for number, fact in enumerate(facts)
    ]
    order = [one.subject.id for one in entries]
    with tempfile.TemporaryDirectory() as folder:
        for added in (entries, []):
            with RunWriter(folder, instrument="clip", settings={}) as run:
                for one in added:
                    run.add(one)
                assert [run.finished(name) for name in order] == [one.subject.row() for one in entries]
                run.finish(order)
            wanted = "".join(canonical_line(one.subject.row()) for one in entries)
            assert (Path(folder) / "subjects.jsonl").read_bytes().decode() == wanted
            wanted = "".join(canonical_line(row) for one in entries for row in one.rows())
            assert (Path(folder) / "measurements.jsonl").read_bytes().decode() == wanted


def test_a_journal_that_rushes_did_not_write_is_refused_and_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with RunWriter(folder, instrument="clip", settings={}) as run:
        run.add(entry("a"))
    foreign = b'{"subject": {"id": "a"}, "measurements": []}\n'
    (folder / "journal.jsonl").write_bytes(foreign)
    with pytest.raises(RunError, match="are inconsistent"):
        RunWriter(folder, instrument="clip", settings={})
    assert (folder / "journal.jsonl").read_bytes() == foreign


def test_thousands_of_takes_may_share_one_name() -> None:
    assert subject_ids(["take"] * 3 + ["take-2", "TAKE"]) == ["take", "take-2", "take-3", "take-2-2", "TAKE-4"]
    assert subject_ids(["take"] * 5000)[-1] == "take-5000"


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "a/b"])
def test_series_are_written_inside_the_run_only(tmp_path: Path, name: str) -> None:
    with (
        RunWriter(tmp_path / "run", instrument="clip", settings={}) as run,
        pytest.raises(RunError, match="file names"),
    ):
        run.add(entry(name))
    assert not list(tmp_path.rglob("*outside*")) and not list(tmp_path.rglob("b.npz"))


def test_settings_that_differ_are_said_in_words(tmp_path: Path) -> None:
    """No digest and no JSON: what a person can do something about."""
    first = {
        "profile": "general",
        "profile_sha256": "ab" * 32,
        "definitions": "9b4886050aae8544",
        "metrics": ["a", "b"],
    }
    with RunWriter(tmp_path / "run", instrument="clip", settings=first) as run:
        run.add(entry("a"))
        run.finish(["a"])
    other = {"profile": "mine", "profile_sha256": "cd" * 32, "definitions": "bd409f09bf0b8d0e", "metrics": ["a", "c"]}
    with pytest.raises(RunError) as caught, RunWriter(tmp_path / "run", instrument="clip", settings=other):
        pass
    says = (
        "already contains a run with profile general, not mine; metrics b, not c; other definitions. Choose another run"
    )
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ['},{"count":1', '],"subject":', '"signature":"s"', "\\", 'a"b', "\n", "ü"])
def test_merged_lines_are_the_rows_whatever_they_say(tmp_path: Path, text: str) -> None:
    """Texts that look like the ends of rows, in notes, in places and in signatures."""
    named = replace(
        RATIO, params=signature_params(k=1, word=text.replace("|", "")) if "\n" not in text else RATIO.params
    )
    numbers = tuple(
        Measurement(definition=definition, value=0.25, count=1, note=text, at={"signature": text, "subject": text})
        for definition in (RATIO, named, RATIO)
    )
    facts = {"subject": [text], "n": {"subject": 1}}
    with RunWriter(tmp_path / "run", instrument="clip", settings={"tier": 0}) as run:
        for measurements in (numbers, numbers[:1], ()):
            subject = Subject(id=f"{text}{len(measurements)}", kind="clip", path=text, sha256=None, facts=facts)
            run.add(Entry(subject=subject, measurements=measurements))
        run.finish([f"{text}{count}" for count in (3, 1, 0)])
    found = read_run(tmp_path / "run")
    assert [subject.id for subject in found.subjects] == [f"{text}{count}" for count in (3, 1, 0)]
    assert [found.measurements.get(subject.id, ()) for subject in found.subjects] == [numbers, numbers[:1], ()]
    assert found.info["seal"]["measurements"] == 4
    lines = (tmp_path / "run" / "measurements.jsonl").read_text().splitlines()
    assert lines == [
        canonical_line({"subject": s.id} | m.as_dict()).rstrip()
        for s in found.subjects
        for m in found.measurements.get(s.id, ())
    ]
