"""Made-up requests by the thousand to every route of the web app: no 5xx, no traceback, every answer as described.

    python benchmarks/fuzz_api.py [--cases 20000] [--seed 1] [--seconds S]

The requests are schemathesis' own, made from the app's description, right and wrong ones, as anyone, as a rater and as
the administrator. The first fault of a route is printed with the request that shows it, and the exit code is 1. The
last results go into RESULTS.md.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import time
from pathlib import Path

from api_cases import ROLES, fuzz, make_api, rounds
from recording import record


def main() -> None:
    """Share the cases out over routes and roles; then write down how it went."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    asked = parser.parse_args()
    logging.disable(logging.WARNING)  # what a refused request was about
    began, sent, faults = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        api = make_api(Path(folder))
        share = -(-asked.cases // sum(1 for _ in rounds(api)))
        seed = asked.seed
        while sent < asked.cases and time.monotonic() - began < asked.seconds:  # a route without parameters has few
            for operation, role in rounds(api):
                try:
                    sent += fuzz(api, operation, role, cases=share, seed=seed)
                except Exception as error:  # the fault is what was looked for: told, counted, and the next route's turn
                    faults += 1
                    print(f"{operation.method} {operation.path} as {role}: {error}", file=sys.stderr)
                if time.monotonic() - began > asked.seconds:
                    break
            seed += 1
            print(f"{sent} of {asked.cases}: {dict(api.statuses)}", file=sys.stderr)
        routes = len(api.operations())
        statuses = ", ".join(f"{status} {count}" for status, count in sorted(api.statuses.items()))
        api.close()
    rows = [
        ("requests", "–", f"{sent:,} (seed {asked.seed}), {routes} routes as {', '.join(ROLES)}"),
        ("5xx, tracebacks, answers that are not as described, missing headers", "0", str(faults)),
        ("statuses", "–", statuses),
        ("seconds", "–", f"{time.monotonic() - began:.0f}"),
    ]
    how = "schemathesis over the app's own description, in one process through ASGI, Origin and CSRF token given."
    record("fuzz-api", "Fuzzing: the HTTP API", rows, how=f"{how} `make fuzz`.")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
