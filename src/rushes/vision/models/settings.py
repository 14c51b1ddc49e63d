"""Which package indexes to ask: those that pip and npm are set up with here, so that a company's mirror is used."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PYPI = "https://pypi.org/simple"
NPM = "https://registry.npmjs.org"
_SECTIONS = ("global", "install", "download", ":env:")
"""pip's, the last that has a value wins."""
_LONGEST_WAIT_S = 60.0
"""For one answer; there are three tries."""
_YES = {"1", "true", "yes", "on", "y", "t"}


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexSettings:
    """Where packages come from, and how to get there."""

    indexes: tuple[str, ...] = (PYPI,)
    """Simple indexes (PEP 503), in the order in which they are asked."""
    links: tuple[str, ...] = ()
    """Folders or pages with files, pip's `find-links`."""
    npm: str = NPM
    cert: str | None = None
    timeout_s: float = 30.0


def read_settings() -> IndexSettings:
    """What pip's configuration (files and `PIP_…` variables) and npm's registry setting say."""
    return settings_of(_pip_values(), npm=_npm_registry())


def settings_of(pip: Mapping[str, str], *, npm: str = NPM) -> IndexSettings:
    """Settings from pip's values by name.

    >>> settings_of({"index-url": "https://mirror/simple", "extra-index-url": "https://b/simple"}).indexes
    ('https://mirror/simple', 'https://b/simple')
    """
    indexes = [pip.get("index-url") or PYPI, *pip.get("extra-index-url", "").split()]
    if pip.get("no-index", "").lower() in _YES:
        indexes = []
    waits = pip.get("timeout") or pip.get("default-timeout") or ""
    return IndexSettings(
        indexes=tuple(indexes),
        links=tuple(pip.get("find-links", "").split()),
        npm=npm,
        cert=pip.get("cert") or None,
        timeout_s=min(max(1.0, float(waits)), _LONGEST_WAIT_S) if waits.replace(".", "", 1).isdecimal() else 30.0,
    )


def _pip_values() -> dict[str, str]:
    """What `pip config list` says; where pip is not installed, its variables alone."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)  # pip's own list  # nosec B603
    except (OSError, subprocess.SubprocessError):
        pairs = {name[4:].lower().replace("_", "-"): value for name, value in os.environ.items() if name[:4] == "PIP_"}
        return {name: value for name, value in pairs.items() if value}
    return parse_pip_list(done.stdout)


def parse_pip_list(text: str) -> dict[str, str]:
    r"""pip's values by name from lines `section.name='value'`; the more special section wins.

    >>> parse_pip_list("global.cert='/a'\n:env:.cert='/b'\nlist.format='columns'\n")
    {'cert': '/b'}
    """
    found: dict[str, tuple[int, str]] = {}
    for line in text.splitlines():
        key, _, stated = line.partition("=")
        section, _, name = key.rpartition(".")
        if section not in _SECTIONS:
            continue
        try:
            value = str(ast.literal_eval(stated))
        except (ValueError, SyntaxError):
            continue
        rank = _SECTIONS.index(section)
        if rank >= found.get(name, (-1, ""))[0]:
            found[name] = (rank, value)
    return {name: value for name, (_, value) in found.items()}


def _npm_registry() -> str:
    """npm's registry: its variable, the user's `.npmrc`, or the public one."""
    for variable in ("npm_config_registry", "NPM_CONFIG_REGISTRY"):
        if os.environ.get(variable):
            return os.environ[variable]
    try:
        lines = (Path.home() / ".npmrc").read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, RuntimeError):
        return NPM
    stated = [value.strip() for key, _, value in (line.partition("=") for line in lines) if key.strip() == "registry"]
    return stated[-1] if stated and stated[-1] else NPM
