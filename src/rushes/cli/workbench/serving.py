"""`rushes serve` at work: in this process, or in several that share a port.

    python -m rushes.cli.workbench.serving      a worker: it gets its settings from `rushes.web.processes`

The one that was started opens the database first: it upgrades the tables, and sets the first password where one is
given. Workers find both done.
"""

from __future__ import annotations

import socket
import sys
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from rushes.core.errors import RushesError
from rushes.present.terminal.console import fail, say

if TYPE_CHECKING:
    from fastapi import FastAPI

    from rushes.study.service import StudyService

SWITCH_S = 0.0005
"""How long a busy thread may keep the interpreter from the others. A request gives it up at every answer it waits for
from the database, and at Python's own 5 ms it queues for a long time to get it back: ten statements, up to 50 ms."""
PASSWORD_VARIABLE = "RUSHES_ADMIN_PASSWORD"  # a variable's name  # nosec B105
FEWEST_CONNECTIONS = 3
WORKER = (sys.executable, "-m", "rushes.cli.workbench.serving")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What `rushes serve` was asked for."""

    db: str
    runs: tuple[str, ...]
    suites: tuple[str, ...]
    media: str
    host: str
    port: int
    public_url: str
    trusted_proxies: tuple[str, ...]
    sso_header: str
    log: str
    metrics: bool
    setup_key: str
    workers: int = 1
    counts: str = ""
    """The folder where workers keep their counts of requests."""


class Announce(Protocol):
    """Told the port, and whether nobody can sign in yet, once requests are answered."""

    def __call__(self, port: int, *, first: bool) -> None: ...


def serve_here(settings: Settings, announce: Announce) -> None:
    """Answer in this process, until told to stop."""
    from rushes.web import serving

    sys.setswitchinterval(SWITCH_S)
    with opened(settings) as service:
        service.database.require_writable()
        app = app_of(settings, service)
        _set_password_from_environment(service)
        _say_missing(service)
        with socket.create_server((settings.host, settings.port), backlog=2048) as listener:
            announce(listener.getsockname()[1], first=not service.admin_exists())
            serving.serve_on(listener, app)


def serve_together(settings: Settings, announce: Announce) -> None:
    """Answer in as many processes as were asked for, until told to stop."""
    from rushes.web.processes import Processes, listeners

    with opened(settings) as service:
        service.database.require_writable()
        _set_password_from_environment(service)
        _say_missing(service)
        first = not service.admin_exists()
    with ExitStack() as stack:
        counts = stack.enter_context(TemporaryDirectory(prefix="rushes-serve-")) if settings.metrics else ""
        sockets = [stack.enter_context(one) for one in listeners(settings.host, settings.port, settings.workers)]
        port = sockets[0].getsockname()[1]
        processes = Processes(sockets, WORKER, asdict(replace(settings, counts=counts)))
        processes.start()
        announce(port, first=first)
        processes.watch()


def opened(settings: Settings, *, migrate: bool = True) -> StudyService:
    """The studies; several processes have together about as many connections to PostgreSQL as one."""
    from rushes.study.database.connection import POSTGRES_POOL
    from rushes.study.service import open_service

    connections = max(FEWEST_CONNECTIONS, POSTGRES_POOL // settings.workers)
    media = Path(settings.media) if settings.media else None
    return open_service(settings.db, media=media, migrate=migrate, connections=connections)


def app_of(settings: Settings, service: StudyService) -> FastAPI:
    """The app of these settings."""
    from rushes.cli.workbench.discovering import discovery_of
    from rushes.web.app import create_app
    from rushes.web.home.discovery import Served

    discovery = discovery_of(tuple(map(Path, settings.runs)), tuple(map(Path, settings.suites)))
    wildcard = settings.host in ("0.0.0.0", "::")  # compared, not bound  # nosec B104
    return create_app(
        service=service,
        runs=Served(discovery, "runs"),
        suites=Served(discovery, "suites"),
        discovery=discovery,
        public_url=settings.public_url,
        any_host=wildcard and not settings.public_url,
        setup_key=settings.setup_key,
        trusted_proxies=settings.trusted_proxies,
        sso_header=settings.sso_header,
        metrics=Path(settings.counts) if settings.counts else settings.metrics,
    )


def work() -> None:
    """The life of a worker."""
    from rushes.web.http.operations import log_to
    from rushes.web.processes import end_with, read_settings, say_ready
    from rushes.web.serving import serve_on

    given: dict[str, Any] = read_settings(sys.stdin)
    descriptor, _ = given.pop("listener"), given.pop("number")
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    settings = Settings(**{**given, **lists})
    sys.setswitchinterval(SWITCH_S)
    log_to(sys.stderr, settings.log)  # type: ignore[arg-type]
    end_with(sys.stdin)
    try:
        with opened(settings, migrate=False) as service:
            serve_on(socket.socket(fileno=descriptor), app_of(settings, service), ready=say_ready)
    except RushesError as error:
        sys.exit(f"rushes: {error}")


def _say_missing(service: StudyService) -> None:
    if missing := service.missing_clips():
        say(missing)


def _set_password_from_environment(service: StudyService) -> None:
    """For servers that nobody watches start: RUSHES_ADMIN_PASSWORD sets the first password."""
    import os

    from rushes.study.owner.administrators import SHORTEST_PASSWORD

    password = os.environ.get(PASSWORD_VARIABLE, "")
    if not password or service.admin_exists():
        return
    if len(password) < SHORTEST_PASSWORD:
        fail(f"{PASSWORD_VARIABLE}: expected at least {SHORTEST_PASSWORD} characters; got {len(password)}")
    service.set_admin_password(password)


if __name__ == "__main__":
    work()
