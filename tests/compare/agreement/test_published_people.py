"""Published agreements with people, recomputed from the published files: FETV, GenAI-Arena."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.compare.agreement.rated import definition

from rushes.compare.agreement.human_scores import HumanScores
from rushes.compare.agreement.metric_agreement import MetricAgreement, believe
from rushes.compare.agreement.metric_scores import MeasuredClips, MetricScores
from rushes.core.errors import InputError
from rushes.instruments.preference.tallies import tally
from rushes.instruments.preference.votes import Vote
from rushes.stats.agreement import krippendorff_alpha, unit_table
from rushes.stats.votes.connection import RankingError
from rushes.stats.votes.ranking import rank
from rushes.study.exchange.arena import BOTH_BAD, UNNAMED, read_arena, write_arena

Scores = dict[str, dict[tuple[str, str], dict[str, float]]]
CALLED = {"damo-text2video": "modelscope-t2v"}
PRIOR = 0.5 / math.log(10) ** 2
"""GenAI-Arena's L2 with C = 1 on log-odds of base 10, each vote in twice."""


def people_of(folder: Path) -> HumanScores:
    scores: Scores = {"alignment": {}, "static_quality": {}, "temporal_quality": {}}
    for file in sorted(folder.glob("manual_eval_results/*/*.json")):
        system = file.stem.removeprefix("manual_eval_results_")
        for line in file.read_text().splitlines():
            ((prompt, row),) = json.loads(line).items()
            for dimension, of_clip in scores.items():
                key = (CALLED.get(system, system), prompt)
                of_clip.setdefault(key, {})[file.parent.name] = float(row[dimension])
    return HumanScores(source="FETV", kind="mean-rating", scores=scores)


def metrics_of(folder: Path) -> MeasuredClips:
    found = []
    for name in ("CLIPScore", "UMTScore"):
        values: dict[tuple[str, str], float] = {}
        for file in sorted((folder / "auto_eval_results" / name).glob("*.json")):
            system = file.stem.removeprefix("auto_eval_results_")
            values |= {(system, prompt): float(value) for prompt, value in json.loads(file.read_text()).items()}
        found.append(MetricScores(definition=definition(name.lower()), at=(), per_clip=values))
    return MeasuredClips(metrics=tuple(found))


@pytest.fixture(scope="module")
def fetv(shared: Path) -> tuple[MeasuredClips, HumanScores]:
    folder = shared / "golden" / "published" / "fetv"
    if not folder.is_dir():
        pytest.skip("FETV's published results are not here")
    return metrics_of(folder), people_of(folder)


@pytest.fixture(scope="module")
def against_alignment(fetv: tuple[MeasuredClips, HumanScores]) -> MetricAgreement:
    metrics, people = fetv
    alignment = {"alignment": people.scores["alignment"]}
    return believe(metrics, HumanScores(source="FETV", kind="mean-rating", scores=alignment))


@pytest.mark.parametrize(("metric", "tau_c", "rho"), [("clipscore", 0.177, 0.243), ("umtscore", 0.309, 0.425)])
def test_fetv_to_three_decimals(against_alignment: MetricAgreement, metric: str, tau_c: float, rho: float) -> None:
    numbers = next(b.numbers for b in against_alignment.believed if b.metric.definition.name == metric)
    assert numbers["clip", "kendall_tau_c"].count == 3017
    assert round(float(numbers["clip", "kendall_tau_c"].value or 0), 3) == tau_c
    assert round(float(numbers["clip", "spearman"].value or 0), 3) == rho


def test_fetv_both_agree_and_neither_is_as_good_as_a_person(against_alignment: MetricAgreement) -> None:
    assert [b.metric.definition.name for b in against_alignment.of("alignment", "agrees")] == ["umtscore", "clipscore"]
    ceiling = against_alignment.ceiling("alignment")
    for one in against_alignment.believed:
        interval = against_alignment.deciding(one).interval
        assert interval is not None and ceiling.interval is not None and interval.high < ceiling.interval.low


@pytest.mark.parametrize(
    ("dimension", "alpha"), [("static_quality", 0.6850), ("temporal_quality", 0.7255), ("alignment", 0.6919)]
)
def test_fetv_alpha(fetv: tuple[MeasuredClips, HumanScores], dimension: str, alpha: float) -> None:
    raters = ("human0", "human1", "human2")
    units = [[by[r] for r in raters] for by in fetv[1].scores[dimension].values()]
    assert krippendorff_alpha(unit_table(units), level="ordinal").value == pytest.approx(alpha, abs=5e-5)


