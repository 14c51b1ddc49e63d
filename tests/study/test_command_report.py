"""`rushes study import --ratings` and `rushes study report`: what is said first, and what was bent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.show.tables import minimum_note, ranking
from rushes.instruments.preference.votes import Vote
from rushes.storage.runs import read_run
from rushes.study import open_service
from rushes.study.errors import StudyError
from rushes.study.evaluate import votes_digest
from rushes.study.exchange import read_ratings

from .exchange.test_ratings_csv import filled, table
from .test_command import done, rushes


def words(text: str) -> str:
    return " ".join(text.split())


def rows(raters: int, samples: int = 12, **changes: str) -> list[str]:
    """Every sample by so many raters; two of three samples go to zeta, families T1 and T2 in turn."""
    return [
        filled(
            **{"sample_id": f"s{k}", "task_id": f"T{k % 2 + 1}", "prompt_id": f"{k}", "rater_id": f"r{r}"}
            | {"winner": "A" if (k + r) % 3 else "B"}
            | changes
        )
        for k in range(samples)
        for r in range(raters)
    ]


@pytest.fixture
def study(tmp_path: Path) -> tuple[Path, Path]:
    """A database with an empty study, and where its ratings go."""
    done("study", "create", "s", "--db", tmp_path / "studies.db")
    return tmp_path / "studies.db", tmp_path


def report(db: Path, out: Path) -> str:
    return words(done("study", "report", "s", "-o", out, "--db", db).stdout)


def test_an_import_says_how_many_samples_it_made(study: tuple[Path, Path]) -> None:
    db, folder = study
    told = done("study", "import", "s", "--ratings", table(folder, *rows(2)), "--db", db)
    assert "Study s: 12 samples and 24 votes added." in told.stdout
    again = json.loads(
        done("study", "import", "s", "--ratings", table(folder, *rows(1, rater_id="new")), "--db", db, "--json").stdout
    )
    assert (again["pairs"], again["votes"], again["rubric"], again["bent"]) == (0, 12, "0.1", {})


def test_votes_against_the_rubric_are_refused_whole(study: tuple[Path, Path]) -> None:
    db, folder = study
    path = table(folder, *rows(2, samples=3), *rows(1, samples=1, rater_id="r9", primary_tag=""))
    bad = rushes("study", "import", "s", "--ratings", path, "--db", db)
    assert bad.exit_code == 1 and bad.stderr.count("\n") == 1
    assert "line 8: Choose 1 primary reason tag. 1 row does not keep rubric 0.1" in bad.stderr
    with open_service(db) as service:
        assert service.votes("s") == []


def test_lenient_votes_come_in_under_another_label(study: tuple[Path, Path]) -> None:
    db, folder = study
    path = table(folder, *rows(2), *rows(1, samples=2, rater_id="r9", primary_tag="", edit_precision_1to5="9"))
    told = done("study", "import", "s", "--ratings", path, "--lenient", "--db", db)
    bent = "2 without a primary tag, 2 with a rating that is not 1 to 5, left out"
    assert f"the study's numbers now say rubric:0.1-lenient, for votes {bent}" in told.stderr
    text = report(db, folder / "run")
    assert text.startswith(f"Votes do not keep the rubric, {bent}: the numbers say rubric:0.1-lenient.")
    run = read_run(folder / "run")
    assert run.subjects[0].facts["rubric"] == "0.1-lenient"
    assert {dict(m.definition.params)["rubric"] for m in run.measurements["s"]} == {"0.1-lenient"}
    with open_service(db) as service:
        assert "rubric:0.1-lenient" in service.study_status("s").agreement.signature
        assert [vote.bent for vote in service.votes("s") if vote.rater == "r9"] == [("rating-range", "primary-tag")] * 2
        service.running.erase_rater("s", rater="r9")
        kept = [vote.bent for vote in service.votes("s") if vote.bent]
        assert len(kept) == 2, "the votes of an erased rater are what they were"


def test_votes_that_keep_the_rubric_have_the_digest_they_had() -> None:
    vote = Vote(sample="s", system_a="x", system_b="y", winner="a", rater="r", primary_tag="Missed constraint")
    # Of version 0.2, which knew no `bent`.
    assert votes_digest([vote]) == "0312f1a593c6d4d031877a01403456e32691129682aa4214a0e6c710686c1908"


def test_families_can_be_declared_with_the_votes(study: tuple[Path, Path]) -> None:
    db, folder = study
    path = table(folder, *rows(2, task_id="retouch", edit_precision_1to5="3"))
    bad = rushes("study", "import", "s", "--ratings", path, "--db", db)
    assert "“edit_precision” is not rated for this task" in bad.stderr and "--family NAME=edit" in bad.stderr
    done("study", "import", "s", "--ratings", path, "--family", "retouch=edit", "--db", db)
    path = table(folder, *rows(1, task_id="retouch", rater_id="r9"))
    late = rushes("study", "import", "s", "--ratings", path, "--family", "retouch=plain", "--db", db)
    assert late.exit_code == 1 and "family retouch has votes as edit" in late.stderr


def test_below_two_raters_the_report_says_so_first(study: tuple[Path, Path]) -> None:
    db, folder = study
    # Twelve samples with one vote each, two raters, six each.
    single = [row for row in rows(2) if row.endswith(f"r{int(row.split(',')[0][1:]) // 6}")]
    done("study", "import", "s", "--ratings", table(folder, *single), "--db", db)
    below = "12 of 12 samples have fewer than 2 raters"
    text = report(db, folder / "run")
    assert text.startswith(f"Below the rubric's minimum: {below} (“Minimum 2 raters per sample”).")
    assert f"Ranking ({below})" in text and f"Ranking per task family ({below})" in text
    data = json.loads(done("study", "report", "s", "-o", folder / "run", "--db", db, "--json").stdout)
    assert below in data["remarks"][0] and below in data["tables"][0]["title"]
    few = read_run(folder / "run").select("samples_below_minimum")
    assert [(m.place["family"], m.value, m.count) for m in few] == [("all", 12, 12), ("T1", 6, 6), ("T2", 6, 6)]
    assert few[0].signature == (
        "samples_below_minimum|exclusion:none|labels:raw|minimum:2|raters:people|rubric:0.1|ties:counted|v:1"
    )
    done("report", folder / "run", "-o", folder / "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert page.index(below) < page.index("<table")


def test_with_two_raters_nothing_is_said(study: tuple[Path, Path]) -> None:
    db, folder = study
    done("study", "import", "s", "--ratings", table(folder, *rows(2)), "--db", db)
    text = report(db, folder / "run")
    assert "Below the rubric" not in text and "fewer than" not in text
    assert "Where they overlap, the order is open." in text


def test_one_rater_has_no_intervals_and_no_word_of_their_overlap(study: tuple[Path, Path]) -> None:
    db, folder = study
    done("study", "import", "s", "--ratings", table(folder, *rows(1)), "--db", db)
    text = report(db, folder / "run")
    assert "There are no intervals: clustered intervals need two raters. So the order's certainty is unknown." in text
    assert "overlap" not in text


def test_agreement_is_shown_per_family(study: tuple[Path, Path]) -> None:
    db, folder = study
    done("study", "import", "s", "--ratings", table(folder, *rows(2)), "--db", db)
    text = report(db, folder / "run")
    table_text = text[text.index("Agreement between raters") :]
    # Raters r0 and r1 differ where (k + r) % 3 is 0 for one of them: k = 0, 2, 3, 5, 6, 8, 9, 11; T1 is even k.
    for row in ("all families 0.3333", "T1 multi-constraint adherence 0.3333", "T2 temporal 0.3333"):
        assert row in table_text


def test_excluded_raters_leave_samples_below_the_minimum(tmp_path: Path) -> None:
    votes = read_ratings(table(tmp_path, *rows(2))).votes
    found = study_measurements(votes, rubric_version="0.1", exclusion_rule="speed", excluded=["r1"])
    assert ranking(found).title == "Ranking" and minimum_note(found) == ""
    below = "12 of 12 samples have fewer than 2 raters"
    assert ranking(found, exclusion="speed").title == f"Ranking without raters excluded by speed ({below})"
    assert f"{below} without raters excluded by speed" in minimum_note(found, exclusion="speed")


@pytest.mark.parametrize("name", ["Ärin", "A\u0308rin", "Zoë-1", "李雷", "Ωmega.2"])
def test_a_rater_may_have_letters_of_any_alphabet(study: tuple[Path, Path], name: str) -> None:
    with open_service(study[0]) as service:
        (made,) = service.invite("s", names=[name])
        assert made.rater == {"A\u0308rin": "Ärin"}.get(name, name)


@pytest.mark.parametrize("name", ["_x", "a b", "é" * 41, "-x", "a/b", ""])
def test_what_a_rater_cannot_be_called(study: tuple[Path, Path], name: str) -> None:
    with open_service(study[0]) as service, pytest.raises(StudyError, match="letters .of any alphabet., digits"):
        service.invite("s", names=[name])
