"""`rushes.toml`: defaults of a project for the options of the commands.

A table is a command, a key an option: `[clip]`, `profile = "talking-head"`. What is given on the command line wins. The
file is checked whole before anything runs, and a command says on stderr which of its options came from the file. What
moves a number is in its signature and in `run.json`, wherever it was given.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any, get_args, get_type_hints

import typer

from rushes.core.errors import InputError, RushesError
from rushes.present.terminal.console import fail, say

NAME = "rushes.toml"
VARIABLE = "RUSHES_CONFIG"
"""Names another file, as --config does."""
NONE = "none"
_MOST_BYTES = 1_000_000
_ONLY_TYPED = frozenset({"overwrite", "yes", "force"})
"""Options that remove something: a file somewhere above must not do that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One line of the file that holds."""

    command: tuple[str, ...]
    """("clip",) or ("study", "create")."""
    option: str
    """As on the command line: "--fail-on"."""
    parameter: str
    value: object

    def text(self) -> str:
        """As it would be typed.

        >>> Setting(command=("clip",), option="--tier", parameter="tier", value=1).text()
        '--tier 1'
        """
        if isinstance(self.value, bool):
            return self.option if self.value else f"no {self.option}"
        values = self.value if isinstance(self.value, list) else [self.value]
        return " ".join(f"{self.option} {value}" for value in values)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFile:
    """The file in force, if any, and what it says."""

    path: Path | None = None
    settings: tuple[Setting, ...] = ()
    looked: Path = field(default_factory=Path)
    """Where the search began."""
    declined: bool = False
    """Whether the user asked for no file."""

    def default_map(self) -> dict[str, Any]:
        """The settings as the nested defaults of commands."""
        whole: dict[str, Any] = {}
        for setting in self.settings:
            table = whole
            for name in setting.command:
                table = table.setdefault(name, {})
            table[setting.parameter] = setting.value
        return whole


def use_project_file(context: typer.Context, given: str | None) -> None:
    """Find, read and check the file, make it the commands' defaults, and have them say what they took from it."""
    try:
        project = load_project_file(context.command, given, Path.cwd())
    except RushesError as error:
        fail(str(error))
    context.obj = project
    if project.settings:
        context.default_map = project.default_map()
        for command in dict.fromkeys(setting.command for setting in project.settings):
            _announce(context.command, command, project)


def load_project_file(root: Any, given: str | None, start: Path) -> ProjectFile:
    """The project file for commands run in `start`: the one given, none at all ("none"), or the nearest above.

    Raises `InputError` where the file given is not there, is not TOML, or says what no command understands.
    """
    if given == NONE:
        return ProjectFile(looked=start, declined=True)
    path = Path(given) if given else find_project_file(start)
    if path is None:
        return ProjectFile(looked=start)
    return ProjectFile(path=path, settings=tuple(_settings(path, _read(path), root, ())), looked=start)


def find_project_file(start: Path) -> Path | None:
    """The nearest `rushes.toml` in this folder or above; the search ends at the root of a repository."""
    for folder in (start, *start.parents):
        if (folder / NAME).is_file():
            return folder / NAME
        if (folder / ".git").exists():
            return None
    return None


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: expected a project file; {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise InputError(f"{path}: expected a project file of at most 1 MB")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"{path}: expected TOML; {error}") from None


def _settings(path: Path, table: Mapping[str, Any], command: Any, names: tuple[str, ...]) -> Iterator[Setting]:
    """Every setting of a command and of those below it, checked."""
    from rushes.core.words.kinds import fits, kind_words
    from rushes.suite.settings import unknown_key

    where = f"{path}, [{'.'.join(names)}]" if names else str(path)
    below = getattr(command, "commands", {})
    options = dict(_options(command.callback)) if names else {}
    for key, value in table.items():
        if isinstance(value, dict) and key in below:
            yield from _settings(path, value, below[key], (*names, key))
            continue
        option = options.get(key.replace("_", "-"))
        if option is None:
            known = [*below, *options]
            if not names and not isinstance(value, dict):
                raise InputError(f"{where}: {key} is outside any table; put it under [COMMAND], such as [clip]")
            raise InputError(f"{where}: {unknown_key(key, known)}")
        if option.parameter in _ONLY_TYPED:
            raise InputError(
                f"{where}: {option.name} replaces existing files, so it can only be given on the command line"
            )
        if option.takes_list and not isinstance(value, list):
            value = [value]
        if not fits(value, option.kind):
            raise InputError(f"{where}: {key} is {kind_words(option.kind)}; got {value!r}")
        option.require_range(where, key, value)
        yield Setting(command=names, option=option.name, parameter=option.parameter, value=_placed(value, path.parent))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    name: str
    parameter: str
    kind: Any
    least: float | None
    most: float | None

    @property
    def takes_list(self) -> bool:
        return any(getattr(kind, "__origin__", None) is list for kind in (self.kind, *get_args(self.kind)))

    def require_range(self, where: str, key: str, value: object) -> None:
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return
        if (self.least is not None and value < self.least) or (self.most is not None and value > self.most):
            bounds = [f"from {self.least:g}" if self.least is not None else ""]
            bounds.append(f"to {self.most:g}" if self.most is not None else "")
            raise InputError(f"{where}: {key} is a number {' '.join(filter(None, bounds))}; got {value:g}")


def _options(callback: Callable[..., Any] | None) -> Iterator[tuple[str, _Option]]:
    """The options of a command by their long name without dashes; arguments are not among them."""
    if callback is None:
        return
    plain, annotated = get_type_hints(callback), get_type_hints(callback, include_extras=True)
    for name in inspect.signature(callback).parameters:
        found = [i for i in getattr(annotated.get(name), "__metadata__", ()) if isinstance(i, typer.models.OptionInfo)]
        if not found or found[0].is_eager:
            continue
        info = found[0]
        words = [word for decl in info.param_decls or () for word in decl.split("/") if word.startswith("--")]
        long = words[0] if words else "--" + name.replace("_", "-")
        option = _Option(name=long, parameter=name, kind=plain[name], least=info.min, most=info.max)
        yield long.removeprefix("--"), option


def _placed(value: Any, folder: Path) -> Any:
    """A path that begins with ./ or ../ is meant from the file's folder, wherever the command runs."""
    if isinstance(value, list):
        return [_placed(each, folder) for each in value]
    if isinstance(value, str) and value.startswith(("./", "../")):
        return str(folder / value)
    return value


def _announce(command: Any, names: tuple[str, ...], project: ProjectFile) -> None:
    """Have a command say, before it works, what it takes from the file."""
    for name in names:
        command = command.commands[name]
    inner = command.callback
    ours = [setting for setting in project.settings if setting.command == names]

    @wraps(inner)
    def callback(*args: Any, **kwargs: Any) -> Any:
        context = _current_context()
        sources = [(setting, context.get_parameter_source(setting.parameter)) for setting in ours]
        taken = [setting.text() for setting, source in sources if source and source.name == "DEFAULT_MAP"]
        if taken:
            say(f"{project.path}: {' '.join(taken)}")
        return inner(*args, **kwargs)

    command.callback = callback


def _current_context() -> Any:
    """The running command's context; Typer has brought its own Click along since 0.26."""
    try:
        home = import_module("typer._click.globals")
    except ImportError:
        home = import_module("click")
    return home.get_current_context()
