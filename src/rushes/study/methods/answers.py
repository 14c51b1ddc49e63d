"""What is missing or not allowed in a rater's answer, by the rubric and by what the method asks for."""

from __future__ import annotations

from collections.abc import Mapping

from rushes.instruments.preference.methods.method import FAULTS, MOST_FAULTS, PAIRS, Method
from rushes.instruments.preference.rubric import Rubric
from rushes.instruments.preference.rules import scale_breaches, tag_breaches
from rushes.study.records import LONGEST_NOTE, Missing, VoteForm


def form_missing(
    form: VoteForm,
    family: str,
    book: Rubric,
    method: Method = PAIRS,
    *,
    shown: Mapping[str, int] | None = None,
    refused: tuple[str, ...] = (),
) -> list[Missing]:
    """What is missing or not allowed; nothing is rated on the sides that `refused`. `shown` has the clips' lengths in
    milliseconds by side: a fault lies within its clip."""
    lengths = shown or {"A": 0, "B": 0}
    found = [] if method.is_pairs else _answers_of_others(form, method)
    if method.is_pairs:
        found += _pair_missing(form, family, book, method)
    for side, ratings in (("a", form.ratings_a), ("b", form.ratings_b)):
        if method.is_pairs or (method.rates and side == method.rated_side.lower()):
            skipped = side in refused and not ratings
            found += [] if skipped else _ratings_missing(side, ratings, family, book, method)
    if method.name == "best-worst":
        found += _extremes_missing(form, lengths)
    found += _faults_missing(form, book.tags_for(family) or FAULTS, lengths)
    return found + _note_missing(form)


def _pair_missing(form: VoteForm, family: str, book: Rubric, method: Method) -> list[Missing]:
    choices = ("A", "B", "Tie") if method.tie else ("A", "B")
    degrees = range(1, method.degree + 1) if form.winner != "Tie" and method.degree else (None,)
    message = ""
    if form.winner not in choices:
        message = f"Choose {'A, B or Tie' if method.tie else 'A or B'}."
    elif form.degree not in degrees:
        message = "Choose how much better the clip is, on the scale of seven points."
    found = [Missing(field="winner", message=message)] if message else []
    return found + tags_missing(form, family, book)


def _answers_of_others(form: VoteForm, method: Method) -> list[Missing]:
    """Answers that this method does not ask for."""
    odd = form.winner is not None or form.degree is not None or bool(form.primary_tag or form.secondary_tags)
    odd = odd or (method.rates and (form.best or form.worst) is not None)
    odd = odd or bool(form.ratings_a if method.rated_side == "B" or not method.rates else form.ratings_b)
    return [Missing(field="assignment", message="This form belongs to another kind of study; reload the page.")] * odd


def _extremes_missing(form: VoteForm, sides: Mapping[str, int]) -> list[Missing]:
    found = [
        Missing(field=name, message=f"Choose the {name} clip.")
        for name, side in (("best", form.best), ("worst", form.worst))
        if side not in sides
    ]
    if not found and form.best == form.worst:
        found.append(Missing(field="worst", message="The best and the worst are two different clips."))
    return found


def _faults_missing(form: VoteForm, tags: tuple[str, ...], lengths: Mapping[str, int]) -> list[Missing]:
    """One line where a mark is none: of a clip that is not shown, beyond its end, or with a tag that is not offered."""
    odd = [one for one in form.faults if one.clip not in lengths or one.tag not in tags or not 0 <= one.ms]
    odd += [one for one in form.faults if one.clip in lengths and one.ms > lengths[one.clip] + 1000]
    if not odd and len(form.faults) <= MOST_FAULTS:
        return []
    return [Missing(field="faults", message=f"Mark at most {MOST_FAULTS} faults, each within its clip and with a tag.")]


def _note_missing(form: VoteForm) -> list[Missing]:
    found = []
    if len(form.note) > LONGEST_NOTE:
        message = f"Keep the note under {LONGEST_NOTE} characters; it has {len(form.note)}."
        found.append(Missing(field="note", message=message))
    if "\0" in form.note:  # PostgreSQL cannot keep it, and no CSV with it can be read back
        found.append(Missing(field="note", message="Remove the NUL character from the note."))
    return found


def tags_missing(form: VoteForm, family: str, book: Rubric) -> list[Missing]:
    """What is missing or not allowed among the reason tags of an answer, a rater's or an adjudicator's."""
    tie = form.winner == "Tie"
    found = tag_breaches(form.primary_tag or "", form.secondary_tags, family=family, tie=tie, book=book)
    return [Missing(field=one.field, message=one.message) for one in found]


def _ratings_missing(side: str, ratings: Mapping[str, int], family: str, book: Rubric, method: Method) -> list[Missing]:
    found, low, high = [], method.lowest, method.highest
    offered = {dimension.key: dimension.label for dimension in book.dimensions_for(family)}
    for name, label in offered.items():
        value = ratings.get(name)
        whole = isinstance(value, int) and not isinstance(value, bool)
        if not whole or not low <= value <= high:  # type: ignore[operator]
            message = f"Rate clip {side.upper()} for {label}, {low} to {high}."
            found.append(Missing(field=f"ratings_{side}.{name}", message=message))
    strange = scale_breaches(ratings, family=family, book=book)
    return found + [Missing(field=f"ratings_{side}.{one.field}", message=one.message) for one in strange]
