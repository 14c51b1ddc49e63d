"""Document 002, ADR-173 "Metric-Locked PCK/MPJPE Accuracy Harness": requirement by requirement, in its words."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, asdict, fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.instruments.pose.vectors import HIPS, L_HIP, L_SHOULDER, NOSE, R_HIP, THREE_GT, THREE_PRED, frame
from typer.main import get_command
from typer.testing import CliRunner

import rushes
from rushes import PckNormalization, PoseAccuracy, PoseFrame, accuracy_report, pck_at, pck_mpjpe
from rushes.cli.main import app
from rushes.core import Definition
from rushes.core.errors import DefinitionError, DefinitionMismatch, InputError
from rushes.core.measurement import difference
from rushes.core.selection import full_name
from rushes.instruments.catalogue import catalog
from rushes.instruments.pose.measurements import DEFINITIONS
from rushes.instruments.pose.scores.pck import pck_definition

TORSO, BBOX, PIXELS = (
    PckNormalization.TorsoDiameter,
    PckNormalization.BoundingBoxDiagonal,
    PckNormalization.AbsolutePixels,
)
NORMS = (TORSO(), BBOX(), PIXELS(0.08))


def scored(f: PoseFrame, norm: PckNormalization | type[PckNormalization], k: int = 20) -> tuple[int, int, float]:
    return pck_at(f.pred, f.gt, f.visibility, k, norm)


class TestPublicApi:
    def test_re_exported_at_the_crate_root(self) -> None:
        """ "a new module … re-exported at the crate root" """
        for name in ("PckNormalization", "pck_at", "pck_mpjpe", "PoseAccuracy", "PoseFrame", "accuracy_report"):
            assert getattr(rushes, name) is getattr(rushes.pose, name)

    def test_enum_pck_normalization(self) -> None:
        """ "enum PckNormalization { TorsoDiameter, BoundingBoxDiagonal, AbsolutePixels(f32) } … .label() /
        .tolerance(...)" """
        assert [norm.label() for norm in NORMS] == ["torso-diameter", "bbox-diagonal", "absolute-px(0.08)"]
        f = frame(THREE_GT, THREE_PRED)
        # hips 0.20 apart, box 0.20 × 0.80: 20 % of 0.20 and of √0.68; the threshold is itself.
        tolerances = [norm.tolerance(f.gt, f.visibility, 20) for norm in NORMS]
        assert tolerances == pytest.approx([0.04, 0.2 * math.sqrt(0.68), 0.08])

    def test_a_variant_is_a_value(self) -> None:
        """Rust writes `PckNormalization::TorsoDiameter` without brackets; here both spellings are one."""
        f = frame(THREE_GT, THREE_PRED)
        assert scored(f, TORSO) == scored(f, TORSO()) == (2, 4, 0.5)
        assert accuracy_report([f], [20], BBOX) == accuracy_report([f], [20], BBOX())
        with pytest.raises(DefinitionError, match="a PCK needs its normalisation"):
            scored(f, PIXELS)  # a threshold belongs to it

    @pytest.mark.parametrize(
        ("typed", "label"),
        [
            ("TorsoDiameter", "torso-diameter"),
            ("BoundingBoxDiagonal", "bbox-diagonal"),
            ("boundingboxdiagonal", "bbox-diagonal"),
            ("AbsolutePixels(0.08)", "absolute-px(0.08)"),
            ("absolute-px(0.08)", "absolute-px(0.08)"),
            ("Absolute-PX=0.08", "absolute-px(0.08)"),
            ("bbox-diagonal", "bbox-diagonal"),
            ("torso-diameter(5-6)", "torso-diameter(5-6)"),
            ("head-size(3-4)", "head-size(3-4)"),
        ],
    )
    def test_its_names_and_our_labels_are_typed_at_norm(self, typed: str, label: str, poses: Path) -> None:
        out = invoked(
            "pose", poses / "a/c0.npz", poses / "gt/c0.npz", "--norm", typed, "--json", "--overwrite", "-o", poses / "n"
        )
        every = [row["signature"] for row in json.loads(out)["measurements"]]
        norms = [signature for signature in every if signature.startswith("pck")]
        name, _, argument = label.partition("(")
        wanted = f"head:{argument[:-1]}" if name == "head-size" else f"norm:{label if name == 'absolute-px' else name}"
        assert norms and all(wanted in signature for signature in norms)

    def test_pck_at_is_correct_total_pck(self) -> None:
        """ "pck_at(pred, gt, vis, k, norm) -> (correct, total, pck) … fraction of visible keypoints whose
        predicted-vs-GT distance ≤ the tolerance, where tolerance = k% of the chosen normalizer" """
        # 3 ≤ 3: on the edge counts; 9 does not. k means nothing to an absolute threshold.
        assert pck_at([[0, 0], [9, 9]], [[0, 3], [9, 0]], [2, 2], 20, PIXELS(3)) == (1, 2, 0.5)
        assert pck_at([[0, 0], [9, 9]], [[0, 3], [9, 0]], [2, 2], 99, PIXELS(3)) == (1, 2, 0.5)

    def test_mpjpe_is_re_exported_as_pck_mpjpe(self) -> None:
        """ "mpjpe(pred, gt, vis) -> f32 … Re-exported crate-root as pck_mpjpe" """
        assert pck_mpjpe is rushes.pose.mpjpe and pck_mpjpe([[3, 4]], [[0, 0]], [2]) == 5.0

    def test_pose_accuracy_and_pose_frame(self) -> None:
        """ "struct PoseAccuracy { pck_at: BTreeMap<u8,f32>, mpjpe, normalization, n_keypoints, n_frames }",
        "struct PoseFrame { pred, gt, visibility }" """
        assert [f.name for f in fields(PoseAccuracy)] == ["pck_at", "mpjpe", "normalization", "n_keypoints", "n_frames"]
        assert [f.name for f in fields(PoseFrame)] == ["pred", "gt", "visibility"]
        report = accuracy_report([frame(HIPS)], [50, 20], TORSO)
        assert list(report.pck_at) == [20, 50]  # a BTreeMap: by k
        with pytest.raises(FrozenInstanceError):
            report.mpjpe = 0.0  # type: ignore[misc]

    def test_a_reported_number_always_carries_its_normalization(self) -> None:
        """ "a reported number always carries its normalization; an unlabeled PCK is structurally impossible" """
        with pytest.raises(TypeError):
            PoseAccuracy(pck_at={20: 1.0}, mpjpe=0.0, n_keypoints=1, n_frames=1)  # type: ignore[call-arg]
        with pytest.raises(DefinitionError):
            PoseAccuracy(pck_at={20: 1.0}, mpjpe=0.0, normalization=None, n_keypoints=1, n_frames=1)  # type: ignore[arg-type]
        told = [asdict(accuracy_report([], [20], norm))["normalization"] for norm in (*NORMS, PIXELS(3))]
        assert [norm["norm"] for norm in told] == [
            "torso-diameter",
            "bbox-diagonal",
            "absolute-px(0.08)",
            "absolute-px(3)",
        ]
        other = asdict(accuracy_report([], [20], rushes.pose.TorsoOrBoundingBox()))["normalization"]
        assert other != told[0] and other["norm"] == "torso-or-bbox"

    def test_accuracy_report_is_micro_averaged_over_keypoints(self) -> None:
        """ "accuracy_report(frames, ks, norm) -> PoseAccuracy (micro-averaged over keypoints)" """
        # τ@20 = 0.04. First frame: 2 of 2 right. Second, four joints: hips right, two off by 0.05. 4 of 6, not the mean
        # of 1 and 0.5. MPJPE: (0.05 + 0.05) / 6.
        gt = HIPS | {NOSE: (0.5, 0.2), L_SHOULDER: (0.5, 0.5)}
        second = frame(gt, gt | {NOSE: (0.55, 0.2), L_SHOULDER: (0.55, 0.5)})
        report = accuracy_report([frame(HIPS), second], [20], TORSO)
        assert dict(report.pck_at) == {20: 4 / 6} and report.mpjpe == pytest.approx(0.1 / 6)


