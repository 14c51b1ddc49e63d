"""`rushes study report` and `rushes study validity` in Python: a study's numbers as a run directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from rushes.core import Measurement
from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.provenance import bytes_digest
from rushes.core.table import Table
from rushes.instruments.preference.instrument import INSTRUMENT
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.numbers.conditions import NO_RULE
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.numbers.validity import validity_measurements
from rushes.instruments.preference.rules import LENIENT, bent_counts
from rushes.instruments.preference.show.more_votes import MoreVotes, more_votes
from rushes.instruments.preference.show.tables import ranking
from rushes.instruments.preference.votes import TiePolicy, Vote
from rushes.storage.runs import Entry, Run, Subject, open_run, read_run, subject_ids
from rushes.study import StudyService, StudyStatus, open_service
from rushes.study.owner.looking import Look
from rushes.study.preregistration import USUAL, Analysis, read_registration, state
from rushes.study.raters.viewing import viewing_summary


def evaluate_study(
    service: StudyService,
    study: str,
    *,
    run: Path | str,
    tie_policy: TiePolicy = "davidson",
    prior: float = 0.0,
    confidence: float = 0.95,
    overwrite: bool = False,
    preregistration: Path | str | None = None,
) -> Run:
    """Write ranking, agreement, ratings and tags of a study, each with its signature, into a run directory.

    The same votes give the same bytes; more votes in the meantime replace the numbers. Where the study declared an
    exclusion rule, every number is there with and without it. A run of another study is refused with `RunError`, unless
    `overwrite` starts it anew. The run states whether its numbers were made as declared: in the file `preregistration`,
    or in the study's log.
    """
    analysis = Analysis(tie_policy=tie_policy, prior=prior, confidence=confidence)
    found = measure_study(service, study, analysis)
    settings = {"question": "study", "ties": tie_policy, "prior": prior, "confidence": confidence}
    declared = None if preregistration is None else read_registration(Path(preregistration))
    facts: dict[str, object] = {"preregistration": state(service, study, analysis, declared=declared).as_dict()}
    if told := found.look.text(confidence):
        facts["looks"] = {"number": found.look.number, "earlier": found.look.earlier, "text": told}
    if (more := found.more(confidence=confidence)) is not None:
        facts["more"] = more.as_dict()
    return _write(run, study, settings, found, inputs=[study], overwrite=overwrite, facts=facts)


class MeasuredStudy(NamedTuple):
    """A study as it stands: its status, the votes behind the numbers, and the numbers."""

    status: StudyStatus
    votes: Sequence[Vote | Judgement]
    measurements: tuple[Measurement, ...]
    look: Look = Look(done=True)
    """Whether the study was done when its numbers were read, and at which level they are."""

    def more(self, rule: str = NO_RULE, *, confidence: float = USUAL.confidence) -> MoreVotes | None:
        """What would show a lead that isn't significant, under this exclusion rule; None where it is."""
        out = () if rule == NO_RULE else _excluded(self.status)
        counted = [one for one in self.votes if one.counts_in_results and one.rater not in out]
        spent = Look(done=True, share=0.5) if self.look.number or self.look.earlier else Look(done=True)
        level = spent.level(confidence)
        return more_votes(
            self.measurements, counted, method(self.status.summary.method), confidence=level, exclusion=rule
        )

    def raters(self, rule: str) -> int:
        """How many raters the numbers under this exclusion rule rest on."""
        excluded = () if rule == NO_RULE else _excluded(self.status)
        return len({one.rater for one in self.votes if one.counts_in_results} - {*excluded})


def measure_study(service: StudyService, study: str, analysis: Analysis = USUAL) -> MeasuredStudy:
    """Every number of a study, as `evaluate_study` writes them; the look is logged (`owner.looking`)."""
    look = service.look(study)
    status = service.study_status(study)
    votes = service.votes(study, adjudicated=True) or service.judgements(study)
    chosen = asdict(replace(analysis, confidence=look.level(analysis.confidence)))
    found = study_measurements(votes, min_raters=status.min_raters, **chosen, **_conditions(status), **_method(status))
    return MeasuredStudy(status, votes, found, look)


def _conditions(status: StudyStatus) -> dict[str, Any]:
    """What every number of a study states, and the raters whom its rule leaves out."""
    return {
        "rubric_version": status.summary.rubric,
        "exclusion_rule": status.exclusion_rule,
        "excluded": _excluded(status),
        "simulated": status.summary.simulated,
        "pairing": status.summary.pairing,
    }


def _method(status: StudyStatus) -> dict[str, Any]:
    """How raters were asked."""
    return {"method": method(status.summary.method), "reference": status.summary.reference}


class Study:
    """One study of a database, for reading: its votes, its numbers and its ranking."""

    def __init__(self, service: StudyService, name: str) -> None:
        self.service = service
        self.name = name

    def __enter__(self) -> Study:
        return self

    def __exit__(self, *_: object) -> None:
        self.service.close()

    def votes(self) -> list[Vote]:
        """The standing votes; gold, repeats and adjudicators' labels are marked."""
        return self.service.votes(self.name, adjudicated=True)

    def measurements(self, *, tie_policy: TiePolicy = "davidson", prior: float = 0.0) -> tuple[Measurement, ...]:
        """Every number, with its signature, what it is about and its interval."""
        return measure_study(self.service, self.name, Analysis(tie_policy=tie_policy, prior=prior)).measurements

    def ranking(self, *, tie_policy: TiePolicy = "davidson", exclusion: str = NO_RULE) -> Table:
        """The systems, strongest first; `exclusion` is the declared rule, or "none" for all raters."""
        return ranking(self.measurements(tie_policy=tie_policy), exclusion=exclusion)


