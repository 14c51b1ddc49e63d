"""What a board says in words, in its cells and in its order; boards are made up by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import rushes
from rushes.compare.board.board import write_board
from rushes.compare.board.model import BoardClip, BoardData, Reading, ReadingVerdict
from rushes.compare.board.overall import with_overall
from rushes.compare.board.page.clips import ClipIndex, first_clips, rows_by_disagreement
from rushes.compare.board.page.columns import BoardColumn, board_columns, cell_digits, fixed
from rushes.compare.board.page.words import opening_of
from rushes.compare.comparison import Refused
from rushes.core.errors import InputError

from .board_made import board_data, definition, measured, reading, verdict

FLICKER, FROZEN = reading("flicker", label="Flicker"), reading("frozen", label="Frozen")
SHARP = reading("sharpness", label="Sharpness", better="higher", raised_by=("noise",))
ELO = reading("bt_elo", label="Elo", better="higher", per_prompt=False, instrument="preference")
NOBODY = "Nobody rated these clips. Metrics are reasons to look; people decide preference."
HOSTILE = "</script><img src=x onerror=alert(1)>&\"'"


def columns_of(data: BoardData, *judged: ReadingVerdict) -> tuple[BoardColumn, ...]:
    return board_columns(data, {one.key: one for one in judged})


def found(data: BoardData, *judged: ReadingVerdict) -> str:
    return opening_of(data, columns_of(data, *judged), level=0.95).found


def embedded(html: str) -> dict[str, object]:
    text = re.search(r'<script type="application/json" id="board-data">(.*?)</script>', html, re.DOTALL)
    assert text is not None
    made: dict[str, object] = json.loads(text[1])
    return made


class TestOpening:
    def test_names_the_best_system_and_the_two_that_do_not_differ(self) -> None:
        data = board_data(readings=(FLICKER, FROZEN))
        told = [verdict(data, one, [["amber"], ["birch", "cedar"]]) for one in (FLICKER, FROZEN)]
        assert found(data, *told) == (
            "amber is better than every other system on 2 of 2 metrics (Flicker and Frozen). "
            "birch and cedar do not differ significantly on any metric. " + NOBODY
        )

    def test_says_how_sure_over_how_many_prompts(self) -> None:
        data = board_data(prompts=4)
        columns = columns_of(data, verdict(data, FLICKER, [["amber"], ["birch"], ["cedar"]]))
        sure = opening_of(data, columns, level=0.95).sure
        assert "4 shared prompts, 3 tests" in sure and "at most 5 of 100" in sure

    def test_two_systems_read_as_one_sentence(self) -> None:
        data = board_data(("amber", "birch"), (FLICKER, FROZEN, reading("warp", label="Warp")))
        tiers = ([["amber"], ["birch"]], [["birch"], ["amber"]], [["amber", "birch"]])
        told = [verdict(data, one, tier) for one, tier in zip(data.readings, tiers, strict=True)]
        assert found(data, *told) == (
            "amber is better than birch on Flicker, and worse on Frozen; no significant difference on Warp. " + NOBODY
        )

    def test_no_difference_is_no_winner(self) -> None:
        data = board_data()
        text = found(data, verdict(data, FLICKER, [["amber", "birch", "cedar"]]))
        assert text == f"No significant difference on the one metric that can rank systems. {NOBODY}"

    def test_a_reading_that_only_moves_names_no_winner(self) -> None:
        data = board_data(readings=(SHARP,))
        judged = verdict(data, SHARP, [["amber"], ["birch"], ["cedar"]], ranked=False, why_not="noise raises it too")
        text = found(data, judged)
        assert text.startswith("No metric here can rank systems") and " better" not in text.partition("quality")[0]

    def test_people_come_first(self) -> None:
        data = board_data(readings=(FLICKER, ELO))
        tiers = [["amber"], ["birch"], ["cedar"]]
        text = found(data, verdict(data, FLICKER, tiers), verdict(data, ELO, tiers[::-1]))
        assert text.startswith("Raters ranked cedar first in Elo (")
        assert "amber is better" in text and "Nobody" not in text

    def test_an_unsure_vote_is_told_as_an_order(self) -> None:
        data = board_data(readings=(ELO,))
        text = found(data, verdict(data, ELO, [["amber", "birch", "cedar"]]))
        assert text.startswith("Raters ranked cedar first in Elo (11.98); its lead over birch isn't significant")
        assert "Elo: cedar 11.98 a" in text and "Nobody" not in text

    def test_one_system_has_nothing_to_be_better_than(self) -> None:
        assert found(board_data(("amber",))).startswith("Only one system")


class TestCells:
    def test_best_is_marked_only_where_every_other_system_is_behind(self) -> None:
        data = board_data(readings=(FLICKER, FROZEN))
        sure = verdict(data, FLICKER, [["amber"], ["birch", "cedar"]])
        open_ = verdict(data, FROZEN, [["amber", "birch"], ["cedar"]])
        first, second = columns_of(data, sure, open_)
        assert [cell.best for cell in first.cells] == [True, False, False]
        assert [cell.best for cell in second.cells] == [False, False, False]
        assert [cell.rank for cell in first.cells] == ["1", "2–3", "2–3"]
        assert [cell.letters for cell in second.cells] == ["a", "a", "b"]

    def test_readings_that_only_move_come_after_and_have_no_rank(self) -> None:
        data = board_data(readings=(SHARP, FLICKER))
        columns = columns_of(
            data,
            verdict(data, SHARP, [["amber"], ["birch", "cedar"]], ranked=False),
            verdict(data, FLICKER, [["amber"], ["birch", "cedar"]]),
        )
        assert [(c.reading.label, c.judged, c.why) for c in columns] == [
            ("Flicker", True, ""),
            ("Sharpness", False, "noise raises it as well"),
        ]
        assert not any(cell.rank or cell.best for cell in columns[1].cells)

    def test_a_missing_number_is_a_dash_that_says_why(self) -> None:
        data = board_data()
        gone = {("birch", FLICKER.key): measured(FLICKER.definition, None, note="no clip could be read")}
        (column,) = columns_of(replace(data, whole={**data.whole, **gone}))
        assert (column.cells[1].text, column.cells[1].title) == ("–", "no clip could be read")

    @pytest.mark.parametrize(
        ("value", "half", "digits", "text"),
        [
            (12.3456, 0.43, 2, "12.35"),  # log10(0.43) = −0.37, floor −1: 1 + 1 = 2
            (3149.2, 31.0, 0, "3149"),  # floor(log10 31) = 1: 1 − 1 = 0
            (0.0123, 0.0007, 5, "0.01230"),  # floor(log10 0.0007) = −4: 5
            (7.0, 0.0, 0, "7"),
        ],
    )
    def test_digits_follow_the_interval(self, value: float, half: float, digits: int, text: str) -> None:
        made = measured(definition(), value, half=half)
        assert cell_digits([made]) == digits
        assert fixed(value, digits) == text


class TestOrder:
    def test_prompts_on_which_systems_are_furthest_apart_come_first(self) -> None:
        """Values of flicker by prompt: p0 (1, 1), p1 (1, 5), p2 (1, 3): spreads 0, 4, 2."""
        data = board_data(("amber", "birch"), prompts=3)
        planted = {"amber": (1.0, 1.0, 1.0), "birch": (1.0, 5.0, 3.0)}
        values = {
            (name, FLICKER.key): {p.id: measured(FLICKER.definition, v) for p, v in zip(data.prompts, row, strict=True)}
            for name, row in planted.items()
        }
        assert rows_by_disagreement(replace(data, values=values)) == [1, 2, 0]

    def test_a_prompt_without_two_values_comes_last(self) -> None:
        data = board_data(("amber", "birch"), prompts=3)
        row = dict(data.values["amber", FLICKER.key]) | {"p001": measured(FLICKER.definition, None)}
        values = {**data.values, ("amber", FLICKER.key): row}
        assert rows_by_disagreement(replace(data, values=values))[-1] == 1

    def test_without_per_prompt_readings_the_order_is_the_boards(self) -> None:
        assert rows_by_disagreement(board_data(readings=(ELO,), prompts=3)) == [0, 1, 2]

    def test_whole_rows_alone_get_pictures(self) -> None:
        data = board_data(("amber", "birch"), prompts=3)
        clips = {(n, p.id): BoardClip(path="x", run=0, subject="x") for n in data.names for p in data.prompts}
        keys = first_clips(replace(data, clips=clips), [2, 0, 1], 5)
        assert keys == [("amber", "p002"), ("birch", "p002"), ("amber", "p000"), ("birch", "p000")]


class TestOverall:
    def test_is_the_declared_sum_by_direction(self) -> None:
        """Flicker is lower-better, identity higher-better: overall = 2·identity − 0.5·flicker, prompt by prompt."""
        identity = reading("identity", label="Identity", better="higher")
        data = board_data(("amber", "birch"), (FLICKER, identity), prompts=3)
        made = with_overall(data, {"Flicker": 0.5, "identity": 2})
        overall = made.readings[0]
        assert overall.label == "Overall (0.5 × Flicker + 2 × Identity)"
        assert overall.definition.param("weights") == "0.5*(flicker;v:1),2*(identity;v:1)"
        parts = [float(data.values["birch", one.key]["p001"].value or 0) for one in (FLICKER, identity)]
        assert made.values["birch", overall.key]["p001"].value == pytest.approx(2 * parts[1] - 0.5 * parts[0])
        mean = made.whole["birch", overall.key]
        assert mean.count == 3 and mean.interval is not None and "over:shared-prompts" in mean.signature

    def test_keeps_what_else_moves_its_readings(self) -> None:
        data = board_data(readings=(SHARP, reading("warp", raised_by=("motion",), label="Warp")))
        made = with_overall(data, {"Sharpness": 1, "Warp": 1}).readings[0].definition
        assert (made.raised_by, made.lowered_by) == (("noise",), ("motion",))

    def test_a_prompt_without_a_value_has_no_score(self) -> None:
        data = board_data(("amber", "birch"), prompts=3)
        row = dict(data.values["amber", FLICKER.key]) | {"p001": measured(FLICKER.definition, None)}
        made = with_overall(replace(data, values={**data.values, ("amber", FLICKER.key): row}), {"Flicker": 1})
        overall = made.readings[0].key
        assert made.values["amber", overall]["p001"].note == "no value of Flicker"
        assert made.whole["birch", overall].count == 2  # the mean leaves the prompt out for both

    @pytest.mark.parametrize(
        ("weights", "why"),
        [
            ({"Flickr": 1.0}, "Did you mean `Flicker`?"),
            ({"Flicker": 0.0}, "above 0"),
            ({"Elo": 1.0}, "one value per system"),
            ({"Motion": 1.0}, "no better direction"),
        ],
    )
    def test_refuses_in_one_line(self, weights: dict[str, float], why: str) -> None:
        motion = reading("motion", label="Motion", better="neither")
        with pytest.raises(InputError, match=re.escape(why)):
            with_overall(board_data(readings=(FLICKER, ELO, motion)), weights)


class TestPage:
    def test_same_board_same_bytes_and_nothing_from_elsewhere(self, tmp_path: Path) -> None:
        data = board_data(readings=(FLICKER, SHARP))
        judged = {FLICKER.key: verdict(data, FLICKER, [["amber"], ["birch", "cedar"]])}
        one, two = (write_board(data, tmp_path / name, verdicts=judged) for name in ("a.html", "b.html"))
        html = Path(one.path).read_text()
        assert html == Path(two.path).read_text()
        assert not re.findall(r"""(?:src|href)=["']https?:""", html)
        assert "no overall score" in html and "amber is better than every other system" in html
        assert FLICKER.definition.signature in html

    def test_values_travel_with_their_signature(self, tmp_path: Path) -> None:
        data = board_data(prompts=2)
        made = write_board(data, tmp_path / "board.html", verdicts={})
        sent = embedded(Path(made.path).read_text())
        (one,) = sent["readings"]  # type: ignore[misc]
        stored = data.values["cedar", FLICKER.key]["p001"].value
        assert one["values"][2][1] == pytest.approx(stored) and one["signature"] == FLICKER.definition.signature

    def test_whatever_a_prompt_says_stays_text(self, tmp_path: Path) -> None:
        data = board_data((HOSTILE, "birch"))
        odd = replace(data.prompts[0], text=HOSTILE, group=HOSTILE)
        left = Refused(name=HOSTILE, why=HOSTILE)
        data = replace(data, prompts=(odd, *data.prompts[1:]), refused=(left,), remarks=(HOSTILE,))
        html = Path(write_board(data, tmp_path / "board.html", verdicts={}).path).read_text()
        assert "<img src=x" not in html

    def test_refused_readings_and_remarks_are_listed(self, tmp_path: Path) -> None:
        data = replace(
            board_data(),
            refused=(Refused(name="blur_score", why="plane differs"),),
            remarks=("cedar lacks 2 prompts",),
        )
        html = Path(write_board(data, tmp_path / "board.html", verdicts={}).path).read_text()
        assert all(text in html for text in ("blur_score", "plane differs", "cedar lacks 2 prompts"))

    def test_forty_systems_make_a_board(self, tmp_path: Path) -> None:
        names = [f"s{n:02d}" for n in range(40)]
        data = board_data(names, prompts=2)
        judged = {FLICKER.key: verdict(data, FLICKER, [names[:20], names[20:]])}
        made = write_board(data, tmp_path / "board.html", verdicts=judged)
        assert made.bytes < 1_000_000
        assert made.found.startswith("No system is best on any metric")

    def test_no_reading_is_one_clear_line(self, tmp_path: Path) -> None:
        data = replace(board_data(), readings=(), refused=(Refused(name="fvd", why="n_gt differs"),))
        with pytest.raises(
            InputError, match=r"no metric was measured with the same definition for every system.*fvd: n_gt differs"
        ):
            write_board(data, tmp_path / "board.html", verdicts={})

    def test_a_place_that_cannot_be_written_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(InputError, match="cannot write the board"):
            write_board(board_data(), tmp_path / "file" / "board.html", verdicts={})

    def test_the_twin_is_public(self) -> None:
        assert rushes.write_board is write_board


