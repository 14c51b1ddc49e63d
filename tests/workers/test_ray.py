"""The Ray engine on a real cluster of two nodes: the local engine's bytes, whatever dies on the way.

`make test` measures clips on it once; what dies, joins and differs on a cluster is in `make soak`.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.faults import contents
from benchmarks.ray_cluster import Running, running, token
from tests.processes import ctrl_c, says, started, until
from tests.workers.misbehaving import eat, fail, kill_supervisor, meet, misbehave, square, visible_gpus
from typer.testing import CliRunner

from rushes.cli.main import app
from rushes.core.errors import InputError, MissingDependency, RunError
from rushes.core.machine.installing import extra_command
from rushes.instruments.clip.evaluate import evaluate_clips
from rushes.instruments.distribution.clips import sharding
from rushes.instruments.distribution.clips.sharding import Network, features_on_workers
from rushes.instruments.distribution.evaluate import compare_sets
from rushes.instruments.distribution.features.extraction import ClipFeatures
from rushes.instruments.distribution.features.random_weights import write_random_checkpoint
from rushes.instruments.distribution.recipes import recipe
from rushes.instruments.robustness.sweep.evaluate import sweep_clips
from rushes.media import write_clip
from rushes.media.find.sets import Clip
from rushes.workers import ray as on_ray
from rushes.workers.engine import Crash, Engine, connected, inline_work, run_tasks
from rushes.workers.ray_session import why

# Not imported here: Ray reads its token once, when it is loaded.
pytestmark = [
    pytest.mark.workers,
    pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray"),
    # Ray leaves sockets and files to the collector, which pytest would count as failures of ours.
    pytest.mark.filterwarnings("ignore"),
]

ROOT = Path(__file__).parents[2]
MARK = "RUSHES_TEST_CLUSTER"
"""In the environment of this module's cluster and of all that descends from it: other tests have workers too."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Running]:
    """One node of one core, behind a token of its own; `_second_node` adds another."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (token() | {MARK: secrets.token_hex(8)}).items():
            patch.setenv(name, value)
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), str(ROOT)]))
        with running((1,), {}) as found:
            yield found


@pytest.fixture(scope="module")
def second_node(cluster: Running) -> None:
    cluster.tell("add")


@pytest.fixture(autouse=True)
def _second_node(request: pytest.FixtureRequest) -> None:
    """What dies, joins and differs takes two nodes; each costs seconds to start."""
    if request.node.get_closest_marker("soak") and "cluster" in request.fixturenames:
        request.getfixturevalue("second_node")


@pytest.fixture(scope="module")
def engine(cluster: Running) -> Iterator[Engine]:
    """Connected once for all tests that stay in this process."""
    found = Engine(kind="ray", address=cluster.address)
    with connected(found):
        yield found


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty small clips, a few of them different, and one that cannot be read."""
    folder = tmp_path_factory.mktemp("clips")
    for number in range(60):
        path = folder / f"take{number}.mp4"
        if number >= 4:
            shutil.copy(folder / f"take{number % 4}.mp4", path)
            continue
        still = np.random.default_rng(number).integers(0, 256, (64, 96, 3), dtype=np.uint8)
        write_clip(path, [np.roll(still, 3 * step, axis=1) for step in range(16)])
    (folder / "take60.mp4").write_bytes(b"no clip at all")
    return folder


