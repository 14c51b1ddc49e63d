"""A folder that one process alone may write has a lock that locks: contending processes never meet inside."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.folder_locks import LOCKS

from rushes.core.machine.files import locked_folder

PROCESSES = 3
SECONDS = 0.3

WORKER = """
import json, os, sys, time
from pathlib import Path
from rushes.core.errors import RunError
from tests.folder_locks import LOCKS

root, kind, seconds = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
lock, marker = LOCKS[kind], root / "inside"
entered = overlaps = 0
with lock(root / "warm-up" / str(os.getpid())):  # what is imported on first use is here by now
    print("ready", flush=True)
sys.stdin.readline()
end = time.monotonic() + seconds
while time.monotonic() < end:
    try:
        with lock(root / "folder"):
            entered += 1
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                overlaps += 1
            else:
                time.sleep(0.0002)
                os.unlink(marker)
    except RunError as error:
        assert "is writing" in str(error), error
    time.sleep(0.0002)
print(json.dumps([entered, overlaps]))
"""


@pytest.mark.parametrize("kind", LOCKS)
def test_contending_processes_never_meet_inside(kind: str, tmp_path: Path) -> None:
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(tmp_path), kind, str(SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        for _ in range(PROCESSES)
    ]
    for worker in workers:
        assert worker.stdout is not None and worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    counts = [json.loads(worker.communicate()[0]) for worker in workers]
    entered, overlaps = map(sum, zip(*counts, strict=True))
    assert entered > 0 and overlaps == 0, f"{overlaps} of {entered} entries had another process inside"


def test_there_is_one_lock() -> None:
    """A temporary folder's, which tells its owner's death, is the only other use of the file lock."""
    source = Path(__file__).parents[1] / "src" / "rushes"
    users = {
        word: sorted(
            path.relative_to(source).as_posix() for path in source.rglob("*.py") if word in path.read_text("utf-8")
        )
        for word in ("fcntl.", "take_lock(")
    }
    assert users == {
        "fcntl.": ["core/machine/files.py"],
        "take_lock(": ["core/machine/files.py", "storage/remote/transfer.py"],
    }


def test_an_error_inside_lets_the_folder_go(tmp_path: Path) -> None:
    with pytest.raises(BlockingIOError, match="the caller's own"), locked_folder(tmp_path / "new"):
        raise BlockingIOError("the caller's own")
    assert not list((tmp_path / "new").iterdir())
    with locked_folder(tmp_path / "new"):
        pass
