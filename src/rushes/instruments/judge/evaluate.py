"""`rushes judge` in Python: clips and their prompts into a run, with what the judge is worth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rushes.core import Measurement
from rushes.core.answer import Answer, told
from rushes.core.canonical import canonical_json
from rushes.core.errors import InputError
from rushes.core.machine.files import Paths, locked_folder
from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import bytes_digest
from rushes.core.prompts import Prompt, read_prompts
from rushes.core.words.options import option
from rushes.instruments.judge import templates
from rushes.instruments.judge.asking.answer_log import FILE, AnswerLog
from rushes.instruments.judge.asking.answerers import Limits, named_answerer
from rushes.instruments.judge.asking.estimate import Estimate, check_budget, estimated
from rushes.instruments.judge.asking.pool import ask_all
from rushes.instruments.judge.asking.requests import Ask, Method, Replies
from rushes.instruments.judge.clips import Systems, judged_clips, named_systems
from rushes.instruments.judge.forms.judge_subject import judge_entry
from rushes.instruments.judge.forms.pairs import Pairs
from rushes.instruments.judge.forms.setup import JUDGE, Form, Setup
from rushes.instruments.judge.plan import FormName, Plan
from rushes.instruments.judge.prompt_questions import (
    write_prompt_questions,
)
from rushes.storage.remote.address import is_remote
from rushes.storage.runs import Entry, Run, RunWriter, read_run, subject_ids
from rushes.workers.job import Job

QUESTIONS = "questions.csv"
"""The table of questions in a run whose judge made them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(Answer):
    """What a judge said, and what it is worth. `runs` is one run, or for several systems one of each."""

    __repr__ = told

    runs: tuple[Run, ...]
    estimate: Estimate
    """What was to be asked, before it was."""

    @property
    def run(self) -> Run:
        """The only run, or the first system's."""
        return self.runs[0]

    @property
    def judge(self) -> Entry:
        """The judge as a subject: its numbers say what it is worth."""
        return self.run.entries[-1]

    @property
    def summary(self) -> str:
        """What the judge is worth, in one sentence."""
        return self.words[0] if self.words else self.run.summary

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know before any number."""
        return self.words[1:]

    def _items(self) -> tuple[Entry, ...]:
        return tuple(entry for run in self.runs for entry in run.entries[:-1])

    def _rows(self) -> list[Mapping[str, object]]:
        several = len(self.runs) > 1
        system = [{"system": Path(run.place).name} if several else {} for run in self.runs]
        return [head | dict(row) for head, run in zip(system, self.runs, strict=True) for row in run._rows()[:-1]]

    @property
    def words(self) -> tuple[str, ...]:
        """What to know before any number: "This judge follows the prompt: …"."""
        from rushes.instruments.judge.show.words import judge_words

        return tuple(judge_words(self.judge))

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What the judge is worth, in numbers."""
        return self.judge.measurements