class TestHandComputed:
    """ "Correctness is proven by hand-computed deterministic tests": the document's table, row by row."""

    def test_perfect_prediction(self) -> None:
        """ "pred==gt | PCK=1.0 (all 3 norms), MPJPE=0" """
        f = frame(HIPS | {L_SHOULDER: (0.35, 0.35)})
        assert [scored(f, norm)[2] for norm in NORMS] == [1.0, 1.0, 1.0]
        assert pck_mpjpe(f.pred, f.gt, f.visibility) == 0.0

    def test_all_just_outside(self) -> None:
        """ "every error just past τ@20 | PCK=0.0" """
        # torso 0.20, τ@20 = 0.04; all three joints are off by 0.0401.
        gt = HIPS | {L_SHOULDER: (0.5, 0.5)}
        assert scored(frame(gt, {joint: (x + 0.0401, y) for joint, (x, y) in gt.items()}), TORSO) == (0, 3, 0.0)

    def test_half_in_half_out(self) -> None:
        """ "2 exact, 2 just outside | PCK=0.5" """
        gt = HIPS | {NOSE: (0.5, 0.2), L_SHOULDER: (0.5, 0.5)}
        f = frame(gt, gt | {NOSE: (0.5401, 0.2), L_SHOULDER: (0.5401, 0.5)})
        assert scored(f, TORSO) == (2, 4, 0.5)

    def test_three_normalizations_key_proof(self) -> None:
        """ "identical pred; nose err .06, shoulder .10, hips exact | torso=0.50, bbox=1.00, abs(.08)=0.75" """
        f = frame(THREE_GT, THREE_PRED)
        errors = np.linalg.norm(f.pred - f.gt, axis=1)[[NOSE, L_SHOULDER, L_HIP, R_HIP]]
        assert errors == pytest.approx([0.06, 0.10, 0.0, 0.0])
        assert [scored(f, norm)[2] for norm in NORMS] == [0.50, 1.00, 0.75]

    def test_mpjpe_2d_and_3d(self) -> None:
        """ "(3,4)→5 / (1,2,2)→3 | 2.5 / 3.0" """
        assert pck_mpjpe([[3, 4], [1, 1]], [[0, 0], [1, 1]], [2, 2]) == 2.5  # (5 + 0) / 2
        assert pck_mpjpe([[1, 2, 2]], [[0, 0, 0]], [2]) == 3.0

    def test_mpjpe_excludes_invisible(self) -> None:
        """ "invisible joint err 100 ignored | 5.0" """
        assert pck_mpjpe([[3, 4], [100, 0]], [[0, 0], [0, 0]], [2, 0]) == 5.0

    def test_zero_torso_unscoreable(self) -> None:
        """ "coincident hips | (0,0,0.0), not false-perfect" """
        assert scored(frame({L_HIP: (0.5, 0.5), R_HIP: (0.5, 0.5)}), TORSO) == (0, 0, 0.0)

    def test_no_visible_keypoints(self) -> None:
        """ "vis=∅ | (0,0,0.0)" """
        f = PoseFrame(frame(HIPS).pred, frame(HIPS).gt, np.zeros(17))
        assert [scored(f, norm) for norm in NORMS] == [(0, 0, 0.0)] * 3

    def test_nan_coords(self) -> None:
        """ "one NaN pred coord | counted wrong, no panic" """
        gt = HIPS | {L_SHOULDER: (0.5, 0.5)}
        assert scored(frame(gt, gt | {L_SHOULDER: (math.nan, 0.5)}), TORSO) == (2, 3, 2 / 3)

    def test_empty_report(self) -> None:
        """ "no frames | 0.0, not NaN" """
        report = accuracy_report([], [20], TORSO)
        assert (dict(report.pck_at), report.mpjpe, report.n_frames) == ({20: 0.0}, 0.0, 0)

    def test_bbox_at_least_torso(self) -> None:
        """ "same frames | bbox-PCK ≥ torso-PCK" """
        rng = np.random.default_rng(173)
        for _ in range(50):
            gt = rng.uniform(0, 1, (17, 2))
            f = PoseFrame(gt + rng.normal(0, 0.05, gt.shape), gt, np.full(17, 2.0))
            assert scored(f, BBOX)[2] >= scored(f, TORSO)[2]


