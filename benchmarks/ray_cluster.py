"""A Ray cluster on this machine, in a process of its own: for tests and benchmarks.

    python benchmarks/ray_cluster.py CORES [CORES …]

One node for each number, the first of them the head. Prints the address, then obeys lines on standard input: `remove`
kills the last node, `add` starts one of one core (`add gpu`: one that says it has a GPU), each answered with `done`.
The cluster ends with the input.
"""

from __future__ import annotations

import logging
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

STORE_BYTES = 100 << 20
QUICK_TO_NOTICE = {"health_check_period_ms": 300, "health_check_failure_threshold": 5}
"""A killed node is known to be gone after a second or two, where Ray takes half a minute unless told."""


@dataclass(frozen=True)
class Running:
    """A cluster that runs in another process."""

    process: subprocess.Popen[str]
    address: str

    def tell(self, order: str) -> None:
        """Give an order and wait until it is done."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(order, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline().strip() == "done"


def token() -> dict[str, str]:
    """The environment of a cluster that only those can join who have it too; nothing is reported to anyone."""
    return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}


@contextmanager
def running(cores: tuple[int, ...], environment: dict[str, str]) -> Iterator[Running]:
    """A cluster with these nodes, until the end of the block."""
    process = subprocess.Popen(
        [sys.executable, __file__, *map(str, cores)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        # Nodes of a real cluster have their packages compiled to bytecode.
        env={name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | environment,
    )
    assert process.stdout is not None
    try:
        yield Running(process, process.stdout.readline().strip())
    finally:
        process.communicate()


def main(cores: list[int]) -> None:
    from ray.cluster_utils import Cluster

    logging.getLogger("ray").setLevel(logging.ERROR)
    head = {"include_dashboard": False, "_system_config": QUICK_TO_NOTICE}
    cluster = Cluster(
        initialize_head=True, head_node_args=head | {"num_cpus": cores[0], "object_store_memory": STORE_BYTES}
    )
    nodes = [cluster.add_node(num_cpus=number, object_store_memory=STORE_BYTES) for number in cores[1:]]
    print(cluster.address, flush=True)
    try:
        for line in sys.stdin:
            if line.strip() == "remove":
                cluster.remove_node(nodes.pop(), allow_graceful=False)
            else:
                gpus = int("gpu" in line)
                nodes.append(cluster.add_node(num_cpus=1, num_gpus=gpus, object_store_memory=STORE_BYTES))
            print("done", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
