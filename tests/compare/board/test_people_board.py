"""What people said on a board: columns, tests, the headline; runs and tables are planted, clips are not needed."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import t
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.compare.board.board import board_as_data, board_page, write_board
from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import BoardData, Reading
from rushes.compare.board.page.columns import board_columns
from rushes.compare.board.page.people_words import MOST_WORDS
from rushes.compare.board.page.words import Opening, opening_of
from rushes.compare.definitions.ratings import CLIP_RATING
from rushes.compare.ranking.rank import rank_votes
from rushes.compare.readings.collect import collect_board
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.suite.draft import draft_suite
from rushes.suite.file import read_suite
from rushes.suite.folder import read_suite_folder, run_suite

from .board_made import board_data, reading
from .board_runs import CALM, clip_run

Table = Mapping[tuple[str, str], Sequence[Sequence[float]]]
"""By system and prompt: a row per rater, a column per question."""
NAMES = ("amber", "birch", "cedar")
STUDIES = (("bars", 40, False), ("none", 0, False), ("drawn", 40, True))
SCALE = """
[ratings]
file = "ratings.csv"
"""


def write_ratings(file: Path, table: Table, questions: Sequence[str] = ("look",)) -> None:
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["prompt_id", "system", "rater", *questions])
        for (system, prompt), by in table.items():
            rows.writerows([prompt, system, f"r{n}", *values] for n, values in enumerate(by))


def suite_of(home: Path, prompts: Sequence[str], *, names: Sequence[str] = NAMES, more: str = SCALE) -> Path:
    """A suite's folder of planted runs, whose one metric is the same for all."""
    lines = "\n".join(f'{name} = "runs/{name}"' for name in names)
    for name in names:
        if not (home / "runs" / name).exists():
            clip_run(home / "runs" / name, {prompt: {CALM: 0.5} for prompt in prompts}, system=name)
    (home / "suite.toml").write_text(f'name = "asked"\n[systems]\n{lines}\n{more}')
    return run_suite(home / "suite.toml", home / "out").path


def opened(data: BoardData) -> Opening:
    return opening_of(data, board_columns(data, judge_board(data)), level=0.95)


def planted(means: Mapping[str, Sequence[float]], prompts: int = 15) -> dict[tuple[str, str], list[list[float]]]:
    """Two raters; by system a mean per question, moved by a half from prompt to prompt."""
    half = (-0.5, 0.0, 0.5)
    return {
        (name, f"p{n}"): [[mean + half[(n + shift) % 3] for mean in row] for _ in range(2)]
        for shift, (name, row) in enumerate(means.items())
        for n in range(prompts)
    }