@pytest.fixture(scope="module")
def whole(clips: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the local engine writes for the clips, left in peace."""
    run = tmp_path_factory.mktemp("whole") / "run"
    evaluate_clips([clips], run=run, jobs=2)
    return contents(run)


def rushes(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "rushes", *arguments]


def workers_alive() -> list[int]:
    """Worker processes beneath this cluster's supervisors, on any of its nodes."""
    found, mark = [], f"{MARK}={os.environ[MARK]}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_worker = b"rushes.workers.child" in (folder / "cmdline").read_bytes()
            if is_worker and mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def all_workers_end() -> None:
    until(lambda: not workers_alive(), "every worker beneath the cluster's supervisors has ended")


@pytest.mark.soak
def test_every_task_has_its_result(engine: Engine) -> None:
    assert dict(run_tasks(square, range(40), engine=engine)) == {n: n * n for n in range(40)}
    assert list(run_tasks(square, [], engine=engine)) == []


@pytest.mark.soak
def test_a_crash_ends_in_the_words_of_the_local_engine(engine: Engine, tmp_path: Path) -> None:
    kinds = ["fine", "segfault", "fine", "exit", "first-time-only", "no-room", "hang"]
    outcomes = []
    for name, where in (("local", Engine()), ("ray", engine)):
        (tmp_path / name).mkdir()
        tasks = [(kind, str(tmp_path / name)) for kind in kinds]
        outcomes.append(dict(run_tasks(misbehave, tasks, engine=where, timeout=3)))
    assert outcomes[0] == outcomes[1]
    assert outcomes[1][1] == Crash("the decoder crashed (SIGSEGV)")
    assert outcomes[1][6] == Crash("took longer than 3 s", may_retry=False)


@pytest.mark.soak  # tests/workers/test_local.py holds the same limit on one machine
def test_runaway_memory_takes_down_its_own_task_only(engine: Engine) -> None:
    results = dict(run_tasks(eat, [20, 3000, 30, 20], engine=engine, memory_mb=400))
    assert results.pop(1) == Crash("used more than 400 MB of memory", may_retry=False)
    assert results == {0: 20, 2: 30, 3: 20}


@pytest.mark.soak
def test_a_defect_is_raised_not_hidden(engine: Engine) -> None:
    with pytest.raises(ValueError, match="a defect"):
        list(run_tasks(fail, [1, 2, 3], engine=engine))
    all_workers_end()


@pytest.mark.soak
def test_a_long_clip_run_has_the_same_bytes(
    engine: Engine, clips: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    run = evaluate_clips([clips], run=tmp_path / "run", engine=engine)
    assert contents(tmp_path / "run") == whole
    assert [subject.badge for subject in run.subjects].count("reject") == 1


def test_a_clip_run_has_the_same_bytes(engine: Engine, clips: Path, tmp_path: Path) -> None:
    paths = [clips / f"take{number}.mp4" for number in (0, 1, 2, 60)]
    run = evaluate_clips(paths, run=tmp_path / "ray", engine=engine)
    with inline_work():
        evaluate_clips(paths, run=tmp_path / "here")
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")
    assert [subject.badge for subject in run.subjects].count("reject") == 1


@pytest.mark.soak
def test_a_run_in_shards_has_the_same_bytes(engine: Engine, clips: Path, tmp_path: Path) -> None:
    """Workers write clips and shards to the common folder by themselves; only markers come back."""
    pytest.importorskip("pyarrow")
    from rushes.storage.runs.packing import Packed
    from rushes.storage.shards.writer import ShardedWriter

    came: list[object] = []
    add = ShardedWriter.add
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ShardedWriter, "add", lambda self, entry: (came.append(entry), add(self, entry))[1])
        evaluate_clips([clips], run=tmp_path / "run", engine=engine, shards=20)
    assert len(came) == 61 and not any(isinstance(entry, Packed) for entry in came)
    evaluate_clips([clips], run=tmp_path / "local", jobs=2, shards=20)
    assert contents(tmp_path / "run") == contents(tmp_path / "local")


@pytest.mark.soak
def test_an_fvd_run_has_the_same_bytes(engine: Engine, clips: Path, tmp_path: Path) -> None:
    """One side ends with a clip that cannot be read, which both engines leave out in the same words."""
    weights = write_random_checkpoint("r3d50", tmp_path / "r3d50-random.pt")
    sides = {"gen": (0, 1, 60), "gt": (2, 3)}
    for name, numbers in sides.items():
        lines = "".join(f"{clips}/take{number}.mp4\n" for number in numbers)
        (tmp_path / f"{name}.txt").write_text(lines)
    for name, where in (("local", Engine()), ("ray", engine)):
        found = compare_sets(
            tmp_path / "gen.txt",
            tmp_path / "gt.txt",
            metrics="fid-vid",
            weights=weights,
            device="cpu",
            cache=tmp_path / f"cache-{name}",
            run=tmp_path / name,
            engine=where,
        )
        assert len(found.excluded("gen")) == 1
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
    assert contents(tmp_path / "cache-ray") == contents(tmp_path / "cache-local")
    assert len(contents(tmp_path / "cache-ray")) == 4  # a run that is killed goes on from these


@pytest.mark.soak
def test_a_set_that_crashes_the_decoder_is_left_out_in_the_same_words(engine: Engine, monkeypatch) -> None:
    clip = Clip("bad.mp4", (Path("bad.mp4"),))
    network = Network(
        weights=Path("w"), sha256="", recipe=recipe("genhoi", "fvd"), device="cpu", precision=None, batch=None
    )
    monkeypatch.setattr(sharding, "run_tasks", lambda *given, **options: iter([(0, Crash("died"))]))
    found = list(features_on_workers(engine, "gen", network)([clip]))
    assert found == [(0, ClipFeatures(None, error="bad.mp4: the decoder crashed on it; re-export it"))]


def test_a_sweep_runs_where_it_is_told(clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every task goes to the engine it names, here a stand-in that works in this process: the bytes are the same."""
    asked: list[str | None] = []

    def stand_in(work: Any, tasks: Any, *, address: str | None, **options: object) -> Any:
        asked.append(address)
        return run_tasks(work, tasks)

    monkeypatch.setattr(on_ray, "run_tasks", stand_in)
    monkeypatch.setattr("rushes.workers.ray_session.session", lambda *given, **options: nullcontext())
    for name, where in (("local", Engine()), ("ray", Engine(kind="ray", address="head:6379"))):
        with inline_work():
            sweep_clips([clips / "take0.mp4"], axes={"brightness": (0.8,)}, out=tmp_path / name, engine=where)
    assert asked and set(asked) == {"head:6379"}
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")


@pytest.mark.soak
@pytest.mark.parametrize("keep_clips", [False, True])
def test_a_sweep_has_the_same_bytes(engine: Engine, clips: Path, tmp_path: Path, keep_clips: bool) -> None:
    for name, where in (("local", Engine()), ("ray", engine)):
        sweep_clips(
            [clips / "take0.mp4"],
            axes={"brightness": (0.8, 1.2), "gaussian_noise": (4.0,)},
            out=tmp_path / name,
            keep_clips=keep_clips,
            engine=where,
        )
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
    assert sum(name.endswith("clip.mp4") for name in contents(tmp_path / "ray")) == (2 if keep_clips else 0)


@pytest.mark.soak
def test_relative_paths_mean_the_same_on_every_node(
    engine: Engine, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(clips.parent)
    evaluate_clips([f"{clips.name}/take1.mp4"], run=tmp_path / "local", jobs=1)
    evaluate_clips([f"{clips.name}/take1.mp4"], run=tmp_path / "ray", engine=engine)
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")


@pytest.mark.soak
def test_a_killed_supervisor_loses_nothing(engine: Engine, tmp_path: Path) -> None:
    """After the first answer its supervisor is killed; the rest wait for one in its place."""
    outcomes = {}
    for number, above in run_tasks(meet, [(str(tmp_path), wanted) for wanted in (2, 2, 3, 3, 3, 3)], engine=engine):
        if not outcomes:
            os.kill(above, signal.SIGKILL)
        outcomes[number] = above
    assert sorted(outcomes) == list(range(6))
    assert len(set(outcomes.values())) == 3


@pytest.mark.soak
def test_a_task_that_keeps_losing_its_supervisor_is_given_up(engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    assert dict(run_tasks(kill_supervisor, [1], engine=engine)) == {0: Crash("its worker on Ray was lost 3 times")}
    time.sleep(0.5)  # what Ray has to say about it comes from a thread of its own
    assert capfd.readouterr() == ("", "")


@pytest.mark.soak
def test_a_node_that_dies_and_one_that_joins(engine: Engine, cluster: Running, tmp_path: Path) -> None:
    """Of two nodes at work one is killed; then, while the other works alone, a new one comes and gets a task."""
    for name in ("dies", "joins"):
        (tmp_path / name).mkdir()
    outcomes: dict[int, int | Crash] = {}
    for number, above in run_tasks(meet, [(str(tmp_path / "dies"), 2)] * 8, engine=engine):
        if not outcomes:
            cluster.tell("remove")
        outcomes[number] = above
    assert sorted(outcomes) == list(range(8)) and not any(isinstance(o, Crash) for o in outcomes.values())

    seen: dict[int, int | Crash] = {}
    for number, above in run_tasks(meet, [(str(tmp_path / "joins"), wanted) for wanted in (1, 2, 2, 2)], engine=engine):
        if not seen:
            cluster.tell("add")
        seen[number] = above
    assert sorted(seen) == list(range(4)) and len(set(seen.values())) == 2


@pytest.mark.soak
def test_a_gpu_worker_sees_its_gpu(engine: Engine, cluster: Running) -> None:
    with pytest.raises(RunError, match="no core"):
        list(run_tasks(visible_gpus, [1], engine=engine, gpus=1))
    cluster.tell("remove")
    cluster.tell("add gpu")
    assert dict(run_tasks(visible_gpus, [1], engine=engine, gpus=1)) == {0: "0"}


@pytest.mark.soak
def test_a_node_with_other_code_is_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_ray, "identity", lambda: {"rushes": "9.9"})
    with pytest.raises(
        RunError, match=r"node \S+ of the Ray cluster differs from this machine: rushes \S+ there, 9.9 h"
    ):
        list(run_tasks(square, [1], engine=engine))


@pytest.mark.soak
def test_work_that_a_node_cannot_load_is_one_line(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(square, "__module__", "tests.workers.only_here")
    monkeypatch.setitem(sys.modules, "tests.workers.only_here", sys.modules[misbehave.__module__])
    with pytest.raises(RunError, match="No module named .tests.workers.only_here"):
        list(run_tasks(square, [1], engine=engine))


@pytest.mark.soak
def test_a_file_that_a_node_cannot_see_is_one_line(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = str(tmp_path / "gone.mp4")
    assert dict(run_tasks(square, [3], engine=engine, needs=lambda task: [gone])) == {0: 9}  # gone here too: the task's
    monkeypatch.setattr(on_ray.os.path, "exists", lambda path: True)
    with pytest.raises(RunError, match=r"gone.mp4: node \S+ of the Ray cluster cannot see this file"):
        list(run_tasks(square, [3], engine=engine, needs=lambda task: [gone, "s3://bucket/clip.mp4"]))


PAUSES = """
import sys, time
from rushes.cli.main import main
from rushes.storage.runs import RunWriter

left, add = int(sys.argv.pop(1)), RunWriter.add

def pause(writer, packed):
    global left
    add(writer, packed)
    left -= 1
    if not left:
        print("pauses", flush=True)
        time.sleep(600)

RunWriter.add = pause
main()
"""
"""The `rushes` command, which stops after so many rows until somebody ends it."""


@pytest.mark.soak
def test_interrupted_and_killed_runs_continue(
    cluster: Running, clips: Path, whole: dict[str, bytes], tmp_path: Path
) -> None:
    """Ctrl-C, then kill -9, then to the end: the bytes of a run left in peace, and no worker left behind."""
    words = ["clip", str(clips), "-o", str(tmp_path / "run"), "--engine", "ray", "--address", cluster.address]

    with paused(5, words) as interrupted:
        assert workers_alive()
        assert ctrl_c(interrupted) == "stopped; run the same command again to continue\n"
        assert interrupted.returncode == 130
    assert rows(tmp_path / "run") >= 5
    all_workers_end()

    with paused(7, words):
        pass
    assert 12 <= rows(tmp_path / "run") < 61
    all_workers_end()

    done = subprocess.run([*rushes(*words), "--json"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert len(json.loads(done.stdout)["clips"]) == 61
    assert contents(tmp_path / "run") == whole


@contextmanager
def paused(after: int, words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """The command once it has stored so many rows, and waits; killed after the block."""
    with started([sys.executable, "-c", PAUSES, str(after), *words]) as process:
        says(process, "pauses")
        yield process


def rows(run: Path) -> int:
    """Clips in the journal, which has definitions as well."""
    lines = (run / "journal.jsonl").read_bytes().splitlines()
    return sum(line.startswith(b'{"measurements":') for line in lines)


@pytest.mark.soak
def test_ray_of_this_machine_alone(clips: Path, whole: dict[str, bytes], tmp_path: Path) -> None:
    """No address: Ray starts, says nothing, and is gone at the end."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
    command = rushes("clip", str(clips), "-o", str(tmp_path / "ray"), "--engine", "ray", "--jobs", "2", "--json")
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and done.stderr == ""
    assert len(json.loads(done.stdout)["clips"]) == 61
    assert contents(tmp_path / "ray") == whole


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--engine", "moon"], 2, "'moon' is not one of 'local', 'ray'"),
        (["--engine", "ray", "--address", "ray://head:10001"], 2, "a Ray address is host:port or auto"),
        (["--address", "head:6379"], 2, "an address needs the engine ray"),
        (["--engine", "ray", "--address", "localhost:1"], 1, "localhost:1: no Ray cluster answers"),
    ],
)
def test_a_wrong_address_is_told_at_once(
    arguments: list[str], code: int, told: str, clips: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ray.is_initialized", lambda: False)  # this process may have joined a cluster already
    command = ["clip", str(clips), "-o", str(tmp_path / "run"), *arguments]
    done = CliRunner().invoke(app, command, env={"COLUMNS": "200", "TERM": "dumb"})
    assert done.exit_code == code, done.stderr
    assert told in done.stderr and "Traceback" not in done.stderr
    if code == 1:
        assert len(done.stderr.splitlines()) == 1 and done.stderr.startswith("rushes: ")


def test_why_a_cluster_cannot_be_joined() -> None:
    noise = b"Failed to get cluster ID from GCS server: Unauthenticated: RPC error: InvalidAuthToken"
    assert "head:6379: the Ray cluster asks for its token; set RAY_AUTH_MODE=token" in why("head:6379", "Failed", noise)
    assert "cannot join this Ray cluster (Version mismatch)" in why("head:6379", "Version mismatch", b"")
    assert why(None, "no room", b"") == "Ray cannot be started on this machine (no room)"


def test_without_ray_the_install_line_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingDependency, match=re.escape(extra_command("ray"))):
        list(run_tasks(square, [1], engine=Engine(kind="ray")))


def test_a_memory_limit_needs_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rushes.workers.limits.resident_mb", lambda pid: None)
    for where in (Engine(), Engine(kind="ray")):
        with pytest.raises(InputError, match="a memory limit needs Linux's /proc"):
            list(run_tasks(square, [1], engine=where, memory_mb=100))
