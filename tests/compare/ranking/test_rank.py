"""Votes into rankings: counts, rows, arenas and studies; nobody invented, no zero width, bad input in one line."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import choix
import numpy as np
import pytest
from scipy.optimize import minimize
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.ranking.rank import RankedVotes, rank_votes
from rushes.core.errors import InputError, RushesError
from rushes.instruments.preference.votes import Vote
from rushes.study.exchange.ratings_csv import read_ratings
from rushes.study.exchange.table import write_csv as write_votes

COUNTS = ("question", "prompt_id", "system_a", "system_b", "votes_a", "votes_b", "ties")
WORTH = {"amber": 0.8, "birch": 0.3, "cedar": -0.2, "dogwood": -0.9}


def write(path: Path, header: tuple[str, ...], rows: list[tuple[object, ...]]) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def counts(
    *, prompts: int = 8, votes: int = 15, questions: tuple[str, ...] = ("lip",), tie: float = 0.0
) -> list[tuple]:
    """Votes whose log odds are differences of `WORTH`, drawn from a fixed seed."""
    rng, rows = np.random.default_rng(7), []
    names = list(WORTH)
    for question in questions:
        for p in range(prompts):
            for i, a in enumerate(names):
                for b in names[i + 1 :]:
                    win = (1 - tie) / (1 + np.exp(WORTH[b] - WORTH[a]))
                    for_a, for_b, ties = rng.multinomial(votes, [win, 1 - tie - win, tie])
                    rows.append((question, f"p{p}", a, b, int(for_a), int(for_b), int(ties)))
    return rows


def as_rows(rows: list[tuple], *, rater: bool = False) -> list[tuple]:
    """The same votes one by one; with raters, the n-th vote on each pair and prompt is the n-th rater's."""
    found = []
    for question, prompt, a, b, *each in rows:
        winners = [w for w, n in zip(("system_a", "system_b", "tie"), each, strict=True) for _ in range(n)]
        found += [(question, prompt, a, b, w, *([f"r{k}"] if rater else [])) for k, w in enumerate(winners)]
    return found


def one_file(folder: Path, rows: list[tuple], header: tuple[str, ...] = COUNTS) -> RankedVotes:
    return rank_votes(write(folder / "votes.csv", header, rows))


def test_strengths_are_those_of_choix_and_of_a_search_of_our_own(tmp_path: Path) -> None:
    rows = counts()
    found = one_file(tmp_path, rows).of("lip")
    names = sorted(WORTH)
    pairs = [(names.index(a), names.index(b)) for _, _, a, b, n, _, _ in rows for _ in range(n)]
    pairs += [(names.index(b), names.index(a)) for _, _, a, b, _, n, _ in rows for _ in range(n)]
    theirs = choix.ilsr_pairwise(4, pairs, alpha=0, max_iter=1000, tol=1e-12)
    won = np.array(pairs)

    def loss(theta: np.ndarray) -> float:
        return float(np.logaddexp(0, theta[won[:, 1]] - theta[won[:, 0]]).sum() + theta.sum() ** 2)

    own = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    ours = [(float(found.elo[name].value or 0) - 1000) * np.log(10) / 400 for name in names]
    assert ours == pytest.approx(theirs - theirs.mean(), abs=1e-6)
    assert ours == pytest.approx(own, abs=1e-5)
    assert found.systems == ("amber", "birch", "cedar", "dogwood")


def test_counts_and_rows_without_raters_are_the_same_votes(tmp_path: Path) -> None:
    rows = counts(tie=0.2, questions=("lip", "head"))
    counted = one_file(tmp_path, rows)
    shuffled = as_rows(rows)
    np.random.default_rng(1).shuffle(shuffled)
    single = one_file(tmp_path, shuffled, ("question", "prompt_id", "system_a", "system_b", "winner"))
    for question in ("lip", "head"):
        one, other = ([m.as_dict() for m in found.of(question).measurements] for found in (single, counted))
        assert one == other
    assert counted.questions == ("lip", "head") and {q.raters for q in counted.rankings} == {None}
    assert "intervals cover other prompts, not other raters" in counted.of("lip").notes[0]
    elo = counted.of("lip").elo["amber"]
    assert "|clusters:prompt|" in elo.signature and "|rubric:none|" in elo.signature and elo.interval is not None
    assert elo.interval.method == "prompt-clustered"


