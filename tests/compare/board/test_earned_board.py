"""Metrics with a credential on a board: who may say better, about what, on which kind of video; families; too few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compare.agreement.rated import definition as rated_definition

from rushes.compare.agreement.credential import Agreed, Credential
from rushes.compare.board.board import board_as_data, board_page
from rushes.compare.board.families import grouping, shares
from rushes.compare.board.judging import judge_board
from rushes.compare.board.model import PEOPLE, BoardClip, BoardData, Family, Reading, System
from rushes.compare.board.page.columns import board_columns
from rushes.compare.board.page.people_words import MOST_WORDS
from rushes.compare.board.page.words import Opening, opening_of
from rushes.compare.board.powered import powered_questions
from rushes.compare.comparison import Outcome, WhyNot
from rushes.compare.readings.collect import collect_board
from rushes.compare.readings.study_ratings import human_scores_of_ratings
from rushes.core import Definition
from rushes.core.errors import InputError
from rushes.core.reason import Cause, Reason
from rushes.instruments.clip.metrics.timing import FRAME_COUNT
from rushes.instruments.clip.readings import BADGE_SHARE
from rushes.instruments.judge.definitions import JUDGE_GRADE
from rushes.instruments.judge.forms.setup import verdict_of
from rushes.instruments.judge.worth import contrast
from rushes.instruments.preference.votes import Vote
from rushes.storage.runs import Run, Subject

from .board_made import board_data, credential, reading
from .boards import board
from .boards import reading as plain
from .test_people_board import suite_of

PLAIN: dict[str, Any] = {"unit": "1", "lowest": None, "highest": None, "summary": "s", "formula": "f"}
WARP = reading("warp", better="lower", raised_by=("noise",), lowered_by=("blur",))
NAMES = ("amber", "birch", "cedar")
JUDGED = {name: "x" for name in JUDGE_GRADE.open_params if name != "control"}


def made(
    *credentials: Credential, kind: str = "", readings: Sequence[Reading] = (WARP,), prompts: int = 12
) -> BoardData:
    """amber is lowest on every prompt, then birch, then cedar."""
    return board_data(NAMES, readings, prompts=prompts, credentials=credentials, kind=kind)


def opened(data: BoardData) -> Opening:
    return opening_of(data, board_columns(data, judge_board(data)), level=0.95)


TEMPORAL = replace(
    reading("clip_rating", better="higher", unit="points"),
    label="temporal quality",
    instrument=PEOPLE,
)


class TestTerminal:
    """About ten lines; the page has the rest."""

    @pytest.mark.parametrize(
        ("raters", "words"),
        [
            (
                "lower",
                "warp agrees with raters on temporal quality (right in 80 % of the pairs that people judged; "
                "also affected by noise).",
            ),
            (
                "higher",
                "warp contradicts raters on temporal quality: amber over every other system; birch over cedar "
                "(right in 80 % of the pairs that people judged; also affected by noise).",
            ),
        ],
    )
    def test_one_line_of_the_best_metric_says_whether_raters_agree(self, raters: str, words: str) -> None:
        """Ratings rise from amber to cedar, as the metric does; so lower is better in both, or the two disagree."""
        asked = replace(TEMPORAL, definition=replace(TEMPORAL.definition, better=raters))
        lines = opened(made(credential(WARP.definition), readings=(asked, WARP))).terminal(80)
        assert lines[1].startswith("temporal quality: ") and lines[2].startswith("Same letter: ") and lines[3] == words

    def test_without_raters_the_headline_is_not_repeated(self) -> None:
        lines = opened(made(credential(WARP.definition))).terminal(80)
        assert lines[0].startswith("Better in temporal quality by warp")
        assert lines[1] == "warp is right in 80 % of the pairs that people judged; also affected by noise."
        assert lines[-1].startswith("Nobody rated these clips.") and len(lines) <= 4

    def test_a_question_has_one_line_however_narrow_the_window(self) -> None:
        asked = replace(TEMPORAL, definition=replace(TEMPORAL.definition, better="lower"))
        found = opened(made(readings=(asked, WARP)))
        (one,) = found.standings
        assert found.terminal(200)[1] == one.line == found.people[0]
        short = found.terminal(len(one.line) - 1)[1]
        assert short.endswith(", 1 more") and "amber" in short and "birch" in short and "cedar" not in short
        assert found.terminal(10)[1].endswith(", 2 more")


class TestSay:
    def test_without_a_credential_a_metric_shows_differences_alone(self) -> None:
        found = judge_board(made())[WARP.key]
        assert {c.outcome for c in found.contrasts} == {Outcome.MOVED} and not found.ranked and not found.say

    def test_with_one_it_ranks_and_the_words_name_question_data_and_one_person(self) -> None:
        data = made(credential(WARP.definition))
        found = judge_board(data)[WARP.key]
        assert found.ranks == {"amber": (1, 1), "birch": (2, 2), "cedar": (3, 3)} and found.why is None
        text = str(opened(data))
        assert "Better in temporal quality by warp: amber over every other system; birch over cedar." in text
        assert "It agrees with people in 80 % of pairs (FETV, 17 prompts, text-to-video; one person: 88 %)." in text
        assert "Caution: also raised by noise, lowered by blur." in text
        assert text.count("rank systems, not the clips of one system") == 1 and "is 0.10 (one person: 0.49)" in text
        assert len(opened(data).headline.split()) <= MOST_WORDS and opened(data).headline.startswith("Better in temp")

    def test_on_its_kind_of_video_the_kind_is_not_repeated(self) -> None:
        text = str(opened(made(credential(WARP.definition), kind="text-to-video")))
        assert "of pairs (FETV, 17 prompts; one person: 88 %)" in text

    def test_on_another_kind_it_does_not_count_and_the_board_says_so(self) -> None:
        data = made(credential(WARP.definition), kind="talking-head")
        assert not judge_board(data)[WARP.key].ranked
        said = "warp has a credential for text-to-video. These clips are talking-head, so it does not count."
        assert said in str(opened(data))

    @pytest.mark.parametrize(
        "change",
        [
            {"signature": "warp|v:2"},
            {"pairs_right": Agreed(value=0.6, low=0.45, high=0.7)},
        ],
    )
    def test_another_version_or_a_coin_earns_nothing(self, change: dict[str, object]) -> None:
        assert not judge_board(made(credential(WARP.definition, **change)))[WARP.key].ranked

    def test_a_metric_that_does_not_know_better_never_says_it(self) -> None:
        shade = reading("shade", better="neither")
        found = judge_board(made(credential(shade.definition), readings=(shade,)))[shade.key]
        assert not found.ranked and found.why is WhyNot.NO_DIRECTION

    def test_of_clips_brought_to_one_form_any_form_counts_and_is_named(self) -> None:
        here, there = (
            WARP.definition.add_params(input=f"alike-1({form})") for form in ("96x96@8,2s,crop", "256x256@8,2s,crop")
        )
        one = replace(WARP, definition=here)
        data = made(credential(there), readings=(one,))
        assert judge_board(data)[one.key].ranked
        assert "clips as 256x256@8,2s,crop" in str(opened(data))
        raw = replace(WARP, definition=WARP.definition.add_params(input="raw"))
        assert not judge_board(made(credential(there), readings=(raw,)))[raw.key].ranked

    def test_every_number_of_the_words_has_its_definition_in_json(self) -> None:
        data = made(credential(WARP.definition))
        page = board_page(data)
        told = board_as_data(page.data, page.verdicts, opening=page.opening)
        (one,) = told["readings"]  # type: ignore[misc]
        assert one["family"] == "credentialed" and one["say"][0]["question"] == "temporal_quality"
        values = {m["value"]: m["signature"] for m in one["say"][0]["agreement"]}
        assert {0.8, 0.88, 0.1, 0.49} == set(values)
        assert values[0.8].startswith("credential_agreement|agreement:pairs-right|data:FETV-abababababab|of:warp;v:1|")
        assert values[0.8] in told["definitions"]  # type: ignore[operator]

    def test_credentials_lie_in_the_suites_folder_or_beside_it(self, tmp_path: Path) -> None:
        folder = suite_of(tmp_path, ("p0", "p1"), more="")
        shipped = collect_board(folder).credentials
        for place in (folder, tmp_path):
            (place / "credentials").mkdir()
            name = f"{place.name[0]}.toml"
            (place / "credentials" / name).write_text(credential(rated_definition(f"m{place.name[0]}")).toml())
        more = collect_board(folder).credentials
        assert len(more) == len(shipped) + 2 and len(shipped) >= 4
        (tmp_path / "credentials" / "broken.toml").write_text("format = 7")
        with pytest.raises(InputError, match=r"broken.toml: expected a credential of format 1; got 7"):
            collect_board(folder)


class TestFamilies:
    def test_people_metrics_with_a_credential_and_others_share_the_error(self) -> None:
        """Nothing differs: all three have tests left throughout. 12 prompts, p of each pair its own."""
        assert shares(list(Family)) == {Family.PEOPLE: 0.8, Family.CREDENTIALED: 0.1, Family.OTHERS: 0.1}
        assert shares([Family.PEOPLE, Family.OTHERS]) == {Family.PEOPLE: 0.8, Family.OTHERS: 0.2}
        assert shares([Family.CREDENTIALED, Family.OTHERS]) == {Family.CREDENTIALED: 0.5, Family.OTHERS: 0.5}
        asked = replace(reading("look", better="higher"), instrument="preference")
        other = reading("other", better="higher")
        rng = np.random.default_rng(1)
        rows = {name: rng.normal(9, 1, 12).tolist() for name in NAMES}
        data = board(*((one, rows) for one in (asked, WARP, other)), credentials=(credential(WARP.definition),))
        found = judge_board(data)
        for one, share in ((asked, 0.8), (WARP, 0.1), (other, 0.1)):
            p = found[one.key].contrasts[0]
            assert f"|share:{share}|" in p.adjusted_p.signature and "tests:3|v:2" in p.adjusted_p.signature
            smallest = min(float(c.p.value or 0) for c in found[one.key].contrasts)
            assert min(float(c.adjusted_p.value or 0) for c in found[one.key].contrasts) == pytest.approx(
                min(1.0, 3 * smallest / share)
            )

    def test_facts_and_doubles_are_shown_and_not_tested(self) -> None:
        badge = BADGE_SHARE.with_params(profile="p", tier=0, input="raw")
        rates = [replace(plain(badge), label=f"{name} rate", at=(("badge", name),)) for name in ("pass", "flagged")]
        fact, score = plain(FRAME_COUNT), plain()
        columns = (plain(WARP.definition), fact, score)
        data = board(*((one, {"amber": [1.0] * 8, "birch": [0.0] * 8}) for one in columns))
        groups = grouping(data, (*rates, *columns))
        assert set(groups.untested) == {rates[1].key, fact.key}
        assert groups.untested[rates[1].key] == "not tested separately: it follows pass rate"
        found = judge_board(data)
        assert found[fact.key].why is WhyNot.NOT_TESTED and not found[fact.key].contrasts
        assert "tests:2|" in found[score.key].contrasts[0].adjusted_p.signature
        shown = {c.reading.key: c for c in board_columns(data, found)}
        assert shown[fact.key].group == "untested" and shown[fact.key].why == "a fact of the file: shown, not tested"

    def test_equal_systems_with_credentials_differ_on_at_most_one_board_of_twenty(self) -> None:
        """120 boards of 4 equal systems, 14 prompts: two questions, two metrics with a credential that follow people's
        ratings, two others that follow those."""
        alarms = 0
        questions = [replace(reading(f"q{n}", better="higher"), instrument="preference") for n in range(2)]
        metrics = [reading(f"m{n}", better="higher") for n in range(4)]
        earned = tuple(credential(one.definition, question=f"q{n}") for n, one in enumerate(metrics[:2]))
        for seed in range(120):
            rng = np.random.default_rng(seed)
            liked = rng.normal(20, 1, (4, 14)) + rng.normal(0, 1, 14)
            columns = []
            for place, one in enumerate((*questions, *metrics)):
                values = liked * (0.8 if place < 4 else 0.4) + rng.normal(0, 0.6, (4, 14))
                columns.append((one, {f"s{n}": row.tolist() for n, row in enumerate(values)}))
            found = judge_board(board(*columns, credentials=earned))
            alarms += any(c.outcome.is_change for one in found.values() for c in one.contrasts)
        assert alarms <= 120 * 0.05


class TestTooFew:
    def test_five_prompts_say_so_with_the_number_that_could(self) -> None:
        """Three pairs at 5 %: 2^(1 − n) ≤ .05/3 needs n = 7; 5 prompts have .0625 at best."""
        asked = replace(reading("lip", label="lip", better="higher"), instrument="preference")
        data = made(readings=(asked,), prompts=5)
        said = opened(data)
        assert judge_board(data)[asked.key].too_few == 7
        assert said.headline == (
            "Raters ranked cedar first in lip (12.00), but 5 prompts cannot show a significant difference; at least 7 "
            "are needed."
        )
        assert "told apart" not in str(said) and "do not differ" not in str(said)

    def test_enough_prompts_without_a_difference_are_not_too_few(self) -> None:
        one = plain()
        rng = np.random.default_rng(2)
        data = board((one, {name: rng.normal(0, 1, 12).tolist() for name in NAMES}))
        assert judge_board(data)[one.key].too_few == 0
        assert opened(data).headline == "No significant difference on the one metric that can rank systems."


def test_best_needs_every_other_system_to_compare() -> None:
    """cedar's frame size differs, so it compares with neither: amber is ahead of birch alone."""
    one = plain(WARP.definition.add_params(), lane="")
    sized = replace(one, definition=replace(one.definition, depends_on=("frame_size",)))
    rows = {"amber": [1.0 + n / 9 for n in range(9)], "birch": [3.0 + n for n in range(9)], "cedar": [5.0] * 9}
    media = {
        (name, f"p{n}"): BoardClip(
            path="c.mp4",
            run=0,
            subject="c",
            facts={"media": {"video": {"width": 64 if name != "cedar" else 96, "height": 36, "fps": "25"}}},
        )
        for name in rows
        for n in range(9)
    }
    data = board((sized, rows), clips=media, credentials=(credential(sized.definition),))
    whole = board_data(tuple(rows), (sized,), prompts=9).whole
    (column,) = board_columns(replace(data, whole=whole), judge_board(data))
    assert column.verdict is not None and column.verdict.ranked == (("amber", "birch"),)
    assert not any(cell.best for cell in column.cells)


