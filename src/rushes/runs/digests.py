"""The digest of a run's logical rows, the same however the run is stored.

A clip's rows (its subject, then its measurements in stored order) are one canonical JSON line,
`{"measurements":[…],"subject":{…}}`; its digest is the sha256 of that line. The run's digest is the sha256 over the
clips' digests, 32 bytes each, in input order. So several writers can work on one digest, and no line is read twice.
Per-frame series are not part of it: the index of a run in shards has digests of their files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable


def run_digest(digests: Iterable[bytes]) -> str:
    """sha256 in hex over the digests of the clips' lines.

    >>> run_digest([]) == hashlib.sha256(b"").hexdigest()
    True
    """
    whole = hashlib.sha256()
    for digest in digests:
        whole.update(digest)
    return whole.hexdigest()


def line_digest(line: bytes) -> bytes:
    """The digest of one clip's logical rows: sha256 over its canonical line, newline included."""
    return hashlib.sha256(line).digest()
