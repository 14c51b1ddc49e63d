"""Pages about metrics, made from the catalogue: an index of all in groups, and for the site one page for each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from pages.formulas import typeset
from pages.groups import ROOT, Group, groups, named, sources, use_of
from pages.pictures import illustrations
from rushes.core import Definition
from rushes.core.words.definition_text import direction_text, moved_by, range_text
from rushes.instruments.catalogue import names_of
from rushes.instruments.clip.signals.verdict_rates import verdict_rates

SHOWN = {
    "fidelity-pixels": ("psnr", "ssim", "ms_ssim", "l1"),
    "clip-sound": ("loudness_lufs", "true_peak_dbtp", "clipping_ratio", "silence_ratio"),
    "distribution": ("fvd", "fid-vid", "kvd"),
    "pose": ("pck",),
    "robustness": ("esi", "justification_drift"),
}
"""Pictures of several metrics, and the metrics on whose pages they are."""
_ARROWS = {"higher": " ↑", "lower": " ↓"}


def write_metric_pages(folder: Path) -> None:
    """The index and a page for each metric in `metrics/`, pictures in `static/metrics/`, sources in `extra/`."""
    pictures = illustrations(folder / "static" / "metrics")
    pictures |= {name: pictures[key] for key, names in SHOWN.items() if key in pictures for name in names}
    target = folder / "metrics"
    target.mkdir()
    for group, names in groups():
        for name in names:
            text = metric_page(name, named()[name], group, picture=pictures.get(name, ""))
            (target / f"{name}.md").write_text(text, encoding="utf-8")
    (target / "index.md").write_text(site_index(), encoding="utf-8")
    for path in sorted(set(sources().values())):
        copy = folder / "extra" / source_place(path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text(encoding="utf-8"), encoding="utf-8")


def source_place(path: Path) -> str:
    """Where a file of the package lies on the site: as plain text, which every browser shows."""
    return f"{path.relative_to(ROOT / 'src').with_suffix('').as_posix().replace('rushes', 'source', 1)}.txt"


def index_head() -> str:
    return (
        f"Rushes has {len(named())} metrics. An arrow points to the better side; for a metric without one, neither "
        "side is better. `rushes metrics NAME` shows the formula, the edge cases and the signature on the terminal."
    )


def site_index() -> str:
    """The index of the site: one table for each group, folded, with a field that filters them."""
    lines = ["---", "hide-toc: true", "---", "# Every metric", "", index_head(), ""]
    lines += ['<input id="metric-filter" type="search" placeholder="Filter: blur, lip sync, csim …" ']
    lines[-1] += 'aria-label="Filter the metrics" hidden>'
    for group, names in groups():
        head = f"<summary><b>{escape(group.title)}</b> <span>{len(names)}</span><br>{escape(group.lead)}</summary>"
        lines += ["", f'<details class="metrics">{head}', "", *index_table(names, linked=True), "", "</details>"]
    return "\n".join(lines) + "\n"


def index_table(names: Sequence[str], *, linked: bool) -> Iterator[str]:
    yield from ("| metric | what it says | unit |", "|---|---|---|")
    for name in names:
        first = named()[name][0]
        shown = f"[{name}]({name}.md)" if linked else f"`{name}`"
        also = ", ".join(dict.fromkeys(other for one in named()[name] for other in names_of(one)))
        called = f" (also called {escaped(also)})" if also else ""
        summary = f"{escaped(first.summary)}{called}".replace("|", "\\|")
        unit = "" if first.unit == "1" else escaped(first.unit)
        yield f"| {shown}{_ARROWS.get(first.better, '')} | {summary} | {unit} |"


def metric_page(name: str, variants: Sequence[Definition], group: Group, *, picture: str = "") -> str:
    """One metric: what it says, how to measure it, its formula, what changes it, how reliable it is, its source."""
    first, use = variants[0], use_of(name)
    lines = ["---", "orphan: true", "---", f"# {name}", ""]
    lines += [f"[Every metric](index.md) › {group.title} · guide: [{group.guide}](../{group.guide}.md)", ""]
    lines += [escaped(first.summary), "", *_facts(_short_facts(first)), picture, ""]
    lines += ["## Measure it", "", f"Input: {use.takes}.", "", f"```bash\n{use.command}\n```", ""]
    lines += ["```python\nimport rushes\n", f"{use.python}\n```", ""] if use.python else []
    lines += ["## Definition", ""]
    for one in variants:
        lines += _variant(one, variants)
    lines += [*_reliability(name, variants), *_history(variants)]
    if name in sources():
        place = source_place(sources()[name])
        file = sources()[name].relative_to(ROOT).as_posix()
        lines += ["## Source", "", f'<a href="../{place}"><code>{file}</code></a>', ""]
    return "\n".join(lines)


def _short_facts(first: Definition) -> list[tuple[str, str]]:
    also = ", ".join(names_of(first))
    return [
        ("Unit", "a number without a unit" if first.unit == "1" else first.unit),
        ("Range", range_text(first)),
        ("Direction", direction_text(first)),
        ("Also called", also),
    ]


def _variant(one: Definition, variants: Sequence[Definition]) -> Iterator[str]:
    """The formula, the signature, and what to know of one variant."""
    if len(variants) > 1:
        yield from (f"### {difference(one, variants)}", "")
        if one is not variants[0] and one.summary != variants[0].summary:
            yield from (escaped(one.summary), "")
    yield from (typeset(one.formula), "")
    yield f"```{{code-block}} text\n:class: signature\n\n{one.signature}\n```\n"
    yield from _facts([("Edge cases", one.edge_cases), *moved_by(one), ("Reference", one.reference)])


def _facts(facts: Sequence[tuple[str, str]]) -> Iterator[str]:
    for head, text in facts:
        if text:
            yield from (head, f": {escaped(text)}", "")


def _reliability(name: str, variants: Sequence[Definition]) -> Iterator[str]:
    """Rates of the shipped rules on real clips; for a metric without a rule, how to find out."""
    yield from ("## How reliable it is", "")
    called = dict.fromkeys((name, *(other for one in variants for other in names_of(one))))
    rates = [line for key in called for line in verdict_rates().lines(key)]
    if rates:
        yield from (
            "```text",
            *rates,
            "```",
            "",
            "[How often the signals are right](../verdicts.md) explains the rates.",
            "",
        )
    else:
        yield "No shipped rule uses it, so it has no rates. [Which metric to believe](../believe.md) measures how far"
        yield from ("it agrees with people on clips of yours.", "")


def _history(variants: Sequence[Definition]) -> Iterator[str]:
    longest = max(variants, key=lambda one: one.version)
    if longest.version > 1:
        yield from ("## Versions", "")
        yield from _facts([(f"v{number}", why) for number, why in enumerate(longest.history, 1)])


def difference(definition: Definition, variants: Sequence[Definition]) -> str:
    """The settings in which this variant differs from the others: "statistic std"."""
    settings = [dict(each.params) for each in variants]
    mine = dict(definition.params)
    keys = [key for key in mine if any(each.get(key) != mine[key] for each in settings)]
    return escaped(", ".join(f"{key} {mine[key]}" for key in keys)) or f"version {definition.version}"


def linked_names(name: str, text: str) -> str:
    """A page in which the first mention of each metric in code leads to the page of the metric.

    Headings, blocks, links and the heads of tables stay as they are.
    """
    known, up = named(), "../" * name.count("/")
    seen: set[str] = set()

    def link(found: re.Match[str]) -> str:
        metric = found[1]
        if metric is None or metric not in known or metric in seen:
            return found[0]
        seen.add(metric)
        return f"[`{metric}`]({up}metrics/{metric}.md)"

    return re.sub(r"^```.*?^```$|^#.*?$|<!--.*?-->|\[[^\]]*\]\([^)]*\)|`([\w-]+)`(?!\])", link, text, flags=re.M | re.S)


def escaped(text: str) -> str:
    """Plain text as Markdown; what stands in backticks stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]$#{}])", r"\\\1", part) for part in parts)
