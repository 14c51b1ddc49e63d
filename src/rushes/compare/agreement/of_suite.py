"""`rushes believe` on a suite: the ratings or votes that it names, differences from its reference, chosen metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from rushes.compare.agreement.metric_scores import MeasuredClips, MetricScores
from rushes.compare.board.reference_differences import DIFF, difference_of
from rushes.compare.paper.columns import COLUMNS, catalogued_params, exactly
from rushes.compare.paper.evaluation import open_evaluation
from rushes.core.errors import InputError
from rushes.core.reading import Same
from rushes.core.selection import reading_names
from rushes.core.words.suggest import did_you_mean
from rushes.storage.remote.address import is_remote
from rushes.storage.runs.relocation import relocate
from rushes.suite.folder import is_suite_folder, read_suite_folder

_GIVE = "give --ratings FILE"


def suite_of(given: object) -> Path | None:
    """The folder of `rushes suite run`, alone or in a list of one; None for anything else."""
    places = [given] if isinstance(given, (Path, str)) else list(given) if isinstance(given, (list, tuple)) else []
    one = places[0] if len(places) == 1 else None
    is_place = isinstance(one, (Path, str)) and not is_remote(one)
    return Path(str(one)) if is_place and is_suite_folder(str(one)) else None


def asked_of(given: object) -> Path:
    """The file of ratings or votes that a suite names; `InputError` where there is none, and where there are two."""
    folder = suite_of(given)
    if folder is None:
        raise InputError(f"these runs do not belong to a suite with ratings; {_GIVE}")
    files = read_suite_folder(folder).suite.asked
    if len(files) != 1:
        names = " and ".join(files) or "neither ratings nor votes"
        raise InputError(f"{folder}: the suite names {names}; {_GIVE}")
    if (place := relocate(files[0], beside=folder)) is None:
        raise InputError(f"{files[0]}: is no longer where the suite found it; {_GIVE}")
    return place


def names_of(only: str | Iterable[str]) -> list[str]:
    """Names in order; commas part names too."""
    words = [only] if isinstance(only, str) else list(only)
    return [name.strip() for word in words for name in word.split(",") if name.strip()]


def with_differences(measured: MeasuredClips, given: object, names: Sequence[str]) -> MeasuredClips:
    """Also the differences from the reference that were named, or else those that the suite declares."""
    folder = suite_of(given)
    asked = [name for name in names if name.startswith(f"{DIFF}:")]
    if folder is not None and not names:
        asked = [f"{DIFF}:{name}" for name in read_suite_folder(folder).suite.differences]
    if folder is None or not asked:
        return measured
    evaluation, remarks, found = open_evaluation(folder), [], []
    for name in dict.fromkeys(asked):
        try:
            picks = evaluation.pick(name)
        except InputError as error:
            if names:
                raise
            remarks.append(str(error))
            continue
        for reading in (pick.reading for pick in picks if pick.reading is not None):
            values = {s: evaluation.data.values.get((s, reading.key), {}) for s in evaluation.systems}
            per_clip = {
                (s, p): float(m.value) for s, row in values.items() for p, m in row.items() if m.value is not None
            }
            found.append(MetricScores(definition=reading.definition, at=reading.at, per_clip=per_clip))
    return replace(measured, metrics=(*measured.metrics, *found), remarks=(*measured.remarks, *remarks))


def chosen_metrics(measured: MeasuredClips, names: Sequence[str]) -> MeasuredClips:
    """Only the metrics of these names, in their order, called as papers call them; all of them where none is named.

    Raises `InputError`, with the nearest names, for one that was not measured.
    """
    if not names:
        return measured
    spelt = list(zip(measured.metrics, reading_names(measured.metrics), strict=True))
    found: dict[int, MetricScores] = {}
    called: dict[Same, str] = {}
    for name in names:
        fits = _named(name, spelt)
        if not fits:
            known = list(dict.fromkeys(difference_of(m.definition) or m.definition.name for m in measured.metrics))
            hint = did_you_mean(name, known, otherwise=f"; there are {', '.join(known)}")
            raise InputError(f"no metric {name!r} was measured here{hint}")
        found |= {id(one): one for one in fits}
        usual = COLUMNS.get(name.lower())
        called |= {fits[0].same: usual.title if usual else name} if len(fits) == 1 else {}
    return replace(measured, metrics=tuple(found.values()), called=called)


def _named(name: str, spelt: Sequence[tuple[MetricScores, str]]) -> list[MetricScores]:
    """By its own name, the one that papers print (csim), or what the table calls it: "blur_score (p10)"."""
    usual = COLUMNS.get(name.lower())
    wanted, params = (usual.metric, set(usual.params)) if usual else catalogued_params(name)
    if name.startswith(f"{DIFF}:"):
        return [one for one, _ in spelt if difference_of(one.definition) == name]
    fits = [
        one
        for one, _ in spelt
        if one.definition.name == name or (one.definition.name == wanted and params <= set(one.definition.params))
    ]
    return [one for one, text in spelt if text == name] or exactly(name, fits)
