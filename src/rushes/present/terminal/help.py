"""The help of every command, as plain text that fits the window: what it does, an example, arguments, options.

Typer's own help names Python types (`<list[str]>`, `<int range> [x>=1]`) and shows every command in one list. This one
has a word for each value, its range and default in words, and the commands in groups.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from types import MethodType
from typing import Any

from typer.core import TyperGroup

from rushes.present.terminal.colours import bold, is_coloured
from rushes.present.terminal.console import window_width
from rushes.present.terminal.wrapping import cell_width, wrapped

OLD_NAMES = {"--output"}
"""Names of options that still work and are no longer shown."""
_NAMES = 26
"""Columns that names of options take before their words begin on a line of their own."""
_CHOICES = 40
"""Choices that are longer than this stand behind the words."""
_TYPERS = {
    "install_completion": "Install completion for this shell.",
    "show_completion": "Print the completion for this shell, to copy or adapt it.",
}
"""Options of Typer's own, in our spelling."""
_TYPES = {"int": "N", "integer": "N", "float": "X", "path": "PATH", "file": "FILE", "directory": "DIR"}

Groups = Mapping[str, Sequence[str]]


Welcome = Sequence[tuple[str, Sequence[str]]]
"""What somebody may want, and the commands for it."""


def grouped_help(groups: Groups, sentence: str = "", welcome: Welcome = ()) -> type[TyperGroup]:
    """A class for the root group: it and all commands below it have this help; its commands stand in `groups`.

    Called with nothing, a group prints its help and ends with 0; the root prints `sentence` and `welcome`.
    """

    class Root(TyperGroup):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            _replace_help(self, groups)
            _help_when_bare(self, sentence, welcome)

        def list_commands(self, ctx: Any) -> list[str]:
            known = [name for names in groups.values() for name in names if name in self.commands]
            return known + sorted(set(self.commands) - set(known))

    return Root


def _replace_help(command: Any, groups: Groups) -> None:
    def format_help(self: Any, ctx: Any, formatter: Any) -> None:
        for option in self.params:  # Typer adds its own after the group is made
            option.help = _TYPERS.get(option.name, getattr(option, "help", None))
        formatter.write("\n".join(_page(self, ctx, groups)) + "\n")

    command.format_help = MethodType(format_help, command)
    for below in getattr(command, "commands", {}).values():
        _replace_help(below, {})


def _help_when_bare(command: Any, sentence: str = "", welcome: Welcome = ()) -> None:
    """Here and not by Typer's `no_args_is_help`, which leaves with 2, and in some releases prints nothing."""
    if getattr(command, "no_args_is_help", False):
        command.no_args_is_help = False
        parse = command.parse_args

        def parse_args(self: Any, ctx: Any, args: list[str]) -> list[str]:
            if not args and not ctx.resilient_parsing:
                print("\n".join(_opening(ctx, sentence, welcome)) if welcome else ctx.get_help().rstrip())
                ctx.exit()
            parsed: list[str] = parse(ctx, args)
            return parsed

        command.parse_args = MethodType(parse_args, command)
    for below in getattr(command, "commands", {}).values():
        _help_when_bare(below)


def _opening(ctx: Any, sentence: str, welcome: Welcome) -> Iterator[str]:
    """What this is, what people come for with the command for each, and where the rest is."""
    width, wide = min(window_width(), 100), 2 + max(len(wish) for wish, _ in welcome) + 2
    yield from wrapped(sentence, width)
    yield ""
    for wish, lines in welcome:
        yield f"  {wish}".ljust(wide) + lines[0]
        yield from (" " * wide + line for line in lines[1:])
    yield ""
    yield from wrapped(f"Every command: {ctx.command_path} --help. Results in a browser: rushes view.", width)
    yield "To try it on made-up clips: rushes demo."


