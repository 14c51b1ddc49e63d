"""A rate for every verdict: real clips × planted faults × strengths, judged by the shipped profiles (`make verdicts`).

    python benchmarks/verdicts.py                       ../shared/clips, or RUSHES_SHARED
    python benchmarks/verdicts.py CLIPS LIST.csv …      folders and lists of clips of your own
    python benchmarks/verdicts.py --plant FOLDER        only write the planted clips there

Writes the generated part of docs/verdicts.md and, with the counts, `verdict_rates.json` beside `clip/signals`, which
`rushes metrics NAME` prints. Planted clips are kept under `--work`; a second run only measures.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from planting import fetv, page
from planting.clips import Clip, read_clips
from planting.faults import FAULTS, PROFILES
from planting.rates import Verdict, rule_rates
from planting.source import LONGEST_S
from planting.work import Planted, plant_all
from rushes.core.errors import InputError, RushesError
from rushes.core.machine.provenance import bytes_digest
from rushes.instruments.clip import evaluate_clips
from rushes.instruments.clip.signals.profile import load_profile
from rushes.instruments.clip.signals.verdict_rates import VerdictRates
from rushes.storage.runs import Run

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("RUSHES_SHARED", ROOT.parent / "shared"))
QUICK_S, QUICK_CLIPS = 2.5, 3
EVIDENCE = "check"
"""The split whose rates are shipped, where there is one: thresholds were set before its planted clips were seen."""
PLANTER = ("damage", "face", "faults", "picture", "sound", "source")
"""Modules that decide what a planted file holds."""


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", type=Path, help="folders or lists of clips; default ../shared/clips")
    parser.add_argument("--work", type=Path, default=ROOT / ".cache" / "verdicts", help="where planted clips are kept")
    parser.add_argument("--split", action="append", help="only clips of this split; may be given again")
    parser.add_argument("--jobs", type=int, default=None, help="workers; default: the cores")
    parser.add_argument("--plant", type=Path, help="write the planted clips into this folder and stop")
    parser.add_argument("--page", type=Path, help="default docs/verdicts.md; with --quick only where it is named")
    parser.add_argument("--data", type=Path, help="default verdict_rates.json of the package; likewise")
    parser.add_argument("--json", type=Path, help="also write every single verdict here")
    parser.add_argument("--declared-only", action="store_true", help="leave out all but the declared strengths")
    parser.add_argument("--quick", action="store_true", help="a few short clips, declared strengths only")
    asked = parser.parse_args(arguments)
    if not asked.quick:
        asked.page = asked.page or ROOT / "docs" / "verdicts.md"
        asked.data = asked.data or ROOT / "src" / "rushes" / "clip" / "verdict_rates.json"
    return asked


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 1 with one line on stderr."""
    try:
        _run(_asked(arguments))
    except RushesError as error:
        print(f"verdicts: {error}", file=sys.stderr)
        return 1
    return 0


def _run(asked: argparse.Namespace) -> None:
    clips = _clips(asked)
    seconds = QUICK_S if asked.quick else LONGEST_S
    folder = asked.plant or asked.work / f"planted-{_planter_digest(seconds)}"
    declared_only = asked.quick or asked.declared_only
    files, left_out = plant_all(clips, folder, jobs=asked.jobs, longest_s=seconds, declared_only=declared_only)
    print(f"{len(clips)} clips, {len(files)} files under {folder}")
    if asked.plant:
        return
    verdicts = judged(clips, files, asked.work / "runs", jobs=asked.jobs)
    splits = sorted({clip.split for clip in clips})
    evidence = EVIDENCE if EVIDENCE in splits else splits[0]
    rates = rule_rates([v for v in verdicts if v.split == evidence], [load_profile(name) for name in PROFILES])
    measured_on = _measured_on([clip for clip in clips if clip.split == evidence])
    sections = [
        page.clean_section(verdicts, splits),
        page.fault_section(verdicts, splits),
        page.rule_section(rates, measured_on),
        *_people(asked),
        page.clip_section(clips, left_out),
    ]
    if asked.page:
        page.write_page(asked.page, sections)
    if asked.data:
        _write_json(asked.data, VerdictRates(measured_on=measured_on, rates=rates).as_dict())
    if asked.json:
        _write_json(asked.json, [_row(verdict) for verdict in verdicts])
    print("\n\n".join(sections[:3]))


