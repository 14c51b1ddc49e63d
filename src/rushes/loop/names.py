"""A name of its own for every number of a result, made of letters that loggers and trackers take."""

from __future__ import annotations

import re
from collections.abc import Iterable

from rushes.core import Measurement
from rushes.core.selection import differing_keys, keys_of

_OTHER = re.compile(r"[^A-Za-z0-9_.-]+")


def by_name(measurements: Iterable[Measurement]) -> dict[str, Measurement]:
    """Numbers by metric name; those that share one have what they differ in behind it: "pck/k_20/norm_bbox-diagonal".

    Letters beside A to Z, digits, "_", "-" and "." become "_".
    """
    groups: dict[str, list[Measurement]] = {}
    for m in measurements:
        groups.setdefault(m.name, []).append(m)
    found: dict[str, Measurement] = {}
    for name, group in groups.items():
        keys = differing_keys(group)
        for m in group:
            row = keys_of(m)
            parts = [_OTHER.sub("_", f"{key}_{row[key]}") for key in keys if key in row]
            found["/".join((name, *parts))] = m
    return found
