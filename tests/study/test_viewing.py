"""How a vote was looked at, source clips, refusals, sound checks: what the service keeps and refuses."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import pytest

from rushes.instruments.preference.votes import Vote
from rushes.study.errors import StudyError
from rushes.study.exchange.table import read_table, write_csv, write_parquet
from rushes.study.material.places import read_sources
from rushes.study.material.sources import from_csv, with_sources
from rushes.study.raters.play_credit import Ledger, WatchRule
from rushes.study.raters.sound_check import GROUPS, MOST_TONES, sequence, sequence_wav
from rushes.study.raters.viewing import LONGEST, read_viewing, viewing_summary
from rushes.study.service import open_service


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "null", "{", '{"viewport": "wide"}', '{"viewport": [1, 2, 3]}', '{"viewport": [true, 2]}',
        '{"theme": "pink"}', '{"pixel_ratio": NaN}', '{"pixel_ratio": 1e9}', "[" * 3000, f'"{"x" * LONGEST}"',
    ],
)  # fmt: skip
def test_a_report_that_makes_no_sense_is_none(text: str) -> None:
    assert read_viewing(text) is None


def test_what_a_run_says_about_screens() -> None:
    reports = [
        {"viewport": [2560, 1300], "theme": "dark", "full_screen": True},
        {"viewport": [390, 844], "theme": "light", "one_to_one": True},
        {},
    ]
    assert viewing_summary(reports) == {
        "recorded": 2,
        "votes": 3,
        "windows": [[390, 844], [2560, 1300]],
        "themes": {"dark": 1, "light": 1},
        "full_screen": 1,
        "one_to_one": 1,
    }
    assert viewing_summary([])["windows"] == []


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_export_has_the_screen_and_own_dimensions(tmp_path: Path, ending: str) -> None:
    seen = {"pixel_ratio": 1.5, "theme": "dark", "viewport": [1440, 900]}
    rated = {"adherence": (4, 2), "rhythm": (5, None)}
    vote = Vote(sample="s", system_a="a", system_b="b", winner="a", rater="r", ratings=rated, viewing=seen)
    path = tmp_path / f"votes.{ending}"
    (write_csv if ending == "csv" else write_parquet)(path, [vote])
    assert read_table(path) == (vote,)
    if ending == "csv":  # a file of before has neither column
        lines = [line.rsplit(",", 2)[0] for line in path.read_text().splitlines()[:1]]
        (tmp_path / "old.csv").write_text(lines[0] + "\r\n")
        assert read_table(tmp_path / "old.csv") == ()


def test_nothing_without_a_duration_asks_to_be_watched() -> None:
    assert Ledger().passes(0, WatchRule()) == 2 and Ledger().share(0, WatchRule()) == 1.0
    assert Ledger().passes(1000, WatchRule()) == 0


HEAD = "sample_id,task_id,prompt_id,system,path,refused,source\n"


def table(folder: Path, *rows: str) -> Path:
    path = folder / "pairs.csv"
    path.write_text(HEAD + "\n".join(rows))
    return path


def test_refusals_and_sources_are_read(tmp_path: Path) -> None:
    rows = ("s1,T7,p1,north,n.mp4,,src.mp4", "s1,T7,p1,south,,I will not do that.,src.mp4")
    clips = with_sources(from_csv(table(tmp_path, *rows)))
    assert [(clip.kind, clip.system, clip.refused) for clip in clips] == [
        ("sample", "north", ""),
        ("sample", "south", "I will not do that."),
        ("source", "", ""),
    ]
    assert clips[1].name == "s1_refused" and clips[2].path == tmp_path / "src.mp4"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (("s1,T7,p1,north,,,",), "path is empty; every clip needs one, or `refused`"),
        (("s1,T7,p1,north,n.mp4,No.,",), "a clip and a refusal"),
        (("s1,T7,p1,north,n.mp4,,", "s1,T7,p1,south,,As South I refuse.,"), "names a system"),
        (("s1,T4,p1,north,n.mp4,,a.mp4", "s1,T4,p1,south,s.mp4,,b.mp4"), "two source clips"),
    ],
)
def test_what_cannot_be_imported_is_said(tmp_path: Path, rows: tuple[str, ...], said: str) -> None:
    with pytest.raises(StudyError, match=said):
        read_sources([table(tmp_path, *rows)])


def test_source_clips_are_found_by_sample_or_by_task_and_prompt(tmp_path: Path) -> None:
    folder = tmp_path / "before"
    folder.mkdir()
    rows = ("x,T4,p1,north,n.mp4,,", "x,T4,p1,south,s.mp4,,", "y,T4,p2,north,m.mp4,,", "y,T4,p2,south,t.mp4,,")
    path = table(tmp_path, *rows)
    with pytest.raises(StudyError, match=r"no clip is named as a sample of the study, such as x\.mp4"):
        read_sources([path], source_clips=folder)
    for name in ("x.mp4", "T4_p2.mov", "notes.txt"):
        (folder / name).touch()
    found = [clip for clip in read_sources([path], source_clips=folder) if clip.kind == "source"]
    assert [(clip.sample, clip.path.name) for clip in found] == [("x", "x.mp4"), ("y", "T4_p2.mov")]
    with pytest.raises(StudyError, match="expected a folder of source clips"):
        read_sources([path], source_clips=tmp_path / "none")


def test_the_tones_are_what_the_sequence_says() -> None:
    """Counted in the samples: silence, then a tone, then silence; a longer silence parts the groups."""
    digits = sequence(7, "rater_03", 2)
    assert len(digits) == GROUPS and all(1 <= int(digit) <= MOST_TONES for digit in digits)
    assert sequence(7, "rater_03", 2) == digits and sequence_wav(digits) == sequence_wav(digits)
    assert len({sequence(7, "rater_03", tries) for tries in range(20)}) > 10
    with wave.open(io.BytesIO(sequence_wav(digits))) as file:
        rate, data = file.getframerate(), file.readframes(file.getnframes())
    loud = [any(data[at : at + rate // 50]) for at in range(0, len(data), rate // 50)]  # steps of 10 ms
    tones, quiet, heard = 0, 0, ""
    for step, before in zip(loud, [False, *loud], strict=False):
        tones += step and not before
        quiet = 0 if step else quiet + 1
        if quiet == 40 and tones:  # 400 ms: more than the gap in a group, less than the rest between two
            heard, tones = heard + str(tones), 0
    assert heard == digits


OLD_ROWS = (
    "INSERT INTO study VALUES (1,'takes','Takes','0.1',1,2,NULL,0,0,'{}','{\"passes\": 2}',0,0)",
    "INSERT INTO clip VALUES (1,1,'north','n','s','p','x',1000,25,16,9,0,'video/mp4',1,'t1')",
    "INSERT INTO clip VALUES (2,1,'south','n','s','p','x',1000,25,16,9,0,'video/mp4',1,'t2')",
    "INSERT INTO pair VALUES (1,1,'sample','s1','T1','p1','',1,2,NULL,NULL,'','a',1,1,1,2,1,'open')",
    "INSERT INTO rater VALUES (1,1,'rater_01',NULL,0,0,0,0,0,1,0)",
    "INSERT INTO assignment VALUES (1,1,1,1,'k','sample',1,1,'a','ta','tb','voted',1,NULL,NULL,0,0,0)",
    "INSERT INTO vote VALUES (1,1,1,1,1,'sample','k','a','a','Missed constraint',"
    "'[]','{\"realism\": [4, 2]}','{}','','[]',NULL,0)",
)


def test_a_database_of_the_first_version_keeps_its_votes(tmp_path: Path, first_tables) -> None:
    path = tmp_path / "old.db"
    with first_tables(path) as old:
        for statement in OLD_ROWS:
            old.execute(statement)
    with open_service(path) as service:
        (vote,) = service.votes("takes")
        assert vote.winner == "a" and vote.ratings == {"realism": (4, 2)} and vote.viewing == {}
        assert service.study_status("takes").summary.rubric == "0.1"
