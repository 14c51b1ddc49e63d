"""`rushes new`: a package that adds something to Rushes, with its test, ready to change."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from rushes.core.errors import InputError
from rushes.core.machine.installing import pip_install
from rushes.present.terminal.console import print_json
from rushes.present.terminal.options import Json

KINDS = {
    "clip-metric": ("rushes.clip_metrics", "METRIC", "rushes clip CLIPS --metric {name}"),
    "fidelity-metric": ("rushes.fidelity_metrics", "METRIC", "rushes fidelity GEN GT --metric {name}"),
    "backbone": ("rushes.backbones", "BACKBONE", "rushes fvd GEN GT --backbone {name} --weights FILE"),
    "normalisation": ("rushes.normalizations", "Norm", "rushes pose score PRED GT --norm {name}"),
    "judge": ("rushes.judges", "Eyes", "rushes sweep CLIP --axis crf=18,28 --judge {name}:100 -o sweep"),
    "export": ("rushes.study_exports", "FORMAT", "rushes study export STUDY --format {name} -o FILE"),
    "instrument": ("rushes.instruments", "INSTRUMENT", "rushes {name} CLIPS -o RUN"),
}
"""What can be added: the group of its entry point, what that names, and how it is used."""
_PROJECT = """[project]
name = "{name}"
version = "0.1"
dependencies = ["rushes"]

[project.entry-points."{group}"]
{name} = "{module}:{thing}"

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[tool.setuptools]
py-modules = ["{module}"]
"""


def new(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"One of: {', '.join(KINDS)}.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, such as letterbox_ratio.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FOLDER", help="A new folder. (default: NAME here)")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a small package that adds a metric, a judge, an instrument … to Rushes, with its test.

    It works as it is; change the formula, the definition and the test.

    Example: rushes new clip-metric letterbox_ratio
    """
    made = write_package(kind, name, out or Path(name))
    _, _, use = KINDS[kind]
    if as_json:
        print_json({"folder": str(made), "use": use.format(name=name)})
        return
    print(f"{made}: {', '.join(sorted(file.name for file in made.iterdir()))}")
    print(f"Next: {pip_install(str(made), '-e')} && pytest {made}")
    print(f"Then: {use.format(name=name)}")


def write_package(kind: str, name: str, folder: Path) -> Path:
    """The package of a kind in a new folder; `InputError` for an unknown kind, an odd name, or a folder in use."""
    from rushes.core.words.suggest import did_you_mean

    if kind not in KINDS:
        raise InputError(f"expected {', '.join(KINDS)}; got {kind!r}{did_you_mean(kind, KINDS)}")
    if not name.isidentifier() or name != name.lower() or name == "rushes":
        raise InputError(f"a name is lower-case letters, digits and _, not beginning with a digit; got {name!r}")
    if folder.exists():
        raise InputError(f"{folder}: exists already; choose another -o")
    group, thing, _ = KINDS[kind]
    module = f"{name}_{kind.replace('-', '_')}"
    folder.mkdir(parents=True)
    for target, source in ((f"{module}.py", f"{kind}.txt"), (f"test_{module}.py", f"{kind}.test.txt")):
        text = (files("rushes.cli.workbench") / "starters" / source).read_text(encoding="utf-8")
        (folder / target).write_text(text.replace("@name@", name).replace("@module@", module), encoding="utf-8")
    project = _PROJECT.format(name=name, group=group, module=module, thing=thing)
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    return folder
