"""`rushes config`: which defaults of the project hold here, and where they come from."""

from __future__ import annotations

import os

import typer

from rushes.present.terminal.console import print_json
from rushes.present.terminal.options import Json

_VARIABLES = ("RUSHES_CACHE", "RUSHES_CONFIG", "RUSHES_STAGING", "RUSHES_WEIGHTS")


def config(context: typer.Context, as_json: Json = False) -> None:
    """Show the active configuration: from rushes.toml in this folder or above, and from the environment.

    The whole file is checked. An unknown option is reported in one line, with exit code 1.

    Example: rushes config
    """
    from rushes.cli.project_file import NAME, ProjectFile

    project: ProjectFile = context.find_root().obj
    variables = {name: os.environ[name] for name in _VARIABLES if os.environ.get(name)}
    if as_json:
        rows = [{"command": " ".join(s.command), "option": s.option, "value": s.value} for s in project.settings]
        print_json({"file": project.path and str(project.path), "settings": rows, "environment": variables})
        return
    if project.path is None and project.declined:
        print("No project file, as requested; every option has its own default.")
    elif project.path is None:
        print(f"No {NAME} in {project.looked} or above; every option has its own default.")
    elif project.settings:
        print(f"From {project.path}; the command line takes precedence:")
        for command in dict.fromkeys(s.command for s in project.settings):
            given = " ".join(s.text() for s in project.settings if s.command == command)
            print(f"  rushes {' '.join(command)} {given}")
    else:
        print(f"{project.path} sets nothing.")
    if variables:
        print("From the environment:")
        for name, value in variables.items():
            print(f"  {name}={value}")