def test_review_signals_that_divide_the_systems_are_a_line() -> None:
    def system(name: str, flickering: int) -> System:
        why = tuple(Reason(cause=Cause.OTHER, level="flagged", words=words) for words in ("soft", "flickers"))
        subjects = tuple(
            Subject(id=f"p{n}", kind="clip", path=f"{name}/p{n}.mp4", sha256=None, badge="pass", why=())
            if n >= flickering
            else Subject(id=f"p{n}", kind="clip", path=f"{name}/p{n}.mp4", sha256=None, badge="flagged", why=why)
            for n in range(6)
        )
        return System(name=name, runs=(Run(path=Path(name), info={}, subjects=subjects, measurements={}),))

    counts = {"amber": 6, "birch": 2, "cedar": 0}
    clips = {
        (name, f"p{n}"): BoardClip(path=f"{name}/p{n}.mp4", run=0, subject=f"p{n}") for name in counts for n in range(6)
    }
    data = replace(made(prompts=6), systems=tuple(system(*one) for one in counts.items()), clips=clips)
    first, second = (line for line in opened(data).metrics if "in 6 of 6 clips" in line)  # as many: by their names
    assert first == "amber flickers in 6 of 6 clips, birch in 2 of 6, the other in none." and "soft" in second
    assert first in opened(data).terminal(80) and second not in opened(data).terminal(80)
    even = replace(data, systems=tuple(system(name, 2) for name in counts))
    assert not any("flickers" in line for line in opened(even).metrics)


