"""A paper's table out of planted runs: exact texts, and what may never share a column."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.compare.paper.paper_runs import (
    LPIPS,
    LSE_C,
    PSNR,
    both,
    clip_run,
    fidelity_run,
    fvd_run,
    paper_folder,
    planted,
    three,
)

from rushes import paper_table
from rushes.compare.board.judging import judge_board
from rushes.compare.paper import columns as paper_columns
from rushes.compare.paper import systems as paper_systems
from rushes.compare.paper.grid import number_text
from rushes.compare.paper.table import PaperTable
from rushes.compare.readings.collect import collect_board
from rushes.core import Definition
from rushes.core.errors import InputError, RunError
from rushes.present.tables.latex import escaped
from rushes.storage.runs import RunWriter

# Three values a step apart: s = step, t(2, 0.975) = 4.3026527, so ± 2.4841377 · step. PSNR of amber 22 ± 4.97 (17.03 to
# 26.97) and of birch 32 ± 4.97 (27.03 to 36.97) are apart; LPIPS 0.3 ± 0.2484 and 0.2 ± 0.2484 overlap.
AMBER = both(three(PSNR, 22.0, 2.0), three(LPIPS, 0.3, 0.1))
BIRCH = both(three(PSNR, 32.0, 2.0), three(LPIPS, 0.2, 0.1))
FVD = (
    "fvd|arithmetic:fp64-qr-nuclear|asks_n:all|backbone:i3d|bn_eps:0.001|channels:rgb|clips_gen:segments-repeat-last|"
    "clips_gt:segments-repeat-last|covariance:1/(N-1)|d:400|decoder:pyav|feature:logits400|frames:16|n_gen:256|"
    "n_gt:256|normalise:x/127.5-1|pool:1x7x7-mean|precision:fp32|protocol:genhoi|resize:pil-bicubic-squash|seed:0|"
    "size:224|weights:a867b87ac3a9|v:1"
)


@pytest.fixture
def systems(tmp_path: Path) -> list[Path]:
    """Amber has everything but Sync and FID-VID; Birch has no FVD."""
    amber, birch = tmp_path / "out" / "amber", tmp_path / "out" / "birch"
    fidelity_run(amber / "fidelity", AMBER)
    fvd_run(amber / "distribution" / "fvd", 412.5, ends=(380.0, 420.0))
    fidelity_run(birch / "fidelity", BIRCH, gen="birch")
    paper_folder(amber, "Amber_1", {"fidelity": "fidelity", "distribution/fvd": "distribution"}, fid_vid="no weights")
    paper_folder(birch, "Birch", {"fidelity": "fidelity"}, fvd="torch is missing: pip install 'rushes[fvd]'")
    return [amber, birch]


def test_markdown_in_full(systems: list[Path]) -> None:
    text = paper_table(systems, interval=True, bold=True).markdown()
    assert (
        text
        == f"""\
| System | PSNR¹ ↑ | LPIPS² ↓ | FID-VID ↓ | FVD³ ↓ |
| :--- | ---: | ---: | ---: | ---: |
| Amber\\_1 | 22.00 ± 4.97 | 0.3000 ± 0.2484 | – | 412.50 [380.00, 420.00] |
| Birch | 32.00 ± 4.97 | 0.2000 ± 0.2484 | – | – |

Generated clips against their references; an arrow points to the better side.

1. `psnr|aggregate:mean|data_range:255|plane:rgb|v:1`: 3 clips; 95 % interval: student-t
2. `lpips|aggregate:mean|net:alex|v:1`: 3 clips; 95 % interval: student-t
3. `{FVD}`: 256 generated and 256 real clips; 95 % interval: jackknife-20