def _page(command: Any, ctx: Any, groups: Groups) -> Iterator[str]:
    width = min(window_width(), 100)
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.get_params(ctx) if one.param_type_name == "option" and not one.hidden]
    parts = [ctx.command_path, *(["[OPTIONS]"] if options else []), *map(usage, arguments)]
    below = getattr(command, "commands", {})
    yield from wrapped(f"Usage: {' '.join([*parts, *(['COMMAND …'] if below else [])])}", width, hang=7)
    for paragraph in (command.help or "").replace("\b\n", "").split("\n\n"):
        yield ""
        yield from wrapped(" ".join(paragraph.split()), width, hang=2 if paragraph.startswith("Example") else 0)
    if below:
        yield from _commands(command, ctx, groups, width)
    if arguments:
        yield from ("", _head("Arguments"))
        for one in arguments:
            yield from _entry(argument_name(one), parameter_words(one), width)
    if options:
        yield from ("", _head("Options"))
        for one in options:
            yield from _entry(option_flags(one), parameter_words(one), width)


def _commands(command: Any, ctx: Any, groups: Groups, width: int) -> Iterator[str]:
    shown = [name for name in command.list_commands(ctx) if not command.commands[name].hidden]
    wide = max(map(len, shown)) + 4
    rest = [name for name in shown if not any(name in names for names in groups.values())]
    for title, names in [*groups.items(), ("Commands" if not groups else "Others", rest)]:
        here = [name for name in names if name in shown]
        if not here:
            continue
        yield from ("", _head(title))
        for name in here:
            yield from _entry(name, command.commands[name].get_short_help_str(400), width, wide=wide)


def _head(text: str) -> str:
    return bold(text) if is_coloured(sys.stdout) else text


def _entry(name: str, text: str, width: int, *, wide: int = _NAMES) -> Iterator[str]:
    """A name and what it means beside it; below it where the name is too long."""
    lines = wrapped(text, width - wide)
    if cell_width(name) + 4 > wide:
        yield f"  {name}"
    else:
        yield f"  {name}".ljust(wide) + lines.pop(0)
    yield from (" " * wide + line for line in lines)


def usage(argument: Any) -> str:
    name = argument_name(argument)
    return name if argument.required else f"[{name}]"


def argument_name(argument: Any) -> str:
    name = argument.metavar or str(argument.name).upper()
    return f"{name}…" if argument.nargs != 1 and not name.endswith("…") else str(name)


def option_flags(option: Any) -> str:
    """ "-o, --out FILE"; of a switch with two sides both."""
    names = sorted((name for name in option.opts if name not in OLD_NAMES), key=lambda name: name.startswith("--"))
    if option.secondary_opts:
        return f"{', '.join(names)} / {', '.join(option.secondary_opts)}"
    return ", ".join(names) + ("" if option.is_flag else f" {_value(option)}")


def _value(option: Any) -> str:
    """The word that stands for a value."""
    if option.metavar:
        return str(option.metavar)
    if choices := _choices(option):
        text = "|".join(choices)
        return text if len(text) <= _CHOICES else "NAME"
    return _TYPES.get(_type(option), "TEXT")


def _choices(option: Any) -> list[str]:
    holder = getattr(option, "type_descriptor", None) or getattr(option, "type", None)
    return [str(one) for one in getattr(holder, "choices", None) or ()]


def _type(option: Any) -> str:
    """The type's plain name, whichever release of Typer has built the option."""
    if (found := getattr(option, "type_descriptor", None)) is not None:
        annotation = getattr(found, "annotation", None)
        names = [getattr(one, "__name__", str(one)) for one in (annotation, *getattr(annotation, "__args__", ()))]
        return next((name.lower() for name in names if name.lower() in _TYPES), "text")
    return re.sub(r" range$", "", str(option.type.name))


def parameter_words(param: Any) -> str:
    """The help of a parameter with its range and default."""
    text = (getattr(param, "help", None) or "").strip()
    choices = _choices(param)
    named = f"one of {', '.join(choices)}" if len("|".join(choices)) > _CHOICES and not param.metavar else ""
    more = [part for part in (named, _range(param), _default(param)) if part]
    if param.required and param.param_type_name == "option":
        more.insert(0, "required")
    return f"{text} ({'; '.join(more)})" if more else text


def _range(param: Any) -> str:
    holder = param if hasattr(param, "min") else getattr(param, "type", None)
    low, high = (getattr(holder, side, None) for side in ("min", "max"))
    if low is None and high is None:
        return ""
    return f"{low} or more" if high is None else f"at most {high}" if low is None else f"{low} to {high}"


def _default(param: Any) -> str:
    default = param.default
    if default in (None, "", (), []) or isinstance(default, bool) or callable(default) or param.required:
        return ""
    return f"default: {default}"
