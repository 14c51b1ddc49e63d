"""`rushes study plan` and `preregister`: what to decide before the first vote; `report`, `export` and `validity`: what
came of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rushes.cli.study.study import DEFAULT_DB, Db, Name, answer, app, open_studies
from rushes.core.errors import InputError
from rushes.instruments.preference.votes import TiePolicy
from rushes.present.terminal.console import (
    next_line,
    one_line_errors,
    print_json,
    print_table,
    say,
    show_signatures,
    tell,
)
from rushes.present.terminal.options import Json, Overwrite, Verbose

if TYPE_CHECKING:
    from rushes.core import Measurement
    from rushes.instruments.preference.numbers.plan import Plan
    from rushes.stats.votes.plan import Design
    from rushes.storage.runs import Run

Out = Annotated[Path, typer.Option("-o", "--out", metavar="RUN", help="Run directory.")]
Confidence = Annotated[float, typer.Option(min=0.5, max=0.999, help="Confidence level of the intervals.")]


@app.command("plan")
@one_line_errors
def plan(
    preference: Annotated[
        float, typer.Option(help="The preference to find: the better system's share of decided votes.")
    ] = 0.6,
    systems: Annotated[int, typer.Option(help="How many systems are compared; votes are spread over their pairs.")] = 2,
    raters: Annotated[int, typer.Option(help="How many raters.")] = 10,
    prompts: Annotated[int, typer.Option(help="How many prompts.")] = 50,
    votes_per_rater: Annotated[int, typer.Option(help="Maximum number of votes per rater.")] = 40,
    min_raters: Annotated[
        int | None,
        typer.Option(min=2, help="Raters per pair, as in `create`. Default: as many as the votes allow."),
    ] = None,
    taste: Annotated[float, typer.Option(help="How far raters' tastes differ: a standard deviation in logits.")] = 0.5,
    leaning: Annotated[float, typer.Option(help="How far prompts differ, in the same unit.")] = 0.5,
    tie_share: Annotated[float, typer.Option(help="Ties among votes between equals.")] = 0.15,
    power: Annotated[float, typer.Option(help="How often the better system should be found.")] = 0.8,
    confidence: Annotated[float, typer.Option(help="Confidence level of the intervals.")] = 0.95,
    metric: Annotated[
        str,
        typer.Option(
            "--with",
            metavar="METRIC",
            help="Show what a metric saves: give its correlation with people, or its credential.",
        ),
    ] = "",
    metric_prompts: Annotated[
        int | None, typer.Option(min=1, help="With --with: prompts that have the metric, the rated ones among them.")
    ] = None,
    method: Annotated[str, typer.Option(help="As in `create`: pairs, acr, acr-hr, dcr or best-worst.")] = "pairs",
    scale: Annotated[
        int | None, typer.Option(help="Points of the method's scale, or clips in a best-worst set, as in `create`.")
    ] = None,
    tie: Annotated[bool, typer.Option("--tie/--no-tie", help="Whether raters of pairs may answer “the same”.")] = True,
    simple: Annotated[bool, typer.Option("--simple", help="Plan pairs that only ask which clip is better.")] = False,
    difference: Annotated[
        float,
        typer.Option(min=0, help="With acr, acr-hr and dcr: the difference to find between best and worst, in points."),
    ] = 0.3,
    runs: Annotated[
        int | None,
        typer.Option(min=1, help="Simulated studies. Default: 3000 for two systems, 1000 for ratings, 600 else."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same numbers.")] = 1,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """How many raters, prompts and votes a study needs: simulates the study that `create` makes and what it reports.

    Example: rushes study plan --preference 0.65 --raters 12 --prompts 40 --votes-per-rater 40

    Single clips: rushes study plan --method acr --difference 0.4 --raters 20 --prompts 30 --votes-per-rater 60

    Best and worst: rushes study plan --method best-worst --systems 4 --raters 16 --prompts 20 --votes-per-rater 10
    """
    from rushes.instruments.preference.methods.method import method as method_named
    from rushes.instruments.preference.numbers.method_plan import create_options
    from rushes.instruments.preference.numbers.plan import plan_study, prompts_with_metric, usual_runs
    from rushes.stats.votes.plan import Design

    asked = method_named(f"{method}{'' if scale is None else f'-{scale}'}" if tie else f"{method}-{scale or 2}-no-tie")
    if not asked.is_pairs:
        from rushes.cli.study.planning import plan_method

        if simple or metric:
            raise InputError(f"--simple and --with are for pairs; got --method {method}")
        size = {"systems": systems, "raters": raters, "prompts": prompts, "min_raters": min_raters}
        run = {"power": power, "runs": runs or (1000 if asked.rates else 600), "seed": seed}
        plan_method(
            asked,
            {**size, "confidence": confidence},
            difference=difference,
            preference=preference,
            spreads={"taste": taste, "leaning": leaning},
            most=votes_per_rater,
            verbose=verbose,
            as_json=as_json,
            **run,
        )
        return
    design = Design(
        preference=preference,
        systems=systems,
        raters=raters,
        prompts=prompts,
        votes_per_rater=votes_per_rater,
        min_raters=min_raters,
        taste=taste,
        leaning=leaning,
        tie_share=tie_share if tie else 0.0,
        confidence=confidence,
    )
    create = create_options(asked, min_raters=design.raters_per_pair, per_rater=votes_per_rater, simple=simple)
    called, correlation = worth_of(metric) if metric else ("", 0.0)
    found = plan_study(design, power=power, runs=runs or usual_runs(design), seed=seed)
    fewer = prompts_with_metric(design, correlation, metric_prompts) if metric else None
    if as_json:
        numbers = [*found.measurements, *([fewer] if fewer else [])]
        data = {"votes": round(found.votes), "min_raters": design.raters_per_pair, "create": create}
        print_json({**data, "measurements": [m.as_dict() for m in numbers]})
        return
    _show_plan(design, found, power, create)
    if fewer is not None:
        _show_fewer(design, fewer, called, metric_prompts)
    show_signatures([found.power.signature, *([fewer.signature] if fewer else [])], verbose=verbose)


def _show_plan(design: Design, found: Plan, power: float, create: str) -> None:
    share = float(found.power.value or 0)
    sure = "" if found.power.interval is None else f" (95 % {found.power.interval.text(digits=2)})"
    tell(
        f"Power to rank the better of two systems above the other, at a preference of "
        f"{design.preference:.0%}: {share:.2f}{sure}"
    )
    tell(
        f"{design.cells} pairs ({design.prompts} prompts, {design.systems} systems), {design.raters_per_pair} raters "
        f"each and one more if they disagree: about {found.votes:.0f} votes, {found.votes / design.raters:.0f} from "
        f"each of {design.raters} raters"
    )
    if design.raters_per_pair * design.cells > design.votes:
        tell(f"The raters give at most {design.votes} votes: not every pair gets {design.raters_per_pair} raters.")
    effect = found.effect.value
    tell(
        f"Design effect: none, {found.effect.note}"
        if effect is None
        else f"Design effect {effect:.1f}: as {found.votes / effect:.0f} independent votes, because "
        "one rater's votes, and those on one prompt, resemble each other"
    )
    needed = found.raters
    if needed.value is None:
        tell(f"Power {power:g}: {needed.note}")
    else:
        tell(f"Power {power:g} needs about {needed.value:g} raters, {needed.note}, on {design.prompts} prompts")
    tell("Create the study of this plan with:")
    print(f"rushes study create NAME SUITE {create}")


def worth_of(metric: str) -> tuple[str, float]:
    """What `--with` names, in words, and its correlation: a number, a credential's file, or a metric that has one.

    Of a credential it is ρ within one system: people's mean of a system is over prompts, and so is the metric's.
    """
    from rushes.compare.agreement.credential import read_credential, shipped_credentials

    try:
        value = float(metric)
    except ValueError:
        shipped = {one.metric: one for one in reversed(shipped_credentials())}  # of clips as they are: they come first
        if metric not in shipped and not Path(metric).is_file():
            known = ", ".join(sorted(shipped))
            raise InputError(
                f"--with takes a correlation from -1 to 1, a credential's file or {known}; got {metric!r}"
            ) from None
        one = shipped[metric] if metric in shipped else read_credential(metric)
        if one.within_system is None:
            raise InputError(f"{metric}: the credential has no agreement within one system") from None
        if one.seen != "no":
            had = "were" if one.seen == "yes" else "may have been"
            say(f"the clips of {one.data.name} {had} seen while {one.metric} was made: expect less elsewhere")
        rho = one.within_system.value
        return f"{one.metric} (ρ {rho:.2f} with {one.question} within one system, {one.data.name})", rho
    if not -1.0 <= value <= 1.0:
        raise InputError(f"--with: a correlation lies between -1 and 1; got {metric}")
    return f"a metric of ρ {value:g}", value


def _show_fewer(design: Design, fewer: Measurement, called: str, metric_prompts: int | None) -> None:
    needed = float(fewer.value or 0)
    where = "many more prompts" if metric_prompts is None else f"{metric_prompts} prompts"
    votes = round(design.votes * (1 - needed / design.prompts))
    tell(
        f"With {called} on {where}, {math.ceil(needed - 1e-9)} rated prompts are worth {design.prompts} without it: "
        + (f"about {votes} fewer votes, as far as prompts decide." if votes else "it saves no votes.")
    )


@app.command("preregister")
@one_line_errors
def preregister(
    study: Name,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The file to write: JSON with its digest.")],
    ties: Annotated[TiePolicy, typer.Option(help="How ties will count.")] = "davidson",
    prior: Annotated[float, typer.Option(min=0, help="Precision of a normal prior on strengths.")] = 0.0,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Confidence level of the intervals.")] = 0.95,
    hypothesis: Annotated[str, typer.Option(help="What you expect to find, in one sentence.")] = "",
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Declare hypothesis, size, plan, exclusions and analysis before the votes, in a file with a digest and the log.

    Example: rushes study preregister takes -o takes.preregistration.json
    """
    from rushes.study.preregistration import Analysis, register, write_registration

    with open_studies(db) as service:
        made = register(
            service, study, Analysis(tie_policy=ties, prior=prior, confidence=confidence), hypothesis=hypothesis
        )
    write_registration(out, made)
    if as_json:
        print_json({"study": study, "sha256": made.digest, "votes_before": made.votes_before, "file": str(out)})
        return
    when = "before the first vote" if not made.votes_before else f"with {made.votes_before} votes already in"
    tell(f"Study {study}, registered {when}: sha256 {made.digest}")
    print(out)