- FID-VID: Amber\\_1: no weights
- FID-VID: Birch: not measured
- FVD: Birch: torch is missing: pip install 'rushes\\[fvd\\]'
"""
    )


def test_latex_in_full(systems: list[Path]) -> None:
    text = paper_table(systems, columns="psnr,lpips,fid-vid", interval=True, bold=True).latex()
    bar = r"|\allowbreak "
    drawn = r"3 clips; 95 \% interval: student-t\par"
    assert text.splitlines() == [
        r"% \usepackage{booktabs} in the preamble",
        r"\begin{table}[t]",
        r"\centering",
        r"\caption{Generated clips against their references; an arrow points to the better side.}",
        r"\begin{tabular}{lrrr}",
        r"\toprule",
        r"System & PSNR\textsuperscript{1} $\uparrow$ & LPIPS\textsuperscript{2} $\downarrow$ & "
        r"FID-VID $\downarrow$ \\",
        r"\midrule",
        r"Amber\_1 & 22.00 $\pm$ 4.97 & 0.3000 $\pm$ 0.2484 & -- \\",
        r"Birch & 32.00 $\pm$ 4.97 & 0.2000 $\pm$ 0.2484 & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\smallskip",
        r"{\footnotesize\raggedright",
        rf"\textsuperscript{{1}}~\texttt{{psnr{bar}aggregate:mean{bar}data\_range:255{bar}plane:rgb{bar}v:1}}: {drawn}",
        rf"\textsuperscript{{2}}~\texttt{{lpips{bar}aggregate:mean{bar}net:alex{bar}v:1}}: {drawn}",
        r"FID-VID: Amber\_1: no weights\par",
        r"FID-VID: Birch: not measured\par",
        "}",
        r"\end{table}",
    ]
    plain = paper_table(systems, columns="psnr").latex(booktabs=False)
    assert plain.count(r"\hline") == 3 and "booktabs" not in plain and "rule" not in plain


def test_a_wide_table_goes_over_both_columns_of_the_text(systems: list[Path]) -> None:
    text = paper_table(systems, columns="psnr,ssim,lpips,l1,fvd,csim").latex()
    assert r"\begin{table*}[t]" in text and text.endswith("\\end{table*}\n") and r"\tabcolsep}{3pt}" in text


def test_csv_has_value_ends_and_signature(systems: list[Path]) -> None:
    rows = list(csv.DictReader(io.StringIO(paper_table(systems).csv())))
    assert len(rows) == 2 * 4
    first = rows[0]
    assert (first["system"], first["column"], first["value"]) == ("Amber_1", "psnr", "22.0")
    assert float(first["low"]) == pytest.approx(22 - 4.9682754, abs=1e-6)  # 2.4841377 · 2
    assert float(first["high"]) == pytest.approx(22 + 4.9682754, abs=1e-6)
    assert first["signature"] == "psnr|aggregate:mean|data_range:255|plane:rgb|v:1"
    assert (first["level"], first["method"], first["clips"]) == ("0.95", "student-t", "3 clips")
    missing = next(row for row in rows if row["system"] == "Birch" and row["column"] == "fvd")
    assert missing["value"] == missing["signature"] == ""


def test_the_same_runs_give_the_same_text_whatever_their_place(systems: list[Path], tmp_path: Path) -> None:
    before = paper_table(systems, interval=True).latex()
    (tmp_path / "out").rename(tmp_path / "moved")
    assert paper_table([tmp_path / "moved" / path.name for path in systems], interval=True).latex() == before


def test_latex_is_ascii_whatever_the_names(tmp_path: Path) -> None:
    """Nothing that pdflatex would stumble over: no letter without a font, nothing that opens a command or a row."""
    odd = r"Zoë 中 50% A&B $x^2$ ~ {a} \b --cut [1] *"
    folder = tmp_path / "odd"
    fidelity_run(folder / "fidelity", three(planted("psnr", note="−1…≤2_x#"), 22.0, 2.0))
    paper_folder(folder, odd, {"fidelity": "fidelity"})
    text = paper_table(folder).latex()
    assert text.isascii()
    assert (
        r"Zo\"{e} {[}U+4E2D{]} 50\% A\&B \$x\textasciicircum{}2\$ \textasciitilde{} \{a\} \textbackslash{}b -{}-cut "
        "{[}1{]} {*} & 22.00" in text
    )
    assert r"note:$-$1\dots{}$\leq$2\_x\#" in text
    assert paper_table(folder).markdown().splitlines()[2].startswith("| Zoë 中 50% A&B $x^2$ ~ {a} \\\\b --cut \\[1\\]")


def test_names_cannot_leave_their_cell(tmp_path: Path) -> None:
    fidelity_run(tmp_path / "x" / "fidelity", three(PSNR, 22.0, 2.0))
    paper_folder(tmp_path / "x", "a | b\n| c `d` <e>", {"fidelity": "fidelity"})
    lines = paper_table(tmp_path / "x", columns="psnr").markdown().splitlines()
    assert lines[2] == r"| a \| b<br>\| c \`d\` \<e\> | 22.00 |"


# What may not share a column


def test_two_signatures_are_two_columns_and_the_difference_is_named(tmp_path: Path) -> None:
    other = planted("psnr", data_range=255, plane="y")
    a = fidelity_run(tmp_path / "a", three(PSNR, 22.0, 2.0), gen="amber")
    b = fidelity_run(tmp_path / "b", three(other, 32.0, 2.0), gen="birch")
    table = paper_table([a, b], bold=True)
    assert table.markdown().splitlines()[:4] == [
        "| System | PSNR¹ ↑ | PSNR² ↑ |",
        "| :--- | ---: | ---: |",
        "| amber | 22.00 | – |",
        "| birch | – | 32.00 |",
    ]
    assert [note.signature for note in table.footnotes] == [
        "psnr|aggregate:mean|data_range:255|plane:rgb|v:1",
        "psnr|aggregate:mean|data_range:255|plane:y|v:1",
    ]
    assert table.notes == (
        "PSNR (1) and (2): psnr: plane is rgb in one and y in the other; these values are not comparable",
    )
    only = paper_table([a, b], columns="psnr:plane=y")
    assert [column.signature for column in only.columns] == ["psnr|aggregate:mean|data_range:255|plane:y|v:1"]
    assert only.notes == ("PSNR: amber: not measured",)


def test_two_readings_in_one_run_are_two_columns(tmp_path: Path) -> None:
    other = planted("psnr", data_range=255, plane="y")
    run = fidelity_run(tmp_path / "a", both(three(PSNR, 22.0, 2.0), three(other, 24.0, 1.0)))
    assert paper_table(run).markdown().splitlines()[2] == "| amber | 22.00 | 24.00 |"


def test_a_protocols_reading_has_its_own_head_and_another_formula_its_own_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DisCo's PSNR is a PSNR; AKD is no LMD, though both are landmark distances by their signatures."""
    planted_metrics = {
        "psnr": ("PSNR", PSNR),
        "disco_psnr": ("PSNR (DisCo)", planted("disco_psnr")),
        "lmd": ("LMD", planted("landmark_distance", "lower", distance="euclidean")),
        "akd": ("AKD", planted("landmark_distance", "lower", distance="l1")),
    }
    known = {name: SimpleNamespace(label=label, definition=d) for name, (label, d) in planted_metrics.items()}
    origins = {d.add_params(aggregate="mean").signature: name for name, (_, d) in planted_metrics.items()}
    monkeypatch.setattr(paper_columns, "PAIR_METRICS", known)
    monkeypatch.setattr(paper_systems, "metric_of", lambda m: (name := origins[m.signature], known[name]))
    values = (three(d, n, 0.1) for n, (_, d) in enumerate(planted_metrics.values(), 1))
    run = fidelity_run(tmp_path / "a", both(*values))
    table = paper_table(run)
    assert table.markdown().splitlines()[0] == "| System | PSNR¹ ↑ | PSNR (DisCo)² ↑ | LMD³ ↓ |"
    assert table.markdown().splitlines()[2] == "| amber | 1.00 | 2.00 | 3.0000 |"
    assert table.notes == (
        "PSNR (1) and PSNR (DisCo) (2): psnr and disco_psnr are different metrics; these values are not comparable",
    )
    assert paper_table(run, columns="akd,disco_psnr").markdown().splitlines()[2] == "| amber | 4.0000 | 2.0000 |"
    apart = paper_table(run, columns="psnr,disco_psnr")
    assert [column.title for column in apart.columns] == ["PSNR", "PSNR (DisCo)"] and not apart.notes


