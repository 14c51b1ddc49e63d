"""Connections are kept from one request to the next, closed ones opened anew, and loopback goes through no proxy."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from rushes.vision.judges.transport import Attempts, EndpointError, disconnect

REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"


class Raw:
    """Answers the n-th request of all connections with the n-th reply; b"" closes the connection unanswered."""

    def __init__(self, *replies: bytes) -> None:
        self.replies = list(replies)
        self.connections = self.requests = 0
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}/v1"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self) -> None:
        with self.server:
            while self.replies:
                link, _ = self.server.accept()
                self.connections += 1
                with link:
                    while self.replies and self.read(link):
                        self.requests += 1
                        link.sendall(self.replies.pop(0))
                        if self.replies and self.replies[0] == b"":
                            self.replies.pop(0)
                            break

    def read(self, link: socket.socket) -> bool:
        data = b""
        while b"\r\n\r\nbody" not in data:
            block = link.recv(65536)
            if not block:
                return False
            data += block
        return True


@pytest.fixture(autouse=True)
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:1")
    monkeypatch.delenv("no_proxy", raising=False)
    yield
    disconnect()


def ask(raw: Raw) -> bytes:
    return Attempts(most=1, timeout=60.0).ask(raw.url, b"body", {})


def test_a_connection_is_kept_for_the_next_request_and_goes_through_no_proxy() -> None:
    raw = Raw(REPLY, CHUNKED, REPLY)
    assert [ask(raw) for _ in range(3)] == [b"ok"] * 3
    assert (raw.connections, raw.requests) == (1, 3)


def test_a_connection_that_was_closed_meanwhile_is_opened_anew_without_an_attempt() -> None:
    raw = Raw(REPLY, b"", REPLY)
    assert [ask(raw), ask(raw)] == [b"ok"] * 2
    assert (raw.connections, raw.requests) == (2, 2)


def test_what_is_left_of_an_error_is_not_read_as_the_next_reply() -> None:
    raw = Raw(b"HTTP/1.1 400 Bad\r\nContent-Length: 3\r\n\r\nbad", REPLY)
    with pytest.raises(EndpointError, match="answered 400 Bad"):
        ask(raw)
    assert ask(raw) == b"ok" and raw.connections == 2
