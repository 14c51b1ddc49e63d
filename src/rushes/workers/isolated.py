"""A worker process beneath a supervisor on a Ray node: the same life as a worker of the local engine.

    python -m rushes.workers.isolated FD PARENT

The supervisor sends the work function; the worker answers with what it is (`identity`) and, where the function cannot
be loaded here, why; then it serves tasks.
"""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection

from rushes.workers.identity import identity
from rushes.workers.worker import serve


def main(arguments: list[str]) -> None:
    """Serve tasks on the pipe whose descriptor was inherited."""
    pipe = Connection(int(arguments[0]))
    try:
        work = pipe.recv()
    except (ImportError, AttributeError) as error:
        pipe.send((identity(), f"{type(error).__name__}: {error}"))
        return
    pipe.send((identity(), ""))
    serve(pipe, work, int(arguments[1]))


if __name__ == "__main__":
    main(sys.argv[1:])
