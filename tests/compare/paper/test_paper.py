"""`rushes paper`: what is asked of which instrument, what is kept, and what becomes of a column that cannot be had.

The instruments are stood in for: each writes a planted run, or raises what it would raise.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.compare.paper.paper_runs import LPIPS, LSE_C, PSNR, both, clip_run, fidelity_run, fvd_run, three

from rushes import measure_paper, paper_table, read_run
from rushes.compare.paper import paper as module
from rushes.compare.paper.columns import chosen_columns
from rushes.compare.paper.paper import NO_SYNCNET
from rushes.core.errors import InputError, MissingDependency, RunError, WeightsNotFound
from rushes.core.machine.files import take_lock
from rushes.media import write_clip

VALUES = {"psnr": three(PSNR, 22.0, 2.0), "lpips": three(LPIPS, 0.3, 0.1)}
NO_WEIGHTS = "weights for r3d50 are missing: not downloadable; put the file there yourself; give weights=…"


class Bench:
    """Stands in for the instruments, and remembers what they were asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.pulled = {"lpips"}
        self.weights = {"fvd"}
        self.stop: Callable[[], None] = lambda: None

    def metric(self, name: str) -> SimpleNamespace:
        def require(models: dict[str, str]) -> None:
            if name == "lpips" and not {"lpips"} & {*self.pulled, *models}:
                raise MissingDependency("alex.npz is not here; run: rushes models pull lpips")

        definition = {"psnr": PSNR, "lpips": LPIPS}[name]
        return SimpleNamespace(label=name.upper(), definition=definition, require=require)

    def evaluate_fidelity(self, gen: str, gt: str, *, metrics: list[str], run: Path, **options: Any) -> None:
        self.calls.append(("fidelity", options | {"metrics": metrics, "run": run}))
        fidelity_run(run, both(*(VALUES[name] for name in metrics)), gen=str(gen))

    def compare_sets(self, gen: str, gt: str, *, metrics: str, protocol: str, run: Path, **options: Any) -> None:
        self.calls.append((metrics, options | {"protocol": protocol, "run": run}))
        self.stop()
        if metrics not in self.weights:
            raise WeightsNotFound(NO_WEIGHTS)
        fvd_run(run, 412.5, gen=str(gen))

    def evaluate_clips(self, gen: str, *, run: Path, **options: Any) -> None:
        self.calls.append(("clip", options | {"run": run}))
        clip_run(run, three(LSE_C, 6.0, 1.0), gen=str(gen))

    def asked(self) -> list[str]:
        names = [name for name, _ in self.calls]
        self.calls.clear()
        return names


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Bench:
    bench = Bench()
    for name in ("evaluate_fidelity", "compare_sets", "evaluate_clips"):
        monkeypatch.setattr(module, name, getattr(bench, name))
    monkeypatch.setattr(module, "METRICS", {name: bench.metric(name) for name in ("psnr", "lpips")})
    return bench


COLUMNS = "psnr,lpips,fid-vid,fvd,sync"


def test_each_column_is_measured_by_its_instrument_and_the_rest_has_reasons(bench: Bench, tmp_path: Path) -> None:
    out = tmp_path / "out"
    made = measure_paper("amber", "real", out=out, columns=COLUMNS, jobs=2, resize_to="gt", interval="jackknife")
    assert [name for name, _ in bench.calls] == ["fidelity", "fid-vid", "fvd"]
    options = dict(bench.calls)
    assert options["fidelity"]["metrics"] == ["psnr", "lpips"] and options["fidelity"]["resize_to"] == "gt"
    assert options["fvd"]["interval"] == "jackknife" and options["fvd"]["protocol"] == "stylegan-v"
    assert all(call["jobs"] == 2 for call in options.values())
    assert made.reasons == {"fid-vid": NO_WEIGHTS, "sync-c": NO_SYNCNET, "sync-d": NO_SYNCNET}
    assert [path.relative_to(out).as_posix() for path in made.run_paths] == ["fidelity", "distribution/fvd"]
    table = paper_table(out)
    assert table.markdown().splitlines()[2] == "| amber | 22.00 | 0.3000 | – | 412.50 | – | – |"
    assert table.notes == (f"FID-VID: amber: {NO_WEIGHTS}", f"Sync-C, Sync-D: amber: {NO_SYNCNET}")


def test_sync_needs_weights(bench: Bench, tmp_path: Path) -> None:
    net, speech = tmp_path / "net.model", tmp_path / "speech"
    net.touch()
    speech.mkdir()
    out = tmp_path / "out"
    measure_paper("amber", "real", out=out, columns="sync-c", syncnet_weights=net, audio=speech)
    ((name, options),) = bench.calls
    assert name == "clip"
    assert (options["tier"], options["syncnet_weights"], options["audio"]) == (2, net, speech)
    assert paper_table(out).markdown().splitlines()[2] == "| amber | 6.000 |"