class TestColumns:
    def test_means_are_over_prompts_of_means_over_raters_on_shared_prompts(self, tmp_path: Path) -> None:
        """amber: p0 (4 + 5)/2 = 4.5, p1 2; birch: p0 3, p1 (1 + 2)/2 = 1.5; p2 is rated for amber alone.

        So amber (4.5 + 2)/2 = 3.25 and birch (3 + 1.5)/2 = 2.25, over p0 and p1.
        """
        table = {
            ("amber", "p0"): [[4], [5]],
            ("amber", "p1"): [[2]],
            ("amber", "p2"): [[1]],
            ("birch", "p0"): [[3]],
            ("birch", "p1"): [[1], [2]],
        }
        write_ratings(tmp_path / "ratings.csv", table)
        data = collect_board(suite_of(tmp_path, ("p0", "p1", "p2"), names=("amber", "birch")))
        first = data.readings[0]
        assert data.people == (first,) and first.label == "look" and data.asked
        means = [data.whole[name, first.key] for name in ("amber", "birch")]
        assert [m.value for m in means] == [3.25, 2.25] and [m.count for m in means] == [2, 2]
        assert means[0].signature == "rating_mean|over:shared-prompts|question:look|scale:1-5|v:1"
        assert means[0].note == "1 of 3 prompts left out: not every system was rated"
        ends = means[0].interval
        assert ends is not None and 1 <= ends.low < 3.25 < ends.high <= 5
        assert data.values["amber", first.key]["p0"].value == 4.5
        assert data.values["birch", first.key]["p2"].note == "nobody rated the clip of birch"

    def test_they_come_first_and_what_is_not_on_the_board_is_said(self, tmp_path: Path) -> None:
        table = planted({"amber": [4, 3], "birch": [2, 3], "stranger": [1, 1]}, prompts=3)
        table["amber", "elsewhere"] = [[1, 1]]
        write_ratings(tmp_path / "ratings.csv", table, ("temporal_quality", "alignment"))
        folder = suite_of(tmp_path, ("p0", "p1", "p2"))
        page = board_page(folder)
        assert [c.reading.label for c in page.columns][:2] == ["temporal quality", "alignment"]
        said = "\n".join(page.data.remarks)
        assert "systems that are not on this board: stranger" in said
        assert "1 rated clip is not on this board, such as elsewhere of amber" in said
        assert page.columns[0].cells[2].text == "–" and "nobody rated cedar" in page.columns[0].cells[2].title

    def test_counted_votes_are_columns_by_question(self, tmp_path: Path) -> None:
        """amber on p0: 9 of 10 against birch, 6 of 10 against cedar: 15 of 20; birch (1 + 5)/20, cedar (4 + 5)/20."""
        rows = ["question,scene,system_a,system_b,votes_a,votes_b"]
        for scene in ("p0", "p1"):
            rows += [f"lip,{scene},amber,birch,9,1", f"lip,{scene},cedar,amber,4,6", f"lip,{scene},birch,cedar,5,5"]
        (tmp_path / "votes.csv").write_text("\n".join(rows))
        data = collect_board(suite_of(tmp_path, ("p0", "p1"), more='[votes]\nfile = "votes.csv"\n'))
        (lip,) = data.people
        means = [data.whole[name, lip.key] for name in NAMES]
        assert [m.value for m in means] == [0.75, 0.3, 0.45]
        assert means[0].signature == "win_share_mean|over:shared-prompts|question:lip|v:2"

    @pytest.mark.parametrize("named", [False, True])
    def test_shares_of_votes_and_their_intervals_are_those_of_rank(self, tmp_path: Path, named: bool) -> None:
        """One function: also where prompts have unequal numbers of votes, and where a system won them all."""
        rows = ["question,prompt_id,system_a,system_b,winner,rater"]
        for prompt in range(5):
            for vote in range(4 + 3 * prompt):
                winner, rater = "ab"[(vote + prompt) % 3 == 0], f"r{vote % 4}" if named else ""
                rows += [f"lip,p{prompt},amber,birch,{winner},{rater}", f"lip,p{prompt},amber,cedar,a,{rater}"]
                rows += [f"lip,p{prompt},birch,cedar,{'a' if vote else 'tie'},{rater}"]
                rows += [f"look,p{prompt},{a},{b},a,{rater}" for a, b in itertools.combinations(NAMES, 2)]
        (tmp_path / "votes.csv").write_text("\n".join(rows))
        data = collect_board(suite_of(tmp_path, [f"p{n}" for n in range(5)], more='[votes]\nfile = "votes.csv"\n'))
        ranked = rank_votes(tmp_path / "votes.csv")
        for asked in data.people:
            theirs = ranked.of(str(asked.definition.param("question"))).share
            for name in NAMES:
                ours = data.whole[name, asked.key]
                assert ours.value == pytest.approx(theirs[name].value, abs=1e-12)
                assert ours.interval is not None and theirs[name].interval is not None
                assert ours.interval.low == pytest.approx(theirs[name].interval.low, abs=1e-9)
                assert ours.interval.high == pytest.approx(theirs[name].interval.high, abs=1e-9)
                assert ours.interval.method == theirs[name].interval.method
                assert ours.count == 5 and ours.interval.high - ours.interval.low > 0.01

    def test_equal_ratings_never_have_an_interval_without_width(self, tmp_path: Path) -> None:
        table = {(name, f"p{n}"): [[5], [5 - low]] for low, name in enumerate(("amber", "birch")) for n in range(4)}
        write_ratings(tmp_path / "ratings.csv", table)
        data = collect_board(suite_of(tmp_path, [f"p{n}" for n in range(4)], names=("amber", "birch")))
        amber = data.whole["amber", data.people[0].key]
        assert amber.value == 5 and amber.interval is not None
        assert amber.interval.low == pytest.approx(5 - 3.8415 / 5.8415, abs=1e-4) and amber.interval.high == 5

    @pytest.mark.parametrize("scale", ['"1-7"', '{look = "1-7"}'])
    def test_the_scale_of_ratings_is_not_that_of_votes(self, tmp_path: Path, scale: str) -> None:
        write_ratings(tmp_path / "ratings.csv", planted({"amber": [4], "birch": [2]}, prompts=2))
        votes = "question,scene,system_a,system_b,votes_a,votes_b\nlip,p0,amber,birch,9,1\nlip,p1,birch,amber,4,6\n"
        (tmp_path / "votes.csv").write_text(votes)
        both = f'{SCALE}scale = {scale}\n[votes]\nfile = "votes.csv"\n'
        data = collect_board(suite_of(tmp_path, ("p0", "p1"), names=("amber", "birch"), more=both))
        look, lip = (data.whole["amber", one.key] for one in data.people)
        assert look.definition.param("scale") == "1-7"
        assert lip.value == pytest.approx(0.75) and lip.definition.name == "win_share_mean"

    @pytest.mark.parametrize(
        ("scale", "why"),
        [
            ('scale = "1-3"', "a rating of look for p0 of amber is 3.5, outside its scale 1-3"),
            ('scale = "five"', "scale is its lowest and highest rating, as \"1-5\"; got 'five'"),
            ('scale = {lock = "1-5"}', "a scale is given for 'lock', which is not a question; there are look"),
        ],
    )
    def test_a_scale_that_cannot_be_is_one_line(self, tmp_path: Path, scale: str, why: str) -> None:
        write_ratings(tmp_path / "ratings.csv", planted({"amber": [4], "birch": [2]}, prompts=2))
        with pytest.raises(InputError) as error:
            collect_board(suite_of(tmp_path, ("p0", "p1"), names=("amber", "birch"), more=SCALE + scale + "\n"))
        assert why in str(error.value)

    def test_suite_init_finds_them_and_the_folder_keeps_path_and_digest(self, tmp_path: Path) -> None:
        for name in ("amber", "birch"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "p0.mp4").touch()
        write_ratings(tmp_path / "ratings.csv", planted({"amber": [4], "birch": [2]}, prompts=1))
        (tmp_path / "votes.csv").write_text("prompt_id,system_a,system_b,votes_a,votes_b\np0,amber,birch,3,1\n")
        made = draft_suite([tmp_path], tmp_path / "suite.toml")
        assert (made.ratings, made.votes) == (tmp_path / "ratings.csv", tmp_path / "votes.csv")
        assert 'file = "votes.csv"' in made.path.read_text()
        folder = suite_of(tmp_path, ("p0",), names=("amber", "birch"))
        file = tmp_path / "ratings.csv"
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        assert read_suite_folder(folder).digests == {str(file): digest}
        file.write_text(file.read_text().replace("3.5", "4.5"))
        assert any("changed since rushes suite run" in line for line in collect_board(folder).remarks)
        file.unlink()
        gone = collect_board(folder)
        assert any("is no longer where the suite found it" in line for line in gone.remarks)
        assert "Nobody was asked" not in str(opened(gone)) and opened(gone).headline.startswith("People were asked")

    def test_suite_init_takes_up_the_one_study_that_people_voted_in(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("amber", "birch"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "p0.mp4").touch()
        (tmp_path / "studies.db").touch()
        found = [{"name": name, "votes": votes, "simulated": made} for name, votes, made in STUDIES]
        monkeypatch.setattr("rushes.suite.draft.studies_in", lambda _: found)
        made = draft_suite([tmp_path], tmp_path / "suite.toml")
        assert made.study == (tmp_path / "studies.db", "bars") and not made.remarks
        (plan,) = [one for one in read_suite(made.path).instruments if one.instrument == "preference"]
        assert plan.settings["study"] == "bars"
        found[1]["votes"] = 3
        again = draft_suite([tmp_path], tmp_path / "suite.toml", overwrite=True)
        assert again.study is None and "several studies have votes (bars, none)" in again.remarks[0]


class TestHeadline:
    @pytest.mark.parametrize(
        ("means", "words"),
        [
            ({"amber": [4.5], "birch": [3], "cedar": [2]}, "Raters ranked amber first in look (4.50)."),
            (
                {"amber": [4.5, 2], "birch": [3, 4.5], "cedar": [2, 3]},
                "Raters ranked amber first in look (4.50), birch in text (4.50).",
            ),
            (
                {"amber": [4.5, 3], "birch": [3, 3], "cedar": [2, 3]},
                "Raters ranked amber first in look (4.50); no significant winner in text.",
            ),
        ],
    )
    def test_names_the_winner_by_question(self, tmp_path: Path, means: Mapping[str, list[float]], words: str) -> None:
        write_ratings(tmp_path / "ratings.csv", planted(means), ("look", "text")[: len(means["amber"])])
        folder = suite_of(tmp_path, [f"p{n}" for n in range(15)])
        assert opened(collect_board(folder)).headline == words

    def test_says_what_is_missing_and_how_many_prompts_that_is(self) -> None:
        """Differences alternate 1 and 0: mean ½, s ≈ ½. One test at 5 %: the sign-flip test has 2^(1 − 7) = .016 at 7
        wins of 14, but here only 4 of 8 prompts differ: 2^(1 − 4) = .125."""
        asked = replace(reading("look", label="look", better="higher"), instrument="preference")
        data = board_data(("amber", "birch"), (asked,), prompts=8)
        made = asked.definition
        rows = {"amber": [3.0] * 8, "birch": [3.0 + n % 2 for n in range(8)]}
        values = {
            (name, asked.key): {
                p.id: Measurement(definition=made, value=v, count=2) for p, v in zip(data.prompts, row, strict=True)
            }
            for name, row in rows.items()
        }
        whole = {key: replace(m, value=float(np.mean(rows[key[0]]))) for key, m in data.whole.items()}
        found = opened(replace(data, values=values, whole=whole))
        # t = ½ / (.5345/√n) must reach 1.96 + .84 = 2.8: n = 9 by the normal, 11 or 12 by Student's t
        start = "Raters ranked birch first in look (3.50); its lead over amber isn't significant"
        assert found.headline in {f"{start} (about {more} more prompts needed)." for more in (3, 4)}
        assert len(found.headline.split()) <= MOST_WORDS

    def test_systems_with_the_same_mean_are_called_equal(self) -> None:
        asked = replace(reading("look", label="look", better="higher"), instrument="preference")
        for means, words in (
            ((3.5, 3.5, 3.5), "Raters ranked amber, birch and cedar equal in look (3.50)."),
            ((3.5, 3.5, 2.0), "Raters ranked amber and birch equal first in look (3.50)."),
        ):
            data = board_data(("amber", "birch", "cedar"), (asked,), prompts=12)
            rows = {name: [m - 0.5, m + 0.5] * 6 for name, m in zip(data.names, means, strict=True)}
            values = {
                (name, asked.key): {
                    p.id: Measurement(definition=asked.definition, value=v, count=2)
                    for p, v in zip(data.prompts, row, strict=True)
                }
                for name, row in rows.items()
            }
            whole = {key: replace(m, value=float(np.mean(rows[key[0]]))) for key, m in data.whole.items()}
            assert opened(replace(data, values=values, whole=whole)).headline == words

    def test_a_declared_reference_is_named_and_does_not_compete(self, tmp_path: Path) -> None:
        write_ratings(tmp_path / "ratings.csv", planted({"real": [4.5], "amber": [3.5], "birch": [2]}))
        folder = suite_of(tmp_path, [f"p{n}" for n in range(15)], names=("real", "amber", "birch"))
        data = collect_board(folder)
        assert opened(data).headline == "Raters ranked real first in look (4.50)."  # nobody declared it
        assert opened(replace(data, reference="real")).headline == (
            "Raters ranked amber first in look (3.50) among generated systems."
        )

    def test_nobody_was_asked_only_where_it_is_true(self, tmp_path: Path) -> None:
        folder = suite_of(tmp_path, ("p0", "p1"), more="")
        assert "Nobody rated these clips" in str(opened(collect_board(folder)))

    def test_every_form_says_the_same_first(self, tmp_path: Path) -> None:
        write_ratings(tmp_path / "ratings.csv", planted({"amber": [4.5], "birch": [3], "cedar": [2]}))
        folder = suite_of(tmp_path, [f"p{n}" for n in range(15)])
        head = "Raters ranked amber first in look (4.50)."
        done = CliRunner().invoke(app, ["board", str(folder), "-o", str(tmp_path / "board.html"), "--strips", "0"])
        assert done.exit_code == 0 and done.stdout.splitlines()[0] == head and len(done.stdout.splitlines()) <= 12
        html = (tmp_path / "board.html").read_text()
        sourced = '<span title="rating_mean|over:shared-prompts|question:look|scale:1-5|v:1">4.50</span>'
        assert f">Raters ranked amber first in look ({sourced}).</p>" in html and "Nobody rated these" not in html
        assert html.index('class="headline"') < html.index('class="forests"') < html.index('class="board-table')
        assert "Significant: amber over every other system; birch over cedar." in html
        for name, start in (("board.md", f"# Board: 3 systems over 15 prompts\n\n**{head}**"), ("board.tex", "")):
            write_board(folder, tmp_path / name)
            text = (tmp_path / name).read_text()
            assert text.startswith(start) and "rating\\_mean" in text.replace("`rating_mean", "rating\\_mean")
        page = board_page(folder)
        told = board_as_data(page.data, page.verdicts, opening=page.opening)
        assert told["headline"] == head and json.loads(json.dumps(told))["readings"][0]["label"] == "look"


class TestFamilies:
    def test_many_metrics_do_not_hide_what_people_said(self) -> None:
        """12 wins of 12 have p = 2^(1 − 12) = .00049. Three pairs and .8 of the error: .0018. In one family with 40
        metrics it would be 123 · .00049 = .060 and say nothing. All of people's pairs are significant, so metrics have
        the whole error: 120 · .00049 = .059."""
        question = replace(reading("look", better="higher"), instrument="preference")
        data = board_data(NAMES, (question, *(reading(f"m{n}", better="higher") for n in range(40))), prompts=12)
        judged = judge_board(data)  # board_data: each system is one above the one before, on every prompt
        assert judged[question.key].ranks == {"amber": (3, 3), "birch": (2, 2), "cedar": (1, 1)}
        p = judged[question.key].contrasts[0].adjusted_p
        assert p.value == pytest.approx(3 * 2**-11 / 0.8) and "share:0.8" in p.signature and "tests:3" in p.signature
        other = judged[data.readings[1].key].contrasts[0].adjusted_p
        assert other.value == pytest.approx(120 * 2**-11) and "share:0.2|" in other.signature
        alone = judge_board(data, readings=[question.key])[question.key].contrasts[0].adjusted_p
        assert alone.value == pytest.approx(3 * 2**-11) and "share" not in alone.signature

    def test_equal_systems_are_told_apart_in_at_most_one_board_of_twenty(self) -> None:
        """150 boards of 4 equal systems, 12 prompts, 3 raters with habits of their own, 2 questions and 2 metrics."""
        wrong = {"people": 0, "any": 0}
        for seed in range(150):
            data = _equal(seed)
            told = {key for key, one in judge_board(data).items() for c in one.contrasts if c.outcome.is_change}
            wrong["people"] += any(one.key in told for one in data.people)
            wrong["any"] += bool(told)
        assert wrong["people"] <= 150 * 0.05 and wrong["any"] <= 150 * 0.05
        assert any(c.outcome.is_change for one in judge_board(_equal(0, ahead=1.5)).values() for c in one.contrasts)


def _equal(seed: int, *, ahead: float = 0.0) -> BoardData:
    """Ratings 1 to 5 of systems that do not differ, but for the first by `ahead`; metrics beside them."""
    rng = np.random.default_rng(seed)
    questions = [
        Reading(
            definition=CLIP_RATING.with_params(question=name, scale="1-5"),
            label=name,
            instrument="preference",
            per_prompt=True,
        )
        for name in ("look", "text")
    ]
    metrics = [reading(name, better="higher") for name in ("m0", "m1")]
    data = board_data(("amber", "birch", "cedar", "dahlia"), (*questions, *metrics), prompts=12)
    prompt, rater = rng.normal(0, 0.7, (12, 1)), rng.normal(0, 0.5, (1, 3))
    values: dict[tuple[str, str], dict[str, Measurement]] = {}
    for name in data.names:
        for one in data.readings:
            drawn = (
                9 * (one not in questions)
                + 3
                + prompt
                + rater
                + rng.normal(0, 0.8, (12, 3))
                + ahead * (name == "amber")
            )
            rated = np.clip(np.rint(drawn), 1, 5) if one in questions else drawn
            values[name, one.key] = {
                p.id: Measurement(definition=one.definition, value=float(row.mean()), count=3)
                for p, row in zip(data.prompts, rated, strict=True)
            }
    return replace(data, values=values)


def test_fetv_as_its_raters_have_it(shared: Path, tmp_path: Path) -> None:
    """Means of every question equal numpy's on ratings.csv; the headline is true by the ratings."""
    file = shared / "suites" / "fetv" / "ratings.csv"
    rows = list(csv.DictReader(file.read_text().splitlines()))
    names = ("cogvideo", "modelscope", "text2video-zero", "zeroscope", "ground-truth")
    prompts = sorted({row["prompt_id"] for row in rows})
    folder = suite_of(tmp_path, prompts, names=names, more=f'[ratings]\nfile = "{file}"\n')
    data = collect_board(folder)
    assert [one.label for one in data.people] == ["static quality", "temporal quality", "alignment"]
    for one in data.people:
        question = str(one.definition.param("question"))
        for name in names:
            ours = np.mean([float(row[question]) for row in rows if row["system"] == name])  # 17 × 3, balanced
            assert data.whole[name, one.key].value == pytest.approx(ours, abs=1e-12)
            ends = data.whole[name, one.key].interval
            assert ends is not None and 1 <= ends.low < ours < ends.high <= 5
    temporal = [round(float(data.whole[name, data.people[1].key].value or 0), 2) for name in names]
    assert temporal == [3.43, 4.1, 1.94, 3.82, 4.88]
    said = opened(replace(data, reference="ground-truth")).headline
    assert said == (
        "Raters ranked modelscope first in temporal quality (4.10) among generated systems; its lead over zeroscope "
        "isn't significant (about 60 more prompts needed)."
    )
    assert len(said.split()) <= MOST_WORDS


def test_fetv_intervals_and_letters_by_other_code(shared: Path, tmp_path: Path) -> None:
    """Two-way clustered intervals and every pair's p, from the table alone.

    Interval: V = V_rater + V_prompt − V_both of the mean's residuals / n, each times G/(G − 1), no less than either of
    the first two; t with min(3, 17) − 1 degrees of freedom. p: all 2^17 patterns of signs; Holm over 30 pairs by
    statsmodels' rule, written out.
    """
    file = shared / "suites" / "fetv" / "ratings.csv"
    rows = list(csv.DictReader(file.read_text().splitlines()))
    names = ("cogvideo", "modelscope", "text2video-zero", "zeroscope", "ground-truth")
    prompts, raters = (sorted({row[key] for row in rows}) for key in ("prompt_id", "rater"))
    data = collect_board(suite_of(tmp_path, prompts, names=names, more=f'[ratings]\nfile = "{file}"\n'))
    judged, signs = judge_board(data), 1 - 2 * (np.arange(2**17)[:, None] >> np.arange(17) & 1)
    chances: dict[tuple[str, str, str], float] = {}
    for one in data.people:
        question = str(one.definition.param("question"))
        given = {(r["system"], r["prompt_id"], r["rater"]): float(r[question]) for r in rows}
        table = {s: np.array([[given[s, p, r] for r in raters] for p in prompts]) for s in names}
        for name, found in table.items():
            left = (found - found.mean()) / found.size
            ways = [(left.sum(axis=0), 3), (left.sum(axis=1), 17), (left.ravel(), 51)]
            of_rater, of_prompt, both = (float(np.sum(s**2)) * g / (g - 1) for s, g in ways)
            half = t.ppf(0.975, 2) * np.sqrt(max(of_rater + of_prompt - both, of_rater, of_prompt))
            ends = data.whole[name, one.key].interval
            assert ends is not None
            assert ends.low == pytest.approx(max(found.mean() - half, 1.0))
            assert ends.high == pytest.approx(min(found.mean() + half, 5.0))
        for c in judged[one.key].contrasts:
            change = table[c.second].mean(axis=1) - table[c.first].mean(axis=1)
            sums = np.abs(signs @ change)
            chances[question, c.first, c.second] = float(np.mean(sums >= abs(change.sum()) - 1e-9))
    order, highest, ours = sorted(chances, key=chances.__getitem__), 0.0, {}
    for done, key in enumerate(order):
        ours[key] = highest = max(highest, min(1.0, (len(order) - done) * chances[key]))
    for one in data.people:
        for c in judged[one.key].contrasts:
            key = (str(one.definition.param("question")), c.first, c.second)
            assert c.adjusted_p.value == pytest.approx(ours[key], rel=1e-6)


def test_adth_votes_by_question(shared: Path, tmp_path: Path) -> None:
    file = shared / "suites" / "adth" / "votes.csv"
    rows = list(csv.DictReader(file.read_text().splitlines()))
    names = sorted({row[side] for row in rows for side in ("system_a", "system_b")})
    prompts = sorted({row["speaker"] for row in rows})
    data = collect_board(suite_of(tmp_path, prompts, names=names, more=f'[votes]\nfile = "{file}"\n'))
    assert [one.label for one in data.people] == list(dict.fromkeys(row["question"] for row in rows))
    for one in data.people:
        mine = [row for row in rows if row["question"] == one.label]
        for name in names:
            won = sum(int(row[f"votes_{side}"]) for row in mine for side in "ab" if row[f"system_{side}"] == name)
            asked = sum(int(row["votes_a"]) + int(row["votes_b"]) for row in mine if name in row.values())
            assert data.whole[name, one.key].value == pytest.approx(won / asked)  # as many votes on every prompt
