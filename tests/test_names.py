"""Every name that Rushes prints, or that a document uses, can be looked up and typed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.clips import noise, write_luma
from typer.testing import CliRunner

import rushes
from rushes.cli.main import app
from rushes.core.errors import InputError
from rushes.core.reason import Reason
from rushes.core.selection import full_name, machine_names, reading_names
from rushes.instruments.catalogue import INSTRUMENTS, catalog, find, names_of, other_names
from rushes.instruments.clip.bundle import KEYS
from rushes.instruments.clip.metrics import METRICS
from rushes.instruments.clip.signals.profile import BUILT_IN, load_profile
from rushes.instruments.distribution.seed.video_metrics import result_key
from rushes.instruments.pose.measurements import DEFINITIONS as POSE

DOCS = Path(__file__).parents[1] / "docs"

DOCUMENTS = {
    "000": [key for key in KEYS if key not in ("status_badge", "reasons")],
    "001": ["FVD", "FID-VID", "fvd", "fid-vid", "FVD-3DRN50", "FVD-3DInception"],
    "002": ["PCK", "PCK@20", "mpjpe", "MPJPE"],
    "004": ["ESI", "esi", "drift", "Justification Drift"],
}
"""The metrics of the specifications, as they write them."""
PAPERS = ("CSIM", "csim", "LMD", "AKD", "M-LMD", "Sync-C", "Sync-D", "LSE-D", "LSE-C", "PSNR", "MS-SSIM", "PA-MPJPE")
ONCE_UNKNOWN = (
    "csim lmd csim_all lmd_interocular mouth_lmd mouth_lmd_centred blur_p10 flicker_delta blink_count_fixed "
    "warping_error_l1 motion_magnitude_px clipping_ratio_lossy temporal_flickering_opencv5"
).split()
"""The documented names that `rushes metrics` did not know."""


@pytest.mark.parametrize("name", [*(name for names in DOCUMENTS.values() for name in names), *PAPERS, *ONCE_UNKNOWN])
def test_a_name_of_a_document_is_known(name: str) -> None:
    assert find(name)


def test_every_spelling_of_every_metric_is_known() -> None:
    """A definition's own name, signature and full name, and what trackers call it."""
    for signature, definition in catalog().items():
        for spelling in (definition.name, signature, full_name(definition), definition.name.upper()):
            assert definition in find(spelling), spelling
        for name in names_of(definition):
            assert definition in find(name), name


def test_the_keys_and_column_heads_of_instruments_are_names() -> None:
    """What `--metric`, profiles and table heads call a metric: they are read from where they stand, never listed."""
    assert {"clip", "fidelity", "distribution", "robustness"} <= {
        name for name, one in INSTRUMENTS.items() if one.names
    }
    for name, definition in other_names():
        assert definition.name in {one.name for one in find(name)}, name
    assert {name for name, _ in other_names("clip")} >= set(METRICS)


def test_one_name_means_one_metric_unless_the_field_has_two() -> None:
    """AKD is FOMM's word for faces and for bodies; `rushes metrics akd` shows both."""
    several = {name: {one.name for one in find(name)} for name, _ in other_names()}
    both = {"akd", "landmark_distance"}
    assert {name: found for name, found in several.items() if len(found) > 1} == {"akd": both, "AKD": both}


@pytest.mark.parametrize("profile", BUILT_IN)
def test_a_reason_names_what_can_be_looked_up(profile: str) -> None:
    for rule in load_profile(profile).rules:
        reason = Reason(metric=rule.metric, value=1.0, comparison="above", threshold=0)
        assert find(reason.metric), reason.text


def test_spellings_of_readings_are_names() -> None:
    """What tables, trackers and queries print of a run."""
    closed = [one.with_params(**dict.fromkeys(one.open_params, "x")) for one in POSE]
    numbers = [rushes.Measurement(definition=one, value=None, count=0, note="n") for one in closed if not one.places]
    for m, people, machine in zip(numbers, reading_names(numbers), machine_names(numbers), strict=True):
        assert {m.name} == {
            one.name for name in (people, machine, m.signature) for one in find(name, instrument="pose")
        }
    (p10,) = find("blur_score|border:reflect101|input:raw|plane:luma|range:full|statistic:p10|v:1")
    assert find("blur_p10") == [p10] and p10 in find("blur_score_statistic_p10") and find("pck_k_5_norm_x")


def test_a_name_that_nobody_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"no metric is called 'blur_p11'. Did you mean `blur_p10`"):
        find("blur_p11")
    with pytest.raises(InputError, match="no metric is called 'psnr'"):
        find("psnr", instrument="clip")


