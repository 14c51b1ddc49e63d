"""Numbers into the real packages, offline, and read back from what they wrote."""

from __future__ import annotations

import json
import os
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rushes
from rushes.core import Definition, Interval, Measurement
from rushes.core.definition import signature_params
from rushes.core.machine.installing import extra_command
from rushes.media import write_clip

FVD = Definition(
    name="fvd", unit="1", lowest=0.0, highest=None, better="lower", summary="s", formula="f",
    params=signature_params(protocol="genhoi", n_gen=16),
)  # fmt: skip
PCK = Definition(
    name="pck", unit="ratio", lowest=0.0, highest=1.0, better="higher", summary="s", formula="f",
    params=signature_params(k=20, norm="torso diameter"),
)  # fmt: skip


def numbers(n: int = 16) -> list[Measurement]:
    interval = Interval(low=400.0, high=425.0, level=0.95, method="jackknife-20")
    return [
        Measurement(definition=FVD.with_params(n_gen=n), value=412.5, count=32, interval=interval),
        Measurement(definition=PCK, value=0.75, count=4, note="few joints"),
        Measurement(definition=PCK.with_params(k=50), value=0.875, count=4),
        Measurement.missing(PCK.with_params(k=5), "no joint is visible"),
    ]


VALUES = {"fvd": 412.5, "fvd/low": 400.0, "fvd/high": 425.0, "pck/k_20": 0.75, "pck/k_50": 0.875}


@pytest.fixture(scope="module")
def clip_run(tmp_path_factory: pytest.TempPathFactory) -> rushes.Run:
    """Two clips, one of which stands still."""
    folder = tmp_path_factory.mktemp("log")
    draw = np.random.RandomState(0)
    moving = [draw.randint(0, 255, (48, 64, 3)).astype(np.uint8) for _ in range(12)]
    (folder / "clips").mkdir()
    write_clip(folder / "clips" / "moves.mp4", moving)
    write_clip(folder / "clips" / "still.mp4", [moving[0]] * 12)
    rules = folder / "rules.toml"
    rules.write_text('name = "lively"\n[flagged]\nfreeze_frame_ratio = { above = 0.5 }\n')
    return rushes.evaluate_clips(folder / "clips", run=folder / "run", profile=rules, jobs=1)


@pytest.fixture
def quick_media(monkeypatch: pytest.MonkeyPatch) -> None:
    """Film strips without worker processes, and a page of one word; the documentation's blocks make the real ones."""
    from rushes.compare import report
    from rushes.integrations.trackers import send
    from rushes.present.verdict.verdict import EMPTY

    monkeypatch.setattr(send, "run_tasks", lambda work, tasks, **more: enumerate(map(work, tasks)))

    def write(run: object, out: Path) -> report.Report:
        out.write_text("page")
        return report.Report(path=out, bytes=4, found="", runs=(), verdict=EMPTY)

    monkeypatch.setattr(report, "write_report", write)


# ---- TensorBoard -----------------------------------------------------------------------------------------------------


def events(folder: Path) -> Any:
    reading = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    found = reading.EventAccumulator(str(folder), size_guidance={"images": 0, "tensors": 0})
    found.Reload()
    return found


def test_tensorboard_files(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs tensorboard (pip install 'rushes[trackers]')")
    to = f"tensorboard:{tmp_path / 'logs'}"
    done = rushes.trackers.log(numbers(), to, step=7)
    assert done.missing == {"pck/k_5": "no joint is visible"} and len(done.names) == 3
    read = events(tmp_path / "logs")
    assert {tag: read.Scalars(tag)[0].value for tag in read.Tags()["scalars"]} == VALUES
    assert read.Scalars("fvd")[0].step == 7
    text = read.Tensors("rushes/signature/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "fvd&#124;n_gen:16&#124;protocol:genhoi&#124;v:1" in text
    kept = json.loads((tmp_path / "logs" / "rushes_signatures.json").read_text())
    assert kept["interval"] == {"fvd": "0.95 jackknife-20"} and kept["note"]["pck/k_5"] == "no joint is visible"
    with pytest.raises(rushes.DefinitionMismatch, match="fvd was logged under another signature.*n_gen is 16"):
        rushes.trackers.log(numbers(17), to, step=8)
    rushes.trackers.log(numbers(17), to, step=8, prefix="val/")
    assert "val/fvd" in events(tmp_path / "logs").Tags()["scalars"]


def test_a_writer_of_torch(tmp_path: Path, clip_run: rushes.Run, quick_media: None) -> None:
    pytest.importorskip("tensorboard", reason="needs tensorboard (pip install 'rushes[trackers]')")
    pytest.importorskip("torch", reason="needs torch")
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path)) as writer:
        done = rushes.trackers.log(clip_run, writer, step=3, worst=2)
        writer.add_scalar("after", 1.0, 3)  # still open
    read = events(tmp_path)
    assert done.pictures == 2 and len(read.Tags()["images"]) == 2
    (still, moves) = (read.Tensors(f"rushes/worst/{n}/text_summary")[0].tensor_proto.string_val[0] for n in (1, 2))
    assert b"still: " in still and b"moves: " in moves  # worst first
    mean = sum(float(clip_run.one("sharpness", subject=name).value or 0) for name in ("moves", "still")) / 2
    assert read.Scalars("sharpness")[0].value == pytest.approx(mean, rel=1e-6)


