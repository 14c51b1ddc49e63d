"""Which metric to believe: planted agreement comes out, bad input is one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.compare.agreement.rated import definition, write_csv, write_run
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.compare.agreement.human_scores import HumanScores, read_human_scores
from rushes.compare.agreement.metric_agreement import believe
from rushes.compare.agreement.metric_scores import MeasuredClips, MetricScores
from rushes.compare.agreement.statistics import RatedClips
from rushes.compare.agreement.tables import as_data, sentences
from rushes.compare.board.model import BoardClip, BoardData, Reading, System
from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.words.number_text import number_text
from rushes.instruments.preference.votes import Vote
from rushes.study.exchange.table import write_csv as write_votes
from rushes.suite.prompts import Prompt

RATED = ("prompt_id", "system", "rater", "quality")
PROMPTS = tuple(f"p{n}" for n in range(8))
WORTH = {"amber": 0.0, "birch": 1.0, "cedar": 2.0}


def ratings_file(folder: Path, *, systems: tuple[str, ...] = tuple(WORTH)) -> Path:
    """Two raters who put cedar before birch before amber on every prompt but one, where the second sees two alike."""
    rows: list[tuple[object, ...]] = []
    for n, prompt in enumerate(PROMPTS):
        for system in systems:
            worth = int(WORTH.get(system, 0)) + 2
            rows.append((prompt, system, "r0", worth))
            rows.append((prompt, system, "r1", min(worth, 3) if n == 0 else worth))
    return write_csv(folder / "ratings.csv", RATED, rows)


def runs(folder: Path) -> list[Path]:
    """`good` follows the systems, `turned` is lower where better, `constant` says nothing, `noise` is chance."""
    rng = np.random.default_rng(5)
    found = []
    for system, worth in WORTH.items():
        values = {
            "good": {p: worth + 0.1 * n for n, p in enumerate(PROMPTS)},
            "turned": {p: -worth - 0.1 * n for n, p in enumerate(PROMPTS)},
            "constant": dict.fromkeys(PROMPTS, 1.0),
            "noise": {p: float(rng.normal()) for p in PROMPTS},
        }
        found.append(write_run(folder / system, values, better={"turned": "lower"}))
    return found


def test_planted_agreement_comes_out(tmp_path: Path) -> None:
    found = believe(runs(tmp_path), ratings_file(tmp_path))
    by_name = {one.metric.definition.name: one for one in found.of("quality")}
    assert {name: one.verdict for name, one in by_name.items()} == {
        "good": "agrees",
        "turned": "agrees",
        "constant": "inconclusive",
        "noise": "inconclusive",
    }
    assert by_name["constant"].why == "the metric has one value on all clips"
    good = by_name["good"].numbers
    # Means order every pair: 3 on each of 8 prompts, p0 too (cedar 3.5, birch 3, amber 2).
    assert good["within-prompt", "kendall_tau_b"].value == 1.0
    assert good["within-prompt", "pairwise_accuracy"].value == 1.0
    assert good["system", "spearman"].value == 1.0
    assert good["clip", "kendall_tau_b"].count == 24
    assert good["within-prompt", "kendall_tau_b"].place == {"metric": "good", "dimension": "quality"}
    signature = good["within-prompt", "kendall_tau_b"].signature
    assert "of:good;v:1" in signature and "interval:jackknife-prompt-rater,groups50" in signature
    assert "turned:lower-is-better" in by_name["turned"].numbers["clip", "pearson"].signature
    # each rater against the other: r1 leaves birch and cedar of p0 equal. r0 as the metric is right about all that r1
    # orders (23 of 23); r1 as the metric leaves one of 24 equal: 23.5 / 24
    ceiling = found.ceilings["quality", "within-prompt", "pairwise_accuracy"]
    assert ceiling.value == pytest.approx((1 + 23.5 / 24) / 2)
    assert sentences(found) == [
        "quality: good, turned agree with people; noise is inconclusive. 8 prompts cannot show that a metric has no "
        "relation: at least 42 are needed."
    ]


def test_a_perfect_metric_that_never_moves_is_not_thrown_away() -> None:
    """No leave-out moves a τ of 1, so there is no interval: that is inconclusive, and the note says so."""
    keys = [(s, p) for p in PROMPTS for s in WORTH]
    per_clip = {key: WORTH[key[0]] for key in keys}
    people = {key: {"r0": WORTH[key[0]], "r1": WORTH[key[0]]} for key in keys}
    metric = MetricScores(definition=definition("m"), at=(), per_clip=per_clip)
    humans = HumanScores(source="x", kind="mean-rating", scores={"q": people})
    (one,) = believe(MeasuredClips(metrics=(metric,)), humans).believed
    number = one.numbers["within-prompt", "kendall_tau_b"]
    assert number.value == 1.0 and number.interval is None and "there is no spread to estimate" in number.note
    assert one.verdict == "inconclusive" and "spread" in one.why


def test_one_value_per_system_is_no_evidence_however_many_clips(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    keys = [(s, f"p{n}") for n in range(40) for s in WORTH]
    length = MetricScores(definition=definition("hue"), at=(), per_clip={key: WORTH[key[0]] for key in keys})
    people = {key: {r: WORTH[key[0]] + rng.normal() for r in ("r0", "r1", "r2")} for key in keys}
    humans = HumanScores(source="x", kind="mean-rating", scores={"q": people})
    (one,) = believe(MeasuredClips(metrics=(length,)), humans).believed
    interval = one.numbers["within-prompt", "kendall_tau_b"].interval
    assert interval is not None and interval.low > 0
    assert (one.verdict, one.why) == ("inconclusive", "one number per system, and systems are few")


def test_the_same_input_gives_the_same_numbers_in_any_order(tmp_path: Path) -> None:
    places, ratings = runs(tmp_path), ratings_file(tmp_path)
    one, other = (believe(order, ratings) for order in (places, places[::-1]))
    assert {str(m) for b in one.believed for m in b.numbers.values()} == {
        str(m) for b in other.believed for m in b.numbers.values()
    }


def test_a_board_and_its_readings_of_whole_systems(tmp_path: Path) -> None:
    per_clip = Reading(definition=definition("good"), label="good", instrument="clip", per_prompt=True)
    whole = Reading(definition=definition("far", "lower"), label="far", instrument="distribution", per_prompt=False)
    number = lambda d, v: Measurement(definition=d, value=v, count=1)  # noqa: E731
    rng = np.random.default_rng(0)
    data = BoardData(
        systems=tuple(System(name=name, runs=()) for name in WORTH),
        prompts=tuple(Prompt(id=prompt) for prompt in PROMPTS),
        readings=(per_clip, whole),
        values={
            (s, per_clip.key): {p: number(per_clip.definition, w + 0.2 * rng.normal()) for p in PROMPTS}
            for s, w in WORTH.items()
        },
        whole={(s, whole.key): number(whole.definition, 100 - w) for s, w in WORTH.items()},
        clips={(s, p): BoardClip(path=f"{s}/{p}.mp4", run=0, subject=p) for s in WORTH for p in PROMPTS},
    )
    found = believe(data, ratings_file(tmp_path))
    far = next(one for one in found.believed if one.metric.definition.name == "far")
    assert set(far.numbers) == {("system", s) for s in far.numbers and [k[1] for k in far.numbers]}
    assert far.numbers["system", "kendall_tau_b"].value == 1.0  # lower is better, and people agree
    assert far.verdict == "inconclusive" and far.clips == 0
    # a table of means that names clips by their paths finds them too
    rows = [(f"{s}/{p}.mp4", WORTH[s] + 0.1 * n) for s in WORTH for n, p in enumerate(PROMPTS)]
    means = believe(data, write_csv(tmp_path / "mos.csv", ("clip", "mos"), rows))
    assert means.ceilings["mos", "clip", "spearman"].note == "single raters are not known"
    assert "interval:jackknife-prompt," in means.believed[0].numbers["clip", "spearman"].signature
    with pytest.raises(InputError, match="p0 is a clip of 3 systems"):
        believe(data, write_csv(tmp_path / "mos.csv", ("clip", "mos"), [("p0", 3)]))


def test_one_run_over_the_folders_of_all_systems(tmp_path: Path) -> None:
    values = {"good": {f"{s}__{p}": w + 0.1 * n for s, w in WORTH.items() for n, p in enumerate(PROMPTS)}}
    found = believe(write_run(tmp_path / "all", values), ratings_file(tmp_path))
    assert found.believed[0].clips == 24


def test_missing_ratings_and_values_are_left_out_and_said(tmp_path: Path) -> None:
    places = runs(tmp_path)
    path = ratings_file(tmp_path)
    lines = path.read_text().splitlines()
    lines = [line for line in lines if not line.startswith("p5,amber")] + ["p9,amber,r0,3", "p0,zinnia,r0,3"]
    path.write_text("\n".join(lines) + "\np0,amber,r7,\n")
    found = believe(places, path)
    assert found.of("quality")[0].clips == 23
    assert found.remarks == (
        "rated but not measured: systems zinnia",
        "rated but not measured: 1 clips, such as p9 of amber",
        "measured but not rated: 1 clips, such as p5 of amber",
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("p0", "amber", "r0", 3), ("p0", "amber", "r0", 3)], "line 3: rater r0 rated p0 of amber on line 2 already"),
        ([("p0", "amber", "r0", "3"), ("p1", "amber", "r0", "good")], "line 3: a rating of quality is a number"),
        ([("p0", "amber", "", 3)], "line 2: expected who rated p0 of amber"),
        ([("", "amber", "r0", 3)], "line 2: expected which clip was rated"),
        ([("p0", "zinnia", "r0", 3)], "no clip was both measured and rated; measured are p0 of amber, p1 of amber …"),
        ([("p0", "amber", "r0", "good")], "expected a column of numbers per dimension"),
        ([], "the file has none"),
    ],
)
def test_bad_ratings_are_one_line(tmp_path: Path, rows: list[tuple[object, ...]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        believe(runs(tmp_path), write_csv(tmp_path / "bad.csv", RATED, rows))


def test_bad_files_and_questions(tmp_path: Path) -> None:
    places, ratings = runs(tmp_path), ratings_file(tmp_path)
    with pytest.raises(InputError, match="expected prompt_id, system and rater"):
        read_human_scores(write_csv(tmp_path / "x.csv", ("a", "b"), [(1, 2)]))
    with pytest.raises(InputError, match="no dimension 'sound'; it has quality"):
        read_human_scores(ratings, dimensions=["sound"])
    with pytest.raises(InputError, match="pairwise_accuracy compares systems"):
        believe(places, ratings, level="clip", statistic="pairwise_accuracy")
    with pytest.raises(InputError, match="found neither"):
        believe(tmp_path / "nothing" if (tmp_path / "nothing").mkdir() else tmp_path / "nothing", ratings)
    with pytest.raises(InputError, match="NAME=RUN"):  # two systems under one name
        believe([f"amber={places[0]}", f"amber={places[1]}"], ratings)


def test_one_system_and_few_clips(tmp_path: Path) -> None:
    place, ratings = runs(tmp_path)[0], ratings_file(tmp_path, systems=("amber",))
    found = believe(place, ratings)
    assert found.level == "clip" and "no prompt has two systems: the verdict is over all clips" in found.remarks[-1]
    with pytest.raises(InputError, match="no pairs to order"):
        believe(place, ratings, statistic="pairwise_accuracy")
    numbers = found.believed[0].numbers
    assert numbers["within-prompt", "spearman"].note == "no prompt has two systems"
    assert numbers["system", "spearman"].note == "1 systems; 3 are needed"
    path = write_csv(tmp_path / "two.csv", RATED, [("p0", "amber", "r0", 3), ("p1", "amber", "r0", 4)])
    assert "2 clips have both" in believe(place, path).believed[0].numbers["clip", "spearman"].note


def test_votes_are_shares_of_wins(tmp_path: Path) -> None:
    header = ("question_id", "model_a", "model_b", "winner", "judge")
    rows = [(p, "amber", "birch", "model_b", "j0") for p in PROMPTS] + [("p0", "amber", "birch", "tie", "j1")]
    people = read_human_scores(write_csv(tmp_path / "votes.csv", header, rows))
    assert people.kind == "win-share" and people.dimensions == ("preference",)
    assert people.scores["preference"]["birch", "p0"] == {"j0": 1.0, "j1": 0.5}
    assert people.remarks == ()  # one pair a prompt: balanced
    rows.append(("p0", "amber", "cedar", "model_a", "j0"))
    people = read_human_scores(write_csv(tmp_path / "votes.csv", header, rows))
    assert "on 1 of 8 prompts not every pair" in people.remarks[0]
    with pytest.raises(InputError, match="no vote names its prompt"):
        read_human_scores(write_csv(tmp_path / "v.csv", header[1:4], [("a", "b", "tie")]))


def test_votes_of_a_study(tmp_path: Path) -> None:
    """Its export of everything names samples as the runs name clips; a list of pairs names prompts."""
    sides = [("amber", "birch"), ("amber", "cedar"), ("birch", "cedar")]
    for of_sample, of_prompt in (("{p}", ""), ("{p}-{a}-{b}", "{p}")):
        votes = [
            Vote(
                sample=of_sample.format(p=p, a=a, b=b),
                prompt=of_prompt.format(p=p),
                system_a=a,
                system_b=b,
                winner="b",
                rater=rater,
            )
            for p in PROMPTS
            for a, b in sides
            for rater in ("r0", "r1")
        ]
        gold = Vote(sample="g", system_a="amber", system_b="birch", winner="a", rater="r0", is_gold=True)
        people = read_human_scores(write_votes(tmp_path / "votes.csv", [*votes, gold]))
        assert people.scores["preference"]["birch", "p0"] == {"r0": 0.5, "r1": 0.5}  # lost one, won one
        found = believe(runs(tmp_path / (of_prompt or "x").strip("{}")), people)
        assert found.of("preference")[0].numbers["within-prompt", "kendall_tau_b"].value == 1.0


def test_the_command(tmp_path: Path) -> None:
    runs(tmp_path / "runs")
    ratings = ratings_file(tmp_path)
    shown = CliRunner().invoke(app, ["believe", str(tmp_path / "runs"), "--ratings", str(ratings), "-v"])
    assert shown.exit_code == 0, shown.output
    assert "quality: good, turned agree with people; noise is inconclusive." in shown.stdout
    assert "one person" in shown.stdout and "No number: the metric has one value on all clips: constant" in shown.stdout
    assert "human_kendall_tau_b|confidence:0.95" in shown.stdout
    made = CliRunner().invoke(app, ["believe", str(tmp_path / "runs"), "--ratings", str(ratings), "--json"])
    data = json.loads(made.stdout)
    assert data["sentences"] and {m["verdict"] for m in data["metrics"]} == {"agrees", "inconclusive"}
    assert data == json.loads(json.dumps(as_data(rushes.believe(tmp_path / "runs", ratings))))
    signatures = {d["signature"] for d in data["definitions"]}
    assert all(n["signature"] in signatures for m in data["metrics"] for n in m["numbers"])
    bad = CliRunner().invoke(app, ["believe", str(tmp_path / "runs"), "--ratings", str(tmp_path / "none.csv")])
    assert bad.exit_code == 1 and len(bad.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("width", ["80", "160"])
def test_the_number_that_decides_is_in_the_table(tmp_path: Path, width: str) -> None:
    """An interval without 0 beside "inconclusive" needs the p that was corrected for all the metrics."""
    runs(tmp_path / "runs")
    words = ["believe", str(tmp_path / "runs"), "--ratings", str(ratings_file(tmp_path))]
    shown = CliRunner().invoke(app, words, env={"COLUMNS": width}).stdout
    found = rushes.believe(tmp_path / "runs", tmp_path / "ratings.csv")
    rows = {line.split()[0]: line.split() for line in shown.splitlines() if line.endswith(("agrees", "inconclusive"))}
    assert {"good", "turned", "noise"} <= rows.keys()
    for one in found.of("quality"):
        if one.p is not None and one.p.value is not None:
            assert rows[one.metric.definition.name][-2] == number_text(float(one.p.value))
    told = " ".join(shown.split())
    assert "(Holm)" in told and "p, after Holm's correction over the metrics of one question, is at most 0.05" in told


def test_false_alarms_and_hits() -> None:
    """60 studies of 12 prompts × 4 systems × 3 raters, of which each has an eye of its own for systems: single 95 %
    intervals of metrics that know nothing of quality leave out 0 in at most 5 %, a good metric's do in 9 of 10. Of 100
    studies it was 1, 3 and 93."""
    rng = np.random.default_rng(0)
    prompt, system = np.repeat(np.arange(12), 4), np.tile(np.arange(4), 12)
    alarms = {"chance": 0, "prompts": 0, "good": 0}
    for _ in range(60):
        true = rng.normal(size=12)[prompt] + np.linspace(-1, 1, 4)[system] + rng.normal(size=48)
        eye = rng.normal(scale=0.5, size=(3, 4))[:, system]
        ratings = np.clip(np.round(3 + true + eye + rng.normal(scale=0.7, size=(3, 48))), 1, 5)
        metrics = {
            "chance": rng.normal(size=48),
            "prompts": rng.normal(size=12)[prompt] + 0.3 * rng.normal(size=48),
            "good": true + 0.5 * rng.normal(size=48),
        }
        for name, x in metrics.items():
            clips = RatedClips(x=x, ratings=ratings, prompt=prompt, system=system)
            p = clips.agreement("within-prompt")["kendall_tau_b"].p
            assert p is not None
            alarms[name] += p <= 0.05
    assert alarms["chance"] <= 3 and alarms["prompts"] <= 3 and alarms["good"] >= 54, alarms


def test_systems_are_drawn_with_prompts_and_raters() -> None:
    rng = np.random.default_rng(0)
    prompt, system = np.repeat(np.arange(30), 4), np.tile(np.arange(4), 30)
    x = system + rng.normal(scale=0.1, size=120)
    ratings = system + rng.normal(scale=4, size=(3, 120))
    clips = RatedClips(x=x, ratings=ratings, prompt=prompt, system=system)
    found = clips.agreement("system")["kendall_tau_b"]
    assert found.value is not None and found.interval is not None
    assert found.interval.low < found.value  # some draws order the systems otherwise
    assert clips.agreement("system") == clips.agreement("system")


def test_the_old_name_of_the_result_still_works() -> None:
    with pytest.warns(DeprecationWarning, match=r"rushes\.MetricAgreement now"):
        assert rushes.Belief is rushes.MetricAgreement
