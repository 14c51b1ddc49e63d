"""What `run.json` and `suite.json` say beside the numbers is sealed too; files of before the seal open as ever."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.compare.board.board_runs import CALM, clip_run
from tests.compare.readings.test_collect import suite_of
from tests.storage.runs.shard_material import entry, names, write_shards

from rushes.compare.readings.collect import collect_board
from rushes.core.errors import RunError
from rushes.storage.integrity.seal import SEAL, SETTINGS, allow_damaged
from rushes.storage.integrity.verify import verify_run
from rushes.storage.runs import RunWriter, read_run
from rushes.storage.runs.export import export_run
from rushes.suite.file import Suite
from rushes.suite.folder import _require_same, read_suite_folder
from rushes.suite.prompts import Prompt
from rushes.web.home.data import suite_status
from rushes.web.runs.prompts import texts_in

COUNT = 4


def one_piece(folder: Path) -> Path:
    with RunWriter(folder, instrument="clip", settings={"tier": 0}, inputs=["a.mp4"]) as run:
        for name in names(COUNT):
            run.add(entry(name))
        run.finish(names(COUNT))
    return folder


def sharded(folder: Path) -> Path:
    return write_shards(folder, names(COUNT))


def exported(folder: Path) -> Path:
    return export_run(sharded(folder / "before"), folder / "after")


def edit(file: Path, change: Callable[[dict], object]) -> None:
    data = json.loads(file.read_text(encoding="utf-8"))
    change(data)
    file.write_text(json.dumps(data), encoding="utf-8")


EDITS: dict[str, Callable[[dict], object]] = {
    "a setting": lambda info: info["settings"].update(tier=1),
    "the instrument": lambda info: info.update(instrument="fidelity"),
    "the environment": lambda info: info["environment"].update(rushes="9.9"),
}


@pytest.mark.parametrize("kind", EDITS)
@pytest.mark.parametrize("make", [one_piece, sharded, exported])
def test_settings_that_changed_are_refused_and_opened_on_request(
    make: Callable[[Path], Path], kind: str, tmp_path: Path
) -> None:
    run = make(tmp_path / "run")
    assert verify_run(run).sound and read_run(run).status == "complete"
    edit(run / "run.json", EDITS[kind])
    with pytest.raises(RunError, match=r"run.json: its settings.* changed .*rushes --damaged COMMAND"):
        read_run(run)
    assert read_run(run, damaged=True).status == "damaged" and not verify_run(run).sound


@pytest.mark.parametrize("make", [one_piece, sharded])
def test_a_seal_of_before_opens_as_ever(make: Callable[[Path], Path], tmp_path: Path) -> None:
    run = make(tmp_path / "run")
    edit(run / "run.json", lambda info: (info[SEAL].pop(SETTINGS), EDITS["a setting"](info)))
    assert read_run(run).status == "complete" and verify_run(run).sound


def suite(folder: Path) -> Path:
    for name, calm in (("amber", 1.0), ("birch", 2.0)):
        clip_run(folder / name / "clip", {"p1": {CALM: calm}, "p2": {CALM: calm + 1}})
    return suite_of(folder, "amber", "birch", prompts=(Prompt(id="p1", text="rain"), Prompt(id="p2", text="snow")))


def test_no_flipped_bit_of_a_suite_changes_what_it_says(tmp_path: Path) -> None:
    """Of 200 flips each is refused in a line that names the file, or leaves everything as it was."""
    folder = suite(tmp_path)
    file, sound = folder / "suite.json", read_suite_folder(folder)
    good, rng, refused = file.read_bytes(), random.Random(3), 0
    for _ in range(200):
        place = rng.randrange(len(good))
        file.write_bytes(good[:place] + bytes([good[place] ^ 1 << rng.randrange(8)]) + good[place + 1 :])
        try:
            assert read_suite_folder(folder) == sound, place
        except RunError as error:
            assert "suite.json" in str(error) and "\n" not in str(error)
            refused += 1
    assert refused > 100


def test_a_changed_suite_is_refused_everywhere_and_opened_on_request(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    file = folder / "suite.json"
    assert suite_status(folder)["status"] == "complete" and texts_in(file) == {"p1": "rain", "p2": "snow"}
    edit(file, lambda data: data["suite"]["prompts"][0].update(text="a long night of rain"))
    with pytest.raises(RunError, match=r"suite.json: changed after it was written; .*rushes --damaged COMMAND"):
        collect_board(folder)
    assert suite_status(folder)["status"] == "damaged" and texts_in(file) == {}
    assert read_suite_folder(folder, damaged=True).suite.prompts[0].text == "a long night of rain"
    allow_damaged(True)
    try:
        assert collect_board(folder).names == ("amber", "birch")
    finally:
        allow_damaged(False)


def test_a_suite_of_before_opens_as_ever(tmp_path: Path) -> None:
    folder = suite(tmp_path)
    edit(folder / "suite.json", lambda data: data.pop(SEAL))
    assert collect_board(folder).names == ("amber", "birch") and suite_status(folder)["status"] == "complete"


def test_running_a_suite_again_writes_a_damaged_file_anew_and_mixes_no_two_suites(tmp_path: Path) -> None:
    """It said "run rushes suite run again", which then said the same."""
    folder = suite(tmp_path)
    same = Suite(name="takes", systems=read_suite_folder(folder).suite.systems)
    edit(folder / "suite.json", lambda data: data["suite"]["prompts"].clear())
    _require_same(folder, same)
    (folder / "suite.json").write_text("{", encoding="utf-8")
    _require_same(folder, same)
    edit(suite(tmp_path / "other") / "suite.json", lambda data: data["suite"].update(name="others"))
    with pytest.raises(RunError, match="holds the suite 'others'"):
        _require_same(tmp_path / "other", same)
