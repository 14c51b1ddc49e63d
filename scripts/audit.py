"""Hold every pin of constraints.txt against what PyPI says of that very release: known weaknesses, and yanked files.

    python scripts/audit.py [constraints.txt]

These are the advisories that pip-audit reads, from the same address (`/pypi/NAME/VERSION/json`). Unlike it, this says
"checked" only when every pin was: an index that does not have these pages, or no network at all, ends in 3.
Exit code 0: all checked, nothing known. 1: something is known. 3: not all could be checked.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

Fetch: TypeAlias = Callable[[str, str], dict[str, Any]]
"""(name, version) to what PyPI says of the release; raises OSError or ValueError where it says nothing."""
CONSTRAINTS = Path(__file__).resolve().parents[1] / "constraints.txt"


def read_pins(path: Path) -> list[tuple[str, str]]:
    """(name, version) of every line `name==version`."""
    lines = [line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines()]
    return [(name, version) for name, mark, version in (line.partition("==") for line in lines) if mark]


def faults(name: str, version: str, release: dict[str, Any]) -> list[str]:
    """What is known against a release, a line each; a withdrawn advisory counts for nothing."""
    found = []
    for weakness in release.get("vulnerabilities", []):
        if not weakness.get("withdrawn"):
            mended = ", ".join(weakness.get("fixed_in") or []) or "no release yet"
            about = (weakness.get("summary") or weakness.get("details") or "").strip().splitlines()
            text = about[0][:100] if about else ""
            found.append(f"{name}=={version}: {weakness['id']} {text} (mended in {mended})")
    files = release.get("urls", [])
    if files and all(file.get("yanked") for file in files):
        found.append(f"{name}=={version}: yanked ({files[0].get('yanked_reason') or 'no reason given'})")
    return found


def audit(pins: Iterable[tuple[str, str]], fetch: Fetch) -> tuple[list[str], list[str]]:
    """What is known against the pins, and the pins nothing could be learnt of."""

    def look(pin: tuple[str, str]) -> tuple[list[str], str]:
        try:
            return faults(*pin, fetch(*pin)), ""
        except (OSError, ValueError) as error:
            return [], f"{pin[0]}=={pin[1]} ({error})"

    with ThreadPoolExecutor(max_workers=8) as pool:
        answers = list(pool.map(look, pins))
    return [line for lines, _ in answers for line in lines], [gap for _, gap in answers if gap]


def fetch_release(name: str, version: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"https://pypi.org/pypi/{name}/{version}/json", timeout=20) as answer:
        data: dict[str, Any] = json.load(answer)
    return data


def main(path: Path = CONSTRAINTS, fetch: Fetch = fetch_release) -> int:
    """Audit, and say how it went."""
    pins = read_pins(path)
    known, gaps = audit(pins, fetch)
    for line in known:
        print(line)
    print(
        f"{len(pins) - len(gaps)} of {len(pins)} pins checked against PyPI's advisories: {len(known)} known weaknesses"
    )
    if gaps:
        print(f"NOT checked, the advisories cannot be reached from here: {len(gaps)} pins, such as {gaps[0]}")
    return 1 if known else 3 if gaps or not pins else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
