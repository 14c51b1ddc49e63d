"""`rushes study` as a user meets it: from two runs to the ranking, and what bad input does."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from rushes.cli.main import app
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.media import write_clip
from rushes.storage.runs import read_run
from rushes.study import PlayEvent, StudyService, VoteForm, open_service


def rushes(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def done(*arguments: object) -> Result:
    result = rushes(*arguments)
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Runs of `rushes clip` over the takes of two systems; beta's takes flicker."""
    folder = tmp_path_factory.mktemp("systems")
    found = []
    for system, flicker in (("alpha", 0), ("beta", 60)):
        (folder / "takes" / system).mkdir(parents=True)
        for number, family in enumerate(("T1", "T1", "T2", "T2")):
            frames = [np.full((48, 64), 90 + number + flicker * (n % 2), np.uint8) for n in range(10)]
            write_clip(folder / "takes" / system / f"{family}_p{number:02d}.mp4", frames)
        evaluate_clips([str(folder / "takes" / system)], run=folder / system, jobs=1)
        found.append(folder / system)
    return found


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "studies.db"


class Clock:
    now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


def vote_all(db: Path, links: dict[str, str], prefer: dict[str, str]) -> None:
    """Raters who always prefer one system go through the whole study."""
    clock = Clock()
    with open_service(db, clock=clock) as service:
        for rater, link in links.items():
            session = service.accept_invite(link.rsplit("/", 1)[1]).token
            service.give_consent(session)
            task = service.training_task(session)
            while task is not None:
                _judge(service, clock, session, task, prefer[rater])
                task = service.next_task(session)


def _judge(service: StudyService, clock: Clock, session: str, task, prefer: str) -> None:
    service.load_clips(session, task)
    clock.now += 2 * task.a.duration_ms
    plays = [
        PlayEvent(side=side, start_ms=0, end_ms=task.a.duration_ms, sequence=n) for n in (1, 2) for side in ("A", "B")
    ]
    service.record_play(session, task.assignment, plays)
    ratings = {name: 3 for name in task.dimensions}
    source = service.media(task.a.token).source
    left = source.endswith("/steady.mp4") if task.training else f"/{prefer}/" in source
    form = VoteForm(
        winner="A" if left else "B", primary_tag="Flicker / temporal jitter", ratings_a=ratings, ratings_b=ratings
    )
    service.submit_vote(session, task.assignment, form, key="k")


@pytest.fixture
def voted(db: Path, runs: list[Path]) -> Path:
    """A study of two runs: two raters prefer alpha, one beta."""
    done("study", "create", "takes", *runs, "--db", db, "--repeat-every", 0, "--gold-every", 0)
    links = json.loads(done("study", "invite", "takes", 3, "--db", db, "--json").stdout)["links"]
    vote_all(db, links, {"rater_01": "alpha", "rater_02": "beta", "rater_03": "alpha"})
    return db


def test_create_says_what_comes_next(db, runs):
    result = done("study", "create", "takes", *runs, "--db", db, "--max-gold-errors", 1)
    assert "Exclusion rule: gold_errors>1" in result.stdout
    assert "rushes study invite takes" in result.stdout and result.stdout.splitlines()[-1] == str(db)


def test_create_leaves_nothing_behind_when_a_source_is_bad(db, runs, tmp_path):
    result = rushes("study", "create", "takes", runs[0], "--db", db)
    assert result.exit_code == 1 and "two or more runs" in result.stderr
    done("study", "create", "takes", *runs, "--db", db)


def test_invitations_are_links_that_work_once(db, runs):
    done("study", "create", "takes", *runs, "--db", db)
    result = done("study", "invite", "takes", "2", "--db", db, "--url", "https://s.example/")
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert [code for code, _ in lines] == ["rater_01", "rater_02"]
    assert all(link.startswith("https://s.example/i/") for _, link in lines)
    again = json.loads(done("study", "invite", "takes", "--again", "rater_01", "--db", db, "--json").stdout)
    assert again["links"]["rater_01"] != lines[0][1]
    named = json.loads(done("study", "invite", "takes", "--name", "ann", "--db", db, "--json").stdout)
    assert list(named["links"]) == ["ann"]


def test_status_tables_and_json(voted):
    result = done("study", "status", "takes", "--db", voted)
    assert "T1 multi-constraint adherence" in result.stdout and "rater_03" in result.stdout
    facts = json.loads(done("study", "status", "takes", "--db", voted, "--json").stdout)
    assert facts["summary"]["votes"] == 12
    assert [f["agreement"] for f in facts["families"]] == [0.0, 0.0]  # the first two raters of each disagree
    listed = json.loads(done("study", "status", "--db", voted, "--json").stdout)
    assert [one["name"] for one in listed] == ["takes"]
    assert "takes" in done("study", "status", "--db", voted).stdout


def test_report_ranks_and_writes_a_run_with_the_same_bytes(voted, tmp_path):
    result = done("study", "report", "takes", "-o", tmp_path / "run", "--db", voted)
    assert "12 votes of 3 raters on 4 pairs" in result.stdout
    assert result.stdout.splitlines()[-1] == str(tmp_path / "run")
    assert result.stdout.index("alpha") < result.stdout.index("beta")
    assert "JOD" in result.stdout, "as the results page has it"
    run = read_run(tmp_path / "run")
    assert run.instrument == "preference" and run.subjects[0].kind == "study"
    assert run.subjects[0].facts["systems"] == ["alpha", "beta"]
    names = {m.definition.name for m in run.measurements["takes"]}
    assert {"bt_elo", "percent_agreement", "krippendorff_alpha", "gwet_ac1", "win_share"} <= names
    before = [(tmp_path / "run" / name).read_bytes() for name in ("subjects.jsonl", "measurements.jsonl")]
    done("study", "report", "takes", "-o", tmp_path / "run", "--db", voted)
    assert before == [(tmp_path / "run" / name).read_bytes() for name in ("subjects.jsonl", "measurements.jsonl")]
    data = json.loads(done("study", "report", "takes", "-o", tmp_path / "run", "--db", voted, "--json").stdout)
    assert data["study"]["id"] == "takes" and len(data["measurements"]) == len(run.measurements["takes"])