@pytest.fixture(scope="module")
def battles(shared: Path) -> Path:
    path = shared / "golden" / "published" / "genai_arena_votes_20240220.json"
    if not path.is_file():
        pytest.skip("GenAI-Arena's published votes are not here")
    return path


def converged(votes: list[Vote]) -> dict[str, float]:
    """Their rule to convergence: logistic regression, every vote in twice, ties once each way, ½‖w‖², scale 400."""
    names = sorted({name for vote in votes for name in (vote.system_a, vote.system_b)})
    rows = np.array([[names.index(vote.system_a), names.index(vote.system_b)] for vote in votes for _ in range(2)])
    wins = {"a": (1, 1), "b": (-1, -1), "tie": (1, -1)}
    y = np.array([side for vote in votes for side in wins[vote.winner]])

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = y * math.log(10) * (w[rows[:, 0]] - w[rows[:, 1]])
        slope = -y * math.log(10) / (1 + np.exp(margin))
        gradient = w.copy()
        np.add.at(gradient, rows[:, 0], slope)
        np.add.at(gradient, rows[:, 1], -slope)
        return float(0.5 * w @ w + np.logaddexp(0, -margin).sum()), gradient

    found = minimize(loss, np.zeros(len(names)), jac=True, method="BFGS", options={"gtol": 1e-7})
    return {name: 1000 + 400 * float(w) for name, w in zip(names, found.x, strict=True)}


def test_genai_arena_within_a_tenth_of_an_elo(battles: Path) -> None:
    every = read_arena(battles, anonymous=True).votes
    votes = [vote for vote in every if vote.system_a.endswith("_generation")]
    assert (len(every), len(votes)) == (1515, 1451)
    ranking = rank(tally(votes), tie_policy="half-tie", prior=PRIOR)
    found = dict(zip(ranking.systems, map(float, ranking.elo), strict=True))
    assert found == pytest.approx(converged(votes), abs=0.1)
    published = {  # the list of 2024-02-20, anonymous votes
        "imagenhub_PlayGroundV2_generation": 1151.1249,
        "imagenhub_PixArtAlpha_generation": 1078.3882,
        "imagenhub_SDXL_generation": 1027.1568,
        "imagenhub_SDXLTurbo_generation": 972.1021,
        "imagenhub_OpenJourney_generation": 921.4435,
        "imagenhub_LCM_generation": 849.7845,
    }
    assert found == pytest.approx(published, abs=0.1)


def test_genai_arena_two_groups_that_never_met_are_refused(battles: Path) -> None:
    found = read_arena(battles)
    assert (len(found.votes), found.against_itself) == (2060, 1)
    with pytest.raises(RankingError, match="_edition.*_generation.*2 separate groups"):
        rank(tally(found.votes), tie_policy="half-tie", prior=PRIOR)


def test_battles_read_and_written(tmp_path: Path) -> None:
    lines = ['{"model_a": "x", "model_b": "b", "winner": "tie (bothbad)", "anony": true}']
    lines += ['{"model_a": "b", "model_b": "x", "winner": "model_b", "judge": "j", "question_id": 7, "anony": false}']
    path = tmp_path / "votes.jsonl"
    path.write_text("\n".join(lines))
    bad, good = read_arena(path).votes
    assert (bad.winner, bad.note, bad.rater, bad.sample, bad.prompt) == ("tie", BOTH_BAD, UNNAMED, "battle-1", "")
    assert (good.winning_system, good.rater, good.prompt) == ("x", "j", "7")
    assert read_arena(path, anonymous=False).votes == (good,)
    again = read_arena(write_arena(tmp_path / "votes.csv", [good])).votes
    assert [(v.winning_system, v.rater, v.prompt) for v in again] == [("x", "j", "7")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"model_a": "x"}]', "battle 1: expected model_a, model_b and winner; it has no model_b"),
        ('[{"model_a": "x", "model_b": "y", "winner": "z"}]', "the winner is model_a, model_b or tie; got 'z'"),
        ('[{"model_a": "x", "model_b": "", "winner": "tie"}]', "expected two systems"),
        ("[3]", "battle 1: expected"),
        ("{", "cannot be read as JSON battles"),
        ('{"a": 1}\n{', "cannot be read as JSON battles"),
    ],
)
def test_bad_battles_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "votes.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_arena(path)
