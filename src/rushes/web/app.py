"""The app factory: one FastAPI app for raters, study owners and runs."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from rushes.core.errors import InputError
from rushes.storage.runs import subject_ids
from rushes.study.service import StudyService, open_service
from rushes.web.home.discovery import put_new
from rushes.web.http import errors
from rushes.web.http.access import NeedsLogin
from rushes.web.http.access import admin as admin_only
from rushes.web.http.counts import RequestCounts, SharedCounts
from rushes.web.http.limits import BodyLimit
from rushes.web.http.named_paths import NamedPaths, with_slashes
from rushes.web.http.operations import Operations
from rushes.web.http.pages import page, see
from rushes.web.http.security import Guard, StaleForm, csrf_checked
from rushes.web.http.shared_files import SHARED, shared_file
from rushes.web.views import boards, clips, home_parts, runs
from rushes.web.views.study import accounts, admin, rater, ratings, results, studies
from rushes.web.workbench import Workbench

if TYPE_CHECKING:
    from rushes.web.home.discovery import Discovery

OF_STUDIES = (accounts, rater, ratings, studies, admin, results)
"""Left out of `rushes view`."""
OF_RUNS = (runs, clips, boards)
STATIC = Path(__file__).with_name("static")


def create_app(
    *,
    database_url: str = "",
    service: StudyService | None = None,
    media: Path | None = None,
    runs: Sequence[Path] | Mapping[str, Path] = (),
    suites: Sequence[Path] | Mapping[str, Path] = (),
    discovery: Discovery | None = None,
    public_url: str = "",
    any_host: bool = False,
    setup_key: str = "",
    trusted_proxies: Sequence[str] = (),
    sso_header: str = "",
    metrics: bool | Path = False,
) -> FastAPI:
    """The workbench as an ASGI app.

    `database_url`: where the studies live ("studies.db", "postgresql://…"); or a `service` that is open already.
    `media`: where converted clips go, needed with PostgreSQL. `runs`: run directories for the home page, or a mapping
    with their names, which may change while the app runs (`discovery`). `suites`: folders of `rushes suite run`, whose
    boards are shown. `public_url`: how people reach the server when it stands
    behind a proxy; with https it makes the cookies Secure. `setup_key`: what the page for the first password asks for;
    made up when left out. `trusted_proxies`: addresses or networks whose `X-Forwarded-For` is believed; run the app
    under a server that leaves that header alone (uvicorn's `proxy_headers=False`, as `rushes.web.serving` sets it).
    `sso_header`: where a trusted proxy names the account that it has signed in.
    `metrics` shows counts of requests at /metrics: of this process, or of all that were given the same folder; /healthz
    and /readyz answer in any case.
    """
    study_service = service if service is not None else open_service(database_url, media=media)
    bench = Workbench(
        studies=study_service,
        public_url=public_url.rstrip("/"),
        any_host=any_host,
        runs=_named(runs),
        suites=_named(suites),
        discovery=discovery,
        setup_key=setup_key or secrets.token_urlsafe(16),
        trusted_proxies=networks(trusted_proxies),
        sso_header=sso_header,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        bench.close()
        if service is None:
            study_service.close()

    app = routed(bench, lifespan=lifespan)
    app.add_middleware(Guard, bench=bench)
    counts = SharedCounts(metrics) if isinstance(metrics, Path) else RequestCounts() if metrics else None
    app.add_middleware(Operations, ready=study_service.unready, counts=counts)
    return app


def routed(
    bench: Workbench, *, lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None
) -> FastAPI:
    """The app's pages, without the Guard: `rushes view` has one of its own in front."""
    bench.load()
    app = FastAPI(
        title="Rushes",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        dependencies=[Depends(with_slashes), Depends(csrf_checked)],
        lifespan=lifespan,
    )
    app.state.workbench = bench
    for view in (home_parts, *(() if bench.viewing else OF_STUDIES), *OF_RUNS):
        app.include_router(view.router)
    if bench.viewing:
        for path in ("/studies/{rest:path}", "/account", "/login", "/setup"):
            app.add_api_route(path, _not_in_view, dependencies=[Depends(admin_only)], response_model=None)
    app.routes.extend(Route(f"/static/{name}", shared_file) for name in SHARED)
    app.mount("/static", _Static(directory=STATIC), name="static")
    errors.install(app)
    _install_redirects(app)
    app.add_middleware(NamedPaths, bench=bench)
    app.add_middleware(BodyLimit, upload_paths=("/studies/new",))
    return app


def _not_in_view() -> Response:
    """Never reached: the role that `rushes view` has may see nothing of a study, and says so."""
    return Response(status_code=404)


class _Static(StaticFiles):
    """Our own style sheet and modules: revalidated on every visit, so that an upgrade shows at once."""

    def file_response(self, *args: object, **kwargs: object) -> Response:
        response = super().file_response(*args, **kwargs)  # type: ignore[arg-type]
        response.headers["cache-control"] = "no-cache"
        return response


def _install_redirects(app: FastAPI) -> None:
    @app.exception_handler(NeedsLogin)
    async def to_login(request: Request, error: NeedsLogin) -> Response:
        return see(error.address)

    @app.exception_handler(StaleForm)
    async def hand_back(request: Request, error: StaleForm) -> Response:
        return page(request, "again.html", status=error.status, message=error.message, fields=error.fields)


def networks(texts: Sequence[str]) -> tuple[IPv4Network | IPv6Network, ...]:
    """Addresses and networks as written ("10.0.0.7", "10.0.0.0/8"); `InputError` names what is neither."""
    found = []
    for text in texts:
        try:
            found.append(ip_network(text, strict=False))
        except ValueError:
            raise InputError(
                f"--trusted-proxy: expected an address or a network such as 10.0.0.0/8; got {text!r}"
            ) from None
    return tuple(found)


def _named(folders: Sequence[Path] | Mapping[str, Path]) -> Mapping[str, Path]:
    """By the folders' names; those of one name with the folder that each lies in: amber/fidelity and birch/fidelity."""
    if isinstance(folders, Mapping):
        return folders
    places = [folder.resolve() for folder in folders]
    often = Counter(place.name for place in places)
    found: dict[str, Path] = {}
    for place, folder in zip(places, folders, strict=True):
        parts = (place.parent.name, place.name) if often[place.name] > 1 else (place.name,)
        put_new(found, "/".join(subject_ids([part])[0] for part in parts if part), folder)
    return found
