"""`believe` on votes: shares tie as fractions do, the order of rows is no matter, and few prompts prove no absence."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr
from tests.compare.agreement.rated import definition, made_up, write_csv

from rushes.compare.agreement.human_scores import HumanScores, read_human_scores
from rushes.compare.agreement.metric_agreement import believe
from rushes.compare.agreement.metric_scores import MeasuredClips, MetricScores
from rushes.compare.agreement.tables import sentences, written
from rushes.compare.readings.file_facts import FILE_FACTS
from rushes.core.selection import one as only
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.votes import Vote

SYSTEMS = ("amber", "birch", "cedar", "dogwood")
PROMPTS = tuple(f"p{n}" for n in range(5))
ROWS = ("prompt_id", "system_a", "system_b", "winner", "rater")


def votes(*, raters: int = 7, seed: int = 3) -> list[tuple[str, str, str, str, str]]:
    """Every rater on every pair of every prompt, now and then a tie: shares are thirds, which no float is."""
    rng = np.random.default_rng(seed)
    return [
        (p, a, b, ("a", "b", "tie")[int(rng.choice(3, p=[0.5, 0.3, 0.2]))], f"r{r}")
        for p in PROMPTS
        for a, b in combinations(SYSTEMS, 2)
        for r in range(raters)
    ]


def exact_shares(rows: list[tuple[str, str, str, str, str]]) -> dict[tuple[str, str], Fraction]:
    """A clip's share of all votes on it; all raters met all pairs, so it is the mean over raters too."""
    won: dict[tuple[str, str], list[Fraction]] = {}
    for p, a, b, winner, _ in rows:
        for system, side in ((a, "a"), (b, "b")):
            worth = Fraction(1, 2) if winner == "tie" else Fraction(int(winner == side))
            won.setdefault((system, p), []).append(worth)
    return {key: sum(given, Fraction()) / len(given) for key, given in won.items()}


def measured(values: dict[tuple[str, str], float], *names: str) -> MeasuredClips:
    return MeasuredClips(
        metrics=tuple(MetricScores(definition=definition(name), at=(), per_clip=values) for name in names)
    )


@pytest.mark.parametrize("known", [True, False])
def test_shares_tie_as_fractions_do(tmp_path: Path, known: bool) -> None:
    for seed in range(3):
        rows, rng = votes(seed=seed), np.random.default_rng(seed)
        exact = exact_shares(rows)
        keys = sorted(exact)
        order = {share: k for k, share in enumerate(sorted(set(exact.values())))}  # equal fractions, equal ranks
        metric = {key: float(rng.integers(0, 6)) for key in keys}
        cut = slice(None) if known else slice(0, 4)
        path = write_csv(tmp_path / "votes.csv", ROWS[cut], [row[cut] for row in rows])
        (one,) = believe(measured(metric, "m"), path).believed
        x, y = [metric[key] for key in keys], [order[exact[key]] for key in keys]
        assert one.numbers["clip", "kendall_tau_b"].value == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
        assert one.numbers["clip", "spearman"].value == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def test_integer_ratings_are_as_before() -> None:
    scores = {"q": {("amber", "p0"): {"r0": 3.0, "r1": 4.0}}}
    assert HumanScores(source="x", kind="mean-rating", scores=scores).scale("q") == 1


def test_votes_without_raters_make_one_share_of_all_votes(tmp_path: Path) -> None:
    rows = votes()
    path = write_csv(tmp_path / "votes.csv", ROWS[:4], [row[:4] for row in rows])
    people = read_human_scores(path)
    assert people.raters == () and people.scores["preference"]["amber", "p0"].keys() == {""}
    mixed = [row if k % 9 else (*row[:4], "") for k, row in enumerate(rows)]
    some = read_human_scores(write_csv(tmp_path / "votes.csv", ROWS, mixed))
    assert some.raters == () and some.remarks[0].startswith("24 of 210 votes name no rater")


def test_agreement_of_imported_votes_is_that_of_the_counts_in_any_order() -> None:
    """15 votes a sample, one side's listed first: the first two rows always agree, the votes do not."""
    split = (12, 9, 8, 14, 10)
    listed = [
        Vote(sample=f"s{k}", system_a="x", system_b="y", winner="a" if n < wins else "b", rater=f"r{k}-{n}")
        for k, wins in enumerate(split)
        for n in range(15)
    ]
    mixed = [listed[k] for k in np.random.default_rng(0).permutation(len(listed))]
    # Σ n_c (n_c − 1) / (n (n − 1)), by hand from the counts
    expected = np.mean([(w * (w - 1) + (15 - w) * (14 - w)) / 210 for w in split])
    for order in (listed, mixed):
        found = only(study_measurements(order, rubric_version="0.1"), "percent_agreement", family="all")
        assert found.value == pytest.approx(expected) and "|votes:all|" in found.signature
        assert "nobody recorded who was asked first" in found.note


