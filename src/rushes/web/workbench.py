"""What the app holds while it runs: the studies, the runs, the limits, and where it can be reached.

What costs time to import is imported when it is first used: `rushes view` shows its first page before that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.requests import Request

from rushes.web.errors import Refusal
from rushes.web.run_summary import Summaries

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from rushes.preference.study.service import StudyService
    from rushes.web.board_cache import BoardCache
    from rushes.web.discovery import Discovery
    from rushes.web.imports import Imports
    from rushes.web.limits import RateLimit
    from rushes.web.media import Digests
    from rushes.web.run_cache import RunCache

LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})


@dataclass(frozen=True, kw_only=True)
class Workbench:
    """Everything a request may need. One per app."""

    studies: StudyService | None = None
    """The studies' service; None in `rushes view`, which looks at runs and opens no database of studies."""
    public_url: str = ""
    """How people reach the server ("https://study.example.org"); empty: whatever local name was asked for."""
    any_host: bool = False
    """Answer to every host name: only with a wildcard bind and no public address."""
    runs: Mapping[str, Path] = field(default_factory=dict)
    """Run directories on the home page, by name."""
    suites: Mapping[str, Path] = field(default_factory=dict)
    """Folders of `rushes suite run`, each with its board, by name."""
    discovery: Discovery | None = None
    """Where runs and boards are looked for while the server runs; None where they were all named at its start."""
    view_token: str = ""
    """What the printed link of `rushes view` carries. With it there is no sign-in, and nothing without it."""
    setup_key: str
    """Must be given to set the first password: whoever started the server sees it, a passer-by does not."""
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    """Proxies whose word is taken for where a request comes from."""
    summaries: Summaries = field(default_factory=Summaries)
    verdicts: dict[tuple[str, str], str] = field(default_factory=dict)
    """Openings of comparisons, by the stamps of both runs."""

    @property
    def viewing(self) -> bool:
        """Whether this is `rushes view`: one person on this machine, and no studies."""
        return bool(self.view_token)

    @property
    def service(self) -> StudyService:
        """The studies; a refusal that says what to type where there are none."""
        if self.studies is None:
            message = "rushes view shows runs and boards. To work with a study: rushes serve --db studies.db"
            raise Refusal(404, message, code="no-studies")
        return self.studies

    @property
    def media_folder(self) -> Path:
        """Where clips go that had to be made playable: the studies' folder, else one that goes with the server."""
        return self.studies.media_folder if self.studies is not None else Path(self._own_folder.name)

    @cached_property
    def _own_folder(self) -> TemporaryDirectory[str]:
        from tempfile import TemporaryDirectory

        return TemporaryDirectory(prefix="rushes-view-")

    @cached_property
    def logins(self) -> RateLimit:
        from rushes.web.limits import RateLimit

        return RateLimit(window_s=300)

    @cached_property
    def joins(self) -> RateLimit:
        from rushes.web.limits import RateLimit

        return RateLimit(window_s=3600)

    @cached_property
    def imports(self) -> Imports:
        from rushes.web.imports import Imports

        return Imports()

    @cached_property
    def digests(self) -> Digests:
        from rushes.web.media import Digests

        return Digests()

    @cached_property
    def run_cache(self) -> RunCache:
        from rushes.web.run_cache import RunCache

        return RunCache()

    @cached_property
    def board_cache(self) -> BoardCache:
        from rushes.web.board_cache import BoardCache

        return BoardCache()

    def load(self) -> None:
        """Make everything that is made when first used: two threads that come at once must find the same."""
        _ = self.logins, self.joins, self.imports, self.digests, self.run_cache, self.board_cache

    def close(self) -> None:
        """Stop what goes on in the background, and remove what belongs to this server alone."""
        if "imports" in vars(self):
            self.imports.close()
        if "_own_folder" in vars(self):
            self._own_folder.cleanup()

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