@pytest.mark.soak
def test_loggers_of_lightning(tmp_path: Path, mlflow: Any) -> None:
    loggers = pytest.importorskip("lightning.pytorch.loggers", reason="needs lightning")
    board = loggers.TensorBoardLogger(str(tmp_path / "boards"))
    rushes.trackers.log(numbers(), board, step=1)
    board.finalize("success")
    assert events(Path(board.log_dir)).Scalars("fvd")[0].value == 412.5
    kept = loggers.MLFlowLogger(tracking_uri=f"file:{tmp_path / 'mlruns'}")
    rushes.trackers.log(numbers(), kept, step=1)
    assert mlflow.MlflowClient().get_run(kept.run_id).data.metrics["fvd_high"] == 425.0
    with pytest.raises(rushes.InputError, match="wandb, mlflow, tensorboard:FOLDER"):
        rushes.trackers.log(numbers(), loggers.CSVLogger(str(tmp_path)))


# ---- MLflow ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    package = pytest.importorskip("mlflow", reason="needs mlflow (pip install 'rushes[trackers]')")
    package.set_tracking_uri(f"file:{tmp_path / 'mlruns'}")
    yield package
    while package.active_run():
        package.end_run()


def test_mlflow(mlflow: Any, clip_run: rushes.Run, quick_media: None) -> None:
    with mlflow.start_run() as run:
        rushes.trackers.log(numbers(), "mlflow", step=2)
        rushes.trackers.log(clip_run, run, worst=1, report=True, prefix="clips.")
        with pytest.raises(rushes.DefinitionMismatch, match="another signature"):
            rushes.trackers.log(numbers(17), "mlflow")
    stored = mlflow.MlflowClient().get_run(run.info.run_id).data
    want = {name.replace("/low", "_low").replace("/high", "_high"): value for name, value in VALUES.items()}
    assert {name: value for name, value in stored.metrics.items() if not name.startswith("clips.")} == want
    assert stored.tags["rushes.signature.fvd"] == "fvd|n_gen:16|protocol:genhoi|v:1"
    assert stored.tags["rushes.interval.fvd"] == "0.95 jackknife-20" and "clips.sharpness" in stored.metrics
    client = mlflow.MlflowClient()
    kept = [item.path for item in client.list_artifacts(run.info.run_id, "rushes")]
    assert kept == ["rushes/report.html", "rushes/worst"]
    assert [i.path for i in client.list_artifacts(run.info.run_id, "rushes/worst")] == ["rushes/worst/1-still.jpg"]
    assert client.get_metric_history(run.info.run_id, "fvd")[0].step == 2


def test_mlflow_begins_a_run_and_ends_it(mlflow: Any) -> None:
    done = rushes.trackers.log(numbers(), "mlflow:night")
    assert mlflow.active_run() is None and done.place.startswith("mlflow run ")
    assert mlflow.MlflowClient().get_run(done.place.split()[-1]).info.run_name == "night"


# ---- Weights & Biases ------------------------------------------------------------------------------------------------


