"""A study's numbers: what their signatures say, and what happens when votes cannot be ranked."""

from __future__ import annotations

import numpy as np
import pytest

from rushes.core import Measurement, canonical_line, parse_signature
from rushes.errors import InputError
from rushes.instruments import catalog
from rushes.preference.conditions import plain_text, signature_text
from rushes.preference.definitions import DEFINITIONS
from rushes.preference.study_measurements import study_measurements
from rushes.preference.votes import Vote

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
                    ratings={"temporal": (5 - left, 5 - right)},
                )
            )
    return votes


def by_name(found: tuple[Measurement, ...], name: str, **settings: str) -> list[Measurement]:
    rows = []
    for one in found:
        got, params, _ = parse_signature(one.signature)
        if got == name and settings.items() <= params.items():
            rows.append(one)
    return rows


def the(found: tuple[Measurement, ...], name: str, **settings: str) -> Measurement:
    (one,) = by_name(found, name, **settings)
    return one


def test_every_number_states_its_conditions() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    for one in found:
        _, params, _ = parse_signature(one.signature)
        assert (params["rubric"], params["exclusion"], params["raters"], params["labels"]) == (
            "0.1",
            "none",
            "6",
            "raw",
        )
        assert params["ties"] == {"bt_elo": "davidson", "win_share": "half", "left_share": "drop"}.get(
            one.definition.name, params["ties"]
        )


def test_signatures_are_unique_and_catalogued() -> None:
    found = study_measurements(a_study(), rubric_version="0.1", exclusion_rule="gold_errors>2", excluded=["r5"])
    signatures = [one.signature for one in found]
    assert len(set(signatures)) == len(signatures)
    assert {one.definition.name for one in found} <= {definition.name for definition in DEFINITIONS}
    assert all(definition.signature in catalog() for definition in DEFINITIONS)


def test_the_ranking_reads_as_made() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    elo = [the(found, "bt_elo", system=name, bound="estimate").value for name in ("alpha", "beta", "gamma")]
    assert elo == sorted(elo, reverse=True)  # type: ignore[type-var]
    assert sum(elo) == pytest.approx(3000)  # type: ignore[arg-type]
    low, high = (the(found, "bt_elo", system="alpha", bound=b, interval="rater-clustered") for b in ("lower", "upper"))
    assert low.value < elo[0] < high.value  # type: ignore[operator]
    assert "confidence:0.95" in low.signature
    assert the(found, "bt_rank", system="alpha", bound="estimate").value == 1
    assert the(found, "drop_k_votes").value > 0  # type: ignore[operator]
    assert 0 < the(found, "bt_tie_parameter").value < 2  # type: ignore[operator]
    assert 0 < the(found, "bt_fit_p").value <= 1  # type: ignore[operator]


def test_agreement_overall_and_per_family() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    for family in ("all", "T1", "T2"):
        assert the(found, "percent_agreement", family=family, bound="estimate").value is not None
        assert the(found, "gwet_ac1", family=family).value is not None
        assert len(by_name(found, "krippendorff_alpha", family=family, of="winner")) == 3


def test_judgements() -> None:
    found = study_measurements(a_study(), rubric_version="0.1")
    assert the(found, "dimension_mean", dimension="temporal", system="alpha", bound="estimate").value == 5
    assert the(found, "krippendorff_alpha", of="temporal", level="interval").value == pytest.approx(1.0)
    assert the(found, "tag_count", tag="Missed constraint", role="primary").value == 180
    assert the(found, "tag_count", tag="Missed constraint", role="secondary").value == 0


def test_the_same_votes_in_any_order_give_the_same_bytes() -> None:
    votes = a_study()
    shuffled = [votes[k] for k in np.random.default_rng(1).permutation(len(votes))]
    lines = [
        [
            canonical_line([m.signature, m.stored_value, m.count, m.note])
            for m in study_measurements(v, rubric_version="0.1")
        ]
        for v in (votes, shuffled)
    ]
    assert lines[0] == lines[1]


