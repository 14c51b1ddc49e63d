"""Debian's Firefox over WebDriver BiDi, by hand: a few commands as JSON over a WebSocket, and nothing to install.

Playwright drives only a Firefox of its own making. Firefox itself speaks BiDi when it is started with
--remote-debugging-port; the protocol is https://w3c.github.io/webdriver-bidi, the frames are RFC 6455.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

CONTROL, ENTER = "\ue009", "\ue007"
_START_S, _ANSWER_S, _WAIT_S = 60, 60, 60


def firefox_program() -> str:
    """Debian's Firefox; the test is skipped where it is missing."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        pytest.skip("needs Debian's Firefox (apt install firefox-esr)")
    return program


class Firefox:
    """One headless window."""

    def __init__(self, program: str, folder: Path) -> None:
        self._log = folder / "firefox.log"
        profile = folder / "profile"
        profile.mkdir()
        command = [program, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", str(profile)]
        with open(self._log, "wb") as log:
            self.process = subprocess.Popen([*command, "about:blank"], stdout=log, stderr=subprocess.STDOUT)
        self._socket = self._connect()
        self._number = 0
        self.call("session.new", capabilities={})
        self.context = self.call("browsingContext.getTree")["contexts"][0]["context"]
        self.size(1440, 900)

    def _connect(self) -> socket.socket:
        for _ in range(_START_S * 10):
            found = re.search(
                r"WebDriver BiDi listening on ws://127\.0\.0\.1:(\d+)", self._log.read_text("utf-8", "replace")
            )
            if found:
                return self._upgraded(int(found[1]))
            time.sleep(0.1)
        raise AssertionError(f"Firefox did not listen: {self._log.read_text('utf-8', 'replace')[-500:]}")

    def _upgraded(self, port: int) -> socket.socket:
        link = socket.create_connection(("127.0.0.1", port), timeout=_ANSWER_S)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = ("GET /session HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket", "Connection: Upgrade")
        link.sendall("\r\n".join((*lines, f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", "")).encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += link.recv(1)
        assert b" 101 " in answer.split(b"\r\n")[0], answer
        return link

    def call(self, method: str, **params: object) -> dict[str, Any]:
        self._number += 1
        self._write(json.dumps({"id": self._number, "method": method, "params": params}).encode())
        while True:  # what is no answer to this is an event, and none was asked for
            message = json.loads(self._read())
            if message.get("id") == self._number:
                assert message["type"] == "success", message
                return dict(message["result"])

    def _write(self, data: bytes) -> None:
        mask = os.urandom(4)
        size = len(data)
        head = struct.pack("!BB", 0x81, 0x80 | size) if size < 126 else struct.pack("!BBH", 0x81, 0xFE, size)
        self._socket.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))

    def _read(self) -> bytes:
        whole = b""
        while True:
            first, size = self._take(2)
            if size >= 126:
                size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
            whole += self._take(size)
            if first & 0x80:
                return whole

    def _take(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            assert more, "Firefox hung up"
            data += more
        return data

    def size(self, width: int, height: int) -> None:
        self.call("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def cookie(self, name: str, value: str) -> None:
        kept = {"name": name, "value": {"type": "string", "value": value}, "domain": "127.0.0.1"}
        self.call("storage.setCookie", cookie=kept)

    def go(self, address: str) -> None:
        self.call("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def ask(self, expression: str) -> Any:
        """The value of an expression on the page."""
        answer = self.call(
            "script.evaluate", expression=expression, target={"context": self.context}, awaitPromise=True
        )
        return answer["result"].get("value") if answer["type"] == "success" else None

    def until(self, expression: str) -> None:
        for _ in range(_WAIT_S * 10):
            if self.ask(expression):
                return
            time.sleep(0.1)
        raise AssertionError(f"never came true in Firefox: {expression}")

    def press(self, *keys: str) -> None:
        """Real key presses; several at once are a chord."""
        down = [{"type": "keyDown", "value": key} for key in keys]
        up = [{"type": "keyUp", "value": key} for key in reversed(keys)]
        hands = [{"type": "key", "id": "keys", "actions": [*down, *up]}]
        self.call("input.performActions", context=self.context, actions=hands)

    def close(self) -> None:
        self._socket.close()
        self.process.terminate()
        self.process.wait(timeout=30)