def test_wandb_offline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clip_run: rushes.Run, quick_media: None
) -> None:
    wandb = pytest.importorskip("wandb", reason="needs wandb (pip install 'rushes[trackers]')")
    for key, value in {"MODE": "offline", "SILENT": "true", "DIR": str(tmp_path), "ERROR_REPORTING": "false"}.items():
        monkeypatch.setenv(f"WANDB_{key}", value)
    run = wandb.init(project="loop", dir=str(tmp_path))
    rushes.trackers.log(numbers(), run, step=4)
    rushes.trackers.log(clip_run, wandb, step=5, prefix="clips/", worst=1, report=True)
    with pytest.raises(rushes.DefinitionMismatch, match="another signature"):
        rushes.trackers.log(numbers(17), run)
    assert run.config["rushes"]["signature"]["fvd"] == "fvd|n_gen:16|protocol:genhoi|v:1"
    folder = Path(run.dir).parent
    run.finish()
    wandb.teardown()  # its service writes behind the caller's back, and is done when it has ended
    rows, config, artifacts = records(next(folder.glob("*.wandb")))
    assert {key: rows[4][key] for key in VALUES} == VALUES
    assert rows[5]["clips/sharpness"] > 0 and rows[5]["rushes/worst/_type"] == "images/separated"
    assert rows[5]["rushes/worst/captions"][0].startswith("still: ")
    assert rows[5]["rushes/worst_clips/_type"] == "videos"
    assert config["rushes"]["interval"]["fvd"] == "0.95 jackknife-20" and "rushes-report" in artifacts
    assert len(list(folder.glob("files/media/images/**/*.jpg"))) == 1


def records(path: Path) -> tuple[dict[int, dict[str, Any]], dict[str, Any], set[str]]:
    """History by step, config and artifact names of an offline run, by wandb's own messages."""
    from wandb.proto import wandb_internal_pb2

    rows: dict[int, dict[str, Any]] = {}
    config: dict[str, Any] = {}
    artifacts: set[str] = set()
    for data in messages(path.read_bytes()):
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        for item in record.history.item:
            key = item.key or "/".join(item.nested_key)
            rows.setdefault(record.history.step.num, {})[key] = json.loads(item.value_json)
        for changed in record.config.update:
            config[changed.key or "/".join(changed.nested_key)] = json.loads(changed.value_json)
        artifacts |= {record.artifact.name or record.request.log_artifact.artifact.name} - {""}
    return rows, config, artifacts


def messages(data: bytes) -> Iterator[bytes]:
    """A .wandb file: a log as LevelDB writes it (blocks of 32 KiB; CRC, length and kind before each piece)."""
    place, whole = 7, b""  # its own seven letters come first
    while place + 7 <= len(data):
        if (room := 32768 - place % 32768) < 7:
            place += room
            continue
        length, kind = struct.unpack("<HB", data[place + 4 : place + 7])
        whole += data[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):  # whole, or the last piece
            yield whole
            whole = b""


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_bare_numbers_unknown_trackers_and_missing_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"fvd": 3.0}, [412.5], 412.5):
        with pytest.raises(rushes.InputError, match="carry their definition"):
            rushes.trackers.log(wrong, "tensorboard:x")  # type: ignore[arg-type]
    for to in ("comet", "tensorboardx:y", object(), ""):
        with pytest.raises(rushes.InputError, match="wandb, mlflow, tensorboard:FOLDER"):
            rushes.trackers.log(numbers(), to)
    with pytest.raises(rushes.InputError, match="TensorBoard needs a folder: tensorboard:FOLDER"):
        rushes.trackers.log(numbers(), "tensorboard")
    with pytest.raises(rushes.InputError, match="no number to log"):
        rushes.trackers.log([], "tensorboard:x")
    with pytest.raises(rushes.InputError, match="need a run"):
        rushes.trackers.log(numbers(), "tensorboard:x", report=True)
    with pytest.raises(rushes.InputError, match="a step is a whole number"):
        rushes.trackers.log(numbers(), "tensorboard:x", step=1.5)  # type: ignore[arg-type]
    command = re.escape(extra_command("trackers"))
    for name in ("wandb", "mlflow", "tensorboard"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(rushes.MissingDependency, match=f"needs {name}; run: {command}"):
            rushes.trackers.log(numbers(), f"{name}:{tmp_path}")
    assert not os.listdir(tmp_path)


def test_the_command(tmp_path: Path, clip_run: rushes.Run) -> None:
    pytest.importorskip("tensorboard", reason="needs tensorboard (pip install 'rushes[trackers]')")
    from typer.testing import CliRunner

    from rushes.cli.main import app

    arguments = ["log", str(clip_run.path), "--to", f"tensorboard:{tmp_path}", "--worst", "1", "--no-report"]
    done = CliRunner().invoke(app, [*arguments, "--step", "9"])
    assert done.exit_code == 0 and "1 film strips to tensorboard files" in done.stdout
    told = json.loads(CliRunner().invoke(app, [*arguments, "--worst", "0", "--json"]).stdout)
    assert told["pictures"] == 0 and "sharpness" in told["names"]
    failed = CliRunner().invoke(app, ["log", str(clip_run.path), "--to", "comet"])
    assert failed.exit_code == 1 and failed.stderr.count("\n") == 1
