"""The generated part of docs/verdicts.md. What stands above the mark is written by hand and kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from rushes.instruments.clip.signals.verdict_rates import Count, VerdictRate

from .clips import Clip
from .faults import FAULTS, PROFILES
from .fetv import Agreement, System
from .rates import Verdict, clean, controls_of, count, found_anew, planted, reasons_counted

MARK = "<!-- What follows is written by `make verdicts`; change the harness, not this page. -->"
_MOST_AGREEMENTS = 12


def write_page(page: Path, sections: Iterable[str]) -> None:
    """Replace everything below the mark."""
    head = page.read_text("utf-8").split(MARK)[0].rstrip() if page.exists() else "# Rates of the verdicts"
    page.write_text(f"{head}\n\n{MARK}\n\n" + "\n\n".join(sections).rstrip() + "\n", encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def clean_section(verdicts: Sequence[Verdict], splits: Sequence[str]) -> str:
    """False alarms."""
    rows = [
        [profile, how, *(_cell(clean(verdicts, profile, strength=how, split=split)) for split in splits)]
        for profile in PROFILES
        for how in ("as it is", "re-encoded")
    ]
    head = ["profile", "clean clip", *(f"flagged or rejected, {split}" for split in splits)]
    fired = [
        f"{profile}: " + (", ".join(f"{what} {n}" for what, n in reasons_counted(clean(verdicts, profile))) or "none")
        for profile in PROFILES
    ]
    return f"## False alarms\n\n{table(head, rows)}\n\nWhat fired, over both: {'; '.join(fired)}."


def _cell(verdicts: Sequence[Verdict]) -> str:
    return count(verdicts, lambda verdict: verdict.noticed).text() if verdicts else "–"


def fault_section(verdicts: Sequence[Verdict], splits: Sequence[str]) -> str:
    """Hits, by fault and strength; the declared strengths are marked."""
    rows = []
    for fault in FAULTS:
        controls = controls_of(verdicts, fault.profile)
        measured = [s for s in fault.strengths if planted(verdicts, fault.name, strength=s.label)]
        for strength in measured:
            cells: list[str] = []
            for split in splits:
                found = planted(verdicts, fault.name, strength=strength.label, split=split)
                rightly = count(found, lambda verdict: verdict.noticed_rightly)
                anew = count(found, partial(found_anew, controls=controls))
                cells += [_cell(found), _short(rightly), _short(anew)] if found else ["–"] * 3
            rows.append([fault.name, f"**{strength.label}**" if strength.declared else strength.label, *cells])
    head = [
        "fault",
        "strength",
        *(cell for split in splits for cell in (f"found, {split}", "for that reason", "and not on the control")),
    ]
    what = "\n".join(f"- **{fault.name}** ({fault.profile}): {fault.what}" for fault in FAULTS)
    return f"## Faults\n\nDeclared strengths are bold.\n\n{what}\n\n{table(head, rows)}"


def _short(counted: Count) -> str:
    return f"{counted.hits} of {counted.total}"


def rule_section(rates: Sequence[VerdictRate], measured_on: str) -> str:
    """Rule by rule, as `rushes metrics NAME` prints them."""
    rows = [
        [
            rate.profile,
            f"{rate.metric} {rate.comparison} {str(rate.threshold).lower()}",
            rate.false_alarms.text(),
            "; ".join(f"{f.fault} ({f.strength}) {f.found.text()}" for f in rate.faults) or "–",
        ]
        for rate in rates
    ]
    return f"## Rule by rule\n\nMeasured on {measured_on}.\n\n" + table(
        ["profile", "rule", "fires on clean clips", "finds"], rows
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
    by_reading = [[f"{_code(a.signature)}", f"{a.rho:+.2f}", str(a.count)] for a in readings[:_MOST_AGREEMENTS]]
    return (
        "## Generated video and people (FETV)\n\n"
        + table(["system", "people's temporal quality (1–5)", *heads], by_system)
        + "\n\nThe readings that agree most with people, clip by clip (Spearman):\n\n"
        + table(["reading", "rho", "clips"], by_reading)
    )


def clip_section(clips: Sequence[Clip], left_out: Sequence[str]) -> str:
    """Which clips."""
    sources = sorted({(clip.source, clip.split) for clip in clips})
    rows = [[s, split, str(sum((c.source, c.split) == (s, split) for c in clips))] for s, split in sources]
    text = f"## Clips\n\n{table(['source', 'split', 'clips'], rows)}"
    return text + ("\n\nNothing planted in:\n\n" + "\n".join(f"- {why}" for why in left_out) if left_out else "")
