"""A run judged again from its stored numbers: another profile, the same measurements, nothing decoded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rushes.core import Measurement
from rushes.core.errors import InputError
from rushes.core.reason import Cause, Reason
from rushes.core.words.options import option
from rushes.instruments.clip.input_param import own_numbers
from rushes.instruments.clip.metrics import METRICS, readings
from rushes.instruments.clip.signals.badges import judge
from rushes.instruments.clip.signals.profile import (
    BUILT_IN,
    LEFT_OUT,
    Profile,
    as_measured,
    begun_without,
    load_profile,
)
from rushes.instruments.clip.signals.sanity import Sanity
from rushes.storage.runs import Entry, Run
from rushes.storage.runs.subjects import REMARKS


def judged_again(run: Run, profile: str | None) -> tuple[Run, Profile]:
    """The run under this profile (None: under its own), and the profile.

    Review signals, reasons and what could not be judged follow from the stored numbers. What is wrong with a clip as a
    file (it cannot be decoded, frames are missing) holds under every profile and stays. Under the profile that the run
    was measured with, it is the run itself.

    Raises `InputError` for a run of another instrument or one under way, and where the run's own profile is a file: its
    rules are not in the run.
    """
    if run.instrument != "clip":
        raise InputError(f"{run.place}: expected a run of rushes clip; this is one of rushes {run.instrument}")
    if run.status != "complete":
        raise InputError(f"{run.place}: the run is {run.status}; let it finish first")
    settings = run.info.get("settings") or {}
    name = settings.get("profile")
    if profile is None and name not in BUILT_IN:
        raise InputError(
            f"{run.place}: was judged with the profile {name!r} from a file; give that file: {option('--profile FILE')}"
        )
    asked = load_profile(profile or str(name))
    own = begun_without(settings, asked)
    if own is not None:
        return run, asked.without(own)
    if profile is None:
        raise InputError(
            f"{run.place}: the profile {name} has changed since; {option(f'--profile {name}')} applies the current one"
        )
    here = as_measured(asked, settings.get("metrics") or {})
    rules = here.profile
    entries = [_judged(entry, rules) for entry in run.entries]
    kept = {key: value for key, value in settings.items() if key != LEFT_OUT}
    without = {LEFT_OUT: list(here.left_out)} if here.left_out else {}
    judged_by = {**kept, **without, "profile": rules.name, "profile_sha256": rules.digest}
    info = {**run.info, "settings": judged_by}
    subjects = tuple(entry.subject for entry in entries)
    return Run(run.path, info, subjects, {e.subject.id: e.measurements for e in entries}, run.url), rules


def _judged(entry: Entry, profile: Profile) -> Entry:
    subject, numbers = entry.subject, _by_reading(entry.measurements)
    of_the_file = [reason for reason in subject.why if reason.cause not in (Cause.RULE, Cause.UNREADABLE)]
    broken, decoded = None, numbers.get("decode_ok")
    if decoded is not None and decoded.value is False:  # a rule about it may have spoken in the place of sanity
        broken = Reason(cause=Cause.UNREADABLE, level="reject", metric="decode_ok", note=decoded.note)
    badge = judge(numbers, profile, sanity=Sanity(broken=broken, damage=tuple(of_the_file)))
    kept = {key: fact for key, fact in subject.facts.items() if key != REMARKS and not key.startswith("chosen_")}
    facts = {**kept, **badge.facts}
    return replace(entry, subject=replace(subject, badge=badge.status, why=badge.why, facts=facts))


def _by_reading(measurements: Iterable[Measurement]) -> dict[str, Measurement]:
    """As a profile names them ("blur_p10"), where the number means today what it meant when it was measured."""
    return {
        name: m
        for m in own_numbers(measurements)
        for name in readings(m.signature)
        if METRICS[name].definition.version == m.definition.version
    }
