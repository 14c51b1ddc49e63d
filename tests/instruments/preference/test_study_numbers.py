"""A study's numbers: what their signatures say, and what happens when votes cannot be ranked."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rushes.core import Measurement, canonical_line, difference, parse_signature
from rushes.core.errors import InputError
from rushes.core.selection import one, select
from rushes.instruments.catalogue import catalog
from rushes.instruments.preference.definitions.study import DEFINITIONS
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.show.tables import exclusion_rules, ranked, ranking
from rushes.instruments.preference.votes import Vote

from .conftest import MakeVote


def a_study(seed: int = 0, raters: int = 6, samples: int = 30) -> list[Vote]:
    """Three systems, best to worst alpha, beta, gamma; two families; every rater votes on every sample."""
    draw = np.random.default_rng(seed)
    names, votes = ("alpha", "beta", "gamma"), []
    for k in range(samples):
        i, j = [(0, 1), (0, 2), (1, 2)][k % 3]
        for r in range(raters):
            left, right = (i, j) if draw.random() < 0.5 else (j, i)
            luck = draw.random()
            choice = "tie" if luck < 0.15 else ("left" if (luck < 0.75) == (left < right) else "right")
            votes.append(
                Vote.seen(
                    sample=f"s{k:02d}",
                    left=names[left],
                    right=names[right],
                    choice=choice,  # type: ignore[arg-type]
                    rater=f"r{r}",
                    family=f"T{k % 2 + 1}",
                    prompt=f"p{k}",
                    primary_tag="Missed constraint",
                    turn=r + 1,
                    ratings={"temporal": (5 - left, 5 - right)},
                )
            )
    return votes


def test_every_number_states_its_conditions() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    for number in found:
        _, params, _ = parse_signature(number.signature)
        assert (params["rubric"], params["exclusion"], params["raters"], params["labels"]) == (
            "0.1",
            "none",
            "people",
            "raw",
        )
        assert params["ties"] == {"bt_elo": "davidson", "win_share": "half", "left_share": "drop"}.get(
            number.name, params["ties"]
        )


def test_every_number_is_about_one_thing_and_catalogued() -> None:
    found = study_measurements(a_study(), rubric_version="0.1", exclusion_rule="gold_errors>2", excluded=["r5"])
    assert len({(m.signature, m.at) for m in found}) == len(found)
    assert len({m.signature for m in found}) == 54  # 27 for each of the two rules
    assert {m.name for m in found} <= {definition.name for definition in DEFINITIONS}
    assert all(definition.signature in catalog() for definition in DEFINITIONS)


def test_the_ranking_reads_as_made() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    elo = [one(found, "bt_elo", system=name).value for name in ("alpha", "beta", "gamma")]
    assert elo == sorted(elo, reverse=True)  # type: ignore[type-var]
    assert sum(elo) == pytest.approx(3000)  # type: ignore[arg-type]
    interval = one(found, "bt_elo", system="alpha").interval
    assert interval is not None and interval.low < elo[0] < interval.high  # type: ignore[operator]
    assert (interval.level, interval.method) == (0.95, "rater- and prompt-clustered")
    ranks = one(found, "bt_rank", system="alpha").interval
    assert ranks is not None and (ranks.low, ranks.method) == (1, "rater- and prompt-clustered bonferroni")


def test_systems_compare_because_the_method_is_one() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    alpha, beta = (one(found, "bt_elo", system=name) for name in ("alpha", "beta"))
    gap = difference(alpha, beta)
    assert gap.value == pytest.approx(alpha.value - beta.value)  # type: ignore[operator]
    assert gap.place == {"system": "alpha − beta"}


def test_the_rest_of_the_ranking() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    assert one(found, "bt_rank", system="alpha").value == 1
    assert one(found, "drop_k_votes").value > 0  # type: ignore[operator]
    assert 0 < one(found, "bt_tie_parameter").value < 2  # type: ignore[operator]
    assert 0 < one(found, "bt_fit_p").value <= 1  # type: ignore[operator]


def test_agreement_overall_and_per_family() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    for family in ("all", "T1", "T2"):
        assert one(found, "percent_agreement", family=family).value is not None
        assert one(found, "gwet_ac1", family=family).value is not None
        assert len(select(found, "krippendorff_alpha", family=family, of="winner")) == 3


def test_judgements() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    assert one(found, "dimension_mean", dimension="temporal", system="alpha").value == 5
    assert one(found, "krippendorff_alpha", of="rating", dimension="temporal", level="interval").value == pytest.approx(
        1.0
    )
    assert one(found, "tag_count", tag="Missed constraint", role="primary").value == 180
    assert one(found, "tag_count", tag="Missed constraint", role="secondary").value == 0


def test_the_same_votes_in_any_order_give_the_same_bytes() -> None:
    votes = a_study()
    shuffled = [votes[k] for k in np.random.default_rng(1).permutation(len(votes))]
    lines = [
        [canonical_line(m.as_dict()) for m in study_measurements(v, rubric_version="0.1")] for v in (votes, shuffled)
    ]
    assert lines[0] == lines[1]


def test_a_rule_shows_results_with_and_without() -> None:
    found = study_measurements(a_study(), rubric_version="0.1", exclusion_rule="side_bias>0.35", excluded=["r0", "r1"])
    without = one(found, "bt_elo", system="alpha", exclusion="none")
    ruled = one(found, "bt_elo", system="alpha", exclusion="side_bias>0.35")
    assert (without.count, ruled.count) == (120, 80)  # 20 samples by 6 raters, and by the 4 who are left
    assert without.value != ruled.value


def test_simulated_raters_are_labelled() -> None:
    found = study_measurements(a_study(), rubric_version="0.1", simulated=True)
    assert all("|raters:simulated|" in m.signature for m in found)


def test_gold_repeats_and_labels_move_no_raw_number() -> None:
    votes = a_study()
    plain = study_measurements(votes, rubric_version="0.1")
    noise = [
        Vote(sample="s00", system_a="alpha", system_b="beta", winner="b", rater="r1", is_gold=True),
        Vote(sample="s00", system_a="alpha", system_b="beta", winner="b", rater="r1", is_repeat=True),
        Vote(sample="s00", system_a="alpha", system_b="beta", winner="b", rater="admin", adjudicated=True),
    ]
    found = study_measurements([*votes, *noise], rubric_version="0.1")
    assert found[: len(plain)] == plain
    labels = found[len(plain) :]
    assert {parse_signature(m.signature)[1]["labels"] for m in labels} == {"adjudicated"}
    assert one(labels, "win_share", system="beta").value == 1.0


def test_the_last_label_of_a_sample_stands(make: MakeVote) -> None:
    votes = [make("a", adjudicated=True, rater="admin"), make("b", adjudicated=True, rater="admin")]
    found = study_measurements(votes, rubric_version="0.1")
    assert one(found, "win_share", labels="adjudicated", system="y").value == 1.0


@pytest.mark.parametrize(
    ("votes", "says"),
    [
        ([], "a ranking needs two systems; got none"),
        ([("x", "y", "tie"), ("x", "y", "tie")], "every vote is a tie"),
        ([("x", "y", "a"), ("x", "y", "b"), ("v", "w", "a"), ("v", "w", "b")], r"no votes link {v, w} and {x, y}"),
        ([("x", "y", "a"), ("x", "y", "a")], "x never lost a vote"),
    ],
)
def test_votes_that_cannot_be_ranked_say_why_and_the_rest_stands(votes: list[tuple[str, str, str]], says: str) -> None:
    given = [
        Vote(sample=f"s{k}", system_a=a, system_b=b, winner=w, rater=f"r{k}")  # type: ignore[arg-type]
        for k, (a, b, w) in enumerate(votes)
    ]
    found = study_measurements(given, rubric_version="0.1")
    refused = [*select(found, "bt_elo"), *select(found, "drop_k_votes")]
    assert refused and all(m.value is None and says in m.note for m in refused)
    if votes:
        assert one(found, "tie_share").value is not None


def test_a_prior_is_in_the_signature(make: MakeVote) -> None:
    votes = [make("a", sample=str(k), rater=f"r{k}") for k in range(4)]
    found = study_measurements(votes, rubric_version="0.1", prior=1.0)
    assert one(found, "bt_elo", system="x", prior="normal precision 1.0").value > 1000  # type: ignore[operator]


def test_few_raters_are_pointed_out(make: MakeVote) -> None:
    votes = a_study(raters=2)
    found = study_measurements(votes, rubric_version="0.1")
    assert one(found, "bt_elo", system="beta").note == "only 2 raters for 3 systems"


def test_one_rater_has_a_ranking_without_intervals() -> None:
    found = study_measurements(a_study(raters=1, samples=60), rubric_version="0.1")
    beta = one(found, "bt_elo", system="beta")
    assert beta.value is not None and beta.interval is None
    assert beta.note == "clustered intervals need two raters"


@pytest.mark.parametrize("policy", ["rao-kupper", "half-tie", "drop-tie"])
def test_other_tie_policies_carry_their_label(policy: str) -> None:
    found = study_measurements(a_study(), rubric_version="0.1", tie_policy=policy)  # type: ignore[arg-type]
    assert len(select(found, "bt_elo", ties=policy, family=None)) == 3


def test_an_unknown_rubric_or_policy_is_refused() -> None:
    with pytest.raises(InputError, match="no rubric"):
        study_measurements(a_study(), rubric_version="7")
    with pytest.raises(InputError, match="tie policy"):
        study_measurements(a_study(), rubric_version="0.1", tie_policy="worst")  # type: ignore[arg-type]


ODD = ["100%|A", "", "🎬", "=1+1", "all", "v:1", "a\nb", "unnamed"]
NAMES = st.one_of(st.text(max_size=12), st.sampled_from(ODD))


@st.composite
def studies(draw: st.DrawFn) -> tuple[list[Vote], set[str]]:
    """Votes in which everything that has a name has any name, and those names."""
    systems = sorted(draw(st.sets(NAMES.filter(bool), min_size=2, max_size=3)))
    families, raters, tags = (draw(st.lists(NAMES, min_size=1, max_size=2, unique=True)) for _ in range(3))
    clips = draw(NAMES)
    votes = [
        Vote(
            sample=f"{clips}{k}",
            system_a=systems[k % (len(systems) - 1)],
            system_b=systems[-1],
            winner=draw(st.sampled_from(["a", "b", "tie"])),  # type: ignore[arg-type]
            rater=draw(st.sampled_from(raters)) or "r",
            family=draw(st.sampled_from(families)),
            clip_a=f"{clips}a",
            clip_b=f"{clips}b",
            primary_tag=draw(st.sampled_from(tags)),
            ratings={draw(NAMES): (1, 5)},
            adjudicated=draw(st.booleans()),
        )
        for k in range(6)
    ]
    return votes, {clips, *systems, *families, *raters, *tags, *(key for vote in votes for key in vote.ratings)}


@settings(max_examples=10, deadline=None)
@given(study=studies())
def test_no_name_is_in_a_signature_whatever_it_is(study: tuple[list[Vote], set[str]]) -> None:
    votes, names = study
    found = study_measurements(votes, rubric_version="0.1", exclusion_rule="slow", excluded=["r"])
    plain = _plain()
    # The signatures are those of a study whose names have nothing in common with these.
    assert {m.signature for m in found} <= {m.signature for m in plain} | {_labels(m.signature) for m in plain}
    assert len({(m.signature, m.at) for m in found}) == len(found)
    for elo in select(found, "bt_elo", exclusion="none"):
        assert elo.place["system"] in names
        assert elo.definition == one(plain, "bt_elo", exclusion="none", system="beta").definition
    for rule in ("none", "slow"):
        systems = [m.place["system"] for m in ranked(found, exclusion=rule)]
        assert [row[1].text for row in ranking(found, exclusion=rule).rows] == systems


@cache
def _plain() -> tuple[Measurement, ...]:
    return study_measurements(a_study(), rubric_version="0.1", exclusion_rule="slow", excluded=["r5"])


def _labels(signature: str) -> str:
    return signature.replace("labels:raw", "labels:adjudicated")


@pytest.mark.parametrize("rule", ["a|b", "50%", "tab\there", "日本語", "a:b"])
def test_any_exclusion_rule_fits_a_signature(rule: str) -> None:
    found = study_measurements(a_study(), rubric_version="0.1", exclusion_rule=rule, excluded=["r0"])
    assert len({m.signature for m in found}) == 54
    assert exclusion_rules(found)[1] == rule.replace("|", "¦").replace("\t", " ")


def test_awkward_system_names_are_measured() -> None:
    votes = [
        Vote(sample=str(k), system_a="=cmd|x", system_b="b\tc", winner="a" if k % 3 else "b", rater=f"r{k % 2}")
        for k in range(9)
    ]
    found = study_measurements(votes, rubric_version="0.1")
    assert one(found, "bt_elo", system="=cmd|x").value > 1000  # type: ignore[operator]
