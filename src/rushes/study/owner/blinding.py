"""Disagreements as an adjudicator may see them: clips A and B, and no system's name before the decision.

Which clip is A follows from the clips' random tokens, so it differs from sample to sample and cannot be worked out from
the systems' names. Samples have a key in place of their id, because with three systems the id names two of them.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import asdict, dataclass

from rushes.instruments.preference.methods.judgements import Judgement
from rushes.instruments.preference.methods.method import CLIPS, Method
from rushes.study.errors import StudyError
from rushes.study.owner.clips_to_watch import DividedTrial
from rushes.study.records import Choice
from rushes.study.status import STATE_TEXTS, Disagreement

_NONCE = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindSides:
    """Which system stands where in one disagreement."""

    a: str
    b: str
    swapped: bool

    def letter(self, system: str) -> Choice:
        return "Tie" if system == "Tie" else "A" if system == self.a else "B"

    def system(self, choice: str) -> str:
        """`StudyError` for anything but A, B and Tie."""
        found = {"A": self.a, "B": self.b, "Tie": "Tie"}.get(choice)
        if found is None:
            raise StudyError(f"the winner is A, B or Tie; got {choice[:40]!r}")
        return found


def sides(item: Disagreement) -> BlindSides:
    named = (item.media_a, item.system_a), (item.media_b, item.system_b)
    one, other = (_digest(media or _digest(system, item.sample), "") for media, system in named)
    swapped = one > other
    a, b = (item.system_b, item.system_a) if swapped else (item.system_a, item.system_b)
    return BlindSides(a=a, b=b, swapped=swapped)


def key_of(item: Disagreement) -> str:
    """A name for the sample that tells nothing."""
    return _digest(item.sample, item.media_a, item.media_b)[:_NONCE]


_KEY = secrets.token_bytes(32)
_MARK = "~"
"""What an alias begins with, and no token does."""


def alias(token: str, item: Disagreement) -> str:
    """A clip's token, hidden under a key of this process and of the pair; `behind` gives it back."""
    return _alias(token, key_of(item))


def _alias(token: str, nonce: str) -> str:
    return f"{_MARK}{nonce}{_masked(token.encode(), nonce).hex()}"


def behind(text: str) -> str:
    """The token of an alias; any other text as it is."""
    nonce, hidden = text[len(_MARK) : len(_MARK) + _NONCE], text[len(_MARK) + _NONCE :]
    if not text.startswith(_MARK) or not hidden or len(hidden) > 2 * hashlib.sha512().digest_size:
        return text
    try:
        return _masked(bytes.fromhex(hidden), nonce).decode("ascii")
    except ValueError:
        return text


def _masked(content: bytes, nonce: str) -> bytes:
    stream = hmac.new(_KEY, nonce.encode(), hashlib.sha512).digest()
    return bytes(one ^ other for one, other in zip(content, stream, strict=False))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def title_of(item: Disagreement) -> str:
    """The sample's id without the systems that a study of three adds to it."""
    return item.sample.removesuffix(f".{item.system_a}~{item.system_b}")


def is_settled(item: Disagreement) -> bool:
    return item.state in ("majority", "adjudicated")


def blind_data(item: Disagreement, *, named_if_settled: bool = True) -> dict[str, object]:
    """A disagreement as plain data; systems are named once it is settled, and never to an adjudicator: one name would
    tell the clips of pairs that are still to be decided.

    A clip's address is one of this pair alone (`alias`), so that the same clip in two pairs cannot be recognised by it.
    """
    where, told = sides(item), named_if_settled and is_settled(item)
    clips = [(item.system_a, item.media_a, item.refused_a), (item.system_b, item.media_b, item.refused_b)]

    def named(system: str) -> str:
        letter = where.letter(system)
        return letter if letter == "Tie" or not told else f"{letter} · {system}"

    return {
        "sample": item.sample if told else title_of(item),
        "key": key_of(item),
        "family": item.family,
        "prompt": item.prompt,
        "state": item.state,
        "state_text": STATE_TEXTS[item.state],
        "clips": [
            {
                "label": named(system),
                "address": f"/media/{alias(token, item)}" if token and not refused else "",
                "refused": refused,
            }
            for system, token, refused in (reversed(clips) if where.swapped else clips)
        ],
        "opinions": [asdict(opinion) | {"winner": named(opinion.winner)} for opinion in item.opinions],
        "suggestion": None if item.suggestion is None else named(item.suggestion),
        "suggestion_why": item.suggestion_why,
        "adjudicated": None if item.adjudicated is None else named(item.adjudicated),
        "by": item.by,
        "remark": item.remark,
    }


def divided_data(item: DividedTrial, asked: Method, *, named: bool) -> dict[str, object]:
    """A clip or set whose raters differ, as plain data; without `named`, clips of a set are A to E, in the order of
    their random tokens, and nothing says which system made them."""
    clips = item.clips if named else tuple(sorted(item.clips, key=lambda clip: clip.token))
    letters = ("The clip",) if len(clips) == 1 else CLIPS.upper()
    labels = {clip.system: clip.system if named else letter for clip, letter in zip(clips, letters, strict=False)}
    nonce = _digest(item.sample, *sorted(clip.token for clip in clips))[:_NONCE]
    addresses = [f"/media/{_alias(clip.token, nonce)}" if clip.token else "" for clip in clips]
    return {
        "sample": item.sample if named else "",
        "family": item.family,
        "prompt": item.prompt,
        "clips": [
            {"label": labels[clip.system], "address": address} for clip, address in zip(clips, addresses, strict=True)
        ],
        "answers": [_answer_data(one, asked, labels) for one in item.answers],
    }


def _answer_data(one: Judgement, asked: Method, labels: dict[str, str]) -> dict[str, object]:
    words = asked.words() if asked.rates else {}
    ratings = [f"{score} {words[score]}".strip() for score in one.ratings.values()]
    marks = [
        {"label": labels[fault.clip], "ms": fault.ms, "seconds": f"{fault.ms / 1000:.2f} s", "tag": fault.tag}
        for fault in one.faults
        if fault.clip in labels
    ]
    return {
        "rater": one.rater,
        "ratings": dict(zip(one.ratings, ratings, strict=True)),
        "best": labels.get(one.best, ""),
        "worst": labels.get(one.worst, ""),
        "marks": marks,
        "note": one.note,
    }
