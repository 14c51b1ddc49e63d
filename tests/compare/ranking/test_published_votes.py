"""Published votes through `rushes rank`: ADTH-QA's counts, GenAI-Arena's battles; and how often intervals hold."""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import choix
import numpy as np
import pytest
from benchmarks.interval_coverage import Panel, panel_coverage
from scipy.stats import kendalltau
from tests.compare.agreement.rated import write_run
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.compare.agreement.metric_agreement import believe
from rushes.compare.ranking.rank import rank_votes


@pytest.fixture(scope="module")
def adth(shared: Path) -> Path:
    path = shared / "suites" / "adth" / "votes.csv"
    if not path.is_file():
        pytest.skip("ADTH-QA's votes are not here")
    return path


def test_adth_question_by_question(adth: Path) -> None:
    found = rank_votes(adth, by="question")
    assert found.questions == ("lip", "head", "render")
    rows = list(csv.DictReader(adth.read_text(encoding="utf-8").splitlines()))
    for question in found.questions:
        one = found.of(question)
        names, pairs, won = sorted(one.systems), [], Counter[str]()
        for row in (row for row in rows if row["question"] == question):
            a, b = names.index(row["system_a"]), names.index(row["system_b"])
            pairs += [(a, b)] * int(row["votes_a"]) + [(b, a)] * int(row["votes_b"])
            won += Counter({row["system_a"]: int(row["votes_a"]), row["system_b"]: int(row["votes_b"])})
        theirs = choix.ilsr_pairwise(len(names), pairs, alpha=0, max_iter=2000, tol=1e-12)
        elo = 1000 + 400 / np.log(10) * (theirs - theirs.mean())
        assert [float(one.elo[name].value or 0) for name in names] == pytest.approx(list(elo), abs=1e-3)
        assert one.exact == {name: Fraction(won[name], 225) for name in names}
        assert (one.prompts, one.raters, one.votes) == (5, None, 450)


def test_adth_nobody_invented_decides_a_rank(adth: Path) -> None:
    """The system with few wins is last on head motion, whatever ids a conversion would have made up."""
    head = rank_votes(adth).of("head")
    ranks = head.rank["wav2lip"].interval
    assert ranks is not None and (ranks.low, ranks.high) == (4, 4)
    unanimous = [duel for duel in head.duels.values() if duel.exact == 1]
    assert unanimous and all(d.share.interval and d.share.interval.low < 0.95 for d in unanimous)


def test_genai_arena_has_two_groups_and_neither_prompts_nor_raters(shared: Path) -> None:
    path = shared / "golden" / "published" / "genai_arena_votes_20240220.json"
    if not path.is_file():
        pytest.skip("GenAI-Arena's published votes are not here")
    found = rank_votes(path)
    assert [(len(one.systems), one.votes) for one in found.rankings] == [(7, 83), (6, 1977)]
    assert found.rankings[1].systems[0] == "imagenhub_PlayGroundV2_generation"
    assert "intervals take votes as independent" in found.rankings[1].notes[0]
    assert found.remarks[0].startswith("preference: no votes link {imagenhub_CycleDiffusion_edition")


def test_the_commands_take_them(adth: Path, shared: Path, tmp_path: Path) -> None:
    arena = shared / "golden" / "published" / "genai_arena_votes_20240220.json"
    for votes in [adth, *([arena] if arena.is_file() else [])]:
        for form in ("text", "latex", "csv", "markdown"):
            done = CliRunner().invoke(app, ["rank", str(votes), "--format", form])
            assert done.exit_code == 0 and done.stdout
    ratings = shared / "suites" / "fetv" / "ratings.csv"
    rows = list(csv.DictReader(ratings.read_text(encoding="utf-8").splitlines())) if ratings.is_file() else []
    fetv = {(row["system"], row["prompt_id"]) for row in rows}
    for people, keys in ((ratings, fetv), (adth, _clips(adth))):
        runs = _planted(tmp_path / people.parent.name, keys)
        done = CliRunner().invoke(app, ["believe", *map(str, runs), "--ratings", str(people), "--format", "csv"])
        assert not runs or (done.exit_code == 0 and "kendall_tau_b,within-prompt" in done.stdout)


def _clips(votes: Path) -> set[tuple[str, str]]:
    rows = csv.DictReader(votes.read_text(encoding="utf-8").splitlines())
    return {(row[side], row["speaker"]) for row in rows for side in ("system_a", "system_b")}


def _planted(folder: Path, clips: set[tuple[str, str]]) -> list[Path]:
    rng, systems = np.random.default_rng(6), sorted({system for system, _ in clips})
    return [
        write_run(folder / s, {"planted": {p: float(rng.integers(0, 9)) for o, p in sorted(clips) if o == s}})
        for s in systems
    ]


def test_adth_against_a_metric_ties_as_scipy_has_it(adth: Path, tmp_path: Path) -> None:
    """All clips pooled, shares as exact fractions; pairs right within speakers by hand."""
    runs = _planted(tmp_path, _clips(adth))
    rows = list(csv.DictReader(adth.read_text(encoding="utf-8").splitlines()))
    found = believe(runs, adth)
    values = found.believed[0].metric.per_clip
    for question in ("lip", "head", "render"):
        won: dict[tuple[str, str], list[int]] = {}
        for row in (row for row in rows if row["question"] == question):
            both = int(row["votes_a"]) + int(row["votes_b"])
            for side in ("a", "b"):
                tally = won.setdefault((row[f"system_{side}"], row["speaker"]), [0, 0])
                tally[0], tally[1] = tally[0] + int(row[f"votes_{side}"]), tally[1] + both
        share = {key: Fraction(*tally) for key, tally in won.items()}
        order = {value: k for k, value in enumerate(sorted(set(share.values())))}
        keys = sorted(share)
        (one,) = found.of(question)
        tau = kendalltau([values[k] for k in keys], [order[share[k]] for k in keys]).statistic
        assert one.numbers["clip", "kendall_tau_b"].value == pytest.approx(tau, abs=1e-12)
        right = [
            0.5 if values[a] == values[b] else float((values[a] > values[b]) == (share[a] > share[b]))
            for a, b in combinations(keys, 2)
            if a[1] == b[1] and share[a] != share[b]
        ]
        assert one.numbers["within-prompt", "pairwise_accuracy"].value == pytest.approx(np.mean(right))


@pytest.mark.parametrize("taste", [0.0, 0.6])
def test_rankings_from_counts_hold_the_truth(taste: float) -> None:
    """A light version of benchmarks/interval_coverage.py: 50 studies of 12 prompts, seeds fixed."""
    held = panel_coverage(Panel(raters=9, prompts=12, taste=taste, leaning=0.6), runs=50)
    assert held["ranking"] >= 0.93 and held["strength"] >= 0.93 and held["share"] >= 0.93
