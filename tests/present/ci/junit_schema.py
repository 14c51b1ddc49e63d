"""The structure that Jenkins' junit-10.xsd gives to a JUnit file, as a table: a check by hand, with nothing to install.

https://github.com/jenkinsci/xunit-plugin/blob/master/src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree


@dataclass(frozen=True)
class Rule:
    needs: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    children: frozenset[str] = frozenset()
    text: bool = False


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


COUNTS = words("tests failures errors")
RULES = {
    "testsuites": Rule(may=COUNTS | words("name time disabled"), children=words("testsuite")),
    "testsuite": Rule(
        needs=words("name"),
        may=COUNTS | words("time disabled skipped timestamp hostname id package file log url version group"),
        children=words("testsuite properties testcase system-out system-err"),
    ),
    "properties": Rule(children=words("property")),
    "property": Rule(needs=words("name value")),
    "testcase": Rule(
        needs=words("name"),
        may=words("classname assertions time status class file line group url log"),
        children=words("skipped error failure system-out system-err properties"),
    ),
    "failure": Rule(may=words("type message"), text=True),
    "error": Rule(may=words("type message"), text=True),
    "skipped": Rule(may=words("type message"), text=True),
    "system-out": Rule(text=True),
    "system-err": Rule(text=True),
}


def check_junit(text: str) -> ElementTree.Element:
    """The root, once every element, attribute, child and count is as the schema says; no clock and no host in it."""
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n') and text.endswith("\n")
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    for element in root.iter():
        rule = RULES[element.tag]
        assert rule.needs <= element.attrib.keys() <= rule.needs | rule.may, (element.tag, element.attrib)
        assert {child.tag for child in element} <= rule.children, element.tag
        assert rule.text or not (element.text or "").strip(), element.tag
        assert not element.attrib.keys() & {"time", "timestamp", "hostname"}
        assert all(re.fullmatch(r"\d+", element.attrib[key]) for key in COUNTS & element.attrib.keys())
    for suite in root.iter("testsuite"):
        cases = suite.findall("testcase")
        found = {"tests": len(cases)}
        for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            found[key] = sum(case.find(tag) is not None for case in cases)
        assert {key: int(suite.attrib[key]) for key in found} == found
    return root
