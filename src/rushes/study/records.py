"""What the study service takes and gives. Nothing a rater receives names a system, a path or a digest.

"A" is always the clip on the left of the rater's screen and "B" the one on the right; which system that is, only the
server knows. Times are milliseconds since 1970 by the service's clock; they live in the database, never in results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rushes.instruments.preference.families import FamilyKind
from rushes.instruments.preference.methods.method import PAIRS, Method
from rushes.instruments.preference.rubric import RUBRIC, Rubric
from rushes.instruments.preference.votes import Fault

ScreenSide: TypeAlias = Literal["A", "B", "C", "D", "E"]
"""Where a clip stands on a rater's screen: A on the left, or first."""
SCREEN: tuple[ScreenSide, ...] = ("A", "B", "C", "D", "E")
LONGEST_NOTE = 1000
"""Characters of anything a person types about a pair: pages show the limit, the service keeps it."""
PROBLEMS = ("will not play", "no sound", "offensive", "other")
"""What can be wrong with a pair, as a rater reports it."""
Choice: TypeAlias = Literal["A", "B", "Tie"]
Stage: TypeAlias = Literal["consent", "training", "work", "done"]
"""Where a rater stands: agree first, then the training pair, then pairs until the quota or the study is done."""
StudyState: TypeAlias = Literal["open", "paused", "closed"]
"""Paused and closed studies give out no pairs; a vote on a pair that is on somebody's screen is still taken."""
OnErase: TypeAlias = Literal["keep", "remove"]
Pairing: TypeAlias = Literal["round-robin", "active"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """What a study is created with; locked once the first vote is in."""

    name: str
    """Lower-case letters, digits, - and _; the study's key everywhere."""
    title: str = ""
    seed: int = 1
    min_raters: int = 2
    """Raters per sample before agreement is assessed. The rubric's minimum is 2."""
    quota: int | None = None
    """The most pairs one rater is given, gold and repeats included; None: as many as there are."""
    gold_every: int = 10
    """One gold pair in so many tasks of a rater, when the study has gold pairs; 0 turns it off."""
    repeat_every: int = 20
    """One hidden repeat, sides swapped, in so many tasks; 0 turns it off."""
    exclusion: ExclusionRule | None = None
    """Declared before the first vote; see `ExclusionRule`."""
    simulated: bool = False
    """True for a study whose raters are a program; every output of it says so."""
    pairing: Pairing = "round-robin"
    """Which unbegun pair comes next: each as often as the others, or, "active", the one whose two systems the votes so
    far leave most open (`rushes.study.raters.active_pairing`)."""
    on_erase: OnErase = "keep"
    """What happens to the votes of a rater who asks to be erased: kept without the person, or removed."""
    pay: str = ""
    """The declared rate: "12 GBP/hour", "0.40 USD/vote", "5 EUR/study"; empty where nothing was declared."""
    rubric: Rubric = RUBRIC
    """What raters are told and may answer: the built-in rubric, `rubric.SIMPLE`, or `own_rubric.read_rubric(FILE)`."""
    language: str = "en"
    """The language of the raters' pages: "en" or "de". A rater may switch."""
    consent: Mapping[str, object] | None = None
    """The study's own words on the consent page (`consent.read_consent(FILE)`): contact, compensation, approval."""
    audio_check: bool = False
    """Whether raters type in a short tone sequence before they begin, where a clip has sound."""
    alike: str = "auto"
    """How clips are made alike, so that nothing but the picture tells systems apart: `auto`, `off`, or a form such as
    576x320@24,2s (`rushes.study.material.shown_form`)."""
    screens: ScreenRule | None = None
    """What a rater's screen, device and line must have; see `ScreenRule`."""
    retain_until: str = ""
    """The day, YYYY-MM-DD, until which raters' data are kept; "" where none is declared."""
    training_tries: int = 3
    """Wrong answers to the training pair after which the owner is told; the pair is repeated until it is right."""
    families: Mapping[str, FamilyKind] = field(default_factory=dict)
    """What task families ask for, by name: "plain", "edit" (edit scale and tags) or "safety" (safety tags). One that is
    not declared is an edit family where it has source clips; see `rushes.instruments.preference.families`."""
    method: Method = PAIRS
    """What one trial shows and asks for; see `rushes.instruments.preference.methods`."""
    reference: str = ""
    """The system that is the reference, for the methods that show it: `acr-hr` and `dcr`."""


Device: TypeAlias = Literal["any", "desktop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenRule:
    """What is required of a rater's screen, device and line. The page measures it; who fails leaves with a code."""

    min_width: int = 0
    """Of the browser's window, in CSS pixels."""
    device: Device = "any"
    """"desktop": a mouse or touchpad, and a window that is not a phone's or a tablet's."""
    min_mbps: float = 0.0
    """Megabits a second of a small timed download."""

    @property
    def asks(self) -> bool:
        return self.min_width > 0 or self.device != "any" or self.min_mbps > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExclusionRule:
    """Which raters are left out, declared before the votes. A rater who meets any part is excluded."""

    max_gold_errors: int | None = None
    """Excluded with more wrong gold answers than this."""
    max_side_bias: float | None = None
    """Excluded when |share of A among A/B votes − 1/2| is greater, with at least 10 such votes."""
    min_repeat_agreement: float | None = None
    """Excluded when fewer of the hidden repeats than this share have the same winner, with at least 3 repeats."""
    max_consensus_p: float | None = None
    """Excluded when a typical rater would agree so seldom with the others with a lower probability than this
    (`owner.attention`), with at least 10 votes to compare."""
    max_run_p: float | None = None
    """Excluded with a run of one and the same answer on the screen that a coin would have more rarely than this."""
    min_think_s: float | None = None
    """Excluded when the median time beyond watching is shorter, in seconds, with at least 5 votes."""

    @property
    def label(self) -> str:
        """As it stands in signatures: "none" or "gold_errors>2+side_bias>0.35"."""
        parts = (
            ("gold_errors>", self.max_gold_errors),
            ("side_bias>", self.max_side_bias),
            ("repeat_agreement<", self.min_repeat_agreement),
            ("consensus_p<", self.max_consensus_p),
            ("run_p<", self.max_run_p),
            ("think_s<", self.min_think_s),
        )
        return "+".join(f"{name}{value}" for name, value in parts if value is not None) or "none"


ATTENTION: Mapping[str, float] = {"max_gold_errors": 1, "max_consensus_p": 0.01, "max_run_p": 0.001, "min_think_s": 0.5}
"""The usual attention rule, `--attention`; docs/screening.md has how many careless and honest raters it excludes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudySummary:
    """One line of the list of studies."""

    name: str
    title: str
    rubric: str
    pairs: int
    raters: int
    votes: int
    simulated: bool
    locked: bool
    """True once a vote is in: the plan no longer changes."""
    state: StudyState = "open"
    pairing: Pairing = "round-robin"
    on_erase: OnErase = "keep"
    pay: str = ""
    families: Mapping[str, FamilyKind] = field(default_factory=dict)
    """What each task family asks for; one that is not there goes by its name (studies of earlier versions)."""
    method: str = PAIRS.text
    reference: str = ""
    waiting: int = 0
    """Pairs that still wait for a rater."""
    disputed: int = 0
    """Pairs that wait for an adjudicator."""
    alike: str = "off"
    retain_until: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """A one-time link's secret. Only its hash is stored, so it can be shown once."""

    rater: str
    """The rater's code: "rater_01"."""
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterSession:
    """A signed-in rater."""

    token: str
    """The cookie's secret; only its hash is stored. Empty in sessions read back with `session`."""
    study: str
    study_title: str
    rater: str
    stage: Stage
    expires_ms: int
    study_state: StudyState = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipView:
    """One clip as a rater's page may know it."""

    token: str
    """Opaque, made for this assignment alone; `media` turns it into the file."""
    duration_ms: int
    fps: float
    width: int
    height: int
    has_audio: bool
    refused: str = ""
    """What the system said instead of making a clip: then there is nothing to play, to watch or to rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchState:
    """How much of each clip has been watched, by the server's ledger."""

    passes: Mapping[ScreenSide, int]
    required: int
    shares: Mapping[ScreenSide, float]
    """How far the current pass of each clip has come, 0 to 1; 1 when all passes are done."""
    not_credited: tuple[str, ...] = ()
    """Why parts of the last report were not credited: "A: played at 2× (at most 1×)". For the page to show."""

    @property
    def complete(self) -> bool:
        return all(done >= self.required for done in self.passes.values())

    @property
    def text(self) -> str:
        """ "A 2/2 · B 1/2" """
        return " · ".join(f"{side} {done}/{self.required}" for side, done in self.passes.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayEvent:
    """One stretch of uninterrupted play, as the page saw it."""

    side: ScreenSide
    start_ms: float
    """Media time where play began."""
    end_ms: float
    """Media time where it ended or had come to; not above start_ms: nothing to credit (a seek back)."""
    rate: float = 1.0
    visible: bool = True
    """False when the page or the clip was hidden at any moment of the stretch."""
    client_ms: int = 0
    """The browser's clock; recorded for the audit, never trusted."""
    sequence: int = 0
    """Different for every stretch of an assignment, also after a reload (a page's start time in ms × 1000 + a count
    does): the same side and sequence are credited once, so a report without an answer can be sent again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteForm:
    """What a rater filled in; also the shape of a draft, where everything may still be empty."""

    winner: Choice | None = None
    primary_tag: str | None = None
    secondary_tags: tuple[str, ...] = ()
    ratings_a: Mapping[str, int] = field(default_factory=dict)
    """Dimension key to 1–5 for the clip shown as A."""
    ratings_b: Mapping[str, int] = field(default_factory=dict)
    note: str = ""
    degree: int | None = None
    """How strongly the winner of a pair is preferred, 1 to 3, where the method asks."""
    best: ScreenSide | None = None
    worst: ScreenSide | None = None
    """The answers of a best–worst trial."""
    faults: tuple[Fault, ...] = ()
    """What the rater marked, where and when; `Fault.clip` is a side of the screen here."""
    viewing: Mapping[str, object] | None = None
    """How the pair was looked at (`study/viewing.py`): window, screen, pixel ratio, theme; None where unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One pair for one rater: all a page needs, and nothing that tells the systems apart."""

    assignment: str
    """Opaque."""
    training: bool
    number: int
    """1 for the rater's first pair; 0 for the training pair."""
    total: int
    """How many the rater can expect at most, as things stand now."""
    family: str
    """"T2"."""
    family_title: str
    prompt: str
    clips: Mapping[ScreenSide, ClipView]
    """As they stand on the screen; one for `acr`, three to five for best–worst."""
    rubric: str
    dimensions: tuple[str, ...]
    """Keys of `rushes.instruments.preference.rubric` dimensions that apply: edit precision only for edit tasks."""
    tags: tuple[str, ...]
    """Keys of the tags that apply: edit tags only for edit tasks, safety tags only for safety tasks."""
    watch: WatchState
    draft: VoteForm | None
    session_minutes: int
    """Minutes of work since the last break of 10 minutes or more, for the break prompt."""
    has_voted: bool
    """Whether the rater has a vote that can still be changed: `StudyService.last_vote`."""
    source: ClipView | None = None
    """For edits: the clip that was to be edited. Shown, never asked for by the watch gate; its token is the
    assignment."""
    method: Method = PAIRS
    fault_tags: tuple[str, ...] = ()
    """What may be marked at a moment of a clip."""

    @property
    def a(self) -> ClipView:
        """The clip on the left, or the only one."""
        return self.clips["A"]

    @property
    def b(self) -> ClipView:
        return self.clips["B"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A file to send for a media token."""

    path: str
    content_type: str
    etag: str
    """Opaque, different for every assignment: a clip's digest would tell raters which clips are the same."""
    size: int
    source: str = ""
    """The file that was imported, for whoever may know."""
    sha256: str = ""
    """What the file must be; "" where nothing is known."""
    assignment: int | None = None
    """The rater's place this is sent for; None for an administrator, whose watching counts for nobody."""
    side: ScreenSide = "A"
    sent_in_full: bool = False
    """Whether all its bytes went out for this place before."""
    padded: int | None = None
    """Bytes that are sent, padding included; None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """One thing that keeps a vote from being accepted."""

    field: str
    """"watch_a", "watch_b", "winner", "primary_tag", "secondary_tags", "ratings_a.adherence", "note"."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The vote is stored; the same idempotency key always gets the same answer."""

    vote: int
    repeated: bool
    """True when this key had been accepted before: nothing was stored a second time."""
    feedback: Feedback | None = None
    """Only for the training pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRefusal:
    """The vote is not stored; `missing` says exactly what to do."""

    missing: tuple[Missing, ...]
    stored: VoteForm | None = None
    """The vote that stands, where this one came too late to be it."""


Remark: TypeAlias = Literal["", "reason", "ratings"]
"""What a look at a training answer adds: the winner is right but the reason is not, or the ratings speak against it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What the training pair teaches."""

    right: bool
    expected: str
    """"A", "B" or "Tie"; "low" or "high" for a rating; "B>A", the best and the worst, for a best–worst trial."""
    expected_tag: str | None
    text: str
    """The pair's own words, as its import gave them."""
    remark: Remark = ""
