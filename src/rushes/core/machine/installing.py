"""The command that gets a missing package, right for the way this Rushes was installed.

`pip install 'rushes[sound]'` asks the package index, where somebody else's package may have the name. So an extra is
asked for from where Rushes itself was installed from, which pip records (PEP 610, `direct_url.json`): a checkout, a
repository or a wheel. The name alone is used only for an installation that did come from an index.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from rushes.core.errors import MissingDependency

_SOURCE = Path(__file__).resolve().parents[4]
"""The checkout, where Rushes runs from one."""


def not_installed(needs: str, *, extra: str = "", package: str = "") -> MissingDependency:
    """The error for an optional package that is not there: what needs it, and the command that gets it.

    >>> str(not_installed("a data frame needs pandas", package="pandas")).endswith("pip install pandas")
    True
    """
    return MissingDependency(f"{needs}; run: {extra_command(extra) if extra else pip_install(package)}")


def extra_command(extra: str) -> str:
    """What to type to get the packages of an extra."""
    address = _recorded()
    url = str(address.get("url", ""))
    if "vcs_info" in address:
        version = address["vcs_info"].get("requested_revision") or address["vcs_info"].get("commit_id", "")
        return pip_install(f"rushes[{extra}] @ {address['vcs_info']['vcs']}+{url}" + (f"@{version}" if version else ""))
    if "archive_info" in address:
        return pip_install(f"rushes[{extra}] @ {url}")
    if "dir_info" in address:
        folder = _from_here(Path(unquote(urlsplit(url).path)))
        if not folder.startswith((".", "/")):
            folder = f"./{folder}"  # pip takes a bare name for a package of the index
        return pip_install(f"{folder}[{extra}]", "-e" if address["dir_info"].get("editable") else "")
    return pip_install(f"rushes[{extra}]")


def pip_install(requirement: str, *flags: str) -> str:
    """`pip install REQUIREMENT` for the Python that runs this, quoted for a shell."""
    return " ".join((*_pip(), *filter(None, flags), shlex.quote(requirement)))


def _recorded() -> dict[str, Any]:
    """Where pip got Rushes from, as it wrote it down; {} for an index. Source that nobody installed is a checkout."""
    from importlib import metadata

    try:
        text = metadata.distribution("rushes").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        is_checkout = (_SOURCE / "pyproject.toml").is_file()
        return {"url": _SOURCE.as_uri(), "dir_info": {"editable": True}} if is_checkout else {}
    recorded: dict[str, Any] = json.loads(text) if text else {}
    return recorded


def _pip() -> tuple[str, ...]:
    """`pip install` if the shell finds this Python's pip; otherwise the Python is named (no activated environment)."""
    import shutil
    from importlib.util import find_spec

    beside = Path(sys.executable).parent
    found = shutil.which("pip")
    if found and Path(found).parent == beside:
        return "pip", "install"
    python = shlex.quote(_from_here(Path(sys.executable)))
    if find_spec("pip") is None and shutil.which("uv"):
        return "uv", "pip", "install", "--python", python
    return python, "-m", "pip", "install"


def _from_here(path: Path) -> str:
    """A path as short as it can be typed in this folder."""
    try:
        return os.fspath(path.relative_to(Path.cwd()))
    except (ValueError, OSError):
        return os.fspath(path)