def test_other_references_are_another_column(tmp_path: Path) -> None:
    """The same names and signatures, but the clips behind the names are not the same."""
    a = fidelity_run(tmp_path / "a", three(PSNR, 22.0, 2.0), gen="amber")
    b = fidelity_run(tmp_path / "b", three(PSNR, 32.0, 2.0), gen="birch", version="-2")
    table = paper_table([a, b])
    assert len(table.columns) == 2
    assert table.notes == (
        "PSNR (1) and (2): A is amber, B is birch: they have different references; these values are not comparable",
    )
    c = fidelity_run(tmp_path / "c", three(PSNR, 32.0, 2.0), gen="cedar", truth="elsewhere")
    assert len(paper_table([a, c]).columns) == 2


def test_another_size_of_the_pictures_is_another_column(tmp_path: Path) -> None:
    a = fidelity_run(tmp_path / "a", three(PSNR, 22.0, 2.0), gen="amber", size=(256, 256))
    b = fidelity_run(tmp_path / "b", three(PSNR, 32.0, 2.0), gen="birch", size=(512, 512))
    c = fidelity_run(tmp_path / "c", three(PSNR, 32.0, 2.0), gen="cedar", size=(256, 256))
    assert paper_table([a, b, c]).markdown().splitlines()[2:5] == [
        "| amber | 22.00 | – |",
        "| birch | – | 32.00 |",
        "| cedar | 32.00 | – |",
    ]
    assert paper_table([a, b]).notes == (
        "PSNR (1) and (2): A is amber, B is birch: compared at 256×256 in A, 512×512 in B; these values are not "
        "comparable",
    )