def test_an_interval_over_prompts_is_that_of_the_prompts(tmp_path: Path) -> None:
    """Two systems: θ is the logit of the share, and its clustered error by hand; never below that of free votes."""
    won = [12, 3, 9, 14, 2, 10]
    rows = [("q", f"p{k}", "x", "y", n, 15 - n, 0) for k, n in enumerate(won)]
    elo = one_file(tmp_path, rows).of().elo["x"]
    p = sum(won) / 90
    sums = np.array(won) - 15 * p
    error = np.sqrt(6 / 5 * (sums**2).sum()) / (90 * p * (1 - p)) / 2  # θ_x is half the log odds
    half = 400 / np.log(10) * 2.570582 * error
    assert elo.interval is not None
    assert elo.interval.high - float(elo.value or 0) == pytest.approx(half, rel=1e-6)
    even = [("q", f"p{k}", "x", "y", 8, 7, 0) for k in range(6)]  # nothing varies: as of 90 independent votes, ± z
    steady = one_file(tmp_path, even).of().elo["x"].interval
    free = np.sqrt(1 / (90 * 8 / 15 * 7 / 15)) / 2 * 400 / np.log(10) * 1.959964
    assert steady is not None and (steady.high - steady.low) / 2 == pytest.approx(free, rel=1e-6)


def test_raters_who_are_known_count(tmp_path: Path) -> None:
    header = ("question", "prompt_id", "system_a", "system_b", "winner", "rater")
    found = one_file(tmp_path, as_rows(counts(), rater=True), header).of("lip")
    assert found.raters == 15 and "|clusters:rater+prompt|" in found.elo["amber"].signature and not found.notes
    one = [(*row[:5], "solo") for row in as_rows(counts(votes=1))]
    alone = one_file(tmp_path, one, header).of("lip")
    assert alone.raters == 1 and alone.notes[0].startswith("One rater: intervals cover other prompts")
    mixed = [(*row[:5], "" if k % 10 == 0 else row[5]) for k, row in enumerate(as_rows(counts(), rater=True))]
    some = one_file(tmp_path, mixed, header).of("lip")
    assert some.raters is None and some.notes[0] == "10% of the votes name no rater: raters are taken as unknown."


def test_seventy_five_of_seventy_five_has_a_width(tmp_path: Path) -> None:
    rows = [("head", f"p{k}", "x", "y", 15, 0, 0) for k in range(5)]
    rows += [("head", f"p{k}", "z", "y", 8, 7, 0) for k in range(5)]
    rows += [("head", f"p{k}", "x", "z", 9 + k % 2, 6 - k % 2, 0) for k in range(5)]
    found = one_file(tmp_path, rows).of()
    duel = found.duels["x", "y"]
    assert duel.exact == 1 and duel.share.value == 1.0 and duel.share.interval is not None
    # Wilson's with t(4) in place of z: n / (n + t²)
    assert duel.share.interval.low == pytest.approx(75 / (75 + 2.776445**2), abs=1e-6) and duel.share.interval.high == 1
    for number in found.measurements:
        if number.name != "bt_rank":
            assert number.interval is not None and number.interval.low < number.interval.high


def test_shares_are_exact_fractions(tmp_path: Path) -> None:
    rows = [("q", "p0", "x", "y", 1, 1, 1), ("q", "p1", "x", "y", 0, 1, 2), ("q", "p2", "x", "y", 3, 0, 0)]
    found = one_file(tmp_path, rows).of()
    assert found.exact == {"x": Fraction(11, 18), "y": Fraction(7, 18)}  # (4 + 3/2) / 9
    assert found.duels["y", "x"].exact == Fraction(7, 18)


