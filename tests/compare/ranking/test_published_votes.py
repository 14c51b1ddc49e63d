"""Published votes through `rushes rank`: ADTH-QA's counts, GenAI-Arena's battles; and how often intervals hold."""

from __future__ import annotations

import csv
from collections import Counter
from fractions import Fraction
from pathlib import Path

import choix
import numpy as np
import pytest
from benchmarks.interval_coverage import Panel, panel_coverage

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


@pytest.mark.parametrize("taste", [0.0, 0.6])
def test_rankings_from_counts_hold_the_truth(taste: float) -> None:
    """A light version of benchmarks/interval_coverage.py: 50 studies of 12 prompts, seeds fixed."""
    held = panel_coverage(Panel(raters=9, prompts=12, taste=taste, leaning=0.6), runs=50)
    assert held["ranking"] >= 0.93 and held["strength"] >= 0.93 and held["share"] >= 0.93