def test_sync_of_clips_of_other_sizes_is_another_column(tmp_path: Path) -> None:
    """SyncNet's definition says that its value depends on the frame size."""
    lse_c = replace(planted("lse_c", crop="box"), depends_on=("frame_size",))
    a = clip_run(tmp_path / "a", three(lse_c, 6.0, 1.0), gen="amber", size=(256, 256))
    b = clip_run(tmp_path / "b", three(lse_c, 7.0, 1.0), gen="birch", size=(512, 512))
    (note,) = paper_table([a, b]).notes
    assert note.startswith("Sync-C (1) and (2): A is amber, B is birch: frame size 256×256 in A, 512×512 in B; ")
    assert (
        len(paper_table([a, clip_run(tmp_path / "c", three(lse_c, 7.0, 1.0), gen="c", size=(256, 256))]).columns) == 1
    )


def test_another_ground_truth_or_number_of_clips_is_another_fvd(tmp_path: Path) -> None:
    a = fvd_run(tmp_path / "a", 400.0, gen="amber")
    assert len(paper_table([a, fvd_run(tmp_path / "b", 300.0, gen="birch")]).columns) == 1
    assert len(paper_table([a, fvd_run(tmp_path / "c", 300.0, gen="birch", truth="c" * 64)]).columns) == 2
    table = paper_table([a, fvd_run(tmp_path / "d", 300.0, gen="birch", n=200)])
    assert "n_gen is 256 in one and 200 in the other" in table.notes[0]


# What a number rests on


def test_clips_that_are_left_out_are_named_and_means_over_different_clips_are_never_bold(tmp_path: Path) -> None:
    values: dict[str, dict[Definition, float | str]] = dict(three(PSNR, 32.0, 0.1))
    whole = dict(three(PSNR, 22.0, 0.1))
    for clip in ("d", "e"):
        whole[clip] = {PSNR: 22.0}
    values["d"] = {PSNR: "no partner: d.mp4 is in GEN only"}
    values["e"] = {PSNR: "infinite: 3 of 3 pairs of frames are identical"}
    a = fidelity_run(tmp_path / "a", whole, gen="amber")
    b = fidelity_run(tmp_path / "b", values, gen="birch")
    table = paper_table([a, b], bold=True)
    assert table.columns[0].best is None  # 32 ± 0.25 against 22 ± 0.1 would be
    assert table.footnotes[0].remark == "amber: 5 clips, birch: 3 clips"
    assert table.notes == (
        "PSNR: amber and birch are means over different clips (3 are in all)",
        "PSNR: birch: 2 clips left out: d: no partner: d.mp4 is in GEN only, e: infinite: 3 of 3 pairs of frames are "
        "identical",
    )