def test_a_system_that_lost_everything_is_bounded_and_said(tmp_path: Path) -> None:
    rows = [row if row[3] != "dogwood" else (*row[:4], 15, 0, 0) for row in counts()]
    found = one_file(tmp_path, rows).of("lip")
    last = found.elo["dogwood"]
    assert any("dogwood never won a vote: its strength has no finite estimate" in note for note in found.notes)
    assert "|prior:normal precision 0.25|" in last.signature and last.interval is not None
    assert last.interval.high - last.interval.low > 300  # the prior bounds it, and no more
    ranks = found.rank["dogwood"].interval
    assert ranks is not None and (ranks.low, ranks.high) == (4, 4)
    plain = one_file(tmp_path, counts()).of("lip")
    assert "|prior:none|" in plain.elo["dogwood"].signature


def test_systems_that_never_met_are_ranked_apart(tmp_path: Path) -> None:
    rows = [("q", f"p{k}", a, b, 9 - k % 3, 6 + k % 3, 0) for k in range(5) for a, b in (("a", "b"), ("c", "d"))]
    found = one_file(tmp_path, rows)
    assert [set(one.systems) for one in found.rankings] == [{"a", "b"}, {"c", "d"}]
    assert found.remarks[0].startswith("q: no votes link {a, b} and {c, d}: each group is ranked on its own")
    assert found.rankings[0].elo["a"].value == pytest.approx(found.rankings[1].elo["c"].value)


def test_one_bad_question_does_not_hide_the_others(tmp_path: Path) -> None:
    rows = [*counts(), ("tone", "p0", "amber", "birch", 0, 0, 4)]
    found = one_file(tmp_path, rows)
    assert found.questions == ("lip",)
    assert found.remarks == (
        "tone: not ranked: every vote is a tie: no system is ahead and their strengths are undefined",
    )


