"""The optional packages that a study's database needs."""

from __future__ import annotations

from importlib.util import find_spec

from rushes.core.machine.installing import not_installed

PACKAGES = ("sqlalchemy", "alembic", "argon2")


def require(packages: tuple[str, ...] = PACKAGES) -> None:
    """`MissingDependency` with the command to run, when one of the packages is not there."""
    for package in packages:
        if find_spec(package) is None:
            raise not_installed(f"the human study needs {package}", extra="web")