def open_study(db: Path | str, name: str, *, media: Path | None = None) -> Study:
    """A study of this database (a SQLite path or a PostgreSQL URL); `StudyError` where it has none of this name.

    with rushes.preference.open_study("studies.db", "takes") as study:
        print(study.ranking())
    """
    service = open_service(db, media=media)
    try:
        service.study_status(name)
    except BaseException:
        service.close()
        raise
    return Study(service, name)


def evaluate_validity(
    service: StudyService,
    study: str,
    runs: Sequence[Path | str],
    *,
    run: Path | str,
    confidence: float = 0.95,
    overwrite: bool = False,
) -> Run:
    """Write how far each clip metric and badge agrees with the votes into a run directory.

    A study's clip and a run's subject are the same when their files are: joined by digest. `InputError` when no clip
    of the study is in any of the runs. `overwrite` is as in `evaluate_study`.
    """
    if not runs:
        raise InputError("validity needs the runs that measured the study's clips: --run RUN_A --run RUN_B")
    status, votes = service.study_status(study), service.votes(study)
    metrics, badges = _clip_numbers(service, study, runs)
    found = validity_measurements(votes, metrics, badges, confidence=confidence, **_conditions(status))
    settings = {"question": "validity", "confidence": confidence}
    measured = MeasuredStudy(status, votes, found)
    return _write(run, study, settings, measured, inputs=[study, *map(str, runs)], overwrite=overwrite)


def _excluded(status: StudyStatus) -> list[str]:
    return [rater.rater for rater in status.raters if rater.excluded]


def _clip_numbers(
    service: StudyService, study: str, runs: Sequence[Path | str]
) -> tuple[dict[str, tuple[Measurement, ...]], dict[str, str]]:
    """Measurements and badges by the study's clip ids."""
    measured: dict[str, Entry] = {}
    for path in runs:
        for entry in read_run(path).entries:
            if entry.subject.sha256:
                measured.setdefault(entry.subject.sha256, entry)
    clips = service.clips(study)
    joined = {clip.id: measured[clip.sha256] for clip in clips if clip.sha256 in measured}
    if not joined:
        raise InputError(
            f"none of the {len(clips)} clips of study {study} is in {', '.join(map(str, runs))}; "
            "measure the files that the study was made from"
        )
    badges = {name: entry.subject.badge for name, entry in joined.items() if entry.subject.badge is not None}
    return {name: entry.measurements for name, entry in joined.items()}, badges


def _write(
    run: Path | str,
    study: str,
    settings: Mapping[str, object],
    found: MeasuredStudy,
    *,
    inputs: Sequence[str],
    overwrite: bool,
    facts: Mapping[str, object] = MappingProxyType({}),
) -> Run:
    subject = Subject(
        id=subject_ids([study])[0],
        kind="study",
        path=study,
        sha256=votes_digest(found.votes),
        facts={**_facts(found.status, found.votes), **facts},
    )
    asked = {"study": study, **settings}
    with open_run(run, instrument=INSTRUMENT.name, settings=asked, inputs=inputs, overwrite=overwrite) as writer:
        writer.add(Entry(subject=subject, measurements=found.measurements))
        writer.finish([subject.id])
    return read_run(run)


def votes_digest(votes: Sequence[Vote | Judgement]) -> str:
    """sha256 over the votes, without times and screens: which data the numbers rest on."""
    plain = [asdict(vote) for vote in votes]
    later = ("bent", "degree", "faults")  # not in the digests of earlier versions where nobody gave them
    rows = [
        {name: row[name] for name in row if name != "viewing" and (name not in later or row[name])} for row in plain
    ]
    return bytes_digest(canonical_json(rows).encode())


def _facts(status: StudyStatus, votes: Sequence[Vote | Judgement]) -> dict[str, object]:
    counted = [vote for vote in votes if vote.counts_in_results]
    bent = bent_counts(vote for vote in counted if isinstance(vote, Vote))
    asked = status.summary.method
    return {
        "title": status.summary.title,
        "rubric": f"{status.summary.rubric}{LENIENT}" if bent else status.summary.rubric,
        "simulated_raters": status.summary.simulated,
        "systems": sorted({name for vote in counted for name in vote.systems}),
        **({} if asked == "pairs" else {"method": asked, "reference": status.summary.reference}),
        "families": [family.family for family in status.families],
        "samples": status.summary.pairs,
        "raters": len({vote.rater for vote in counted}),
        "votes": len(counted),
        "exclusion_rule": status.exclusion_rule,
        "excluded_raters": _excluded(status),
        "viewing": viewing_summary([vote.viewing for vote in counted]),
        **_decisions(status),
        **({"bent": bent} if bent else {}),
    }


def _decisions(status: StudyStatus) -> dict[str, object]:
    """How many samples an adjudicator decided and which decisions the votes contradict; empty where there are none."""
    decided = [item for item in status.disagreements if item.adjudicated is not None]
    against = {item.sample: f"decided for {item.adjudicated}, but {item.remark}" for item in decided if item.remark}
    return {"decisions": {"samples": len(decided), "contradicted": against}} if decided else {}
