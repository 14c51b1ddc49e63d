"""Checks as workflow commands of GitHub Actions, which become annotations: `::error file=…,title=…::…`.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator

from rushes.ci.checks import Check, CheckList

_SHOWN = 10
"""GitHub keeps ten errors and ten warnings of a step; the rest would be dropped in silence."""


def github_annotations(checks: CheckList) -> Iterator[str]:
    """An error per check that does not hold, a warning per check that could not be made; at most ten of each.

    The last of ten says how many more there are.
    """
    for level, outcomes in (("error", {"failed"}), ("warning", {"unclear", "allowed"})):
        found = [check for check in checks.checks if check.outcome in outcomes]
        shown = found if len(found) <= _SHOWN else found[: _SHOWN - 1]
        yield from (_command(level, checks.gate, check) for check in shown)
        if len(found) > len(shown):
            yield f"::{level} title={_property(checks.gate)}::{_data(f'… and {len(found) - len(shown)} more')}"


def _command(level: str, gate: str, check: Check) -> str:
    file = f"file={_property(check.file)}," if check.file else ""
    why = f"{check.name}: {check.kind}" + (f", {check.why}" if check.why else "")
    return f"::{level} {file}title={_property(gate)}::{_data(why)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
