"""`rushes metrics`: the catalogue of definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rushes.present.terminal.console import print_json, print_words, tell
from rushes.present.terminal.options import Json, Verbose

if TYPE_CHECKING:
    from rushes.core.definition import Definition


def metrics(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Any name of a metric: its own, a column's, a paper's, a signature; or a family. (default: all)"
        ),
    ] = None,
    network: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The metrics of a network of your own, by its manifest."),
    ] = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """List every metric, or show one: formula, unit, range, direction, edge cases, reference, history.

    Where a shipped profile has a rule on it, its threshold, hits and false alarms on real clips are shown as well.

    Example: rushes metrics freeze_frame_ratio
    """
    from rushes.core.words.definition_text import definition_lines, range_text
    from rushes.instruments.catalogue import catalog, families, find, names_of, packages
    from rushes.instruments.clip.signals.verdict_rates import verdict_rates

    family, package = families(), packages()
    whole = network is None and (name is None or name in family.values())
    if network is not None:
        chosen = _of_network(network, name)
    else:
        chosen = [d for d in catalog().values() if name in (None, family[d.signature])] if whole else find(name or "")
    if as_json:
        every = [d.as_dict() | {"also_called": names_of(d)} for d in chosen]
        origins = [{"family": family.get(d.signature, ""), "package": package.get(d.signature, "")} for d in chosen]
        print_json([one | origin for one, origin in zip(every, origins, strict=True)])
    elif whole:
        header = ("name", "family", "better", "range", "unit", *(["signature"] if verbose else []))
        rows = [
            (d.name, family[d.signature], d.better, range_text(d), d.unit, *([d.signature] if verbose else []))
            for d in chosen
        ]
        print_words("Every metric" if name is None else f"Every metric of {name}", header, list(dict.fromkeys(rows)))
        tell("rushes metrics NAME shows the formula, the edge cases and the signature; -v shows every signature.")
    else:
        blocks = [
            "\n".join(
                definition_lines(
                    one,
                    also_called=names_of(one),
                    family=family.get(one.signature, ""),
                    package=package.get(one.signature, ""),
                )
            )
            for one in chosen
        ]
        names = dict.fromkeys((*([name] if name else []), *(definition.name for definition in chosen)))
        verdicts = ["\n".join(verdict_rates().lines(metric)) for metric in names]
        for line in "\n\n".join(blocks + [block for block in verdicts if block]).splitlines():
            tell(line, hang=14 if line.startswith(" ") else 2)


def _of_network(path: str, name: str | None) -> list[Definition]:
    """The definitions of a network's metrics, or the one of this name."""
    from rushes.core.errors import InputError
    from rushes.core.words.suggest import did_you_mean
    from rushes.instruments.clip.input_param import open_input
    from rushes.instruments.clip.networks.metrics import metrics_of_network
    from rushes.vision.networks.files import load_manifest

    found = {one.definition.name: open_input(one.definition) for one in metrics_of_network(load_manifest(path))}
    if name is not None and name not in found:
        raise InputError(f"{path}: there is no metric {name!r}{did_you_mean(name, found)}")
    return [found[name]] if name is not None else list(found.values())