def judge_clips(
    clips: Paths | Systems,
    *,
    judge: str | Callable[..., Any],
    prompts: str | Path | Sequence[Prompt] | None = None,
    form: FormName = "graded",
    questions: str | Path | None = None,
    per_prompt: int = 5,
    frames: int = 8,
    side: int = 512,
    temperature: float = 0.0,
    repeats: int = 2,
    control: int | None = None,
    plant: int = 0,
    run: Path | str | None = None,
    parallel: int = 8,
    timeout: float = 120.0,
    attempts: int = 5,
    price_in: float | None = None,
    price_out: float | None = None,
    budget: str | int | None = None,
    record: str | Path | None = None,
    yes: bool = False,
    confirm: Callable[[Estimate], bool] | None = None,
    plan: Callable[[Estimate], None] = lambda estimate: None,
    overwrite: bool = False,
    progress: Progress = no_progress,
    warn: Callable[[str], None] = lambda line: None,
) -> Judged:
    """Ask a judge about clips and their prompts, and measure the judge in the same run.

        rushes.judge("out/amber", prompts="prompts.csv", judge="openai:http://localhost:8000/v1#qwen2.5-vl")

    Args:
        clips: a folder, a pattern or several, or systems as {name: folder}.
        judge: openai:URL#MODEL, "command:CMD {request}", python:MODULE:FUNCTION, replay:FILE, or a function.
        prompts: a CSV file with prompt_id and prompt_text, or `Prompt`s; clips are called by prompt_id.
        form: "graded" (the default), 1 to 5 per clip; "pairs" of systems, in both orders; "questions" made from the
            prompt, answered with yes or no.
        questions: a file of your own questions; by default ours for the form.
        per_prompt: questions that the judge makes per prompt; 5 by default.
        frames: frames of a clip that the judge sees; 8 by default.
        side: longer side of a frame in pixels; 512 by default.
        temperature: of the model; 0.0 by default.
        repeats: how often each question is asked; 2 by default.
        control: clips that are also asked about with another clip's prompt; by default all, 0 for none.
        plant: clips of which blurred, noisy and shuffled copies are asked about; 0 by default.
        run: the run directory, for several systems one run below it each; by default one under `runs/`.
        parallel: requests at a time; 8 by default.
        timeout: seconds that an answer may take; 120.0 by default.
        attempts: how often a busy, late or broken endpoint is asked; 5 by default.
        price_in, price_out: of a million tokens sent and received, for the plan's cost; unknown by default.
        budget: stop before asking for more: 1000 (calls), "2000000tokens" or "5cost"; no limit by default.
        record: a file that answers are also written to, for replay:FILE.
        yes: send frames to a host that is not this machine without asking.
        confirm: called with the plan, to allow that instead.
        plan: called with the plan before anything is asked; it may raise.
        overwrite: replace a run of something else.
        progress, warn: called while it works.

    Returns:
        `Judged`: a run, or one per system for graded questions about several. The judge's own numbers are its last
        subject. An answer that is refused or cannot be read is no number; one that was given is never asked for again.

    Raises:
        InputError: the plan is over `budget`, nobody confirmed the host, or the judge answers nothing.
    """
    answerer = named_answerer(judge, Limits(timeout=timeout, attempts=attempts))
    systems = named_systems(clips)
    declared = read_prompts(prompts) if isinstance(prompts, (str, Path)) else prompts
    method = Method(system=templates.SYSTEM, frames=frames, side=side, temperature=float(temperature))
    setup = Setup(
        clips=judged_clips(systems, declared, warn=warn),
        judge=answerer.describe(),
        method=method,
        repeats=repeats,
        control=control,
        plant=plant,
    )
    _check(form, setup, systems, has_prompts=declared is not None)
    target = _target(run, form, setup, questions)
    asking = Plan(setup=setup, form=form, questions=questions, per_prompt=per_prompt)
    left = asking.left(target, overwrite=overwrite)
    estimate = estimated(left, method, destination=answerer.destination, price_in=price_in, price_out=price_out)
    plan(estimate)
    check_budget(budget, estimate)
    _consent(estimate, yes=yes, confirm=confirm)
    several = len(systems) > 1 and form != "pairs"
    with ExitStack() as held:
        writers = _writers(target, asking, systems, several=several, overwrite=overwrite, held=held)
        if overwrite:
            (target / FILE).unlink(missing_ok=True)
        log = held.enter_context(AnswerLog(target / FILE, setup.judge))

        def ask(asks: Sequence[Ask]) -> Replies:
            return ask_all(asks, answerer, log, method=method, parallel=parallel, progress=progress)

        made = asking.made(ask)
        if made is not None and questions is None:
            write_prompt_questions(target / QUESTIONS, made)
        asked = asking.form_of(made)
        asks = [*asking.makes(), *asked.asks()]  # those that made the questions have their answers, and are counted
        replies = ask(asks)
        if record is not None:
            log.record(Path(record), setup.judge, (one.digest(setup.judge, method) for one in asks))
        _write(writers, asked, replies, setup)
    return Judged(runs=tuple(read_run(writer.path) for writer in writers.values()), estimate=estimate)


