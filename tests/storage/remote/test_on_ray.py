"""Clips and runs in a store, measured by a Ray cluster: nodes fetch their own; the bytes are the local engine's."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks.ray_cluster import running, token
from tests.storage.remote.conftest import Bucket, left_behind

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(find_spec("ray") is None, reason="needs the extra ray")


def measured(bucket: Bucket, name: str, environment: dict[str, str], *engine: str) -> dict[str, bytes]:
    """What `rushes clip` leaves in the store, without the one file that has times in it."""
    words = ["clip", bucket.url("takes/"), "--audio", bucket.url("takes/speech.wav"), "-o", bucket.url(f"runs/{name}")]
    command = [sys.executable, "-m", "rushes", *words, "--json", *engine]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {key: content for key, content in bucket.tree(f"runs/{name}/").items() if key != "run.json"}


@pytest.mark.soak
def test_a_cluster_reads_and_this_machine_writes(bucket: Bucket, here: Path, settings: dict[str, str]) -> None:
    bucket.put_folder("takes", here)
    # Ray keeps sockets in its temporary folder: the test's own is too long a name for them.
    environment = settings | token() | {"PYTHONPATH": str(ROOT / "src"), "RAY_TMPDIR": "/tmp"}
    alone = measured(bucket, "local", environment)
    with running((1, 1), environment) as cluster:
        together = measured(bucket, "ray", environment, "--engine", "ray", "--address", cluster.address)
    assert {"subjects.jsonl", "measurements.jsonl", "series/take2.npz"} <= set(alone)
    assert together == alone
    assert not [name for name in left_behind(settings) if name.startswith("rushes-")]
