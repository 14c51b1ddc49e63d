"""What a study declares before its votes, in one file with a digest, and whether results were made under it.

Content     the rubric (version and digest of its words), the plan (seed, raters per sample, quotas, watching), the
            pairs (number and digest), the exclusion rule, the hypothesis, the votes and the stopping rule,
            and the analysis: tie policy, prior, level, and the signature
            of every number that will be reported
Digest      sha256 of the content as canonical JSON. No time is in it: when a plan was registered is for the study's
            log, or for whoever keeps the file
Later       `state` makes the content anew from the study as it is and the analysis as it was done, and names what
            differs
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.provenance import bytes_digest
from rushes.instruments.preference.definitions.study import SAMPLES_BELOW_MINIMUM
from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import Method, method
from rushes.instruments.preference.numbers.conditions import some_bent
from rushes.instruments.preference.numbers.study import study_measurements
from rushes.instruments.preference.registration import RegistrationState
from rushes.instruments.preference.rubric import rubric
from rushes.instruments.preference.votes import TiePolicy, Vote
from rushes.stats.clustered import CLUSTERS, TWO_WAY
from rushes.study import StudyService
from rushes.study.exchange.files import write_file

KIND = "rushes preregistration 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """How the numbers will be made."""

    tie_policy: TiePolicy = "davidson"
    prior: float = 0.0
    confidence: float = 0.95


USUAL = Analysis()


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """A declared plan: its content, and how many votes were in when it was registered."""

    content: Mapping[str, Any]
    votes_before: int

    @property
    def digest(self) -> str:
        return content_digest(self.content)

    @property
    def parts(self) -> dict[str, str]:
        """A short digest of every part, by name: "analysis.tie_policy"."""
        named = {
            f"{key}.{name}" if name else key: value
            for key, whole in self.content.items()
            for name, value in (whole.items() if isinstance(whole, Mapping) else [("", whole)])
        }
        return {name: content_digest({"part": value})[:12] for name, value in sorted(named.items())}


def content_digest(content: Mapping[str, Any]) -> str:
    """sha256 of the content as canonical JSON."""
    return bytes_digest(canonical_json(content).encode())


STOPPING = "every pair has its raters, or the study is closed; each look before spends α/(2k(k+1)), the last one α/2"
"""When a study ends, as every preregistration states it; `rushes.study.owner.looking` keeps it."""
_INTENT = "intent."


def study_content(service: StudyService, study: str, analysis: Analysis, *, hypothesis: str = "") -> dict[str, Any]:
    """What a study declares, as it stands now."""
    plan = dict(service.declared_plan(study))
    words = rubric(plan["rubric"])
    rule = service.exclusion_rule(study)
    lenient = some_bent(service.votes(study))
    asked = method(plan.get("method", "pairs"))
    return {
        "study": study,
        "rubric": {"version": words.version, "sha256": bytes_digest(canonical_json(_sets(asdict(words))).encode())},
        "plan": {key: value for key, value in plan.items() if key not in ("pairs", "rubric")},
        "pairs": {"count": len(plan["pairs"]), "sha256": bytes_digest(canonical_json(plan["pairs"]).encode())},
        "exclusion_rule": rule,
        "intent": {
            "hypothesis": hypothesis,
            "votes": len(plan["pairs"]) * plan["min_raters"],
            "stopping": STOPPING,
        },
        "analysis": {
            **asdict(analysis),
            "agreement_votes": plan["min_raters"],
            "clusters": CLUSTERS[TWO_WAY],
            "signatures": _signatures(
                analysis,
                words.version,
                rule,
                plan["min_raters"],
                simulated=plan["simulated"],
                lenient=lenient,
                asked=asked,
            ),
        },
    }


def _sets(data: Any) -> Any:
    """The data with sets as sorted lists: JSON knows no sets, and their order is no one's choice."""
    if isinstance(data, Mapping):
        return {key: _sets(value) for key, value in data.items()}
    if isinstance(data, (set, frozenset)):
        return sorted(data)
    return [_sets(item) for item in data] if isinstance(data, (list, tuple)) else data


