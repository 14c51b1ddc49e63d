"""Addresses, listings, copies and their errors, one object at a time."""

from __future__ import annotations

import fcntl
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rushes.core.errors import MediaError, MissingDependency
from rushes.core.machine.installing import extra_command
from rushes.storage.remote import store as remote
from rushes.storage.remote import transfer
from rushes.storage.remote.address import RemoteFile, parse_address, safe_name
from rushes.storage.remote.errors import RemoteError, Unreachable, Vanished
from rushes.storage.remote.store import list_objects, stat
from rushes.storage.remote.transfer import local_copy

from .conftest import Bucket, left_behind


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://host/clip.mp4", "s3://, gs://, gcs://"),
        ("ssh://host/clip.mp4", "s3://, gs://, gcs://"),
        ("file:///etc/passwd", "s3://, gs://, gcs://"),
        ("memory://x/y", "s3://, gs://, gcs://"),
        ("s3://", "the bucket is missing"),
        ("s3:///clip.mp4", "the bucket is missing"),
        ("s3://b ucket/clip.mp4", "the bucket is missing or malformed"),
        ("s3://takes/../other/clip.mp4", "without '.', '..'"),
        ("gs://takes/a/./clip.mp4", "without '.', '..'"),
        ("s3://takes/a\nb.mp4", "control characters"),
    ],
)
def test_an_address_that_is_not_understood_is_refused(url: str, told: str) -> None:
    with pytest.raises(RemoteError, match="^[^\n]*$") as error:
        parse_address(url)
    assert told in str(error.value)


@pytest.mark.parametrize("url", ["s3://AKIA:hunter2@takes/a.mp4", "s3://takes/a.mp4?X-Amz-Signature=hunter2"])
def test_a_secret_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(RemoteError) as error:
        list_objects(url)
    assert "hunter2" not in str(error.value) and "AKIA" not in str(error.value)


@pytest.mark.parametrize("protocol", ["s3", "gs", "gcs", "S3"])
def test_the_parts_of_an_address(protocol: str) -> None:
    assert parse_address(f"{protocol}://takes/monday/a.mp4") == (protocol.lower(), "takes", "monday/a.mp4")


def test_a_question_mark_is_a_pattern_and_not_a_query() -> None:
    assert parse_address("gs://takes/take?.mp4")[2] == "take?.mp4"


def test_a_missing_package_is_one_line_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=f"addresses need fsspec; run: {re.escape(extra_command('remote'))}"):
        list_objects("gs://takes/a.mp4")


def test_folders_patterns_and_objects(bucket: Bucket) -> None:
    for key in ("a/2.mp4", "a/1.mp4", "a/b/3.mp4", "a/.hidden/4.mp4", "a/.5.mp4", "other/6.mp4", "a/b/"):
        bucket.put(key, b"x")
    expected = {
        "a/": ("folder", ["a/1.mp4", "a/2.mp4", "a/b/3.mp4"]),
        "a": ("folder", ["a/1.mp4", "a/2.mp4", "a/b/3.mp4"]),
        "": ("folder", ["a/1.mp4", "a/2.mp4", "a/b/3.mp4", "other/6.mp4"]),
        "a/*.mp4": ("pattern", ["a/1.mp4", "a/2.mp4"]),
        "a/**/*.mp4": ("pattern", ["a/1.mp4", "a/2.mp4", "a/b/3.mp4"]),
        "a/[13].mp4": ("pattern", ["a/1.mp4"]),
        "a/1.mp4": ("object", ["a/1.mp4"]),
        "none/": ("folder", []),
        "none*": ("pattern", []),
    }
    for key, (kind, keys) in expected.items():
        found = list_objects(bucket.url(key))
        assert (found.kind, [file.url for file in found.files]) == (kind, [bucket.url(key) for key in keys]), key


def test_a_listing_sees_what_came_after_the_last_one(bucket: Bucket) -> None:
    bucket.put("a/1.mp4", b"x")
    assert len(list_objects(bucket.url("a/")).files) == 1
    bucket.put("a/2.mp4", b"x")
    assert len(list_objects(bucket.url("a/")).files) == 2


def test_listing_and_asking_agree_on_the_version(bucket: Bucket) -> None:
    url = bucket.put("a/1.mp4", b"content")
    (listed,) = list_objects(bucket.url("a/")).files
    # The MD5 of b"content", which is S3's ETag of an object that was put in one piece.
    assert listed == stat(url) == RemoteFile(url, 7, "9a0364b9e99bb480dd25e1f0284c8555")


def test_a_copy_lives_as_long_as_its_block(bucket: Bucket, settings: dict[str, str]) -> None:
    url = bucket.put("a/take 1.MP4", b"content")
    with local_copy(url) as copy:
        assert copy.path.read_bytes() == b"content"
        assert copy.path.name == "take_1.MP4"
        assert copy.file == stat(url)
    assert left_behind(settings) == []


@pytest.mark.parametrize("key", ["a//absolute.mp4", "a/-rf", "a/ünï ☃.mp4", "a/x;rm *.mp4", "a/" + "n" * 300])
def test_no_key_leads_out_of_the_temporary_folder(bucket: Bucket, settings: dict[str, str], key: str) -> None:
    bucket.put(key, b"content")
    (file,) = list_objects(bucket.url("a/")).files
    with local_copy(file) as copy:
        assert copy.path.read_bytes() == b"content"
        assert copy.path.parents[1] == Path(settings["TMPDIR"])


