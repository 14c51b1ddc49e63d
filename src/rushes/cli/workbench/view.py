"""`rushes view`: look at what lies below a folder, in the browser, without an account or a database."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from rushes.core.machine.browser import has_browser
from rushes.present.terminal.console import fail, print_json, say
from rushes.storage.remote.address import is_remote

if TYPE_CHECKING:
    import socket

    from starlette.applications import Starlette

    from rushes.web.workbench import Workbench

LOOPBACK = ("127.0.0.1", "localhost", "::1")
FILE_S = 20.0
"""How long the file stays that leads the browser to the link."""
_ONWARD = '<meta http-equiv="refresh" content="0; url={link}"><a href="{link}">Open Rushes</a>'


def view(
    folder: Annotated[
        str,
        typer.Argument(
            metavar="FOLDER",
            help="A run, or a folder with runs, boards, sweeps and studies below; here, s3:// or gs://.",
        ),
    ] = ".",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 picks a free one.")] = 0,
    host: Annotated[str, typer.Option("--host", help="Address of this machine to listen on.")] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the link, and open no browser.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the link and what was found as one JSON line on stdout, then serve.")
    ] = False,
) -> None:
    """Look at runs, boards and comparisons in the browser. No login: the printed
    link contains the access token.

    Example: rushes view runs
    """
    if host not in LOOPBACK:
        fail(f"--host: expected one of {', '.join(LOOPBACK)}; for other machines: rushes serve --host {host}")
    remote = is_remote(folder)
    if not remote and not Path(folder).is_dir():
        _refuse(Path(folder))
    import secrets

    from rushes.cli.workbench.serve import require_web
    from rushes.cli.workbench.serving import SWITCH_S

    require_web("view")

    from rushes.web.view_app import view_app

    sys.setswitchinterval(SWITCH_S)  # the rest of the app is imported while pages are answered

    from rushes.storage.mirrors.staging import pulled_folder

    token = secrets.token_urlsafe(32)
    with pulled_folder(folder) as place:
        if remote and not any(place.rglob("run.json")):
            fail(f"{folder}: expected a run, or a folder with runs below; found none")
        if remote:
            say(f"{folder}: this is a copy; stars, tags and notes made here are not kept")
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the copy goes with the server
        _serve(
            view_app([place], token=token), host, port, token, open_browser=not (no_browser or as_json), as_json=as_json
        )


def _refuse(folder: Path) -> NoReturn:
    from rushes.cli.workbench.discovering import near

    if folder.exists():
        fail(f"{folder}: expected a folder to look below; this is a file")
    fail(f"{folder}: expected a folder to look below; there is none{near(folder)}")


def _serve(app: Starlette, host: str, port: int, token: str, *, open_browser: bool, as_json: bool) -> None:
    import threading

    from rushes.cli.workbench.serve import shown_host
    from rushes.web.serving import serve_on

    bench: Workbench = app.state.workbench
    with _listener(host, port) as listener:
        address = f"http://{shown_host(host)}:{listener.getsockname()[1]}"
        link = f"{address}{_first_page(bench)}?token={token}"
        _announce(bench, address, link, as_json=as_json)
        if open_browser and has_browser():  # in a thread: one that takes its time must not hold up the first page
            threading.Thread(target=_show, args=(link,), daemon=True).start()
        serve_on(listener, app)


def _listener(host: str, port: int) -> socket.socket:
    import errno
    import socket

    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            fail(f"--port {port}: expected a free port; another program uses it. Leave out --port to get a free one")
        raise


def _first_page(bench: Workbench) -> str:
    """The run's page where the folder is itself a run, the board where it is a suite, else the home page."""
    from urllib.parse import quote

    root = _root(bench)
    for start, served in (("/runs/", bench.runs), ("/boards/", bench.suites)):
        if names := [name for name, path in served.items() if path == root]:
            return start + quote(names[0])
    return "/"


def _root(bench: Workbench) -> Path:
    return Path() if bench.discovery is None else bench.discovery.roots[0].folder


def _announce(bench: Workbench, address: str, link: str, *, as_json: bool) -> None:
    from rushes.web.home.discovery import Found

    folder = _root(bench)
    found = Found() if bench.discovery is None else bench.discovery.look()
    counts = {kind: len(getattr(found, kind)) for kind in ("runs", "suites", "sweeps", "studies")}
    if as_json:
        print_json({"address": address, "link": link, "found": counts}, flush=True)
        return
    if found:
        words = {"runs": "run", "suites": "board", "sweeps": "sweep", "studies": "study database"}
        told = [f"{count} {words[kind]}{'' if count == 1 else 's'}" for kind, count in counts.items() if count]
        say(f"Below {folder}: {', '.join(told)}. Ctrl-C stops.")
    else:
        say(f"No run, board, sweep or study below {folder} yet. To make one: rushes clip CLIPS -o {folder / 'run'}")
    if found.note:
        say(found.note)
    print(link, flush=True)


def _show(link: str) -> None:
    """By way of a file that only this user can read, for a while: every user can see the arguments of a program, and
    with the link itself among them, the token. A browser from a snap reads files of the home folder alone."""
    import os
    import tempfile
    import time
    import webbrowser

    place = str(Path.home()) if Path("/snap/bin").is_dir() else None
    number, name = tempfile.mkstemp(prefix="rushes-view-", suffix=".html", dir=place)
    try:
        with open(number, "w", encoding="utf-8") as file:
            file.write(f'<!doctype html><meta charset="utf-8"><title>Rushes</title>\n{_ONWARD.format(link=link)}\n')
        if webbrowser.open(Path(name).as_uri()):
            time.sleep(FILE_S)
    finally:
        os.unlink(name)
