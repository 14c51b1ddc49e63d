"""The generated parts of docs/verdicts.md and docs/verdict-rates.md. What is above the mark is written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rushes.instruments.clip.signals.verdict_rates import COVERED, FEWEST, Count, VerdictRate, VerdictRates

from .clips import Clip
from .faults import BENIGN, FAULTS, Fault
from .fetv import Agreement, System
from .rates import AS_IS, Controls, Verdict, clean, controls_of, count, found, reasons_counted, where
from .source import ENCODERS

MARK = "<!-- What follows is written by `make verdicts`; change the harness, not this page. -->"
RATES_PAGE = "verdict-rates.md"
"""Beside the page with the summary: every kind of fault, every rule, the clips."""
_MOST_AGREEMENTS = 12


def write_page(page: Path, sections: Iterable[str]) -> None:
    """Replace everything below the mark."""
    head = page.read_text("utf-8").split(MARK)[0].rstrip() if page.exists() else "# Rates of the verdicts"
    page.write_text(f"{head}\n\n{MARK}\n\n" + "\n\n".join(sections).rstrip() + "\n", encoding="utf-8")


def write_section(page: Path, section: str) -> None:
    """Replace the section of this title below the mark, or add it at the end."""
    title, text = section.split("\n", 1)[0], page.read_text("utf-8")
    head, found, rest = text.partition(f"\n{title}\n")
    after = rest.partition("\n## ") if found else ("", "", "")
    tail = f"\n\n## {after[2]}" if after[1] else "\n"
    page.write_text(f"{head.rstrip()}\n\n{section.rstrip()}{tail.rstrip()}\n", encoding="utf-8")


def profile_sections(
    profile: str, part: str, verdicts: Sequence[Verdict], rates: VerdictRates, command: str
) -> tuple[str, str]:
    """One profile measured alone: its summary, and its counts."""
    title = f"## The profile `{profile}`"
    controls = controls_of(verdicts)
    rows = []
    for fault in dict.fromkeys(kind.fault for kind in rates.kinds):
        here = [v for v in where(verdicts, fault=fault) if v.declared]
        rows.append([f"{fault}, {here[0].strength}", found(here, controls).text()])
    nothing = count(clean(verdicts), lambda verdict: verdict.noticed)
    inherits = (
        f" It has every rule of `{part}`, so kinds that were not planted here count as `{part}` finds them."
        if part
        else ""
    )
    about = f"Measured on {rates.measured_on}. Made by `{command}`, apart from the figures above.{inherits}"
    false = f"False alarms: {nothing.text()}."
    summary = f"{title}\n\n{about}\n\n{false}\n\n" + table(["kind", "found"], rows)
    clean_part = clean_section(verdicts).replace("## False alarms\n", "### False alarms\n", 1)
    faults = fault_section(verdicts).partition("\n\n### ")[2]
    counts = f"{title}\n\n{about}\n\n{clean_part}\n\n### {faults}"
    return summary, counts


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def summary_section(verdicts: Sequence[Verdict], rates: VerdictRates, command: str) -> str:
    """One line per profile: false alarms, kinds covered, and the share of all planted faults that is found."""
    controls, rows = controls_of(verdicts), []
    for profile in dict.fromkeys(verdict.profile for verdict in verdicts):
        here = where(verdicts, profile=profile)
        declared = [v for v in here if v.fault and v.declared]
        planted = [v for v in here if v.fault]
        kinds = rates.kinds_of(profile)
        covered = sum(kind.covered for kind in kinds)
        rows.append(
            [
                f"`{profile}`",
                count(clean(here), lambda verdict: verdict.noticed).text(),
                f"{covered} of {len(kinds)}" if kinds else "–",
                found(declared, controls).text() if declared else "–",
                found(planted, controls).text() if planted else "–",
            ]
        )
    head = ["profile", "false alarms", "kinds covered", "found at the declared strength", "found at every strength"]
    planted = {v.clip for v in verdicts if v.fault}
    text = (
        f"Measured on {rates.measured_on}; faults were planted in {len(planted)} of them. Made by `{command}`. A kind "
        f"is covered if at least {COVERED:.0%} of its clips are found, and there are {FEWEST} or more.".replace(
            "%", " %"
        )
    )
    return f"## In one table\n\n{text}\n\n{table(head, rows)}"


def clean_section(verdicts: Sequence[Verdict]) -> str:
    """False alarms, by what the clips are and by what was planted that belongs there."""
    profiles = list(dict.fromkeys(verdict.profile for verdict in verdicts))
    nothing = [v for v in clean(verdicts) if not v.benign]
    rows = [
        [f"{kind}, {'as it is' if how == AS_IS else 're-encoded'}", *_cells(nothing, profiles, kind, how)]
        for kind in dict.fromkeys(v.kind for v in nothing)
        for how in (AS_IS, "")
    ]
    rows += [
        [f"{one.name}: {one.what}", *(_cell(where(verdicts, benign=one.name, profile=p)) for p in profiles)]
        for one in BENIGN
        if where(verdicts, benign=one.name)
    ]
    rows.append(["**all**", *(_cell(clean(where(verdicts, profile=p))) for p in profiles)])
    fired = [
        f"- `{p}`: "
        + (", ".join(f"{what} {n}" for what, n in reasons_counted(clean(where(verdicts, profile=p)))) or "none")
        for p in profiles
    ]
    return (
        "## False alarms\n\nClips that nothing is wrong with, flagged or rejected all the same.\n\n"
        + table(["clips", *(f"`{p}`" for p in profiles)], rows)
        + "\n\nWhat fired:\n\n"
        + "\n".join(fired)
    )


def _cells(verdicts: Sequence[Verdict], profiles: Sequence[str], kind: str, how: str) -> list[str]:
    some = [v for v in where(verdicts, kind=kind) if (v.encoder == AS_IS) == (how == AS_IS)]
    return [_cell(where(some, profile=profile)) for profile in profiles]


def _cell(verdicts: Sequence[Verdict]) -> str:
    return count(verdicts, lambda verdict: verdict.noticed).text() if verdicts else "–"


def fault_section(verdicts: Sequence[Verdict]) -> str:
    """Hits by kind, strength and encoder; the declared strengths are bold."""
    controls = controls_of(verdicts)
    parts = []
    for group in dict.fromkeys(fault.group for fault in FAULTS):
        rows = [row for fault in FAULTS if fault.group == group for row in _fault_rows(fault, verdicts, controls)]
        if rows:
            head = ["fault", "strength", "profile", *(encoder.name for encoder in ENCODERS), "all"]
            parts.append(f"### {group.capitalize()}\n\n{table(head, rows)}")
    what = "\n".join(f"- **{fault.name}**: {fault.what}" for fault in FAULTS)
    return f"## Faults\n\nDeclared strengths are bold.\n\n{what}\n\n" + "\n\n".join(parts)


def _fault_rows(fault: Fault, verdicts: Sequence[Verdict], controls: Controls) -> list[list[str]]:
    rows = []
    planted = where(verdicts, fault=fault.name)
    for strength in fault.strengths:
        for profile in dict.fromkeys(verdict.profile for verdict in planted):
            some = where(planted, strength=strength.label, profile=profile)
            if some:
                cells = [_short(found(where(some, encoder=encoder.name), controls)) for encoder in ENCODERS]
                label = f"**{strength.label}**" if strength.declared else strength.label
                rows.append([fault.name, label, f"`{profile}`", *cells, found(some, controls).text()])
    return rows


def _short(counted: Count) -> str:
    return f"{counted.hits} of {counted.total}" if counted.total else "–"


def rule_section(rates: Sequence[VerdictRate], measured_on: str) -> str:
    """Rule by rule, as `rushes metrics NAME` prints them."""
    rows = [
        [
            f"`{rate.profile}`",
            f"{rate.metric} {rate.comparison} {str(rate.threshold).lower()}",
            rate.false_alarms.text(),
            "; ".join(f"{f.fault} {_short(f.found)}" for f in rate.faults) or "–",
        ]
        for rate in rates
    ]
    return (
        "## Rule by rule\n\nFor each rule, the kinds of which it finds at least half at the declared strength.\n\n"
        + table(["profile", "rule", "fires on clean clips", "finds"], rows)
    )


def _code(text: str) -> str:
    """Code in a cell: a bar would end the cell, even between backticks."""
    return "`" + text.replace("|", "\\|") + "`"


def people_section(rated: Mapping[str, Sequence[System]], readings: Sequence[Agreement]) -> str:
    """Generated video, against people: the systems under each profile, the best rated first."""
    by_system = [
        [several[0].name, f"{several[0].temporal_quality:.2f}", *(system.noticed.text() for system in several)]
        for several in zip(*rated.values(), strict=True)
    ]
    heads = [f"flagged or rejected ({profile})" for profile in rated]
    by_reading = [
        [f"{_code(a.signature)}", f"{a.rho:+.2f}", "–" if a.within is None else f"{a.within:+.2f}", str(a.count)]
        for a in readings[:_MOST_AGREEMENTS]
    ]
    return (
        "## Generated video and people (FETV)\n\n"
        + table(["system", "people's temporal quality (1–5)", *heads], by_system)
        + "\n\nThe metrics that agree most with people (Spearman). *Between systems* takes all clips together and is "
        "mostly the difference between systems; *within one system* is the mean over systems, and shows how little a "
        "metric says about which of two clips of one system is better.\n\n"
        + table(["metric", "between systems", "within one system", "clips"], by_reading)
    )


def clip_section(clips: Sequence[Clip], left_out: Sequence[str]) -> str:
    """Which clips."""
    sources = sorted({(clip.source, clip.kind, clip.split) for clip in clips})
    rows = [[*key, str(sum((c.source, c.kind, c.split) == key for c in clips))] for key in sources]
    text = f"## Clips\n\n{table(['source', 'kind', 'split', 'clips'], rows)}"
    return text + ("\n\nNothing planted in:\n\n" + "\n".join(f"- {why}" for why in left_out) if left_out else "")