@app.command("report")
@one_line_errors
def report(
    study: Name,
    out: Out,
    ties: Annotated[TiePolicy, typer.Option(help="How ties count.")] = "davidson",
    prior: Annotated[
        float, typer.Option(min=0, help="Precision of a normal prior on strengths; it enters the signature.")
    ] = 0.0,
    confidence: Confidence = 0.95,
    preregistration: Annotated[
        Path | None, typer.Option(help="The file the study was preregistered with (default: the study's log).")
    ] = None,
    overwrite: Overwrite = False,
    db: Db = DEFAULT_DB,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Rank the systems from all raw votes; every number goes into a run directory with its signature.

    Example: rushes study report takes -o runs/takes
    """
    from rushes.study.evaluate import evaluate_study

    with open_studies(db) as service:
        run = evaluate_study(
            service,
            study,
            run=out,
            tie_policy=ties,
            prior=prior,
            confidence=confidence,
            overwrite=overwrite,
            preregistration=preregistration,
        )
    if as_json:
        _print_run(run)
    else:
        _show_report(run, verbose=verbose)


def _print_run(run: Run) -> None:
    from rushes.instruments.preference.show.section import remarks
    from rushes.instruments.preference.show.tables import all_tables

    (entry,) = run.entries
    tables = [table.as_dict() for table in all_tables(entry.measurements)]
    told = {"remarks": remarks(entry), "run": str(run.path), "study": entry.subject.row()}
    print_json({**told, "measurements": list(entry.rows()), "tables": tables})


def _show_report(run: Run, *, verbose: bool) -> None:
    from rushes.instruments.preference.numbers.conditions import NO_RULE
    from rushes.instruments.preference.show.section import decisions_text, headline, registration_text, remarks, unit_of
    from rushes.instruments.preference.show.tables import agreement_line, exclusion_rules, ranking_note, study_tables

    facts: Mapping[str, Any] = run.subjects[0].facts
    who = "simulated raters" if facts["simulated_raters"] else "raters"
    measurements = run.measurements[run.subjects[0].id]
    sentences = {
        rule: f"{who[0].upper()}{who[1:]} ranked {headline(measurements, exclusion=rule)}"
        for rule in exclusion_rules(measurements)
        if not ranking_note(measurements, exclusion=rule)
    }
    looks = [facts["looks"]["text"]] if "looks" in facts else []
    tell(*(line for line in remarks(run.entries[0]) if line not in looks))
    if NO_RULE in sentences:
        tell(" ".join([sentences[NO_RULE], *([facts["more"]["text"]] if "more" in facts else [])]))
    tell(*looks)
    unit = unit_of(str(facts.get("method", "pairs")))
    tell(f"{facts['title']}: {facts['votes']} votes of {facts['raters']} {who} on {facts['samples']} {unit}")
    tell(f"Preregistration: {registration_text(facts)}")
    if decided := decisions_text(facts):
        tell(f"Decisions: {decided}")
    for rule in exclusion_rules(measurements):
        tables = study_tables(measurements, exclusion=rule)
        if rule != NO_RULE and rule in sentences:
            tell(f"Without the raters excluded by {rule}: {sentences[rule]}")
        for kind in ("scores", "best_worst", "ranking"):
            if kind in tables:
                print_table(tables[kind], caption=True)
        if note := ranking_note(measurements, exclusion=rule):
            tell(f"No ranking: {note}")
        if "agreement" in tables:
            tell(agreement_line(measurements, exclusion=rule))
        for kind in _AFTER:
            if kind in tables:
                print_table(tables[kind], caption=True)
    show_signatures((m.signature for m in measurements if verbose), verbose=verbose)
    next_line("report", str(run.path))
    print(run.path)


_AFTER = ("differences", "comparison", "head_to_head", "families", "agreement", "ratings", "jod", "tags", "faults")
"""Tables that a terminal shows after the ranking, in the order of the results page."""


_FORMATS = "csv, parquet (both hold everything), ratings, arena, pwcmp, dpo, label-studio, potato, fiftyone, or added."


@app.command("export")
@one_line_errors
def export(
    study: Name,
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The file to write.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="csv, parquet, jsonl (these hold everything), opinions, answers, ratings, arena, pwcmp, dpo, "
            "label-studio, potato or fiftyone.",
        ),
    ] = "csv",
    adjudicated: Annotated[
        bool, typer.Option(help="dpo: use adjudicators' decisions instead of the samples' votes.")
    ] = False,
    db: Db = DEFAULT_DB,
    as_json: Json = False,
) -> None:
    """Write the votes for other tools: the ratings CSV, everything as CSV or Parquet, arena, pwcmp, DPO pairs.

    Example: rushes study export takes --format parquet -o votes.parquet
    """
    from rushes.study.exchange.formats import FORMATS, export_study

    if form not in FORMATS:
        raise typer.BadParameter(f"expected {', '.join(FORMATS)}; got {form!r}", param_hint="--format")
    with open_studies(db) as service:
        made = export_study(service, study, out, form=form, adjudicated=adjudicated)
    if made.text:
        say(made.text)
    if made.root:
        say(f"paths in the file are relative to {made.root}")
    if made.decided and FORMATS[form].decisions and not adjudicated:
        many = f"{made.decided} sample has" if made.decided == 1 else f"{made.decided} samples have"
        say(f"{many} an adjudicator's decision, which this file ignores; --adjudicated uses it")
    data = {"study": study, "format": form, "votes": made.votes, "left_out": made.left_out}
    data |= {"left_out_reasons": dict(made.reasons), "decided": made.decided, "root": made.root, "file": str(out)}
    answer(as_json, data, str(out))


@app.command("validity")
@one_line_errors
def validity(
    study: Name,
    run: Annotated[list[Path], typer.Option("--run", help="A run of `rushes clip` that measured the study's clips.")],
    out: Out,
    confidence: Confidence = 0.95,
    overwrite: Overwrite = False,
    db: Db = DEFAULT_DB,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """How often does each clip metric pick the clip that people prefer? 0.5 is chance.

    Example: rushes study validity takes --run runs/model_a --run runs/model_b -o runs/validity
    """
    from rushes.instruments.preference.show.validity import validity as validity_table
    from rushes.study.evaluate import evaluate_validity

    with open_studies(db) as service:
        found = evaluate_validity(service, study, run, run=out, confidence=confidence, overwrite=overwrite)
    if as_json:
        _print_run(found)
        return
    measurements = found.measurements[found.subjects[0].id]
    print_table(validity_table(measurements), caption=True)
    show_signatures((m.signature for m in measurements), verbose=verbose)
    next_line("report", str(found.path))
    print(found.path)
