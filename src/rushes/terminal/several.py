"""Options that take several words after one name: `--metric fvd kvd`, `--k 5 10 20`.

The parser underneath knows only `--metric fvd --metric kvd`. A command of this class repeats the name before each
further word. An option that may be given several times takes words until the next option, as long as they are of its
kind (a choice, a number) and enough are left for the command's arguments.

    app.command("score", cls=several_words({"--k": str.isdecimal}))(score)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from typer.core import TyperCommand

Kinds: TypeAlias = Mapping[str, Callable[[str], object]]
"""Whether a word can be a value of the option, by the option's name; an option that is not named takes any word."""


def several_words(kinds: Kinds) -> type[TyperCommand]:
    """A class of command whose repeatable options take several words after one name."""

    class SeveralWords(TyperCommand):
        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            options: list[Any] = [param for param in self.params if param.param_type_name == "option"]
            repeatable = {name for option in options if option.multiple for name in option.opts}
            valued = {name for option in options if not (option.multiple or option.is_flag) for name in option.opts}
            arguments = sum(param.nargs for param in self.params if param not in options and param.nargs > 0)
            many = {name: kinds.get(name, bool) for name in repeatable}
            return super().parse_args(ctx, repeat_names(args, many=many, valued=valued, arguments=arguments))

    return SeveralWords


@dataclass(slots=True)
class _Run:
    """An option's name and the words after it."""

    name: str
    words: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    """What follows and is not the option's."""


def repeat_names(args: Sequence[str], *, many: Kinds, valued: set[str], arguments: int) -> list[str]:
    """Repeat an option's name before each further word of its own; commas part words too.

    `many` are the options that take several words, `valued` those that take one, `arguments` how many the command has.

    >>> words = {"fvd", "kvd"}.__contains__
    >>> repeat_names(["--metric", "fvd", "kvd", "gen", "gt"], many={"--metric": words}, valued=set(), arguments=2)
    ['--metric', 'fvd', '--metric', 'kvd', 'gen', 'gt']
    >>> repeat_names(["--weights", "a", "b", "gen", "gt"], many={"--weights": bool}, valued=set(), arguments=2)
    ['--weights', 'a', '--weights', 'b', 'gen', 'gt']
    """
    before, runs, free = _take_apart(args, many, valued)
    for run in reversed(runs):  # words that the command's arguments still lack are theirs, from the end
        while free < arguments and len(run.words) > 1:
            run.after.insert(0, run.words.pop())
            free += 1
    spread = list(before)
    for run in runs:
        for word in run.words:
            spread += [part for piece in _pieces(word, many[run.name]) for part in (run.name, piece)]
        spread += run.after if run.words else [run.name, *run.after]
    return spread


def _take_apart(args: Sequence[str], many: Kinds, valued: set[str]) -> tuple[list[str], list[_Run], int]:
    """Words before the first such option, the options with theirs, and how many words are the command's arguments."""
    before: list[str] = []
    runs: list[_Run] = []
    free, taking, value_next, only_arguments = 0, False, False, False
    for word in args:
        out = runs[-1].after if runs else before
        if value_next or only_arguments:
            out.append(word)
            free += only_arguments
            value_next = False
        elif word in many:
            runs.append(_Run(word))
            taking = True
        elif word.startswith("-") and len(word) > 1:
            out.append(word)
            taking, value_next, only_arguments = False, word in valued, word == "--"
        elif taking and (not runs[-1].words or all(map(many[runs[-1].name], _pieces(word, many[runs[-1].name])))):
            runs[-1].words.append(word)
        else:
            out.append(word)
            free, taking = free + 1, False
    return before, runs, free


def _pieces(word: str, fits: Callable[[str], object]) -> list[str]:
    """ "fvd,kvd" as two words where each is the option's and the whole is not."""
    pieces = [piece for piece in word.split(",") if piece]
    return pieces if len(pieces) > 1 and not fits(word) and all(map(fits, pieces)) else [word]