def test_a_rule_shows_results_with_and_without() -> None:
    found = study_measurements(a_study(), rubric_version="0.1", exclusion_rule="side_bias>0.35", excluded=["r0", "r1"])
    without = the(found, "bt_elo", system="alpha", bound="estimate", exclusion="none")
    ruled = the(found, "bt_elo", system="alpha", bound="estimate", exclusion="side_bias>0.35")
    assert parse_signature(without.signature)[1]["raters"] == "6"
    assert parse_signature(ruled.signature)[1]["raters"] == "4"
    assert without.value != ruled.value


def test_simulated_raters_are_labelled() -> None:
    found = study_measurements(a_study(), rubric_version="0.1", simulated=True)
    assert all("raters:6 simulated" in one.signature for one in found)


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
    assert {parse_signature(one.signature)[1]["labels"] for one in labels} == {"adjudicated"}
    assert the(labels, "win_share", system="beta", bound="estimate").value == 1.0


def test_the_last_label_of_a_sample_stands(make: MakeVote) -> None:
    votes = [make("a", adjudicated=True, rater="admin"), make("b", adjudicated=True, rater="admin")]
    found = study_measurements(votes, rubric_version="0.1")
    assert the(found, "win_share", labels="adjudicated", system="y", bound="estimate").value == 1.0


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
    refused = [*by_name(found, "bt_elo"), *by_name(found, "drop_k_votes")]
    assert refused and all(one.value is None and says in one.note for one in refused)
    if votes:
        assert the(found, "tie_share").value is not None


def test_a_prior_is_in_the_signature(make: MakeVote) -> None:
    votes = [make("a", sample=str(k), rater=f"r{k}") for k in range(4)]
    found = study_measurements(votes, rubric_version="0.1", prior=1.0)
    assert the(found, "bt_elo", system="x", bound="estimate", prior="normal precision 1.0").value > 1000  # type: ignore[operator]


def test_few_raters_are_pointed_out(make: MakeVote) -> None:
    votes = a_study(raters=2)
    found = study_measurements(votes, rubric_version="0.1")
    assert the(found, "bt_elo", system="beta", bound="lower").note == "only 2 raters for 3 systems"


def test_one_rater_has_a_ranking_without_intervals() -> None:
    found = study_measurements(a_study(raters=1, samples=60), rubric_version="0.1")
    assert the(found, "bt_elo", system="beta", bound="estimate").value is not None
    low = the(found, "bt_elo", system="beta", bound="lower")
    assert (low.value, low.note) == (None, "rater-clustered intervals need two raters")


@pytest.mark.parametrize("policy", ["rao-kupper", "half-tie", "drop-tie"])
def test_other_tie_policies_carry_their_label(policy: str) -> None:
    found = study_measurements(a_study(), rubric_version="0.1", tie_policy=policy)  # type: ignore[arg-type]
    assert len(by_name(found, "bt_elo", ties=policy)) == 9


def test_an_unknown_rubric_or_policy_is_refused() -> None:
    with pytest.raises(InputError, match="no rubric"):
        study_measurements(a_study(), rubric_version="7")
    with pytest.raises(InputError, match="tie policy"):
        study_measurements(a_study(), rubric_version="0.1", tie_policy="worst")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a|b", "50%", "%7C", "", "tab\there", "日本語", "a:b"])
def test_any_system_name_fits_a_signature(name: str) -> None:
    text = signature_text(name)
    assert "|" not in text and text.isprintable() and text
    assert plain_text(text) == name


def test_awkward_system_names_are_measured() -> None:
    votes = [
        Vote(sample=str(k), system_a="=cmd|x", system_b="b\tc", winner="a" if k % 3 else "b", rater=f"r{k % 2}")
        for k in range(9)
    ]
    found = study_measurements(votes, rubric_version="0.1")
    assert the(found, "bt_elo", system="=cmd%7Cx", bound="estimate").value > 1000  # type: ignore[operator]
