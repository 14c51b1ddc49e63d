"""Studies for tests, made as quickly as may be: passwords at their least cost, tables from a recording, clips once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import file_digest

if TYPE_CHECKING:
    from rushes.study.material.clips import ReadyClip

recorded: dict[str, list[tuple[str, Any]]] = {}
"""Statements and their values, by kind of database."""


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Argon2 at its least cost: a real hash takes a second and 64 MiB on a busy machine, on purpose."""
    from argon2 import PasswordHasher

    from rushes.study.owner import administrators

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(administrators, "_HASHER", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_tables() -> Iterator[None]:
    """The migrations run once for each kind of database; the statements they made are given to every empty one after.

    Alembic reads its scripts anew each time, which takes longer than most tests. A database that has tables already,
    of whatever version, takes the real way.
    """
    from sqlalchemy import Engine, event, inspect

    from rushes.study.database import connection as module

    # Several folders' conftests take this fixture: what stands there may be the quick way of another one of them.
    upgrade = getattr(module.upgrade, "real", module.upgrade)

    def is_empty(engine: Engine) -> bool:
        try:
            return not inspect(engine).get_table_names()
        except Exception:  # no database: the real way says so
            return False

    def record(engine: Engine) -> None:
        made: list[tuple[str, Any]] = []

        def note(_: Any, __: Any, statement: str, parameters: Any, *___: Any) -> None:
            if not statement.lstrip().upper().startswith(("SELECT", "PRAGMA", "BEGIN")):
                made.append((statement, parameters))

        event.listen(engine, "before_cursor_execute", note)
        try:
            upgrade(engine)
        finally:
            event.remove(engine, "before_cursor_execute", note)
        recorded[engine.dialect.name] = made

    def quick(engine: Engine) -> None:
        if not is_empty(engine):
            return upgrade(engine)
        if engine.dialect.name not in recorded:
            return record(engine)
        with engine.begin() as connection:
            driver: Any = connection.connection.driver_connection
            for has_values, group in groupby(recorded[engine.dialect.name], key=lambda made: bool(made[1])):
                if engine.dialect.name == "postgresql" and not has_values:  # one round trip in place of a hundred
                    driver.execute(";\n".join(statement for statement, _ in group))
                    continue
                for statement, parameters in group:
                    connection.exec_driver_sql(statement, parameters or None)

    quick.real = upgrade  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "upgrade", quick)
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_clips() -> Iterator[None]:
    """Clips are made ready once: the same clips again are the files that were made then, copied to their place."""
    from rushes.study.material import clips, importing, training_clips

    # Several folders' conftests take this fixture too.
    ready_clips, write = getattr(importing.ready_clips, "real", importing.ready_clips), training_clips.write_clip
    looks = [getattr(look, "real", look) for look in (clips.probe, clips.clip_shape)]
    made: dict[object, list[tuple[ReadyClip, Path, bytes]]] = {}
    written: dict[str, bytes] = {}

    def quick_ready(
        sources: Sequence[Path], *, media: Path, hide: Sequence[str], progress: Progress = no_progress
    ) -> dict[Path, ReadyClip]:
        paths = list(dict.fromkeys(sources))
        key = tuple((path.name, file_digest(path)) for path in paths), tuple(hide)
        if key not in made:
            ready = ready_clips(paths, media=media, hide=hide, progress=progress)
            in_order = [ready[path] for path in paths]
            made[key] = [(one, one.path.relative_to(media.resolve()), one.path.read_bytes()) for one in in_order]
            return ready
        copied = {}
        for path, (ready_clip, place, content) in zip(paths, made[key], strict=True):
            target = media.resolve() / place
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            copied[path] = replace(ready_clip, path=target)
        progress(len(paths), len(paths), "clips")
        return copied

    def quick_write(path: Path, frames: Iterable[Any], *, fps: int) -> None:
        if path.name in written:
            path.write_bytes(written[path.name])
        else:
            write(path, frames, fps=fps)
            written[path.name] = path.read_bytes()

    quick_ready.real = ready_clips  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        for look in looks:
            patch.setattr(clips, look.__name__, _by_content(look))
        patch.setattr(importing, "ready_clips", quick_ready)
        patch.setattr(training_clips, "write_clip", quick_write)
        yield


def _by_content(look: Callable[..., Any]) -> Callable[..., Any]:
    """What a function says of a file, kept by the file's name and bytes."""
    known: dict[tuple[str, str], Any] = {}

    def quick(path: Path, *more: Any) -> Any:
        key = path.name, file_digest(path)
        if key not in known:
            known[key] = look(path, *more)
        return known[key]

    quick.real = look  # type: ignore[attr-defined]
    return quick