def test_a_note_is_said_once_for_all_columns_and_systems_it_is_about(tmp_path: Path) -> None:
    runs = [clip_run(tmp_path / name, {"a": {LSE_C: "no sound"}}, gen=name) for name in ("amber", "birch")]
    assert paper_table(runs, columns="psnr,l1,sync-c").notes == (
        "PSNR, L1: amber, birch: not measured",
        "Sync-C: amber, birch: no clip has a value: no sound",
    )


def test_sync_is_the_mean_over_clips(tmp_path: Path) -> None:
    lse_d = planted("lse_d", "lower", evaluator="syncnet")
    values: dict[str, dict[Definition, float | str]] = both(three(LSE_C, 6.0, 1.0), three(lse_d, 7.0, 1.0))
    values["d"] = {LSE_C: "the clip has no sound", lse_d: "the clip has no sound"}
    table = paper_table(clip_run(tmp_path / "run", values), interval=True)
    # mean of 5, 6, 7 and of 6, 7, 8; ± 2.4841377
    assert table.markdown().splitlines()[2] == "| amber | 6.000 ± 2.484 | 7.000 ± 2.484 |"
    assert table.notes == ("Sync-C, Sync-D: amber: 1 clip left out: d: the clip has no sound",)


def test_nothing_but_missing_values_is_a_dash_with_its_reason(tmp_path: Path) -> None:
    run = clip_run(tmp_path / "run", {"a": {LSE_C: "the clip has no sound"}})
    table = paper_table(run, columns="sync")
    assert table.markdown().splitlines()[2] == "| amber | – | – |"
    assert table.notes == (
        "Sync-C: amber: no clip has a value: the clip has no sound",
        "Sync-D: amber: not measured",
    )


def test_excluded_clips_of_a_set_are_named(tmp_path: Path) -> None:
    run = fvd_run(tmp_path / "run", 300.0, excluded={f"{n}.mp4": "cannot be read" for n in range(5)})
    shown = "0.mp4: cannot be read, 1.mp4: cannot be read, 2.mp4: cannot be read and 2 more"
    assert paper_table(run).notes == (f"FVD: amber: 5 clips left out: {shown}",)


def test_bold_is_for_what_the_board_calls_significant(tmp_path: Path) -> None:
    """Ten prompts of ten say the same: p = 2/1024 by sign flips. Three of three give p = 0.25, however far apart."""
    runs = [
        fidelity_run(tmp_path / name, _ten(value), gen=name)
        for name, value in (("amber", 22.0), ("birch", 32.0), ("cedar", 27.0))
    ]
    (column,) = paper_table(*runs).columns
    assert (column.best, column.second) == (1, 2)
    verdict = judge_board(data := collect_board(runs))[data.readings[0].key]
    assert verdict.ranks == {"amber": (3, 3), "birch": (1, 1), "cedar": (2, 2)}
    assert "| **32.45** |" in paper_table(runs).markdown() and "| <u>27.45</u> |" in paper_table(runs).markdown()
    assert "Bold: significantly better than every other system" in paper_table(runs).caption
    assert paper_table(runs, bold=False).columns[0].best is None
    few = [fidelity_run(tmp_path / f"few-{n}", three(PSNR, v, 0.1), gen=n) for n, v in (("a", 22.0), ("b", 90.0))]
    assert paper_table(few).columns[0].best is None
    one = paper_table(runs[0])
    assert one.columns[0].best is None and "Bold" not in one.caption


