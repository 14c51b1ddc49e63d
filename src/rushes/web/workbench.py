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

from rushes.web.http.errors import Refusal
from rushes.web.runs.summary import Summaries

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    from rushes.study.service import StudyService
    from rushes.web.boards.data import BoardCache
    from rushes.web.home.discovery import Discovery
    from rushes.web.http.media import Digests
    from rushes.web.runs.cache import RunCache
    from rushes.web.study.imports import Imports

LOCAL_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})


@dataclass(kw_only=True)
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
    sso_header: str = ""
    """The header in which a trusted proxy says whom it has signed in; empty: nobody is signed in that way."""
    summaries: Summaries = field(default_factory=Summaries)
    imports: Imports = field(init=False)
    digests: Digests = field(init=False)
    run_cache: RunCache = field(init=False)
    board_cache: BoardCache = field(init=False)

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

    def load(self) -> None:
        """Make what the home page does without, before the rest of the app answers its first request."""
        from rushes.web.boards.data import BoardCache
        from rushes.web.http.media import Digests
        from rushes.web.runs.cache import RunCache
        from rushes.web.study.imports import Imports

        self.imports, self.digests = Imports(self.studies), Digests()
        self.run_cache, self.board_cache = RunCache(), BoardCache()

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
