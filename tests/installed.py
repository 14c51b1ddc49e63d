"""A package that an installer could have put on the path, with entry points of its own."""

from __future__ import annotations

from pathlib import Path


def installed(site: Path, package: str, group: str, **points: str) -> Path:
    """Write the package's `.dist-info` below `site`, which must then be on the path: `toy="module:NAME"` by name."""
    info = site / f"{package}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return site