def test_a_study_without_votes_says_that_there_is_no_ranking(db, runs, tmp_path):
    done("study", "create", "takes", *runs, "--db", db)
    result = done("study", "report", "takes", "-o", tmp_path / "run", "--db", db)
    assert "No ranking: no votes yet" in result.stdout


def test_adjudication_from_the_command_line(voted):
    result = done("study", "adjudicate", "takes", "--db", voted)
    assert "To adjudicate" in result.stdout
    refused = rushes("study", "adjudicate", "takes", "T1_p00", "--winner", "gamma", "--db", voted)
    assert refused.exit_code == 1 and "alpha, beta, Tie" in refused.stderr
    assert rushes("study", "adjudicate", "takes", "T1_p00", "--db", voted).exit_code == 2
    tag = "Flicker / temporal jitter"
    made = done("study", "adjudicate", "takes", "T1_p00", "--winner", "beta", "--tag", tag, "--db", voted, "--json")
    assert json.loads(made.stdout)["winner"] == "beta"
    with open_service(voted) as service:
        assert service.votes("takes", adjudicated=True)[-1].winning_system == "beta"


@pytest.mark.parametrize("form", ["ratings", "csv", "parquet", "arena", "pwcmp", "dpo"])
def test_exports(voted, tmp_path, form):
    target = tmp_path / f"votes.{form}"
    result = done("study", "export", "takes", "--format", form, "-o", target, "--db", voted)
    assert result.stdout.splitlines()[-1] == str(target) and target.stat().st_size > 0
    if form == "ratings":
        with open(target, newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 12 and {row["winner"] for row in rows} == {"A", "B"}
    if form == "dpo":
        pairs = [json.loads(line) for line in target.read_text().splitlines()]
        assert len(pairs) == 4 and all("/alpha/" in pair["chosen"] for pair in pairs)


def test_validity_joins_votes_and_metrics(voted, runs, tmp_path):
    out = tmp_path / "validity"
    result = done("study", "validity", "takes", "--run", runs[0], "--run", runs[1], "-o", out, "--db", voted)
    assert "flicker_score" in result.stdout and result.stdout.splitlines()[-1] == str(out)
    found = read_run(out).select("metric_picks_winner", metric="flicker_score", ties="drop")
    # Beta flickers; 8 of 12 votes are for alpha, which flicker_score prefers every time.
    assert [m.value for m in found] == [pytest.approx(8 / 12)] * len(found) != []
    other = rushes("study", "validity", "takes", "--run", tmp_path / "none", "-o", out, "--db", voted)
    assert other.exit_code == 1 and "run directory" in other.stderr


def test_ratings_go_out_and_come_back(voted, runs, tmp_path):
    ratings, db = tmp_path / "ratings.csv", tmp_path / "other.db"
    done("study", "export", "takes", "--format", "ratings", "-o", ratings, "--db", voted)
    done("study", "create", "again", "--db", db)
    result = done("study", "import", "again", "--ratings", ratings, "--db", db)
    assert "4 samples and 12 votes added" in result.stdout
    with open_service(voted) as one, open_service(db) as other:
        before, after = one.votes("takes"), other.votes("again")
    assert [(v.sample, v.rater, v.winning_system) for v in before] == [
        (v.sample, v.rater, v.winning_system) for v in after
    ]


def test_the_seed_projects_dry_run_holds_no_votes_yet(shared, db):
    done("study", "create", "dry", "--db", db)
    result = rushes("study", "import", "dry", "--ratings", shared / "golden" / "ratings_example.csv", "--db", db)
    assert result.exit_code == 1 and "no filled-in vote" in result.stderr


def test_exclusions(db, runs):
    done("study", "create", "takes", *runs, "--db", db, "--max-side-bias", 0.4)
    assert "nobody else excluded" in done("study", "exclude", "takes", "--db", db).stdout
    missing = rushes("study", "exclude", "takes", "--restore", "rater_09", "--db", db)
    assert missing.exit_code == 1 and "no rater 'rater_09'" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["study", "status", "nope"], 1, "no study is called 'nope'"),
        (["study", "create", "Bad Name"], 1, "lower-case"),
        (["study", "create", "x", "none.csv"], 1, "none.csv: expected a CSV file"),
        (["study", "import", "takes"], 2, "give runs or a CSV"),
        (["study", "export", "takes", "-o", "x", "--format", "xml"], 2, "expected csv"),
        (["study", "report", "takes", "-o", "x", "--ties", "coin"], 2, "not one of 'davidson'"),
    ],
)
def test_bad_input_is_one_line(arguments, code, words, db):
    with open_service(db):
        pass
    result = rushes(*arguments, "--db", db)
    assert result.exit_code == code
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.output


def test_a_database_that_is_none(tmp_path):
    (tmp_path / "text.db").write_text("no database at all, only a line of text")
    result = rushes("study", "status", "--db", tmp_path / "text.db")
    assert result.exit_code == 1 and result.stderr.count("\n") == 1


def test_asking_for_a_study_makes_no_database(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (["status", "fetv"], ["report", "fetv", "-o", "x.html"], ["export", "fetv", "-o", "x"]):
        result = rushes("study", *words)
        assert result.exit_code == 1 and result.stderr.count("\n") == 1
        assert "studies.db: no such database" in result.stderr and not any(tmp_path.iterdir())