class TestKeyProof:
    """ "The key proof (the ambiguity is real and quantified)" """

    def test_the_mechanism(self) -> None:
        """ "the bbox diagonal √(0.20² + 0.80²) = 0.825 is ~4× the hip-span torso 0.20, so τ@20 is 0.165 (bbox) vs 0.040
        (torso)" """
        f = frame(THREE_GT, THREE_PRED)
        torso, box = (norm.tolerance(f.gt, f.visibility, 20) for norm in NORMS[:2])
        assert torso is not None and box is not None
        assert (round(box / 0.2, 3), round(box, 3), round(torso, 3)) == (0.825, 0.165, 0.040)
        assert box / torso == pytest.approx(4.123, abs=1e-3)

    def test_they_cannot_be_lined_up_without_declaring_the_enum(self, tmp_path: Path) -> None:
        """ "96% / 81.6% / 61% cannot be lined up without declaring the enum" """
        for name, points in (("pred", frame(THREE_GT, THREE_PRED).pred), ("gt", frame(THREE_GT, THREE_PRED).gt)):
            np.savez(tmp_path / f"{name}.npz", keypoints=points[None], visibility=frame(THREE_GT).visibility[None])
        done = rushes.score_pose(tmp_path / "pred.npz", tmp_path / "gt.npz", norms="all", px=0.08, run=tmp_path / "run")
        three = done.select("pck", k=20, joint=None)
        assert [m.value for m in three] == [0.5, 1.0, 0.75]
        with pytest.raises(DefinitionMismatch, match="norm is torso-diameter in one and bbox-diagonal in the other"):
            difference(three[0], three[1])
        with pytest.raises(InputError, match="12 numbers are called pck. Say which with k=… .* and norm=…"):
            done["pck"]


