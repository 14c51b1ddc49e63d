"""A clip's numbers with the thresholds they were judged by: what fired comes first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from rushes.clip.metrics import readings
from rushes.clip.profile import Rule
from rushes.clip.run_profile import profile_of, rule_text
from rushes.report.subjects import reason_metric
from rushes.runs import Subject
from rushes.web.run_cache import OpenRun, Row
from rushes.web.run_data import value_data

_FIRED = re.compile(r"(?P<metric>\w+)=(?:[-\d.e+]+ (?P<limit>[<>] [-\d.e+]+)|(?P<flag>true|false))")


def clip_numbers(opened: OpenRun, row: Row) -> list[dict[str, object]]:
    """Every number of a clip in stored order, each with its threshold.

    `threshold` is what makes a value a signal ("> 450"), "" where the profile has no rule; `fired` is the place of the
    clip's reason that names it, from 1 on, 0 where none does. A profile of the user's own is not kept by a run: then
    only what fired has its threshold, which the reason names.
    """
    rules, fired = _rules(opened.run.info.get("settings")), _fired(row.entry.subject)
    order = list(fired)
    first: set[str] = set()
    lines = []
    for m in row.entry.measurements:
        names = [*readings(m.signature), *(() if m.name in first else (m.name,))]
        first.add(m.name)
        found = next((name for name in names if name in fired), "")
        limits = dict.fromkeys(rule_text(rule) for name in names for rule in rules.get(name, ()))
        lines.append(
            value_data(m, reading=opened.readings[opened.key_of(m)].label)
            | {
                "threshold": " or ".join(limits) or fired.get(found, ""),
                "fired": order.index(found) + 1 if found else 0,
            }
        )
    return lines


def fired_first(lines: Sequence[dict[str, object]]) -> list[dict[str, object]]:
    """What fired in the order of the reasons; the others as they stood."""
    return sorted(lines, key=lambda line: line["fired"] or len(lines) + 1)  # type: ignore[arg-type,return-value]


def _fired(subject: Subject) -> dict[str, str]:
    """Readings behind the clip's review signal, in the order of its reasons, each with the threshold that it passed."""
    found: dict[str, str] = {}
    for reason in subject.reasons:
        match = _FIRED.search(reason)
        found[reason_metric(reason)] = (match["limit"] or match["flag"] or "") if match else ""
    return found


def _rules(settings: object) -> Mapping[str, Sequence[Rule]]:
    profile = profile_of(settings)
    rules: dict[str, list[Rule]] = {}
    for rule in () if profile is None else profile.rules:
        for name in _names(rule):
            rules.setdefault(name, []).append(rule)
    return rules


def _names(rule: Rule) -> Iterable[str]:
    return rule.readings or (rule.metric,)
