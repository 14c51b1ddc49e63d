"""Clips over HTTP: ranges, validators, and nothing about the file."""

from __future__ import annotations

import pytest

from .livesite import Client, Study


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
    assert len(set(tags)) == 4 and len(set(bodies)) == 2


@pytest.mark.parametrize("token", ["unknown", "..%2f..%2fetc%2fpasswd", "%00", "A" * 500])
def test_no_other_token_opens_anything(study: Study, token: str) -> None:
    assert study.rater().get(f"/media/{token}").status_code == 404
    assert study.admin().get(f"/media/{token}").status_code == 404


def test_a_clip_needs_a_session(study: Study, clip: tuple[Client, str, bytes]) -> None:
    assert study.site.client().get(clip[1]).status_code == 404
    assert study.admin().get(clip[1]).status_code == 200