class TestPowered:
    """20 of 60 prompts are rated; the metric follows people closely, and runs higher on the prompts that are not."""

    def data(self, *, share: float = 0.9, **more: object) -> BoardData:
        rng = np.random.default_rng(5)
        prompts = [f"p{n}" for n in range(60)]
        score = plain(Definition(**PLAIN | {"name": "score", "better": "lower"}), instrument="scores")
        asked = plain(
            Definition(**PLAIN | {"name": "clip_rating", "lowest": 1, "highest": 5, "better": "higher"}).add_params(
                question="look", scale="1-5"
            ),
            label="look",
            instrument="preference",
        )
        rows: dict[str, list[float]] = {}
        answers: dict[str, dict[str, dict[str, float]]] = {}
        for place, name in enumerate(("amber", "birch")):
            liked = rng.normal(4.4 - place, 0.5, 60)
            rows[name] = (50 - 9 * (share * liked + (1 - share) * rng.normal(3, 0.5, 60))).tolist()
            answers[name] = {
                p: {f"r{r}": float(np.clip(round(liked[n] + rng.normal(0, 0.3)), 1, 5)) for r in range(3)}
                for n, p in enumerate(prompts[:20])
            }
        made = board((score, rows), answers={asked.key: answers}, **more)
        people = {(name, asked.key): {} for name in rows}
        return replace(made, readings=(asked, score), values=made.values | people)

    def test_the_estimate_is_people_plus_a_share_of_what_the_metric_adds(self) -> None:
        data = self.data()
        (found,) = powered_questions(data, judge_board(data))
        assert (found.rated, found.others, found.metric.definition.name) == (20, 40, "score")
        answers = data.answers[data.readings[0].key]
        for name, number in found.means.items():
            y = np.array([np.mean(list(by.values())) for by in answers[name].values()])
            metric = -np.array([float(m.value or 0) for m in data.values[name, found.metric.key].values()])
            scaled = metric * y.std(ddof=1) / metric.std(ddof=1)
            weight = float(number.weight.value or 0)
            assert 0 < weight <= 1
            mean = y.mean() + weight * (scaled[20:].mean() - scaled[:20].mean())
            assert number.value.value == pytest.approx(mean) and number.value.place == {"system": name}
            ends = number.value.interval
            assert ends is not None and 1 <= ends.low < ends.high <= 5 and float(number.width.value or 1) < 1
        (both,) = found.differences.values()
        assert both.value.place == {"first": "amber", "second": "birch"} and float(both.value.value or 0) < 0
        assert both.value.signature.startswith("powered_difference|of:score;v:1|question:look|raters:fixed|scale:1-5")

    def test_a_line_says_it_beside_peoples_own_and_json_has_all(self) -> None:
        data = self.data()
        page = board_page(data, timelines=0)
        (line,) = [one for one in page.opening.metrics if "unrated" in one]
        assert line.startswith("look, with score on 40 unrated prompts: amber ") and "narrower than from raters" in line
        told = board_as_data(page.data, page.verdicts, opening=page.opening, powered=page.powered)
        (one,) = told["powered"]  # type: ignore[misc]
        assert (one["rated_prompts"], one["other_prompts"], len(one["numbers"])) == (20, 40, 9)
        assert all(m["signature"] in told["definitions"] for m in one["numbers"])  # type: ignore[operator]

    def test_a_useless_metric_changes_nothing_and_the_credentialed_one_is_taken_first(self) -> None:
        data = self.data(share=0.0)
        (found,) = powered_questions(data, judge_board(data))
        assert all(number.width.value is not None and number.width.value <= 1 for number in found.numbers)
        warp = plain(WARP.definition)
        rows = {(name, warp.key): data.values[name, found.metric.key] for name in data.names}
        values = {key: {p: replace(m, definition=warp.definition) for p, m in row.items()} for key, row in rows.items()}
        more = replace(
            data,
            readings=(*data.readings, warp),
            values=data.values | values,
            credentials=(credential(warp.definition, question="look"),),
        )
        (first,) = powered_questions(more, judge_board(more))
        assert first.metric.definition.name == "warp"

    @pytest.mark.parametrize(
        ("standing", "question", "taken"),
        [("shown", "look", "judge_grade"), ("blind", "look", "score"), ("shown", "visual_quality", "score")],
    )
    def test_a_judge_that_passed_its_control_is_taken_for_the_question_it_was_asked(
        self, standing: str, question: str, taken: str
    ) -> None:
        """Before imported scores; a blind judge's numbers have no direction and are not taken."""
        data = self.data()
        found = contrast((f"p{n}", 0.5 if standing == "shown" else 0.0) for n in range(12))
        named = verdict_of(
            JUDGE_GRADE.with_params(**JUDGED | {"question": question}), {"q": (found, "prompt")}, "prompt"
        )
        judge = plain(named, label="Judge", instrument="judge")
        score = data.readings[1]
        values = {
            (name, judge.key): {
                p: replace(m, definition=named, value=min(5.0, max(1.0, (50 - float(m.value or 0)) / 9)))
                for p, m in data.values[name, score.key].items()
            }
            for name in data.names
        }
        more = replace(data, readings=(*data.readings, judge), values=data.values | values)
        (one,) = powered_questions(more, judge_board(more))
        assert one.metric.definition.name == taken
        alone = replace(more, readings=(data.readings[0], judge))
        assert [one.metric.definition.name for one in powered_questions(alone, judge_board(alone))] == (
            ["judge_grade"] if standing == "shown" else []
        )
        if taken == "judge_grade":
            assert all(float(number.width.value or 1) < 1 for number in one.numbers), "narrower than people alone"

    def test_none_where_every_prompt_is_rated(self) -> None:
        data = self.data()
        short = replace(data, values={k: dict(list(v.items())[:20]) for k, v in data.values.items()})
        assert powered_questions(short, {}) == ()


