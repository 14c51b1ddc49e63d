"""A real S3 server on this machine (moto's) with dummy credentials, and clips to put there."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.clips import flat, noise, tone, write_luma, write_sound

from rushes.storage.remote import store as remote

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "an-id",
    "AWS_SECRET_ACCESS_KEY": "a-very-secret-key",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture(scope="session")
def endpoint() -> Iterator[str]:
    """The server's address."""
    for package in ("moto", "flask", "boto3", "fsspec", "s3fs"):
        pytest.importorskip(package, reason=f"S3 is tested against moto's server, which needs {package}")
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def settings(
    endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """The environment a user would set; TMPDIR and the staging folder are the test's own, to see what stays there."""
    here = tmp_path_factory.mktemp("machine")
    (here / "tmp").mkdir()
    named = CREDENTIALS | {
        "AWS_ENDPOINT_URL": endpoint,
        "TMPDIR": str(here / "tmp"),
        "RUSHES_STAGING": str(here / "staging"),
    }
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("rushes.storage.remote.store.PAUSE_S", 0.01)
    return named


@pytest.fixture
def other_client(settings: dict[str, str]) -> Iterator[Callable[[], None]]:
    """Call it once the environment was changed: the next request is made by a client that has read it."""
    yield remote._client.cache_clear
    remote._client.cache_clear()


@cache
def boto_client(endpoint: str) -> Any:
    """One for all tests: making a client reads megabytes of service descriptions."""
    import boto3

    keys = {"aws_access_key_id": "an-id", "aws_secret_access_key": "x", "region_name": "us-east-1"}
    return boto3.client("s3", endpoint_url=endpoint, **keys)


class Bucket:
    """One bucket through boto3, which shares no code with what is tested."""

    def __init__(self, endpoint: str, name: str) -> None:
        self.client: Any = boto_client(endpoint)
        self.name = name
        self.client.create_bucket(Bucket=name)

    def url(self, key: str = "") -> str:
        return f"s3://{self.name}/{key}"

    def put(self, key: str, content: Path | bytes) -> str:
        body = content if isinstance(content, bytes) else content.read_bytes()
        self.client.put_object(Bucket=self.name, Key=key, Body=body)
        return self.url(key)

    def put_folder(self, key: str, folder: Path) -> str:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{key}/{path.relative_to(folder).as_posix()}", path)
        return self.url(f"{key}/")

    def get(self, key: str) -> bytes:
        return bytes(self.client.get_object(Bucket=self.name, Key=key)["Body"].read())

    def keys(self, prefix: str = "") -> list[str]:
        found = self.client.list_objects_v2(Bucket=self.name, Prefix=prefix)
        return sorted(item["Key"] for item in found.get("Contents", ()))

    def delete(self, *keys: str) -> None:
        for key in keys:
            self.client.delete_object(Bucket=self.name, Key=key)

    def tree(self, prefix: str) -> dict[str, bytes]:
        return {key.removeprefix(prefix): self.get(key) for key in self.keys(prefix)}


@pytest.fixture
def bucket(endpoint: str, settings: dict[str, str]) -> Iterator[Bucket]:
    """An empty bucket."""
    bucket = Bucket(endpoint, "takes")
    bucket.delete(*bucket.keys())
    yield bucket
    bucket.delete(*bucket.keys())


@pytest.fixture(scope="session")
def takes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two sound takes, one frozen, one that is no video, and a sound file."""
    folder = tmp_path_factory.mktemp("takes")
    (folder / "more").mkdir()
    write_luma(folder / "take 1.mkv", noise(12, seed=1), "gray")
    write_luma(folder / "take2.mkv", [*noise(4, seed=2), *[flat(90)] * 8], "gray")
    write_luma(folder / "more" / "take10.mkv", noise(12, seed=3), "gray")
    (folder / "broken.mp4").write_bytes(b"this is no video" * 20)
    (folder / "notes.txt").write_text("nothing to measure", encoding="utf-8")
    write_sound(folder / "speech.wav", np.stack([tone(0.5)]))
    return folder


@pytest.fixture
def here(takes: Path, tmp_path: Path) -> Path:
    """The same takes in a folder of the test's own."""
    return Path(shutil.copytree(takes, tmp_path / "takes"))


def left_behind(settings: dict[str, str]) -> list[str]:
    """What copies stayed in TMPDIR."""
    return sorted(path.name for path in Path(settings["TMPDIR"]).iterdir())