@pytest.mark.parametrize(
    ("header", "rows", "message"),
    [
        (COUNTS, [], "expected votes; the file has none"),
        (COUNTS, [("q", "p", "x", "y", 0, 0, 0)], "no votes: every count is 0"),
        (COUNTS, [("q", "p", "x", "x", 1, 0, 0)], "line 2: expected two systems and a prompt_id; got 'x', 'x'"),
        (COUNTS, [("q", "p", "x", "y", 0, 0, 9)], "every vote is a tie"),
        (COUNTS, [("q", "p", "x", "y", -1, 3, 0)], "line 2: votes_a is a whole number of votes, 0 or more; got '-1'"),
        (COUNTS, [("q", "p", "x", "y", 1, 2.5, 0)], "line 2: votes_b is a whole number of votes, 0 or more; got '2.5'"),
        (COUNTS, [("q", "p", "x", "y", 1, "many", 0)], "votes_b is a whole number of votes"),
        (
            COUNTS,
            [("q", "p", "x", "y", 1, 2, 0), ("q", "p", "y", "x", 1, 2, 0)],
            "line 3: y and x on p are already on line 2",
        ),
        (("a", "b"), [(1, 2)], "expected system_a, system_b with votes_a, votes_b"),
        (
            ("speaker", "scene", "system_a", "system_b", "votes_a", "votes_b"),
            [("s", "t", "x", "y", 1, 2)],
            "which column is the prompt. Name it prompt_id; got speaker, scene",
        ),
        (("model_a", "model_b", "winner"), [("b", "c", "b")], "line 2: 'b' may be the side or the system of that name"),
        (("model_a", "model_b", "winner"), [("x", "y", "z")], "line 2: the winner is a, b, tie, x or y; got 'z'"),
    ],
)
def test_bad_votes_are_one_line(tmp_path: Path, header: tuple[str, ...], rows: list[tuple], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        one_file(tmp_path, rows, header)
    assert "\n" not in str(caught.value)


def test_one_prompt_and_no_prompt_and_one_vote(tmp_path: Path) -> None:
    rows = [("q", "p", "x", "y", 6, 3, 1)]
    one = one_file(tmp_path, rows).of()
    assert one.notes[0].startswith("There is one prompt and raters are unknown, so intervals take votes as independent")
    none = rank_votes(
        write(tmp_path / "v.csv", ("model_a", "model_b", "winner"), [("x", "y", "x")] * 3 + [("x", "y", "y")])
    )
    assert none.of().prompts is None and "|clusters:none|" in none.of().elo["x"].signature
    single = one_file(tmp_path, [("q", "p", "x", "y", 1, 0, 0)]).of()
    assert single.rank["x"].interval is not None and single.rank["x"].interval.high == 2


def test_votes_exports_and_databases_of_studies(tmp_path: Path) -> None:
    votes = [
        Vote(
            sample=f"s{k}",
            system_a="x",
            system_b="y",
            winner="a" if k % 3 else "b",
            rater=f"r{k % 4}",
            prompt=f"p{k % 7}",
        )
        for k in range(40)
    ]
    direct = rank_votes(votes)
    table = rank_votes(write_votes(tmp_path / "all.csv", votes))
    assert [m.as_dict() for m in direct.measurements] == [m.as_dict() for m in table.measurements]
    assert direct.of().raters == 4 and direct.of().prompts == 7
    families = rank_votes([replace(vote, family=f"T{k % 2}") for k, vote in enumerate(votes)], by="family")
    assert families.questions == ("T0", "T1")
    with pytest.raises(InputError, match="separated by family or not at all; got 'colour'"):
        rank_votes(votes, by="colour")
    with pytest.raises(InputError, match="there is no such file"):
        rank_votes(tmp_path / "none.db")
    (tmp_path / "bad.db").write_text("no database")
    with pytest.raises(RushesError):
        rank_votes(tmp_path / "bad.db")
    with pytest.raises(InputError, match="study needs a database"):
        rank_votes(tmp_path / "all.csv", study="x")


def test_a_study_in_a_database_ranks_as_its_report_does(tmp_path: Path) -> None:
    from rushes.study import StudyPlan, open_service
    from rushes.study.evaluate import measure_study

    votes = [
        Vote(
            sample=f"s{k}",
            system_a="x",
            system_b="y",
            winner="a" if k % 3 else "b",
            rater=f"r{k % 4}",
            prompt=f"p{k % 7}",
        )
        for k in range(40)
    ]
    service = open_service(tmp_path / "studies.db")
    service.create_study(StudyPlan(name="takes", title="Takes"))
    service.import_ratings("takes", votes)
    service.close()
    found = rank_votes(tmp_path / "studies.db").of()
    with open_service(tmp_path / "studies.db") as again:
        report = measure_study(again, "takes").measurements
    theirs = {m.place["system"]: m for m in report if m.name == "bt_elo" and "family" not in m.place}
    assert {name: (m.value, m.interval, m.signature) for name, m in found.elo.items()} == {
        name: (m.value, m.interval, m.signature) for name, m in theirs.items()
    }
    assert "|rubric:0.1-lenient|" in found.elo["x"].signature


def test_the_command_in_every_format(tmp_path: Path) -> None:
    path = write(tmp_path / "votes.csv", COUNTS, counts(questions=("lip", "head")))
    runner = CliRunner()
    text = runner.invoke(app, ["rank", str(path), "--by", "question"])
    assert text.exit_code == 0 and "lip: " in text.output and "720 votes on 8 prompts" in " ".join(text.output.split())
    assert "Head to head, row against column: head" in text.output and "not other raters" in text.output
    data = json.loads(runner.invoke(app, ["rank", str(path), "--json"]).stdout)
    assert [one["question"] for one in data["rankings"]] == ["lip", "head"] and data["rankings"][0]["raters"] is None
    assert data["definitions"] and data["rankings"][0]["numbers"][0]["signature"].startswith("bt_elo|")
    rows = list(csv.DictReader(runner.invoke(app, ["rank", str(path), "--format", "csv"]).stdout.splitlines()))
    assert {row["number"] for row in rows} == {"bt_elo", "bt_rank", "win_share", "head_to_head"}
    assert sum(row["exact"].count("/") for row in rows) == 2 * (4 + 12)
    out = tmp_path / "t.md"
    assert runner.invoke(app, ["rank", str(path), "--format", "markdown", "-o", str(out)]).stdout.strip() == str(out)
    assert out.read_text().startswith("| question | system | Elo¹ ↑ | ranks² | votes won³ ↑ | votes |")
    bad = runner.invoke(app, ["rank", str(path), "--by", "colour"])
    assert bad.exit_code == 1 and "no column 'colour' to separate questions by" in bad.stderr
    assert bad.stderr.count("\n") == 1


def test_every_footnote_of_the_latex_is_marked_at_a_head(tmp_path: Path) -> None:
    """lip is one-sided, so its strengths have a prior and a signature of their own; each question is named once."""
    even = [("look", f"p{n}", "amber", "birch", 3 + n % 2, 3, 0) for n in range(4)]
    path = write(tmp_path / "votes.csv", COUNTS, [("lip", f"p{n}", "amber", "birch", 9, 0, 0) for n in range(4)] + even)
    text = CliRunner().invoke(app, ["rank", str(path), "--format", "latex"]).stdout
    for table in text.split(r"\begin{table*}")[1:]:
        head = table.partition(r"\toprule")[2].partition(r"\midrule")[0]
        marked = {mark for marks in re.findall(r"\\textsuperscript\{([^}]*)\}", head) for mark in marks.split(", ")}
        below = re.findall(r"^\\textsuperscript\{(\d+)\}~", table, re.MULTILINE)
        assert below and marked == set(below)
    assert text.count("\nlip & ") == text.count("\nlook & ") == 1


def test_signatures_say_whether_raters_are_known(tmp_path: Path) -> None:
    counted = rank_votes(write(tmp_path / "counts.csv", COUNTS, counts()))
    assert all("|raters:unknown|" in m.signature for m in counted.measurements)
    header = ("question", "prompt_id", "system_a", "system_b", "winner", "rater")
    rows = [("lip", f"p{n}", "amber", "birch", "ab"[(n + r) % 3 == 0], f"r{r}") for n in range(5) for r in range(4)]
    named = rank_votes(write(tmp_path / "rows.csv", header, rows))
    assert all("|raters:people|" in m.signature for m in named.measurements)
    nobody = rank_votes(write(tmp_path / "nobody.csv", header, [(*row[:-1], "") for row in rows]))
    assert all("|raters:unknown|" in m.signature for m in nobody.measurements)


def test_the_table_is_the_core_table(tmp_path: Path) -> None:
    found = one_file(tmp_path, counts(questions=("lip", "head")))
    whole = found.table()
    assert (
        isinstance(whole, rushes.Table) and len(whole.rows) == 8 and whole.header[:3] == ("question", "system", "Elo ↑")
    )
    assert len(found.table(question="lip").rows) == 4 and len(found.table("head_to_head", question="lip").rows) == 4
    with pytest.raises(InputError, match="no question 'hat'; it has lip, head"):
        found.of("hat")


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_chart(tmp_path: Path, ending: str) -> None:
    pytest.importorskip("vl_convert")
    path = write(tmp_path / "votes.csv", COUNTS, counts())
    out = tmp_path / f"chart.{ending}"
    assert CliRunner().invoke(app, ["rank", str(path), "--chart", str(out)]).exit_code == 0
    assert out.read_bytes()[:5] in (b"<svg ", b"\x89PNG\r", b"%PDF-")
    assert CliRunner().invoke(app, ["rank", str(path), "--chart", str(tmp_path / "c.gif")]).exit_code == 1


LATEX = r"""\documentclass[%s]{article}
\usepackage[a4paper,margin=2cm]{geometry}\usepackage{booktabs}
\hbadness=10000\hfuzz=0.5pt
\begin{document}
%s
\end{document}
"""


@pytest.mark.parametrize("columns", ["", "twocolumn"])
def test_latex_fits_one_and_two_columns(tmp_path: Path, columns: str) -> None:
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    path = write(tmp_path / "votes.csv", COUNTS, counts(questions=("lip_sync", "head_motion")))
    made = CliRunner().invoke(app, ["rank", str(path), "--format", "latex"]).stdout
    (tmp_path / "p.tex").write_text(LATEX % (columns, made))
    done = subprocess.run(["pdflatex", "-halt-on-error", "p.tex"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout, [line for line in done.stdout.splitlines() if "Overfull" in line]


def test_a_study_says_where_counts_belong(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ranked by rushes rank"):
        read_ratings(write(tmp_path / "votes.csv", COUNTS, counts()))
