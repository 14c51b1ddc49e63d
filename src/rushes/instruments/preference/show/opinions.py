"""Tables of opinion scores, best–worst answers, comparison scores and marked faults."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rushes.core import Interval, Measurement
from rushes.core.selection import keys_of
from rushes.core.table import COUNT, INTERVAL, NUMBER, TEXT, Cell, Table, interval_cell, number
from rushes.instruments.preference.methods.method import method
from rushes.instruments.preference.methods.questions import QUESTIONS
from rushes.instruments.preference.numbers.conditions import NO_RULE
from rushes.instruments.preference.show.cells import (
    by_place,
    interval_words,
    raw_numbers,
    ruled_title,
    strength,
    with_interval,
)


def scored(measurements: Iterable[Measurement], *, exclusion: str = NO_RULE, question: str = "") -> list[Measurement]:
    """The systems' opinion scores on one question, best first: overall quality, or the first that was asked."""
    every = raw_numbers(measurements, "mos", exclusion)
    asked = question or next(iter(sorted((m.place["question"] for m in every), key=lambda key: key != "overall")), "")
    found = [m for m in every if m.place["question"] == asked]
    return sorted(found, key=lambda m: (-strength(m), m.place["system"]))


def score_ranks(measurements: Iterable[Measurement], *, exclusion: str = NO_RULE) -> dict[str, Interval]:
    """By system: the ranks that the ratings on the main question leave open; the reference has none."""
    ranks = _main_ranks(measurements, exclusion)
    return {m.place["system"]: m.interval for m in ranks if m.interval is not None}


def rank_numbers(measurements: Iterable[Measurement], *, exclusion: str = NO_RULE) -> dict[str, float]:
    """By system: its rank on the main question; equal systems share one."""
    return {m.place["system"]: float(m.value) for m in _main_ranks(measurements, exclusion) if m.value is not None}


def _main_ranks(measurements: Iterable[Measurement], exclusion: str) -> list[Measurement]:
    given = list(measurements)
    first = scored(given, exclusion=exclusion)
    asked = first[0].place["question"] if first else ""
    return [m for m in raw_numbers(given, "mos_rank", exclusion) if m.place["question"] == asked]


def scale_words(measurement: Measurement) -> str:
    """ "of 5" for a five-point scale."""
    return f"of {method(keys_of(measurement)['method']).highest}"


def _by_question(found: Iterable[Measurement]) -> dict[tuple[str, str], Measurement]:
    return {(m.place["question"], m.place["system"]): m for m in found}


def question_label(key: str) -> str:
    return QUESTIONS[key].label if key in QUESTIONS else key.replace("_", " ")


