"""`rushes metrics`: the catalogue of definitions."""

from __future__ import annotations

from typing import Annotated

import typer

from rushes.present.terminal.console import print_json, print_words, tell
from rushes.present.terminal.options import Json, Verbose


def metrics(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Any name of a metric: its own, a column's, a paper's, a signature; or a family. (default: all)"
        ),
    ] = None,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """List every metric, or show one: formula, unit, range, direction, edge cases, reference, history.

    Where a shipped profile has a rule on it, its threshold, hits and false alarms on real clips are shown as well.

    Example: rushes metrics freeze_frame_ratio
    """
    from rushes.core.words.definition_text import definition_lines, range_text
    from rushes.instruments.catalogue import catalog, families, find, names_of
    from rushes.instruments.clip.signals.verdict_rates import verdict_rates

    family = families()
    whole = name is None or name in family.values()
    chosen = [d for d in catalog().values() if name in (None, family[d.signature])] if whole else find(name or "")
    if as_json:
        print_json([d.as_dict() | {"also_called": names_of(d), "family": family[d.signature]} for d in chosen])
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
            "\n".join(definition_lines(one, also_called=names_of(one), family=family.get(one.signature, "")))
            for one in chosen
        ]
        names = dict.fromkeys((name or "", *(definition.name for definition in chosen)))
        verdicts = ["\n".join(verdict_rates().lines(metric)) for metric in names]
        for line in "\n\n".join(blocks + [block for block in verdicts if block]).splitlines():
            tell(line, hang=14 if line.startswith(" ") else 2)
