"""Checks as JUnit XML: one test case per check, no clock and no host name, so that the same answer has the same bytes.

The elements and attributes are those that Jenkins' junit-10.xsd, GitLab and GitHub's readers share.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree  # writes XML, parses none  # nosec B405

from rushes.ci.checks import Check, CheckList

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
    if check.outcome == "failed":
        ElementTree.SubElement(case, "failure", {"message": _xml(told), "type": check.kind}).text = detail
    elif check.outcome == "unclear":
        ElementTree.SubElement(case, "error", {"message": _xml(told), "type": check.kind}).text = detail
    elif check.outcome == "allowed":
        ElementTree.SubElement(case, "skipped", {"message": _xml(told)})
    elif told:
        ElementTree.SubElement(case, "system-out").text = _xml("\n".join([told, *check.details]))


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
