"""`rushes study open`, `pause`, `payments`, `erase` and the letters, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.media import write_clip
from rushes.study import open_service


def rushes(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["study", *(str(argument) for argument in arguments)])


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A study of two systems and one prompt."""
    for number, system in enumerate(("alpha", "beta")):
        write_clip(
            tmp_path / f"{system}_T2_p01.mp4", [np.full((32, 48, 3), 40 * number + n, np.uint8) for n in range(6)]
        )
    table = tmp_path / "prompts.csv"
    table.write_text("task_id,prompt_id,prompt_text\nT2,1,Stripes\n")
    path = tmp_path / "studies.db"
    options = ("--clips", tmp_path, "--pay", "9 EUR/hour", "--on-erase", "remove", "--pairing", "active", "--db", path)
    made = rushes("create", "takes", table, "--title", "Takes", *options)
    assert made.exit_code == 0, made.output
    return path


def test_the_plan_is_kept(db):
    with open_service(db) as service:
        (one,) = service.studies()
    assert (one.pay, one.on_erase, one.pairing, one.state) == ("9 EUR/hour", "remove", "active", "open")


def test_open_pause_close_pay_and_erase(db, tmp_path):
    opened = rushes(
        "open", "takes", "--quota", 2, "--platform", "prolific", "--completion-code", "C1", "--db", db, "--json"
    )
    link = json.loads(opened.stdout)["link"]
    assert link.endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")
    with open_service(db) as service:
        service.running.join(urlsplit(link).path.rpartition("/")[2], participant="5f00aa5f00aa5f00aa5f00aa")
    assert "paused" in rushes("pause", "takes", "--db", db).stdout
    again = rushes("pause", "takes", "--db", db)
    assert again.exit_code == 1 and "already paused" in again.stderr and "Traceback" not in again.stderr
    assert "is open" in rushes("reopen", "takes", "--db", db).stdout
    assert "is closed" in rushes("close", "takes", "--db", db).stdout
    ids = tmp_path / "ids.txt"
    ids.write_text("5f00aa5f00aa5f00aa5f00aa\n")
    paid = rushes("payments", "takes", "-o", tmp_path / "pay.csv", "--participants", ids, "--db", db)
    assert paid.exit_code == 0 and "5f00aa5f00aa5f00aa5f00aa,prolific" in (tmp_path / "pay.csv").read_text()
    assert "removed" in rushes("erase", "takes", "--participant", "5f00aa5f00aa5f00aa5f00aa", "--db", db).stdout
    assert rushes("erase", "takes", "--db", db).exit_code == 2
    assert "none" not in rushes("problems", "takes", "--db", db).stdout
    gone = rushes("retire", "takes", "T9", "--why", "x", "--db", db)
    assert gone.exit_code == 1 and "no pair 'T9'" in gone.stderr


def test_letters_are_printed_ready_to_send(db, tmp_path):
    letter = tmp_path / "letter.txt"
    letter.write_text("Subject: Clips: {title}\n\nDear {rater},\n{link}\n")
    plain = rushes("invite", "takes", 2, "--text", letter, "--url", "https://x.org", "--db", db).stdout
    assert plain.count("Subject: Clips: Takes") == 2 and "Dear rater_02,\nhttps://x.org/i/" in plain
    mail = rushes("invite", "takes", 1, "--mailto", "--db", db).stdout.split("\t")[1].strip()
    fields = parse_qs(urlsplit(mail).query)
    assert (
        mail.startswith("mailto:?")
        and "rater_03" in fields["body"][0]
        and fields["subject"] == ["Compare video clips: Takes"]
    )
    made = json.loads(rushes("invite", "takes", 1, "--text", letter, "--db", db, "--json").stdout)
    assert made["letters"]["rater_04"]["mailto"].startswith("mailto:?subject=Clips%3A%20Takes&body=Dear%20rater_04")


@pytest.mark.parametrize(
    ("text", "words"), [("no place for it", "needs {link}"), ("{link} {name}", "got {name}"), (None, "cannot be read")]
)
def test_a_letter_that_cannot_be_makes_no_invitation(db, tmp_path, text, words):
    letter = tmp_path / "letter.txt"
    if text is not None:
        letter.write_text(text)
    refused = rushes("invite", "takes", 1, "--text", letter, "--db", db)
    assert refused.exit_code == 1 and words in refused.stderr
    with open_service(db) as service:
        assert service.studies()[0].raters == 0