def measure(job: Job) -> None:
    """One system of a suite, with a control of its own: where it fails, the output has what that may mean."""
    from rushes.instruments.judge.show.words import one_system_words

    settings = {key: job.settings[key] for key in job.settings}
    done = judge_clips(
        job.clips, run=job.out, overwrite=job.overwrite, progress=job.progress, warn=job.warn, **settings
    )
    for line in one_system_words(done.judge):
        job.warn(f"{job.clips}: {line}")


def _check(form: FormName, setup: Setup, systems: Mapping[str, object], *, has_prompts: bool) -> None:
    if form == "questions" and not has_prompts:
        raise InputError(f"questions are made from prompts; add {option('--prompts FILE')}")
    if form == "pairs" and len(systems) < 2:
        raise InputError("pairs need two systems or more, such as amber=out/amber birch=out/birch")
    if form == "pairs" and len({clip.id for clip in setup.clips}) == len(setup.clips):
        raise InputError("no two systems have a clip of the same name; pairs are matched by name")
    if empty := [clip.prompt.id for clip in setup.clips if clip.prompt and not clip.prompt.text]:
        raise InputError(f"prompt {empty[0]} has no text; expected a column prompt_text")
    numbers = {"repeats": setup.repeats, "frames": setup.method.frames, "side": setup.method.side}
    for name, number in numbers.items():
        if number < 1:
            raise InputError(f"--{name} is 1 or more; got {number}")
    if setup.plant and setup.method.frames < 3:
        raise InputError(f"{option('--plant')} needs 3 frames or more, to shuffle them")


def _target(run: Path | str | None, form: str, setup: Setup, questions: object) -> Path:
    if run is not None:
        if is_remote(str(run)):
            raise InputError(f"{run}: a judge's run is written to a local folder; copy it to a bucket afterwards")
        return Path(run)
    asked = [dict(setup.judge), form, str(questions), [clip.path for clip in setup.clips]]
    return Path("runs") / f"judge-{bytes_digest(canonical_json(asked).encode())[:8]}"


def _consent(estimate: Estimate, *, yes: bool, confirm: Callable[[Estimate], bool] | None) -> None:
    """Frames leave this machine only where somebody said so."""
    if not estimate.destination or not estimate.calls or yes:
        return
    if confirm is None or not confirm(estimate):
        raise InputError(
            f"frames of {estimate.clips} clips would be sent to {estimate.destination}; nothing was sent. "
            f"To agree, give {option('--yes')}"
        )


def _writers(
    target: Path, plan: Plan, systems: Mapping[str, Sequence[str]], *, several: bool, overwrite: bool, held: ExitStack
) -> dict[str, RunWriter]:
    """The run, or by system one each."""
    if several:
        held.enter_context(locked_folder(target))
    found: dict[str, RunWriter] = {}
    for name in systems if several else [""]:
        clips = [clip.path for clip in plan.setup.clips if not several or clip.system == name]
        asked = list(systems[name]) if several else [place for places in systems.values() for place in places]
        settings = plan.settings() | ({"system": name} if several else {})
        writer = RunWriter(
            target / name, instrument="judge", settings=settings, inputs=clips, asked=asked, overwrite=overwrite
        )
        found[name] = held.enter_context(writer)
    return found


def _write(writers: Mapping[str, RunWriter], form: Form, replies: Replies, setup: Setup) -> None:
    entries = form.entries(replies)
    numbers, standings = form.judge_numbers(replies), form.standings(replies)
    several = len(writers) > 1
    of_clip = [clip.system for clip in setup.clips] if several else [""] * len(entries)
    for name, writer in writers.items():
        mine = [entry for entry, system in zip(entries, of_clip, strict=True) if system == name]
        *ids, judge_id = subject_ids([*(entry.subject.id for entry in mine), JUDGE])
        kind: Literal["set", "study"] = "study" if isinstance(form, Pairs) else "set"
        last = judge_entry(judge_id, kind, setup, replies, numbers, standings, form.texts)
        for entry in (*mine, last):
            writer.add(entry)
        writer.finish([*(entry.subject.id for entry in mine), judge_id])
