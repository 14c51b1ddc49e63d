"""A rate for every verdict: real clips × faults × strengths × encoders, judged by the profiles (`make verdicts`).

    python benchmarks/verdicts.py                       ../shared/clips, or RUSHES_SHARED
    python benchmarks/verdicts.py CLIPS LIST.csv …      folders and lists of clips of your own
    python benchmarks/verdicts.py --plant FOLDER        only write the planted clips there
    python benchmarks/verdicts.py … --profile thorough  one profile alone: its parts of the pages and of the counts

Writes the generated parts of docs/verdicts.md (the summary) and docs/verdict-rates.md and, with the counts,
`verdict_rates.json` beside the profiles, which `rushes metrics NAME` prints and a pass is counted by.
Planted clips are kept under `--work`; a second run measures.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import av
import numpy as np

from planting import fetv, page
from planting.clips import Clip, read_clips
from planting.faults import BENIGN, FAULTS
from planting.rates import (
    AS_IS,
    Verdict,
    clean,
    controls_of,
    count,
    found,
    kind_rates,
    rule_rates,
    where,
    with_kinds,
    with_profile,
)
from planting.source import LONGEST_S
from planting.work import SAMPLE, Planted, plant_all
from recording import record
from rushes.core.errors import InputError, RunError, RushesError
from rushes.core.machine.provenance import bytes_digest
from rushes.instruments.clip import evaluate_clips
from rushes.instruments.clip.signals.profile import Profile, load_profile
from rushes.instruments.clip.signals.rejudge import judged_again
from rushes.instruments.clip.signals.verdict_rates import VerdictRates, read_rates
from rushes.storage.runs import Run, Subject, read_run
from rushes.vision.models.cache import is_pulled, pull_command
from rushes.vision.models.catalogue import group_named

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("RUSHES_SHARED", ROOT.parent / "shared"))
QUICK_S, QUICK_CLIPS, QUICK_SAMPLE = 2.5, 3, 1
SHORT_S, BEGINNING_S = 6.5, 5.0
"""Clips up to the first are judged whole as they are; of longer ones this much is."""
EVIDENCE = "check"
"""The split whose rates are shipped, where there is one: no threshold was set on it."""
PROFILES = {
    "general": ("film", "face", "speech"),
    "generated": ("film", "face", "speech", "generated"),
    "thorough": ("film", "face", "speech", "generated"),
    "talking-head": ("face", "speech"),
    "animation": ("animation",),
    "screen": ("screen",),
    "auto": ("film", "face", "speech", "generated", "animation", "screen"),
}
"""The kinds of clip that each profile is tried on; a profile for one kind is tried on that kind alone."""
FACES = "talking-head"
AUTO = "auto"
PART_OF = {"thorough": "generated"}
"""A profile that has every rule of another one and more: it finds at least what that one finds."""
NETWORKS = {"thorough": "mobilenet"}
"""What is pulled for its rules."""


def _asked(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clips", nargs="*", type=Path, help="folders or lists of clips; default ../shared/clips")
    parser.add_argument("--work", type=Path, default=ROOT / ".cache" / "verdicts", help="where planted clips are kept")
    parser.add_argument("--split", action="append", help="only clips of this split; may be given again")
    parser.add_argument("--jobs", type=int, default=None, help="workers; default: the cores")
    parser.add_argument("--sample", type=int, default=SAMPLE, help=f"clips a cell; default {SAMPLE}")
    parser.add_argument("--benign-sample", type=int, help="the same for what belongs in clips; default: as many")
    parser.add_argument("--plant", type=Path, help="write the planted clips into this folder and stop")
    parser.add_argument(
        "--page",
        type=Path,
        help="default docs/verdicts.md, verdict-rates.md beside it; with --quick only where it is named",
    )
    parser.add_argument("--data", type=Path, help="default verdict_rates.json of the package; likewise")
    parser.add_argument("--json", type=Path, help="also write every single verdict here")
    parser.add_argument("--record", action="store_true", help="also write the totals into RESULTS.md")
    parser.add_argument("--declared-only", action="store_true", help="leave out all but the declared strengths")
    parser.add_argument("--kinds", help="only these kinds of fault, separated by commas")
    parser.add_argument(
        "--add", action="store_true", help="with --kinds: add them to the counts, which else stay, as do the pages"
    )
    parser.add_argument("--profile", choices=[name for name in PROFILES if name not in (AUTO, FACES)])
    parser.add_argument("--no-originals", action="store_true", help="leave out the clips as they are, which are large")
    parser.add_argument(
        "--again",
        action="store_true",
        help="keep the numbers of the last run: measure what it lacks, or judge it by rules that have changed",
    )
    parser.add_argument("--quick", action="store_true", help="a few short clips, declared strengths only")
    asked = parser.parse_args(arguments)
    if not asked.quick:
        asked.page = asked.page or ROOT / "docs" / "verdicts.md"
        signals = ROOT / "src" / "rushes" / "instruments" / "clip" / "signals"
        asked.data = asked.data or signals / "verdict_rates.json"
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
    files, left_out = plant_all(
        [clip for clip in clips if clip.planted],
        folder,
        jobs=asked.jobs,
        longest_s=seconds,
        declared_only=asked.quick or asked.declared_only,
        sample=QUICK_SAMPLE if asked.quick else asked.sample,
        benign_sample=None if asked.quick else asked.benign_sample,
        faults=_faults(asked),
    )
    print(f"{len(clips)} clips, {len(files)} files under {folder}", flush=True)
    if asked.plant:
        return
    whole = [] if asked.no_originals else [_original(clip, asked.work / AS_IS) for clip in clips if not clip.faulty]
    profiles = _profiles(asked)
    verdicts = [
        verdict
        for some_files, runs in ((files, "runs"), (whole, f"runs {AS_IS}"))
        for verdict in judged(
            clips, some_files, asked.work / runs, jobs=asked.jobs, again=asked.again, profiles=profiles
        )
    ]
    if asked.json:
        _write_json(asked.json, [_row(verdict) for verdict in verdicts])
    splits = {clip.split for clip in clips}
    evidence = EVIDENCE if EVIDENCE in splits else min(splits)
    shown = [verdict for verdict in verdicts if verdict.split == evidence]
    rates = _rates(shown, [clip for clip in clips if clip.split == evidence], profiles)
    if asked.add:
        known = read_rates(json.loads(asked.data.read_text("utf-8")))
        _write_json(asked.data, with_kinds(known, rates).as_dict())
        print(page.fault_section(shown))
        return
    if asked.profile:
        _write_profile(asked, shown, rates)
        return
    sections = [
        page.summary_section(shown, rates, _command(asked)),
        page.clean_section(shown),
        page.fault_section(shown),
        page.rule_section(rates.rates, rates.measured_on),
        *_people(asked),
        page.clip_section(clips, left_out),
    ]
    if asked.page:
        page.write_page(asked.page, sections[:1])
        page.write_page(asked.page.with_name(page.RATES_PAGE), sections[1:])
    if asked.data:
        _write_json(asked.data, rates.as_dict())
    if asked.record:
        _record(shown, rates)
    print("\n\n".join(sections[:3]))


def _profiles(asked: argparse.Namespace) -> tuple[str, ...]:
    """The profiles to try: the one that was named, or all whose networks are here."""
    if asked.profile:
        return (asked.profile,)
    left_out = [name for name in PART_OF if not is_pulled(group_named(NETWORKS[name]))]
    for name in left_out:
        print(f"{name} is left out; run: {pull_command(NETWORKS[name])}")
    return tuple(name for name in PROFILES if name not in left_out)


def _write_profile(asked: argparse.Namespace, shown: Sequence[Verdict], rates: VerdictRates) -> None:
    """What was measured of one profile, beside what is known of the others, which stays as it is."""
    sections = page.profile_sections(asked.profile, PART_OF.get(asked.profile, ""), shown, rates, _command(asked))
    if asked.page:
        page.write_section(asked.page, sections[0])
        page.write_section(asked.page.with_name(page.RATES_PAGE), sections[1])
    if asked.data:
        known = read_rates(json.loads(asked.data.read_text("utf-8")))
        _write_json(asked.data, with_profile(known, rates, asked.profile, PART_OF.get(asked.profile, "")).as_dict())
    print("\n\n".join(sections))


def _command(asked: argparse.Namespace) -> str:
    """What was run, without where things are: the same words give the same page."""
    lists = [place.name for place in asked.clips] or ["../shared/clips"]
    splits = [f"--split {split}" for split in asked.split or ()]
    sample = [f"--sample {asked.sample}"] if asked.sample != SAMPLE else []
    sample += [f"--benign-sample {asked.benign_sample}"] if asked.benign_sample is not None else []
    flags = [f"--{name}" for name in ("declared-only", "no-originals") if getattr(asked, name.replace("-", "_"))]
    kinds = [f'--kinds "{asked.kinds}"'] if asked.kinds else []
    profile = [f"--profile {asked.profile}"] if asked.profile else []
    return " ".join(["python benchmarks/verdicts.py", *lists, *profile, *splits, *sample, *flags, *kinds])


def _record(shown: Sequence[Verdict], rates: VerdictRates) -> None:
    controls, rows = controls_of(shown), []
    for profile in dict.fromkeys(verdict.profile for verdict in shown):
        here = where(shown, profile=profile)
        as_is, declared = where(clean(here), encoder=AS_IS), [v for v in here if v.fault and v.declared]
        rows.append([f"{profile}: false alarms, clips as they are", "≤ 5 %", _noticed(as_is)])
        rows.append(
            [f"{profile}: false alarms, with fades, night, flashes and re-encoding", "≤ 5 %", _noticed(clean(here))]
        )
        if declared:
            kinds = rates.kinds_of(profile)
            rows.append([f"{profile}: found at the declared strength", "≥ 70 %", found(declared, controls).text()])
            rows.append([f"{profile}: kinds found in ≥ 90 %", "–", f"{sum(k.covered for k in kinds)} of {len(kinds)}"])
    how = f"`python benchmarks/verdicts.py LIST.csv --record`, on {rates.measured_on}; rates in docs/verdicts.md."
    record("review-signals", "Review signals: false alarms, and planted faults that are found", rows, how=how)


def _noticed(verdicts: Sequence[Verdict]) -> str:
    return count(verdicts, lambda verdict: verdict.noticed).text()


def _faults(asked: argparse.Namespace) -> tuple[object, ...]:
    if not asked.kinds:
        return FAULTS
    wanted = [name.strip() for name in asked.kinds.split(",")]
    unknown = set(wanted) - {fault.name for fault in FAULTS}
    if unknown:
        raise InputError(f"no kind of fault is called {min(unknown)}; there are {', '.join(f.name for f in FAULTS)}")
    return tuple(fault for fault in FAULTS if fault.name in wanted)


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
    folder = ROOT / "benchmarks" / "planting"
    modules = sorted(
        [*folder.glob("*_kinds.py"), *folder.glob("kinds/*.py"), folder / "source.py", folder / "model.py"]
    )
    return bytes_digest(b"".join(path.read_bytes() for path in modules) + str(seconds).encode())[:8]


def _original(clip: Clip, folder: Path) -> Planted:
    """The clip as it is; of a long one the packets of its beginning."""
    path = clip.path
    with av.open(str(path)) as given:
        if (given.duration or 0) / av.time_base > SHORT_S:
            path = folder / f"{clip.name}{clip.path.suffix}"
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                _copy_beginning(given, path)
    return Planted(clip=clip.name, fault="", strength=AS_IS, encoder=AS_IS, path=str(path))


def _copy_beginning(given: av.container.InputContainer, path: Path) -> None:
    """Packets up to where no frame is missing: one that is shown earlier may be coded after the cut."""
    picture, *sound = [*given.streams.video[:1], *given.streams.audio[:1]]
    packets = [p for p in given.demux(picture, *sound) if p.dts is not None and p.pts is not None]
    shown = [p for p in packets if p.stream is picture]
    first_after = np.minimum.accumulate([p.pts for p in shown][::-1])[::-1]
    last_before = np.maximum.accumulate([p.pts for p in shown])
    whole = [n for n in range(1, len(shown)) if last_before[n - 1] < first_after[n]]
    end_s = next((e for n in whole if (e := float(first_after[n] * picture.time_base)) >= BEGINNING_S), math.inf)
    with av.open(str(path), "w") as made:
        streams = {stream.index: made.add_stream_from_template(stream) for stream in (picture, *sound)}
        for packet in packets:
            if packet.pts * packet.time_base < end_s:
                packet.stream = streams[packet.stream.index]
                made.mux(packet)


def judged(
    clips: Sequence[Clip],
    files: Sequence[Planted],
    runs: Path,
    *,
    jobs: int | None = None,
    again: bool = False,
    profiles: Sequence[str] = tuple(PROFILES),
) -> list[Verdict]:
    """Every file under every profile that is tried on such clips: measured twice at most, judged as often as asked."""
    by_name = {clip.name: clip for clip in clips}
    group = {fault.name: fault.group for fault in FAULTS}
    of_picture = [file for file in files if group.get(file.fault) != "face"]
    of_faces = [
        file
        for file in files
        if by_name[file.clip].kind in PROFILES[FACES]
        and not file.benign
        and group.get(file.fault, "face") in ("face", "sound")
    ]
    verdicts = []
    for name, chosen in (("picture", of_picture), ("faces", of_faces)):
        tried = [p for p in profiles if p == AUTO or (p == FACES) == (name == "faces")]
        if chosen and tried:
            run = _run_of([file.path for file in chosen], runs / name, _every_rule(tried), jobs, again=again)
            for profile in tried:
                kinds = set(PROFILES[profile])
                if profile == AUTO:  # a talking head is known by what the second run measures
                    kinds = kinds & set(PROFILES[FACES]) if name == "faces" else kinds - set(PROFILES[FACES])
                files_here = {os.path.realpath(file.path): file for file in chosen}
                verdicts += _verdicts(judged_again(run, profile)[0], profile, kinds, files_here, by_name)
    return verdicts


def _every_rule(profiles: Sequence[str]) -> Profile:
    """All the rules of several profiles, so that one pass measures what each of them needs."""
    rules = {(r.metric, r.comparison): r for name in profiles if name != AUTO for r in load_profile(name).rules}
    return Profile(name="every rule", rules=tuple(rules.values()))


def _verdicts(
    run: Run, profile: str, kinds: set[str], files: Mapping[str, Planted], clips: Mapping[str, Clip]
) -> list[Verdict]:
    fine = {one.name: one.profiles for one in BENIGN}
    made = []
    for subject in run.subjects:
        file = files.get(os.path.realpath(subject.path))
        if file is None:
            continue  # of a run of last time, over more clips
        clip = clips[file.clip]
        if clip.kind == "speech" and not clip.speech and profile in (FACES, AUTO):
            continue  # the voice is not, or not only, that of the face
        like = PART_OF.get(profile, profile)
        if clip.kind in kinds and (not file.benign or profile == AUTO or like in fine[file.benign]):
            made.append(
                Verdict(
                    clip=clip.name,
                    source=clip.source,
                    split=clip.split,
                    kind=clip.kind,
                    fault=file.fault,
                    strength=file.strength,
                    declared=_is_declared(file),
                    encoder=file.encoder,
                    profile=profile,
                    badge=subject.badge or "pass",
                    fired=_fired(subject),
                    benign=file.benign,
                    sides={r.metric: r.comparison for r in subject.why if r.metric and r.comparison},
                    remarks=tuple(reason.metric for reason in subject.remarks),
                    chosen=str(subject.facts.get("chosen_profile", "")),
                )
            )
    return made


def _fired(subject: Subject) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reason.metric or str(reason.cause.value) for reason in subject.why))


def _run_of(paths: Sequence[str], folder: Path, profile: Profile, jobs: int | None, *, again: bool) -> Run:
    """Measured anew; or what last time lacks, and where rules have changed since, the numbers of last time alone."""
    if not again or not (folder / "run.json").is_file():
        return _fresh_run(paths, folder, profile, jobs)
    try:
        return evaluate_clips(list(paths), run=folder, profile=profile, jobs=jobs, add=True)
    except RunError:
        return read_run(folder)


def _fresh_run(paths: Sequence[str], folder: Path, profile: Profile | str, jobs: int | None) -> Run:
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


def _rates(verdicts: Sequence[Verdict], clips: Sequence[Clip], profiles: Sequence[str]) -> VerdictRates:
    alarms = [
        (profile, kind, count(found, lambda verdict: verdict.noticed))
        for profile in profiles
        for kind in PROFILES[profile]
        if (found := [v for v in clean(verdicts) if v.profile == profile and v.kind == kind])
    ]
    return VerdictRates(
        measured_on=_measured_on(clips),
        rates=rule_rates(verdicts, [load_profile(name) for name in profiles if name != AUTO]),
        kinds=kind_rates(verdicts, profiles),
        clean=tuple(alarms),
    )


def _people(asked: argparse.Namespace) -> list[str]:
    folder = SHARED / "suites" / "fetv"
    if asked.quick or not folder.is_dir():
        return []
    ratings = fetv.read_ratings(folder)
    run = _run_of([str(folder)], asked.work / "runs" / "fetv", load_profile("generated"), asked.jobs, again=asked.again)
    rated = {profile: fetv.systems(judged_again(run, profile)[0], ratings) for profile in ("general", "generated")}
    return [page.people_section(rated, fetv.agreements(run, ratings))]


def _measured_on(clips: Sequence[Clip]) -> str:
    usable = [clip for clip in clips if not clip.faulty]
    speakers = sum(clip.speech for clip in usable)
    sources = len({clip.source for clip in usable})
    seen = "from repositories on whose clips no limit had been set"
    return f"{len(usable)} real clips from {sources} sources, {speakers} of them speakers; {seen}"


def _row(verdict: Verdict) -> dict[str, object]:
    fields = (
        "clip",
        "split",
        "kind",
        "profile",
        "fault",
        "benign",
        "strength",
        "encoder",
        "badge",
        "fired",
        "remarks",
        "chosen",
    )
    return {name: getattr(verdict, name) for name in fields}


def _write_json(path: Path, data: object) -> None:
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