def _ten(value: float) -> dict[str, dict[Definition, float | str]]:
    return {f"clip{n}": {PSNR: value + n / 10} for n in range(10)}


def test_two_arguments_are_two_rows(tmp_path: Path) -> None:
    runs = [fidelity_run(tmp_path / name, three(PSNR, 22.0, 0.1), gen=name) for name in ("amber", "birch")]
    assert paper_table(runs[0], runs[1]).systems == paper_table(runs).systems == ("amber", "birch")
    assert list(paper_table(*runs).to_pandas()["psnr"]) == pytest.approx([22.0, 22.0])


# Rows


def test_single_runs_of_one_set_are_one_row(tmp_path: Path) -> None:
    runs = [
        fidelity_run(tmp_path / "runs" / "f", AMBER, gen="sets/amber/"),
        fvd_run(tmp_path / "runs" / "d", 412.5, gen="sets/amber"),
        clip_run(tmp_path / "runs" / "c", three(LSE_C, 6.0, 1.0), gen="sets/./amber"),
        fvd_run(tmp_path / "runs" / "e", 300.0, gen="sets/birch"),
    ]
    table = paper_table([*runs, runs[0]])
    assert table.systems == ("amber", "birch")
    assert [column.column.title for column in table.columns] == ["PSNR", "LPIPS", "FVD", "Sync-C"]


def test_one_set_measured_twice_is_two_columns(tmp_path: Path) -> None:
    runs = [fidelity_run(tmp_path / str(n), three(PSNR, 20.0 + n, 2.0)) for n in (1, 2)]
    table = paper_table(runs)
    assert table.markdown().splitlines()[2] == "| amber | 21.00 | 22.00 |"
    assert table.notes == ("PSNR (1) and (2): amber was measured twice, under one signature",)


def test_sets_of_one_name_are_called_by_their_paths(tmp_path: Path) -> None:
    a = fvd_run(tmp_path / "a", 400.0, gen="monday/out")
    b = fvd_run(tmp_path / "b", 300.0, gen="tuesday/out")
    assert paper_table([a, b]).systems == ("monday/out", "tuesday/out")


def test_two_papers_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("x", "y"):
        fidelity_run(tmp_path / name / "fidelity", AMBER)
        paper_folder(tmp_path / name, "Amber", {"fidelity": "fidelity"})
    with pytest.raises(InputError, match="another row is also called 'Amber'; run rushes paper with another name"):
        paper_table([tmp_path / "x", tmp_path / "y"])


# Numbers


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(23.305, 1, "23.3"), (0.0, 2, "0.00"), (0.0009, 4, "9.00e-04"), (0.001, 4, "0.0010"), (-3.0, 0, "-3")],
)
def test_a_small_number_keeps_its_digits(value: float, digits: int, text: str) -> None:
    assert number_text(value, digits) == text


def test_digits_for_all_or_by_column(tmp_path: Path) -> None:
    run = fidelity_run(tmp_path / "run", AMBER)
    assert paper_table(run, digits=1).markdown().splitlines()[2] == "| amber | 22.0 | 0.3 |"
    assert paper_table(run, digits={"lpips": 3}).markdown().splitlines()[2] == "| amber | 22.00 | 0.300 |"
    with pytest.raises(InputError, match="digits of psnr: expected a whole number from 0 to 8; got 9"):
        paper_table(run, digits={"psnr": 9})
    with pytest.raises(InputError, match="no column is called 'lpisp'. Did you mean `lpips`"):
        paper_table(run, digits={"lpisp": 3})


def test_negative_and_tiny_numbers_in_latex(tmp_path: Path) -> None:
    csim = planted("identity_similarity")
    run = fidelity_run(tmp_path / "run", both(three(csim, -0.25, 0.0), three(planted("l1", "lower"), 0.00031, 0.0)))
    assert r"amber & $3.10\times10^{-4}$ & $-0.2500$ \\" in paper_table(run).latex()
    assert paper_table(run).markdown().splitlines()[2] == "| amber | 3.10e-04 | -0.2500 |"