# "an unlabeled PCK is structurally impossible": over every surface there is, and every one to come.

K, NORM = 5, "bbox-diagonal"
VALUE_FREE = {
    "demo": "writes a folder of its own by the commands here",
    "import-scores": "numbers that other tools named",
    **dict.fromkeys(("clip", "fidelity", "fvd", "sweep", "robust", "paper", "canon", "calibrate"), "measures no poses"),
    **dict.fromkeys(("metrics", "profile", "doctor", "models", "config", "new"), "shows no run"),
    **dict.fromkeys(("serve", "view", "study"), "the pages of tests/web, which read the names that `report` has"),
    "believe": "needs a study; its names are those of `board`",
    "suite": "runs the measuring commands",
    "rank": "takes votes",
    "verify": "counts and digests, no value",
    "judge": "asks a judge about clips",
    **dict.fromkeys(("figure", "failures"), "takes a suite; its names are those of `table`"),
}
"""Commands that print no PCK of a run, and why not. A new command belongs here or in `SURFACES`."""
SURFACES: dict[str, list[list[str]]] = {
    "pose": [["pose", "{poses}/a", "{poses}/gt", "--norm", NORM, "--k", "5", "-v", "-o", "{out}/again"]],
    "compare": [
        ["compare", "{a}", "{b}", "-v"],
        ["compare", "{a}", "{b}", "--json"],
        *(["compare", "{a}", "{b}", "--format", form] for form in ("markdown", "csv", "latex")),
        ["compare", "{a}", "{b}", "--fail-on", "regression=pck:0.5", "--junit", "{out}/compare.xml"],
    ],
    "gate": [
        ["gate", "{a}", "{b}", "--metric", "pck:0.5", "--format", form, "-v"]
        for form in ("text", "junit", "github", "json")
    ],
    "board": [
        ["board", "A={a}", "B={b}", "-o", "{out}/board.html"],
        ["board", "A={a}", "B={b}", "--json", "-o", "{out}/c.html"],
    ],
    "report": [["report", "{a}", "-o", "{out}/report.html"]],
    "table": [["table", "{a}", "{b}", "--columns", "pck", "--format", form] for form in ("markdown", "latex", "csv")],
    "query": [
        ["query", "{a}", "select id, pck from clips", "--csv"],
        ["query", "{a}", "select avg(pck) from clips", "--json"],
        ["query", "{a}", "select id, pck as pck from clips"],
        ["query", "{a}", "select * from measurements", "--csv"],
        ["query", "{a}", "--columns"],
    ],
    "export": [["export", "{a}", "-o", "{out}/plain"]],
    "log": [["log", "{a}", "--to", "tensorboard:{out}/tb", "--no-report"]],
}