def test_what_could_not_be_measured_is_measured_later_and_nothing_twice(bench: Bench, tmp_path: Path) -> None:
    bench.pulled.clear()
    first = measure_paper("amber", "real", out=tmp_path, columns="psnr,lpips")
    assert first.reasons == {"lpips": "alex.npz is not here; run: rushes models pull lpips"}
    before = (tmp_path / "fidelity" / "measurements.jsonl").read_bytes()
    bench.pulled.add("lpips")
    again = measure_paper("amber", "real", out=tmp_path, columns="psnr,lpips")
    asked = [(call["run"].name, call["metrics"]) for _, call in bench.calls]
    assert asked == [("fidelity", ["psnr"]), ("fidelity", ["psnr"]), ("fidelity-2", ["lpips"])]
    assert not again.reasons and (tmp_path / "fidelity" / "measurements.jsonl").read_bytes() == before
    assert paper_table(tmp_path).markdown().splitlines()[2] == "| amber | 22.00 | 0.3000 |"


def test_a_file_that_is_given_takes_the_place_of_a_pulled_one(bench: Bench, tmp_path: Path) -> None:
    bench.pulled.clear()
    given = tmp_path / "alex.pth"
    given.touch()
    made = measure_paper("amber", "real", out=tmp_path / "out", columns="lpips", models={"lpips": given})
    assert not made.reasons and bench.calls[0][1]["models"] == {"lpips": given}


@pytest.mark.parametrize(
    "named", [{"weights": "gone"}, {"models": {"lpips": "gone"}}, {"syncnet_weights": "gone"}, {"audio": "gone"}]
)
def test_a_file_that_was_named_must_be_there(bench: Bench, tmp_path: Path, named: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="gone: no such file"):
        measure_paper("amber", "real", out=tmp_path / "out", columns=COLUMNS, **named)
    assert not bench.calls and not (tmp_path / "out").exists()


def test_columns_are_added_and_the_name_stays(bench: Bench, tmp_path: Path) -> None:
    measure_paper("amber", "real", out=tmp_path, name="Amber (ours)", columns="psnr")
    made = measure_paper("amber", "real", out=tmp_path, columns="fvd")
    assert (made.name, made.columns) == ("Amber (ours)", ("psnr", "fvd"))
    assert bench.asked() == ["fidelity", "fidelity", "fvd"]
    assert measure_paper("amber", "real", out=tmp_path, name="Amber", columns="fvd").name == "Amber"


def test_the_same_call_twice_leaves_the_same_bytes(bench: Bench, tmp_path: Path) -> None:
    def files() -> dict[str, bytes]:
        kept = (path for path in tmp_path.rglob("*") if path.is_file() and path.name != "run.json")
        return {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in kept}

    measure_paper("amber", "real", out=tmp_path, columns=COLUMNS)
    before = files()
    measure_paper("amber", "real", out=tmp_path, columns=COLUMNS)
    assert files() == before and "paper.json" in before and ".lock" not in before