_SPELT = re.compile(
    r"\\[{}_#$%&]"  # special letters, by a backslash
    r"|\\text[a-z]+\{\}|\\(?:ss|o|O|l|L|ae|AE|aa|AA|dots)\{\}"  # commands that end where they begin
    r"|\\[\"'`^~=.uvHc]\{[A-Za-z]?\}"  # accents
    r"|\$(?:-|\\[a-z]+|\^\\circ)\$|\{[]*[]\}|-\{\}|~"
)


@settings(max_examples=40)
@given(st.text(max_size=30))
def test_whatever_is_written_pdflatex_reads_as_words(text: str) -> None:
    """Once what is spelt out is taken away, nothing is left that LaTeX would take for a command, or has no font for."""
    left = _SPELT.sub("", escaped(text))
    assert left.isascii() and left.isprintable()
    assert not set(left) & set('\\{}_#$%&~^|<>[]*"')


@settings(max_examples=40)
@given(st.text(max_size=30))
def test_whatever_a_system_is_called_its_row_is_one_row(name: str) -> None:
    line = PaperTable(systems=(name,), columns=(), notes=()).markdown().splitlines()[2]
    assert line.isprintable() and len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) == 2


def test_accents_are_spelt() -> None:
    assert escaped("Ångström, naïve, Dvořák") == r"\AA{}ngstr\"{o}m, na\"{i}ve, Dvo\v{r}\'{a}k"


# Bad input


def test_no_such_folder_and_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="gone: expected a folder of rushes paper or a run directory; no such folder"):
        paper_table(tmp_path / "gone")
    with pytest.raises(RunError, match="expected a folder of rushes paper or a run directory; found neither"):
        paper_table(tmp_path)
    with pytest.raises(InputError, match="expected a folder of rushes paper, or runs; got none"):
        paper_table([])


def test_a_run_of_another_kind(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run", instrument="robustness", settings={}) as run:
        run.finish([])
    with pytest.raises(
        RunError, match="contains a run of instrument robustness; a paper's table is made of runs of fidelity"
    ):
        paper_table(tmp_path / "run")


def test_a_run_that_is_not_complete(tmp_path: Path) -> None:
    run = fidelity_run(tmp_path / "run", AMBER, finish=False)
    with pytest.raises(RunError, match="the run is interrupted; a table is made of complete runs"):
        paper_table(run)


def test_a_paper_that_is_not_finished_or_damaged(systems: list[Path]) -> None:
    file = systems[0] / "paper.json"
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole.replace('"complete": true', '"complete": false'), encoding="utf-8")
    with pytest.raises(RunError, match="not finished yet: no weights"):
        paper_table(systems[0])
    for damaged in (
        "[]",
        "{",
        whole.replace('"fidelity"', '"../fidelity"'),
        whole.replace('"format": 1', '"format": 9'),
    ):
        file.write_text(damaged, encoding="utf-8")
        with pytest.raises(RunError, match="paper.json: cannot be read|written by a newer rushes"):
            paper_table(systems[0])


def test_an_unknown_column_is_helped(systems: list[Path]) -> None:
    with pytest.raises(InputError, match="no column is called 'pnsr'. Did you mean `psnr`"):
        paper_table(systems, columns="pnsr")
    with pytest.raises(InputError, match="no column is called 'zzz'; expected some of psnr, ssim"):
        paper_table(systems, columns=["zzz"])
    with pytest.raises(InputError, match="expected a column such as psnr, or psnr:plane=y; got 'psnr:plane'"):
        paper_table(systems, columns="psnr:plane")
    with pytest.raises(InputError, match="expected a format out of markdown, latex, csv, html, text; got 'docx'"):
        paper_table(systems).text("docx")  # type: ignore[arg-type]


def test_a_run_without_a_column_says_which_there_are(tmp_path: Path) -> None:
    run = fidelity_run(tmp_path / "run", three(planted("other"), 1.0, 0.1))
    with pytest.raises(InputError, match="expected values of psnr, ssim, .*; the runs have none of these"):
        paper_table(run)
