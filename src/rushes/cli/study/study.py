"""`rushes study`: the human study from the command line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from rushes.present.terminal.console import next_line, one_line_errors, print_json, say
from rushes.present.terminal.options import Json
from rushes.present.terminal.progress import progress_bars

if TYPE_CHECKING:
    from rushes.instruments.preference.methods.method import Method
    from rushes.study import StudyService
    from rushes.study.material.sources import SourceClip
    from rushes.study.records import Device, OnErase, Pairing

app = typer.Typer(
    name="study",
    help="The human study: which clip do people prefer, and why? Blinded pairs, two raters each, every watch verified.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Name = Annotated[str, typer.Argument(metavar="STUDY", help="The study's name.")]
Db = Annotated[str, typer.Option("--db", help="The studies' database: a path (SQLite) or postgresql://host/name.")]
MediaFolder = Annotated[
    Path | None, typer.Option("--media", help="Where canonicalised clips go (default: beside the SQLite file).")
]
Clips = Annotated[
    Path | None, typer.Option(help="Folder of clips named SYSTEM_TASK_PROMPT.mp4, for a prompt manifest.")
]
Prompts = Annotated[Path | None, typer.Option(help="CSV prompt_id,prompt_text[,task_id]; clips are matched by id.")]
WithReference = Annotated[
    bool, typer.Option("--with-reference", help="Show the suite's reference to raters as one of the systems.")
]
RubricFile = Annotated[Path | None, typer.Option(help="TOML or JSON with dimensions, anchors and tags of your own.")]
ConsentFile = Annotated[Path | None, typer.Option(help="TOML or JSON: contact, compensation, ethics, text.")]
SourceClips = Annotated[Path | None, typer.Option(help="Folder of the clips that were to be edited: T4_p09.mp4.")]
Families = Annotated[
    list[str] | None,
    typer.Option(
        "--family", metavar="NAME=KIND", help="What a task family asks for: plain, edit or safety. Repeat it."
    ),
]
DEFAULT_DB = "studies.db"


def open_studies(db: str, media: Path | None = None, *, fresh: bool = False) -> StudyService:
    """The service behind `--db` and `--media`. Only where it may be `fresh` a database is made or upgraded."""
    from rushes.study import open_service

    if media is None and "://" in db:
        media = Path("studies.media")
    return open_service(db, media=media, migrate=fresh)


def answer(as_json: bool, data: object, words: str) -> None:
    """What a command did, on stdout: as data, or in words."""
    if as_json:
        print_json(data)
    else:
        print(words)


@app.command("create")
@one_line_errors
def create(
    study: Name,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE | [NAME=]RUN… | CSV",
            help="A suite's folder or file, a folder of systems, two or more runs or folders of clips, or a CSV.",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="What raters see above the pairs; it must not name a system.")] = "",
    clips: Clips = None,
    prompts: Prompts = None,
    seed: Annotated[int, typer.Option(help="Decides sides and order; the same seed gives the same plan.")] = 1,
    min_raters: Annotated[int, typer.Option(min=2, help="Raters per sample before agreement is assessed.")] = 2,
    quota: Annotated[int | None, typer.Option(min=1, help="Maximum number of pairs per rater.")] = None,
    gold_every: Annotated[int, typer.Option(min=0, help="One gold pair every N tasks; 0 for none.")] = 10,
    repeat_every: Annotated[int, typer.Option(min=0, help="One hidden repeat every N tasks; 0 for none.")] = 20,
    training_tries: Annotated[int, typer.Option(min=1, help="Wrong training answers before you are notified.")] = 3,
    max_gold_errors: Annotated[
        int | None, typer.Option(min=0, help="Exclude raters with more wrong gold answers.")
    ] = None,
    max_side_bias: Annotated[
        float | None,
        typer.Option(min=0, max=0.5, help="Exclude raters whose share of left votes is further than this from ½."),
    ] = None,
    min_repeat_agreement: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exclude raters who repeat a smaller share of their own votes.")
    ] = None,
    attention: Annotated[
        bool,
        typer.Option(
            "--attention",
            help="Exclude raters who disagree with everyone, repeat one answer, or vote too quickly.",
        ),
    ] = False,
    max_consensus_p: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Exclude raters whose agreement with others is less likely than this."),
    ] = None,
    max_run_p: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exclude raters with a run of one answer less likely than this.")
    ] = None,
    min_think: Annotated[
        float | None,
        typer.Option(min=0, max=60, help="Exclude raters whose median time beyond watching is shorter, in seconds."),
    ] = None,
    alike: Annotated[
        str,
        typer.Option(
            help="How clips are made alike in size, rate and length: auto, suite (its [alike]), off or 576x320@24,2s."
        ),
    ] = "auto",
    min_width: Annotated[int, typer.Option(min=0, help="Minimum width of a rater's window, in pixels.")] = 0,
    device: Annotated[str, typer.Option(help="What raters may use: any, or desktop.")] = "any",
    min_mbps: Annotated[float, typer.Option(min=0, help="Minimum speed of a rater's connection, in Mbit/s.")] = 0.0,
    retain_until: Annotated[
        str, typer.Option(metavar="YYYY-MM-DD", help="Until when raters' data are kept; consent states it.")
    ] = "",
    pairing: Annotated[
        str, typer.Option(help="round-robin, or active: the most undecided pairs first; results give an order only.")
    ] = ("round-robin"),
    on_erase: Annotated[str, typer.Option(help="A rater who asks to be erased: keep their votes, or remove.")] = "keep",
    pay: Annotated[str, typer.Option(help="Declared rate: 12 GBP/hour, 0.40 USD/vote or 5 EUR/study.")] = "",
    method: Annotated[
        str, typer.Option(help="pairs, acr (single clips), acr-hr (with hidden reference), dcr or best-worst.")
    ] = "pairs",
    scale: Annotated[
        int | None,
        typer.Option(help="Points: 2 or 7 for pairs; 5, 9 or 11 for acr and dcr; clips in a best-worst set, 3 to 5."),
    ] = None,
    tie: Annotated[bool, typer.Option("--tie/--no-tie", help="Whether raters of pairs may answer “the same”.")] = True,
    question: Annotated[
        list[str] | None,
        typer.Option(help="With acr and dcr: overall, temporal, adherence, identity or realism. Repeat it."),
    ] = None,
    reference: Annotated[str, typer.Option(help="The reference's system, for acr-hr and dcr; a suite knows it.")] = "",
    simple: Annotated[
        bool, typer.Option("--simple", help="Ask only which clip is better: A, B or the same, after one watch each.")
    ] = False,
    rubric: RubricFile = None,
    consent: ConsentFile = None,
    language: Annotated[str, typer.Option(help="Language of the raters' pages: en or de.")] = "en",
    audio_check: Annotated[bool, typer.Option(help="Ask raters to count tones first, where a clip has sound.")] = True,
    source_clips: SourceClips = None,
    with_reference: WithReference = False,
    family: Families = None,
    db: Db = DEFAULT_DB,
    media: MediaFolder = None,
    as_json: Json = False,
) -> None:
    """Make a study of a suite, or of runs, folders or a CSV. Exclusion rules are declared here, before any vote.

    Example: rushes study create takes suites/takes

    Single clips on P.910's scale: rushes study create takes suites/takes --method acr --min-raters 15

    The best and the worst of four: rushes study create takes suites/takes --method best-worst --scale 4
    """
    from rushes.instruments.preference.families import read_families
    from rushes.instruments.preference.methods.method import method as method_named
    from rushes.study import ExclusionRule, StudyPlan
    from rushes.study.records import ATTENTION, ScreenRule
    from rushes.suite.study_material import StudyMaterial, study_material

    usual: dict[str, Any] = dict(ATTENTION) if attention else {}
    own = {"max_consensus_p": max_consensus_p, "max_run_p": max_run_p, "min_think_s": min_think}
    own["max_gold_errors"] = max_gold_errors
    rule = ExclusionRule(
        max_side_bias=max_side_bias,
        min_repeat_agreement=min_repeat_agreement,
        **(usual | {name: value for name, value in own.items() if value is not None}),
    )
    asked = method_named(f"{method}{'' if scale is None else f'-{scale}'}" if tie else f"{method}-{scale or 2}-no-tie")
    material: dict[str, Any] = {"clips": clips, "prompts": prompts, "source_clips": source_clips}
    shown_too = with_reference or asked.needs_reference
    found = study_material(sources, with_reference=shown_too, **material) if sources else StudyMaterial(clips=[])
    plan = StudyPlan(
        name=study,
        method=asked,
        reference=(reference or found.reference) if asked.needs_reference else "",
        title=title,
        seed=seed,
        min_raters=min_raters,
        quota=quota,
        gold_every=gold_every,
        repeat_every=repeat_every,
        exclusion=rule,
        training_tries=training_tries,
        pairing=cast("Pairing", pairing),
        on_erase=cast("OnErase", on_erase),
        pay=pay,
        language=language,
        audio_check=audio_check,
        alike=found.shown_form(alike),
        screens=ScreenRule(min_width=min_width, device=cast("Device", device), min_mbps=min_mbps),
        retain_until=retain_until,
        families=read_families(family or ()),
        **own_texts(rubric, consent, simple=simple),
        **_asked_rubric(asked, question or (), found.clips, own=rubric is not None or simple),
    )
    with open_studies(db, media, fresh=True) as service, progress_bars() as progress:
        made = service.create_study(plan, clips=found.clips, progress=progress)
        said = [*found.remarks, *(remarks(service, study) if sources else [])]
    for line in said:
        say(line)
    if as_json:
        data = {"study": study, "pairs": made.pairs, "exclusion_rule": rule.label, "database": shown(db)}
        print_json({**data, "method": asked.text, "families": dict(made.families), "remarks": said})
        return
    print(f"Study {study}: {_made_of(found.clips, made.pairs, _UNITS.get(asked.name, 'clip'), made.reference)}")
    more = ", and one more if they disagree" if asked.is_pairs else ""
    print(f"Each {_UNITS.get(asked.name, 'clip')} gets {min_raters} raters{more}. Exclusion rule: {rule.label}.")
    next_line("study", "invite", study, "4", "--db", shown(db))
    places = raters_wanted(made.pairs, min_raters, quota, thirds=asked.is_pairs)
    recruit = ("--platform", "prolific", "--quota", str(places), "--completion-code", "CODE")
    next_line("study", "open", study, *recruit, "--db", shown(db))
    next_line("serve", "--db", shown(db))
    print(shown(db))


_UNITS = {"pairs": "pair", "best-worst": "set"}


def raters_wanted(trials: int, each: int, quota: int | None, *, thirds: bool) -> int:
    """How many raters a study needs: half of the pairs get one more, and one task of twenty is a hidden repeat.

    >>> raters_wanted(102, 3, 22, thirds=True), raters_wanted(102, 3, None, thirds=True)
    (18, 4)
    """
    answers = trials * (each + 0.5 * thirds)
    own = min(trials, quota * 19 // 20 if quota else trials) or 1
    return max(each + thirds, math.ceil(answers / own))


def _asked_rubric(asked: Method, questions: Sequence[str], clips: Sequence[SourceClip], *, own: bool) -> dict[str, Any]:
    """The rubric that a method asks by, where no other was given."""
    from rushes.instruments.preference.methods.questions import rubric_of_method

    if asked.is_pairs or own:
        if questions:
            raise typer.BadParameter("--question needs --method acr, acr-hr or dcr, and no --rubric")
        return {}
    return {"rubric": rubric_of_method(asked, questions, prompts=any(clip.prompt_text for clip in clips))}


def _made_of(clips: Sequence[SourceClip], pairs: int, unit: str, reference: str) -> str:
    """ "4 systems (a, b, c, d) on 17 prompts, 102 pairs." """
    if not clips:
        return "no pairs yet; `rushes study import` adds them."
    systems = sorted({clip.system for clip in clips if clip.kind == "sample"} - {reference})
    samples = {clip.sample for clip in clips if clip.kind == "sample"}
    beside = f" and the reference {reference}" if reference else ""
    shown_on = f"{len(systems)} systems ({', '.join(systems)}){beside} on {_counted(len(samples), 'prompt')}"
    return f"{shown_on}, {_counted(pairs, unit)}."


def remarks(service: StudyService, study: str) -> list[str]:
    """What the import that was just made, the last entry of the log, tells the owner."""
    return list(cast("list[str]", service.audit(study, limit=1)[0].detail["remarks"]))


def own_texts(rubric: Path | None, consent: Path | None, *, simple: bool = False) -> dict[str, Any]:
    """The plan's own rubric and consent words, where files were given; or the plain comparison."""
    from rushes.instruments.preference.own_rubric import read_rubric
    from rushes.instruments.preference.rubric import SIMPLE
    from rushes.study.recruiting.consent import read_consent

    if simple and rubric is not None:
        raise typer.BadParameter("--simple has a rubric of its own; leave out --simple or --rubric")
    found: dict[str, Any] = {"rubric": SIMPLE} if simple else {}
    found |= {} if rubric is None else {"rubric": read_rubric(rubric)}
    return found if consent is None else found | {"consent": read_consent(consent)}