def invoked(*words: object) -> str:
    done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "300"})
    assert done.exit_code in (0, 1, 3) and not isinstance(done.exception, (TypeError, KeyError)), done.output
    return str(done.stdout)


@pytest.fixture(scope="module")
def poses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems over the same true poses, three clips of six frames, and a run of each."""
    folder = tmp_path_factory.mktemp("poses")
    for clip in range(3):
        rng = np.random.default_rng(clip)
        gt = rng.uniform(0, 200, (6, 17, 2))
        for name, noise in (("gt", 0.0), ("a", 4.0), ("b", 9.0)):
            (folder / name).mkdir(exist_ok=True)
            points = gt + rng.normal(0, noise, gt.shape)
            np.savez(folder / name / f"c{clip}.npz", keypoints=points, visibility=np.full((6, 17), 2.0))
    for name in ("a", "b"):
        rushes.score_poses(folder / name, folder / "gt", norms=NORM, ks=[K], run=folder / f"run_{name}")
    return folder


def test_every_command_is_a_surface_or_says_why_not() -> None:
    assert set(get_command(app).commands) == {*SURFACES, *VALUE_FREE}  # type: ignore[attr-defined]


@pytest.mark.parametrize("command", SURFACES)
def test_no_command_writes_a_pck_without_its_normalisation_and_k(command: str, poses: Path, tmp_path: Path) -> None:
    places = {"poses": poses, "a": poses / "run_a", "b": poses / "run_b", "out": tmp_path}
    seen = 0
    for words in SURFACES[command]:
        text = invoked(*(word.format_map(places) for word in words))
        assert not list(unlabelled(text)), words
        seen += "pck" in text.lower()
    for path in sorted(path for path in tmp_path.rglob("*") if path.is_file() and path.suffix not in (".png", ".npz")):
        text = path.read_bytes().decode("utf-8", "replace")
        assert not list(unlabelled(text)), path.name
        seen += "pck" in text.lower()
    assert seen, "nothing here is about PCK: the command line is wrong"


def test_no_object_of_python_shows_a_pck_without_its_normalisation_and_k(poses: Path) -> None:
    run, done = (
        rushes.read_run(poses / "run_a"),
        rushes.score_pose(poses / "a/c0.npz", poses / "gt/c0.npz", norms=NORM, ks=[K], run=poses / "one"),
    )
    loop = rushes.Pose(NORM, ks=[K])
    comparison = rushes.compare_runs(poses / "run_a", poses / "run_b")
    shown = [done, run, done["pck"], comparison, run.table("pck")]
    texts = [repr(one) for one in (*shown, loop)] + [one._repr_html_() for one in shown if hasattr(one, "_repr_html_")]
    texts += [str(run.table("pck")), run.to_frame().to_csv(), run.to_frame(columns=["id", "pck"]).to_csv()]
    texts += [batch.to_pandas().to_csv() for batch in run.scan(columns=["id", "pck"])]
    texts += [json.dumps(m.as_dict()) for m in done.measurements]
    texts.append(json.dumps(asdict(accuracy_report([frame(HIPS)], [K], BBOX))))
    assert not [bad for text in texts for bad in unlabelled(text)]
    assert list(run.to_frame(columns=["pck"]).columns) == ["pck_k_5_norm_bbox_diagonal"]


def test_no_curve_of_a_tracker_is_called_pck_alone(poses: Path, tmp_path: Path) -> None:
    done = rushes.trackers.log(poses / "run_a", to=f"tensorboard:{tmp_path}")
    assert {name for name in done.names if name.startswith("pck/")} == {
        f"pck/{how}/k_5/norm_bbox-diagonal" for how in ("aggregate_mean", "aggregate_pooled")
    }
    assert "pck" not in done.names and "pck_auc" not in done.names


def test_a_name_that_means_several_pcks_is_refused_with_the_choices(poses: Path) -> None:
    rushes.score_pose(
        poses / "a/c0.npz", poses / "gt/c0.npz", norms="all", ks=[5, 20], run=poses / "all", overwrite=True
    )
    with pytest.raises(InputError, match="pck matches 6 columns; use one of pck_k_5_norm_torso_diameter, pck_k_20"):
        rushes.query(poses / "all", "select pck from clips")
    with pytest.raises(InputError, match="pck says nothing without its norm and k: select signature as well"):
        rushes.query(poses / "all", "select name, value from measurements")


def test_a_definition_of_a_pck_says_what_belongs_to_its_name() -> None:
    """Generic, and no rule about PCK: what is a PCK here is told by its name and formula alone."""
    for definition in DEFINITIONS:
        keys = {key for key, _ in definition.params} | set(definition.open_params)
        assert bool(definition.named_by) == definition.name.startswith("pck"), definition
        assert set(definition.named_by) <= keys | {"hips"}
    assert full_name(pck_definition(20, TORSO(5, 6))) == "pck (hips 5-6, k 20, norm torso-diameter)"
    assert all(one.signature == replace(one, named_by=()).signature for one in catalog().values())


def test_a_run_from_before_names_its_pcks_too() -> None:
    """Runs of older versions do not say what belongs to a name; reading them does."""
    for definition in DEFINITIONS:
        stored = {key: value for key, value in definition.as_dict().items() if key != "named_by"}
        assert Definition.from_dict(stored).named_by == definition.named_by


def unlabelled(text: str) -> Iterator[str]:
    """Lines, rows of a page and objects of JSON in which a PCK of this test's runs lacks its normalisation or its k."""
    if text.lstrip()[:1] in "[{":
        yield from _objects(
            json.loads(text) if "\n{" not in text.strip() else [json.loads(x) for x in text.splitlines()]
        )
    elif "<html" in text[:500].lower() or "<table" in text or text.startswith("<div>"):
        page = _Rows()
        page.feed(text)
        yield from (row for row in page.rows if _is_bare(row))
        yield from (bad for data in page.data for bad in _objects(json.loads(data)))
    else:
        yield from (line for line in text.splitlines() if _is_bare(line))