def _signatures(
    analysis: Analysis, version: str, rule: str, min_raters: int, *, simulated: bool, lenient: bool, asked: Method
) -> list[str]:
    """The signature of every number there will be: names are in none, so made-up votes have the same.

    How many samples lack raters is no choice of analysis, and plans of earlier versions do not have it.
    """
    votes = [
        Vote(
            sample=f"s{k // 2}",
            system_a="a",
            system_b="b",
            winner=("a", "b", "tie")[k % 3],
            rater=f"r{k % 2}",
            family=f"T{k // 2 % 2}",
            prompt=f"p{k // 2}",
            shown_left=("a", "b")[k // 2 % 2],
            primary_tag="tag",
            ratings={"dimension": (1, 5)},
            adjudicated=k > 11,
            bent=("primary-tag",) * lenient,
        )
        for k in range(14)
    ]
    under: dict[str, Any] = {"rubric_version": version, "exclusion_rule": rule, "min_raters": min_raters}
    given = votes if asked.is_pairs else _made_up(asked)
    under |= {"method": asked, "reference": "c" if asked.needs_reference else ""}
    found = study_measurements(given, simulated=simulated, **asdict(analysis), **under)
    return sorted({m.signature for m in found if m.name != SAMPLES_BELOW_MINIMUM.name})


def _made_up(asked: Method) -> list[Judgement]:
    """Answers that every number of a method can be made of."""
    systems, clips = ("a", "b", "c"), [(k % 3, k // 3 % 2, k // 6) for k in range(12)]
    if asked.name == "best-worst":
        ends = ("ab", "bc", "ca", "ac", "ba", "cb")
        return [
            Judgement(sample=f"s{k % 3}", systems=systems, rater=f"r{k // 3}", best=end[0], worst=end[1])
            for k, end in enumerate(ends)
        ]
    return [
        Judgement(
            sample=f"p{prompt}.{systems[k]}",
            systems=(systems[k],),
            rater=f"r{rater}",
            prompt=f"p{prompt}",
            ratings={"overall": 1 + (k + prompt + rater) % 5},
        )
        for k, prompt, rater in clips
        if asked.name != "dcr" or systems[k] != "c"
    ]


def register(service: StudyService, study: str, analysis: Analysis, *, hypothesis: str = "") -> Registration:
    """Declare the plan: it goes into the study's log, with its digest and the number of votes that were in."""
    content = study_content(service, study, analysis, hypothesis=hypothesis)
    made = Registration(content=content, votes_before=_votes(service, study))
    service.record_registration(study, digest=made.digest, parts=made.parts, votes_before=made.votes_before)
    return made


def _votes(service: StudyService, study: str) -> int:
    return sum(vote.counts_in_results for vote in service.votes(study)) + sum(
        one.counts_in_results for one in service.judgements(study)
    )


def write_registration(path: Path, made: Registration) -> None:
    """The file to keep or to publish: content, digest, and the votes that were in."""
    data = {"kind": KIND, "sha256": made.digest, "votes_before": made.votes_before, "content": made.content}
    text = json.dumps(json.loads(canonical_json(data)), indent=2, ensure_ascii=False, sort_keys=True) + "\n"
    write_file(path, text)


def read_registration(path: Path) -> Registration:
    """A file that `write_registration` wrote; `InputError` where it is none, or was changed since."""
    try:
        data = json.loads(path.read_text("utf-8"))
        made = Registration(content=data["content"], votes_before=int(data["votes_before"]))
        kind, digest = data["kind"], data["sha256"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as a preregistration ({error})") from None
    if kind != KIND or digest != made.digest:
        raise InputError(f"{path}: its content does not match its digest ({digest}); it was changed")
    return made


def state(
    service: StudyService, study: str, analysis: Analysis, *, declared: Registration | None = None
) -> RegistrationState:
    """Whether results made now, in this way, are those that were declared: in a file, or else first in the log."""
    known: Mapping[str, Any]
    if declared is not None:
        known = {"digest": declared.digest, "votes_before": declared.votes_before, "parts": declared.parts}
    else:
        known = service.registration(study) or {}
    if not known:
        return RegistrationState(digest="")
    now, then = Registration(content=study_content(service, study, analysis), votes_before=0).parts, known["parts"]
    # What was intended is for readers: no later content has a hypothesis, and plans of earlier versions have none.
    names = sorted(name for name in {*then, *now} if not name.startswith(_INTENT))
    differs = tuple(name for name in names if then.get(name) != now.get(name))
    return RegistrationState(digest=known["digest"], votes_before=known["votes_before"], differs=differs)