_NO_METRICS = {
    "pck_at": "a function",
    "pck_mpjpe": "a function",
    "fvd_low": "of a variable",
    "fvd_high": "of a variable",
    "jod_scale": "a parameter",
}
_BACKTICKED = re.compile(r"`([a-z][a-z0-9]*(?:_[a-z0-9]+)+)`")
_TYPED = re.compile(r"rushes metrics ([A-Za-z][\w-]*)")


def test_metrics_in_backticks_on_the_pages_are_known() -> None:
    """A word in backticks that looks like a metric of the catalogue, its ending apart, is one."""
    stems = {definition.name for definition in catalog().values()}
    lost = []
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        typed = {word for word in _TYPED.findall(text) if word not in ("NAME", "METRIC")}
        words = {word for word in _BACKTICKED.findall(text) if any(word.startswith(f"{stem}_") for stem in stems)}
        for word in (words | typed) - _NO_METRICS.keys():
            try:
                find(word)
            except InputError:
                lost.append((page.name, word))
    assert not lost


def test_a_key_of_the_specification_is_what_its_module_returns() -> None:
    for name in ("FVD-3DInception", "FVD-3DRN50"):
        (definition,) = find(name)
        closed = definition.with_params(**dict.fromkeys(definition.open_params, "x"))
        assert result_key(rushes.Measurement(definition=closed, value=1.0, count=1)) == name


class TestTyped:
    """The same names in `rushes metrics`, `rushes query`, `rushes table --columns` and `result[…]`."""

    @pytest.fixture(scope="class")
    @classmethod
    def place(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("names")
        clip = write_luma(folder / "clip.mkv", noise(8), "yuv420p")
        rushes.evaluate_clips([clip], run=folder / "run", tier=0)
        return folder

    def test_in_metrics(self) -> None:
        done = CliRunner().invoke(app, ["metrics", "FVD-3DRN50"])
        assert done.exit_code == 0 and done.stdout.startswith("fid-vid|") and "Also called FVD-3DRN50" in done.stdout

    def test_in_a_result(self, place: Path) -> None:
        result = rushes.evaluate_clip(place / "clip.mkv", tier=0)
        assert result["blur_p10"].definition.param("statistic") == "p10" and result["blur_p10"].value is not None
        assert result["BLUR_SCORE"].definition.param("statistic") == "mean"
        face = result["face_present_ratio"]
        assert (face.value, face.note) == (None, "not measured: it needs tier 1")
        with pytest.raises(InputError, match="no clip metric is called 'blur_scor'. Did you mean `blur_score`"):
            result["blur_scor"]

    def test_in_a_run(self, place: Path) -> None:
        run = rushes.read_run(place / "run")
        assert run.one("blur_p10") == run.one("blur_score", statistic="p10")
        assert run.table("blur_p10").header == ("subject", "blur_p10 ↑")
        assert run.one("flicker_score (mean-abs-delta)") == run.one("flicker_delta")

    def test_in_a_query(self, place: Path) -> None:
        sql = (
            "select id, status_badge, blur_p10, flicker_delta, lse_d, face_present_ratio from clips where lse_d is null"
        )
        (row,) = rushes.query(place / "run", sql).to_pylist()
        run = rushes.read_run(place / "run")
        assert row["blur_p10"] == run.one("blur_p10").stored_value and row["status_badge"] == run.subjects[0].badge
        assert row["lse_d"] is None and row["face_present_ratio"] is None
        assert list(row) == ["id", "status_badge", "blur_p10", "flicker_delta", "lse_d", "face_present_ratio"]
        with pytest.raises(InputError, match="psnr"):  # of another instrument: an error, and no null
            rushes.query(place / "run", "select psnr from clips")

    def test_in_a_table(self, place: Path) -> None:
        made = rushes.paper_table(place / "run", columns="blur_p10,freeze_frame_ratio")
        assert [column.title for column in made.columns] == ["blur_p10", "freeze_frame_ratio"]
        assert "statistic:p10" in made.columns[0].signature


def test_every_name_that_one_may_type_can_be_looked_up() -> None:
    """`rushes fidelity --metric csim` works, so `rushes metrics csim` answers: of every option that takes metrics."""
    from rushes.compare.paper.columns import COLUMNS
    from rushes.instruments.clip.metrics import METRICS as CLIP_METRICS
    from rushes.instruments.distribution.protocols import GIVEN_METRICS
    from rushes.instruments.distribution.protocols import METRICS as SET_METRICS
    from rushes.instruments.fidelity.metrics import METRICS as PAIR_METRICS

    typed = {*CLIP_METRICS, *PAIR_METRICS, *SET_METRICS, *GIVEN_METRICS, *COLUMNS}
    assert len(typed) > 60 and "csim" in typed
    for name in sorted(typed):
        assert find(name), name
