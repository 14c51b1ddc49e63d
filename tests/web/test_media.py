"""Clips over HTTP: ranges, validators, and nothing about the file."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import IO

import pytest

from rushes.web.http import media as clips

from .livesite import Client, Study, stretches


@pytest.fixture
def clip(study: Study) -> tuple[Client, str, bytes]:
    client = study.rater()
    address = client.get("/rate.json").json()["clips"]["A"]["address"]
    return client, address, client.get(address).content


def test_the_whole_clip(clip: tuple[Client, str, bytes]) -> None:
    client, address, data = clip
    answer = client.get(address)
    assert answer.status_code == 200 and answer.content == data and len(data) > 1000
    assert answer.headers["content-type"] == "video/mp4"
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["cache-control"].startswith("private")
    assert "content-disposition" not in answer.headers
    head = client.head(address)
    assert head.content == b"" and head.headers["content-length"] == str(len(data))


@pytest.mark.parametrize(
    ("asked", "first", "last"), [("bytes=0-99", 0, 99), ("bytes=100-", 100, None), ("bytes=-50", -50, None)]
)
def test_a_range(clip: tuple[Client, str, bytes], asked: str, first: int, last: int | None) -> None:
    client, address, data = clip
    answer = client.get(address, headers={"range": asked})
    start = first if first >= 0 else len(data) + first
    end = len(data) - 1 if last is None else last
    assert answer.status_code == 206
    assert answer.headers["content-range"] == f"bytes {start}-{end}/{len(data)}"
    assert answer.content == data[start : end + 1]


def test_a_range_past_the_end_is_416(clip: tuple[Client, str, bytes]) -> None:
    client, address, data = clip
    answer = client.get(address, headers={"range": f"bytes={len(data)}-"})
    assert answer.status_code == 416 and answer.headers["content-range"] == f"bytes */{len(data)}"


def test_validators(clip: tuple[Client, str, bytes]) -> None:
    client, address, data = clip
    etag = client.get(address).headers["etag"]
    assert client.get(address, headers={"if-none-match": etag}).status_code == 304
    assert client.get(address, headers={"if-none-match": f'"other", W/{etag}'}).status_code == 304
    assert client.get(address, headers={"if-none-match": "*"}).status_code == 304
    assert client.get(address, headers={"if-none-match": '"other"'}).status_code == 200
    ranged = {"range": "bytes=0-9"}
    assert client.get(address, headers={**ranged, "if-range": etag}).status_code == 206
    assert client.get(address, headers={**ranged, "if-range": '"other"'}).status_code == 200
    assert client.get(address, headers={**ranged, "if-range": f"W/{etag}"}).status_code == 200


def test_validators_differ_between_raters_for_the_same_clip(study: Study) -> None:
    one, two = study.rater(), study.rater()
    tags, bodies = [], []
    for client in (one, two):
        clips = client.get("/rate.json").json()["clips"].values()
        answers = [client.get(clip["address"]) for clip in clips]
        tags += [answer.headers["etag"] for answer in answers]
        bodies += [answer.content for answer in answers]
        assert {answer.headers["last-modified"] for answer in answers} == {"Thu, 01 Jan 1970 00:00:00 GMT"}
    assert len(set(tags)) == 4 and len(set(bodies)) == 4  # padding differs each time: see test_alike


@pytest.mark.parametrize("token", ["unknown", "..%2f..%2fetc%2fpasswd", "%00", "A" * 500])
def test_no_other_token_opens_anything(study: Study, token: str) -> None:
    assert study.rater().get(f"/media/{token}").status_code == 404
    assert study.admin().get(f"/media/{token}").status_code == 404


def test_a_clip_needs_a_session(study: Study, clip: tuple[Client, str, bytes]) -> None:
    assert study.site.client().get(clip[1]).status_code == 404
    assert study.admin().get(clip[1]).status_code == 200


def test_a_clip_that_changed_after_the_import_is_not_served(study: Study) -> None:
    """Its file was replaced on disk: the rater is told to go on, the owner what happened."""
    client = study.rater()
    address = client.get("/rate.json").json()["clips"]["A"]["address"]
    path = Path(study.service.media(address.rsplit("/", 1)[1]).path)
    assert client.get(address).status_code == 200
    kept = path.read_bytes()
    path.write_bytes(kept[:-1] + b"x")
    for _ in range(2):
        answer = client.get(address, headers={"accept": "application/json"})
        assert (answer.status_code, answer.json()["code"]) == (404, "clip-changed")
        assert str(path) not in answer.text
    (problem,) = study.service.study_status("bars").problems
    assert problem.kind == "clip changed" and str(path) in problem.text
    path.write_bytes(kept)
    assert client.get(address).status_code == 200


def test_only_what_was_sent_counts_as_watched(study: Study) -> None:
    """Ranges are summed for this assignment; a HEAD, a 304 and somebody else's download add nothing."""
    client, admin = study.rater(), study.admin()
    task = client.get("/rate.json").json()
    report = {"assignment": task["assignment"], "events": stretches(task)}
    clips = {side: clip["address"] for side, clip in task["clips"].items()}
    for address in clips.values():
        client.head(address)
        admin.get(address)
        assert client.get(address, headers={"if-none-match": "*", "range": "bytes=0-99"}).status_code == 206
    study.site.app.state.pass_time(60_000)
    assert client.send_json("/rate/watch", report).json()["text"] == "A 0/2 · B 0/2"
    size = len(admin.get(clips["A"]).content)
    for start in range(100, size, 2000):
        client.get(clips["A"], headers={"range": f"bytes={start}-{min(size, start + 2000) - 1}"})
    report["events"] = stretches(task, first=10)
    assert client.send_json("/rate/watch", report).json()["text"] == "A 2/2 · B 0/2"
    client.get(clips["B"])
    assert client.get(clips["B"], headers={"if-none-match": "*"}).status_code == 304, "the browser has it all by now"


def test_a_file_that_was_opened_for_nobody_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that leaves while its clip is being opened: the file was left to the garbage collector."""
    (tmp_path / "a.mp4").write_bytes(b"clip")
    begun, go_on, opened = threading.Event(), threading.Event(), list[IO[bytes]]()

    def slow(path: Path, mode: str) -> IO[bytes]:
        begun.set()
        go_on.wait(60)
        opened.append(Path(path).open("rb"))
        return opened[-1]

    monkeypatch.setattr(clips, "open", slow, raising=False)
    media = clips.Media(path=str(tmp_path / "a.mp4"), sha256="", content_type="video/mp4", etag="e", size=4)

    async def left() -> None:
        async def use() -> None:
            async with clips.ClipResponse(media, etag='"e"')._open_file():
                raise AssertionError("nobody is there to read it")

        task = asyncio.create_task(use())
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(left())
    for _ in range(600):
        if opened and opened[0].closed:
            return
        time.sleep(0.1)
    raise AssertionError("the file is still open")