def scores(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per question and system, best first."""
    every = raw_numbers(measurements, "mos", exclusion)
    questions = sorted(dict.fromkeys(m.place["question"] for m in every), key=lambda key: key != "overall")
    found = [m for key in questions for m in scored(measurements, exclusion=exclusion, question=key)]
    ranks, differences = (_by_question(raw_numbers(measurements, name, exclusion)) for name in ("mos_rank", "dmos"))
    removed = raw_numbers(measurements, "mos_bias_removed", exclusion)
    unbiased = _by_question(m for m in removed if keys_of(m)["weights"] == "equal")
    unbiased |= _by_question(m for m in removed if keys_of(m)["weights"] != "equal" and m.value is not None)
    hidden, several = bool(differences), len(questions) > 1
    rows = [
        (
            number(rank := ranks.get(key := (m.place["question"], m.place["system"]))),
            Cell(m.place["system"]),
            *((Cell(question_label(m.place["question"])),) if several else ()),
            number(m),
            interval_cell(m),
            interval_cell(rank),
            *((with_interval(differences.get(key)),) if hidden else ()),
            number(unbiased.get(key)),
            Cell(str(m.count)),
        )
        for m in found
    ]
    return Table(
        title=ruled_title("Mean opinion scores", exclusion),
        columns=(
            *(*NUMBER("rank"), *TEXT("system", *["question"] * several)),
            *(*NUMBER("MOS ↑"), *INTERVAL("MOS interval", "possible ranks")),
            *(*NUMBER(*["DMOS ↑"] * hidden, "bias removed ↑"), *COUNT("ratings")),
        ),
        rows=rows,
        caption=f"Means {scale_words(found[0])} points. {interval_words(found)} Bias removed: the scores after every "
        "rater's leaning is taken out (ITU-T P.913), inconsistent raters weighted down if there are enough."
        + (" DMOS: difference from the hidden reference; the top of the scale is as good as it." if hidden else "")
        if found
        else "",
    )


def differences(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per question and two systems: how much higher the first was rated."""
    found = raw_numbers(measurements, "mos_difference", exclusion)
    rows = [
        (
            Cell(m.place["system"]),
            Cell(m.place["against"]),
            number(m),
            interval_cell(m),
            Cell(question_label(m.place["question"])),
        )
        for m in found
    ]
    return Table(
        title=ruled_title("Differences between systems", exclusion),
        columns=(
            *(*TEXT("system", "against"), *NUMBER("difference ↑"), *INTERVAL("difference interval"), *TEXT("question")),
        ),
        rows=rows,
        caption=f"{interval_words(found)} What a rater or a prompt adds to both systems cancels.",
    )


def clip_scores(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per question and prompt, one column per system."""
    found = raw_numbers(measurements, "clip_mos", exclusion)
    cells = {(m.place["question"], m.place["prompt"], m.place["system"]): m for m in found}
    systems = sorted({system for *_, system in cells})
    rows = [
        (
            Cell(prompt),
            *(with_interval(cells.get((question, prompt, system))) for system in systems),
            Cell(question_label(question)),
        )
        for question, prompt in dict.fromkeys((question, prompt) for question, prompt, _ in cells)
    ]
    return Table(
        title=ruled_title("Every clip", exclusion),
        columns=(*TEXT("prompt"), *NUMBER(*(f"{system} ↑" for system in systems)), *TEXT("question")),
        rows=rows,
        caption=f"Mean opinion score of each clip. {interval_words(found)}",
    )


def rater_scores(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per question and rater: how high and how consistently they rate."""
    bias = raw_numbers(measurements, "rater_bias", exclusion)
    scatter = {
        (m.place["question"], m.place["rater"]): m for m in raw_numbers(measurements, "rater_inconsistency", exclusion)
    }
    rows = [
        (
            Cell(m.place["rater"]),
            number(m),
            number(scatter.get((m.place["question"], m.place["rater"]))),
            Cell(str(m.count)),
            Cell(question_label(m.place["question"])),
        )
        for m in bias
    ]
    return Table(
        title=ruled_title("Raters' bias and consistency", exclusion),
        columns=(*TEXT("rater"), *NUMBER("bias", "inconsistency ↓"), *COUNT("ratings"), *TEXT("question")),
        rows=rows,
        caption="Bias: how much higher than the others a rater rates. Inconsistency: how far their ratings scatter.",
    )


def best_worst(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per system: best minus worst, over the times it was shown."""
    found = sorted(
        raw_numbers(measurements, "best_worst_score", exclusion), key=lambda m: (-strength(m), m.place["system"])
    )
    return Table(
        title=ruled_title("Best–worst score", exclusion),
        columns=(*TEXT("system"), *NUMBER("score ↑"), *INTERVAL("score interval"), *COUNT("times shown")),
        rows=[(Cell(m.place["system"]), number(m), interval_cell(m), Cell(str(m.count))) for m in found],
        caption=f"Times best minus times worst, over the times shown. {interval_words(found)}",
    )


def comparison(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per system, one column per opponent: how much better it was found."""
    found = raw_numbers(measurements, "cmos", exclusion)
    cells = {(m.place["system"], m.place["against"]): m for m in found}
    systems = sorted({system for system, _ in cells})
    rows = [
        (Cell(one), *(Cell("") if one == other else with_interval(cells.get((one, other))) for other in systems))
        for one in systems
    ]
    return Table(
        title=ruled_title("Comparison scores", exclusion),
        columns=(*TEXT("system"), *NUMBER(*(f"against {system}" for system in systems))),
        rows=rows,
        caption=f"How much better the system of the row is, −3 to 3. {interval_words(found)}",
    )


def faults(measurements: Sequence[Measurement], *, exclusion: str = NO_RULE) -> Table:
    """One row per fault, one column per system: how often it was marked."""
    found = raw_numbers(measurements, "fault_count", exclusion)
    systems = sorted({m.place["system"] for m in found})
    rows = []
    for tag in dict.fromkeys(m.place["tag"] for m in found):
        marked = by_place([m for m in found if m.place["tag"] == tag], "system")
        rows.append((Cell(tag), *(number(marked.get(system)) for system in systems)))
    return Table(
        title=ruled_title("Marked faults", exclusion),
        columns=(*TEXT("fault"), *COUNT(*systems)),
        rows=rows,
        caption="How often raters marked the fault in the system's clips. The study's Faults page shows the times.",
    )
