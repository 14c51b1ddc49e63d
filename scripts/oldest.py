"""Pins for the oldest versions that pyproject.toml allows and that have a wheel for the Python this runs under.

    python scripts/oldest.py [EXTRA…] > oldest.txt      # then: pip install -c oldest.txt .

The lower bound itself where there is such a wheel, else the next version above it. What a dependency needs in turn is
left to pip. Runs in an empty environment: it needs nothing but pip.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.version import InvalidVersion, Version


def wanted(extras: list[str]) -> list[Requirement]:
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    lines, seen = list(project["dependencies"]), set(extras)
    waiting = list(extras)
    while waiting:
        for requirement in map(Requirement, project["optional-dependencies"][waiting.pop()]):
            if requirement.name == "rushes":  # rushes[report]: the extras of an extra
                waiting += sorted(requirement.extras - seen)
                seen |= requirement.extras
            else:
                lines.append(str(requirement))
    return list(map(Requirement, lines))


def pip(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True)


def versions(requirement: Requirement) -> list[Version]:
    """What the index has of it within its bounds, oldest first."""
    listed = re.search(r"^Available versions: (.*)$", pip("index", "versions", requirement.name).stdout, re.MULTILINE)
    found = []
    for text in listed[1].split(", ") if listed else []:
        try:
            found.append(Version(text))
        except InvalidVersion:
            continue
    return sorted(requirement.specifier.filter(found))


def oldest(requirement: Requirement) -> Version:
    with tempfile.TemporaryDirectory() as folder:
        for version in versions(requirement):
            asked = ("--no-deps", "--only-binary", ":all:", "-d", folder, f"{requirement.name}=={version}")
            if pip("download", "-q", *asked).returncode == 0:
                return version
    sys.exit(f"{requirement}: the index has no wheel within these bounds for Python {sys.version.split()[0]}")


if __name__ == "__main__":
    for one in wanted(sys.argv[1:]):
        print(f"{one.name}=={oldest(one)}")
