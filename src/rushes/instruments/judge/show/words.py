"""What to know before any number of a judge: whether it follows the prompt, and what else is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rushes.core import Measurement
from rushes.instruments.judge.answers import PROBLEMS
from rushes.instruments.judge.worth import Standing
from rushes.present.verdict.verdict import counted
from rushes.storage.runs import Entry, Run

_FAILED = (Standing.BLIND, Standing.UNCLEAR)
_NO_VERDICT = "Its answers show neither better nor worse."


def judge_of(run: Run) -> Entry | None:
    """The judge among a run's subjects; None in a run that is not finished."""
    found = [entry for entry in run.entries[-1:] if "standing" in entry.subject.facts]
    return found[0] if found else None


def judge_words(judge: Entry) -> list[str]:
    """Sentences, the most important first."""
    if _nothing_usable(judge):
        return [*_unanswered(judge), "No answer could be used."]
    return [
        *_standings(judge),
        *_instructions(judge),
        *_drift(judge),
        *_biases(judge),
        *_unanswered(judge),
        *_repeats(judge),
    ]


def _facts(judge: Entry) -> Any:
    return judge.subject.facts


def _numbers(judge: Entry, name: str, **where: str) -> list[Measurement]:
    def fits(m: Measurement) -> bool:
        return all((m.place.get(key) or m.definition.param(key)) == value for key, value in where.items())

    return [m for m in judge.measurements if m.name == name and fits(m)]


def _nothing_usable(judge: Entry) -> bool:
    shares = [float(m.value) for m in _numbers(judge, "judge_unanswered") if m.value is not None]
    return bool(shares) and abs(sum(shares) - len(shares) / 3) < 1e-9


def _standings(judge: Entry) -> Iterator[str]:
    rows = _facts(judge).get("standing", {})
    prompt = {name: Standing(row[1]) for name, row in rows.items() if row[0] == "prompt"}
    plants = {name: Standing(row[1]) for name, row in rows.items() if row[0] == "plants"}
    for name, standing in prompt.items():
        yield _prompt_words(judge, name, standing, named=len(prompt) > 1)
    yield from one_system_words(judge)
    for standing in Standing:
        if names := [name.replace("_", " ") for name, found in plants.items() if found is standing]:
            yield _plant_words(names, standing)


def _prompt_words(judge: Entry, name: str, standing: Standing, *, named: bool) -> str:
    which = f" ({name.replace('_', ' ')})" if named else ""
    found = _numbers(judge, "judge_control_wins", question=name)
    if standing is Standing.NONE or not found or found[0].value is None or found[0].interval is None:
        return f"Nothing shows whether this judge follows the prompt{which}: no control was answered. {_NO_VERDICT}"
    wins, ends = found[0], found[0].interval
    many, sure = counted(wins.count, "prompt"), f"{_percent(ends.low)} to {_percent(ends.high)}"
    rate = f"a clip's own prompt scores higher than another clip's for {_percent(wins.value)} of {many} ({sure})"
    if standing is Standing.SHOWN:
        return f"This judge follows the prompt{which}: {rate}."
    if standing is Standing.BLIND:
        return f"This judge is blind to the prompt{which}: {rate}, and chance is 50 %. {_NO_VERDICT}"
    return f"It is not clear whether this judge follows the prompt{which}: {rate}, not significantly. {_NO_VERDICT}"


def one_system_words(judge: Entry) -> Iterator[str]:
    """What a failed control of one system's clips may also mean: that these clips do not follow their prompts."""
    facts = _facts(judge)
    failed = any(row[0] == "prompt" and row[1] in _FAILED for row in facts.get("standing", {}).values())
    if failed and facts.get("systems") == 1:
        yield (
            "This control is of one system's clips: if they do not show what was asked for, a good judge fails it too. "
            "rushes judge with several systems in one command gives them one control."
        )


def _plant_words(names: list[str], standing: Standing) -> str:
    about = f"About {' and '.join(names)}"
    if standing is Standing.SHOWN:
        return f"{about} it sees planted blur, noise or shuffled frames."
    if standing is Standing.BLIND:
        return f"{about} it does not see planted blur, noise or shuffled frames. {_NO_VERDICT}"
    why = "none was planted" if standing is Standing.NONE else "too few clips, or too small an effect"
    return f"{about} nothing shows whether it sees degradations: {why}. {_NO_VERDICT}"