@pytest.mark.parametrize("url", ["s3://b/..", "s3://b/x/../../../etc/passwd", "s3://b/.ssh", "s3://b/a\\..\\b"])
def test_the_name_of_a_copy_is_a_plain_name(url: str) -> None:
    name = safe_name(url)
    assert name and not name.startswith((".", "-")) and "/" not in name and "\\" not in name


def test_a_local_file_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "filesystem", lambda url: pytest.fail("a local file went through fsspec"))
    for given in (tmp_path / "a.mp4", str(tmp_path / "a.mp4")):
        with local_copy(given) as copy:
            assert copy.path == tmp_path / "a.mp4" and copy.file is None


def test_a_listed_object_that_changed_is_not_taken_for_the_listed_one(bucket: Bucket) -> None:
    url = bucket.put("a.mp4", b"before")
    listed = stat(url)
    bucket.put("a.mp4", b"after!")
    with pytest.raises(Vanished, match="changed since it was listed"), local_copy(listed):
        pass
    with local_copy(url) as copy:
        assert copy.path.read_bytes() == b"after!"


def test_an_object_that_changes_while_it_is_read_is_read_again(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy of an address and the version named with it belong together, whenever the object was replaced."""
    url = bucket.put("a.mp4", b"before")
    store = remote.filesystem(url)
    get_file = store.get_file

    def replaced_after(path: str, local: str) -> None:
        get_file(path, local)
        if bucket.get("a.mp4") == b"before":
            bucket.put("a.mp4", b"after!")

    monkeypatch.setattr(store, "get_file", replaced_after)
    with local_copy(url) as copy:
        assert copy.path.read_bytes() == b"after!"
        assert copy.file == stat(url)


def test_an_error_about_the_copy_names_the_object(bucket: Bucket) -> None:
    url = bucket.put("a.mp4", b"x")
    with pytest.raises(MediaError, match=f"^{url}: cannot be decoded$"), local_copy(url) as copy:
        raise MediaError(f"{copy.path}: cannot be decoded")


def test_an_object_larger_than_the_disk_is_refused_before_the_fetch(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = bucket.put("a.mp4", b"x" * 100)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(100, 1, 99))
    with pytest.raises(RemoteError, match="point TMPDIR at a larger disk"), local_copy(url):
        pass


def test_what_a_killed_process_left_is_removed_by_the_next(bucket: Bucket, settings: dict[str, str]) -> None:
    dead, alive = (Path(settings["TMPDIR"]) / f"rushes-remote-{name}" for name in ("dead", "alive"))
    for folder in (dead, alive):
        folder.mkdir()
        (folder / ".lock").touch()
    with open(alive / ".lock", "rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with local_copy(bucket.put("a.mp4", b"x")):
            pass
        assert left_behind(settings) == ["rushes-remote-alive"]


@pytest.mark.parametrize(
    ("key", "told"), [("nothing.mp4", "no such object"), ("", "names a folder"), ("a/", "names a folder")]
)
def test_one_object_is_wanted(bucket: Bucket, key: str, told: str) -> None:
    with pytest.raises(RemoteError, match=told):
        stat(bucket.url(key))


@pytest.mark.parametrize("key", ["", "takes/", "takes/a.mp4", "takes/*.mp4"])
def test_no_such_bucket(settings: dict[str, str], key: str) -> None:
    with pytest.raises(Vanished, match="no bucket"):
        list_objects(f"s3://nobody-has-this/{key}")


def test_no_credentials(bucket: Bucket, monkeypatch: pytest.MonkeyPatch, other_client: Callable[[], None]) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    other_client()
    with pytest.raises(RemoteError, match="no credentials were found; set AWS_ACCESS_KEY_ID"):
        list_objects(bucket.url("a/"))


def test_no_permission(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    store = remote.filesystem(bucket.url())

    def denied(*args: object, **kwargs: object) -> None:
        raise PermissionError("Access Denied")

    monkeypatch.setattr(store, "find", denied)
    with pytest.raises(RemoteError, match=r"access is denied; check the credentials and the bucket's policy"):
        list_objects(bucket.url("a/"))


def test_a_store_that_does_not_answer_is_tried_again(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    url = bucket.put("a.mp4", b"content")
    store = remote.filesystem(url)
    get_file, calls = store.get_file, []

    def flaky(path: str, local: str) -> None:
        calls.append(path)
        if len(calls) < 3:
            raise TimeoutError("timed out")
        get_file(path, local)

    monkeypatch.setattr(store, "get_file", flaky)
    with local_copy(url) as copy:
        assert copy.path.read_bytes() == b"content"
    assert len(calls) == 3


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch, other_client: Callable[[], None]) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(remote, "_S3_RETRIES", 1)
    other_client()
    with pytest.raises(Unreachable, match="does not answer") as error:
        list_objects("s3://takes/a/")
    assert "?" not in str(error.value)


def test_create_keeps_the_first(bucket: Bucket) -> None:
    url = bucket.url("lock")
    assert remote.put_bytes(b"first", url, create=True)
    assert not remote.put_bytes(b"second", url, create=True)
    assert remote.get_bytes(url) == b"first"
    remote.remove([url, url])
    assert bucket.keys() == []


def test_a_file_is_delivered_when_its_block_ends_well(bucket: Bucket, settings: dict[str, str]) -> None:
    with transfer.upload_on_exit(bucket.url("out/report.html")) as path:
        path.write_text("page", encoding="utf-8")
    with pytest.raises(ValueError, match="half-way"), transfer.upload_on_exit(bucket.url("out/never.html")) as path:
        path.write_text("half", encoding="utf-8")
        raise ValueError("half-way")
    assert bucket.keys() == ["out/report.html"]
    assert left_behind(settings) == []
