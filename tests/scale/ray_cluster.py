"""A Ray cluster of two nodes with one core each, in a process of its own: for tests and benchmarks.

    python tests/scale/ray_cluster.py

Prints the address, then obeys lines on standard input: `remove` kills the second node, `add` starts one (`add gpu`: one
that says it has a GPU), each answered with `done`. The cluster ends with the input.
"""

from __future__ import annotations

import logging
import sys

from ray.cluster_utils import Cluster

STORE_BYTES = 100 << 20
QUICK_TO_NOTICE = {"health_check_period_ms": 300, "health_check_failure_threshold": 5}
"""A killed node is known to be gone after a second or two, where Ray takes half a minute unless told."""


def main() -> None:
    logging.getLogger("ray").setLevel(logging.ERROR)
    common = {"num_cpus": 1, "object_store_memory": STORE_BYTES}
    head = {**common, "include_dashboard": False, "_system_config": QUICK_TO_NOTICE}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    node = cluster.add_node(**common)
    print(cluster.address, flush=True)
    try:
        for line in sys.stdin:
            if line.strip() == "remove":
                cluster.remove_node(node, allow_graceful=False)
            else:
                node = cluster.add_node(**common, num_gpus=int("gpu" in line))
            print("done", flush=True)
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