def shown(db: str) -> str:
    """The database as printed: a path, or a URL without its password."""
    from rushes.study.database.connection import database_url

    return db if "://" not in db else database_url(db).render_as_string(hide_password=True)


@app.command("import")
@one_line_errors
def import_(
    study: Name,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="SUITE | [NAME=]RUN… | CSV", help="As for `create`: a suite, runs, folders or a CSV."),
    ] = None,
    ratings: Annotated[
        Path | None, typer.Option(help="A ratings CSV with votes given elsewhere; their watching is not verified.")
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Accept votes that break the rubric's rules, under another rubric label.")
    ] = False,
    clips: Clips = None,
    prompts: Prompts = None,
    source_clips: SourceClips = None,
    with_reference: WithReference = False,
    family: Families = None,
    db: Db = DEFAULT_DB,
    media: MediaFolder = None,
    as_json: Json = False,
) -> None:
    """Add samples to a study, or votes from a ratings CSV. Votes must follow the study's rubric.

    Example: rushes study import takes prompts.csv --clips takes/
    """
    from rushes.instruments.preference.families import read_families
    from rushes.study.exchange.import_ratings import import_ratings
    from rushes.suite.study_material import study_material

    if bool(sources) == (ratings is not None) or (lenient and ratings is None):
        raise typer.BadParameter("give runs or a CSV of clips, or --ratings FILE; --lenient is only for ratings")
    declared = read_families(family or ())
    data: dict[str, Any] = {"votes": 0}
    said: list[str] = []
    with open_studies(db, media) as service:
        before = service.study_status(study).summary.pairs
        if ratings is not None:
            got = import_ratings(service, study, ratings, lenient=lenient, families=declared)
            data, said = {"votes": got.votes, "rubric": got.rubric, "bent": dict(got.bent)}, got.remarks
        else:
            options: dict[str, Any] = {"clips": clips, "prompts": prompts, "source_clips": source_clips}
            found = study_material(sources or [], with_reference=with_reference, **options)
            service.import_clips(study, found.clips, families=declared)
            said = list(found.remarks)
        samples = service.study_status(study).summary.pairs - before
        said += remarks(service, study)
    for line in said:
        say(line)
    words = f"Study {study}: {_counted(samples, 'sample')} and {_counted(data['votes'], 'vote')} added.\n{shown(db)}"
    answer(as_json, {"study": study, "pairs": samples, **data, "remarks": said}, words)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


