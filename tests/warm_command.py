"""`rushes` for the blocks of the documentation, without its start: a process that has everything imported forks.

A hundred commands stand in the documentation, and each took half a second to import what it needs, and its workers
again. So the commands do their work in their own process (`rushes.workers.engine.inline_work`). `warm_command`
starts the process and puts a program in the place of `rushes`: it hands its arguments, folder, environment and
standard streams over, passes signals on, and ends with the command's exit code. `rushes-python FILE` beside it runs a
script in the same way.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

PRELOADED = (
    "rushes.cli.main",
    "rushes.instruments.clip.evaluate",
    "rushes.instruments.fidelity.evaluate",
    "rushes.study.evaluate",
    "rushes.study.service",
    "rushes.compare.board.board",
    "rushes.compare.runs.page.page",
    "rushes.compare.gate.gate",
    "rushes.compare.report",
    "rushes.compare.agreement.people_join",
    "rushes.compare.figures.draw",
    "rushes.compare.paper.evaluation",
    "rushes.compare.paper.suite_columns",
    "rushes.compare.ranking.rank",
    "rushes.compare.runs.tables",
    "rushes.instruments.clip.signals.calibration",
    "rushes.instruments.judge.definitions",
    "rushes.instruments.pose.measurements",
    "rushes.instruments.robustness.show.tables",
    "rushes.suite.imports.vbench_scores",
    "altair",
    "duckdb",
    "jinja2",
    "numpy.fft",
    "numpy.random",
    "pydantic.type_adapter",
    "rich.console",
    "rich.progress",
    "rich.table",
    "typer._adapters",
    "vl_convert",
)
"""What several of the commands import. None of these starts a thread, which a fork would lose, or looks for the metrics
of other packages, which are different for each command."""

_CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect({address!r})
asked = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(link, [len(asked).to_bytes(8, "big")], [0, 1, 2])
link.sendall(asked)
pid = int.from_bytes(link.recv(8), "big")
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda got, _: os.kill(pid, got))
answer = link.recv(8)
sys.exit(int.from_bytes(answer, "big") if answer else 1)
"""


@contextmanager
def warm_command(folder: Path) -> Iterator[Path]:
    """A program `rushes` in this folder, and `rushes-python`, for as long as the context lasts."""
    address = str(folder / "socket")
    code = f"from tests.warm_command import serve; serve({address!r})"
    root = Path(__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": f"{root / 'src'}:{root}", "OMP_NUM_THREADS": "1"}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.readline() == b"ready\n", (
                "the warm process did not start"
            )
            for name in ("rushes-python", "rushes"):
                program = folder / name
                program.write_text(_CLIENT.format(python=sys.executable, address=address))
                program.chmod(0o755)
            yield program
        finally:
            process.terminate()


def serve(address: str) -> None:
    """Import everything, then fork for each command that comes in."""
    for name in PRELOADED:
        with suppress(ImportError):
            import_module(name)
    _build_commands()
    _measure_once()
    assert len(os.listdir("/proc/self/task")) == 1, "something imported started a thread"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(16)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those that attend to a command are waited for by nobody
    print("ready", flush=True)
    while True:
        link, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            _attend(link)


def _build_commands() -> None:
    """Read the signatures of all commands once, not in every child."""
    import typer.main

    from rushes.cli.main import app

    built = typer.main.get_command(app)
    typer.main.get_command = lambda given: built  # type: ignore[assignment]


def _measure_once() -> None:
    """What is loaded or compiled at the first clip, and at the first study, is then there for all."""
    import numpy as np

    from rushes.instruments.clip.evaluate import evaluate_clips
    from rushes.media import write_clip
    from rushes.study import open_service
    from rushes.workers.engine import inline_work

    with TemporaryDirectory() as folder, inline_work():
        clip = write_clip(Path(folder) / "take.mp4", [np.full((32, 48, 3), 9 * n, np.uint8) for n in range(4)])
        evaluate_clips([clip], run=Path(folder) / "run")
        with open_service(Path(folder) / "studies.db"):
            pass


def _attend(link: socket.socket) -> None:
    """In a process of its own: fork the command, tell its number and then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams, _, _ = socket.recv_fds(link, 8, 3)
    asked = b""
    while len(asked) < int.from_bytes(size, "big"):
        asked += link.recv(1 << 20)
    pid = os.fork()
    if pid == 0:
        link.close()
        _run(*json.loads(asked), streams)
    link.sendall(pid.to_bytes(8, "big"))
    for stream in streams:
        os.close(stream)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with suppress(OSError):
        link.sendall((status if status >= 0 else 128 - status).to_bytes(8, "big"))
    os._exit(0)


def _run(arguments: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> None:
    """The command itself, as `python -m rushes` runs it; or the script, as `python FILE` does."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:0] = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path not in sys.path]
    program, *given = arguments
    is_script = Path(program).name == "rushes-python"
    sys.argv = given if is_script else ["rushes", *given]
    if environment.get("PYTHONWARNINGS") == "error":
        warnings.simplefilter("error")
    code: object = 0
    try:
        from rushes.cli.main import main
        from rushes.workers.engine import inline_work

        with inline_work():
            if is_script:
                sys.path.insert(0, str(Path(given[0]).parent.resolve()))
                runpy.run_path(given[0], run_name="__main__")
            else:
                main()
    except SystemExit as end:
        code = end.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        traceback.print_exc()
        code = 1
    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0)
