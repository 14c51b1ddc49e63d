"""What a report says about a study, from the real numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from rushes.core import Measurement
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.show.section import facts, grids, headline, summary
from rushes.instruments.preference.votes import Vote
from rushes.storage.runs import Entry, Run, RunWriter, Subject, read_run


def votes(winners: str) -> list[Vote]:
    """amber against birch; a letter per sample, by four raters in turn."""
    return [
        Vote(sample=f"s{k}", system_a="amber", system_b="birch", winner=letter, rater=f"r{k % 4}")  # type: ignore[arg-type]
        for k, letter in enumerate(winners)
    ]


def few(samples: int) -> str:
    return (
        f"Below the rubric's minimum: {samples} of {samples} samples have fewer than 2 raters "
        "(“Minimum 2 raters per sample”). What follows is provisional. "
    )


def a_run(folder: Path, measurements: tuple[Measurement, ...], **known: object) -> Run:
    with RunWriter(folder, instrument="preference", settings={}) as writer:
        subject = Subject(id="mine", kind="study", path="mine", sha256=None, facts=known)
        writer.add(Entry(subject=subject, measurements=measurements))
        writer.finish(["mine"])
    return read_run(folder)


def test_the_order_is_open_where_the_intervals_meet(tmp_path: Path) -> None:
    found = study_measurements(votes("aabaabba"), rubric_version="0.1", confidence=0.9, simulated=True)
    run = a_run(tmp_path / "r", found, simulated_raters=True, votes=8, raters=4, samples=8)
    ranking = grids(run)[0]
    assert [row[1] for row in ranking.texts()] == ["amber", "birch"]
    assert ranking.caption == "Intervals: 90 % rater- and prompt-clustered. Where they overlap, the order is open."
    assert ranking.title == "mine: ranking (8 of 8 samples have fewer than 2 raters)"
    assert summary(run) == few(8) + (
        "Simulated raters ranked amber first, then birch. The lead over birch isn't significant: amber wins an "
        "estimated 62% of decided votes against it."
    )
    assert ("Votes", "8 by 4 simulated raters on 8 pairs") in facts(run)


def test_intervals_that_do_not_meet(tmp_path: Path) -> None:
    # Every rater gives amber four votes of five: raters do not differ, and of 200 votes chance leaves little open.
    by_rater = [vote for k in range(50) for vote in votes("aaaa" if k % 5 else "bbbb")]
    named = [
        Vote(sample=str(k), system_a="amber", system_b="birch", winner=v.winner, rater=v.rater)
        for k, v in enumerate(by_rater)
    ]
    run = a_run(tmp_path / "r", study_measurements(named, rubric_version="0.1"))
    assert summary(run) == few(200) + (
        "Raters ranked amber first, then birch. amber's lead is significant: it wins an estimated 80% of decided "
        "votes against birch."
    )


def test_a_study_without_a_ranking_says_why(tmp_path: Path) -> None:
    only_ties = [Vote(sample="s", system_a="amber", system_b="birch", winner="tie", rater="r")]
    run = a_run(tmp_path / "r", study_measurements(only_ties, rubric_version="0.1"))
    assert "mine: no ranking; every vote is a tie" in summary(run)
    empty = a_run(tmp_path / "e", study_measurements([], rubric_version="0.1"))
    assert summary(empty) == "mine: no ranking; no votes yet."


def test_a_run_of_the_first_format_shows_its_numbers_and_no_half_understood_table(tmp_path: Path) -> None:
    settings = {"system": "amber", "exclusion": "none", "labels": "raw"}
    (elo,) = [m for m in study_measurements(votes("ab"), rubric_version="0.1") if m.at == (("system", "amber"),)][:1]
    for_one = replace(elo.definition, places=()).add_params(bound="estimate", system="amber")
    assert settings.items() <= dict(for_one.params).items()
    run = a_run(tmp_path / "r", (Measurement(definition=for_one, value=1000.0, count=2),))
    assert grids(run) == ()
    assert summary(run) == "mine: no ranking; this run is from an earlier version; run the command again."


def test_equal_systems_share_a_rank_and_names_stand_as_they_are(tmp_path: Path) -> None:
    even = [
        Vote(
            sample=f"s{k}", system_a="=cmd|calc", system_b="b%7C", winner="ab"[k % 2], rater=f"r{k % 4}", prompt=f"p{k}"
        )  # type: ignore[arg-type]
        for k in range(8)
    ]
    run = a_run(tmp_path / "r", study_measurements(even, rubric_version="0.1"))
    assert [row[:2] for row in grids(run)[0].texts()] == [["1", "=cmd|calc"], ["1", "b%7C"]]
    assert "=cmd|calc" in summary(run)


def test_adjudicated_labels_are_a_column_of_their_own(tmp_path: Path) -> None:
    # Raw: amber wins 6 of 8. The one label says birch, and moves nothing but its own column.
    given = votes("aaaaaabb")
    label = Vote(sample="s0", system_a="amber", system_b="birch", winner="b", rater="admin", adjudicated=True)
    table = grids(a_run(tmp_path / "r", study_measurements([*given, label], rubric_version="0.1")))[0]
    assert table.header[-1] == "adjudicated"
    assert [(row[1], row[5], row[-1]) for row in table.texts()] == [
        ("amber", "0.7500", "0 of 1"),
        ("birch", "0.2500", "1 of 1"),
    ]


def test_tags_ratings_duels_and_families_are_told_by_system(tmp_path: Path) -> None:
    given = [
        replace(
            vote,
            family=f"T{k % 2 + 1}",
            prompt=f"p{k}",
            primary_tag="Missed constraint",
            secondary_tags=("Identity swap",) if vote.winner == "a" else (),
            ratings={"temporal": (5, 2)},
        )
        for k, vote in enumerate(votes("aabaabbaaabbabab"))
    ]
    measured = study_measurements(given, rubric_version="0.1")
    found = {t.title.partition(" (")[0]: t for t in grids(a_run(tmp_path / "r", measured))}
    # amber won 9 of 16: birch lost 9 votes with each tag given there, amber 7.
    assert found["mine: reasons"].header == ("tag", "primary", "secondary", "against amber", "against birch")
    assert found["mine: reasons"].texts() == [
        ["Missed constraint", "16", "0", "7", "9"],
        ["Identity swap", "0", "9", "0", "9"],
    ]
    duel = found["mine: head to head"]
    assert duel.header == ("system", "against amber", "against birch")
    assert duel.texts()[0][2].startswith("0.5625 (") and duel.texts()[1][1].startswith("0.4375 (")
    assert [row[0] for row in found["mine: ranking per task family"].texts()] == [
        "T1 multi-constraint adherence"
    ] * 2 + ["T2 temporal"] * 2
    assert found["mine: ratings"].header == ("dimension", "amber ↑", "birch ↑")
    assert {row[0] for row in found["mine: strength in JOD"].texts()} == {"amber", "birch"}


def many(order: str, *, lead: int, votes_each: int = 40) -> list[Vote]:
    """Votes between every two systems; the first of `order` wins `lead` of 10 against each other, the rest are even."""
    found = []
    for i, one in enumerate(order):
        for other in order[i + 1 :]:
            for k in range(votes_each):
                won = (k % 10 < lead) if i == 0 else k % 2 == 0
                winner = "a" if won else "b"
                name = {"A": "BaseLine", "B": "birch", "C": "cedar"}
                found.append(
                    Vote(
                        sample=f"{one}{other}{k}",
                        system_a=name[one],
                        system_b=name[other],
                        winner=winner,
                        rater=f"r{k % 8}",
                        prompt=f"p{k // 2}",
                    )
                )
    return found


@pytest.mark.parametrize("lead", [5, 6, 7, 9])
def test_the_headline_says_what_the_possible_ranks_say(lead: int) -> None:
    found = study_measurements(many("ABC", lead=lead), rubric_version="0.1")
    told = headline(found)
    ranks = {m.place["system"]: m.interval for m in found if m.name == "bt_rank" and "family" not in m.place}
    if lead == 5:
        assert told == "BaseLine, birch and cedar equal. No difference is significant."
        return
    first = told.split(" first")[0]
    assert ("'s lead is significant" in told) == (ranks[first].high == 1)
    assert lead < 7 or (first == "BaseLine" and "baseline" not in told)


def test_active_pairing_gives_an_order_and_no_strengths() -> None:
    found = study_measurements(many("ABC", lead=9), rubric_version="0.1", pairing="active")
    by_name = {name: [m for m in found if m.name == name] for name in ("bt_elo", "jod", "bt_rank", "head_to_head")}
    assert all(m.value is None and "only the order holds" in m.note for m in (*by_name["bt_elo"], *by_name["jod"]))
    assert all(m.value is not None and m.interval is None for m in (*by_name["bt_rank"], *by_name["head_to_head"]))
    assert headline(found).startswith("BaseLine first, then ")
    assert "There are no intervals" in headline(found)


class TestTies:
    """Systems of one rank are called equal, wherever the tie is and whatever was asked."""

    @staticmethod
    def rated(scores: dict[str, list[int]]) -> tuple[Measurement, ...]:
        answers = [
            Judgement(sample=f"{name}{k}", systems=(name,), rater=f"r{r}", ratings={"overall": score}, prompt=f"p{k}")
            for name, given in scores.items()
            for k, score in enumerate(given)
            for r in range(6)
        ]
        return study_measurements(answers, rubric_version="opinion-1", method=method("acr-5"))

    def test_of_all(self, tmp_path: Path) -> None:
        found = self.rated({name: [3, 5, 4, 4] for name in ("Eastlake", "Northwind", "Orbit")})
        words = "Eastlake, Northwind and Orbit equal (mean opinion score 4 of 5). No difference is significant."
        assert headline(found) == words
        assert summary(a_run(tmp_path / "r", found)) == f"Raters ranked {words}"

    def test_at_the_top(self) -> None:
        found = self.rated({"Eastlake": [4, 5] * 4, "Northwind": [5, 4] * 4, "Orbit": [1, 2] * 4})
        assert headline(found) == (
            "Eastlake and Northwind equal first (mean opinion score 4.500 of 5), then Orbit. Their lead is significant."
        )
        found = self.rated({"Eastlake": [4, 5] * 2, "Northwind": [5, 4] * 2, "Orbit": [4, 5, 4, 4]})
        assert headline(found).endswith("then Orbit. Their lead over Orbit isn't significant.")

    def test_below_the_top(self) -> None:
        answers = [
            Judgement(
                sample=f"s{k}",
                systems=("Eastlake", "Northwind", "Orbit"),
                rater=f"r{r}",
                best="Eastlake" if (k + r) % 6 else ("Northwind", "Orbit")[k // 6 % 2],
                worst=("Northwind", "Orbit")[(k + r) % 2] if (k + r) % 6 else ("Orbit", "Northwind")[k // 6 % 2],
                prompt=f"p{k}",
            )
            for k in range(12)
            for r in range(4)
        ]
        swap = {"Northwind": "Orbit", "Orbit": "Northwind"}
        answers += [
            replace(one, rater=f"{one.rater}x", best=swap.get(one.best, one.best), worst=swap.get(one.worst, one.worst))
            for one in answers
        ]
        found = study_measurements(answers, rubric_version="best-worst-1", method=method("best-worst-3"))
        told = headline(found)
        assert told.startswith("Eastlake first, then Northwind and Orbit equal. Eastlake's lead is significant: it ")
        assert told.endswith(" of decided votes against each of Northwind and Orbit.")

    def test_of_pairs(self) -> None:
        found = study_measurements(votes("abababab"), rubric_version="0.1")
        assert headline(found) == "amber and birch equal. No difference is significant."
        alone = study_measurements([replace(v, rater="r") for v in votes("abab")], rubric_version="0.1")
        assert headline(alone) == (
            "amber and birch equal. There are no intervals, so how sure this order is remains open."
        )