def _instructions(judge: Entry) -> Iterator[str]:
    facts = _facts(judge)
    for row in facts.get("instructions", ()):
        obeyed, many = row.get("unrelated_top", 0), counted(row.get("unrelated", 0), "unrelated clip")
        tried = f" With it, {obeyed} of {many} got the top mark." if row.get("unrelated") else ""
        verb = "was obeyed as an instruction" if obeyed else "reads like an instruction to the judge"
        yield f"The prompt {row['prompt_id']} {verb} (“{row['words']}”).{tried}"
    is_shown = any(row == ["prompt", Standing.SHOWN] for row in facts.get("standing", {}).values())
    if is_shown and (count := facts.get("top_count", 0)):
        names = ", ".join(facts["top_with_other_prompt"][:3])
        yield (
            f"{counted(count, 'clip')} got the top mark with another clip's prompt ({names}): "
            "look for text in the picture."
        )


def _drift(judge: Entry) -> Iterator[str]:
    versions = _facts(judge).get("versions", {})
    if len(versions) > 1:
        told = ", ".join(f"{name} answered {count}" for name, count in versions.items())
        yield f"The model changed in mid-run: {told}. Their numbers have different signatures and are not averaged."


def _biases(judge: Entry) -> Iterator[str]:
    for m in _numbers(judge, "judge_yes_bias"):
        if m.value is not None and (m.interval is None or not m.interval.low <= 0 <= m.interval.high) and m.value:
            said, word = _percent(0.5 + float(m.value)), "yes" if m.value > 0 else "no"
            shown = said if m.value > 0 else _percent(0.5 - float(m.value))
            yield f"It says {word} too often: to {shown} of questions and their negations, of which half are true."
    for m in _numbers(judge, "judge_first_share"):
        if m.value is not None and m.interval is not None and not m.interval.low <= 0.5 <= m.interval.high:
            side, share = ("first", float(m.value)) if m.value > 0.5 else ("second", 1 - float(m.value))
            yield f"It prefers the clip shown {side}: in {_percent(share)} of {m.count} decided answers."
    for m in _numbers(judge, "judge_order_flips"):
        if m.value:
            yield f"The order decides {_percent(m.value)} of {counted(m.count, 'pair')}."


def _unanswered(judge: Entry) -> Iterator[str]:
    for problem in PROBLEMS:
        found = [m for m in _numbers(judge, "judge_unanswered", problem=problem) if m.value]
        lost = round(sum(float(m.value or 0) * m.count for m in found))
        if lost:
            yield {
                "refused": f"It refused {counted(lost, 'request')}.",
                "unparsable": f"{counted(lost, 'answer')} could not be read.",
                "failed": f"{counted(lost, 'request')} failed.",
            }[problem]


def _repeats(judge: Entry) -> Iterator[str]:
    found = [m for m in _numbers(judge, "judge_repeat_changes") if m.value is not None]
    changed, every = sum(float(m.value or 0) * m.count for m in found), sum(m.count for m in found)
    if every and changed:
        yield f"It changes its answer in {_percent(changed / every)} of {counted(every, 'repeated question')}."
    elif every:
        yield f"It repeats its answers: {counted(every, 'question')} asked again, the same answers."


def _percent(share: float | int | bool | None) -> str:
    return f"{100 * float(share or 0):.0f} %"


def answer_text(row: Mapping[str, Any], systems: Sequence[str] = ()) -> str:
    """One answer as a page shows it: a grade, yes or no, the preferred of two `systems`; or why there is none.

    >>> [answer_text(row) for row in ({"value": 4.0}, {"value": 0.0, "text": "Is it red?"}, {"problem": "refused"})]
    ['4', 'no', 'refused']
    >>> [answer_text({"value": 1.0, "order": order}, ("amber", "birch")) for order in ("ab", "ba")]
    ['amber', 'birch']
    """
    if "value" not in row:
        return str(row["problem"])
    if "text" in row:
        return "yes" if row["value"] else "no"
    if "order" in row:
        first, second = systems if row["order"] == "ab" else reversed(systems)
        return {1.0: first, 0.0: second}.get(row["value"], "tie")
    return f"{row['value']:g}"
