"""What the app holds while it runs: the study service, the runs, the limits, and where it can be reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from urllib.parse import urlsplit

from starlette.requests import Request

from rushes.preference.study.service import StudyService
from rushes.web.board_cache import BoardCache
from rushes.web.imports import Imports
from rushes.web.limits import RateLimit
from rushes.web.media import Digests
from rushes.web.run_cache import RunCache

LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})


@dataclass(frozen=True, kw_only=True)
class Workbench:
    """Everything a request may need. One per app."""

    service: StudyService
    public_url: str = ""
    """How people reach the server ("https://study.example.org"); empty: whatever local name was asked for."""
    any_host: bool = False
    """Answer to every host name: only with a wildcard bind and no public address."""
    runs: Mapping[str, Path] = field(default_factory=dict)
    """Run directories on the home page, by name."""
    suites: Mapping[str, Path] = field(default_factory=dict)
    """Folders of `rushes suite run`, each with its board, by name."""
    setup_key: str
    """Must be given to set the first password: whoever started the server sees it, a passer-by does not."""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    """Proxies whose word is taken for where a request comes from."""
    logins: RateLimit = field(default_factory=lambda: RateLimit(window_s=300))
    joins: RateLimit = field(default_factory=lambda: RateLimit(window_s=3600))
    imports: Imports = field(default_factory=Imports)
    digests: Digests = field(default_factory=Digests)
    run_cache: RunCache = field(default_factory=RunCache)
    board_cache: BoardCache = field(default_factory=BoardCache)

    @property
    def secure(self) -> bool:
        return self.public_url.startswith("https://")

    def origin(self, request: Request) -> str:
        """Scheme and host that our own pages have in this request's browser."""
        return self.public_url or f"{request.url.scheme}://{request.headers.get('host', '')}"

    def serves_host(self, host: str) -> bool:
        """Whether a Host header is ours: a page of another name that points at this address must get nothing."""
        name = host if host.endswith("]") else host.rsplit(":", 1)[0]
        return self.any_host or name in LOCAL_NAMES | {urlsplit(self.public_url).hostname or "127.0.0.1"}


def workbench(request: Request) -> Workbench:
    bench: Workbench = request.app.state.workbench
    return bench
