"""How the app is put on the network: one uvicorn server that does not wait for half a request."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0
"""How long the head of a request may take to arrive, from a connection's or a request's first moment."""


class TimedProtocol(H11Protocol):
    """Closes a connection on which no whole request head has arrived in time, however the bytes drip in.

    What happens on a connection that lies idle between requests is uvicorn's own matter (`timeout_keep_alive`), and how
    long a body may take is `rushes.web.http.limits.BodyLimit`'s.
    """

    head_s = HEAD_S
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._arm()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._waits():
            self._arm()
        else:
            self._disarm()

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        super().connection_lost(exc)

    def _waits(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _arm(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.head_s, self._give_up)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def _give_up(self) -> None:
        self._timer = None
        if self._waits() and self.transport is not None and not self.transport.is_closing():
            self.transport.close()


def server_config(app: ASGIApp, *, log_level: str = "warning") -> uvicorn.Config:
    """As `rushes serve` runs it. `X-Forwarded-For` is left to the app, which knows whom to believe."""
    return uvicorn.Config(
        app,
        http=TimedProtocol,
        log_level=log_level,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        lifespan="on",
    )


class _Server(uvicorn.Server):
    """Says when it has begun to listen."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()


def serve_on(listener: socket.socket, app: ASGIApp, *, ready: Callable[[], None] = lambda: None) -> None:
    """Answer what comes to this socket, until the program is told to stop; `ready` is called when it can."""
    # Connections inherit it. Without it a small answer waits 40 ms for the acknowledgement of its own header.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    _Server(server_config(app), ready).run(sockets=[listener])