_BARE = re.compile(r"(?<![\w/|-])pck(?![a-z0-9_|/\\\\])")


def _is_bare(line: str) -> bool:
    """A line with a number in it, and a name that is just "pck"; a definition's own head has no number."""
    says = NORM in line or NORM.replace("-", "_") in line
    is_bare = _BARE.search(line) is not None and any(map(str.isdigit, line))
    return is_bare and not (says and any(f"k{by}{K}" in line for by in " :_="))


def _objects(data: Any, inside: str = "") -> Iterator[str]:
    """A text "pck" stands in an object that says what it is, or in one that stands in such a one."""
    if isinstance(data, dict):
        here = json.dumps([value for value in data.values() if isinstance(value, str)])
        says = inside or (here if NORM in here else "")
        for key, value in data.items():
            if key == "pck" or (value == "pck" and not says):
                yield f"{key}: {value}"
            yield from _objects(value, says)
    elif isinstance(data, list):
        for value in data:
            yield from _objects(value, inside)
    elif isinstance(data, str) and _is_bare(data) and not inside:
        yield data


class _Rows(HTMLParser):
    """The text of each row, paragraph, heading and item of a page, and the data of its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[str] = [""]
        self.data: list[str] = []
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        if tag in ("tr", "p", "li", "h2", "h3", "h4", "details", "div", "section", "figure", "dt"):
            self.rows.append("")
        self.rows[-1] += " " + " ".join(
            str(said[key]) for key in ("title", "aria-label", "data-signature") if said.get(key)
        )
        self._in = (
            "json"
            if tag == "script" and "json" in (said.get("type") or "")
            else tag
            if tag in ("script", "style")
            else ""
        )

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in == "json":
            self.data.append(data)
        elif not self._in:
            self.rows[-1] += " " + data