def test_a_protocol_goes_to_every_instrument_that_knows_it(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disco = SimpleNamespace(metrics=("disco_psnr", "disco_lpips"))
    monkeypatch.setattr(module.pair_protocols, "PROTOCOLS", {"disco": disco, "wang2004": disco})
    monkeypatch.setattr(
        module, "METRICS", module.METRICS | {"disco_psnr": bench.metric("psnr"), "disco_lpips": bench.metric("lpips")}
    )
    monkeypatch.setitem(VALUES, "disco_psnr", VALUES["psnr"])
    measure_paper("amber", "real", out=tmp_path / "a", columns="psnr,fvd", protocol="disco")
    (_, pairs), (_, sets) = bench.calls
    assert pairs["metrics"] == ["disco_psnr"]
    assert sets["protocol"] == "disco" and sets["run"] == tmp_path / "a" / "distribution" / "fvd-disco"
    bench.calls.clear()
    measure_paper("amber", "real", out=tmp_path / "b", columns="psnr,fvd", protocol=["videogpt", "disco"])
    assert [options["protocol"] for name, options in bench.calls if name == "fvd"] == ["videogpt", "disco"]
    with pytest.raises(InputError, match="no protocol is called 'dico'. Did you mean `disco`"):
        measure_paper("amber", "real", out=tmp_path / "c", protocol="dico")


def test_other_sets_in_the_same_folder_are_refused_unless_it_starts_anew(bench: Bench, tmp_path: Path) -> None:
    measure_paper("amber", "real", out=tmp_path, columns="psnr")
    with pytest.raises(RunError, match="is about amber against real; not birch against real; choose another run"):
        measure_paper("birch", "real", out=tmp_path, columns="psnr")
    bench.calls.clear()
    made = measure_paper("amber", "real", out=tmp_path, columns="fvd", overwrite=True)
    assert made.columns == ("fvd",) and bench.calls[0][1]["overwrite"] is True


def test_a_run_that_cannot_be_continued_stops_everything(bench: Bench, tmp_path: Path) -> None:
    def refuse() -> None:
        raise RunError("out: already contains a run with weights a, not b")

    bench.stop = refuse
    with pytest.raises(RunError, match="already contains a run with weights a, not b"):
        measure_paper("amber", "real", out=tmp_path, columns="psnr,fvd")


def test_nothing_at_all_is_an_error_with_the_first_reason(bench: Bench, tmp_path: Path) -> None:
    bench.weights.clear()
    with pytest.raises(InputError, match="no column could be measured; fid-vid: weights for r3d50 are missing"):
        measure_paper("amber", "real", out=tmp_path, columns="fid-vid,sync")
    with pytest.raises(RunError, match="not finished yet"):
        paper_table(tmp_path)


def test_an_interruption_is_continued(bench: Bench, tmp_path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    bench.stop = interrupt
    with pytest.raises(KeyboardInterrupt):
        measure_paper("amber", "real", out=tmp_path, columns="psnr,fvd")
    with pytest.raises(RunError, match="not finished yet"):
        paper_table(tmp_path)
    bench.stop = lambda: None
    measure_paper("amber", "real", out=tmp_path, columns="psnr,fvd")
    assert bench.asked() == ["fidelity", "fvd", "fidelity", "fvd"]
    assert paper_table(tmp_path).markdown().splitlines()[2] == "| amber | 22.00 | 412.50 |"


def test_folders_that_cannot_be_used(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "strange").mkdir()
    (tmp_path / "strange" / "thesis.tex").touch()
    with pytest.raises(RunError, match=r"expected an empty folder or one of rushes paper; it holds thesis\.tex"):
        measure_paper("amber", "real", out=tmp_path / "strange", columns="psnr")
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="expected a folder to write; this is a file"):
        measure_paper("amber", "real", out=tmp_path / "file", columns="psnr")
    (tmp_path / "busy").mkdir()
    with (
        take_lock(tmp_path / "busy" / ".lock"),
        pytest.raises(RunError, match="another rushes process is writing here"),
    ):
        measure_paper("amber", "real", out=tmp_path / "busy", columns="psnr")
    with pytest.raises(InputError, match="no column is called 'pnsr'"):
        measure_paper("amber", "real", out=tmp_path / "new", columns="pnsr")
    assert not (tmp_path / "new").exists() and not bench.calls


def test_what_paper_json_holds(bench: Bench, tmp_path: Path) -> None:
    measure_paper("amber", "real", out=tmp_path, columns="psnr,fid-vid")
    assert json.loads((tmp_path / "paper.json").read_bytes()) == {
        "format": 1,
        "name": "amber",
        "gen": "amber",
        "gt": "real",
        "columns": ["psnr", "fid-vid"],
        "runs": [
            {"run": "fidelity", "source": "fidelity", "asks": ["psnr"]},
            {"run": "distribution/fid-vid", "source": "distribution", "asks": ["fid-vid"]},
        ],
        "reasons": {"fid-vid": NO_WEIGHTS},
        "complete": True,
    }


def test_for_real_on_two_small_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The instruments themselves: what needs no model is measured, what needs one says how to get it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    for clip in ("a", "b"):
        frames = [rng.integers(0, 200, (48, 64, 3), dtype=np.uint8) for _ in range(3)]
        write_clip(_placed(f"real/{clip}.mp4"), frames, fps=25)
        write_clip(_placed(f"generated/{clip}.mp4"), [frame + 20 for frame in frames], fps=25)
    write_clip("generated/c.mp4", frames, fps=25)
    made = measure_paper("generated", "real", out="out", columns="psnr,l1,csim", jobs=1)
    assert "rushes models pull face-id" in made.reasons["csim"]
    run = read_run("out/fidelity")
    table = paper_table("out", digits=6)
    psnr, l1 = (run.one(name, subject="set").value for name in ("psnr", "l1"))
    assert psnr is not None and l1 is not None
    assert table.markdown().splitlines()[2] == f"| generated | {psnr:.6f} | {l1:.6f} | – |"
    (left_out,) = (note for note in table.notes if "left out" in note)
    assert left_out.startswith("PSNR, L1: generated: 1 clip left out: c: ")
    measure_paper("generated", "real", out="again", columns="psnr,l1", jobs=2)
    assert Path("again/fidelity/measurements.jsonl").read_bytes() == (run.path / "measurements.jsonl").read_bytes()


def _placed(name: str) -> Path:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    return Path(name)


def test_words_are_measured_where_scripts_are_given(bench: Bench, tmp_path: Path) -> None:
    paper = measure_paper("gen", "gt", out=tmp_path / "out", columns="psnr,wer")
    assert bench.asked() == ["fidelity"]
    assert paper.reasons["wer"].startswith("no script was given")
    paper = measure_paper("gen", "gt", out=tmp_path / "out", columns="psnr,wer", prompts={"a": "hello"})
    (words,) = [options for name, options in bench.calls if name == "clip"]
    assert words["metrics"] == ("word_error_rate",) and words["run"].name == "words"
    assert "tier" not in words and words["prompts"] == {"a": "hello"}
    assert "wer" not in paper.reasons


def test_columns_of_talking_heads_are_known() -> None:
    titles = [column.title for column in chosen_columns("csim,lmd,sync,aed,akd,fid,fvd,e-fid,wer")]
    assert titles == ["CSIM", "LMD", "Sync-C", "Sync-D", "AED", "AKD", "FID", "FVD", "E-FID", "WER"]
