"""A scored set of clips on the terminal: the set first, then a row per clip."""

from __future__ import annotations

from rushes.instruments.pose.evaluate import PoseSetEvaluation
from rushes.instruments.pose.show.tables import clip_table, set_table
from rushes.present.terminal.console import next_line, print_json, print_table, say, show_signatures

_MOST_WARNINGS = 20


def show_set(done: PoseSetEvaluation, *, verbose: bool, as_json: bool) -> None:
    """Tables, or with `as_json` everything as data on stdout."""
    if as_json:
        print_json(
            {
                "run": str(done.run),
                "failed": dict(done.failed),
                "warnings": list(done.warnings),
                "measurements": [m.as_dict() for m in done.measurements],
                "clips": {name: [m.as_dict() for m in numbers] for name, numbers in done.clips.items()},
            }
        )
        return
    print_table(set_table(done.measurements), signatures=verbose)
    print_table(clip_table(done.clips))
    lines = tuple(dict.fromkeys(done.warnings))
    for line in lines[:_MOST_WARNINGS]:
        say(f"Note: {line}")
    if len(lines) > _MOST_WARNINGS:
        say(f"Note: {len(lines) - _MOST_WARNINGS} more remarks are with the clips in the run")
    show_signatures((m.signature for m in done.measurements if not m.at), verbose=verbose)
    next_line("report", str(done.run))
    print(done.run)