def test_a_reading_of_one_number_per_system_has_no_row_values(tmp_path: Path) -> None:
    fvd: Reading = reading("fvd", label="FVD", per_prompt=False)
    made = write_board(board_data(readings=(fvd,)), tmp_path / "board.html", verdicts={})
    (one,) = embedded(Path(made.path).read_text())["readings"]  # type: ignore[misc]
    assert one["values"] == [] and len(one["whole"]) == 3


class TestWhereClipsPlayFrom:
    def board(self, path: Path | str) -> ClipIndex:
        return ClipIndex(
            replace(board_data(), clips={("amber", "p000"): BoardClip(path=str(path), run=0, subject="x")})
        )

    def test_beside_the_page_relative_elsewhere_in_full(self, tmp_path: Path) -> None:
        clip = tmp_path / "suite" / "amber" / "a take #1.mp4"
        clip.parent.mkdir(parents=True)
        clip.write_bytes(b"")
        clips, key = self.board(clip), ("amber", "p000")
        assert clips.url(key, tmp_path / "suite" / "board.html") == "amber/a%20take%20%231.mp4"
        assert clips.url(key, tmp_path / "suite" / "out" / "board.html") == "../amber/a%20take%20%231.mp4"
        assert clips.url(key, tmp_path / "other" / "deep" / "board.html") == clip.as_uri()

    @pytest.mark.parametrize("path", ["s3://bucket/a.mp4", "gone/a.mp4", "nul\0byte.mp4"])
    def test_gone_or_in_a_store_is_nowhere(self, path: str, tmp_path: Path) -> None:
        assert self.board(path).url(("amber", "p000"), tmp_path / "board.html") == ""
