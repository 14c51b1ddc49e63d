"""Creating studies and listing them."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, func, select

from rushes.instruments.preference.assignment import MINIMUM_RATERS
from rushes.instruments.preference.families import KINDS
from rushes.instruments.preference.own_rubric import stored_text
from rushes.study.database.tables import pair, rater, study, vote
from rushes.study.errors import StudyError
from rushes.study.material.shown_form import check_alike
from rushes.study.owner.retention import check_date
from rushes.study.queries import SAMPLE_KINDS, STILL_SHOWN, filled, log, set_study, study_row
from rushes.study.raters.play_credit import WatchRule
from rushes.study.records import ExclusionRule, StudyPlan, StudySummary
from rushes.study.recruiting.consent import LANGUAGES
from rushes.study.recruiting.pay import rate_text
from rushes.study.recruiting.screening import check_screens

CREATED = "created"
"""The first entry of a study's log."""
_SETTINGS = (
    *("name", "title", "rubric", "seed", "min_raters", "quota", "gold_every", "repeat_every", "exclusion_rule"),
    *("watch_rule", "simulated", "pairing", "on_erase", "pay", "training_tries", "language", "rubric_text"),
    *("consent_text", "audio_check", "families", "method", "reference", "alike", "screens", "retain_until"),
)
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")


def create(connection: Connection, plan: StudyPlan, *, now: int) -> int:
    """A new, empty study; returns its row's id."""
    check_new(connection, plan)
    values = settings(plan)
    study_id = connection.execute(study.insert().values(**values, created_ms=now).returning(study.c.id)).scalar_one()
    log(connection, study_id=study_id, actor="admin", action=CREATED, now=now, plan=values)
    return int(study_id)


def settings(plan: StudyPlan) -> dict[str, Any]:
    """The plan as the study's row and its log's first entry keep it."""
    made = {
        "title": plan.title or plan.name,
        "rubric": plan.rubric.version,
        "exclusion_rule": asdict(plan.exclusion or ExclusionRule()),
        "watch_rule": asdict(WatchRule(passes=plan.rubric.full_watches)),
        "pay": rate_text(plan.pay),
        "rubric_text": stored_text(plan.rubric),
        "consent_text": None if plan.consent is None else dict(plan.consent),
        "families": dict(plan.families),
        "method": plan.method.text,
        "alike": check_alike(plan.alike),
        "screens": {} if plan.screens is None else asdict(plan.screens),
    }
    return {name: made[name] if name in made else getattr(plan, name) for name in _SETTINGS}


def check_new(connection: Connection, plan: StudyPlan) -> None:
    """`StudyError` for a plan that cannot be, or whose name is taken."""
    _check(plan)
    taken = connection.execute(select(study.c.id).where(study.c.name == plan.name)).first()
    if taken is not None:
        raise StudyError(f"a study called {plan.name!r} already exists; choose another name")


def _check(plan: StudyPlan) -> None:
    if not _NAME.fullmatch(plan.name):
        raise StudyError(f"a study's name is 1–60 lower-case letters, digits, - and _; got {plan.name!r}")
    if plan.min_raters < MINIMUM_RATERS:
        raise StudyError(f"the rubric asks for at least {MINIMUM_RATERS} raters per sample; got {plan.min_raters}")
    if plan.quota is not None and plan.quota < 1:
        raise StudyError(f"a rater's quota is at least 1 pair; got {plan.quota}")
    if plan.gold_every < 0 or plan.repeat_every < 0 or 1 in (plan.gold_every, plan.repeat_every):
        raise StudyError("expected a gold or repeat pair in every 2 or more tasks, or 0 for none")
    if plan.pairing not in ("round-robin", "active"):
        raise StudyError(f"expected pairing round-robin or active; got {plan.pairing!r}")
    if plan.on_erase not in ("keep", "remove"):
        raise StudyError(
            f"votes of an erased rater are kept without the person (keep) or removed; got {plan.on_erase!r}"
        )
    rate_text(plan.pay)
    check_alike(plan.alike)
    check_screens(plan.screens)
    check_date(plan.retain_until)
    if strange := sorted(set(plan.families.values()) - set(KINDS)):
        raise StudyError(f"a task family is {', '.join(KINDS)}; got {strange[0]!r}")
    if plan.language not in LANGUAGES:
        raise StudyError(f"the raters' pages are available in {', '.join(LANGUAGES)}; got {plan.language!r}")
    if plan.training_tries < 1:
        raise StudyError(
            f"expected 1 or more wrong training answers before the owner is told; got {plan.training_tries}"
        )
    if plan.method.needs_reference and not plan.reference:
        raise StudyError(f"{plan.method.name} shows the reference; say which system it is with --reference")
    if plan.pairing != "round-robin" and not plan.method.is_pairs:
        raise StudyError(f"active pairing needs the method pairs; got {plan.method.name}")
    if plan.exclusion is not None:
        _check_rule(plan.exclusion)


def _check_rule(rule: ExclusionRule) -> None:
    if rule.max_gold_errors is not None and rule.max_gold_errors < 0:
        raise StudyError(f"an exclusion rule counts gold errors from 0; got {rule.max_gold_errors}")
    if rule.min_think_s is not None and not 0 <= rule.min_think_s <= 60:
        raise StudyError(f"expected a minimum of 0 to 60 seconds beyond watching; got {rule.min_think_s}")
    for share in (rule.max_side_bias, rule.min_repeat_agreement, rule.max_consensus_p, rule.max_run_p):
        if share is not None and not 0 <= share <= 1:  # NaN is not either
            raise StudyError(f"an exclusion rule's shares are between 0 and 1; got {share}")


def declare_exclusion(connection: Connection, now: int, study: str, rule: ExclusionRule) -> None:
    """Set the exclusion rule, while no vote is in; `StudyError` afterwards."""
    _check_rule(rule)
    row = study_row(connection, study, lock=True)
    if connection.execute(select(vote.c.id).where(vote.c.study_id == row.id)).first() is not None:
        raise StudyError(
            f"study {study}: an exclusion rule must be declared before the first vote; this study has votes"
        )
    set_study(connection, row.id, exclusion_rule=asdict(rule))
    log(connection, study_id=row.id, actor="admin", action="declared exclusion", now=now, rule=rule.label)


def summaries(connection: Connection, name: str | None = None) -> tuple[StudySummary, ...]:
    """Every study, by name, or the one that is called so."""
    counts = [
        select(func.count())
        .select_from(table)
        .where(table.c.study_id == study.c.id, *where)
        .scalar_subquery()
        .label(label)
        for table, label, where in (
            (pair, "pairs", (pair.c.kind.in_(SAMPLE_KINDS),)),
            (pair, "waiting", (pair.c.kind == "sample", pair.c.state.in_(("open", "third")), STILL_SHOWN)),
            (pair, "disputed", (pair.c.kind.in_(SAMPLE_KINDS), pair.c.state == "adjudicate", STILL_SHOWN)),
            (rater, "raters", ()),
            (vote, "votes", (vote.c.purpose != "training",)),
        )
    ]
    query = select(study, *counts).order_by(study.c.name)
    rows = connection.execute(query if name is None else query.where(study.c.name == name))
    return tuple(filled(StudySummary, row, locked=row.votes > 0) for row in rows)
