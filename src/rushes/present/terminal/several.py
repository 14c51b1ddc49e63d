"""Options that take several words after one name: `--metric fvd kvd`, `--k 5 10 20`.

The parser underneath knows only `--metric fvd --metric kvd`. A command of this class repeats the name before each
further word. An option that may be given several times takes words until the next option, as long as they are of its
kind (a choice, a number) and enough are left for the command's arguments.

    app.command("score", cls=several_words({"--k": str.isdecimal}))(score)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


def repeat_names(args: Sequence[str], *, many: Kinds, valued: set[str], arguments: int) -> list[str]:
    """Repeat an option's name before each further word of its own; commas part words too.

    `many` are the options that take several words, `valued` those that take one, `arguments` how many the command has.

    >>> words = {"fvd", "kvd"}.__contains__
    >>> repeat_names(["--metric", "fvd", "kvd", "gen", "gt"], many={"--metric": words}, valued=set(), arguments=2)
    ['--metric', 'fvd', '--metric', 'kvd', 'gen', 'gt']
    >>> repeat_names(["--weights", "a", "b", "gen", "gt"], many={"--weights": bool}, valued=set(), arguments=2)
    ['--weights', 'a', '--weights', 'b', 'gen', 'gt']
    """
    owners = _owners(args, many, valued)
    lacking = arguments - owners.count(_ARGUMENT)
    for index in reversed(range(1, len(args))):  # words that the arguments still lack are theirs, from the end
        if lacking > 0 and owners[index] in many and owners[index - 1] == owners[index]:
            owners[index] = _ARGUMENT
            lacking -= 1
    spread: list[str] = []
    for index, (word, owner) in enumerate(zip(args, owners, strict=True)):
        if owner in many:
            spread += [part for piece in _pieces(word, many[owner]) for part in (owner, piece)]
        elif word not in many or owners[index + 1 : index + 2] != [word]:
            spread.append(word)
    return spread


_ARGUMENT, _OTHER = "argument", "other"


def _owners(args: Sequence[str], many: Kinds, valued: set[str]) -> list[str]:
    """Whose each word is: an option's that takes several, an argument, or neither (a name, the value of an option)."""
    owners: list[str] = []
    option = ""
    for before, word in zip(["", *args], args, strict=False):
        if before in valued:
            owners.append(_OTHER)
        elif option == "--" or not word.startswith("-") or word == "-":
            fits = option in many and (before == option or all(map(many[option], _pieces(word, many[option]))))
            option = option if fits or option == "--" else ""
            owners.append(option if fits else _ARGUMENT)
        else:
            option = word
            owners.append(_OTHER)
    return owners


def _pieces(word: str, fits: Callable[[str], object]) -> list[str]:
    """ "fvd,kvd" as two words where each is the option's and the whole is not."""
    pieces = [piece for piece in word.split(",") if piece]
    return pieces if len(pieces) > 1 and not fits(word) and all(map(fits, pieces)) else [word]