@app.command("invite")
@one_line_errors
def invite(
    study: Name,
    count: Annotated[int, typer.Argument(min=1, help="How many new raters.")] = 1,
    name: Annotated[list[str] | None, typer.Option(help="Invite this rater by name; may be repeated.")] = None,
    again: Annotated[str | None, typer.Option(help="A fresh link for this rater; the old one stops working.")] = None,
    url: Annotated[str, typer.Option(help="Where `rushes serve` can be reached.")] = "http://127.0.0.1:8000",
    text: Annotated[Path | None, typer.Option(help="Letter with {link}, {rater}, {title}; prints one each.")] = None,
    mailto: Annotated[bool, typer.Option("--mailto", help="Print mailto: addresses that open a ready letter.")] = False,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Make one-time links for raters. Only hashes are stored, so a link is shown this once.

    Example: rushes study invite takes 4 --url https://study.example.org
    """
    from rushes.study.recruiting.invitations import read_letter, show_letters

    letter = read_letter(text) if text is not None or mailto else None
    with open_studies(db) as service:
        title = next((one.title for one in service.studies() if one.name == study), study)
        fresh = None if again is None else service.invite_again(study, again)
        made = service.invite(study, count=count, names=name or ()) if fresh is None else (fresh,)
    links = {one.rater: f"{url.rstrip('/')}/i/{one.token}" for one in made}
    if letter is not None:
        show_letters(letter, study, links, title=title, addresses=mailto, as_json=as_json)
        return
    if as_json:
        print_json({"study": study, "links": links})
        return
    say("Send each rater their own link; it works once.")
    for rater, link in links.items():
        print(f"{rater}\t{link}")
