"""Which profile was chosen for the clips of a run, which one would suit them better, and what a pass covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rushes.instruments.clip.bundle import by_name
from rushes.instruments.clip.signals.coverage import run_coverage
from rushes.instruments.clip.signals.kinds import OTHERWISE, kind_of
from rushes.instruments.clip.signals.profile import Profile
from rushes.storage.runs import Run

PLAINLY = 0.5
"""Share of the clips from which another profile is suggested."""
_MOST_LOOKED_AT = 1000


def chosen_lines(run: Run) -> Iterator[str]:
    """ "profile: screen for 2 clips, because 42 % of the picture is plain and 1 % of it moves (intro.mp4)"."""
    found: dict[str, list[tuple[str, str]]] = {}
    for subject in run.subjects:
        if isinstance(name := subject.facts.get("chosen_profile"), str):
            found.setdefault(name, []).append((subject.id, str(subject.facts.get("chosen_because", ""))))
    for name, clips in sorted(found.items(), key=lambda item: (-len(item[1]), item[0])):
        first, because = clips[0]
        if len(clips) == 1:
            yield f"profile: {name} for {first}, because {because}"
        else:
            yield f"profile: {name} for {len(clips)} clips, because (of {first}) {because}"


def pass_lines(run: Run, profile: Profile) -> Iterator[str]:
    """What a pass covers, where a clip passes and the profile was tried."""
    if not any(subject.badge == "pass" for subject in run.subjects):
        return
    found = run_coverage(profile)
    if len(found) == 1:
        yield found[0].text
        return
    used = Counter(subject.facts.get("chosen_profile") for subject in run.subjects)
    for one in found:
        if used[one.profile]:
            yield f"{one.profile}: {one.text}"


def suggestion(run: Run, profile: Profile) -> str:
    """Which profile the clips are plainly for, where it is another one; "" where there is none."""
    entries = [entry for entry, _ in zip(run.entries, range(_MOST_LOOKED_AT), strict=False)]
    kinds = [kind_of(by_name(entry.measurements)) for entry in entries]
    for name, count in Counter(kind.profile for kind in kinds).most_common():
        if name not in (OTHERWISE, profile.name) and count >= PLAINLY * len(entries):
            because = next(kind.because for kind in kinds if kind.profile == name)
            many = "the clip looks" if len(entries) == 1 else f"{count} of {len(entries)} clips look"
            return f"{many} like what the profile {name} is for: {because}; judge with --profile {name}, or auto"
    return ""