def _clips(asked: argparse.Namespace) -> list[Clip]:
    given = asked.clips or [SHARED / "clips"]
    for place in given:
        if not place.exists():
            raise InputError(f"{place}: no such folder or list; name clips to use: verdicts.py FOLDER|LIST.csv …")
    clips = [clip for clip in read_clips(given) if not asked.split or clip.split in asked.split]
    if not clips:
        raise InputError(f"no clip of split {', '.join(asked.split)} in {', '.join(map(str, given))}")
    return clips[:QUICK_CLIPS] if asked.quick else clips


def _planter_digest(seconds: float) -> str:
    """Changes with the planter: files of another one are not used."""
    code = b"".join((ROOT / "benchmarks" / "planting" / f"{name}.py").read_bytes() for name in PLANTER)
    return bytes_digest(code + str(seconds).encode())[:8]


def judged(clips: Sequence[Clip], files: Sequence[Planted], runs: Path, *, jobs: int | None = None) -> list[Verdict]:
    """Every file under the profile its fault belongs to; clean clips under each profile they fit."""
    verdicts: list[Verdict] = []
    by_name = {clip.name: clip for clip in clips}
    for profile in PROFILES:
        fits = [clip for clip in clips if not clip.faulty and (profile == "general" or clip.speech)]
        named = {clip.name for clip in fits}
        originals = {
            str(clip.path): Planted(clip=clip.name, fault="", strength="as it is", path=str(clip.path)) for clip in fits
        }
        faults = {fault.name for fault in FAULTS if fault.profile == profile} | {""}
        chosen = originals | {file.path: file for file in files if file.fault in faults and file.clip in named}
        if not chosen:
            continue
        run = _fresh_run(list(chosen), runs / profile, profile, jobs)
        for subject in run.subjects:
            file = chosen[subject.path]
            verdicts.append(
                Verdict(
                    clip=file.clip,
                    split=by_name[file.clip].split,
                    fault=file.fault,
                    strength="re-encoded" if file.strength == "clean" else file.strength,
                    declared=_is_declared(file),
                    profile=profile,
                    badge=subject.badge or "pass",
                    reasons=subject.reasons,
                )
            )
    return verdicts


def _fresh_run(paths: Sequence[str], folder: Path, profile: str, jobs: int | None) -> Run:
    """Measured anew each time: the code that measures may have changed while the clips have not."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    return evaluate_clips(list(paths), run=folder, profile=profile, jobs=jobs)


def _is_declared(file: Planted) -> bool:
    return any(
        strength.declared
        for fault in FAULTS
        for strength in fault.strengths
        if (fault.name, strength.label) == (file.fault, file.strength)
    )


def _people(asked: argparse.Namespace) -> list[str]:
    folder = SHARED / "suites" / "fetv"
    if asked.quick or not folder.is_dir():
        return []
    ratings = fetv.read_ratings(folder)
    runs = {
        profile: _fresh_run([str(folder)], asked.work / "runs" / f"fetv-{profile}", profile, asked.jobs)
        for profile in ("general", "generated")
    }
    rated = {profile: fetv.systems(run, ratings) for profile, run in runs.items()}
    return [page.people_section(rated, fetv.agreements(runs["generated"], ratings))]


def _measured_on(clips: Sequence[Clip]) -> str:
    usable = [clip for clip in clips if not clip.faulty]
    speakers = sum(clip.speech for clip in usable)
    sources = len({clip.source for clip in usable})
    seen = "their clean forms were seen when thresholds were set"
    return f"{len(usable)} real clips from {sources} sources, {speakers} of them speakers; {seen}"


def _row(verdict: Verdict) -> dict[str, object]:
    fields = ("clip", "split", "profile", "fault", "strength", "badge", "reasons")
    return {name: getattr(verdict, name) for name in fields}


def _write_json(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
