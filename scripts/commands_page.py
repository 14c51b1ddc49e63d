"""`docs/commands.md`: every command with its arguments, options and exit codes, from the command line itself.

`python scripts/commands_page.py FILE` writes it; a test keeps it true."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer.main

from rushes.cli.main import GROUPS, verbs, with_verbs
from rushes.present.terminal.help import argument_name, option_flags, parameter_words, usage

_HEAD = """# Commands

Made from the command line by `make docs`; do not edit. `rushes COMMAND --help` shows the same on the terminal, and every
command has `-h`, `--help`. Options whose default is not named are off or empty unless you give them.

Exit codes are the same for every command: 0 done, 1 bad input or a tool error, 2 a wrong command line, 3 a limit that you
set is exceeded. [Errors and exit codes](errors.md) has the details.
"""


def commands_page() -> str:
    """The whole page as Markdown."""
    command = root_command()
    parts = [_HEAD, "## Before any command\n", *_section("rushes", command, below=False)]
    known = [name for names in GROUPS.values() for name in names]
    groups = [*GROUPS.items(), ("Others", sorted(set(command.commands) - set(known)))]
    for title, names in groups:
        shown = [name for name in names if name in command.commands]
        parts += [f"## {title}\n"] if shown else []
        parts += [text for name in shown for text in _section(f"rushes {name}", command.commands[name])]
    return "\n".join(parts)


def root_command() -> Any:
    """The command line with the verbs of this package alone: what other packages add is not ours to describe."""
    return typer.main.get_command(with_verbs({n: r for n, r in verbs().items() if r.startswith("rushes.")}))


def _section(path: str, command: Any, *, below: bool = True) -> Iterator[str]:
    """A command, then the commands below it."""
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = shown_options(command)
    commands = getattr(command, "commands", {})
    words = [path, *(["[OPTIONS]"] if options else []), *map(usage, arguments), *(["COMMAND …"] if commands else [])]
    yield f"### {path}\n"
    yield f"```text\n{' '.join(words)}\n```\n"
    yield from _description(command.help or "")
    if session := sessions().get(path):
        yield f"What it prints:\n\n```console\n{session}```\n"
    entries = [(argument_name(one), parameter_words(one)) for one in arguments]
    entries += [(option_flags(one), parameter_words(one)) for one in options]
    if entries:
        yield "\n".join(["| argument or option | meaning |", "|---|---|", *(_row(*entry) for entry in entries)]) + "\n"
    for name, one in sorted(commands.items()) if below else ():
        if not one.hidden:
            yield from _section(f"{path} {name}", one)


@cache
def sessions() -> dict[str, str]:
    """The recorded sessions of docs/site/sessions.md, which the tests run, by command: "rushes study report"."""
    text = (Path(__file__).parents[1] / "docs/site/sessions.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\n(\$ .*?)^```$", text, re.MULTILINE | re.DOTALL)
    return {re.match(r"\$ (rushes(?: (?:suite|study))? [\w-]+)", one)[1]: one for one in blocks}  # type: ignore[index]


def shown_options(command: Any) -> list[Any]:
    """The options that the help shows, except `--help` and what Typer adds for shells."""
    every = [one for one in command.params if one.param_type_name == "option" and not one.hidden]
    return [one for one in every if one.name not in ("help", "install_completion", "show_completion")]


def _description(text: str) -> Iterator[str]:
    """Paragraphs; what begins with "Example" and ends in a command becomes a block."""
    for paragraph in text.replace("\b\n", "").split("\n\n"):
        words = " ".join(paragraph.split())
        found = re.fullmatch(r"([^:]+): (rushes .*)", words)
        yield f"{found[1]}:\n\n```bash\n{found[2]}\n```\n" if found else f"{_plain(words)}\n"


def _row(name: str, text: str) -> str:
    return f"| `{name.replace('|', chr(92) + '|')}` | {_plain(text)} |"


def _plain(text: str) -> str:
    """Text as Markdown: what could be markup stays as it is typed."""
    parts = re.split(r"(`[^`]*`)", text)
    kept = (part if part.startswith("`") else re.sub(r"([\\*_<>\[\]$#{}])", r"\\\1", part) for part in parts)
    return "".join(kept).replace("|", "\\|")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(commands_page(), encoding="utf-8")
