"""What a run will ask for, before anything is sent: calls, tokens, and the cost at the user's prices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rushes.core.errors import InputError
from rushes.core.words.options import option
from rushes.instruments.judge.asking.requests import Ask, Method

_LETTERS_PER_TOKEN = 4
_PATCH = 28
"""Pixels to a side of what one token shows of a picture, as in Qwen2-VL; models differ by a factor of three."""
_ANSWER = 60
"""Tokens of an answer with its reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """How much will be sent. Tokens are a rough guess; the run counts what the endpoint reports."""

    calls: int
    clips: int
    pictures: int
    """Frames in all requests together: each request sends its clip's frames again."""
    tokens_in: int
    tokens_out: int
    destination: str = ""
    price_in: float | None = None
    """Per million tokens, in the user's currency."""
    price_out: float | None = None

    @property
    def cost(self) -> float | None:
        if self.price_in is None and self.price_out is None:
            return None
        return (self.tokens_in * (self.price_in or 0.0) + self.tokens_out * (self.price_out or 0.0)) / 1e6

    def as_dict(self) -> dict[str, object]:
        found: dict[str, object] = {name: getattr(self, name) for name in self.__slots__}
        return found | {"cost": self.cost}

    @property
    def text(self) -> str:
        """In one line.

        >>> Estimate(calls=12, clips=3, pictures=96, tokens_in=20000, tokens_out=720, price_in=2.0, price_out=8.0).text
        '12 calls about 3 clips, 96 frames, about 20,000 tokens in and 720 out, about 0.046 at the prices given'
        """
        cost = "" if self.cost is None else f", about {self.cost:.2g} at the prices given"
        frames = f"{self.pictures:,} frames, about {self.tokens_in:,} tokens in and {self.tokens_out:,} out"
        return f"{_counted(self.calls, 'call')} about {_counted(self.clips, 'clip')}, {frames}{cost}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def estimated(
    asks: Sequence[Ask],
    method: Method,
    *,
    destination: str = "",
    price_in: float | None = None,
    price_out: float | None = None,
) -> Estimate:
    """Of these requests, none of which has been answered."""
    pictures = method.frames * sum(len(ask.views) for ask in asks)
    per_picture = method.side * method.side * 9 // 16 // _PATCH**2
    letters = sum(ask.letters + len(method.system) for ask in asks)
    return Estimate(
        calls=len(asks),
        clips=len({view.path for ask in asks for view in ask.views}),
        pictures=pictures,
        tokens_in=pictures * per_picture + letters // _LETTERS_PER_TOKEN,
        tokens_out=_ANSWER * len(asks),
        destination=destination,
        price_in=price_in,
        price_out=price_out,
    )


def check_budget(budget: str | int | None, plan: Estimate) -> None:
    """Refuse a plan over the budget: a number of calls, "2000000tokens", or "5cost" at the prices given."""
    if budget is None:
        return
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(calls|tokens|cost)?", str(budget).strip().replace(",", ""))
    if not found:
        raise InputError(f"{option('--budget')} is 1000 or 1000calls, 2000000tokens or 5cost; got {budget!r}")
    most, unit = float(found[1]), found[2] or "calls"
    if unit == "cost" and plan.cost is None:
        raise InputError(f"{option('--budget')} in cost needs {option('--price-in')} and {option('--price-out')}")
    needs = {"calls": plan.calls, "tokens": plan.tokens_in + plan.tokens_out, "cost": plan.cost or 0.0}[unit]
    if needs > most:
        raise InputError(
            f"the run needs {needs:,.6g} {unit} and the budget is {most:,.6g}; "
            f"lower {option('--repeats')}, {option('--control')} or the number of clips, or raise {option('--budget')}"
        )
