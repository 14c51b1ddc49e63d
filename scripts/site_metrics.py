"""Pages about metrics for the site, made from the catalogue: one for each family, and an index of all of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from site_pictures import illustrations

from rushes.core import Definition
from rushes.core.words.definition_text import direction_text, moved_by, range_text
from rushes.instruments.catalogue import INSTRUMENTS, catalog
from rushes.instruments.clip.metrics import _FAMILIES as CLIP_FAMILIES
from rushes.instruments.clip.metrics import METRICS as CLIP_METRICS
from rushes.instruments.fidelity.metrics import _FAMILIES as PAIR_FAMILIES
from rushes.instruments.fidelity.metrics import METRICS as PAIR_METRICS


@dataclass(frozen=True, kw_only=True)
class MetricPage:
    """One page: its heading, the families it holds (none: a whole instrument), and the page that explains their use."""

    slug: str
    title: str
    lead: str
    guide: str
    families: str = ""


GUIDES = {
    "clip": "clips and badges",
    "face": "faces and lip sync",
    "distribution": "distances between sets",
    "fidelity": "clips and their references",
    "pose": "poses",
    "judge": "judges",
    "statistics": "what the votes say",
    "robustness": "robustness",
    "compare": "comparing runs",
}
PAGES = (
    MetricPage(
        slug="clip-files",
        title="Files and timing",
        lead="Does the file decode, is it whole, and do picture and sound fit together?",
        guide="clip",
        families="timing",
    ),
    MetricPage(
        slug="clip-motion",
        title="Freezes, cuts and repeated frames",
        lead="Does the picture move when it should? A still scene is frozen too, so these are reasons to look.",
        guide="clip",
        families="motion stillness",
    ),
    MetricPage(
        slug="clip-picture",
        title="Flicker, sharpness and glitches",
        lead="Light that jumps, pictures that are soft, single frames that do not belong.",
        guide="clip",
        families="image light glitch vbench",
    ),
    MetricPage(
        slug="clip-flow",
        title="Motion by optical flow",
        lead="Do pixels go where the motion says they go? Measured with `--motion`, or by name.",
        guide="clip",
        families="flow warping",
    ),
    MetricPage(
        slug="clip-faces",
        title="Faces, blinks and identity",
        lead="Is there a face, is it steady, does it blink, and does it stay the same person?",
        guide="face",
        families="face blink identity",
    ),
    MetricPage(
        slug="clip-lips",
        title="Lip sync",
        lead="Does the mouth move with the sound?",
        guide="face",
        families="sync sync_search mouth syncnet",
    ),
    MetricPage(
        slug="clip-sound",
        title="Sound",
        lead="Loudness, clipping, silence, and how clean speech sounds.",
        guide="clip",
        families="loudness dnsmos",
    ),
    MetricPage(slug="clip", title="More about clips", lead="Metrics of other packages.", guide="clip"),
    MetricPage(
        slug="distribution",
        title="Distances between sets",
        lead="Does a set of clips look like the real one? Compare values at the same number of clips only.",
        guide="distribution",
    ),
    MetricPage(
        slug="fidelity-pixels",
        title="Pictures against their references",
        lead="How far is each frame from the frame it should equal?",
        guide="fidelity",
        families="psnr ssim ms_ssim lpips vmaf xpsnr",
    ),
    MetricPage(
        slug="fidelity-published",
        title="As published code computes them",
        lead="PSNR, SSIM, L1 and LPIPS with the constants of well-known scripts and programs, mistakes included.",
        guide="fidelity",
        families="disco common_metrics ffmpeg libvmaf",
    ),
    MetricPage(
        slug="fidelity-people",
        title="Faces and speech against their references",
        lead="The same person, the same landmarks, the same words?",
        guide="fidelity",
        families="identity landmarks expression pesq stoi",
    ),
    MetricPage(
        slug="fidelity", title="More about references", lead="Pairing, and what belongs to it.", guide="fidelity"
    ),
    MetricPage(
        slug="judge",
        title="Judges",
        lead="Does a clip show what was asked for, and what is the judge worth?",
        guide="judge",
    ),
    MetricPage(slug="pose", title="Poses", lead="Do the joints lie where they should?", guide="pose"),
    MetricPage(
        slug="preference",
        title="Votes and agreement",
        lead="What people prefer, how sure that is, and how far they agree.",
        guide="statistics",
    ),
    MetricPage(
        slug="robustness",
        title="Stability of answers",
        lead="Does an answer hold when the input changes a little?",
        guide="robustness",
    ),
    MetricPage(
        slug="comparisons",
        title="Differences, gates and boards",
        lead="What is computed from two runs or more: differences, tests, margins, and agreement with people.",
        guide="compare",
    ),
)


_PUBLISHED = ("disco_", "common_")
"""Readings of LPIPS that belong with the code they are named after."""


def homes() -> dict[str, str]:
    """The page of each metric, by name."""
    by_family = {(page.slug.split("-")[0], f): page.slug for page in PAGES for f in page.families.split()}
    found: dict[str, str] = {}
    for instrument, families, metrics in (
        ("clip", CLIP_FAMILIES, CLIP_METRICS),
        ("fidelity", PAIR_FAMILIES, PAIR_METRICS),
    ):
        for family, names in families:
            for name in names.split():
                home = by_family.get((instrument, family), instrument)
                is_published = name.startswith(_PUBLISHED)
                found.setdefault(metrics[name].definition.name, "fidelity-published" if is_published else home)
    for instrument, each in INSTRUMENTS.items():
        for definition in each.catalog():
            found.setdefault(definition.name, instrument)
    return {name: found.get(name, "comparisons") for name in dict.fromkeys(d.name for d in catalog().values())}


def write_metric_pages(folder: Path) -> None:
    """All pages, below `metrics/`, and the pictures on them, below `static/metrics/`."""
    named: dict[str, list[Definition]] = {}
    for definition in catalog().values():
        named.setdefault(definition.name, []).append(definition)
    where = homes()
    pictures = illustrations(folder / "static" / "metrics")
    held = {page.slug: [name for name in named if where[name] == page.slug] for page in PAGES}
    shown = [page for page in PAGES if held[page.slug]]
    target = folder / "metrics"
    target.mkdir()
    for page in shown:
        text = metric_page(page, {name: named[name] for name in held[page.slug]}, pictures)
        (target / f"{page.slug}.md").write_text(text, encoding="utf-8")
    (target / "index.md").write_text(index_page(shown, held, named), encoding="utf-8")


def index_page(
    shown: Sequence[MetricPage], held: Mapping[str, Sequence[str]], named: Mapping[str, Sequence[Definition]]
) -> str:
    lines = [
        "# Every metric",
        "",
        f"{len(named)} metrics with {sum(map(len, named.values()))} readings. A reading is a metric with settings of "
        "its own: two formulas never share a signature. `rushes metrics NAME` shows the same on the terminal.",
        "",
        "An arrow points to the better side. Metrics without one only move.",
    ]
    for page in shown:
        lines += [
            "",
            f"## [{page.title}]({page.slug}.md)",
            "",
            "| metric | what it says |",
            "|---|---|",
        ]
        for name in held[page.slug]:
            first = named[name][0]
            arrow = {"higher": "↑", "lower": "↓"}.get(first.better, "")
            summary = escaped(first.summary).replace("|", "\\|")
            unit = "" if first.unit == "1" else f" *({escaped(first.unit)})*"
            lines.append(f"| [{name}]({page.slug}.md#{anchor(name)}) {arrow} | {summary}{unit} |")
    lines += ["", "```{toctree}", ":hidden:", "", *(page.slug for page in shown), "```", ""]
    return "\n".join(lines)


def metric_page(page: MetricPage, named: Mapping[str, Sequence[Definition]], pictures: Mapping[str, str]) -> str:
    lines = [f"# {page.title}", "", page.lead, f"How to measure them: [{GUIDES[page.guide]}](../{page.guide}.md).", ""]
    if page.slug in pictures:
        lines += [pictures[page.slug], ""]
    for name, readings in named.items():
        lines += [f"## {name}", ""]
        if name in pictures:
            lines += [escaped(readings[0].summary), "", pictures[name], ""]
        for reading in readings:
            lines += reading_lines(reading, readings, with_summary=name not in pictures or reading is not readings[0])
    return "\n".join(lines) + "\n"


def reading_lines(
    definition: Definition, readings: Sequence[Definition], *, with_summary: bool = True
) -> Iterable[str]:
    """One reading: what it says, then every fact of its definition."""
    if len(readings) > 1:
        yield from (f"**Reading: {_difference(definition, readings)}**", "")
    if with_summary:
        yield from (escaped(definition.summary), "")
    facts = [
        ("Formula", definition.formula),
        ("Unit", definition.unit),
        ("Range", range_text(definition)),
        ("Direction", direction_text(definition)),
        *moved_by(definition),
        ("Edge cases", definition.edge_cases),
        ("Reference", definition.reference),
        *((f"Version {version}", why) for version, why in enumerate(definition.history, 1)),
    ]
    yield f"```{{code-block}} text\n:class: signature\n\n{definition.signature}\n```\n"
    for name, text in facts:
        if text:
            yield from (name, f": {escaped(text)}", "")


def _difference(definition: Definition, readings: Sequence[Definition]) -> str:
    """The settings in which this reading differs from the others: "statistic std"."""
    settings = [dict(each.params) for each in readings]
    mine = dict(definition.params)
    keys = [key for key in mine if any(each.get(key) != mine[key] for each in settings)]
    return escaped(", ".join(f"{key} {mine[key]}" for key in keys)) or f"version {len(definition.history)}"


def anchor(name: str) -> str:
    """What the heading of a metric gives: letters, digits, _ and -."""
    return re.sub(r"[^\w-]", "", name.lower())


def escaped(text: str) -> str:
    """Plain text as Markdown; what stands in backticks stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>\[\]$#{}])", r"\\\1", part) for part in parts)
