"""Checks in the formats that pipelines read.

JUnit XML has one test case per check, no clock and no host name, so that the same answer has the same bytes; its
elements and attributes are those that Jenkins' junit-10.xsd, GitLab and GitHub's readers share. Workflow commands of
GitHub Actions become annotations: `::error file=…,title=…::…`
(https://docs.github.com/actions/reference/workflow-commands-for-github-actions). Markdown is for a step summary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree  # writes XML, parses none  # nosec B405

from rushes.core.table import TEXT, Cell, Table
from rushes.present.ci.checks import Check, CheckList, Outcome
from rushes.present.tables.markdown import code_span, escaped, pipe_lines

_ANNOTATIONS = 10
"""GitHub keeps ten errors and ten warnings of a step; the rest would be dropped in silence."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MARKS: dict[Outcome, str] = {"passed": "✅", "failed": "❌", "unclear": "❔", "allowed": "✅"}
_ROWS = 25
"""Rows of the table: a page of GitHub's holds 1 MiB, and a reader less."""
_WORDS: dict[Outcome, str] = {"passed": "holds", "failed": "fails", "unclear": "cannot tell", "allowed": "let through"}


def github_annotations(checks: CheckList) -> Iterator[str]:
    """An error per check that does not hold, a warning per check that could not be made; at most ten of each.

    The last of ten says how many more there are.
    """
    for level, outcomes in (("error", {"failed"}), ("warning", {"unclear", "allowed"})):
        found = [check for check in checks.checks if check.outcome in outcomes]
        shown = found if len(found) <= _ANNOTATIONS else found[: _ANNOTATIONS - 1]
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


def junit_xml(checks: CheckList) -> str:
    """One test case per check: failure where it does not hold, error where it could not be checked.

    A check that was let through is `skipped`. Characters that XML cannot hold become U+FFFD.
    """
    counts = {
        "tests": str(len(checks.checks)),
        "failures": str(checks.count("failed")),
        "errors": str(checks.count("unclear")),
    }
    root = ElementTree.Element("testsuites", {"name": checks.gate, **counts})
    skipped = {"skipped": str(checks.count("allowed"))}
    suite = ElementTree.SubElement(root, "testsuite", {"name": checks.gate, **counts, **skipped})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in checks.facts.items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": _xml(value)})
    for check in checks.checks:
        _add_case(suite, check, checks.gate.replace(" ", "."))
    ElementTree.SubElement(suite, "system-out").text = _xml("\n".join([checks.headline, *checks.notes]))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add_case(suite: ElementTree.Element, check: Check, family: str) -> None:
    case = ElementTree.SubElement(suite, "testcase", {"name": _xml(check.name), "classname": family})
    told = f"{check.kind}: {check.why}" if check.kind and check.why else check.kind or check.why
    detail = _xml("\n".join([check.why, *check.details]))
    if check.outcome in ("failed", "unclear"):
        element = "failure" if check.outcome == "failed" else "error"
        ElementTree.SubElement(case, element, {"message": _xml(told), "type": check.kind}).text = detail
    elif check.outcome == "allowed":
        ElementTree.SubElement(case, "skipped", {"message": _xml(told)})
    elif told:
        ElementTree.SubElement(case, "system-out").text = _xml("\n".join([told, *check.details]))


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def checks_markdown(checks: CheckList, *, noun: str) -> str:
    """The answer as a heading, what does not hold as a table, the signatures folded away. `noun`: what a row is."""
    return "\n".join(_lines(checks, noun)) + "\n"


def _lines(checks: CheckList, noun: str) -> Iterator[str]:
    yield f"### {MARKS[checks.answer]} {escaped(checks.headline)}"
    yield ""
    yield " · ".join(f"{escaped(name)} {escaped(value)}" for name, value in checks.facts.items())
    open_ones = [check for check in checks.checks if check.outcome != "passed"]
    if open_ones:
        yield ""
        rows = [_row(check) for check in open_ones[:_ROWS]]
        yield from pipe_lines(Table(title="", columns=TEXT(noun, "result", "why"), rows=rows))
    if len(open_ones) > _ROWS:
        yield ""
        yield f"… and {len(open_ones) - _ROWS} more"
    for note in checks.notes:
        yield ""
        yield escaped(note)
    yield from signatures_markdown(checks.signatures)


def _row(check: Check) -> tuple[Cell, Cell, Cell]:
    failed = check.outcome == "failed"
    result = Cell(check.kind or _WORDS[check.outcome], bold=True) if failed else Cell(_WORDS[check.outcome])
    return Cell(check.name), result, Cell("\n".join(filter(None, (check.why, *check.details))))


def signatures_markdown(signatures: tuple[str, ...]) -> Iterator[str]:
    """How each number was measured, folded away."""
    if not signatures:
        return
    yield ""
    yield "<details><summary>Signatures</summary>"
    yield ""
    yield from (f"- {code_span(signature)}" for signature in signatures)
    yield ""
    yield "</details>"
