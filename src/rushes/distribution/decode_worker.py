"""A worker process of `rushes.distribution.decoding`: tasks on standard input, messages on standard output."""

from __future__ import annotations

import os
import pickle
import sys

from rushes.distribution.decoding import read_here, write_message


def main() -> None:
    """Serve until the input ends. What a library prints goes to stderr, so that it cannot get between messages."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            task = pickle.load(sys.stdin.buffer)  # from our own parent  # nosec B301
        except EOFError:
            return
        for message in read_here(task):
            write_message(out, message)


if __name__ == "__main__":
    main()