def test_a_sheet_of_a_study_with_third_raters_keeps_its_design_in_any_order() -> None:
    """Two votes where they agree, three where they do not: agreement is the share of samples of two."""
    told = [("s0", "aa"), ("s1", "bb"), ("s2", "aba"), ("s3", "bab")]
    rows = [
        Vote(sample=s, system_a="x", system_b="y", winner=w, rater=f"r{n}")  # type: ignore[arg-type]
        for s, given in told
        for n, w in enumerate(given)
    ]
    for order in (rows, rows[::-1]):
        found = only(study_measurements(order, rubric_version="0.1"), "percent_agreement", family="all")
        assert found.value == 0.5 and "|votes:first-2|" in found.signature


def test_five_prompts_cannot_agree_however_alike_they_are() -> None:
    """Student's t of five leave-outs gave p = .003 for a τ of .2: signs of five prompts give no less than .0625."""
    for prompts, verdict in ((5, "inconclusive"), (6, "agrees")):
        made = made_up(np.random.default_rng(3), prompts=prompts, metrics={"same": lambda q, g: q})
        one = believe(*made).believed[0]
        assert one.verdict == verdict and one.p is not None and float(one.p.value or 0) >= 2.0 ** (1 - prompts)


def noise(prompts: int, seed: int) -> tuple[MeasuredClips, HumanScores]:
    return made_up(np.random.default_rng(seed), prompts=prompts, metrics={"noise": lambda q, g: g.normal(size=q.shape)})


def test_five_prompts_show_no_absence_of_a_relation() -> None:
    verdicts = [believe(*noise(5, seed), margin=0.6).believed[0] for seed in range(8)]
    assert {one.verdict for one in verdicts} == {"inconclusive"} and len(verdicts) == 8
    narrow = [one for one in verdicts if one.why == "too few prompts" and _inside(one, 0.6)]
    assert narrow, "some interval is narrow by luck: it may not become a verdict"
    found = believe(*noise(5, 1))
    few = "that a metric agrees with people, or that it has no relation: at least 6 and 26 are needed."
    assert sentences(found)[0].endswith(f"5 prompts cannot show {few}")
    assert f"5 prompts cannot show {few}" in written(found, "latex").replace("\n", " ")
    assert (found.believed[0].prompts_to_agree, found.believed[0].prompts_needed) == (6, 26)
    assert "no relation" in {believe(*noise(150, seed)).believed[0].verdict for seed in range(1)}


def _inside(one: object, margin: float) -> bool:
    interval = one.numbers["within-prompt", "kendall_tau_b"].interval  # type: ignore[attr-defined]
    return interval is not None and -margin < interval.low and interval.high < margin


def two_questions(seed: int = 0) -> tuple[MeasuredClips, HumanScores]:
    """Six metrics of quality, a fact of the file, and a second question that nothing goes with."""
    rng = np.random.default_rng(seed)
    noises = {f"m{k}": (lambda q, g, k=k: q + (1 + k) * g.normal(size=q.shape)) for k in range(6)}
    metrics, people = made_up(rng, prompts=17, metrics={**noises, "frame_count": lambda q, g: np.round(q)})
    other = {key: {r: float(rng.integers(1, 6)) for r in by} for key, by in people.scores["quality"].items()}
    scores = {"quality": people.scores["quality"], "other": other}
    return metrics, HumanScores(source="x", kind="mean-rating", scores=scores)


def test_a_question_is_answered_alike_whatever_else_was_asked() -> None:
    metrics, both = two_questions()
    alone = HumanScores(source="x", kind="mean-rating", scores={"quality": both.scores["quality"]})
    one, other = believe(metrics, both), believe(metrics, alone)
    assert [(b.verdict, b.p and b.p.value) for b in one.of("quality")] == [
        (b.verdict, b.p and b.p.value) for b in other.of("quality")
    ]
    fact = next(b for b in one.of("quality") if b.metric.definition.name == "frame_count")
    assert fact.verdict == "fact of the file" and fact.p is None
    judged = {dict(b.p.definition.params)["judged"] for b in one.of("quality") if b.p}
    assert judged == {"6"}
    assert {"fps", "frame_count", "video_duration_ms", "audio_duration_ms", "size", "width"} <= FILE_FACTS


def test_agreement_within_the_margin_is_no_agreement() -> None:
    """τ .1 over 250 prompts is beyond chance, and still what the page calls none to speak of."""
    weak = {"weak": lambda q, g: q + 5 * g.normal(size=q.shape)}
    found = believe(*made_up(np.random.default_rng(1), prompts=250, raters=4, metrics=weak))
    (one,) = found.believed
    assert one.p is not None and float(one.p.value or 1) < 0.05 and 0 < float(found.deciding(one).value or 0) < 0.2
    assert one.verdict in ("inconclusive", "no relation")


def test_no_interval_over_systems_has_zero_width() -> None:
    keys = [(s, p) for p in PROMPTS for s in SYSTEMS]
    worth = dict(zip(SYSTEMS, (1.0, 2.0, 3.0, 4.0), strict=True))
    values = {(s, p): -worth[s] + (0.5 if s == "dogwood" else 0) for s, p in keys}
    people = {key: {r: worth[key[0]] for r in ("r0", "r1")} for key in keys}
    found = believe(measured(values, "m"), HumanScores(source="x", kind="mean-rating", scores={"q": people}))
    number = found.believed[0].numbers["system", "spearman"]
    assert number.value == -1 and number.interval is None and "there is no spread to estimate" in number.note