def test_ratings_of_a_study_by_dimension(tmp_path: Path) -> None:
    """r1 rates amber's p0 4 and 2 in two pairs: 3; the gold pair and a clip without a rating stay out."""
    votes = [
        Vote(
            sample=f"p0-{other}",
            system_a="amber",
            system_b=other,
            winner="a",
            rater="r1",
            prompt="p0",
            ratings={"motion": (rating, None)},
            clip_a="amber/amber_p0",
            clip_b=f"{other}/p0",
        )
        for other, rating in (("birch", 4), ("cedar", 2))
    ]
    gold = replace(votes[0], is_gold=True, ratings={"motion": (1, 1)})
    found = human_scores_of_ratings([*votes, gold], "studies.db", lambda name: name == "p0")
    assert found.scores == {"motion": {("amber", "p0"): {"r1": 3.0}}} and found.kind == "mean-rating"


def test_metrics_with_a_credential_that_contradict_each_other_are_named() -> None:
    """warp puts amber first, glow (higher is better) cedar; blur has no say on the question."""
    glow, haze = reading("glow", better="higher", raised_by=("light",)), reading("haze", better="lower")
    weaker = Agreed(value=0.7, low=0.6, high=0.8)
    earned = (
        credential(WARP.definition),
        *(credential(one.definition, pairs_right=weaker) for one in (glow, haze)),
    )
    data = made(*earned, readings=(WARP, glow, haze))
    (line,) = [one for one in opened(data).metrics if one.startswith("Better in temporal quality")]
    assert "by warp: amber over every other system" in line
    assert line.endswith("glow contradicts it; haze does not contradict it.")
