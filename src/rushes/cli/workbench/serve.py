"""`rushes serve`: the web workbench, for raters and for the owner of a study."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Literal

import typer

from rushes.present.terminal.console import fail, print_json, say

PACKAGES = ("starlette", "fastapi", "uvicorn", "jinja2", "sqlalchemy", "alembic", "argon2", "pydantic")
"""Of the web extra: what the pages are made with."""


def serve(
    db: Annotated[
        str, typer.Option("--db", help="The studies' database: a path (SQLite) or postgresql://host/name.")
    ] = "studies.db",
    run: Annotated[
        list[str] | None,
        typer.Option(
            "--run", help="A run, or a folder with runs below, here, s3:// or gs://; may be given several times."
        ),
    ] = None,
    suite: Annotated[
        list[str] | None,
        typer.Option("--suite", help="A folder of rushes suite run, to show its board; may be given several times."),
    ] = None,
    media: Annotated[
        Path | None, typer.Option("--media", help="Where converted clips go; beside a SQLite file by default.")
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 picks a free one.")] = 8000,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on. The default can be reached from this machine only.")
    ] = "127.0.0.1",
    public_url: Annotated[
        str, typer.Option("--public-url", help="Address at which raters reach a server behind a proxy.")
    ] = "",
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option("--trusted-proxy", help="Proxy (address or network) whose X-Forwarded-For is trusted."),
    ] = None,
    sso_header: Annotated[
        str,
        typer.Option("--sso-header", help="Header in which the trusted proxy names the account that it has signed in."),
    ] = "",
    log: Annotated[
        Literal["text", "json", "off"],
        typer.Option("--log", help="A line per request on stderr: text, json, or off for warnings alone."),
    ] = "off",
    metrics: Annotated[
        bool, typer.Option("--metrics", help="Show counts and durations of requests at /metrics, for Prometheus.")
    ] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=1, max=64, help="Processes that answer on this port; they share everything.")
    ] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the addresses as one JSON line on stdout, then serve.")
    ] = False,
) -> None:
    """Serve studies, boards and runs in a browser. On the first start, the printed link sets the owner's password.

    Example: rushes serve --db studies.db --run runs/model_a --run runs/model_b
    """
    import secrets

    require_web("serve")
    _check_public_url(public_url)
    if sso_header and not trusted_proxy:
        fail(f"--sso-header {sso_header}: also name the proxy that sets it and removes a caller's own: --trusted-proxy")
    from rushes.cli.workbench import serving
    from rushes.cli.workbench.discovering import discovery_of
    from rushes.web.app import networks
    from rushes.web.http.operations import log_to

    networks(trusted_proxy or ())  # what is wrong with the options is said before anything starts

    def announce(port: int, *, first: bool) -> None:
        address = public_url.rstrip("/") or f"http://{shown_host(host)}:{port}"
        setup = f"{address}/setup?key={settings.setup_key}" if first else ""
        _announce(address, setup, as_json=as_json, reachable=host not in ("127.0.0.1", "::1", "localhost"))

    with ExitStack() as stack:
        runs, suites = ([_local(place, stack) for place in places or ()] for places in (run, suite))
        discovery_of(runs, suites)
        settings = serving.Settings(
            db=db,
            runs=tuple(map(str, runs)),
            suites=tuple(map(str, suites)),
            media=str(media or ("studies.media" if "://" in db else "")),
            host=host,
            port=port,
            public_url=public_url,
            trusted_proxies=tuple(trusted_proxy or ()),
            sso_header=sso_header,
            log=log,
            metrics=metrics,
            setup_key=secrets.token_urlsafe(16),
            workers=workers,
        )
        log_to(sys.stderr, log)
        (serving.serve_here if workers == 1 else serving.serve_together)(settings, announce)


def _local(place: str, stack: ExitStack) -> Path:
    """A folder to show: the one here, or a copy of what lies at an address, which goes away with the server."""
    from rushes.storage.mirrors.staging import pulled_folder
    from rushes.storage.remote.address import is_remote

    if is_remote(place):
        say(f"{place}: this is a copy, made now; stars, tags and notes made here are not kept")
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the copy goes with the server
    return stack.enter_context(pulled_folder(place))


def require_web(verb: str) -> None:
    """`MissingDependency`, with the command to get them, where packages of the web extra are not there."""
    from importlib.util import find_spec

    from rushes.core.machine.installing import not_installed

    missing = [package for package in PACKAGES if sys.modules.get(package, package) is None or not find_spec(package)]
    if missing:
        raise not_installed(f"rushes {verb} needs {', '.join(missing)}", extra="web")


def _check_public_url(public_url: str) -> None:
    from urllib.parse import urlsplit

    parts = urlsplit(public_url)
    if public_url and (parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/")):
        fail(f"--public-url: expected https://name without a path; got {public_url}")


def shown_host(host: str) -> str:
    """An address to listen on as a browser reaches it."""
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # compared, not bound  # nosec B104
    return f"[{reached}]" if ":" in reached else reached


def _announce(address: str, setup: str, *, as_json: bool, reachable: bool) -> None:
    if reachable and not address.startswith("https://"):
        say("warning: other machines can reach this address without encryption; put a TLS proxy in front of it")
    if as_json:
        print_json({"address": address, "setup": setup}, flush=True)
    elif setup:
        say("First start: open this link to set the administrator's password.")
        print(setup, flush=True)
    else:
        say("Serving; Ctrl-C stops.")
        print(address, flush=True)
